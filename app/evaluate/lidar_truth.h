/* SPDX-License-Identifier: Apache-2.0 */
/* The road and the obstacles on it, from a disparity picture that was measured by LiDAR (KITTI's gt.png). */
#ifndef PLX_APP_EVALUATE_LIDAR_TRUTH_H
#define PLX_APP_EVALUATE_LIDAR_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"

#define PLX_LIDAR_RANGE_M 20.0 /* points beyond are PLX_LIDAR_UNKNOWN */

enum plx_lidar_class {
    PLX_LIDAR_UNKNOWN,  /* no measurement, or one that fits no class below */
    PLX_LIDAR_GROUND,   /* within 0.12 m of the road */
    PLX_LIDAR_CLEAR,    /* ground, and nothing of 0.2 m or more stands within 0.5 m */
    PLX_LIDAR_OBSTACLE, /* 0.3 to 2.5 m above the road */
};

struct plx_lidar_point {
    float depth_m;  /* 0: no measurement */
    float height_m; /* above the road */
    uint8_t class;  /* enum plx_lidar_class */
};

struct plx_lidar_truth {
    int width, height;
    bool scored;                        /* enough points support the road to compare a frame with it */
    double slope_x, slope_z, intercept; /* the road: y = slope_x x + slope_z z + intercept, metres, camera axes */
    struct plx_lidar_point *point;      /* [height][width] */
};

/* Reads TRUTH, U16, disparity in pixels x SCALE, 0 = unknown. Deterministic. NOMEM; ARG for a picture of another type. The
 * caller frees ret_truth->point. */
int plx_lidar_truth_read(const struct plx_image *truth, double scale, const struct plx_calibration_info *calibration,
                         struct plx_lidar_truth *ret_truth);

#endif
