/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that the supervisor judges by: CLOCK_MONOTONIC without the spans in which the supervisor itself did not run.
 *
 * Why: a budget measures what the engine did with its time. Where the whole machine stood still, or the service was frozen by
 * the cgroup freezer, stopped by SIGSTOP or starved of processor time, the engine had no time either; by the wall's clock it is
 * over its budget the moment both wake, and a healthy engine would be killed. Whatever kept the supervisor from its turn most
 * likely kept the engine as well, so none of it counts. If the engine alone was frozen, the supervisor had its turns, and all
 * of it counts: that is a hang. Suspend needs nothing here, for CLOCK_MONOTONIC stands still in it; the lateness before and
 * after, while processes are frozen and thawed, is lateness like any other.
 */
#ifndef PLX_APP_SUPERVISOR_SERVICE_CLOCK_H
#define PLX_APP_SUPERVISOR_SERVICE_CLOCK_H

#include <stdint.h>

#include "core/clock.h"

#define PLX_TURN_NS (50 * PLX_NS_PER_MS)   /* the supervisor has a turn at least so often */
#define PLX_LATE_TURN_NS (2 * PLX_TURN_NS) /* a turn that comes later is late: what is beyond PLX_TURN_NS does not count */

/* CLOCK_MONOTONIC: for the turns themselves, and for what is promised to others in real time, as systemd's watchdog. */
int64_t plx_monotonic_ns(void);

struct plx_service_clock {
    int64_t turn_ns;                  /* CLOCK_MONOTONIC of the newest turn */
    int64_t lost_ns;                  /* that do not count, all together */
    int64_t gap_begin_ns, gap_end_ns; /* the newest of these spans, CLOCK_MONOTONIC; equal: none yet */
};

void plx_service_clock_init(struct plx_service_clock *clock, int64_t monotonic_ns);

/* A turn begins at MONOTONIC_NS. Returns how many nanoseconds before it do not count. */
int64_t plx_service_clock_turn(struct plx_service_clock *clock, int64_t monotonic_ns);

/* The service's time at MONOTONIC_NS. Exact after the gap before the newest one; a mark is read within a turn of its making. */
int64_t plx_service_clock_at(const struct plx_service_clock *clock, int64_t monotonic_ns);

#endif
