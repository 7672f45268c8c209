/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor: the parent process. It owns the shared memory, the clients, systemd's watchdog and the configuration, and
 * keeps an engine running. It is single-threaded, never touches a camera or a GPU, and waits only for its event loop.
 *
 * This header holds its state and, in call order, the functions of its files: state, probe, reload, engine_watch,
 * engine_process, reload_request, supervisor (the loop). A file calls only files that come before it.
 */
#ifndef PLX_APP_SUPERVISOR_SUPERVISOR_H
#define PLX_APP_SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "app/engine/engine.h"
#include "app/engine/report.h"
#include "app/supervisor/blackbox.h"
#include "app/supervisor/child.h"
#include "app/supervisor/publisher.h"
#include "app/supervisor/recovery.h"
#include "app/supervisor/run_delay.h"
#include "app/supervisor/service_clock.h"
#include "app/supervisor/systemd.h"
#include "config/config.h"
#include "core/base/heartbeat.h"

#define PLX_KILL_BUDGET_NS (2 * PLX_NS_PER_S) /* from SIGKILL to a process's end */

enum plx_probe_kind { PLX_PROBE_CONFIG, PLX_PROBE_GPU };

/* A process that opens what a configuration names, or the GPU, and says whether that works. */
struct plx_probe {
    struct plx_child child;
    enum plx_probe_kind kind;
    int64_t kill_ns;          /* when it is killed because it takes too long */
    struct plx_report answer; /* PLAN or FAILED; kind 0 = no answer yet, or already used */
    bool answered;
};

enum plx_reload_phase {
    PLX_RELOAD_NONE,
    PLX_RELOAD_PROBING,  /* a probe opens what the candidate names */
    PLX_RELOAD_STOPPING, /* the candidate is accepted: the old engine ends */
    PLX_RELOAD_STARTING, /* the new engine has yet to publish */
};

struct plx_reload {
    enum plx_reload_phase phase;
    bool requested;                   /* SIGHUP came; carried out when nothing else is being probed */
    bool must_publish;                /* the old engine published frames: a new one that only looks for cameras is no success */
    struct plx_plan before;           /* STOPPING, STARTING: the plan to return to */
    struct plx_error_message refusal; /* why the file is not in force; "" = it is */
};

struct plx_supervisor {
    sd_event *event;
    int event_fd;   /* of the loop, for children to close */
    int64_t now_ns; /* service time at the start of this iteration of the loop; every decision uses it */
    struct plx_service_clock clock;

    const struct plx_config_source *config_source;
    bool wait;                 /* the first start waits for cameras, devices, permissions and memory */
    struct plx_plan plan;      /* in force: what every engine is started with; frame_bytes 0 = none yet */
    struct plx_plan candidate; /* being probed */
    struct plx_config_text config_text;
    struct plx_reload reload;
    struct plx_probe probe;

    struct plx_publisher publisher; /* closed until the first probe has told the size */
    sd_event_source *clients;       /* of the publisher's socket; NULL = closed */
    struct plx_recovery recovery;
    struct plx_gpu_fallback gpu_fallback;
    struct plx_notify notify;
    struct plx_blackbox blackbox;

    struct plx_child engine;
    struct plx_run_delay run_delay;    /* of the engine, while it is late */
    struct plx_heartbeats *heartbeats; /* shared memory: the engine's threads mark what they are doing */
    bool engine_replaced;              /* the engine was asked to end, and the next one starts at once */
    bool engine_failed;                /* the supervisor ends the engine because it hangs or gives no frame */
    int64_t engine_kill_ns;            /* when an engine that was asked to end is killed; 0 = not asked */
    int64_t sigkill_ns;                /* when the engine got its first SIGKILL; 0 = none */
    struct plx_report last_report;     /* END or FAILED of the engine that is about to exit; kind 0 = none */

    struct plx_error_message degraded_reason; /* why frames are late or missing, until the next one; "" = they come */
    struct plx_error_message fallback_reason; /* why the CPU replaces the GPU; "" = it does not */

    int64_t status_ns;      /* when the last complete STATUS= was sent */
    uint32_t frames;        /* published since then */
    uint32_t obstacles;     /* in the newest */
    uint32_t blind;         /* why that cannot show any, enum plx_blind bits */
    int64_t fresh_until_ns; /* of the newest, CLOCK_MONOTONIC */
    uint32_t hints;         /* sent to the engine since the newest */

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

/* --- probe.c: opens a new configuration, or a GPU that was lost, in a process of its own -------------------------- */

/* A probe opens and closes, and never starts a source: the running engine goes on. PLX_PROBE_CONFIG opens
 * supervisor->candidate. If no process can be started, the answer is FAILED. */
void plx_probe_start(struct plx_supervisor *supervisor, enum plx_probe_kind kind);
/* True once for each probe: *ret_report is its answer, PLAN or FAILED. */
bool plx_probe_take_answer(struct plx_probe *probe, struct plx_report *ret_report);
/* The probe was reaped with STATUS. */
void plx_probe_reaped(struct plx_supervisor *supervisor, int status);
/* True if there is no probe, or SIGKILL does not end it. */
bool plx_probe_has_ended(const struct plx_supervisor *supervisor);
/* Kills a probe that takes too long. */
void plx_probe_tick(struct plx_supervisor *supervisor);
/* Kills the probe now, because nobody needs its answer. */
void plx_probe_stop(struct plx_supervisor *supervisor);

/* --- reload.c: accepts or refuses a new configuration, and rolls back --------------------------------------------- */

/* The candidate is refused for REASON. */
void plx_reload_refuse(struct plx_supervisor *supervisor, const char *reason);
/* The candidate is in force; CONSEQUENCE ends the sentence that is logged. */
void plx_reload_accept(struct plx_supervisor *supervisor, const char *consequence);
/* The configuration of the published frames: the old one until the engine of a new one has published. */
const struct plx_config *plx_reload_config(const struct plx_supervisor *supervisor);
/* An engine with the plan in force was started. */
void plx_reload_started(struct plx_supervisor *supervisor);
/* The new engine has published a frame, or looks for a camera that is AWAY. */
void plx_reload_confirm(struct plx_supervisor *supervisor, bool away);
/* The new engine could not start, or has ended, for REASON. True if the reload was rolled back: the next engine has the old
 * configuration, calibration and ring. */
bool plx_reload_roll_back(struct plx_supervisor *supervisor, const char *reason);

/* --- engine_watch.c: which thread of the engine is late, whether it dies, why it ended ---------------------------- */

/* Compares the engine's heartbeats with the health table and logs what is late; true if the engine must be killed. */
bool plx_engine_watch_progress(struct plx_supervisor *supervisor);
/* Sends SIGKILL to the engine. */
void plx_engine_watch_kill(struct plx_supervisor *supervisor);
/* Checks that an engine that was killed is dead. A driver can hold it in a call that nothing interrupts (state D). Only the
 * system can help then, so systemd's watchdog is no longer fed. */
void plx_engine_watch_kill_result(struct plx_supervisor *supervisor);

/* The next functions are about an engine that ended unasked, with STATUS as of waitpid. */
struct plx_error_message plx_engine_exit_describe(const struct plx_supervisor *supervisor, int status);
/* True if it failed at the first start for a cause that the next engine would meet too. */
bool plx_engine_exit_is_permanent(const struct plx_supervisor *supervisor);
/* Logs SENTENCE and keeps it until the next engine publishes. */
void plx_engine_exit_report(struct plx_supervisor *supervisor, int status, const struct plx_error_message *sentence);
/* Counts a loss of the GPU if the GPU is the cause. */
void plx_engine_exit_count_gpu_loss(struct plx_supervisor *supervisor, int status);

/* True if frames should come from the GPU, so that frames of the CPU get a flag. */
bool plx_engine_expects_gpu(const struct plx_supervisor *supervisor);

/* --- engine_process.c: start, reports, hang and end of the engine ------------------------------------------------- */

/* Asks the engine to end; the next one starts at once, with the configuration that is then in force. */
void plx_engine_process_replace(struct plx_supervisor *supervisor);
/* The same for an engine that fails, for REASON: the next one starts after its back-off. */
void plx_engine_process_give_up(struct plx_supervisor *supervisor, const char *reason);
/* The engine was reaped with STATUS. */
void plx_engine_process_reaped(struct plx_supervisor *supervisor, int status);
/* True if there is no engine, or SIGKILL does not end it. */
bool plx_engine_process_has_ended(const struct plx_supervisor *supervisor);
/* Kills an engine that hangs or does not end; starts the next one when it is due. */
void plx_engine_process_tick(struct plx_supervisor *supervisor);

/* --- reload_request.c: SIGHUP, and the first configuration -------------------------------------------------------- */

/* SIGHUP. A request during a reload is carried out after it: the last state of the file counts. */
void plx_reload_request(struct plx_supervisor *supervisor);
/* The probe's answer about supervisor->candidate: PLAN or FAILED. Also at the first start. */
void plx_reload_probed(struct plx_supervisor *supervisor, const struct plx_report *report);
/* Begins a requested reload, and the first start when it is due; ends a new engine that gives no frame. */
void plx_reload_tick(struct plx_supervisor *supervisor);

/* --- supervisor.c: the loop --------------------------------------------------------------------------------------- */

/* Serves until SIGTERM, SIGINT, the end of the source, or a failure of the first start, which is logged. WAIT: the first start
 * waits for cameras, devices, permissions and memory. Returns the exit code (enum plx_exit). */
int plx_supervise(const struct plx_config_source *config_source, const struct plx_config *config, bool wait);

/* The supervisor uses supervisor->now_ns alone: another clock counts the time in which the supervisor did not run. */
#pragma GCC poison plx_now_ns

#endif
