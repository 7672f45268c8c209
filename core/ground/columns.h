/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns stage: stixels and the scan of each column of 4 pixels (after Pfeiffer and Franke 2011), from the strict
 * disparity and the ground. The arithmetic is in a subset of C that every backend compiles, integers only, so that all give the
 * same bits; core/ground/stixels.h has the second half. Disparities are 1/16 px above that of infinity, unless a name says
 * otherwise.
 *
 * 1. A cell is 4 x 2 pixels: its value is a median disparity, and the ground has a disparity there (plx_cell_value, _ground).
 * 2. A path goes through each column of cells, from the bottom row up. In each cell it has a state: a thing at disparity
 *    plx_thing_at(s), s = 0 .. D - 1, or ground raised by k / 32 of the camera's height, state D + 6 + k, k = -6 .. 6.
 *    With P the costs of the row below (all 0 under the bottom row) and M the least of them, of things and ground:
 *        L(s) = C(s) + min(P(s), P(s - 1) + 12, P(s + 1) + 12, M + 30)    C(s): plx_thing_cost
 *        L(k) = C(k) + min(P(k), P(k - 1) + 6, P(k + 1) + 6, M + 30)      C(k): plx_ground_cost
 *    A neighbour beyond the ends of s or of k does not count. Among equals the first in this order is the predecessor; that of
 *    M + 30 is the smallest state with P = M. The path is traced back from the smallest state with the least L of the top row.
 *    Bounds: relative to M, 0 <= P(s) - M <= 54 and P(k) - M <= 78, because C(s) <= 24 and C(k) <= 48: bytes suffice, and
 *    plx_path_before traces back from P - M alone, so that no decisions need to be stored.
 * 3. Connected things on the path are pieces; those that hold become stixels, and with the ground on the path the scan
 *    (core/ground/stixels.h: plx_column_publish).
 */
#ifndef PLX_CORE_GROUND_COLUMNS_H
#define PLX_CORE_GROUND_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/ground/mask.h"

#define PLX_CELL_WIDTH PLX_COLUMN_WIDTH /* pixels */
#define PLX_CELL_HEIGHT 2
#define PLX_CELL_PIXELS (PLX_CELL_WIDTH * PLX_CELL_HEIGHT)
#define PLX_CELL_UNKNOWN INT16_MIN
#define PLX_CELL_LIMIT 16383 /* largest value or ground, either sign */

#define PLX_PATH_GROUNDS 13 /* k = -6 .. 6 */
#define PLX_PATH_MIDDLE 6   /* k = 0 */
#define PLX_PATH_THING_STEP 12
#define PLX_PATH_GROUND_STEP 6
#define PLX_PATH_JUMP 30
#define PLX_PATH_WRONG 24      /* C of what does not fit at all */
#define PLX_PATH_IMPOSSIBLE 48 /* C of ground where there can be none */
#define PLX_THING_TOLERANCE 4  /* 1/16 px */
#define PLX_THING_UNKNOWN 1    /* C(s) of a cell without a value */
#define PLX_PARTNER_MARGIN 64  /* 1/16 px: so far outside the right image a partner may lie */
#define PLX_COLUMNS_MAX_FOCAL 32767
#define PLX_COLUMNS_MAX_LIFT 12288
#define PLX_COLUMNS_MAX_DROP_MM 10000

struct plx_columns_params {
    struct plx_mask_params mask; /* ranges, heights, infinity, as there; focal_px 1 .. PLX_COLUMNS_MAX_FOCAL */
    int disparities;             /* D: 64, 128 or 256 */
    int min_drop_mm; /* 1 .. PLX_COLUMNS_MAX_DROP_MM: by so much the ground falls at a drop; 0: drops are not looked for */
};

static inline int plx_columns_of(int width)
{
    return (width + PLX_CELL_WIDTH - 1) / PLX_CELL_WIDTH;
}

static inline int plx_cell_rows_of(int height)
{
    return (height + PLX_CELL_HEIGHT - 1) / PLX_CELL_HEIGHT;
}

/* True if images and numbers are sound and of sizes that fit: scan U64 [1][columns], stixels U128 [columns][8]. */
static inline bool plx_columns_ok(const struct plx_image *disparity, const struct plx_columns_params *params,
                                  const struct plx_image *scan, const struct plx_image *stixels)
{
    return plx_image_ok(disparity, PLX_U16) && plx_image_ok(scan, PLX_U64) && plx_image_ok(stixels, PLX_U128) &&
           scan->width == plx_columns_of(disparity->width) && scan->height == 1 && stixels->width == PLX_COLUMN_STIXELS &&
           stixels->height == scan->width && params->mask.focal_px >= 1 && params->mask.focal_px <= PLX_COLUMNS_MAX_FOCAL &&
           params->min_drop_mm >= 0 && params->min_drop_mm <= PLX_COLUMNS_MAX_DROP_MM &&
           (params->disparities == 64 || params->disparities == 128 || params->disparities == 256);
}

PLX_BOTH int plx_cell_clamp(int64_t value, int limit)
{
    return (int)(value < -limit ? -limit : value > limit ? limit : value);
}

/* Disparity of a thing in state 0: more than 0 where min_disparity leaves out infinity. */
PLX_BOTH int plx_columns_lift(const struct plx_columns_params *params)
{
    const int lift = params->mask.infinity < 0 ? -params->mask.infinity : 0;
    return lift < PLX_COLUMNS_MAX_LIFT ? lift : PLX_COLUMNS_MAX_LIFT;
}

PLX_BOTH int plx_thing_at(const struct plx_columns_params *params, int state)
{
    return PLX_DISPARITY_ONE * state + plx_columns_lift(params);
}

/* The disparity of pixel X of ROW, WIDTH disparities relative to min_disparity, or INVALID on a veil. */
PLX_BOTH uint16_t plx_cell_pixel(const struct plx_columns_params *params, const uint16_t *row, int width, int x)
{
    const uint16_t d = row[x];
    const bool inside = x >= PLX_VEIL_REACH && x + PLX_VEIL_REACH < width;
    return d != PLX_DISPARITY_INVALID && inside &&
                   plx_is_veil(&params->mask, row[x - PLX_VEIL_REACH], d, row[x + PLX_VEIL_REACH])
               ? PLX_DISPARITY_INVALID
               : d;
}

/* Element n / 2 of the n valid of PIXEL, sorted, above infinity; UNKNOWN if n < 3. Reorders PIXEL. Equal to sorting all 8, as
 * INVALID is the largest number. */
PLX_BOTH int plx_cell_median(const struct plx_columns_params *params, uint16_t pixel[PLX_CELL_PIXELS])
{
    int valid = 0, value = 0;
    for (int i = 0; i < PLX_CELL_PIXELS; i++)
        valid += pixel[i] != PLX_DISPARITY_INVALID;
    for (int end = PLX_CELL_PIXELS - 1; end > 0; end--)
        for (int i = 0; i < end; i++) {
            const uint16_t a = pixel[i], b = pixel[i + 1];
            pixel[i] = a < b ? a : b;
            pixel[i + 1] = a < b ? b : a;
        }
    for (int i = 0; i < PLX_CELL_PIXELS; i++)
        value = i == valid / 2 ? pixel[i] : value;
    return valid < 3 ? PLX_CELL_UNKNOWN : plx_cell_clamp((int64_t)value - params->mask.infinity, PLX_CELL_LIMIT);
}

/* Value of the cell in COLUMN whose rows of the image are FIRST and SECOND; SECOND NULL below the image. */
PLX_BOTH int plx_cell_value(const struct plx_columns_params *params, const uint16_t *first, const uint16_t *second, int width,
                            int column)
{
    uint16_t pixel[PLX_CELL_PIXELS];
    for (int i = 0; i < PLX_CELL_WIDTH; i++) {
        const int x = PLX_CELL_WIDTH * column + i;
        pixel[i] = x < width ? plx_cell_pixel(params, first, width, x) : PLX_DISPARITY_INVALID;
        pixel[PLX_CELL_WIDTH + i] = x < width && second ? plx_cell_pixel(params, second, width, x) : PLX_DISPARITY_INVALID;
    }
    return plx_cell_median(params, pixel);
}

/* g, the disparity of the ground in the cell; without ground a number without meaning. */
PLX_BOTH int plx_cell_ground(const struct plx_columns_params *params, const struct plx_ground *ground, int column, int row)
{
    const int64_t here = ground->a * (PLX_CELL_WIDTH * column + PLX_CELL_WIDTH / 2) +
                         ground->b * (PLX_CELL_HEIGHT * row + PLX_CELL_HEIGHT / 2) + ground->c;
    return plx_cell_clamp((here >> 16) - params->mask.infinity, PLX_CELL_LIMIT);
}

/* g of the ground raised by K / 32 of the camera's height. At most 20,164 either side. */
PLX_BOTH int plx_ground_raised(int g, int k)
{
    return (int)((int64_t)g * ((1 << 21) / (32 - k)) >> 16);
}

PLX_BOTH int plx_path_cost(int away, int tolerance)
{
    const int cost = away > tolerance ? (away - tolerance) >> 1 : 0;
    return cost < PLX_PATH_WRONG ? cost : PLX_PATH_WRONG;
}

/* C(s) of a cell with VALUE. */
PLX_BOTH int plx_thing_cost(const struct plx_columns_params *params, int value, int state)
{
    const int step = value - plx_thing_at(params, state);
    return value == PLX_CELL_UNKNOWN ? PLX_THING_UNKNOWN : plx_path_cost(step < 0 ? -step : step, PLX_THING_TOLERANCE);
}

/* C(k) of a cell with VALUE and ground G. VALID: there is ground. */
PLX_BOTH int plx_ground_cost(int valid, int value, int g, int k)
{
    const int raised = plx_ground_raised(g, k), step = value - raised;
    if (!valid || g < PLX_GROUND_MIN)
        return PLX_PATH_IMPOSSIBLE;
    return value == PLX_CELL_UNKNOWN ? 0 : plx_path_cost(step < 0 ? -step : step, PLX_THING_TOLERANCE + (raised >> 6));
}

/* The smallest state with P - M = 0; P: [D + 13] of a row. */
PLX_BOTH int plx_path_least(const uint8_t *p, int disparities)
{
    int state = 0;
    while (state < disparities + PLX_PATH_GROUNDS - 1 && p[state] > 0)
        state++;
    return state;
}

/* The state in the row below, whose P - M is P [D + 13], of a path that has STATE here. */
PLX_BOTH int plx_path_before(const uint8_t *p, int disparities, int state)
{
    const bool thing = state < disparities;
    const int first = thing ? 0 : disparities, last = thing ? disparities - 1 : disparities + PLX_PATH_GROUNDS - 1;
    const int step = thing ? PLX_PATH_THING_STEP : PLX_PATH_GROUND_STEP;
    int best = state, least = p[state];

    if (state > first && p[state - 1] + step < least) {
        best = state - 1;
        least = p[best] + step;
    }
    if (state < last && p[state + 1] + step < least) {
        best = state + 1;
        least = p[best] + step;
    }
    return PLX_PATH_JUMP < least ? plx_path_least(p, disparities) : best;
}

#endif
