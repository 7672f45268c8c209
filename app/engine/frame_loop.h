/* SPDX-License-Identifier: Apache-2.0 */
/* The frame loop: takes a pair from the capture queue, computes its frame, publishes it, reports, and adjusts exposure. */
#ifndef PLX_APP_ENGINE_FRAME_LOOP_H
#define PLX_APP_ENGINE_FRAME_LOOP_H

#include "app/engine/capture_queue.h"
#include "app/engine/sensors.h"
#include "core/base/clock.h"

struct plx_corrections;
struct plx_exposure;
struct plx_pipeline;
struct plx_shm;
struct plx_stages;
struct plx_worker;

/* All pointers stay the caller's. */
struct plx_frame_loop {
    struct plx_capture_queue queue; /* pairs of a started source */
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_exposure **exposure; /* a command of the supervisor replaces it */
    struct plx_corrections *corrections;
    struct plx_worker *worker; /* makes corrections; NULL for raw frames */
    struct plx_shm *shm;
    struct plx_sensors sensors;
    struct plx_suspend_clock suspend;
    int64_t cpu_ns; /* processor time of this process when the last frame was complete; 0: there was none */
    int report_fd;
    enum plx_source_type source_type;
    bool on_gpu;
    bool has_begun;                   /* with the first pair */
    bool pipeline_failed;             /* why the loop ended, */
    struct plx_error_message message; /* in words */
    uint32_t permanent_health;        /* health flags of every frame */
};

/* Runs until *STOP is set, then returns 0; else what ended the source or the pipeline, with a sentence in loop->message.
 * LOST: the supervisor is gone. */
int plx_frame_loop_run(struct plx_frame_loop *loop, const volatile sig_atomic_t *stop);

#endif
