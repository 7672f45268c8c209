/* SPDX-License-Identifier: Apache-2.0 */
/* The ground as a plane in disparity space, and the mask of what stands above it. */
#ifndef PLX_CORE_GROUND_H
#define PLX_CORE_GROUND_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

/* Disparity of the ground at pixel (u, v), in 1/16 px relative to min_disparity: (a u + b v + c) >> 16. */
struct plx_ground {
    int64_t a, b, c;
    int32_t valid;
    int32_t votes;   /* pixels that voted */
    int32_t inliers; /* of those, within the tolerance of the plane */
};

struct plx_ground_params {
    bool enabled;
    int disparities, min_disparity; /* as in matching */
    int tolerance;                  /* 1/16 px */
    int horizon_min, horizon_max;   /* rows between which the horizon may lie */
    struct plx_calibration_info calibration;
};

struct plx_mask_params {
    int near_disparity, far_disparity; /* 1/16 px relative: from range_min and range_max; near >= far */
    int min_height_q16;                /* least height above ground, as a fraction of the camera height, Q16 */
    int max_height_q16;                /* largest, likewise */
};

/* The plane in metres: normal, camera height, pitch and roll, from the plane in disparity space. */
void plx_ground_geometry(const struct plx_ground *ground, const struct plx_calibration_info *calibration, int min_disparity,
                         struct plx_ground_info *ret_info);

#endif
