/* SPDX-License-Identifier: Apache-2.0 */
/* An image at full, half, quarter ... size; each pixel is the mean of 2 x 2 pixels of the next larger level. */
#ifndef PLX_CORE_MOTION_PYRAMID_H
#define PLX_CORE_MOTION_PYRAMID_H

#include <stddef.h>

#include "core/base/image.h"

#define PLX_PYRAMID_LEVELS 5
#define PLX_PYRAMID_PADDING 32 /* bytes after each level that may be read, but hold no pixels of it */

/* Level 0 is a copy of the image. Pixel (x, y) of it lies at ((x + 0.5) / 2^n - 0.5, ...) of level n. */
struct plx_pyramid {
    struct plx_image level[PLX_PYRAMID_LEVELS]; /* U8, rows packed */
    int levels;                                 /* with at least one pixel */
};

/* Memory of a pyramid for images of WIDTH x HEIGHT, with the padding. */
size_t plx_pyramid_bytes(int width, int height);

/* The same as rows of an image of WIDTH. */
static inline int plx_pyramid_rows(int width, int height)
{
    return (int)(plx_pyramid_bytes(width, height) / (size_t)width) + 1;
}

/* The levels, without content, in MEMORY of plx_pyramid_bytes. */
void plx_pyramid_lay_out(void *memory, int width, int height, struct plx_pyramid *ret_pyramid);

/* Fills what follows at all levels from the strip of IMAGE that begins at row Y, a multiple of PLX_PYRAMID_STRIP. IMAGE is
 * U8 and of the pyramid's size. */
#define PLX_PYRAMID_STRIP (1 << (PLX_PYRAMID_LEVELS - 1))
void plx_pyramid_build_strip(const struct plx_pyramid *pyramid, const struct plx_image *image, int y);

#endif
