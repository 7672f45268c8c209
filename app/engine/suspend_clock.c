/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/suspend_clock.h"

#include "core/clock.h"

#define MIN_SUSPEND_NS PLX_NS_PER_MS /* shorter is the time between two clock readings, not a suspend */

void plx_suspend_clock_update(struct plx_suspend_clock *clock, int64_t now_ns, int64_t suspended_ns)
{
    if (suspended_ns - clock->suspended_ns > MIN_SUSPEND_NS) {
        clock->before_ns = clock->suspended_ns;
        clock->resumed_ns = now_ns;
    }
    clock->suspended_ns = suspended_ns;
}

int64_t plx_suspend_clock_at(const struct plx_suspend_clock *clock, int64_t capture_ns)
{
    return capture_ns < clock->resumed_ns ? clock->before_ns : clock->suspended_ns;
}
