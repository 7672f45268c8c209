/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/simd/simd.h"

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

const struct plx_kernels PLX_KERNEL(kernels) = {
    .name = TEXT(PLX_ISA),
    .smooth = PLX_KERNEL(smooth),
    .gradients = PLX_KERNEL(gradients),
    .census = PLX_KERNEL(census),
    .split = PLX_KERNEL(split),
    .partners = PLX_KERNEL(partners),
    .penalties = PLX_KERNEL(penalties),
    .cost = PLX_KERNEL(cost),
    .aggregate = PLX_KERNEL(aggregate),
    .argmin = PLX_KERNEL(argmin),
    .disparities = PLX_KERNEL(disparities),
    .median_3x3 = PLX_KERNEL(median_3x3),
    .median_valid_5x5 = PLX_KERNEL(median_valid_5x5),
    .facing_sums = PLX_KERNEL(facing_sums),
    .facing = PLX_KERNEL(facing),
    .local_mean = PLX_KERNEL(local_mean),
    .check = PLX_KERNEL(check),
    .cross_validate = PLX_KERNEL(cross_validate),
    .confidence = PLX_KERNEL(confidence),
    .cells = PLX_KERNEL(cells),
    .paths = PLX_KERNEL(paths),
    .ground_sums = PLX_KERNEL(ground_sums),
    .corners = PLX_KERNEL(corners),
    .mosaic = PLX_KERNEL(mosaic),
    .flow_track = PLX_KERNEL(flow_track),
};
