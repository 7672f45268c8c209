/* SPDX-License-Identifier: Apache-2.0 */
/* One track, and what all tracks know of the camera's way. Internal to core/tracks.c. */
#ifndef PLX_CORE_TRACK_H
#define PLX_CORE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/track_state.h"

/* The camera's way since the frame before. While it is known, velocities of states are those over the ground; else they are
 * relative to the camera. */
struct plx_track_camera {
    bool known;           /* measured now, or not long ago */
    bool measured;        /* in this frame */
    int64_t held_ns;      /* since it was measured */
    double seconds;       /* of STEP */
    struct plx_pose step; /* then_from_now; the identity while it is not known */
    double covariance[36];
};

struct plx_track {
    uint32_t id, age;
    int seen;        /* frames in which it was matched */
    int missed;      /* frames since then */
    int64_t lost_ns; /* time since then */
    struct plx_track_state state;
    double size[3]; /* width, height, depth, filtered */
    uint32_t size_class;
    int jumps; /* frames in a row whose extent is another one */
    int fast; /* frames in a row whose world velocity is significant */
    bool moving;
    struct plx_obstacle last; /* its last match, as measured */
};

/* The next frame, STEP_NS after the last; returns true if CAMERA begins or ceases to be known. */
bool plx_track_camera_update(struct plx_track_camera *camera, const struct plx_motion_info *motion, int64_t step_ns);

/* Covariance of the measured position of OBSTACLE, whose usual SIZE is that of a track or its own. In the world it includes how
 * the centre of what is seen wanders, so that this is no velocity. */
void plx_track_noise(const struct plx_track_camera *camera, const struct plx_calibration_info *calibration,
                     const struct plx_obstacle *obstacle, const double size[3], double ret_noise[9]);

void plx_track_begin(struct plx_track *track, uint32_t id, const struct plx_track_camera *camera,
                     const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle);
/* DT seconds later. CHANGED: as plx_track_camera_update returned. */
void plx_track_predict(struct plx_track *track, const struct plx_track_camera *camera, bool changed, double dt, double accel);
void plx_track_correct(struct plx_track *track, const struct plx_track_camera *camera,
                       const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle);

/* Share of the union of OBSTACLE's box and the predicted box in the picture that both cover; 0 without a box. */
double plx_track_overlap(const struct plx_track *track, const struct plx_calibration_info *calibration,
                         const struct plx_obstacle *obstacle);

/* Fills velocities, moving, size and class of RET; not the id, age and status. */
void plx_track_publish(const struct plx_track *track, const struct plx_track_camera *camera, struct plx_obstacle *ret);

#endif
