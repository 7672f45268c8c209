/* SPDX-License-Identifier: Apache-2.0 */
/* The engine as a process: engine_process.c starts and ends it, engine_watch.c says which thread of it is late, whether it dies
 * when it is killed, and why it ended. */
#ifndef PLX_APP_SUPERVISOR_ENGINE_PROCESS_H
#define PLX_APP_SUPERVISOR_ENGINE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "app/engine/report.h"
#include "app/supervisor/child.h"
#include "app/supervisor/run_delay.h"
#include "core/base/heartbeat.h"

struct plx_supervisor;

struct plx_engine_process {
    struct plx_child child;
    struct plx_run_delay run_delay;    /* while it is late */
    struct plx_heartbeats *heartbeats; /* shared memory: its threads mark what they are doing */
    bool is_replaced;                  /* it was asked to end, and the next one starts at once */
    bool has_failed;                   /* the supervisor ends it because it hangs or gives no frame */
    int64_t kill_ns;                   /* when it is killed after it was asked to end; 0 = not asked */
    int64_t sigkill_ns;                /* when it got its first SIGKILL; 0 = none */
    struct plx_report last_report;     /* END or FAILED of an engine that is about to exit; kind 0 = none */
};

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

/* --- engine_watch.c ------------------------------------------------------------------------------------------------------- */

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

#endif
