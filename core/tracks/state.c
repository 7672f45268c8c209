/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/state.h"

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
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 6; k++) {
            double sum = 0;
            for (int j = 0; j < 6; j++)
                sum += moved[i][j] * covariance[6 * j + k];
            for (int j = 0; j < 3; j++)
                state->pp[3 * i + j] += sum * moved[j][k];
        }
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
