/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's memory: the newest pairs, in slots of one size in a mapping that is made once. */
#ifndef PLX_APP_FLIGHT_RECORDER_RING_H
#define PLX_APP_FLIGHT_RECORDER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/text.h"

#define PLX_PAIR_RING_MIN_SLOTS 2

struct plx_pair_ring {
    uint8_t *memory;
    size_t bytes, slot_bytes;
    uint64_t slots;
    uint64_t first, end; /* numbers of the pairs that it holds: FIRST .. END - 1 */
};

/* Maps BYTES, whose pages are there from now on. NOMEM. */
int plx_pair_ring_init(struct plx_pair_ring *ring, size_t bytes, struct plx_error_message *message);

/* Takes an initialised or zeroed ring. */
void plx_pair_ring_finish(struct plx_pair_ring *ring);

/* Forgets all pairs; from now on a pair has up to PAIR_BYTES. RANGE: fewer than PLX_PAIR_RING_MIN_SLOTS fit; the ring then has
 * no slots. */
int plx_pair_ring_layout(struct plx_pair_ring *ring, size_t pair_bytes, struct plx_error_message *message);

static inline bool plx_pair_ring_is_full(const struct plx_pair_ring *ring)
{
    return ring->end - ring->first == ring->slots;
}

/* The memory of the next pair, aligned to 64 bytes. In a full ring it is that of the oldest pair, which is gone. */
void *plx_pair_ring_begin(struct plx_pair_ring *ring);

/* The pair at plx_pair_ring_begin is whole and becomes the newest one. */
void plx_pair_ring_commit(struct plx_pair_ring *ring);

/* Pair NUMBER, from FIRST to END - 1. */
const void *plx_pair_ring_get(const struct plx_pair_ring *ring, uint64_t number);

#endif
