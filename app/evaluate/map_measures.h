/* SPDX-License-Identifier: Apache-2.0 */
/* How well the map agrees with LiDAR, as counts that add up over frames. What only one eye sees
 * does not count. */
#ifndef PLX_APP_EVALUATE_MAP_MEASURES_H
#define PLX_APP_EVALUATE_MAP_MEASURES_H

#include "app/evaluate/lidar_truth.h"

struct plx_map_counts {
    uint64_t clear, ghosts;   /* known cells with clear ground by LiDAR and nothing else; of these, occupied or drops */
    uint64_t points, missing; /* points on obstacles within 10 m; those with no occupied cell within 20 cm */
    /* squares of 0.5 m with at least 20 such points, whose heights differ by 0.25 m; of these, with most points missing; with
     * most points missing in cells that are free, not unknown */
    uint64_t things, lacking, lacking_free;
};

/* Adds FRAME, whose truth is TRUTH; nothing where it has no map. NOMEM. */
int plx_map_measures_add(const struct plx_frame *frame, const struct plx_lidar_truth *truth, struct plx_map_counts *counts);

#endif
