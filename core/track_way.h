/* SPDX-License-Identifier: Apache-2.0 */
/* How far a thing has come over the ground within the last seconds, and how probable it is that it stands. */
#ifndef PLX_CORE_TRACK_WAY_H
#define PLX_CORE_TRACK_WAY_H

#include "core/track_state.h"

struct plx_track_ground { /* a symmetric matrix over the ground plane */
    double xx, xz, zz;
};

struct plx_track_way {
    struct plx_track_state from[2]; /* where it was, the earlier one first: in axes of the camera now, without a velocity */
    double seconds[2];              /* measured since then */
    double camera_m[2];             /* the camera's way since then */
    struct plx_track_ground wander; /* covariance of what is seen now: another part may be seen than then */
};

/* The way begins at POSITION, whose covariance NOISE holds how far the centre of what is seen wanders. */
void plx_track_way_begin(struct plx_track_way *way, const double position[3], const double noise[9]);

/* The camera moved, as in plx_track_state_turn. */
void plx_track_way_turn(struct plx_track_way *way, const struct plx_pose *now_from_then, const double covariance[36]);

/* It was measured again after SECONDS and is at POSITION, whose covariance as a beginning is NOISE. */
void plx_track_way_add(struct plx_track_way *way, const double position[3], const double noise[9], double share,
                       double seconds);

/* SHIFT was no motion of the thing. */
void plx_track_way_shift(struct plx_track_way *way, const double shift[3]);

/* The way from the earlier place to STATE over the ground plane, in standard deviations. */
double plx_track_way_sigmas(const struct plx_track_way *way, const struct plx_track_state *state);

/* The probability that it stands: that the way is one of none rather than one of a velocity whose components have the standard
 * deviation SPEED. ODDS: of standing to moving before the way is known. */
double plx_track_way_standing(const struct plx_track_way *way, const struct plx_track_state *state, double speed, double odds);

#endif
