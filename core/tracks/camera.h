/* SPDX-License-Identifier: Apache-2.0 */
/* What tracks know of the camera's motion. Internal to core/tracks/tracks.c. */
#ifndef PLX_CORE_TRACKS_CAMERA_H
#define PLX_CORE_TRACKS_CAMERA_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

/* The camera's motion since the frame before. While it is known, velocities of states are those over the ground; else they are
 * relative to the camera. */
struct plx_track_camera {
    bool known;           /* measured now, or not long ago */
    bool measured;        /* in this frame */
    int64_t held_ns;      /* since it was measured */
    double seconds;       /* duration of STEP */
    struct plx_pose step; /* then_from_now; the identity while it is not known */
    double covariance[36];
};

/* The next frame, STEP_NS after the last; returns true if CAMERA begins or ceases to be known. */
bool plx_track_camera_update(struct plx_track_camera *camera, const struct plx_motion_info *motion, int64_t step_ns);

/* Velocity relative to the camera of a thing at POSITION now whose velocity over the ground is VELOCITY. */
void plx_track_camera_velocity(const struct plx_track_camera *camera, const double position[3], const double velocity[3],
                               double ret_velocity[3]);

#endif
