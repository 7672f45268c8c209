/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/state.h"

#include <string.h>

#include "core/geometry/matrix3.h"
#include "core/motion/pose.h"

/* A in axes turned by ROTATION. */
static void turn(double a[9], const double rotation[9])
{
    double product[9];
    plx_mat3_multiply(rotation, a, product);
    plx_mat3_multiply_transposed(product, rotation, a);
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
    plx_mat3_apply(r, then, state->velocity);
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
    plx_mat3_invert_symmetric(sum, inverse);
    plx_mat3_apply(inverse, off, weighted);
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
    plx_mat3_invert_symmetric(sum, inverse);
    plx_mat3_multiply(state->pp, inverse, gain_p);
    plx_mat3_multiply(vp, inverse, gain_v);
    plx_mat3_apply(gain_p, off, step);
    for (int i = 0; i < 3; i++)
        state->position[i] += step[i];
    plx_mat3_apply(gain_v, off, step);
    for (int i = 0; i < 3; i++)
        state->velocity[i] += step[i];

    plx_mat3_multiply(gain_v, state->pv, less);
    for (int i = 0; i < 9; i++)
        state->vv[i] -= 0.5 * (less[i] + less[i % 3 * 3 + i / 3]); /* rounding must not make it lopsided */
    plx_mat3_multiply(gain_p, state->pv, less);
    for (int i = 0; i < 9; i++)
        state->pv[i] -= less[i];
    plx_mat3_multiply(gain_p, state->pp, less);
    for (int i = 0; i < 9; i++)
        state->pp[i] -= 0.5 * (less[i] + less[i % 3 * 3 + i / 3]);
}
