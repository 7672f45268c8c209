/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a motion may be that of a thing that fills most of the view: a wall, a train, a door that moves aside. */
#ifndef PLX_CORE_MOTION_DOUBT_H
#define PLX_CORE_MOTION_DOUBT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/motion/fit.h"

/* A motion as the corners of the image show it. */
struct plx_motion_claim {
    struct plx_pose now_from_key, last_from_key;
    const double *covariance;          /* [36]: that of the motion from the last frame, as in struct plx_motion_info */
    int64_t interval_ns;               /* from the last frame */
    const struct plx_fit_point *point; /* [COUNT] corners of the key frame that were found in this one */
    int count, inliers;
};

/* Whether the corners contradict CLAIM: most of them do not follow it, or a fifth of them stand still, where they were in the
 * key frame, though it moves them. */
bool plx_corners_contradict(const struct plx_fit_camera *camera, const struct plx_motion_claim *claim);

/* Whether the robot's odometry, NOW_FROM_LAST over the same interval, contradicts CLAIM by more than wheels slip. */
bool plx_odometry_contradicts(const struct plx_pose *now_from_last, const struct plx_motion_claim *claim);

#endif
