/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter.h"

#include <math.h>

#include <parallax/error.h>

#define ONE 65536

/* Rounded to Q16; what rounding leaves over goes to the centre, so that the sum is exact. */
static void make_axis(bool gaussian, int size, uint32_t *ret_weight)
{
    const double sigma = 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
    double value[31], sum = 0;
    uint32_t total = 0;

    for (int i = 0; i < size; i++) {
        const double x = i - size / 2;
        value[i] = gaussian ? exp(-x * x / (2 * sigma * sigma)) : 1;
        sum += value[i];
    }
    for (int i = 0; i < size; i++) {
        ret_weight[i] = (uint32_t)lround(value[i] / sum * ONE);
        total += ret_weight[i];
    }
    ret_weight[size / 2] += ONE - total;
}

int plx_filter_make(bool gaussian, int size_x, int size_y, struct plx_filter *ret_filter)
{
    if (size_x < 1 || size_x > 31 || size_x % 2 == 0 || size_y < 1 || size_y > 31 || size_y % 2 == 0)
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
    return sum == ONE;
}

bool plx_filter_ok(const struct plx_filter *filter)
{
    return filter && axis_ok(filter->weight_x, filter->size_x) && axis_ok(filter->weight_y, filter->size_y);
}
