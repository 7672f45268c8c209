/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine and its supervisor tell each other: whole records through a socket pair, never waited for. */
#ifndef PLX_APP_ENGINE_REPORT_H
#define PLX_APP_ENGINE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/calibration.h"
#include "core/exposure.h"
#include "core/text.h"

enum plx_report_kind {
    PLX_REPORT_PLAN = 1, /* of a probe: everything opens, frames will have frame_bytes, calibration is the one to use */
    PLX_REPORT_FRAME,    /* sequence was published with health */
    PLX_REPORT_NOTE,     /* it opened, and why says what is not as one might wish: the CPU instead of a GPU */
    PLX_REPORT_WAITING,  /* alive, but the source gives no pairs; health says what is known, and why where cameras are away */
    PLX_REPORT_LOG,      /* it has logged why, at level error */
    PLX_REPORT_END,      /* the source has no more pairs; the engine exits */
    PLX_REPORT_FAILED    /* it exits: error, exit_code and why say how it failed */
};

struct plx_report {
    uint32_t kind; /* enum plx_report_kind */
    uint32_t health;
    uint64_t sequence;
    int64_t period_ns; /* nominal time between pairs; 0 = as fast as possible */
    int64_t busy_ns;   /* from taking the pair to publishing it */
    uint32_t frame_bytes;
    uint32_t obstacles; /* in that frame */
    bool on_gpu;        /* FRAME: where it was made */
    bool gpu_lost;      /* FAILED: because of the GPU */
    uint32_t away;      /* WAITING: cameras are gone, and the source itself looks for them: a new engine would be no help */
    int64_t due_in_ns; /* WAITING: until the source's own timetable, a recording's, has its next pair; 0 or less: it has none */
    int32_t error;     /* a plx_error */
    bool transient;    /* FAILED: may mend itself: a camera, a device, memory, a permission */
    int32_t exit_code; /* enum plx_exit, should the service end with this */
    struct plx_error_message message;
    struct plx_stereo_calibration calibration; /* PLAN */
};

/* What a running engine takes without a restart (keys marked reloadable in the configuration). */
struct plx_engine_command {
    struct plx_exposure_params exposure;
};

/* Two connected ends, close-on-exec, neither ever blocks. Errors: NOMEM. */
int plx_report_pair(int fd[2]);

/* Sends REPORT if there is room: a supervisor that sleeps costs the engine nothing but its reports. TIMEOUT, LOST. */
int plx_report_send(int fd, const struct plx_report *report);

/* As plx_report_send, but waits up to a second for room: for the last words. */
int plx_report_send_last(int fd, const struct plx_report *report);

/* False when there is none to read now. */
bool plx_report_receive(int fd, struct plx_report *ret_report);

/* The way back; likewise. */
int plx_engine_command_send(int fd, const struct plx_engine_command *order);
bool plx_engine_command_receive(int fd, struct plx_engine_command *ret_order);

#endif
