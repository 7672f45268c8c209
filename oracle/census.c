/* SPDX-License-Identifier: Apache-2.0 */
/* Smoothing, census words and gradient of one image, one pixel at a time. */
#include <stdlib.h>

#include "oracle/oracle.h"

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static int grey_at(const struct plx_image *grey, int x, int y)
{
    const uint8_t *row = plx_row(grey, clamp(y, 0, grey->height - 1));
    return row[clamp(x, 0, grey->width - 1)];
}

/* The grey value at clamped coordinates, smoothed if MATCH says so: G of docs/matching.md. */
static int sample(const struct plx_image *grey, const struct plx_match *match, int x, int y)
{
    x = clamp(x, 0, grey->width - 1);
    y = clamp(y, 0, grey->height - 1);
    if (!match->smooth)
        return grey_at(grey, x, y);
    return (4 * grey_at(grey, x, y) + grey_at(grey, x, y - 1) + grey_at(grey, x, y + 1) + grey_at(grey, x + 1, y) +
            grey_at(grey, x - 1, y) + 4) >>
           3;
}

static uint64_t census_word(const struct plx_image *grey, const struct plx_match *match, int x, int y)
{
    const enum plx_census_kind kind = match->census;
    const bool symmetric = kind == PLX_CENSUS_SYMMETRIC_9X7 || kind == PLX_CENSUS_SYMMETRIC_5X5;
    const int rx = kind == PLX_CENSUS_SYMMETRIC_5X5 ? 2 : 4, ry = kind == PLX_CENSUS_SYMMETRIC_5X5 ? 2 : 3;
    uint64_t word = 0;

    if (match->census_zero_border && (x < rx || x >= grey->width - rx || y < ry || y >= grey->height - ry))
        return 0;
    for (int dy = -ry; dy <= ry; dy++) {
        for (int dx = -rx; dx <= rx; dx++) {
            if (dx == 0 && dy == 0)
                continue;
            if (symmetric && (dy > 0 || (dy == 0 && dx > 0)))
                continue;
            if (kind == PLX_CENSUS_CHECKER_9X7 && (dx + dy) % 2 != 0)
                continue;
            int other = symmetric ? sample(grey, match, x - dx, y - dy) : sample(grey, match, x, y);
            word = word << 1 | (sample(grey, match, x + dx, y + dy) > other);
        }
    }
    return word;
}

static int gradient_at(const struct plx_image *grey, const struct plx_match *match, int x, int y)
{
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++) /* weights 1 2 1 */
        sum += (2 - abs(dy)) * (sample(grey, match, x + 1, y + dy) - sample(grey, match, x - 1, y + dy));
    return clamp(128 + (sum >> 1), 0, 255);
}

static int vertical_gradient_at(const struct plx_image *grey, const struct plx_match *match, int x, int y)
{
    int sum = 0;
    for (int dx = -1; dx <= 1; dx++)
        sum += (2 - abs(dx)) * (sample(grey, match, x + dx, y + 1) - sample(grey, match, x + dx, y - 1));
    return clamp(128 + (sum >> 1), 0, 255);
}

void oracle_census(const struct plx_image *grey, const struct plx_match *match, const struct plx_features *ret_features)
{
    for (int y = 0; y < grey->height; y++) {
        for (int x = 0; x < grey->width; x++) {
            uint64_t word = census_word(grey, match, x, y);
            if (match->census == PLX_CENSUS_FULL_9X7)
                ((uint64_t *)plx_row(&ret_features->census, y))[x] = word;
            else
                ((uint32_t *)plx_row(&ret_features->census, y))[x] = (uint32_t)word;
            if (match->gradient_cap > 0)
                ((uint16_t *)plx_row(&ret_features->gradient, y))[x] =
                    (uint16_t)(gradient_at(grey, match, x, y) | vertical_gradient_at(grey, match, x, y) << 8);
        }
    }
}
