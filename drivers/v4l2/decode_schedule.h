/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which compressed pictures are decoded next. Decoding may take longer than a period: then the newest of each camera is decoded
 * and those before it are skipped, both eyes the same, for pictures of different moments make no pair. Each camera has a
 * thread that decodes, so both work at once where there are processors for it.
 */
#ifndef PLX_V4L2_DECODE_SCHEDULE_H
#define PLX_V4L2_DECODE_SCHEDULE_H

#include "drivers/v4l2/capture_thread.h"

/* What a turn looks at, of one camera. */
struct plx_v4l2_decode_candidate {
    bool waiting;       /* a picture waits to be decoded ... */
    int64_t capture_ns; /* ... of that time */
    bool expected;      /* more of them are on their way */
};

/* The cameras whose pictures are to be decoded now, as bits; 0: none yet. A picture waits for its partner, the one within half
 * a PERIOD_NS, as long as one is expected and the turn is not OVERDUE; the camera's next picture takes its place. */
unsigned plx_v4l2_decode_schedule_choose(const struct plx_v4l2_decode_candidate *eye, int count, int64_t period_ns,
                                         bool overdue);

/* CAMERA has just been started: makes and starts its decoder if its pictures are compressed. NOMEM. */
int plx_v4l2_decode_schedule_prepare(struct plx_v4l2_capture_thread *thread, struct plx_v4l2_camera *camera,
                                     struct plx_error_message *message);

/* CAPTURE, compressed, came from CAMERA: it waits, in the place of one that waited before. */
void plx_v4l2_decode_schedule_put(struct plx_v4l2_capture_thread *thread, struct plx_v4l2_camera *camera,
                                  const struct plx_capture *capture);

/* Begins the next turn if the last one is over. */
void plx_v4l2_decode_schedule_run(struct plx_v4l2_capture_thread *thread);

void plx_v4l2_decode_schedule_stop(struct plx_v4l2_capture_thread *thread); /* returns after what is being decoded */
void plx_v4l2_decode_schedule_finish(struct plx_v4l2_capture_thread *thread);

#endif
