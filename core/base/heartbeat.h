/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heartbeat: what a thread is doing and since when, one word in memory that a supervisor reads. A thread joins once; the
 * functions that it calls then mark its heartbeat. An activity is a number, which means something to the caller only.
 */
#ifndef PLX_CORE_BASE_HEARTBEAT_H
#define PLX_CORE_BASE_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

#define PLX_HEARTBEAT_IDLE 0xFF /* waiting for work, without a limit; activities are smaller numbers */

/* One word, so that it is never torn: microseconds of CLOCK_MONOTONIC times 256, plus the activity. 0: never marked. */
struct plx_heartbeat {
    _Atomic(uint64_t) word;
};

/* HEARTBEAT is the calling thread's from now on, and idle. NULL: nobody watches, and the marks of the thread are dropped. */
void plx_heartbeat_join(struct plx_heartbeat *heartbeat);
/* The calling thread is about to end: it is idle and no longer watched. */
void plx_heartbeat_leave(void);

/* The calling thread begins the activity WHAT now; marking the same activity again shows progress. Returns the activity before,
 * to be marked again if WHAT was a part of it. A thread that never joined marks nothing. */
int plx_heartbeat_busy(int what);
static inline void plx_heartbeat_idle(void)
{
    plx_heartbeat_busy(PLX_HEARTBEAT_IDLE);
}

/* The same for one heartbeat by its address; NULL is fine. */
void plx_heartbeat_mark(struct plx_heartbeat *heartbeat, int what);

/* The activity of HEARTBEAT (never marked: idle); *ret_since_ns: its begin, CLOCK_MONOTONIC. */
int plx_heartbeat_read(const struct plx_heartbeat *heartbeat, int64_t *ret_since_ns);

#endif
