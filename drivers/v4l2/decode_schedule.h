/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which compressed pictures are decoded next. If decoding takes longer than a period, the newest picture of each camera is
 * decoded and older ones are skipped, the same ones for both eyes: pictures of different moments make no pair. Each camera has
 * a decoder thread, so both eyes are decoded in parallel.
 */
#ifndef PLX_V4L2_DECODE_SCHEDULE_H
#define PLX_V4L2_DECODE_SCHEDULE_H

#include "drivers/v4l2/camera.h"
#include "drivers/v4l2/decoder.h"

struct plx_v4l2_decode_schedule {
    struct plx_v4l2_decoder *decoder[PLX_EYES]; /* of each camera whose pictures are compressed */
    int64_t progress_ns;                        /* when the decoders last had something to do */
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

void plx_v4l2_decode_schedule_stop(struct plx_v4l2_decode_schedule *schedule); /* returns after what is being decoded */
void plx_v4l2_decode_schedule_finish(struct plx_v4l2_decode_schedule *schedule);

#endif
