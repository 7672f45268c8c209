/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's heartbeat: what it is doing and since when, in one word that another process reads. */
#ifndef PLX_CORE_HEARTBEAT_H
#define PLX_CORE_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/clock.h"

/* What is watched: the stages by their own numbers, and what lies around them. */
enum plx_watched {
    PLX_WATCHED_STAGES = PLX_STAGE_COUNT, /* below: enum plx_stage */
    PLX_WATCHED_SOURCE = PLX_STAGE_COUNT, /* waiting for a pair */
    PLX_WATCHED_PUBLISH,                  /* after the stages: into the ring, and exposure */
    PLX_WATCHED_START,                    /* opening everything, up to the first frame */
    PLX_WATCHED_LEFT,                     /* a camera between two pictures */
    PLX_WATCHED_RIGHT,
    PLX_WATCHED_COUNT
};

/* One word, so that it is never torn: microseconds of CLOCK_MONOTONIC times 256, plus what. */
struct plx_heartbeat {
    _Atomic(uint64_t) word;
};

static inline void plx_heartbeat_mark(struct plx_heartbeat *heartbeat, int what)
{
    const uint64_t us = (uint64_t)(plx_now_ns() / PLX_NS_PER_US);
    /* Relaxed: the word alone is read, and nothing else by its word. */
    atomic_store_explicit(&heartbeat->word, us << 8 | (unsigned)what, memory_order_relaxed);
}

/* What it is doing; *ret_since_ns: since when. */
static inline int plx_heartbeat_read(const struct plx_heartbeat *heartbeat, int64_t *ret_since_ns)
{
    const uint64_t word = atomic_load_explicit(&heartbeat->word, memory_order_relaxed); /* as above */
    *ret_since_ns = (int64_t)(word >> 8) * PLX_NS_PER_US;
    return (int)(word & 0xFF);
}

#endif
