/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ground.h"

#include <string.h>

void plx_ground_geometry(const struct plx_ground *ground, const struct plx_calibration_info *calibration, int min_disparity,
                         struct plx_ground_info *ret_info)
{
    double normal[3];

    memset(ret_info, 0, sizeof *ret_info);
    if (!ground->valid)
        return;
    plx_ground_normal(ground, calibration, plx_disparity_at_infinity(calibration, min_disparity), normal);
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    *ret_info = (struct plx_ground_info){
        .valid = 1,
        .camera_height_m = (float)(1 / length),
        .pitch_rad = (float)asin(normal[2] / length),
        .roll_rad = (float)atan2(normal[0], normal[1]),
        .normal = {(float)(normal[0] / length), (float)(normal[1] / length), (float)(normal[2] / length)},
        .inlier_ratio = (float)ground->inliers / (float)ground->pixels,
    };
}
