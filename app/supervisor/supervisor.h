/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor: the parent process. It owns the shared memory, the clients, systemd's watchdog and the configuration, and
 * keeps an engine running. It is single-threaded, never touches a camera or a GPU, and waits only for its event loop.
 *
 * Each part (probe, reload, engine process, GPU state, black box, publisher, recovery) owns its state, knows no other part
 * unless it is given one, and says what happened. The files of this header decide what follows. A file calls only files that
 * come before it in this order: state, reload_events, engine_events, supervisor (the loop).
 */
#ifndef PLX_APP_SUPERVISOR_SUPERVISOR_H
#define PLX_APP_SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>

#include "app/engine/report.h"
#include "app/supervisor/blackbox.h"
#include "app/supervisor/child.h"
#include "app/supervisor/client_requests.h"
#include "app/supervisor/engine_process.h"
#include "app/supervisor/gpu_state.h"
#include "app/supervisor/probe.h"
#include "app/supervisor/publisher.h"
#include "app/supervisor/recovery.h"
#include "app/supervisor/reload.h"
#include "app/supervisor/service_clock.h"
#include "app/supervisor/status_line.h"
#include "app/supervisor/systemd.h"
#include "config/config.h"

struct plx_supervisor {
    struct plx_parent parent; /* has the event loop */
    int event_fd;             /* the loop's descriptor, for children to close */
    int64_t now_ns;           /* service time at the start of this iteration of the loop; every decision uses it */
    struct plx_service_clock clock;

    const struct plx_config_source *config_source;
    bool wait; /* the first start waits for cameras, devices, permissions and memory */
    struct plx_reload reload;
    struct plx_probe probe;

    struct plx_publisher publisher; /* closed until the first probe has told the size */
    struct plx_client_requests client_requests;
    struct plx_engine_process engine;
    struct plx_recovery recovery;
    struct plx_gpu_state gpu;
    struct plx_notify notify;
    struct plx_blackbox blackbox;
    struct plx_status_line status_line;
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

/* --- reload_events.c: what follows from a reload ------------------------------------------------------------------- */

/* Does what EVENT asks for; FIRST_FAILED is for plx_supervisor_start_failed. */
void plx_supervisor_follow_reload(struct plx_supervisor *supervisor, enum plx_reload_event event);
/* The engine has published a frame, or looks for a camera if IS_CAMERA_LOST: a reload may be complete. */
void plx_supervisor_confirm_reload(struct plx_supervisor *supervisor, bool is_camera_lost);
/* The engine could not start, or has ended, for REASON. True if that rolled a reload back, to the old ring as well. */
bool plx_supervisor_roll_back(struct plx_supervisor *supervisor, const char *reason);
/* Begins a requested reload, and the first start when it is due. */
void plx_supervisor_tick_reload(struct plx_supervisor *supervisor);

/* --- engine_events.c: what follows from the engine's reports and its end ------------------------------------------- */

/* For struct plx_engine_process; CONTEXT is the supervisor. */
void plx_supervisor_take_report(void *context, const struct plx_report *report);
/* The engine was reaped with STATUS. */
void plx_supervisor_engine_ended(struct plx_supervisor *supervisor, int status);
/* Kills an engine that hangs or does not end, ends a new one that gives no frame; starts the next one when it is due. */
void plx_supervisor_tick_engine(struct plx_supervisor *supervisor);

/* --- supervisor.c: the loop --------------------------------------------------------------------------------------- */

/* Serves until SIGTERM, SIGINT, the end of the source, or a failure of the first start, which is logged. WAIT: the first start
 * waits for cameras, devices, permissions and memory. Returns the exit code (enum plx_exit). */
int plx_supervise(const struct plx_config_source *config_source, const struct plx_config *config, bool wait);

/* The supervisor uses supervisor->now_ns alone: another clock counts the time in which the supervisor did not run. */
#pragma GCC poison plx_now_ns

#endif
