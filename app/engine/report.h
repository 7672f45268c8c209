/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of the engine to its supervisor, and commands back: whole records through a socket pair that never blocks. */
#ifndef PLX_APP_ENGINE_REPORT_H
#define PLX_APP_ENGINE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/text.h"
#include "core/geometry/calibration.h"
#include "core/source/exposure.h"

enum plx_report_kind {
    PLX_REPORT_PLAN = 1, /* a probe's report: everything opens; frame_bytes and calibration are for the engine */
    PLX_REPORT_FRAME,    /* sequence was published with health */
    PLX_REPORT_NOTE,     /* everything opened; message has a difference from the configuration: the CPU instead of a GPU */
    PLX_REPORT_WAITING, /* alive, but the source gives no pairs; health has the flags, message the reason if cameras are lost */
    PLX_REPORT_LOG,     /* message was logged at level error */
    PLX_REPORT_END,     /* the source has no more pairs; the engine exits */
    PLX_REPORT_FAILED   /* the engine exits with error, exit_code and message */
};

struct plx_report {
    uint32_t kind; /* enum plx_report_kind */
    uint32_t health;
    uint64_t sequence;
    int64_t period_ns;      /* nominal time between pairs; 0 = as fast as possible */
    int64_t busy_ns;        /* from taking the pair to publishing it */
    int64_t fresh_until_ns; /* CLOCK_MONOTONIC; from then on that frame is old */
    uint32_t frame_bytes;
    uint32_t obstacles;      /* in that frame */
    uint32_t blind;          /* enum plx_blind bits of that frame */
    bool on_gpu;             /* FRAME: where it was computed */
    bool gpu_lost;           /* FAILED: because of the GPU */
    uint32_t is_camera_lost; /* WAITING: the source looks for lost cameras; a new engine would not help */
    int64_t due_in_ns;       /* WAITING: time until the next pair of a recording; 0 or less: none is due */
    int32_t error;           /* a plx_error */
    bool transient;          /* FAILED: a later attempt may succeed: a camera, a device, memory, a permission */
    int32_t exit_code;       /* enum plx_exit, if the service ends with this failure */
    struct plx_error_message message;
    struct plx_stereo_calibration calibration; /* PLAN */
};

enum plx_engine_command_kind {
    PLX_COMMAND_EXPOSURE = 1, /* parameters that the engine applies without a restart (reloadable keys of the configuration) */
    PLX_COMMAND_HINT,         /* odometry of the robot; checked */
};

struct plx_engine_command {
    uint32_t kind; /* enum plx_engine_command_kind */
    struct plx_exposure_params exposure;
    struct plx_motion_hint hint;
};

/* Two connected non-blocking sockets, close-on-exec. NOMEM. */
int plx_report_pair(int fd[2]);

/* Sends REPORT if there is room: a slow supervisor loses reports and does not delay the engine. TIMEOUT, LOST. */
int plx_report_send(int fd, const struct plx_report *report);

/* As plx_report_send, but waits up to a second for room: for the last report. */
int plx_report_send_last(int fd, const struct plx_report *report);

/* False if there is none. */
bool plx_report_receive(int fd, struct plx_report *ret_report);

/* The same for commands, from supervisor to engine. */
int plx_engine_command_send(int fd, const struct plx_engine_command *order);
bool plx_engine_command_receive(int fd, struct plx_engine_command *ret_order);

#endif
