/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of the separable prefilter. */
#ifndef PLX_CORE_FILTER_H
#define PLX_CORE_FILTER_H

#include "core/stages.h"

/* Box, or Gaussian with OpenCV's sigma for that size, 0.3 ((n - 1) / 2 - 1) + 0.8. Sizes odd, 1..31. RANGE. */
int plx_filter_make(bool gaussian, int size_x, int size_y, struct plx_filter *ret_filter);

/* True if the sizes are odd, 1..31, and the weights of each axis sum to 65,536. NULL is not. */
bool plx_filter_ok(const struct plx_filter *filter);

#endif
