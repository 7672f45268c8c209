/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/prediction.h"

#include <math.h>

#include "core/geometry/stereo.h"
#include "core/motion/pose.h"

#define MARGIN_PX 4             /* the sides of a thing move by so much from frame to frame, as matching draws them, */
#define MARGIN_SHARE 0.03       /* its disparities by this share, */
#define MARGIN_STEP 4           /* and by 1/16 px: what a disparity is uncertain by */
#define NEAREST_M 0.05          /* smallest predicted distance to the camera */
#define LIMIT (double)(1 << 20) /* pixels, and 1/16 px: beyond every picture */

static int32_t whole(double value)
{
    return (int32_t)floor(fmin(fmax(value, -LIMIT), LIMIT));
}

static void predict_position(const struct plx_track *track, const struct plx_track_camera *camera, double dt,
                             double ret_position[3])
{
    struct plx_pose now_from_then;

    for (int i = 0; i < 3; i++)
        ret_position[i] = track->state.position[i] + (track->moving ? track->state.velocity[i] * dt : 0);
    if (!camera->known || !(camera->seconds > 0))
        return;
    plx_pose_scale(&camera->step, dt / camera->seconds, &now_from_then);
    plx_pose_invert(&now_from_then, &now_from_then);
    plx_pose_apply(&now_from_then, ret_position, ret_position);
}

bool plx_track_predict_box(const struct plx_track *track, const struct plx_track_camera *camera,
                           const struct plx_calibration_info *calibration, double dt, struct plx_predicted_box *ret_box)
{
    const struct plx_obstacle *last = &track->last;
    const double one_m = plx_depth_scale_m(calibration); /* the disparity of a metre */
    double position[3];

    predict_position(track, camera, dt, position);
    const double nearest = (double)last->nearest_m + position[2] - (double)last->position_m[2];
    const double farthest = nearest + fmax(0, (double)last->extent_m[2]);
    if (!((double)last->position_m[2] > 0 && position[2] > NEAREST_M && nearest > NEAREST_M))
        return false;
    const struct plx_track_box box = plx_track_box_at(track, calibration, position);
    *ret_box = (struct plx_predicted_box){.left = whole(box.left - MARGIN_PX),
                                          .right = whole(box.right + MARGIN_PX),
                                          .top = whole(box.top - MARGIN_PX),
                                          .bottom = whole(box.bottom + MARGIN_PX),
                                          .far_disparity = whole(one_m / farthest * (1 - MARGIN_SHARE) - MARGIN_STEP),
                                          .near_disparity = whole(one_m / nearest * (1 + MARGIN_SHARE) + MARGIN_STEP)};
    return true;
}
