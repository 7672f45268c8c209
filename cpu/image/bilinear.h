/* SPDX-License-Identifier: Apache-2.0 */
/* Bilinear interpolation with 5 fractional bits; a neighbour outside the image counts as 0. */
#ifndef PLX_CPU_IMAGE_BILINEAR_H
#define PLX_CPU_IMAGE_BILINEAR_H

#include "core/image.h"

/* Weights are products of two fractions of 32, so the Q10 sum in 32-bit integers loses nothing; it is rounded half up. */
static inline unsigned plx_blend(unsigned top_left, unsigned top_right, unsigned bottom_left, unsigned bottom_right,
                                 unsigned fx, unsigned fy)
{
    unsigned top = top_left * (PLX_REMAP_ONE - fx) + top_right * fx;
    unsigned bottom = bottom_left * (PLX_REMAP_ONE - fx) + bottom_right * fx;
    return (top * (PLX_REMAP_ONE - fy) + bottom * fy + PLX_REMAP_ONE * PLX_REMAP_ONE / 2) / (PLX_REMAP_ONE * PLX_REMAP_ONE);
}

static inline unsigned plx_pixel_or_zero(const struct plx_image *src, int x, int y)
{
    if (x < 0 || x >= src->width || y < 0 || y >= src->height)
        return 0;
    return src->type == PLX_U8 ? ((const uint8_t *)plx_row(src, y))[x] : ((const uint16_t *)plx_row(src, y))[x];
}

/* The U8 or U16 sample at AT, wherever that is. */
static inline unsigned plx_sample(const struct plx_image *src, struct plx_remap_entry at)
{
    return plx_blend(plx_pixel_or_zero(src, at.x, at.y), plx_pixel_or_zero(src, at.x + 1, at.y),
                     plx_pixel_or_zero(src, at.x, at.y + 1), plx_pixel_or_zero(src, at.x + 1, at.y + 1), at.fx, at.fy);
}

#endif
