/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point resampling map: where in the source each destination pixel comes from. */
#ifndef PLX_CORE_REMAP_H
#define PLX_CORE_REMAP_H

#include "core/image.h"

/* One entry: source position in 1/32 px, the numbers of OpenCV's CV_16SC2 + CV_16UC1 maps. */
struct plx_remap_entry {
    int16_t x, y;   /* whole pixel of the upper left neighbour, may lie outside */
    uint8_t fx, fy; /* 0..31 */
};

/* [height][width] entries in memory of the owner (ops->alloc for use by a backend). */
struct plx_remap {
    struct plx_remap_entry *entry;
    int width, height;
};

#endif
