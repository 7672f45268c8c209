/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding of compressed pictures. Each camera has a thread that decodes its pictures, one at a time, into their slots, and
 * pushes them to the frame queue. It does not use the camera itself, which may be lost meanwhile.
 *
 * If decoding takes longer than a period, the schedule chooses the newest picture of each camera and skips older ones, the same
 * ones for both eyes: pictures of different moments make no pair.
 */
#ifndef PLX_V4L2_DECODER_H
#define PLX_V4L2_DECODER_H

#include "core/checks/health_table.h"
#include "drivers/v4l2/camera.h"
#include "drivers/v4l2/frame_queue.h"

struct plx_v4l2_decoder;

/* For JPEG files of at most CAPACITY bytes. WAKE_FD, an eventfd, is written whenever a picture is finished. WAKE_FD and FRAMES
 * must outlive the decoder. NOMEM. */
int plx_v4l2_decoder_create(struct plx_v4l2_frame_queue *frames, int wake_fd, size_t capacity,
                            struct plx_v4l2_decoder **ret_decoder);
void plx_v4l2_decoder_destroy(struct plx_v4l2_decoder *decoder); /* stops it; NULL is fine */

/* Starts the thread, whose heartbeat is HEARTBEAT (NULL: nobody watches); running already is fine. NOMEM. */
int plx_v4l2_decoder_start(struct plx_v4l2_decoder *decoder, struct plx_heartbeat *heartbeat);

/* Waits for the picture that is being decoded: none may stay unfinished in a slot. */
void plx_v4l2_decoder_stop(struct plx_v4l2_decoder *decoder); /* a stopped one or NULL is fine */

bool plx_v4l2_decoder_is_idle(struct plx_v4l2_decoder *decoder);

/* Decodes FILE into the slot of CAPTURE, which the decoder owns from now on. Swaps FILE's memory for its own. Idle only. */
void plx_v4l2_decoder_give(struct plx_v4l2_decoder *decoder, struct plx_v4l2_compressed *file,
                           const struct plx_capture *capture);

/* --- which pictures are decoded next ------------------------------------------------------------------------------ */

struct plx_v4l2_decode_schedule {
    struct plx_v4l2_decoder *decoder[PLX_EYES]; /* NULL for a camera whose pictures are not compressed */
    int64_t progress_ns;                        /* when a decoder was last busy or got a picture */
};

/* What the decision needs of one camera. */
struct plx_v4l2_decode_candidate {
    bool waiting;       /* a picture waits to be decoded ... */
    int64_t capture_ns; /* ... of that time */
    bool expected;      /* more pictures are expected */
};

/* The cameras whose pictures are decoded now, as bits; 0: none yet. A picture waits for its partner, the one within half a
 * PERIOD_NS, as long as one is expected and decoding is not OVERDUE; the camera's next picture replaces it. */
unsigned plx_v4l2_decode_schedule_choose(const struct plx_v4l2_decode_candidate *eye, int count, int64_t period_ns,
                                         bool overdue);

/* Camera I of a source was started: creates and starts its decoder if its pictures are compressed. Pictures go to FRAMES;
 * WAKE_FD is as in plx_v4l2_decoder_create. NOMEM. */
int plx_v4l2_decode_schedule_start(struct plx_v4l2_decode_schedule *schedule, const struct plx_v4l2_camera *camera, int i,
                                   struct plx_v4l2_frame_queue *frames, int wake_fd, struct plx_heartbeats *heartbeats,
                                   struct plx_error_message *message);

/* CAPTURE, compressed, came from CAMERA and waits. It replaces the picture that waited before. */
void plx_v4l2_decode_schedule_put(const struct plx_v4l2_decode_schedule *schedule, struct plx_v4l2_camera *camera,
                                  const struct plx_capture *capture);

/* Once all decoders are idle: gives them the next pictures of CAMERA[COUNT]. */
void plx_v4l2_decode_schedule_run(struct plx_v4l2_decode_schedule *schedule, struct plx_v4l2_camera *camera, int count);

void plx_v4l2_decode_schedule_stop(struct plx_v4l2_decode_schedule *schedule); /* waits for pictures being decoded */
void plx_v4l2_decode_schedule_finish(struct plx_v4l2_decode_schedule *schedule);

#endif
