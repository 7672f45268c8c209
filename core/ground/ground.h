/* SPDX-License-Identifier: Apache-2.0 */
/* The ground as a plane in disparity space; what the stages ground and mask are given. Their arithmetic is in fit.h and mask.h.
 */
#ifndef PLX_CORE_GROUND_GROUND_H
#define PLX_CORE_GROUND_GROUND_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/both.h"

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

#define PLX_GROUND_MIN 16 /* 1/16 px: nearer to the horizon, ground and obstacles look the same */

/* HELD: of an earlier frame, because this one shows none. */
enum plx_ground_state { PLX_GROUND_NONE = 0, PLX_GROUND_FOUND = 1, PLX_GROUND_HELD = 2 };

/* Disparity of the ground at pixel (u, v), in 1/16 px relative to min_disparity: (a u + b v + c) >> 16. All 0 where there is no
 * ground. */
struct plx_ground {
    int64_t a, b, c;
    int32_t camera_height_um; /* of the left camera above the plane, micrometres */
    int32_t valid;            /* enum plx_ground_state */
    int32_t pixels;           /* of this frame, held or not: those that voted, plx_ground_add_pixel */
    int32_t inliers;          /* of those, within the tolerance of the plane */
};

/* Normal of the plane over the camera's height above it, 1/m, in camera axes: n / h. */
PLX_BOTH void plx_ground_normal(const struct plx_ground *ground, const struct plx_calibration_info *calibration, int infinity,
                                double ret_normal[3])
{
    const double one = 65536.0 * PLX_DISPARITY_ONE;
    const double du = (double)ground->a / one, dv = (double)ground->b / one, d0 = (double)ground->c / one;
    const double centre = du * calibration->cx + dv * calibration->cy + d0 - (double)infinity / PLX_DISPARITY_ONE;
    ret_normal[0] = du / calibration->baseline_m;
    ret_normal[1] = dv / calibration->baseline_m * (calibration->fy / calibration->fx);
    ret_normal[2] = centre / calibration->baseline_m / calibration->fx;
}

/* The plane whose unit NORMAL points down, HEIGHT metres below the camera, as HELD; the reverse of plx_ground_normal. */
struct plx_ground plx_ground_of(const double normal[3], double height, const struct plx_calibration_info *calibration,
                                int infinity);

/* What earlier frames say of the ground, for one frame. All 0: nothing, as for a single picture. */
struct plx_ground_prior {
    struct plx_ground held;               /* HELD if it may stand in for the ground of this frame, else all 0 */
    int32_t slope_min, slope_max;         /* of candidate lines, as struct plx_ground_line; 0, 0: any */
    int32_t height_min_um, height_max_um; /* of the camera, micrometres; 0, 0: any, and any tilt */
};

struct plx_ground_params {
    bool enabled;
    int disparities, min_disparity; /* as in matching */
    int tolerance;                  /* 1/16 px */
    int horizon_min, horizon_max;   /* rows between which the horizon may lie */
    struct plx_calibration_info calibration;
    struct plx_ground mount; /* what the robot stands on, by where the camera is on it; all 0: not known */
};

/* Disparities in 1/16 px relative to min_disparity. */
struct plx_mask_params {
    int near_disparity, far_disparity;    /* from range_min and range_max; near >= far */
    int infinity;                         /* disparity of a point at infinity, plx_disparity_at_infinity */
    int min_disparity;                    /* pixels, as in matching */
    int32_t min_height_um, max_height_um; /* above ground, micrometres */
    int32_t focal_px;                     /* fx, rounded */
    bool ground_needed;                   /* without ground nothing is kept; else everything in range */
};

#endif
