/* SPDX-License-Identifier: Apache-2.0 */
/* How far a thing has come over the ground within the last seconds, and how probable it is that it stands. */
#ifndef PLX_CORE_TRACKS_DISPLACEMENT_H
#define PLX_CORE_TRACKS_DISPLACEMENT_H

#include "core/tracks/state.h"

struct plx_track_ground { /* a symmetric matrix over the ground plane */
    double xx, xz, zz;
};

struct plx_track_displacement {
    struct plx_track_state from[2]; /* where it was, the earlier one first: in axes of the camera now, without a velocity */
    double seconds[2];              /* measured since then */
    double camera_m[2];             /* how far the camera moved since then */
    struct plx_track_ground wander; /* covariance of what is seen now: another part may be seen than then */
};

/* The displacement begins at POSITION, whose covariance NOISE holds how far the centre of what is seen wanders. */
void plx_track_displacement_begin(struct plx_track_displacement *displacement, const double position[3], const double noise[9]);

/* The camera moved, as in plx_track_state_turn. */
void plx_track_displacement_turn(struct plx_track_displacement *displacement, const struct plx_pose *now_from_then,
                                 const double covariance[36]);

/* It was measured again after SECONDS and is at POSITION, whose covariance as a beginning is NOISE. */
void plx_track_displacement_add(struct plx_track_displacement *displacement, const double position[3], const double noise[9],
                                double share, double seconds);

/* SHIFT was no motion of the thing. */
void plx_track_displacement_shift(struct plx_track_displacement *displacement, const double shift[3]);

/* The displacement from the earlier place to STATE over the ground plane, in standard deviations. */
double plx_track_displacement_sigmas(const struct plx_track_displacement *displacement, const struct plx_track_state *state);

/* The probability that it stands: that the displacement is one of none rather than one of a velocity whose components have the
 * standard deviation SPEED. ODDS: of standing to moving before the displacement is known. */
double plx_track_displacement_standing(const struct plx_track_displacement *displacement, const struct plx_track_state *state,
                                       double speed, double odds);

#endif
