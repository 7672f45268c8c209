/* SPDX-License-Identifier: Apache-2.0 */
/* A period as it was seen: the median of the last intervals, which one long interval does not change. */
#ifndef PLX_CORE_BASE_PERIOD_H
#define PLX_CORE_BASE_PERIOD_H

#include <stdint.h>

#define PLX_PERIOD_INTERVALS 9

/* Zeroed = none was seen. */
struct plx_period {
    int64_t interval_ns[PLX_PERIOD_INTERVALS]; /* a circle */
    unsigned seen;
};

/* Adds an interval; one of 0 or less is ignored. */
void plx_period_add(struct plx_period *period, int64_t interval_ns);

/* The median, the smaller of the two middle ones of an even number; 0 if none was seen. */
int64_t plx_period_ns(const struct plx_period *period);

#endif
