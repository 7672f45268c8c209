/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor: the parent process. It owns the shared memory, the clients, systemd's watchdog and the configuration, and
 * keeps an engine running. It is single-threaded, never touches a camera or a GPU, and waits only for its event loop.
 *
 * This header holds the state that its parts share. A file calls only files that come before it in this order: state, probe,
 * reload, engine_watch, engine_process, reload_request, supervisor (the loop).
 */
#ifndef PLX_APP_SUPERVISOR_SUPERVISOR_H
#define PLX_APP_SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "app/engine/engine.h"
#include "app/engine/report.h"
#include "app/supervisor/blackbox.h"
#include "app/supervisor/engine_process.h"
#include "app/supervisor/probe.h"
#include "app/supervisor/publisher.h"
#include "app/supervisor/recovery.h"
#include "app/supervisor/reload.h"
#include "app/supervisor/service_clock.h"
#include "app/supervisor/systemd.h"
#include "config/config.h"

#define PLX_KILL_BUDGET_NS (2 * PLX_NS_PER_S) /* from SIGKILL to a process's end */

/* What systemd and the log are told of the frames. */
struct plx_told {
    int64_t since_ns;       /* when the last complete STATUS= was sent */
    uint32_t frames;        /* published since then */
    uint32_t obstacles;     /* in the newest */
    uint32_t blind;         /* why that cannot show any, enum plx_blind bits */
    int64_t fresh_until_ns; /* of the newest, CLOCK_MONOTONIC */
    uint32_t hints;         /* sent to the engine since the newest */
};

/* The GPU that is lost, and the CPU that replaces it. */
struct plx_gpu_state {
    struct plx_gpu_fallback fallback;
    struct plx_error_message reason; /* "" = the CPU does not replace it */
};

struct plx_supervisor {
    sd_event *event;
    int event_fd;   /* of the loop, for children to close */
    int64_t now_ns; /* service time at the start of this iteration of the loop; every decision uses it */
    struct plx_service_clock clock;

    const struct plx_config_source *config_source;
    bool wait;            /* the first start waits for cameras, devices, permissions and memory */
    struct plx_plan plan; /* in force: what every engine is started with; frame_bytes 0 = none yet */
    struct plx_config_text config_text;
    struct plx_reload reload;
    struct plx_probe probe;

    struct plx_publisher publisher; /* closed until the first probe has told the size */
    sd_event_source *clients;       /* of the publisher's socket; NULL = closed */
    struct plx_engine_process engine;
    struct plx_recovery recovery;
    struct plx_gpu_state gpu;
    struct plx_notify notify;
    struct plx_blackbox blackbox;
    struct plx_told told;
    struct plx_error_message degraded_reason; /* why frames are late or missing, until the next one; "" = they come */

    bool stopping;
    bool children_stopped; /* stopping: the children were told to end */
    int exit_code;
};

/* --- state.c: what clients, the black box and systemd are told ---------------------------------------------------- */

/* Why the service is degraded, waits or has failed; "" when all is well. */
const char *plx_supervisor_reason(const struct plx_supervisor *supervisor);
/* Publishes the state to the clients and the black box, if it changed. */
void plx_supervisor_publish_state(struct plx_supervisor *supervisor);

/* Begins the end; the loop stops the children and ends when they are gone. Only the first call sets the exit code. */
void plx_supervisor_stop(struct plx_supervisor *supervisor, int exit_code);
/* The same for a failure, which is logged. */
void plx_supervisor_fail(struct plx_supervisor *supervisor, int exit_code, const char *sentence);

/* The engine cannot open or start what it needs (REPORT is a FAILED). The service ends if the failure is final; else the
 * supervisor tries again after the back-off. */
void plx_supervisor_start_failed(struct plx_supervisor *supervisor, const struct plx_report *report);
/* True if REPORT, a FAILED, ends the service: it was never ready, and --wait was not given or the cause is not transient. */
bool plx_supervisor_is_final(const struct plx_supervisor *supervisor, const struct plx_report *report);
/* An engine ended because a resource is missing. The next one is on its way: systemd's watchdog must not end the service. */
void plx_supervisor_keep_waiting(struct plx_supervisor *supervisor);

/* For a child, first of all: closes inherited descriptors, or sockets would outlive their owner. */
void plx_supervisor_close_in_child(struct plx_supervisor *supervisor);

/* --- supervisor.c: the loop --------------------------------------------------------------------------------------- */

/* Serves until SIGTERM, SIGINT, the end of the source, or a failure of the first start, which is logged. WAIT: the first start
 * waits for cameras, devices, permissions and memory. Returns the exit code (enum plx_exit). */
int plx_supervise(const struct plx_config_source *config_source, const struct plx_config *config, bool wait);

/* The supervisor uses supervisor->now_ns alone: another clock counts the time in which the supervisor did not run. */
#pragma GCC poison plx_now_ns

#endif
