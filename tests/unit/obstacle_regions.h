/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the tests of core/ground/obstacles.h: a camera, and hand-made regions of objects with known position and size. */
#ifndef PLX_TESTS_UNIT_OBSTACLE_REGIONS_H
#define PLX_TESTS_UNIT_OBSTACLE_REGIONS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ground/obstacles.h"
#include "tests/cmocka.h"

/* fx baseline = 60 px m: 3 m away is 20 px. fy is another one, so that a mixed-up axis shows. */
static const struct plx_calibration_info camera = {
    .fx = 500, .fy = 400, .cx = 320, .cy = 240, .cx_right = 320, .baseline_m = 0.12};
static const struct plx_ground_info no_ground;
static const struct plx_ground_info level = {.valid = 1, .camera_height_m = 1, .normal = {0, 1, 0}};
static const struct plx_obstacle_params params = {.min_height_m = 0.2};

/* A full rectangle that faces the camera, all of it at DISPARITY, 1/16 px; the images have nothing to say. */
static inline struct plx_region rectangle(int x0, int y0, int x1, int y1, uint32_t disparity)
{
    const uint64_t width = (uint64_t)x1 - (uint64_t)x0 + 1, height = (uint64_t)y1 - (uint64_t)y0 + 1, area = width * height;
    const uint64_t sum_x = ((uint64_t)x0 + (uint64_t)x1) * area / 2, sum_y = ((uint64_t)y0 + (uint64_t)y1) * area / 2;
    return (struct plx_region){
        .label = 1,
        .area = (uint32_t)area,
        .interior_area = (uint32_t)area,
        .x0 = x0,
        .y0 = y0,
        .x1 = x1,
        .y1 = y1,
        .inner_x0 = x0,
        .inner_y0 = y0,
        .inner_x1 = x1,
        .inner_y1 = y1,
        .sum_x = sum_x,
        .sum_y = sum_y,
        .interior_sum_d = disparity * area,
        .interior_sum_x = sum_x,
        .interior_sum_y = sum_y,
        .median = disparity,
        .p95 = disparity,
        .p05 = disparity,
    };
}

/* A panel 0.594 m wide and 0.45 m high, 3 m away: 99 x 60 px, 2.5 px wider at either side by matching. */
static inline struct plx_region panel(void)
{
    return rectangle(270, 190, 373, 249, 320);
}

static inline int measure(const struct plx_region *region, const struct plx_ground_info *ground, struct plx_obstacle *ret)
{
    memset(ret, 0x5A, sizeof *ret);
    return plx_obstacles_measure(region, 1, &camera, 0, 480, ground, &params, ret);
}

static inline void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-6 * (1 + fabs(expected))))
        fail_msg("%.9g, expected %.9g", got, expected);
}

static inline struct plx_refined agree_at(double disparity)
{
    return (struct plx_refined){.weight = 1 << 20, .sum = (int64_t)(disparity * (1 << 20))};
}

#endif
