/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth and disparity of a rectified pair: Z = f b / d, focal length times baseline over disparity (Hartley, Zisserman:
 * Multiple View Geometry, 2004, chapter 12). Disparities have three zero points:
 *
 *   above infinity    px: 0 is a point at infinity. The d of Z = f b / d. Records (stixels, scan, outlines) have it in 1/16 px
 *   between columns   px: x_left - x_right. A point at infinity has plx_disparity_shift, cx - cx_right
 *   of a plane        1/16 px above min_disparity: the values of the planes of disparities
 *
 * Published bits depend on the order of operations here.
 */
#ifndef PLX_CORE_GEOMETRY_STEREO_H
#define PLX_CORE_GEOMETRY_STEREO_H

#include <math.h>

#include <parallax/frame.h>

/* Focal length times baseline, px m: the depth of 1 px above infinity, and the disparity at 1 m. */
static inline double plx_focal_baseline(const struct plx_calibration_info *calibration)
{
    return calibration->fx * calibration->baseline_m;
}

/* The same for records, whose disparities are in 1/16 px above infinity: depth in m, or in mm, times disparity. */
static inline double plx_depth_scale_m(const struct plx_calibration_info *calibration)
{
    return PLX_DISPARITY_ONE * plx_focal_baseline(calibration);
}

static inline double plx_depth_scale_mm(const struct plx_calibration_info *calibration)
{
    return 1000 * PLX_DISPARITY_ONE * calibration->fx * calibration->baseline_m;
}

/* Disparity between columns of a point at infinity, px: not 0 where the principal points differ. */
static inline double plx_disparity_shift(const struct plx_calibration_info *calibration)
{
    return calibration->cx - calibration->cx_right;
}

/* Value in a plane of a point at infinity, 1/16 px, not rounded: plx_disparity_at_infinity is the rounded one. */
static inline double plx_plane_infinity(const struct plx_calibration_info *calibration, int min_disparity)
{
    return (plx_disparity_shift(calibration) - min_disparity) * PLX_DISPARITY_ONE;
}

/* Disparity above infinity, px, of VALUE in a plane. */
static inline double plx_disparity_of_plane(const struct plx_calibration_info *calibration, int min_disparity, double value)
{
    return value / PLX_DISPARITY_ONE + min_disparity - plx_disparity_shift(calibration);
}

/* Depth, m, of DISPARITY, px above infinity. INFINITY for 0, below 0 and NAN: no point before the cameras. */
static inline double plx_depth_of_disparity(const struct plx_calibration_info *calibration, double disparity)
{
    return disparity > 0 ? plx_focal_baseline(calibration) / disparity : (double)INFINITY;
}

/* Disparity above infinity, px, at DEPTH_M, which is above 0. */
static inline double plx_disparity_of_depth(const struct plx_calibration_info *calibration, double depth_m)
{
    return plx_focal_baseline(calibration) / depth_m;
}

/* Value in a plane, 1/16 px, not rounded, at DEPTH_M, which is above 0. Below 0: too far for this min_disparity. */
static inline double plx_plane_of_depth(const struct plx_calibration_info *calibration, int min_disparity, double depth_m)
{
    const double pixels = plx_disparity_of_depth(calibration, depth_m) + plx_disparity_shift(calibration) - min_disparity;
    return pixels * PLX_DISPARITY_ONE;
}

/* Standard deviation of the depth, m, at DEPTH_M from that of the disparity, px: |dZ / dd| = Z^2 / (f b). */
static inline double plx_depth_sigma(const struct plx_calibration_info *calibration, double depth_m, double sigma_px)
{
    return depth_m * depth_m / plx_focal_baseline(calibration) * sigma_px;
}

/* Width of a pixel at DEPTH_M, m. */
static inline double plx_pixel_width(const struct plx_calibration_info *calibration, double depth_m)
{
    return depth_m / calibration->fx;
}

/* The point, m, of pixel (U, V) of the left image at DEPTH_M, in axes of the left camera. */
static inline void plx_point_of_pixel(const struct plx_calibration_info *calibration, double u, double v, double depth_m,
                                      double ret_point[3])
{
    ret_point[0] = (u - calibration->cx) / calibration->fx * depth_m;
    ret_point[1] = (v - calibration->cy) / calibration->fy * depth_m;
    ret_point[2] = depth_m;
}

#endif
