/* SPDX-License-Identifier: Apache-2.0 */
/* The engine as a process: engine_process.c starts and ends it, and says how it ended; engine_watch.c says which thread of it
 * is late, and whether it dies when it is killed. What follows is decided elsewhere (engine_events.c). */
#ifndef PLX_APP_SUPERVISOR_ENGINE_PROCESS_H
#define PLX_APP_SUPERVISOR_ENGINE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "app/engine/engine.h"
#include "app/engine/report.h"
#include "app/supervisor/child.h"
#include "app/supervisor/recovery.h"
#include "app/supervisor/run_delay.h"
#include "app/supervisor/service_clock.h"
#include "core/checks/health_table.h"

struct plx_engine_process {
    struct plx_child child;
    struct plx_run_delay run_delay;    /* while it is late, and once it is killed */
    struct plx_heartbeats *heartbeats; /* shared memory: its threads mark what they are doing */
    bool is_replaced;                  /* it was asked to end, and the next one starts at once */
    bool has_failed;                   /* the supervisor ends it because it hangs or gives no frame */
    int64_t kill_ns;                   /* when it is killed after it was asked to end; 0 = not asked */
    int64_t sigkill_ns;                /* when it got its first SIGKILL, plus its waits for a processor since; 0 = none */
    struct plx_report last_report;     /* END or FAILED of an engine that is about to exit; kind 0 = none */
    uint32_t hints;                    /* sent to it since its newest frame */
    void (*on_report)(void *context, const struct plx_report *report); /* gets every report except END and FAILED */
    void *context;
};

/* No engine runs yet. ON_REPORT gets CONTEXT. NOMEM. */
int plx_engine_process_init(struct plx_engine_process *engine,
                            void (*on_report)(void *context, const struct plx_report *report), void *context);
void plx_engine_process_finish(struct plx_engine_process *engine);

/* What an engine is started with, see plx_engine_run. */
struct plx_engine_task {
    const struct plx_plan *plan;
    struct plx_shm *shm;
    bool gpu_expected;
    bool on_cpu; /* whatever the plan's backend */
};

/* Starts an engine; there must be none. NOMEM. */
int plx_engine_process_start(struct plx_engine_process *engine, const struct plx_parent *parent,
                             const struct plx_engine_task *task);
/* True if there is no engine, or SIGKILL does not end it. */
bool plx_engine_process_has_ended(const struct plx_engine_process *engine, const struct plx_recovery *recovery);
/* True if there is a process. */
bool plx_engine_process_is_running(const struct plx_engine_process *engine);
/* Sends COMMAND, if there is an engine. A plx_error: it did not get the command. */
int plx_engine_process_command(const struct plx_engine_process *engine, const struct plx_engine_command *command);
/* Sends a hint of a client. BUSY: there is no engine, or it has enough hints to do. */
int plx_engine_process_hint(struct plx_engine_process *engine, const struct plx_motion_hint *hint);

/* Asks the engine to end, if there is one. RECOVERY: the next one starts at once, with the plan that is then in force. */
void plx_engine_process_replace(struct plx_engine_process *engine, struct plx_recovery *recovery, int64_t now_ns);
/* Asks the engine to end: plx_engine_process_tick kills it if it does not. */
void plx_engine_process_ask_to_end(struct plx_engine_process *engine, int64_t now_ns);
/* Marks the engine as failed, for REASON, which is logged; the caller asks it to end, or kills it. */
void plx_engine_process_fail(struct plx_engine_process *engine, const char *reason);
/* Sends SIGKILL. */
void plx_engine_process_kill(struct plx_engine_process *engine, int64_t now_ns);
/* Kills an engine that was asked to end and takes too long. */
void plx_engine_process_tick(struct plx_engine_process *engine, int64_t now_ns);

/* How an engine ended. */
struct plx_engine_exit {
    bool is_planned;       /* it was replaced */
    bool has_source_ended; /* the source has no more pairs */
    bool lacks_resource;   /* the next one may lack it too, and waits for it */
    bool is_permanent;     /* it failed for a cause that the next engine would meet too */
    struct plx_engine_end end;
    struct plx_error_message sentence;
};

/* The engine was reaped with STATUS. Passes on its last reports first. RECOVERY: of this engine. */
struct plx_engine_exit plx_engine_process_reaped(struct plx_engine_process *engine, const struct plx_recovery *recovery,
                                                 int status);

/* --- engine_watch.c ------------------------------------------------------------------------------------------------------- */

/* Compares the engine's heartbeats with the health table and logs what is late; *REASON says so too if that is new. True if the
 * engine must be killed. */
bool plx_engine_watch_progress(struct plx_engine_process *engine, struct plx_recovery *recovery,
                               const struct plx_service_clock *clock, int64_t now_ns, struct plx_error_message *reason);
/* Checks that an engine that was killed is dead. A driver can hold it in a call that nothing interrupts (state D). Only the
 * system can help then: RECOVERY and *REASON say so, and systemd's watchdog is no longer fed. */
void plx_engine_watch_kill_result(struct plx_engine_process *engine, struct plx_recovery *recovery, int64_t now_ns,
                                  struct plx_error_message *reason);

#endif
