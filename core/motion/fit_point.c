/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/fit_point.h"

void plx_fit_unproject(const struct plx_fit_camera *camera, double u, double v, double disparity, double ret_point[3])
{
    const double z = camera->focal_baseline / disparity;
    ret_point[0] = (u - camera->cx) / camera->fx * z;
    ret_point[1] = (v - camera->cy) / camera->fy * z;
    ret_point[2] = z;
}

bool plx_fit_project(const struct plx_fit_camera *camera, const double point[3], double ret_pixel[2])
{
    if (!(point[2] > PLX_FIT_MIN_DEPTH_M))
        return false;
    ret_pixel[0] = camera->fx * point[0] / point[2] + camera->cx;
    ret_pixel[1] = camera->fy * point[1] / point[2] + camera->cy;
    return true;
}
