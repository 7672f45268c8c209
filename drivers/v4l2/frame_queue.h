/* SPDX-License-Identifier: Apache-2.0 */
/* What waits between the thread of the cameras and the reader: a few pictures of each camera, news, and the terms. Thread-safe.
 */
#ifndef PLX_V4L2_FRAME_QUEUE_H
#define PLX_V4L2_FRAME_QUEUE_H

#include <pthread.h>

#include "core/source.h"

#define PLX_V4L2_FRAMES_QUEUED 3 /* pictures of one camera; before the next comes, the oldest goes back */

struct plx_v4l2_frame_queue {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t reader;
    bool open;                        /* more may come */
    uint32_t health;                  /* to be told: what happened without a picture */
    struct plx_error_message message; /* of that */
    double rate_hz;                   /* the terms agreed with the cameras: 0 = they do not say */
    struct plx_error_message note;    /* and what differs from the requested, until it is read */
    int count;
    struct plx_capture ready[PLX_EYES * PLX_V4L2_FRAMES_QUEUED]; /* oldest first; buffers are struct plx_v4l2_slot */
};

int plx_v4l2_frame_queue_init(struct plx_v4l2_frame_queue *frames); /* NOMEM */
void plx_v4l2_frame_queue_finish(struct plx_v4l2_frame_queue *frames);

void plx_v4l2_frame_queue_open(struct plx_v4l2_frame_queue *frames);
void plx_v4l2_frame_queue_close(struct plx_v4l2_frame_queue *frames); /* gives back what was not read */

/* For the cameras. TELL keeps MESSAGE as the sentence; AGREE adds NOTE to what was noted before. */
void plx_v4l2_frame_queue_push(struct plx_v4l2_frame_queue *frames, const struct plx_capture *capture);
void plx_v4l2_frame_queue_report(struct plx_v4l2_frame_queue *frames, uint32_t health, const struct plx_error_message *message);
void plx_v4l2_frame_queue_set_rate(struct plx_v4l2_frame_queue *frames, double rate_hz, const struct plx_error_message *note);

/* For the reader: the terms, NOTE only where it is new and has a text; and as `next` of a source. MESSAGE gets the sentence,
 * also of news. */
void plx_v4l2_frame_queue_read_rate(struct plx_v4l2_frame_queue *frames, double *ret_rate_hz, struct plx_error_message *note);
int plx_v4l2_frame_queue_pop(struct plx_v4l2_frame_queue *frames, int64_t deadline_ns, struct plx_capture *ret_capture,
                             struct plx_error_message *message);

#endif
