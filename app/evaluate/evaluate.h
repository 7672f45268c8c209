/* SPDX-License-Identifier: Apache-2.0 */
/* Accuracy of a disparity image against ground truth, in the rates of the Middlebury and KITTI benchmarks. */
#ifndef PLX_APP_EVALUATE_EVALUATE_H
#define PLX_APP_EVALUATE_EVALUATE_H

#include <stdint.h>

#include "core/base/image.h"

#define PLX_BAD_LIMITS 3 /* an error above 1, 2, 3 px is bad */

/* Pixels, so that results of several images can be added. */
struct plx_accuracy {
    uint64_t counted;             /* ground truth known, and inside the mask */
    uint64_t valid;               /* those of them with a disparity */
    uint64_t bad[PLX_BAD_LIMITS]; /* valid pixels that are off by more than 1, 2, 3 px */
};

/* Per cent; NAN if there is no pixel to divide by. */
struct plx_error_rates {
    double density;             /* valid of counted */
    double bad[PLX_BAD_LIMITS]; /* bad of valid */
    double bad_or_invalid;      /* off by more than 3 px, or without a disparity, of counted */
};

/* Compares DISPARITY (U16 in 1/16 px relative to MIN_DISPARITY, 0xFFFF = invalid) with TRUTH (U16, pixels times
 * TRUTH_SCALE, 0 = unknown) where MASK (U8, may be NULL) is 255. All of the same size, otherwise ARG. */
int plx_evaluate(const struct plx_image *disparity, int min_disparity, const struct plx_image *truth, double truth_scale,
                 const struct plx_image *mask, struct plx_accuracy *ret_accuracy);

/* PART of WHOLE in per cent; NAN if WHOLE is 0. */
double plx_percent(uint64_t part, uint64_t whole);

void plx_accuracy_rates(const struct plx_accuracy *accuracy, struct plx_error_rates *ret_rates);

/* The mean of COUNT rates, one for each image, as in the published tables. */
void plx_rates_mean(const struct plx_error_rates *rates, int count, struct plx_error_rates *ret_mean);

#endif
