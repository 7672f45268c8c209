/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a camera fills and the backend reads in place: the backend's own, or memory that the backend adopted. Slots are
 * such blocks with an owner. */
#ifndef PLX_V4L2_MEMORY_H
#define PLX_V4L2_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>

struct plx_stages;

struct plx_v4l2_memory {
    void *data; /* page-aligned */
    size_t bytes;
    int dmabuf;  /* its descriptor; -1: none */
    void *block; /* what STAGES allocated; NULL for adopted memory */
};

/* BYTES from STAGES, whole pages. NOMEM. */
int plx_v4l2_memory_alloc(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

/* The same as ordinary memory that STAGES adopts. UNSUPPORTED: STAGES cannot. NOMEM. */
int plx_v4l2_memory_adopt(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

/* The same as a dma-buf (Linux's udmabuf). UNSUPPORTED: the kernel has none, permits none, or STAGES cannot adopt it. */
int plx_v4l2_memory_create_dmabuf(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

void plx_v4l2_memory_free(struct plx_stages *stages, struct plx_v4l2_memory *memory); /* all zeros is fine */

/* Call around reading what a device wrote into a dma-buf; no effect on other memory. */
void plx_v4l2_memory_begin_read(const struct plx_v4l2_memory *memory);
void plx_v4l2_memory_end_read(const struct plx_v4l2_memory *memory);

/* The owner of a slot: nobody, the driver, or the reader. The capture thread takes IDLE slots; the owner releases a slot by
 * storing IDLE. */
enum plx_v4l2_use { PLX_V4L2_IDLE, PLX_V4L2_QUEUED, PLX_V4L2_FILLED };

struct plx_v4l2_slot {
    _Atomic(int) use; /* enum plx_v4l2_use */
    struct plx_v4l2_memory memory;
};

static inline void plx_v4l2_slot_release(struct plx_v4l2_slot *slot)
{
    /* Release: reading the picture happens before the driver writes again; the capture thread acquires. */
    atomic_store_explicit(&slot->use, PLX_V4L2_IDLE, memory_order_release);
}

/* A compressed picture: a JPEG file. */
struct plx_v4l2_compressed {
    void *data; /* malloc'ed, large enough for any picture of the camera */
    size_t bytes;
};

#endif
