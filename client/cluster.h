/* SPDX-License-Identifier: Apache-2.0 */
/* The nearest of the depths at which the samples of a box pile up. Internal to the library. */
#ifndef PLX_CLIENT_CLUSTER_H
#define PLX_CLIENT_CLUSTER_H

#include "client/samples.h"

/* Disparities in px above infinity. */
struct plx_cluster {
    float low, high; /* it holds the samples with low <= disparity < high */
    float median;    /* by weight */
    float spread;    /* half the distance between the 16th and the 84th percentile */
    float share;     /* of the samples' weight, 0 .. 1 */
    float filled;    /* share of its samples that are filled */
    float x, y;      /* mean pixel of its samples, and their standard deviations */
    float deviation_x, deviation_y;
    int count;
};

/* False if SAMPLES has none. */
bool plx_cluster_find(const struct plx_samples *samples, struct plx_cluster *ret_cluster);

#endif
