/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/stages.h"

#include <math.h>

#include <parallax/error.h>

#define WEIGHT_SUM 65536 /* sum along a filter's axis */

static bool fits(const struct plx_image *image, const struct plx_image *grey, enum plx_type type)
{
    return plx_image_ok(image, type) && plx_same_size(image, grey);
}

static bool features_fit(const struct plx_features *features, const struct plx_image *grey, const struct plx_match *match)
{
    return fits(&features->census, grey, match->census == PLX_CENSUS_FULL_9X7 ? PLX_U64 : PLX_U32) &&
           (match->gradient_cap == 0 || fits(&features->gradient, grey, PLX_U16));
}

int plx_census_check(const struct plx_image *grey, const struct plx_match *match, const struct plx_features *features)
{
    const int result = plx_match_check(match, NULL);
    if (result < 0)
        return result;
    return plx_image_ok(grey, PLX_U8) && features_fit(features, grey, match) ? 0 : PLX_ERR_ARG;
}

int plx_sgm_check(const struct plx_features *left, const struct plx_features *right, const struct plx_image *left_grey,
                  const struct plx_match *match, const struct plx_candidates *candidates)
{
    const struct plx_image *const wanted[] = {&candidates->left, &candidates->right, &candidates->raw, &candidates->s1,
                                              &candidates->s2};
    int result = plx_census_check(left_grey, match, left);

    if (result == 0)
        result = features_fit(right, left_grey, match) ? 0 : PLX_ERR_ARG;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && result == 0; i++)
        result = fits(wanted[i], left_grey, PLX_U16) ? 0 : PLX_ERR_ARG;
    return result;
}

/* Rounded to Q16; what rounding leaves over goes to the centre, so that the sum is exact. */
static void make_axis(bool gaussian, int size, uint32_t *ret_weight)
{
    const double sigma = 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
    double value[PLX_MAX_WINDOW], sum = 0;
    uint32_t total = 0;

    for (int i = 0; i < size; i++) {
        const double x = i - size / 2;
        value[i] = gaussian ? exp(-x * x / (2 * sigma * sigma)) : 1;
        sum += value[i];
    }
    for (int i = 0; i < size; i++) {
        ret_weight[i] = (uint32_t)lround(value[i] / sum * WEIGHT_SUM);
        total += ret_weight[i];
    }
    ret_weight[size / 2] += WEIGHT_SUM - total;
}

int plx_filter_make(bool gaussian, int size_x, int size_y, struct plx_filter *ret_filter)
{
    if (!plx_window_ok(size_x) || !plx_window_ok(size_y))
        return PLX_ERR_RANGE;
    *ret_filter = (struct plx_filter){.size_x = size_x, .size_y = size_y};
    make_axis(gaussian, size_x, ret_filter->weight_x);
    make_axis(gaussian, size_y, ret_filter->weight_y);
    return 0;
}

static bool axis_ok(const uint32_t *weight, int size)
{
    uint64_t sum = 0;
    for (int i = 0; plx_window_ok(size) && i < size; i++)
        sum += weight[i];
    return sum == WEIGHT_SUM;
}

bool plx_filter_ok(const struct plx_filter *filter)
{
    return filter && axis_ok(filter->weight_x, filter->size_x) && axis_ok(filter->weight_y, filter->size_y);
}
