/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/displacement.h"

#include <math.h>

#include "core/motion/pose.h"

#define WINDOW_S 2.0      /* the earlier place is one to two of these ago, once it was measured for so long */
#define CAMERA_SHARE 0.01 /* share of the distance the camera moved: its systematic error */

static double determinant(const struct plx_track_ground *a)
{
    return a->xx * a->zz - a->xz * a->xz;
}

static struct plx_track_ground ground_of(const struct plx_track_displacement *displacement, const struct plx_track_state *state)
{
    const double *from = displacement->from[0].pp, *now = state->pp, drift = CAMERA_SHARE * displacement->camera_m[0];
    return (struct plx_track_ground){from[0] + now[0] + displacement->wander.xx + drift * drift,
                                     from[2] + now[2] + displacement->wander.xz,
                                     from[8] + now[8] + displacement->wander.zz + drift * drift};
}

/* The squared displacement in standard deviations of COVARIANCE. */
static double squared_sigmas(const struct plx_track_displacement *displacement, const struct plx_track_state *state,
                             const struct plx_track_ground *covariance)
{
    const double x = state->position[0] - displacement->from[0].position[0],
                 z = state->position[2] - displacement->from[0].position[2];
    return (x * x * covariance->zz - 2 * x * z * covariance->xz + z * z * covariance->xx) / determinant(covariance);
}

void plx_track_displacement_begin(struct plx_track_displacement *displacement, const double position[3], const double noise[9])
{
    for (int i = 0; i < 2; i++) {
        plx_track_state_begin(&displacement->from[i], position, noise, 0);
        displacement->seconds[i] = displacement->camera_m[i] = 0;
    }
    displacement->wander = (struct plx_track_ground){0};
}

void plx_track_displacement_turn(struct plx_track_displacement *displacement, const struct plx_pose *now_from_then,
                                 const double covariance[36])
{
    for (int i = 0; i < 2; i++) {
        plx_track_state_turn(&displacement->from[i], now_from_then, covariance);
        displacement->camera_m[i] += plx_pose_distance(now_from_then);
    }
}

void plx_track_displacement_add(struct plx_track_displacement *displacement, const double position[3], const double noise[9],
                                double share, double seconds)
{
    for (int i = 0; i < 2; i++)
        displacement->seconds[i] += seconds;
    displacement->wander = (struct plx_track_ground){share * noise[0], share * noise[2], share * noise[8]};
    if (displacement->seconds[1] < WINDOW_S)
        return;
    displacement->from[0] = displacement->from[1];
    displacement->seconds[0] = displacement->seconds[1];
    displacement->camera_m[0] = displacement->camera_m[1];
    plx_track_state_begin(&displacement->from[1], position, noise, 0);
    displacement->seconds[1] = displacement->camera_m[1] = 0;
}

void plx_track_displacement_shift(struct plx_track_displacement *displacement, const double shift[3])
{
    for (int i = 0; i < 6; i++)
        displacement->from[i / 3].position[i % 3] += shift[i % 3];
}

double plx_track_displacement_sigmas(const struct plx_track_displacement *displacement, const struct plx_track_state *state)
{
    const struct plx_track_ground covariance = ground_of(displacement, state);
    const double squared = squared_sigmas(displacement, state, &covariance);
    return squared > 0 ? sqrt(squared) : 0;
}

/* e to the power of -X, X >= 0, with the same bits everywhere: (e^(x / 256))^256, by the series. */
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

double plx_track_displacement_standing(const struct plx_track_displacement *displacement, const struct plx_track_state *state,
                                       double speed, double odds)
{
    const struct plx_track_ground stands = ground_of(displacement, state);
    const double spread = speed * displacement->seconds[0];
    const struct plx_track_ground moves = {stands.xx + spread * spread, stands.xz, stands.zz + spread * spread};
    const double more = squared_sigmas(displacement, state, &stands) - squared_sigmas(displacement, state, &moves);
    const double now = odds * sqrt(determinant(&moves) / determinant(&stands)) * exponential(fmax(0, more / 2));

    return now / (1 + now);
}
