/* SPDX-License-Identifier: Apache-2.0 */
#include "core/brightness_check.h"

#include <stdbool.h>

#define EYE_ROWS (1 + PLX_ZONES * PLX_ZONES) /* of the histogram plane: the whole image, then zones */
#define DARK_LEVEL 16
#define DARK_PERCENT 99
#define WHITE_LEVEL 250
#define WHITE_PERCENT 60
#define MISMATCH_LEVELS 8

/* The level that PERCENT of the pixels do not exceed. */
static int quantile(const uint32_t *bins, uint64_t percent)
{
    uint64_t total = 0, below = 0;
    int level = 0;

    for (int i = 0; i < PLX_HISTOGRAM_BINS; i++)
        total += bins[i];
    for (below = bins[0]; level < PLX_HISTOGRAM_BINS - 1 && below * 100 < total * percent; below += bins[level])
        level++;
    return level;
}

static bool is_dark(const uint32_t *left, const uint32_t *right)
{
    return quantile(left, DARK_PERCENT) < DARK_LEVEL || quantile(right, DARK_PERCENT) < DARK_LEVEL;
}

static bool is_overexposed(const uint32_t *left, const uint32_t *right)
{
    return quantile(left, 100 - WHITE_PERCENT) >= WHITE_LEVEL || quantile(right, 100 - WHITE_PERCENT) >= WHITE_LEVEL;
}

static bool is_brighter(const uint32_t *a, const uint32_t *b)
{
    for (unsigned percent = 25; percent <= 75; percent += 25) {
        const int level_a = quantile(a, percent), level_b = quantile(b, percent);
        if (level_a < level_b + MISMATCH_LEVELS || 4 * level_a < 5 * level_b)
            return false;
    }
    return true;
}

static bool is_mismatched(const uint32_t *left, const uint32_t *right)
{
    return is_brighter(left, right) || is_brighter(right, left);
}

uint32_t plx_brightness_check_update(struct plx_brightness_check *check, const struct plx_image *histogram)
{
    static const struct {
        bool (*is)(const uint32_t *left, const uint32_t *right);
        uint32_t flag;
    } fault[] = {
        {is_dark, PLX_HEALTH_DARK},
        {is_overexposed, PLX_HEALTH_OVEREXPOSED},
        {is_mismatched, PLX_HEALTH_BRIGHTNESS_MISMATCH},
    };
    const uint32_t *left = plx_row(histogram, 0), *right = plx_row(histogram, EYE_ROWS);
    uint32_t health = 0;

    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        const bool now = fault[i].is(left, right);
        check->frames[i] = !now                                             ? 0
                           : check->frames[i] < PLX_BRIGHTNESS_CHECK_FRAMES ? check->frames[i] + 1
                                                                            : PLX_BRIGHTNESS_CHECK_FRAMES;
        if (check->frames[i] == PLX_BRIGHTNESS_CHECK_FRAMES)
            health |= fault[i].flag;
    }
    return health;
}
