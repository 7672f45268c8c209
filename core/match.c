/* SPDX-License-Identifier: Apache-2.0 */
#include "core/match.h"

#include <stddef.h>

#include <parallax/error.h>

void plx_match_default(struct plx_match *ret_match)
{
    *ret_match = (struct plx_match){
        .disparities = 128,
        .paths = 8,
        .smooth = true,
        .census = PLX_CENSUS_SYMMETRIC_7X5,
        .gradient_cap = 8,
        .p1_straight = 16,
        .p1_diagonal = 6,
        .p2 = 120,
        .p2_min = 24,
        .p2_scale = 16,
        .uniqueness = 950,
        .subpixel = PLX_SUBPIXEL_BLEND,
        .median_left = PLX_MEDIAN_VALID_5X5,
        .median_right = PLX_MEDIAN_3X3,
        .lr_max_diff = 1,
        .lr_round = true,
    };
}

void plx_match_classic(struct plx_match *ret_match)
{
    *ret_match = (struct plx_match){
        .disparities = 128,
        .paths = 8,
        .census = PLX_CENSUS_SYMMETRIC_9X7,
        .census_zero_border = true,
        .p1_straight = 10,
        .p1_diagonal = 10,
        .p2 = 120,
        .p2_min = 120,
        .uniqueness = 950,
        .subpixel = PLX_SUBPIXEL_PARABOLA,
        .median_left = PLX_MEDIAN_3X3,
        .median_right = PLX_MEDIAN_3X3,
        .lr_max_diff = 1,
        .invalid_border = true,
    };
}

int plx_census_bits(enum plx_census_kind kind)
{
    static const int bits[] = {
        [PLX_CENSUS_SYMMETRIC_9X7] = 31,
        [PLX_CENSUS_SYMMETRIC_7X5] = 17,
        [PLX_CENSUS_FULL_9X7] = 62,
        [PLX_CENSUS_CHECKER_9X7] = 30,
    };
    return bits[kind];
}

int plx_match_max_cost(const struct plx_match *match)
{
    return plx_census_bits(match->census) + match->gradient_cap;
}

/* One number, its key in the configuration and its range. */
struct bound {
    const char *key;
    int value, min, max;
};

/* The ranges keep every path's L = C + min(..., P2) in 8 bits: C <= 62 + 32, P2 <= 120; and two opposite L - C in one byte. */
int plx_match_check(const struct plx_match *match, struct plx_error_message *message)
{
    const struct bound bounds[] = {
        {"match.min_disparity", match->min_disparity, -256, 256},
        {"match.census", (int)match->census, PLX_CENSUS_SYMMETRIC_9X7, PLX_CENSUS_CHECKER_9X7},
        {"match.gradient_cap", match->gradient_cap, 0, 32},
        {"match.p2", match->p2, 0, 120},
        {"match.p2_min", match->p2_min, 0, match->p2},
        {"match.p2_scale", match->p2_scale, 0, 65535},
        {"match.p1_straight", match->p1_straight, 0, match->p2_min},
        {"match.p1_diagonal", match->p1_diagonal, 0, match->p2_min},
        {"match.uniqueness_permille", match->uniqueness, 0, 1000},
        {"match.subpixel", (int)match->subpixel, PLX_SUBPIXEL_NONE, PLX_SUBPIXEL_BLEND},
        {"match.median_left", (int)match->median_left, PLX_MEDIAN_NONE, PLX_MEDIAN_VALID_5X5},
        {"match.median_right", (int)match->median_right, PLX_MEDIAN_NONE, PLX_MEDIAN_3X3},
        {"match.lr_max_diff", match->lr_max_diff, -1, 255},
    };

    if (match->disparities != 64 && match->disparities != 128 && match->disparities != 256)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "match.disparities is %d; expected 64, 128 or 256", match->disparities);
    if (match->paths != 4 && match->paths != 8)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "match.paths is %d; expected 4 or 8", match->paths);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const struct bound *bound = &bounds[i];
        if (bound->value < bound->min || bound->value > bound->max)
            return plx_fail(message, PLX_ERR_RANGE, "%s is %d; expected %d to %d", bound->key, bound->value, bound->min,
                            bound->max);
    }
    return 0;
}
