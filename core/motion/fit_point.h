/* SPDX-License-Identifier: Apache-2.0 */
/* A point that was seen in two frames, and the camera that saw it. */
#ifndef PLX_CORE_MOTION_FIT_POINT_H
#define PLX_CORE_MOTION_FIT_POINT_H

#include <stdbool.h>

#define PLX_FIT_MIN_DEPTH_M 1e-2 /* nearer points count as behind the camera */

/* A point in space: pixel (fx x / z + cx, fy y / z + cy), disparity focal_baseline / z. */
struct plx_fit_camera {
    double fx, fy, cx, cy, focal_baseline; /* px, and px m: plx_focal_baseline */
};

/* A corner of the key frame that was found again. */
struct plx_fit_point {
    double at[3];       /* position in axes of the key frame, metres */
    double disparity;   /* in the key frame, pixels, above that of infinity */
    double seen[3];     /* in the frame now: u, v and disparity above that of infinity, pixels */
    bool has_disparity; /* else seen[2] means nothing */
    bool inlier;        /* result of plx_fit_motion */
};

/* The point in space of pixel (U, V) with DISPARITY above 0, pixels. */
static inline void plx_fit_unproject(const struct plx_fit_camera *camera, double u, double v, double disparity,
                                     double ret_point[3])
{
    const double z = camera->focal_baseline / disparity;
    ret_point[0] = (u - camera->cx) / camera->fx * z;
    ret_point[1] = (v - camera->cy) / camera->fy * z;
    ret_point[2] = z;
}

/* x^2 of a match in the right image, x from its principal point in focal lengths; U: its column in the left image;
 * DISPARITY above that of infinity. */
static inline double plx_fit_right_square(const struct plx_fit_camera *camera, double u, double disparity)
{
    const double x = (u - disparity - camera->cx) / camera->fx;
    return x * x;
}

/* Pixel of POINT. False if it is behind the camera. */
static inline bool plx_fit_project(const struct plx_fit_camera *camera, const double point[3], double ret_pixel[2])
{
    if (!(point[2] > PLX_FIT_MIN_DEPTH_M))
        return false;
    ret_pixel[0] = camera->fx * point[0] / point[2] + camera->cx;
    ret_pixel[1] = camera->fy * point[1] / point[2] + camera->cy;
    return true;
}

#endif
