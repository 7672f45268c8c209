/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/doubt.h"

#include <math.h>

#include "core/base/clock.h"

/* A corner stands still that is found this near to its place in the key frame, though the motion has moved it this far since,
 * and moves it in this frame. */
#define STILL_PX 1.0
#define CLAIMED_PX 3.0
#define MOVING_PX 0.1
#define STILL_SHARE 5 /* one in so many corners contradicts; a robot's own parts in view are fewer */

/* Wheels slip, and odometry is a little old: half of what it says, and a little more, may be wrong. */
#define SLIP_RATIO 0.5
#define SLIP_MPS 0.05
#define SLIP_RADPS 0.035
#define SIGMAS 3.0

static double off(const double a[2], const double b[2])
{
    return hypot(a[0] - b[0], a[1] - b[1]);
}

static bool stands_still(const struct plx_fit_camera *camera, const struct plx_motion_claim *claim,
                         const struct plx_fit_point *point)
{
    double moved[3], key[2], last[2], now[2];

    if (!plx_fit_project(camera, point->at, key) || off(point->seen, key) > STILL_PX)
        return false;
    plx_pose_apply(&claim->last_from_key, point->at, moved);
    if (!plx_fit_project(camera, moved, last))
        return false;
    plx_pose_apply(&claim->now_from_key, point->at, moved);
    return plx_fit_project(camera, moved, now) && off(now, key) > CLAIMED_PX && off(now, last) > MOVING_PX;
}

bool plx_corners_contradict(const struct plx_fit_camera *camera, const struct plx_motion_claim *claim)
{
    int still = 0;
    for (int i = 0; i < claim->count; i++)
        still += stands_still(camera, claim, &claim->point[i]);
    return 2 * claim->inliers <= claim->count || (still > 0 && STILL_SHARE * still >= claim->count);
}

bool plx_odometry_contradicts(const struct plx_pose *now_from_last, const struct plx_motion_claim *claim)
{
    const double seconds = (double)claim->interval_ns / (double)PLX_NS_PER_S, *c = claim->covariance;
    struct plx_pose key_from_last, seen, difference;

    plx_pose_invert(&claim->last_from_key, &key_from_last);
    plx_pose_compose(&claim->now_from_key, &key_from_last, &seen);
    plx_pose_invert(&seen, &difference);
    plx_pose_compose(now_from_last, &difference, &difference);
    const double way_m =
        SLIP_RATIO * plx_pose_distance(now_from_last) + SLIP_MPS * seconds + SIGMAS * sqrt(c[0] + c[7] + c[14]);
    const double turn_rad = 2 * asin(fmin(plx_pose_half_sine(now_from_last), 1)),
                 turned_rad = 2 * asin(fmin(plx_pose_half_sine(&difference), 1));
    return plx_pose_distance(&difference) > way_m ||
           turned_rad > SLIP_RATIO * turn_rad + SLIP_RADPS * seconds + SIGMAS * sqrt(c[21] + c[28] + c[35]);
}
