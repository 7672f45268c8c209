/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor knows. Its parts build on each other, and none knows one further down this list: state, probe, reload,
 * engine_watch, engine_exit, engine_process, reload_request, supervisor (the loop).
 */
#ifndef PLX_APP_SUPERVISOR_STATE_H
#define PLX_APP_SUPERVISOR_STATE_H

#include <systemd/sd-event.h>

#include "app/engine/engine.h"
#include "app/engine/report.h"
#include "app/supervisor/blackbox.h"
#include "app/supervisor/child.h"
#include "app/supervisor/config_text.h"
#include "app/supervisor/gpu_fallback.h"
#include "app/supervisor/publisher.h"
#include "app/supervisor/recovery.h"
#include "app/supervisor/service_clock.h"
#include "app/supervisor/systemd.h"
#include "config/source.h"
#include "core/heartbeat.h"

#define PLX_KILL_BUDGET_NS (2 * PLX_NS_PER_S) /* from SIGKILL to a process's end */

enum plx_probe_kind { PLX_PROBE_CONFIG, PLX_PROBE_GPU };

/* A process that opens what a configuration names, or the GPU, and says whether that works. */
struct plx_probe {
    struct plx_child child;
    enum plx_probe_kind kind;
    int64_t kill_ns;          /* when it is killed for taking too long */
    struct plx_report answer; /* PLAN or FAILED; kind 0 = not yet, or taken */
    bool answered;
};

enum plx_reload_phase {
    PLX_RELOAD_NONE,
    PLX_RELOAD_PROBING,  /* a probe opens what the candidate names */
    PLX_RELOAD_STOPPING, /* it was taken: the old engine ends */
    PLX_RELOAD_STARTING, /* the new engine has yet to publish */
};

struct plx_reload {
    enum plx_reload_phase phase;
    bool requested;                   /* SIGHUP came; carried out when nothing else is being probed */
    bool must_publish;                /* frames came before: a new engine that only looks for cameras is no success */
    struct plx_plan before;           /* STOPPING, STARTING: to return to */
    struct plx_error_message refusal; /* why the file is not what is in force; "" = it is */
};

struct plx_supervisor {
    sd_event *event;
    int event_fd;   /* of the loop, for children to close */
    int64_t now_ns; /* the service's time at this turn of the loop: all that is decided in a turn is decided by it */
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
    struct plx_heartbeats *heartbeats; /* shared with the engine, whose threads mark in it what they are doing */
    bool engine_replaced;              /* it was asked to end, for the next one to start at once */
    bool engine_failed;                /* it is being ended because it hangs or gives no frame */
    int64_t engine_kill_ns;            /* when an engine that was asked to end is killed; 0 = it was not asked */
    int64_t sigkill_ns;                /* when SIGKILL was sent to the engine first; 0 = it was not */
    struct plx_report last_report;     /* END or FAILED of the engine that is about to exit; kind 0 = none */

    struct plx_error_message degraded_reason; /* why frames are late or do not come, until the next one; "" = they do */
    struct plx_error_message fallback_reason; /* why the CPU works where a GPU might; "" = it does not, or was asked to */

    int64_t status_ns;  /* when STATUS= was last told in full */
    uint32_t frames;    /* published since then */
    uint32_t obstacles; /* in the newest */

    bool stopping;
    bool children_stopped; /* stopping: they were told */
    int exit_code;
};

/* Why the service is degraded, waits or has failed; "" when all is well. */
const char *plx_supervisor_reason(const struct plx_supervisor *supervisor);
/* Tells the clients and the black box the state, if they do not know it yet. */
void plx_supervisor_publish_state(struct plx_supervisor *supervisor);

/* Begins the end; the loop stops the children and ends when they are gone. The first reason counts. */
void plx_supervisor_stop(struct plx_supervisor *supervisor, int exit_code);
/* The same for a failure, which is logged. */
void plx_supervisor_fail(struct plx_supervisor *supervisor, int exit_code, const char *sentence);

/* Something that an engine needs could not be opened or started: ends the service if it has never been ready, unless it is to
 * wait and REPORT, a FAILED, is of something transient; else it is tried again after the back-off. */
void plx_supervisor_start_failed(struct plx_supervisor *supervisor, const struct plx_report *report);
/* Whether REPORT, a FAILED, is one that ends the service. */
bool plx_supervisor_is_final(const struct plx_supervisor *supervisor, const struct plx_report *report);
/* An engine ended because of what it lacks, and the next one is on its way: systemd's watchdog shall not end that. */
void plx_supervisor_keep_waiting(struct plx_supervisor *supervisor);

/* For a child, first of all: drops what it inherited and must not keep, or sockets would outlive their owner. */
void plx_supervisor_close_in_child(struct plx_supervisor *supervisor);

/* The supervisor judges by supervisor->now_ns alone: another clock counts what the supervisor itself slept. */
#pragma GCC poison plx_now_ns

#endif
