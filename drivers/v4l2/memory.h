/* SPDX-License-Identifier: Apache-2.0 */
/* One block that a camera fills and the backend reads in place: memory of the backend, or memory that the backend adopted. */
#ifndef PLX_V4L2_MEMORY_H
#define PLX_V4L2_MEMORY_H

#include <stdatomic.h>

#include "core/stages.h"

struct plx_v4l2_memory {
    void *data; /* page-aligned */
    size_t bytes;
    int dmabuf;  /* its descriptor; -1: none */
    void *block; /* what STAGES gave; NULL for what it adopted */
};

/* BYTES from STAGES, whole pages. NOMEM. */
int plx_v4l2_memory_alloc(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

/* The same, ordinary memory that STAGES adopts. UNSUPPORTED: STAGES cannot. NOMEM. */
int plx_v4l2_memory_adopt(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

/* The same as a dma-buf (Linux's udmabuf). UNSUPPORTED: the kernel has none, may not be asked, or STAGES cannot adopt it. */
int plx_v4l2_memory_create_dmabuf(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

void plx_v4l2_memory_free(struct plx_stages *stages, struct plx_v4l2_memory *memory); /* all zeros is fine */

/* Around the reading of what a device wrote into a dma-buf; nothing to do for other memory. */
void plx_v4l2_memory_begin_read(const struct plx_v4l2_memory *memory);
void plx_v4l2_memory_end_read(const struct plx_v4l2_memory *memory);

/* Who has a slot. The camera's thread takes IDLE ones; whoever has a slot gives it back by storing IDLE. */
enum plx_v4l2_use { PLX_V4L2_IDLE, PLX_V4L2_QUEUED, PLX_V4L2_FILLED };

struct plx_v4l2_slot {
    _Atomic(int) use; /* enum plx_v4l2_use */
    struct plx_v4l2_memory memory;
};

static inline void plx_v4l2_slot_release(struct plx_v4l2_slot *slot)
{
    /* Release: all reading of the picture comes before the driver's next writing; the camera's thread acquires. */
    atomic_store_explicit(&slot->use, PLX_V4L2_IDLE, memory_order_release);
}

/* One picture as it came: a JPEG file. */
struct plx_v4l2_compressed {
    void *data; /* room for the largest that the camera gives; malloc'ed */
    size_t bytes;
};

#endif
