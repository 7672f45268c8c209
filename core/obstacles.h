/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of the obstacle mask in metres: where each thing is, how large, how sure. Plain maths on integer sums. */
#ifndef PLX_CORE_OBSTACLES_H
#define PLX_CORE_OBSTACLES_H

#include <parallax/frame.h>

struct plx_region;

struct plx_obstacle_params {
    double range_min_m, range_max_m;
    double min_height_m, max_height_m; /* above ground */
    int open_size, close_size;         /* morphology, odd, 1 = off */
    int max_step;                      /* 1/16 px between neighbours of one obstacle */
    int min_area;                      /* pixels */
};

/* Describes COUNT regions as obstacles in RET_OBSTACLE, which has room for COUNT, in the same order, and returns how many there
 * are: regions that lie at infinity, are too small in metres to be a thing, or hardly rise above PARAMS->min_height_m, are left
 * out. GROUND may be invalid (heights are then 0). IMAGE_HEIGHT, rows, ends the boxes. Fills all but track, status, age, velocity and velocity_variance, which are
 * 0 until plx_tracks_update. */
int plx_obstacles_measure(const struct plx_region *region, int count, const struct plx_calibration_info *calibration,
                          int min_disparity, int image_height, const struct plx_ground_info *ground,
                          const struct plx_obstacle_params *params, struct plx_obstacle *ret_obstacle);

#endif
