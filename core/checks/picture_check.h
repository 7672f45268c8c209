/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of each pair of pictures: brightness, by the histograms, frozen pictures, by checksums of
 * the raw bytes, and sharpness, by sums of steps (picture_sums.h). */
#ifndef PLX_CORE_CHECKS_PICTURE_CHECK_H
#define PLX_CORE_CHECKS_PICTURE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/checks/picture_sums.h"

#define PLX_BRIGHTNESS_CHECK_FRAMES 5 /* a fault must last so many frames: exposure needs a few for a sudden change */

/* Zeroed = no pair yet. */
struct plx_brightness_check {
    int frames[3]; /* frames that each fault has lasted: dark, overexposed, mismatch */
};

/* Looks at the next pair's histogram plane, U32 [2 * (1 + 64)][256]. Returns the flags (enum plx_health) DARK: 99 % of an eye's
 * pixels are below level 16; OVEREXPOSED: more than 60 % of an eye's are at 250 or more; BRIGHTNESS_MISMATCH: all three
 * quartiles of one eye are above the other's by a quarter and by 8 levels. */
uint32_t plx_brightness_check_update(struct plx_brightness_check *check, const struct plx_image *histogram);

/* Zeroed = no pair yet. */
struct plx_sharpness_check {
    int frames; /* that the fault has lasted */
};

/* Looks at the next rectified pair, WIDTH x HEIGHT pixels: STEPS, U32 [4][...], is what the stage sharpness found in the left
 * picture, then in the right one. True while one eye has been less sharp than the other for
 * PLX_BRIGHTNESS_CHECK_FRAMES frames: steps over 2 pixels, as a share of those over 8, differ by more than a 4th. So brightness
 * and gain make no difference, and rectification, which smooths by half a pixel at most, hardly any: the least share of 54 real
 * pairs is 0.95, 0.85 with that; a blur of 2 pixels makes it 0.6. */
bool plx_sharpness_check_update(struct plx_sharpness_check *check, const struct plx_image *steps, int width, int height);

/* A live camera always has noise, so a tile of raw bytes that repeats unchanged was not captured again. A driver that hangs may
 * hand out its last buffers in turn: each picture is compared with the last few. The tiles are the histogram's zones. A tile
 * that is dark or overexposed throughout is not judged: noise is clipped there. */
#define PLX_FROZEN_CHECK_TILES PLX_CHECKSUM_TILES
#define PLX_FROZEN_CHECK_PICTURES 4 /* that a picture is compared with: as many buffers as drivers usually have */
#define PLX_FROZEN_CHECK_REPEATS 5  /* repeats of a part of the picture; a whole picture is frozen at its first repeat */
#define PLX_FROZEN_CHECK_PAIRS (PLX_FROZEN_CHECK_PICTURES + PLX_FROZEN_CHECK_REPEATS) /* that show any such fault */

/* One eye's memory; zeroed = no picture yet. */
struct plx_frozen_check {
    int known; /* pictures in sum */
    int next;  /* where the next picture's sums go */
    uint64_t sum[PLX_FROZEN_CHECK_PICTURES][PLX_FROZEN_CHECK_TILES];
    uint8_t repeats[PLX_FROZEN_CHECK_PICTURES][PLX_FROZEN_CHECK_TILES]; /* in a row, of the picture 1, 2, ... before */
};

/* Looks at the next picture of one eye: SUM [64] is what the stage checksum found, BINS its histogram, U32 [1 + 64][256]. True
 * while picture or part of it is frozen. */
bool plx_frozen_check_update(struct plx_frozen_check *check, const uint64_t *sum, const struct plx_image *bins);

#endif
