/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one or two cameras of a source and the thread that speaks with them: it takes pictures, gives buffers back, sets exposure
 * and gain, and looks for cameras that are not there, so that nothing of it ever holds up the reader. What comes is in the
 * frames.
 */
#ifndef PLX_V4L2_CAPTURE_THREAD_H
#define PLX_V4L2_CAPTURE_THREAD_H

#include <stdatomic.h>

#include "drivers/v4l2/camera.h"
#include "drivers/v4l2/control_request.h"
#include "drivers/v4l2/decode_schedule.h"
#include "drivers/v4l2/frame_queue.h"

struct plx_v4l2_capture_thread {
    struct plx_v4l2_camera camera[PLX_EYES]; /* while the thread runs its own */
    struct plx_v4l2_decode_schedule schedule;
    int cameras;
    bool patient; /* set before opening: see plx_v4l2_capture_thread_open */
    struct plx_v4l2_frame_queue frames;
    struct plx_v4l2_control_request request;
    int wake_fd; /* eventfd: a buffer is back, something is asked for, or it is time to stop */

    pthread_t id;
    struct plx_heartbeats *heartbeats; /* that it joins; NULL: nobody watches */
    bool running;                      /* the thread exists; for whoever starts and stops */
    atomic_bool stopping;
};

int plx_v4l2_capture_thread_init(struct plx_v4l2_capture_thread *thread); /* without cameras. NOMEM */
void plx_v4l2_capture_thread_finish(struct plx_v4l2_capture_thread *thread);

/* Opens the cameras, of which `rule`, `requested` and the like are set, and checks them without setting anything. One that is
 * not there, or that another process has to itself, is looked for from the start on, as one that goes away later; if the thread
 * is patient, so is one that refuses. Else the errors of plx_v4l2_camera_open; UNSUPPORTED if they do not give pictures of one
 * kind. */
int plx_v4l2_capture_thread_open(struct plx_v4l2_capture_thread *thread, struct plx_error_message *message);

/* Sets the cameras up and lets them stream; running already is fine. Whatever a camera refuses is told, and tried again for
 * ever. NOMEM: no thread. */
int plx_v4l2_capture_thread_start(struct plx_v4l2_capture_thread *thread, struct plx_error_message *message);
void plx_v4l2_capture_thread_stop(struct plx_v4l2_capture_thread *thread); /* pictures that were read stay with the reader */

/* From any thread: something is to be done. */
void plx_v4l2_capture_thread_wake(struct plx_v4l2_capture_thread *thread);

#endif
