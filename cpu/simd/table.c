/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/simd/local.h"

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

const struct plx_kernels PLX_KERNEL(kernels) = {
    .name = TEXT(PLX_ISA),
    .split = PLX_KERNEL(split),
    .reverse = PLX_KERNEL(reverse),
    .penalty = PLX_KERNEL(penalty),
    .cost = PLX_KERNEL(cost),
    .aggregate = PLX_KERNEL(aggregate),
    .winner = PLX_KERNEL(winner),
    .finish = PLX_KERNEL(finish),
    .smooth = PLX_KERNEL(smooth),
    .census = PLX_KERNEL(census),
    .gradient = PLX_KERNEL(gradient),
    .median_3x3 = PLX_KERNEL(median_3x3),
    .median_valid_5x5 = PLX_KERNEL(median_valid_5x5),
    .confidence = PLX_KERNEL(confidence),
};
