/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor sees of an engine: which thread is late, whether it dies when it is killed, why it ended. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <parallax/error.h>

#include "app/log.h"
#include "app/supervisor/supervisor.h"

bool plx_engine_watch_progress(struct plx_supervisor *supervisor)
{
    struct plx_recovery *recovery = &supervisor->recovery;
    const int was_late = recovery->late ? plx_recovery_activity(recovery)->doing : -1;
    const bool was_held_up = recovery->held_up;

    if (recovery->late && supervisor->engine.child.pid != 0)
        plx_recovery_delayed(recovery, plx_run_delay_ns(&supervisor->engine.run_delay, supervisor->engine.child.pid));
    else
        supervisor->engine.run_delay.count = 0;

    for (enum plx_thread thread = 0; thread < PLX_THREAD_COUNT; thread++) {
        int64_t since_ns;
        const int doing = plx_heartbeat_read(&supervisor->engine.heartbeats->thread[thread], &since_ns);
        plx_recovery_progress(recovery, thread, doing, plx_service_clock_at(&supervisor->clock, since_ns));
    }
    const bool hangs = plx_recovery_tick(recovery, supervisor->now_ns);
    const struct plx_activity *activity = plx_recovery_activity(recovery);
    if (recovery->late && activity->doing != was_late) {
        plx_say(&supervisor->degraded_reason, "%s takes longer than its budget", plx_budget_name(activity->doing));
        plx_log(LOG_WARNING, "%s has taken %.2f s and is not done", plx_budget_name(activity->doing),
                (double)(supervisor->now_ns - activity->since_ns) / PLX_NS_PER_S);
    }
    if (recovery->held_up && !was_held_up) {
        plx_say(&supervisor->degraded_reason, "other programs keep the processors busy: %s waits for one",
                plx_budget_name(activity->doing));
        plx_log(LOG_WARNING, "%s has waited %.2f s for a processor: other programs keep them busy; a new engine would wait too",
                plx_budget_name(activity->doing), (double)recovery->run_delay_ns / PLX_NS_PER_S);
    }
    return hangs;
}

void plx_engine_watch_kill(struct plx_supervisor *supervisor)
{
    if (supervisor->engine.sigkill_ns == 0)
        supervisor->engine.sigkill_ns = supervisor->now_ns;
    plx_child_signal(&supervisor->engine.child, SIGKILL);
}

void plx_engine_watch_kill_result(struct plx_supervisor *supervisor)
{
    struct plx_recovery *recovery = &supervisor->recovery;

    if (supervisor->engine.child.pid == 0 || supervisor->engine.sigkill_ns == 0 || recovery->unkillable ||
        supervisor->now_ns - supervisor->engine.sigkill_ns < PLX_KILL_BUDGET_NS)
        return;
    plx_recovery_unkillable(recovery);
    plx_say(&supervisor->degraded_reason, "the engine (pid %d) does not die of SIGKILL: a driver holds it",
            (int)supervisor->engine.child.pid);
    plx_log(LOG_CRIT, "%s; unplug the camera, or restart the machine (service.md says how systemd can)",
            supervisor->degraded_reason.text);
}

/* --- its end ------------------------------------------------------------------------------------------------------ */

/* Seconds until the next engine starts. */
static double pause_s(const struct plx_supervisor *supervisor)
{
    return (double)(supervisor->recovery.start_ns - supervisor->now_ns) / PLX_NS_PER_S;
}

bool plx_engine_expects_gpu(const struct plx_supervisor *supervisor)
{
    const enum plx_backend_kind backend = supervisor->plan.config.backend;
    return backend == PLX_BACKEND_GPU || (backend == PLX_BACKEND_AUTO && supervisor->gpu.fallback.worked);
}

bool plx_engine_exit_is_permanent(const struct plx_supervisor *supervisor)
{
    const struct plx_report *report = &supervisor->engine.last_report;
    const int error = report->error;

    return report->kind == PLX_REPORT_FAILED && !report->gpu_lost && plx_supervisor_is_final(supervisor, report) &&
           (error == PLX_ERR_FORMAT || error == PLX_ERR_RANGE || error == PLX_ERR_NOT_FOUND || error == PLX_ERR_UNSUPPORTED ||
            error == PLX_ERR_PERMISSION);
}

struct plx_error_message plx_engine_exit_describe(const struct plx_supervisor *supervisor, int status)
{
    struct plx_error_message sentence;

    if (supervisor->engine.last_report.kind == PLX_REPORT_FAILED)
        plx_say(&sentence, "engine failed: %s", supervisor->engine.last_report.message.text);
    else if (WIFSIGNALED(status))
        plx_say(&sentence, "engine died of signal %d (%s%s)", WTERMSIG(status), strsignal(WTERMSIG(status)),
                WTERMSIG(status) == SIGKILL && !supervisor->engine.has_failed
                    ? ": sent from outside, or because memory is exhausted"
                    : "");
    else
        plx_say(&sentence, "engine ended with status %d", WEXITSTATUS(status));
    return sentence;
}

void plx_engine_exit_report(struct plx_supervisor *supervisor, int status, const struct plx_error_message *sentence)
{
    const struct plx_report *report = &supervisor->engine.last_report;
    const bool killed_outside = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !supervisor->engine.has_failed;

    plx_log(LOG_WARNING, "%s; restarting in %.1f s%s", sentence->text, pause_s(supervisor),
            supervisor->plan.config.source.type == PLX_SOURCE_REPLAY ? ", and the recording starts again at its first pair"
                                                                     : "");
    plx_blackbox_save(&supervisor->blackbox, "engine-died");
    if (!supervisor->engine.has_failed) /* else the reason of the kill says more */
        supervisor->degraded_reason = *sentence;
    if (killed_outside || (report->kind == PLX_REPORT_FAILED && !report->gpu_lost))
        plx_supervisor_keep_waiting(supervisor);
}

void plx_engine_exit_count_gpu_loss(struct plx_supervisor *supervisor, int status)
{
    const struct plx_report *report = &supervisor->engine.last_report;
    struct plx_gpu_fallback *gpu_fallback = &supervisor->gpu.fallback;
    int64_t since_ns;
    const struct plx_engine_end end = {
        .failed = report->kind == PLX_REPORT_FAILED,
        .gpu_lost = report->gpu_lost,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .hung = supervisor->engine.has_failed,
        .doing = supervisor->engine.has_failed
                     ? plx_recovery_activity(&supervisor->recovery)->doing
                     : plx_heartbeat_read(&supervisor->engine.heartbeats->thread[PLX_THREAD_WORK], &since_ns),
    };

    if (gpu_fallback->active || !plx_engine_expects_gpu(supervisor) || !plx_gpu_fallback_is_loss(&end))
        return;
    plx_gpu_fallback_lost(gpu_fallback, supervisor->now_ns);
    if (!gpu_fallback->active)
        return;
    plx_log(LOG_ERR, "the GPU was lost %d times; the CPU replaces it, and the GPU is probed in %d s", gpu_fallback->losses,
            (int)(gpu_fallback->pause_ns / PLX_NS_PER_S));
    plx_say(&supervisor->gpu.reason, "the GPU was lost %d times, and the CPU replaces it: %s", gpu_fallback->losses,
            supervisor->degraded_reason.text);
}
