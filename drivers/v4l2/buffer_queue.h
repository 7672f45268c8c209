/* SPDX-License-Identifier: Apache-2.0 */
/* A driver's buffer queue. First the memory that a camera fills and the backend reads in place, either allocated or adopted by
 * the backend; a slot is one block of it with an owner. Then the buffer ioctls, single- and multi-planar alike: REQBUFS,
 * QBUF, DQBUF, mapping, streaming. No call waits for a picture. */
#ifndef PLX_V4L2_BUFFER_QUEUE_H
#define PLX_V4L2_BUFFER_QUEUE_H

#include <linux/videodev2.h>
#include <stdatomic.h>
#include <stddef.h>

#include <parallax/frame.h>

#include "drivers/v4l2/format.h"

struct plx_stages;

struct plx_v4l2_memory {
    void *data; /* page-aligned */
    size_t bytes;
    int dmabuf;  /* its descriptor; -1: none */
    void *block; /* what STAGES allocated; NULL for adopted memory */
};

/* BYTES from STAGES, whole pages. NOMEM. */
int plx_v4l2_memory_alloc(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

/* As plx_v4l2_memory_alloc, but ordinary memory that STAGES adopts. UNSUPPORTED: STAGES cannot. NOMEM. */
int plx_v4l2_memory_adopt(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

/* As plx_v4l2_memory_alloc, but a dma-buf (Linux's udmabuf) that STAGES adopts. UNSUPPORTED: the kernel has none, permits none,
 * or STAGES cannot adopt it. */
int plx_v4l2_memory_create_dmabuf(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);

void plx_v4l2_memory_free(struct plx_stages *stages, struct plx_v4l2_memory *memory); /* all zeros is fine */

/* Call around reading what a device wrote into a dma-buf; no effect on other memory. */
void plx_v4l2_memory_begin_read(const struct plx_v4l2_memory *memory);
void plx_v4l2_memory_end_read(const struct plx_v4l2_memory *memory);

/* The owner of a slot: nobody (IDLE), the driver (QUEUED), or decoder and reader (FILLED). The capture thread takes IDLE slots;
 * the owner releases a slot by storing IDLE. */
enum plx_v4l2_use { PLX_V4L2_IDLE, PLX_V4L2_QUEUED, PLX_V4L2_FILLED };

struct plx_v4l2_slot {
    _Atomic(int) use; /* enum plx_v4l2_use */
    struct plx_v4l2_memory memory;
};

static inline void plx_v4l2_slot_release(struct plx_v4l2_slot *slot)
{
    /* Release order: the reader's last access happens before the driver writes again. The capture thread acquires. */
    atomic_store_explicit(&slot->use, PLX_V4L2_IDLE, memory_order_release);
}

/* A compressed picture: a JPEG file. */
struct plx_v4l2_compressed {
    void *data; /* malloc'ed, large enough for any picture of the camera */
    size_t bytes;
};

/* --- the buffer ioctls -------------------------------------------------------------------------------------------- */

/* One struct v4l2_buffer with room for its planes. */
struct plx_v4l2_buffer {
    struct v4l2_buffer buffer;
    struct v4l2_plane plane[PLX_V4L2_PLANES];
    size_t used, offset; /* first plane of a dequeued buffer, bytes; `used` includes the offset in front */
};

/* All return 0 or a negative errno. */

/* Requests COUNT buffers (0: frees all); returns how many the driver gave. */
int plx_v4l2_request_buffers(const struct plx_v4l2_node *node, enum plx_memory kind, int count);

/* Queues buffer INDEX; its memory is MEMORY, unless KIND is MMAP. */
int plx_v4l2_queue_buffer(const struct plx_v4l2_node *node, enum plx_memory kind, int planes, int index,
                          const struct plx_v4l2_memory *memory);

/* Tests whether the driver really accepts MEMORY as one of COUNT buffers: some refuse only at the first QBUF. The driver has no
 * buffers afterwards. */
int plx_v4l2_test_memory(const struct plx_v4l2_node *node, enum plx_memory kind, const struct plx_v4l2_memory *memory,
                         int count);

/* Dequeues a filled buffer; -EAGAIN: none. */
int plx_v4l2_dequeue_buffer(const struct plx_v4l2_node *node, enum plx_memory kind, int planes,
                            struct plx_v4l2_buffer *ret_buffer);

int plx_v4l2_stream_on(const struct plx_v4l2_node *node);
void plx_v4l2_stream_off(const struct plx_v4l2_node *node); /* errors are ignored: the device may be gone */

/* Maps all planes of buffer INDEX. After an error MAPPING holds the planes that must be unmapped. */
int plx_v4l2_map_buffer(const struct plx_v4l2_node *node, int planes, int index, struct plx_v4l2_mapping *mapping);
void plx_v4l2_unmap_buffer(const struct plx_v4l2_node *node, struct plx_v4l2_mapping *mapping); /* all zeros is fine */

#endif
