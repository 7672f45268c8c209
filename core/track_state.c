/* SPDX-License-Identifier: Apache-2.0 */
#include "core/track_state.h"

#include <math.h>
#include <string.h>

#include "core/motion/pose.h"

/* RET = A * B, or A * transposed B. RET is none of them. */
static void multiply(const double a[9], const double b[9], double ret[9])
{
    for (int i = 0; i < 9; i++)
        ret[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] + a[i / 3 * 3 + 2] * b[6 + i % 3];
}

static void multiply_transposed(const double a[9], const double b[9], double ret[9])
{
    for (int i = 0; i < 9; i++)
        ret[i] = a[i / 3 * 3] * b[i % 3 * 3] + a[i / 3 * 3 + 1] * b[i % 3 * 3 + 1] + a[i / 3 * 3 + 2] * b[i % 3 * 3 + 2];
}

static void apply(const double a[9], const double v[3], double ret[3])
{
    for (int i = 0; i < 3; i++)
        ret[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
}

/* A in axes turned by ROTATION. */
static void turn(double a[9], const double rotation[9])
{
    double product[9];
    multiply(rotation, a, product);
    multiply_transposed(product, rotation, a);
}

/* Of a symmetric positive definite matrix: by its cofactors. */
static void invert(const double a[9], double ret[9])
{
    const double c0 = a[4] * a[8] - a[5] * a[5], c1 = a[2] * a[5] - a[1] * a[8], c2 = a[1] * a[5] - a[2] * a[4];
    const double determinant = a[0] * c0 + a[1] * c1 + a[2] * c2;
    ret[0] = c0 / determinant;
    ret[1] = ret[3] = c1 / determinant;
    ret[2] = ret[6] = c2 / determinant;
    ret[4] = (a[0] * a[8] - a[2] * a[2]) / determinant;
    ret[5] = ret[7] = (a[1] * a[2] - a[0] * a[5]) / determinant;
    ret[8] = (a[0] * a[4] - a[1] * a[1]) / determinant;
}

void plx_track_state_rest(struct plx_track_state *state, double speed)
{
    memset(state->velocity, 0, sizeof state->velocity);
    memset(state->pv, 0, sizeof state->pv);
    for (int i = 0; i < 9; i++)
        state->vv[i] = i % 4 == 0 ? speed * speed : 0;
}

void plx_track_state_begin(struct plx_track_state *state, const double position[3], const double noise[9], double speed)
{
    memcpy(state->position, position, sizeof state->position);
    memcpy(state->pp, noise, sizeof state->pp);
    plx_track_state_rest(state, speed);
}

void plx_track_state_predict(struct plx_track_state *state, double dt, double accel)
{
    const double q = accel * accel, dt2 = dt * dt;

    for (int i = 0; i < 3; i++)
        state->position[i] += state->velocity[i] * dt;
    for (int i = 0; i < 9; i++) {
        const double white = i % 4 == 0 ? q : 0;
        state->pp[i] += dt * (state->pv[i] + state->pv[i % 3 * 3 + i / 3]) + dt2 * state->vv[i] + white * dt2 * dt2 / 4;
    }
    for (int i = 0; i < 9; i++) {
        const double white = i % 4 == 0 ? q : 0;
        state->pv[i] += dt * state->vv[i] + white * dt2 * dt / 2;
        state->vv[i] += white * dt2;
    }
}

void plx_track_state_turn(struct plx_track_state *state, const struct plx_pose *now_from_then, const double covariance[36])
{
    const double *r = now_from_then->rotation;
    double then[3];

    memcpy(then, state->velocity, sizeof then);
    apply(r, then, state->velocity);
    memcpy(then, state->position, sizeof then);
    plx_pose_apply(now_from_then, then, state->position);
    turn(state->pp, r);
    turn(state->pv, r);
    turn(state->vv, r);

    /* A motion that is wrong by t and w displaces the position by t + w x position. */
    const double x = state->position[0], y = state->position[1], z = state->position[2];
    const double moved[3][6] = {{1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}, {0, 0, 1, y, -x, 0}};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 36; k++)
            state->pp[i] += moved[i / 3][k / 6] * covariance[k] * moved[i % 3][k % 6];
}

void plx_track_state_relocate(struct plx_track_state *state, const double position[3], const double noise[9])
{
    memcpy(state->position, position, sizeof state->position);
    memcpy(state->pp, noise, sizeof state->pp);
    memset(state->pv, 0, sizeof state->pv);
}

double plx_track_state_distance(const struct plx_track_state *state, const double position[3], const double noise[9])
{
    double sum[9], inverse[9], off[3], weighted[3];

    for (int i = 0; i < 9; i++)
        sum[i] = state->pp[i] + noise[i];
    for (int i = 0; i < 3; i++)
        off[i] = position[i] - state->position[i];
    invert(sum, inverse);
    apply(inverse, off, weighted);
    return off[0] * weighted[0] + off[1] * weighted[1] + off[2] * weighted[2];
}

void plx_track_state_correct(struct plx_track_state *state, const double position[3], const double noise[9])
{
    double sum[9], inverse[9], off[3], gain_p[9], gain_v[9], vp[9], step[3], less[9];

    for (int i = 0; i < 9; i++) {
        sum[i] = state->pp[i] + noise[i];
        vp[i] = state->pv[i % 3 * 3 + i / 3];
    }
    for (int i = 0; i < 3; i++)
        off[i] = position[i] - state->position[i];
    invert(sum, inverse);
    multiply(state->pp, inverse, gain_p);
    multiply(vp, inverse, gain_v);
    apply(gain_p, off, step);
    for (int i = 0; i < 3; i++)
        state->position[i] += step[i];
    apply(gain_v, off, step);
    for (int i = 0; i < 3; i++)
        state->velocity[i] += step[i];

    multiply(gain_v, state->pv, less);
    for (int i = 0; i < 9; i++)
        state->vv[i] -= 0.5 * (less[i] + less[i % 3 * 3 + i / 3]); /* rounding must not make it lopsided */
    multiply(gain_p, state->pv, less);
    for (int i = 0; i < 9; i++)
        state->pv[i] -= less[i];
    multiply(gain_p, state->pp, less);
    for (int i = 0; i < 9; i++)
        state->pp[i] -= 0.5 * (less[i] + less[i % 3 * 3 + i / 3]);
}

/* Determinant of the covariance of the velocity over the ground plane, and the speed there in standard deviations, squared. */
static double ground_determinant(const struct plx_track_state *state)
{
    const double *c = state->vv;
    return c[0] * c[8] - c[2] * c[6];
}

static double ground_sigmas_squared(const struct plx_track_state *state)
{
    const double *v = state->velocity, *c = state->vv;
    const double determinant = ground_determinant(state);
    const double squared = (v[0] * v[0] * c[8] - 2 * v[0] * v[2] * c[2] + v[2] * v[2] * c[0]) / determinant;

    return determinant > 0 && squared > 0 ? squared : 0;
}

void plx_track_state_blur(struct plx_track_state *state, const double velocity[3], double speed)
{
    for (int i = 0; i < 3; i++) {
        const double room = fmax(0, speed * speed - state->vv[4 * i]);
        state->vv[4 * i] += fmin(room, velocity[i] * velocity[i]);
    }
}

double plx_track_state_speed_sigmas(const struct plx_track_state *state)
{
    return sqrt(ground_sigmas_squared(state));
}

/* e to the power of -X, X >= 0, with the same bits everywhere: e^x = (e^(x / 256))^256. */
static double exponential(double x)
{
    const double y = x / 256;
    double power = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4 * (1 + y / 5 * (1 + y / 6)))));

    if (!(x < 100))
        return 0;
    for (int i = 0; i < 8; i++)
        power *= power;
    return 1 / power;
}

double plx_track_state_standing(const struct plx_track_state *state, double speed, double odds)
{
    const double determinant = ground_determinant(state);
    const double spread = determinant > 0 ? speed * speed / sqrt(determinant) : 1;
    const double now = odds * spread * exponential(ground_sigmas_squared(state) / 2);

    return now / (1 + now);
}
