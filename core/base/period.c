/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/period.h"

void plx_period_add(struct plx_period *period, int64_t interval_ns)
{
    if (interval_ns > 0)
        period->interval_ns[period->seen++ % PLX_PERIOD_INTERVALS] = interval_ns;
}

int64_t plx_period_ns(const struct plx_period *period)
{
    const unsigned count = period->seen < PLX_PERIOD_INTERVALS ? period->seen : PLX_PERIOD_INTERVALS;
    int64_t sorted[PLX_PERIOD_INTERVALS] = {0};

    for (unsigned i = 0; i < count; i++) {
        unsigned at = i;
        for (; at > 0 && sorted[at - 1] > period->interval_ns[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = period->interval_ns[i];
    }
    return count ? sorted[(count - 1) / 2] : 0;
}
