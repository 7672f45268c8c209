/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/evaluate.h"

#include <math.h>

#include <parallax/error.h>
#include <parallax/frame.h>

static void count_row(const uint16_t *disparity, int min_disparity, const uint16_t *truth, double scale, const uint8_t *mask,
                      int width, struct plx_accuracy *sum)
{
    for (int x = 0; x < width; x++) {
        if (truth[x] == 0 || (mask && mask[x] != 255))
            continue;
        sum->counted++;
        if (disparity[x] == PLX_DISPARITY_INVALID)
            continue;
        sum->valid++;
        double error = fabs(disparity[x] / (double)PLX_DISPARITY_ONE + min_disparity - truth[x] / scale);
        for (int i = 0; i < PLX_BAD_LIMITS; i++)
            sum->bad[i] += error > i + 1;
    }
}

int plx_evaluate(const struct plx_image *disparity, int min_disparity, const struct plx_image *truth, double truth_scale,
                 const struct plx_image *mask, struct plx_accuracy *ret_accuracy)
{
    if (!plx_image_ok(disparity, PLX_U16) || !plx_image_ok(truth, PLX_U16) || !plx_same_size(disparity, truth) ||
        !(truth_scale > 0) || (mask && (!plx_image_ok(mask, PLX_U8) || !plx_same_size(mask, truth))))
        return PLX_ERR_ARG;
    struct plx_accuracy sum = {0};
    for (int y = 0; y < truth->height; y++)
        count_row(plx_row(disparity, y), min_disparity, plx_row(truth, y), truth_scale, mask ? plx_row(mask, y) : NULL,
                  truth->width, &sum);
    *ret_accuracy = sum;
    return 0;
}

double plx_percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : NAN;
}

void plx_accuracy_rates(const struct plx_accuracy *accuracy, struct plx_error_rates *ret_rates)
{
    uint64_t invalid = accuracy->counted - accuracy->valid;
    ret_rates->density = plx_percent(accuracy->valid, accuracy->counted);
    for (int i = 0; i < PLX_BAD_LIMITS; i++)
        ret_rates->bad[i] = plx_percent(accuracy->bad[i], accuracy->valid);
    ret_rates->bad_or_invalid = plx_percent(accuracy->bad[PLX_BAD_LIMITS - 1] + invalid, accuracy->counted);
}

void plx_rates_mean(const struct plx_error_rates *rates, int count, struct plx_error_rates *ret_mean)
{
    struct plx_error_rates mean = {0};
    for (int i = 0; i < count; i++) {
        mean.density += rates[i].density / count;
        for (int k = 0; k < PLX_BAD_LIMITS; k++)
            mean.bad[k] += rates[i].bad[k] / count;
        mean.bad_or_invalid += rates[i].bad_or_invalid / count;
    }
    *ret_mean = mean;
}
