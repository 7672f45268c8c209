/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of the last metres: a grid of cells around the robot that keeps what was seen and forgets what is gone. Each frame
 * looks at a cell once, as free, as occupied or as a drop; looks are weighed against each other, after the occupancy grids of
 * Moravec and Elfes (High resolution maps from wide angle sonar, ICRA 1985), with small whole numbers.
 */
#ifndef PLX_CORE_VERDICT_MAP_H
#define PLX_CORE_VERDICT_MAP_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "core/base/image.h"

struct plx_map_params {
    bool enabled;
    double memory_s; /* what is free, or stands in view, is forgotten if it was not seen for so long */
    /* The robot itself: a rectangle about the origin of its base. All 0: none. */
    double front_m, back_m, width_m;
};

struct plx_local_map;

/* Errors: NOMEM. Destroy accepts NULL. */
int plx_local_map_create(const struct plx_map_params *params, struct plx_local_map **ret_map);
void plx_local_map_destroy(struct plx_local_map *map);

/* Another map, whose memory is gone, was there before the first frame: of what no camera sees, nothing is known any longer. */
void plx_local_map_continue(struct plx_local_map *map);

/* Adds a frame whose mount, motion, obstacles and blind are known, then writes the map into CELLS, struct plx_cell
 * [PLX_MAP_CELLS][PLX_MAP_CELLS], and *ret_info. IS_DOUBTFUL: the frame's motion may be that of a thing; it does not move the
 * map. SCAN and STIXELS: the frame's planes. CAPTURE_NS: the left capture time. Allocates nothing. */
void plx_local_map_update(struct plx_local_map *map, const struct plx_frame *frame, bool is_doubtful,
                          const struct plx_image *scan, const struct plx_image *stixels, int64_t capture_ns,
                          const struct plx_image *cells, struct plx_map_info *ret_info);

#endif
