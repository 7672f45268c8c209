/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service time: CLOCK_MONOTONIC minus the intervals in which the supervisor itself did not run.
 *
 * A budget limits the time that the engine uses. If the machine was paused, or the cgroup freezer, SIGSTOP or a lack of
 * processor time stopped the service, the engine did not run either. By CLOCK_MONOTONIC it would be over its budget as soon as
 * both run again, and the supervisor would kill a healthy engine. So these intervals do not count. If only the engine was
 * stopped, the supervisor ran and all of the time counts: that is a hang. Suspend needs no code here: CLOCK_MONOTONIC stops
 * during it.
 */
#ifndef PLX_APP_SUPERVISOR_SERVICE_CLOCK_H
#define PLX_APP_SUPERVISOR_SERVICE_CLOCK_H

#include <stdint.h>

#include "core/base/clock.h"

#define PLX_TURN_NS (50 * PLX_NS_PER_MS)   /* the loop iterates at least this often */
#define PLX_LATE_TURN_NS (2 * PLX_TURN_NS) /* after a longer interval, the part beyond PLX_TURN_NS does not count */

/* CLOCK_MONOTONIC: for the iterations themselves, and for real-time promises such as systemd's watchdog. */
int64_t plx_monotonic_ns(void);

struct plx_service_clock {
    int64_t turn_ns;                  /* CLOCK_MONOTONIC of the last iteration */
    int64_t lost_ns;                  /* sum of the intervals that do not count */
    int64_t gap_begin_ns, gap_end_ns; /* the last such interval, CLOCK_MONOTONIC; equal: none yet */
};

void plx_service_clock_init(struct plx_service_clock *clock, int64_t monotonic_ns);

/* An iteration begins at MONOTONIC_NS. Returns the nanoseconds before it that do not count. */
int64_t plx_service_clock_turn(struct plx_service_clock *clock, int64_t monotonic_ns);

/* Service time at MONOTONIC_NS. Exact for times after the last but one interval; heartbeats are newer than that. */
int64_t plx_service_clock_at(const struct plx_service_clock *clock, int64_t monotonic_ns);

#endif
