/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers between a camera and its reader. Slots hold pictures; they live as long as the buffers, whatever becomes of the
 * camera. Where the driver fills them itself (USERPTR, DMABUF), slot i is the driver's buffer i; else its own few buffers are
 * mapped, and each picture is copied into a free slot, or, compressed, kept as it came for a slot that is its own from then on.
 */
#ifndef PLX_V4L2_BUFFERS_H
#define PLX_V4L2_BUFFERS_H

#include <parallax/frame.h>

#include "core/stages.h"
#include "drivers/v4l2/queue.h"

#define PLX_V4L2_SLOTS 13  /* 5 pairs with the reader, 3 pictures that wait for it, the rest with the driver */
#define PLX_V4L2_MAPPED 32 /* VIDEO_MAX_FRAME: what a driver may make of the count asked for */

struct plx_v4l2_buffers {
    struct plx_stages *stages;
    struct plx_v4l2_stream_format actual;
    const struct plx_v4l2_memory_method *method; /* in force */
    struct plx_v4l2_slot slot[PLX_V4L2_SLOTS];
    struct plx_v4l2_compressed compressed; /* the file of the last picture taken; data NULL: pictures are not compressed */
    size_t compressed_room;
    size_t pitch;     /* of a picture in a slot */
    int driver_count; /* the driver's buffers; 0: detached */
    struct plx_v4l2_mapping mapped[PLX_V4L2_MAPPED];
};

/* A picture that came. */
struct plx_v4l2_picture {
    struct plx_v4l2_slot *slot;
    struct plx_raw raw; /* of the whole buffer; of a compressed one, as it will lie in the slot */
    int64_t stamp_ns;   /* the driver's clock */
    uint32_t flags;     /* V4L2_BUF_FLAG_* */
    uint32_t sequence;
    enum plx_memory memory; /* how it came */
    bool compressed;        /* its file is in `compressed` until the next is taken, and its slot is still to be filled */
};

/* Finds out how NODE can share memory and allocates the slots for pictures of ACTUAL. STAGES must outlive the buffers. NOMEM;
 * BUSY or LOST, where the driver lets nobody try. */
int plx_v4l2_buffers_create(struct plx_stages *stages, const struct plx_v4l2_node *node,
                            const struct plx_v4l2_stream_format *actual, struct plx_v4l2_buffers **ret_buffers,
                            struct plx_error_message *message);
void plx_v4l2_buffers_destroy(struct plx_v4l2_buffers *buffers); /* detached; NULL is fine */

/* Gives the buffers to NODE's driver and starts the stream. Whatever the reader holds stays with it. Errors of plx_v4l2_fail;
 * NODE then has none of them. */
int plx_v4l2_buffers_attach(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                            struct plx_error_message *message);

/* Ends the stream and takes all back, also from a driver whose device is gone. Detached already is fine. */
void plx_v4l2_buffers_detach(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node);

/* Gives idle slots back to the driver. Errors of plx_v4l2_fail. */
int plx_v4l2_buffers_refill(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                            struct plx_error_message *message);

/* Takes the next picture; its slot is FILLED, to be given back. TIMEOUT: none is there; BUSY: there was no slot for it;
 * FORMAT: it is damaged (MESSAGE says how), and so back with the driver. Other errors of plx_v4l2_fail. */
int plx_v4l2_buffers_take(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                          struct plx_v4l2_picture *ret_picture, struct plx_error_message *message);

#endif
