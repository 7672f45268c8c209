/* SPDX-License-Identifier: Apache-2.0 */
/* The one clock of Parallax, and how far the clock that goes on in suspend is ahead of it. */
#ifndef PLX_CORE_CLOCK_H
#define PLX_CORE_CLOCK_H

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

/* CLOCK_BOOTTIME, nanoseconds: as CLOCK_MONOTONIC, but it goes on while the machine is suspended. */
static inline int64_t plx_boot_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
}

/* CLOCK_BOOTTIME minus CLOCK_MONOTONIC: 0 on a machine that was never suspended. Too little by the time between two readings,
 * never too much, so that a time that is dated by it never lies in the future. */
static inline int64_t plx_suspended_ns(void)
{
    const int64_t before_ns = plx_now_ns(), boot_ns = plx_boot_now_ns(), after_ns = plx_now_ns();
    return before_ns <= boot_ns && boot_ns <= after_ns ? 0 : boot_ns - after_ns;
}

#endif
