/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checks/picture_check.h"

#define DARK_LEVEL 16
#define DARK_PERCENT 99
#define WHITE_LEVEL 250
#define WHITE_PERCENT 60
#define MISMATCH_LEVELS 8
#define SHADOW 8 /* luma below this, and from HIGHLIGHT on, may be clipped */
#define HIGHLIGHT 248

/* --- brightness ---------------------------------------------------------------------------------------------------------- */

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

static bool is_brighter(const uint32_t *a, const uint32_t *b)
{
    for (unsigned percent = 25; percent <= 75; percent += 25) {
        const int level_a = quantile(a, percent), level_b = quantile(b, percent);
        if (level_a < level_b + MISMATCH_LEVELS || 4 * level_a < 5 * level_b)
            return false;
    }
    return true;
}

uint32_t plx_brightness_check_update(struct plx_brightness_check *check, const struct plx_image *histogram)
{
    const uint32_t *left = plx_row(histogram, 0), *right = plx_row(histogram, PLX_HISTOGRAM_EYE_ROWS);
    const uint64_t white = 100 - WHITE_PERCENT;
    const struct {
        bool now;
        uint32_t flag;
    } fault[] = {
        {quantile(left, DARK_PERCENT) < DARK_LEVEL || quantile(right, DARK_PERCENT) < DARK_LEVEL, PLX_HEALTH_DARK},
        {quantile(left, white) >= WHITE_LEVEL || quantile(right, white) >= WHITE_LEVEL, PLX_HEALTH_OVEREXPOSED},
        {is_brighter(left, right) || is_brighter(right, left), PLX_HEALTH_BRIGHTNESS_MISMATCH},
    };
    uint32_t health = 0;

    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        check->frames[i] = !fault[i].now                                    ? 0
                           : check->frames[i] < PLX_BRIGHTNESS_CHECK_FRAMES ? check->frames[i] + 1
                                                                            : PLX_BRIGHTNESS_CHECK_FRAMES;
        if (check->frames[i] == PLX_BRIGHTNESS_CHECK_FRAMES)
            health |= fault[i].flag;
    }
    return health;
}

/* --- sharpness ----------------------------------------------------------------------------------------------------------- */

#define MIN_STEP 2 /* grey levels, mean over PLX_SHARPNESS_FAR: less is noise */

static uint64_t sum_row(const struct plx_image *steps, int row)
{
    const uint32_t *part = plx_row(steps, row);
    uint64_t sum = 0;
    for (int i = 0; i < steps->width; i++)
        sum += part[i];
    return sum;
}

bool plx_sharpness_check_update(struct plx_sharpness_check *check, const struct plx_image *steps, int width, int height)
{
    const uint64_t left_near = sum_row(steps, 0), left_far = sum_row(steps, 1), right_near = sum_row(steps, 2),
                   right_far = sum_row(steps, 3);
    const uint64_t least = (uint64_t)MIN_STEP * (uint64_t)width * (uint64_t)(height / PLX_SHARPNESS_ROWS);
    /* near / far of one eye, times far of both: sums of a picture are below 2^32. */
    const uint64_t a = left_near * right_far, b = right_near * left_far;
    const bool now = left_far >= least && right_far >= least && (a < b - b / 4 || b < a - a / 4);
    check->frames = now ? check->frames + (check->frames < PLX_BRIGHTNESS_CHECK_FRAMES) : 0;
    return check->frames == PLX_BRIGHTNESS_CHECK_FRAMES;
}

/* --- frozen pictures ----------------------------------------------------------------------------------------------------- */

static uint32_t sum_bins(const uint32_t *bins, int begin, int end)
{
    uint32_t sum = 0;

    for (int level = begin; level < end; level++)
        sum += bins[level];
    return sum;
}

/* Whether at least half of the zone's pixels are far enough from black and white for noise to show. */
static bool shows_noise(const uint32_t *bins)
{
    const uint32_t inside = sum_bins(bins, SHADOW, HIGHLIGHT);

    return inside > 0 && inside >= sum_bins(bins, 0, SHADOW) + sum_bins(bins, HIGHLIGHT, PLX_HISTOGRAM_BINS);
}

/* Counts how often in a row the tile repeated the picture LAG + 1 before. */
static bool count_repeats(struct plx_frozen_check *check, int lag, int tile, bool live, uint64_t sum)
{
    const int slot = (check->next + PLX_FROZEN_CHECK_PICTURES - 1 - lag) % PLX_FROZEN_CHECK_PICTURES;
    const bool again = live && lag < check->known && sum == check->sum[slot][tile];
    uint8_t *repeats = &check->repeats[lag][tile];

    *repeats = !again ? 0 : *repeats < UINT8_MAX ? *repeats + 1 : UINT8_MAX;
    return again;
}

bool plx_frozen_check_update(struct plx_frozen_check *check, const uint64_t *sum, const struct plx_image *bins)
{
    int judged = 0, same[PLX_FROZEN_CHECK_PICTURES] = {0};
    bool frozen = false;

    for (int tile = 0; tile < PLX_FROZEN_CHECK_TILES; tile++) {
        const bool live = shows_noise(plx_row(bins, 1 + tile));
        for (int lag = 0; lag < PLX_FROZEN_CHECK_PICTURES; lag++) {
            same[lag] += count_repeats(check, lag, tile, live, sum[tile]);
            frozen = frozen || check->repeats[lag][tile] >= PLX_FROZEN_CHECK_REPEATS;
        }
        check->sum[check->next][tile] = sum[tile]; /* the oldest, which this tile was compared with last */
        judged += live;
    }
    check->next = (check->next + 1) % PLX_FROZEN_CHECK_PICTURES;
    check->known += check->known < PLX_FROZEN_CHECK_PICTURES;
    for (int lag = 0; lag < PLX_FROZEN_CHECK_PICTURES; lag++)
        frozen = frozen || (judged > 0 && same[lag] == judged);
    return frozen;
}
