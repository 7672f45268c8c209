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

#define PLX_REMAP_ONE 32 /* parts of a pixel */

/* The entry at (x, y) in 1/32 px. Positions beyond 16 bits, which lie outside of every image, all become x = y = INT16_MIN. */
static inline struct plx_remap_entry plx_remap_at(int64_t x, int64_t y)
{
    const int64_t limit = (int64_t)INT16_MAX * PLX_REMAP_ONE;
    if (x < -limit || x > limit || y < -limit || y > limit)
        return (struct plx_remap_entry){INT16_MIN, INT16_MIN, 0, 0};
    int64_t fx = x & (PLX_REMAP_ONE - 1), fy = y & (PLX_REMAP_ONE - 1);
    return (struct plx_remap_entry){(int16_t)((x - fx) / PLX_REMAP_ONE), (int16_t)((y - fy) / PLX_REMAP_ONE), (uint8_t)fx,
                                    (uint8_t)fy};
}

/* [height][width] entries in memory of the owner (ops->alloc for use by a backend). */
struct plx_remap {
    struct plx_remap_entry *entry;
    int width, height;
};

#endif
