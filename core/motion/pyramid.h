/* SPDX-License-Identifier: Apache-2.0 */
/* A picture at full, half, quarter ... size; each pixel is the mean of 2 x 2 pixels of the next larger level. */
#ifndef PLX_CORE_MOTION_PYRAMID_H
#define PLX_CORE_MOTION_PYRAMID_H

#include "core/base/image.h"

#define PLX_PYRAMID_LEVELS 5
#define PLX_PYRAMID_PADDING 32 /* bytes after each level that may be read, but hold no pixels of it */

/* Level 0 is a copy of the picture. Pixel (x, y) of it lies at ((x + 0.5) / 2^n - 0.5, ...) of level n. */
struct plx_pyramid {
    struct plx_image level[PLX_PYRAMID_LEVELS]; /* U8, rows packed; sizes are those of the picture that was built last */
    int levels;                                 /* with at least one pixel */
    void *memory;                               /* owned, behind all levels */
};

/* For pictures of up to WIDTH x HEIGHT. NOMEM. */
int plx_pyramid_create(int width, int height, struct plx_pyramid *ret_pyramid);
void plx_pyramid_destroy(struct plx_pyramid *pyramid); /* all zeros is fine */

/* Fills the levels from PICTURE, U8 and no larger than at creation. */
void plx_pyramid_build(struct plx_pyramid *pyramid, const struct plx_image *picture);

#endif
