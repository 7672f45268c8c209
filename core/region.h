/* SPDX-License-Identifier: Apache-2.0 */
/* Connected regions of the obstacle mask: integer sums that a backend makes, geometry is core/obstacles.h. */
#ifndef PLX_CORE_REGION_H
#define PLX_CORE_REGION_H

#include <stdint.h>

struct plx_label_params {
    int max_step; /* 1/16 px: neighbours belong together if their disparities differ by no more */
    int min_area; /* pixels; smaller components are dropped before numbering */
};

/* Sums over one region; disparities in 1/16 px relative to min_disparity. Percentile p of n sorted values is element
 * (n - 1) p / 100. The face is the part of the region that is turned to the camera: the pixels whose disparity is within
 * PLX_FACE_DEPTH of the median. Its box leaves out columns (rows) that hold less than half as many face pixels as the
 * fullest one, so that sides, shadows of the matching and frayed edges do not count as width. */
#define PLX_FACE_DEPTH 8 /* 1/16 px */

struct plx_region {
    uint32_t label, area;
    uint32_t first; /* raster index y * width + x of its first pixel */
    uint32_t face_area;
    int32_t x0, y0, x1, y1; /* inclusive box */
    int32_t face_x0, face_y0, face_x1, face_y1;
    uint64_t sum_x, sum_y;
    uint64_t face_sum;         /* of the face's disparities */
    uint32_t median, p95, p05; /* percentiles of disparity */
    uint32_t reserved;
};

#endif
