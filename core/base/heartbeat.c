/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/heartbeat.h"

#include <stddef.h>

#include "core/base/clock.h"

static _Thread_local struct plx_heartbeat *own; /* the calling thread's; NULL: it never joined */

void plx_heartbeat_join(struct plx_heartbeat *heartbeat)
{
    own = heartbeat;
    plx_heartbeat_idle();
}

void plx_heartbeat_leave(void)
{
    plx_heartbeat_idle();
    own = NULL;
}

int plx_heartbeat_busy(int what)
{
    int64_t since_ns;

    if (!own)
        return PLX_HEARTBEAT_IDLE;
    const int before = plx_heartbeat_read(own, &since_ns);
    plx_heartbeat_mark(own, what);
    return before;
}

void plx_heartbeat_mark(struct plx_heartbeat *heartbeat, int what)
{
    const uint64_t us = (uint64_t)(plx_now_ns() / PLX_NS_PER_US);

    if (heartbeat) /* Relaxed: no other data depends on the word. */
        atomic_store_explicit(&heartbeat->word, us << 8 | (unsigned)what, memory_order_relaxed);
}

int plx_heartbeat_read(const struct plx_heartbeat *heartbeat, int64_t *ret_since_ns)
{
    const uint64_t word = atomic_load_explicit(&heartbeat->word, memory_order_relaxed); /* as above */

    *ret_since_ns = (int64_t)(word >> 8) * PLX_NS_PER_US;
    return word == 0 ? PLX_HEARTBEAT_IDLE : (int)(word & 0xFF);
}
