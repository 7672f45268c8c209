/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/match.h"

#include <stddef.h>

void plx_match_default(struct plx_match *ret_match)
{
    *ret_match = (struct plx_match){
        .disparities = 128,
        .paths = 8,
        .smooth = true,
        .census = PLX_CENSUS_SYMMETRIC_5X5,
        .gradient_cap = 8,
        .gradient_cap_y = 5,
        .p1_straight = 24,
        .p1_diagonal = 5,
        .p2 = 120,
        .p2_min = 32,
        .p2_scale = 16,
        .uniqueness = 950,
        .subpixel = PLX_SUBPIXEL_BLEND,
        .median_left = PLX_MEDIAN_VALID_5X5,
        .median_right = PLX_MEDIAN_3X3,
        .lr_max_diff = 1,
        .lr_round = true,
        .repeats = true,
        .facing = true,
        .local_mean = true,
        .cross_validate = true,
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
        [PLX_CENSUS_SYMMETRIC_5X5] = 12,
        [PLX_CENSUS_FULL_9X7] = 62,
        [PLX_CENSUS_CHECKER_9X7] = 30,
    };
    return bits[kind];
}

void plx_match_p2(const struct plx_match *match, uint8_t ret_p2[PLX_P2_STEPS])
{
    for (int step = 0; step < PLX_P2_STEPS; step++) {
        const int p2 = match->p2_scale > 0 ? match->p2 * match->p2_scale / (match->p2_scale + step) : match->p2;
        ret_p2[step] = (uint8_t)(p2 > match->p2_min ? p2 : match->p2_min);
    }
}

#define FIELD(field) #field, offsetof(struct plx_match, field)

/* The ranges keep every path's L = C + min(..., P2) in 8 bits: C <= 62 + 32 + 16, P2 <= 120; and two opposite L - C in one
 * byte. */
static const struct plx_parameter list[] = {
    {FIELD(disparities), PLX_CHOICE(3, 64, 128, 256)},
    {FIELD(min_disparity), PLX_WHOLE(-256, 256)},
    {FIELD(paths), PLX_CHOICE(2, 4, 8)},
    {FIELD(census), PLX_WHOLE(PLX_CENSUS_SYMMETRIC_9X7, PLX_CENSUS_CHECKER_9X7)},
    {FIELD(gradient_cap), PLX_WHOLE(0, 32)},
    {FIELD(gradient_cap_y), PLX_WHOLE(0, 16)},
    {FIELD(p1_straight), PLX_WHOLE(0, 120)},
    {FIELD(p1_diagonal), PLX_WHOLE(0, 120)},
    {FIELD(p2), PLX_WHOLE(0, 120)},
    {FIELD(p2_min), PLX_WHOLE(0, 120)},
    {FIELD(p2_scale), PLX_WHOLE(0, 65535)},
    {FIELD(uniqueness), PLX_WHOLE(0, 1000)},
    {FIELD(subpixel), PLX_WHOLE(PLX_SUBPIXEL_NONE, PLX_SUBPIXEL_BLEND)},
    {FIELD(median_left), PLX_WHOLE(PLX_MEDIAN_NONE, PLX_MEDIAN_VALID_5X5)},
    {FIELD(median_right), PLX_WHOLE(PLX_MEDIAN_NONE, PLX_MEDIAN_3X3)},
    {FIELD(lr_max_diff), PLX_WHOLE(-1, 255)},
};
const struct plx_parameters plx_match_parameters = {list, sizeof list / sizeof list[0]};

int plx_match_check(const struct plx_match *match, struct plx_parameter_error *ret_error)
{
    int result = plx_parameters_check(&plx_match_parameters, match, ret_error);
    if (result < 0)
        return result;
    if (match->p2_min > match->p2)
        return plx_parameter_refuse(ret_error, FIELD(p2_min), match->p2_min, "at most p2 (%d)", match->p2);
    if (match->p1_straight > match->p2_min)
        return plx_parameter_refuse(ret_error, FIELD(p1_straight), match->p1_straight, "at most p2_min (%d)", match->p2_min);
    if (match->p1_diagonal > match->p2_min)
        return plx_parameter_refuse(ret_error, FIELD(p1_diagonal), match->p1_diagonal, "at most p2_min (%d)", match->p2_min);
    return 0;
}
