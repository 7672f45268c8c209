/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flight_recorder/ring.h"

#include <sys/mman.h>

#include <parallax/error.h>

#define ALIGN 64

int plx_pair_ring_init(struct plx_pair_ring *ring, size_t bytes, struct plx_error_message *message)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return plx_fail(message, PLX_ERR_NOMEM, "no %zu MiB of memory for pairs; set recorder.memory_mb to less", bytes >> 20);
    madvise(memory, bytes, MADV_DONTDUMP);
    *ring = (struct plx_pair_ring){.memory = memory, .bytes = bytes};
    return 0;
}

void plx_pair_ring_finish(struct plx_pair_ring *ring)
{
    if (ring->memory)
        munmap(ring->memory, ring->bytes);
    *ring = (struct plx_pair_ring){.memory = NULL};
}

int plx_pair_ring_layout(struct plx_pair_ring *ring, size_t pair_bytes, struct plx_error_message *message)
{
    const size_t most = ring->bytes / PLX_PAIR_RING_MIN_SLOTS / ALIGN * ALIGN;

    ring->slots = ring->first = ring->end = 0;
    if (pair_bytes == 0 || pair_bytes > most)
        return plx_fail(message, PLX_ERR_RANGE, "%zu MiB hold no two pairs of %zu bytes; set recorder.memory_mb to more",
                        ring->bytes >> 20, pair_bytes);
    ring->slot_bytes = (pair_bytes + ALIGN - 1) / ALIGN * ALIGN;
    ring->slots = ring->bytes / ring->slot_bytes;
    return 0;
}

static uint8_t *slot_of(const struct plx_pair_ring *ring, uint64_t number)
{
    return ring->memory + number % ring->slots * ring->slot_bytes;
}

void *plx_pair_ring_begin(struct plx_pair_ring *ring)
{
    if (plx_pair_ring_is_full(ring))
        ring->first++;
    return slot_of(ring, ring->end);
}

void plx_pair_ring_commit(struct plx_pair_ring *ring)
{
    ring->end++;
}

const void *plx_pair_ring_get(const struct plx_pair_ring *ring, uint64_t number)
{
    return slot_of(ring, number);
}
