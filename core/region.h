/* SPDX-License-Identifier: Apache-2.0 */
/* Connected regions of the obstacle mask: integer sums that a backend makes, geometry is core/obstacles.h. */
#ifndef PLX_CORE_REGION_H
#define PLX_CORE_REGION_H

#include <stdint.h>

#include "core/image.h"

struct plx_label_params {
    int max_step; /* 1/16 px: neighbours belong together if their disparities differ by no more */
    int min_area; /* pixels; smaller components are dropped before numbering */
};

/* What regions are measured in, all of one size. LEFT and RIGHT, rectified U8, refine the disparities of whole regions. */
struct plx_region_input {
    const struct plx_image *labels, *disparity, *left, *right;
    int min_disparity;
};

/* True if the images of INPUT and PUBLISHED are sound, of the right types and of one size. */
static inline bool plx_region_input_ok(const struct plx_region_input *input, const struct plx_image *published)
{
    return plx_image_ok(input->labels, PLX_U32) && plx_image_ok(input->disparity, PLX_U16) &&
           plx_image_ok(input->left, PLX_U8) && plx_image_ok(input->right, PLX_U8) && plx_image_ok(published, PLX_U16) &&
           plx_same_size(input->labels, input->disparity) && plx_same_size(input->labels, input->left) &&
           plx_same_size(input->labels, input->right) && plx_same_size(input->labels, published);
}

/* A disparity that the images themselves refine, in 1/16 px relative to min_disparity: sum / weight, weight 0 where there is
 * nothing to go by. Matching draws surfaces that face the camera towards whole disparities (the smoothness of semi-global
 * matching does); the shift that makes the two images agree best over many pixels (Lucas and Kanade 1981) does not. */
struct plx_refined {
    int64_t weight; /* sum of g g, g = left(x + 1) - left(x - 1) */
    int64_t sum;    /* sum of g g d - 2 g e, e = 16 (left(x) - right(x - d)), d the disparity that was tried */
};

/* Sums over one region; disparities in 1/16 px relative to min_disparity. Percentile p of n sorted values is element
 * (n - 1) p / 100. The inner box leaves out columns (rows) that hold less than half as many pixels as the fullest one: frayed
 * edges do not count as width. The interior is the surface turned to the camera: the pixels with a disparity within
 * PLX_INTERIOR_DEPTH of the median. */
#define PLX_INTERIOR_DEPTH 8 /* 1/16 px */

struct plx_region {
    uint32_t label, area;
    uint32_t first; /* raster index y * width + x of its first pixel */
    uint32_t interior_area;
    int32_t x0, y0, x1, y1; /* inclusive box */
    int32_t inner_x0, inner_y0, inner_x1, inner_y1;
    uint64_t sum_x, sum_y;
    uint64_t interior_sum_d, interior_sum_x, interior_sum_y; /* of the interior's disparities, columns and rows */
    struct plx_refined interior;                             /* the interior's disparity */
    struct plx_refined left, right;                          /* of the strips along the inner box's left and right side */
    uint32_t median, p95, p05;                               /* percentiles of disparity */
    uint32_t reserved;
};

#endif
