/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/service_clock.h"

int64_t plx_monotonic_ns(void)
{
    return plx_now_ns();
}

void plx_service_clock_init(struct plx_service_clock *clock, int64_t monotonic_ns)
{
    *clock = (struct plx_service_clock){.turn_ns = monotonic_ns, .gap_begin_ns = monotonic_ns, .gap_end_ns = monotonic_ns};
}

int64_t plx_service_clock_turn(struct plx_service_clock *clock, int64_t monotonic_ns)
{
    const int64_t passed_ns = monotonic_ns - clock->turn_ns;
    const int64_t lost_ns = passed_ns > PLX_LATE_TURN_NS ? passed_ns - PLX_TURN_NS : 0;

    if (lost_ns > 0) {
        clock->gap_begin_ns = clock->turn_ns + PLX_TURN_NS;
        clock->gap_end_ns = monotonic_ns;
        clock->lost_ns += lost_ns;
    }
    clock->turn_ns = monotonic_ns;
    return lost_ns;
}

int64_t plx_service_clock_at(const struct plx_service_clock *clock, int64_t monotonic_ns)
{
    const int64_t gap_ns = clock->gap_end_ns - clock->gap_begin_ns, before_ns = clock->lost_ns - gap_ns;

    if (monotonic_ns >= clock->gap_end_ns)
        return monotonic_ns - clock->lost_ns;
    if (monotonic_ns > clock->gap_begin_ns) /* service time did not advance */
        return clock->gap_begin_ns - before_ns;
    return monotonic_ns - before_ns;
}
