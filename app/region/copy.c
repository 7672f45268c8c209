/* SPDX-License-Identifier: Apache-2.0 */
/* A reader within the service: the protocol is that of client/map.c, whose orderings docs/shared-memory.md proves. */
#include <stdatomic.h>
#include <string.h>

#include "app/region/region_internal.h"

bool plx_ring_copy(const struct plx_shared_region *region, uint64_t sequence, uint64_t offset, void *ret, size_t bytes)
{
    const struct plx_region_header *header = region->header;
    const struct plx_region_slot *slot = &region->slots[sequence % header->slot_count];

    if (offset > header->frame_bytes || bytes > header->frame_bytes - offset)
        return false;
    /* Acquire: the frame is read after its lock. */
    if (atomic_load_explicit(&slot->lock, memory_order_acquire) != 2 * sequence)
        return false;
    memcpy(ret, region->frames + sequence % header->slot_count * header->frame_stride + offset, bytes);
    /* Acquire fence: the lock is read again after the frame. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->lock, memory_order_relaxed) == 2 * sequence;
}
