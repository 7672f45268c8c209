/* SPDX-License-Identifier: Apache-2.0 */
/* The ground as a plane in disparity space, and the mask of what stands above it. */
#ifndef PLX_CORE_GROUND_H
#define PLX_CORE_GROUND_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#ifdef __CUDACC__
#    define PLX_BOTH static inline __host__ __device__ /* compiled by every backend */
#else
#    define PLX_BOTH static inline
#endif

PLX_BOTH int64_t plx_ground_round(double value)
{
    return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

/* Disparity of a point at infinity, 1/16 px relative to MIN_DISPARITY: not 0 with a min_disparity or unlike principal points.
 */
PLX_BOTH int plx_disparity_at_infinity(const struct plx_calibration_info *calibration, int min_disparity)
{
    return (int)plx_ground_round((calibration->cx - calibration->cx_right - (double)min_disparity) * PLX_DISPARITY_ONE);
}

/* Disparity of the ground at pixel (u, v), in 1/16 px relative to min_disparity: (a u + b v + c) >> 16. All 0 where no ground
 * was found. */
struct plx_ground {
    int64_t a, b, c;
    int32_t camera_height_um; /* of the left camera above the plane, micrometres */
    int32_t valid;
    int32_t votes;   /* pixels below the horizon that have a disparity */
    int32_t inliers; /* of those, within the tolerance of the plane */
};

struct plx_ground_params {
    bool enabled;
    int disparities, min_disparity; /* as in matching */
    int tolerance;                  /* 1/16 px */
    int horizon_min, horizon_max;   /* rows between which the horizon may lie */
    struct plx_calibration_info calibration;
};

#define PLX_VEIL_REACH 3  /* pixels */
#define PLX_VEIL_SLOPE 60 /* by so many times its distance over the focal length a veil recedes within twice that */

/* Disparities in 1/16 px relative to min_disparity. */
struct plx_mask_params {
    int near_disparity, far_disparity;    /* from range_min and range_max; near >= far */
    int infinity;                         /* disparity of a point at infinity, plx_disparity_at_infinity */
    int32_t min_height_um, max_height_um; /* above ground, micrometres */
    int32_t focal_px;                     /* fx, rounded */
    bool ground_needed;                   /* without ground nothing is kept; else everything in range */
};

#endif
