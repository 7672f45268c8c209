/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic by which the stage regions refines disparities, in a subset of C that every backend compiles: integers only.
 */
#ifndef PLX_CORE_REGION_FIT_H
#define PLX_CORE_REGION_FIT_H

#include <stdint.h>

#include "core/ground.h"
#include "core/region.h"

#define PLX_REFINE_MARGIN 3    /* pixels at both ends of a run that are left out: matching fattens things by about that */
#define PLX_REFINE_STRIP 7     /* columns from the inner box's side that a strip ends at */
#define PLX_REFINE_OUTLIER 640 /* 1/16 grey level: what differs more is no match */
#define PLX_REFINE_STEP 12     /* 1/16 px: the largest first step */

struct plx_refine_sums {
    int64_t gg, ge, ggd;
};

/* Where the pixel in column X of rows WIDTH wide with disparity D + SHIFT, 1/16 px relative to MIN_DISPARITY, lies in the right
 * image, 1/16 column; below 0 if a pixel that it would be compared with lies outside. */
PLX_BOTH int plx_refine_place(int width, int x, int d, int shift, int min_disparity)
{
    const int at = 16 * (x - min_disparity) - d - shift;
    return x < 1 || x + 1 >= width || (at >> 4) + 1 >= width ? -1 : at;
}

/* Adds a pixel with disparity SHIFTED. LEFT: it and its neighbours in the row; RIGHT: the two pixels around its place AT. */
PLX_BOTH void plx_refine_pixel(struct plx_refine_sums *sums, const int left[3], const int right[2], int at, int shifted)
{
    const int part = at & 15, g = left[2] - left[0];
    const int e = 16 * left[1] - (right[0] * (16 - part) + right[1] * part);
    if (e > PLX_REFINE_OUTLIER || e < -PLX_REFINE_OUTLIER)
        return;
    sums->gg += g * g;
    sums->ge += (int64_t)g * e;
    sums->ggd += (int64_t)(g * g) * shifted;
}

/* Both, of the pixel in column X of rows LEFT and RIGHT. */
PLX_BOTH void plx_refine_add(struct plx_refine_sums *sums, const uint8_t *left, const uint8_t *right, int width, int x, int d,
                             int shift, int min_disparity)
{
    const int at = plx_refine_place(width, x, d, shift, min_disparity), from = at >> 4;
    if (at < 0)
        return;
    const int near[3] = {left[x - 1], left[x], left[x + 1]}, across[2] = {right[from], right[from + 1]};
    plx_refine_pixel(sums, near, across, at, d + shift);
}

/* The step from the disparity tried to the one where the images agree, rounded half away from zero, within +-PLX_REFINE_STEP.
 */
PLX_BOTH int plx_refine_step(const struct plx_refine_sums *sums)
{
    if (sums->gg == 0)
        return 0;
    /* 4 |ge| / (2 gg), rounded half up: by long division, of which no more bits than the largest step has are needed */
    int64_t rest = 4 * (sums->ge < 0 ? -sums->ge : sums->ge) + sums->gg;
    int step = 0;
    for (int bit = 8; bit > 0; bit /= 2) {
        const int64_t part = 2 * bit * sums->gg;
        step += rest >= part ? bit : 0;
        rest -= rest >= part ? part : 0;
    }
    step = step < PLX_REFINE_STEP ? step : PLX_REFINE_STEP;
    return sums->ge < 0 ? step : -step;
}

#endif
