/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cameras of a source, one or two, and the thread that makes all calls to them. It dequeues pictures, requeues buffers,
 * sets exposure and gain, and reopens lost cameras, so that no driver call ever blocks the reader, who takes pictures from the
 * frame queue.
 */
#ifndef PLX_V4L2_CAPTURE_THREAD_H
#define PLX_V4L2_CAPTURE_THREAD_H

#include <stdatomic.h>

#include "drivers/v4l2/camera.h"
#include "drivers/v4l2/decoder.h"
#include "drivers/v4l2/frame_queue.h"

struct plx_v4l2_capture_thread {
    struct plx_v4l2_camera camera[PLX_EYES]; /* only the thread uses them while it runs */
    struct plx_v4l2_decode_schedule schedule;
    int cameras;
    bool retries_refusals; /* set before opening: see plx_v4l2_capture_thread_open */
    struct plx_v4l2_frame_queue frames;
    struct plx_v4l2_control_request request;
    int wake_fd; /* eventfd: a buffer was released, a control request came, or the thread shall stop */

    pthread_t id;
    struct plx_heartbeats *heartbeats; /* the thread registers there; NULL: none */
    bool running;                      /* the thread exists; only for start and stop */
    atomic_bool stopping;
};

int plx_v4l2_capture_thread_init(struct plx_v4l2_capture_thread *thread); /* without cameras. NOMEM */
void plx_v4l2_capture_thread_finish(struct plx_v4l2_capture_thread *thread);

/* Opens the cameras and checks what is requested of them, without setting anything. The caller has filled in `rule`,
 * `requested` and the other fields of the configuration. A camera that is missing, or that another process holds exclusively,
 * is looked for after the start, like one that is lost later. With `retries_refusals` the same holds for a camera that
 * refuses its configuration. Else the errors of plx_v4l2_camera_open; UNSUPPORTED if the two cameras have different formats. */
int plx_v4l2_capture_thread_open(struct plx_v4l2_capture_thread *thread, struct plx_error_message *message);

/* Configures the cameras and starts streaming; running already is fine. If a camera refuses, the thread reports it and tries
 * again without end. NOMEM: no thread. */
int plx_v4l2_capture_thread_start(struct plx_v4l2_capture_thread *thread, struct plx_error_message *message);
void plx_v4l2_capture_thread_stop(struct plx_v4l2_capture_thread *thread); /* captures that the reader holds stay valid */

/* Wakes the thread. From any thread. */
void plx_v4l2_capture_thread_wake(struct plx_v4l2_capture_thread *thread);

#endif
