/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/engine_watch.h"

#include <signal.h>

#include "app/log.h"
#include "app/supervisor/state.h"
#include "core/heartbeat.h"

bool plx_engine_watch_progress(struct plx_supervisor *supervisor)
{
    struct plx_recovery *recovery = &supervisor->recovery;
    const int was_late = recovery->late ? plx_recovery_activity(recovery)->doing : -1;

    for (enum plx_thread thread = 0; thread < PLX_THREAD_COUNT; thread++) {
        int64_t since_ns;
        const int doing = plx_heartbeat_read(&supervisor->heartbeats->thread[thread], &since_ns);
        plx_recovery_progress(recovery, thread, doing, plx_service_clock_at(&supervisor->clock, since_ns));
    }
    const bool hangs = plx_recovery_tick(recovery, supervisor->now_ns);
    const struct plx_activity *activity = plx_recovery_activity(recovery);
    if (recovery->late && activity->doing != was_late) {
        plx_fail(&supervisor->degraded_reason, 0, "%s takes longer than it may", plx_budget_name(activity->doing));
        plx_log(LOG_WARNING, "%s has taken %.2f s and is not done", plx_budget_name(activity->doing),
                (double)(supervisor->now_ns - activity->since_ns) / PLX_NS_PER_S);
    }
    return hangs;
}

void plx_engine_watch_kill(struct plx_supervisor *supervisor)
{
    if (supervisor->sigkill_ns == 0)
        supervisor->sigkill_ns = supervisor->now_ns;
    plx_child_signal(&supervisor->engine, SIGKILL);
}

void plx_engine_watch_kill_result(struct plx_supervisor *supervisor)
{
    struct plx_recovery *recovery = &supervisor->recovery;

    if (supervisor->engine.pid == 0 || supervisor->sigkill_ns == 0 || recovery->unkillable ||
        supervisor->now_ns - supervisor->sigkill_ns < PLX_KILL_BUDGET_NS)
        return;
    plx_recovery_unkillable(recovery);
    plx_fail(&supervisor->degraded_reason, 0, "the engine (pid %d) was killed and does not die: a driver holds it",
             (int)supervisor->engine.pid);
    plx_log(LOG_CRIT, "%s; unplug the camera, or restart the machine (service.md says how systemd can)",
            supervisor->degraded_reason.text);
}
