/* SPDX-License-Identifier: Apache-2.0 */
/* Too little light, too much, or not the same in both eyes: told by the pair's histograms. */
#ifndef PLX_CORE_BRIGHTNESS_CHECK_H
#define PLX_CORE_BRIGHTNESS_CHECK_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/image.h"

#define PLX_BRIGHTNESS_CHECK_FRAMES 5 /* a fault must last so many frames: exposure needs a few for a sudden change */

/* Zeroed = no pair yet. */
struct plx_brightness_check {
    int frames[3]; /* frames that each fault has lasted: dark, overexposed, mismatch */
};

/* Looks at the next pair's histogram plane, U32 [2 * (1 + 64)][256]. Returns the flags (enum plx_health) DARK: 99 % of an eye's
 * pixels are below level 16; OVEREXPOSED: more than 60 % of an eye's are at 250 or more; BRIGHTNESS_MISMATCH: all three
 * quartiles of one eye are above the other's by a quarter and by 8 levels. */
uint32_t plx_brightness_check_update(struct plx_brightness_check *check, const struct plx_image *histogram);

#endif
