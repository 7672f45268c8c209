/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The camera models: from a ray, given where it meets the plane z = 1, to a pixel and back. Brown-Conrady with 5 or 8
 * coefficients (plumb_bob, rational) and Kannala-Brandt with 4 (equidistant), as defined by OpenCV's calib3d.
 */
#ifndef PLX_CORE_CAMERA_H
#define PLX_CORE_CAMERA_H

#include "core/calibration.h"

/* Pixel of the ray (x, y, 1). */
void plx_camera_project(const struct plx_camera *camera, double x, double y, double *ret_u, double *ret_v);

/* Ray (x, y, 1) of a pixel, by as many iterations as OpenCV makes (5 fixed-point, or up to 10 Newton steps). An equidistant
 * pixel 90 degrees or more off the axis has no such ray and gives 90 degrees. */
void plx_camera_unproject(const struct plx_camera *camera, double u, double v, double *ret_x, double *ret_y);

#endif
