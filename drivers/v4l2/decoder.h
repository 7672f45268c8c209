/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that decodes the compressed pictures of one camera, one at a time, into their slots, and pushes them to the frame
 * queue. It does not use the camera itself, which may be lost meanwhile.
 */
#ifndef PLX_V4L2_DECODER_H
#define PLX_V4L2_DECODER_H

#include "core/heartbeat.h"
#include "drivers/v4l2/frame_queue.h"
#include "drivers/v4l2/memory.h"

struct plx_v4l2_decoder;

/* For JPEG files of at most ROOM bytes. WAKE_FD, an eventfd, is written whenever a picture is finished. WAKE_FD and FRAMES
 * must outlive the decoder. NOMEM. */
int plx_v4l2_decoder_create(struct plx_v4l2_frame_queue *frames, int wake_fd, size_t room,
                            struct plx_v4l2_decoder **ret_decoder);
void plx_v4l2_decoder_destroy(struct plx_v4l2_decoder *decoder); /* stops it; NULL is fine */

/* The thread joins HEARTBEATS as THREAD; running already is fine. NOMEM. */
int plx_v4l2_decoder_start(struct plx_v4l2_decoder *decoder, struct plx_heartbeats *heartbeats, enum plx_thread thread);

/* Waits for the picture that is being decoded: none may stay unfinished in a slot. */
void plx_v4l2_decoder_stop(struct plx_v4l2_decoder *decoder); /* stopped already is fine; NULL too */

bool plx_v4l2_decoder_is_idle(struct plx_v4l2_decoder *decoder);

/* Decodes FILE into the slot of CAPTURE, which the decoder owns from now on. Swaps FILE's memory for its own. Idle only. */
void plx_v4l2_decoder_give(struct plx_v4l2_decoder *decoder, struct plx_v4l2_compressed *file,
                           const struct plx_capture *capture);

/* The decompressor alone: JPEG to grey through libturbojpeg. */
struct plx_jpeg;

int plx_jpeg_create(struct plx_jpeg **ret_jpeg); /* NOMEM */
void plx_jpeg_destroy(struct plx_jpeg *jpeg);    /* NULL is fine */

/* Decodes the luma of DATA into GREY, U8, which must have the size of the picture. FORMAT: no whole JPEG picture, or another
 * size; the content of GREY is then undefined. One thread at a time. */
int plx_jpeg_decode(struct plx_jpeg *jpeg, const void *data, size_t bytes, const struct plx_image *grey,
                    struct plx_error_message *message);

#endif
