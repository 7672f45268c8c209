/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks a point from one picture to another: pyramidal Lucas-Kanade, inverse compositional (Baker and Matthews, Lucas-Kanade
 * 20 Years On, IJCV 2004), in integers except for the 2 x 2 system. */
#ifndef PLX_CORE_MOTION_FLOW_H
#define PLX_CORE_MOTION_FLOW_H

#include <stdbool.h>

#include "core/base/image.h"

/* --- the pyramid -------------------------------------------------------------------------------------------------- */

/* A picture at full, half, quarter ... size; each pixel is the mean of 2 x 2 pixels of the next larger level. */
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

/* --- the flow of a point ------------------------------------------------------------------------------------------ */

#define PLX_FLOW_WINDOW 12 /* side, pixels of each level */

/* Finds the window around FROM, a pixel of KEY, in NOW. RET_TO: a guess on entry, the pixel found in NOW on return. LEVELS: the
 * pyramid levels to use; the coarsest one bridges about 6 x 2^(LEVELS - 1) px. A constant difference of brightness has no
 * effect. False, with RET_TO unchanged, if the window leaves the picture, has no texture, or looks different in NOW. */
bool plx_flow_track(const struct plx_pyramid *key, const struct plx_pyramid *now, int levels, const double from[2],
                    double ret_to[2]);

#endif
