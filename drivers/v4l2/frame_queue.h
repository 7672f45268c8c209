/* SPDX-License-Identifier: Apache-2.0 */
/* What the capture thread and the reader exchange: a few pictures of each camera, health flags and the frame rate to the
 * reader, exposure and gain to the cameras. Thread-safe. */
#ifndef PLX_V4L2_FRAME_QUEUE_H
#define PLX_V4L2_FRAME_QUEUE_H

#include <pthread.h>

#include "core/source/source.h"

#define PLX_V4L2_FRAMES_QUEUED 3 /* pictures of one camera; a further one replaces the oldest */

struct plx_v4l2_frame_queue {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t reader;
    bool open;                        /* more pictures may come */
    struct plx_error_message failure; /* why none comes any more: they would be of other cameras. "": they come */
    uint32_t health;                  /* flags of events without a picture, for the reader */
    struct plx_error_message message; /* explains `health` */
    double rate_hz;                   /* cameras' rate; 0: they do not say */
    struct plx_error_message note;    /* how the cameras differ from the configuration, until it is read */
    int count;
    struct plx_capture ready[PLX_EYES * PLX_V4L2_FRAMES_QUEUED]; /* oldest first; buffers are struct plx_v4l2_slot */
};

int plx_v4l2_frame_queue_init(struct plx_v4l2_frame_queue *frames); /* NOMEM */
void plx_v4l2_frame_queue_finish(struct plx_v4l2_frame_queue *frames);

void plx_v4l2_frame_queue_open(struct plx_v4l2_frame_queue *frames);
void plx_v4l2_frame_queue_close(struct plx_v4l2_frame_queue *frames); /* releases the pictures that were not read */

/* For the capture thread. Report passes health flags with their MESSAGE; fail ends the pictures for good; set_rate appends NOTE
 * to the notes not read yet. */
void plx_v4l2_frame_queue_push(struct plx_v4l2_frame_queue *frames, const struct plx_capture *capture);
void plx_v4l2_frame_queue_report(struct plx_v4l2_frame_queue *frames, uint32_t health, const struct plx_error_message *message);
void plx_v4l2_frame_queue_fail(struct plx_v4l2_frame_queue *frames, const struct plx_error_message *message);
void plx_v4l2_frame_queue_set_rate(struct plx_v4l2_frame_queue *frames, double rate_hz, const struct plx_error_message *note);

/* For the reader. Read_rate fills NOTE only if there is a new one. Pop is `next` of a source; MESSAGE gets the error, or
 * explains the health flags of a capture without a picture. */
void plx_v4l2_frame_queue_read_rate(struct plx_v4l2_frame_queue *frames, double *ret_rate_hz, struct plx_error_message *note);
int plx_v4l2_frame_queue_pop(struct plx_v4l2_frame_queue *frames, int64_t deadline_ns, struct plx_capture *ret_capture,
                             struct plx_error_message *message);

/* --- exposure and gain that are requested, until the cameras have them -------------------------------------------- */

struct plx_v4l2_setting {
    uint32_t exposure_us; /* 0: none was requested */
    float gain;
    bool pending;     /* not set yet */
    int64_t asked_ns; /* when it was requested */
};

struct plx_v4l2_control_request {
    pthread_mutex_t lock; /* created and destroyed with the capture thread; guards all below */
    struct plx_control_range range;
    struct plx_v4l2_setting setting;
};

/* For the exposure control: requests values, clamped to the range. ARG; UNSUPPORTED without controls. */
int plx_v4l2_control_request_submit(struct plx_v4l2_control_request *request, uint32_t exposure_us, float gain);
void plx_v4l2_control_request_range(struct plx_v4l2_control_request *request, struct plx_control_range *ret_range);

/* For the capture thread. Done: the cameras have SETTING, unless another was requested since. Repeat: a camera was started
 * with settings of its own, so the request is pending again. */
void plx_v4l2_control_request_set_range(struct plx_v4l2_control_request *request, const struct plx_control_range *range);
struct plx_v4l2_setting plx_v4l2_control_request_read(struct plx_v4l2_control_request *request);
void plx_v4l2_control_request_done(struct plx_v4l2_control_request *request, const struct plx_v4l2_setting *setting);
void plx_v4l2_control_request_repeat(struct plx_v4l2_control_request *request);

#endif
