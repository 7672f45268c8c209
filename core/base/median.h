/* SPDX-License-Identifier: Apache-2.0 */
/* The median of values that are counted. */
#ifndef PLX_CORE_BASE_MEDIAN_H
#define PLX_CORE_BASE_MEDIAN_H

/* COUNT[v]: how often v occurs, in all TOTAL times. The least v that half of them do not exceed; 0 if TOTAL is 0. */
static inline int plx_counted_median(const int *count, int total)
{
    int value = 0;
    for (int below = 0; total > 0 && 2 * (below += count[value]) < total;)
        value++;
    return value;
}

#endif
