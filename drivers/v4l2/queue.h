/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer ioctls of a driver, single- and multi-planar alike: REQBUFS, QBUF, DQBUF, mapping, streaming. Nothing waits. */
#ifndef PLX_V4L2_QUEUE_H
#define PLX_V4L2_QUEUE_H

#include <linux/videodev2.h>

#include <parallax/frame.h>

#include "drivers/v4l2/format.h"
#include "drivers/v4l2/memory.h"

/* One struct v4l2_buffer with room for its planes. */
struct plx_v4l2_buffer {
    struct v4l2_buffer buffer;
    struct v4l2_plane plane[PLX_V4L2_PLANES];
    size_t used, offset; /* of the first plane of a dequeued buffer, bytes; `used` includes the offset in front */
};

/* All return 0 or a negative errno. */

/* Requests COUNT buffers (0: frees all); returns how many the driver gave. */
int plx_v4l2_request_buffers(const struct plx_v4l2_node *node, enum plx_memory kind, int count);

/* Queues buffer INDEX; its memory is MEMORY, unless KIND is MMAP. */
int plx_v4l2_queue_buffer(const struct plx_v4l2_node *node, enum plx_memory kind, int planes, int index,
                          const struct plx_v4l2_memory *memory);

/* Whether the driver really accepts MEMORY as one of COUNT buffers: some refuse only at the first QBUF. The driver has no
 * buffers afterwards. */
int plx_v4l2_test_memory(const struct plx_v4l2_node *node, enum plx_memory kind, const struct plx_v4l2_memory *memory,
                         int count);

/* Dequeues a filled buffer; -EAGAIN: none. */
int plx_v4l2_dequeue_buffer(const struct plx_v4l2_node *node, enum plx_memory kind, int planes,
                            struct plx_v4l2_buffer *ret_buffer);

int plx_v4l2_stream_on(const struct plx_v4l2_node *node);
void plx_v4l2_stream_off(const struct plx_v4l2_node *node); /* errors are ignored: the device may be gone */

/* Maps all planes of buffer INDEX. After an error MAPPING holds what must be unmapped. */
int plx_v4l2_map_buffer(const struct plx_v4l2_node *node, int planes, int index, struct plx_v4l2_mapping *mapping);
void plx_v4l2_unmap_buffer(const struct plx_v4l2_node *node, struct plx_v4l2_mapping *mapping); /* all zeros is fine */

#endif
