/* SPDX-License-Identifier: Apache-2.0 */
/* The one clock of Parallax. */
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

#endif
