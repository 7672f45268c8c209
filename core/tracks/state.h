/* SPDX-License-Identifier: Apache-2.0 */
/* Kalman filter of one thing: where it is and how fast it goes, in axes of the camera now (constant velocity; piecewise
 * constant white acceleration: Bar-Shalom, Li, Kirubarajan 2001, 6.3). Matrices are 3 x 3, row-major, metres and seconds. */
#ifndef PLX_CORE_TRACKS_STATE_H
#define PLX_CORE_TRACKS_STATE_H

#include <parallax/frame.h>

struct plx_track_state {
    double position[3], velocity[3];
    double pp[9], pv[9], vv[9]; /* covariance; pv: of position (row) with velocity */
};

/* At POSITION with covariance NOISE, at rest, with SPEED as the standard deviation of each component of its velocity. */
void plx_track_state_begin(struct plx_track_state *state, const double position[3], const double noise[9], double speed);

/* DT seconds later; ACCEL: standard deviation of its acceleration. */
void plx_track_state_predict(struct plx_track_state *state, double dt, double accel);

/* The camera moved: from axes then into axes now. COVARIANCE: 6 x 6, as in struct plx_motion_info. */
void plx_track_state_turn(struct plx_track_state *state, const struct plx_pose *now_from_then, const double covariance[36]);

/* Squared distance of POSITION, measured with covariance NOISE, from the state, in standard deviations. */
double plx_track_state_distance(const struct plx_track_state *state, const double position[3], const double noise[9]);

void plx_track_state_correct(struct plx_track_state *state, const double position[3], const double noise[9]);

/* At POSITION with covariance NOISE, which says nothing about the velocity: another point of the thing is measured from now on.
 */
void plx_track_state_relocate(struct plx_track_state *state, const double position[3], const double noise[9]);

/* Forgets the velocity: at rest with SPEED, as at the beginning. */
void plx_track_state_rest(struct plx_track_state *state, double speed);

#endif
