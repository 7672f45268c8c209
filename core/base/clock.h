/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of Parallax, CLOCK_MONOTONIC, and the time in suspend, which CLOCK_MONOTONIC leaves out. */
#ifndef PLX_CORE_BASE_CLOCK_H
#define PLX_CORE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define PLX_NS_PER_S INT64_C(1000000000)
#define PLX_NS_PER_MS INT64_C(1000000)
#define PLX_NS_PER_US INT64_C(1000)

/* CLOCK_MONOTONIC, nanoseconds. */
static inline int64_t plx_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
}

/* Processor time of all threads of this process, nanoseconds. */
static inline int64_t plx_process_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
}

/* CLOCK_BOOTTIME, nanoseconds: CLOCK_MONOTONIC plus the time in suspend. */
static inline int64_t plx_boot_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
}

/* The time in suspend since boot: CLOCK_BOOTTIME minus CLOCK_MONOTONIC. Too small by the time between two readings and never
 * too large, so that no time computed from it lies in the future. */
static inline int64_t plx_suspended_ns(void)
{
    const int64_t before_ns = plx_now_ns(), boot_ns = plx_boot_now_ns(), after_ns = plx_now_ns();
    return before_ns <= boot_ns && boot_ns <= after_ns ? 0 : boot_ns - after_ns;
}

/* Time since AT_NS of CLOCK_MONOTONIC, in CLOCK_BOOTTIME, as CLOCK_MONOTONIC stops in suspend. SUSPENDED_NS: the time in
 * suspend then; negative: it is ahead of the clock. False if the numbers overflow. */
static inline bool plx_time_since(int64_t at_ns, int64_t suspended_ns, int64_t *ret_ns)
{
    int64_t boot_ns;
    return !__builtin_add_overflow(at_ns, suspended_ns, &boot_ns) &&
           !__builtin_sub_overflow(plx_boot_now_ns(), boot_ns, ret_ns);
}

/* Which pictures were captured before the last suspend. CLOCK_MONOTONIC, which dates them, stands still in suspend. After the
 * resume a driver returns the pictures that it held before: hours old, with timestamps that look new. CLOCK_MONOTONIC
 * nanoseconds, but for suspended_ns: as plx_suspended_ns. */
struct plx_suspend_clock {
    int64_t suspended_ns; /* now */
    int64_t before_ns;    /* the same, before the last resume */
    int64_t resumed_ns;   /* when the resume was noticed; 0 = there was none */
};

/* Notices a suspend since the last call; to be called at least as often as the engine waits for pictures. */
static inline void plx_suspend_clock_update(struct plx_suspend_clock *clock, int64_t now_ns, int64_t suspended_ns)
{
    if (suspended_ns - clock->suspended_ns > PLX_NS_PER_MS) { /* less is the time between two clock readings */
        clock->before_ns = clock->suspended_ns;
        clock->resumed_ns = now_ns;
    }
    clock->suspended_ns = suspended_ns;
}

/* How long the machine had been suspended when the picture of CAPTURE_NS was captured. A picture between the resume and the
 * update after it counts as captured before the resume: too old rather than too young. */
static inline int64_t plx_suspend_clock_at(const struct plx_suspend_clock *clock, int64_t capture_ns)
{
    return capture_ns < clock->resumed_ns ? clock->before_ns : clock->suspended_ns;
}

#endif
