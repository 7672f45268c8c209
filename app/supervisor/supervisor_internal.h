/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's parts: supervisor.c owns the loop and the end, worker.c the engine, death.c its end, probe.c what is tried
 * before, reload.c what is taken and taken back, start.c what cannot be had yet. */
#ifndef PLX_APP_SUPERVISOR_INTERNAL_H
#define PLX_APP_SUPERVISOR_INTERNAL_H

#include "app/engine/plan.h"
#include "app/engine/report.h"
#include "app/supervisor/blackbox.h"
#include "app/supervisor/child.h"
#include "app/supervisor/config_text.h"
#include "app/supervisor/gpu_fallback.h"
#include "app/supervisor/publisher.h"
#include "app/supervisor/recovery.h"
#include "app/supervisor/reload.h"
#include "app/supervisor/service_clock.h"
#include "app/supervisor/systemd.h"
#include "config/source.h"
#include "core/heartbeat.h"

#define PLX_KILL_BUDGET_NS (2 * PLX_NS_PER_S) /* from SIGKILL to a process's end */

enum plx_event { PLX_EVENT_SIGNAL, PLX_EVENT_CLIENTS, PLX_EVENT_ENGINE, PLX_EVENT_PROBE };

enum plx_probe_kind { PLX_PROBE_CONFIG, PLX_PROBE_GPU };

struct plx_supervisor {
    const struct plx_config_source *config_source;
    bool wait;            /* the first start waits for what is not to be had yet */
    struct plx_plan plan; /* in force: what every engine is started with; frame_bytes 0 = none yet */
    struct plx_config_text config_text;
    struct plx_reload reload;

    struct plx_publisher publisher; /* closed until the first probe has told the size */
    struct plx_recovery recovery;
    struct plx_gpu_fallback gpu_fallback;
    struct plx_notify notify;
    struct plx_blackbox blackbox;

    struct plx_child engine;
    struct plx_service_clock clock;
    int64_t now_ns; /* the service's time at this turn of the loop: all that is decided in a turn is decided by it */

    struct plx_heartbeats *heartbeats; /* shared with the engine, whose threads mark in it what they are doing */
    int64_t engine_kill_ns;            /* when an engine that was asked to stop is killed; 0 = it was not asked */
    bool engine_killed;                /* because it hangs */
    int64_t sigkill_ns;                /* when SIGKILL was sent to the engine first; 0 = it was not */
    struct plx_report last_report;     /* END or FAILED of the engine that is about to exit; kind 0 = none */

    struct plx_error_message degraded_reason; /* why frames are late or do not come, until the next one; "" = they do */
    struct plx_error_message fallback_reason; /* why the CPU works where a GPU might; "" = it does not, or was asked to */

    struct plx_child probe;
    enum plx_probe_kind probe_kind;
    struct plx_plan candidate; /* being tried */
    int64_t probe_kill_ns;
    bool probe_answered;

    int64_t status_ns;  /* when STATUS= was last told in full */
    uint32_t frames;    /* published since then */
    uint32_t obstacles; /* in the newest */

    int epoll_fd, signal_fd;
    bool stopping;
    int exit_code;
};

/* --- supervisor.c */

/* Lets the loop handle EVENT when FD is readable. NOMEM. */
int plx_supervisor_watch(struct plx_supervisor *supervisor, int fd, enum plx_event event);
void plx_supervisor_unwatch(struct plx_supervisor *supervisor, int fd);

/* Begins the end; the loop ends when the children are gone. The first reason counts. */
void plx_supervisor_stop(struct plx_supervisor *supervisor, int exit_code);
/* The same for a failure, which is logged. */
void plx_supervisor_fail(struct plx_supervisor *supervisor, int exit_code, const char *sentence);

/* Why the service is degraded, waits or has failed; "" when all is well. */
const char *plx_supervisor_reason(const struct plx_supervisor *supervisor);
/* Tells the clients how things stand, if they do not know yet. */
void plx_supervisor_publish_state(struct plx_supervisor *supervisor);

/* For a child, first of all: drops what it inherited and must not keep, or socket and pipes would outlive their owner. */
void plx_supervisor_close_in_child(struct plx_supervisor *supervisor);

/* --- worker.c */

/* Starts an engine; if that cannot be, the back-off counts it as one that died. */
void plx_engine_process_start(struct plx_supervisor *supervisor);
/* Kills the engine, for the reason SENTENCE; the next one starts after its back-off. */
void plx_engine_process_kill(struct plx_supervisor *supervisor, const char *sentence);
/* Lets the engine end itself; the next one starts at once, with the configuration that is then in force. */
void plx_engine_process_replace(struct plx_supervisor *supervisor);
void plx_engine_process_receive(struct plx_supervisor *supervisor);
/* The engine was reaped with STATUS. */
void plx_engine_process_reaped(struct plx_supervisor *supervisor, int status);
/* There is none any more, or none that anything could end. */
bool plx_engine_process_has_ended(const struct plx_supervisor *supervisor);
/* Kills what hangs or does not end; starts what is due. */
void plx_engine_process_tick(struct plx_supervisor *supervisor, int64_t now_ns);

/* Whether frames are to come from the GPU, so that others bear a flag. */
bool plx_engine_process_expects_gpu(const struct plx_supervisor *supervisor);

/* --- death.c: of an engine that ended unasked, with STATUS as of waitpid */

/* Why it is no more. */
struct plx_error_message plx_engine_exit_describe(const struct plx_supervisor *supervisor, int status);
/* An engine of the first start failed by what the next one would meet again. */
bool plx_engine_exit_is_permanent(const struct plx_supervisor *supervisor);
/* Says and keeps SENTENCE, until the next engine publishes. */
void plx_engine_exit_report(struct plx_supervisor *supervisor, int status, const struct plx_error_message *sentence);
/* Counts a loss of the GPU if that bears the blame. */
void plx_engine_exit_count_gpu_loss(struct plx_supervisor *supervisor, int status);

/* --- watch.c */

/* Judges what the engine's threads have marked, and says which is late; true if the engine must be killed. */
bool plx_engine_watch_progress(struct plx_supervisor *supervisor);
/* Sends SIGKILL to the engine. */
void plx_engine_watch_kill(struct plx_supervisor *supervisor);
/* Looks whether an engine that was killed is dead. One that is not is held by a driver in a call that nothing interrupts (state
 * D): nobody but the system can help then, so systemd's watchdog is no longer fed. */
void plx_engine_watch_kill_result(struct plx_supervisor *supervisor);

/* --- probe.c */

/* Tries supervisor->candidate, or the GPU, in a process of its own. */
void plx_probe_start(struct plx_supervisor *supervisor, enum plx_probe_kind what);
void plx_probe_receive(struct plx_supervisor *supervisor);
/* There is none any more, or none that anything could end. */
bool plx_probe_has_ended(const struct plx_supervisor *supervisor);
/* The probe's process was reaped with STATUS. */
void plx_probe_reaped(struct plx_supervisor *supervisor, int status);
/* Kills a probe that takes too long; tries the GPU when that is due. */
void plx_probe_tick(struct plx_supervisor *supervisor, int64_t now_ns);

/* --- start.c */

/* Something that an engine needs could not be opened or started: ends the service if it has never been ready, unless it is to
 * wait and REPORT, a FAILED, is of something transient; else it is tried again after the back-off. */
void plx_start_failed(struct plx_supervisor *supervisor, const struct plx_report *report);
/* Whether REPORT, a FAILED, is one that ends the service. */
bool plx_start_is_final(const struct plx_supervisor *supervisor, const struct plx_report *report);
/* An engine ended because of what it lacks, and the next one is on its way: systemd's watchdog shall not end that. */
void plx_start_keep_waiting(struct plx_supervisor *supervisor);
/* Tries the configuration again when that is due, up to the first success. */
void plx_start_tick(struct plx_supervisor *supervisor, int64_t now_ns);

/* The supervisor judges by supervisor->now_ns alone: another clock counts what the supervisor itself slept. */
#pragma GCC poison plx_now_ns

#endif
