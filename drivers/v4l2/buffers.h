/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture buffers of a camera. Slots hold pictures and live as long as the buffers, even if the camera is lost. With
 * USERPTR and DMABUF the driver fills slot i itself, as its buffer i. With MMAP each picture is copied from the driver's few
 * buffers into a free slot; the file of a compressed picture is kept until it is decoded into its slot.
 */
#ifndef PLX_V4L2_BUFFERS_H
#define PLX_V4L2_BUFFERS_H

#include <parallax/frame.h>

#include "core/base/image.h"
#include "drivers/v4l2/buffer_queue.h"
#include "drivers/v4l2/format.h"

#define PLX_V4L2_SLOTS 13  /* 5 pairs with the reader, 3 pictures that wait for it, the rest with the driver */
#define PLX_V4L2_MAPPED 32 /* VIDEO_MAX_FRAME: a driver may give more than requested */

struct plx_v4l2_buffers {
    struct plx_stages *stages;
    struct plx_v4l2_stream_format actual;
    const struct plx_v4l2_memory_method *method; /* the kind of memory in use */
    struct plx_v4l2_slot slot[PLX_V4L2_SLOTS];
    struct plx_v4l2_compressed compressed; /* the file of the last picture; data NULL: pictures are not compressed */
    size_t compressed_capacity;            /* bytes at compressed.data */
    size_t pitch;                          /* pitch of a picture in a slot */
    int driver_count;                      /* the driver's buffers; 0: detached */
    struct plx_v4l2_mapping mapped[PLX_V4L2_MAPPED];
};

/* A dequeued picture. */
struct plx_v4l2_picture {
    struct plx_v4l2_slot *slot;
    struct plx_raw raw; /* the whole buffer; if compressed: as the picture will lie in the slot after decoding */
    int64_t stamp_ns;   /* the driver's clock */
    uint32_t flags;     /* V4L2_BUF_FLAG_* */
    uint32_t sequence;
    enum plx_memory memory; /* kind of memory that the driver wrote to */
    bool compressed;        /* the file is in `compressed` until the next picture; the slot holds no pixels yet */
};

/* Chooses the kind of memory that NODE and STAGES share, and allocates the slots for pictures of ACTUAL. STAGES must outlive
 * the buffers. NOMEM; BUSY or LOST if the driver gives no buffers. */
int plx_v4l2_buffers_create(struct plx_stages *stages, const struct plx_v4l2_node *node,
                            const struct plx_v4l2_stream_format *actual, struct plx_v4l2_buffers **ret_buffers,
                            struct plx_error_message *message);
void plx_v4l2_buffers_destroy(struct plx_v4l2_buffers *buffers); /* detached; NULL is fine */

/* Gives the buffers to the driver of NODE and starts the stream. Slots that the reader holds stay with it. Errors of
 * plx_v4l2_fail; the driver then has no buffer. */
int plx_v4l2_buffers_attach(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                            struct plx_error_message *message);

/* Stops the stream and takes all buffers back, also if the device is gone. Detached buffers are fine. */
void plx_v4l2_buffers_detach(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node);

/* Queues idle slots to the driver again. Errors of plx_v4l2_fail. */
int plx_v4l2_buffers_refill(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                            struct plx_error_message *message);

/* Dequeues the next picture into a slot that is FILLED from then on. TIMEOUT: no picture. BUSY: no free slot. FORMAT: a
 * damaged picture, whose buffer is back with the driver (MESSAGE says what is wrong). Other errors of plx_v4l2_fail. */
int plx_v4l2_buffers_take(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                          struct plx_v4l2_picture *ret_picture, struct plx_error_message *message);

#endif
