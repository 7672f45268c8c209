/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor sees of an engine: which thread is late, and whether it dies when it is killed. */
#include "app/log.h"
#include "app/supervisor/engine_process.h"

#pragma GCC poison plx_now_ns /* the caller gives service time */

/* Updates RECOVERY with what the engine's threads are doing. */
static void read_heartbeats(struct plx_engine_process *engine, struct plx_recovery *recovery,
                            const struct plx_service_clock *clock)
{
    if (recovery->late && engine->child.pid != 0 && engine->sigkill_ns == 0)
        plx_recovery_delayed(recovery, plx_run_delay_ns(&engine->run_delay, engine->child.pid));
    else if (engine->sigkill_ns == 0)
        engine->run_delay.count = 0;

    for (enum plx_thread thread = 0; thread < PLX_THREAD_COUNT; thread++) {
        int64_t since_ns;
        const int doing = plx_heartbeat_read(&engine->heartbeats->thread[thread], &since_ns);
        plx_recovery_progress(recovery, thread, doing, plx_service_clock_at(clock, since_ns));
    }
}

bool plx_engine_watch_progress(struct plx_engine_process *engine, struct plx_recovery *recovery,
                               const struct plx_service_clock *clock, int64_t now_ns, struct plx_error_message *reason)
{
    const int was_late = recovery->late ? plx_recovery_activity(recovery)->doing : -1;
    const bool was_held_up = recovery->held_up;

    read_heartbeats(engine, recovery, clock);
    const bool hangs = plx_recovery_tick(recovery, now_ns);
    const struct plx_activity *activity = plx_recovery_activity(recovery);
    if (recovery->late && activity->doing != was_late) {
        plx_say(reason, "%s takes longer than its budget", plx_budget_name(activity->doing));
        plx_log(LOG_WARNING, "%s has taken %.2f s and is not done", plx_budget_name(activity->doing),
                (double)(now_ns - activity->since_ns) / PLX_NS_PER_S);
    }
    if (recovery->held_up && !was_held_up) {
        plx_say(reason, "other programs keep the processors busy: %s waits for one", plx_budget_name(activity->doing));
        plx_log(LOG_WARNING, "%s has waited %.2f s for a processor: other programs keep them busy; a new engine would wait too",
                plx_budget_name(activity->doing), (double)recovery->run_delay_ns / PLX_NS_PER_S);
    }
    return hangs;
}

void plx_engine_watch_kill_result(struct plx_engine_process *engine, struct plx_recovery *recovery, int64_t now_ns,
                                  struct plx_error_message *reason)
{
    if (engine->child.pid == 0 || engine->sigkill_ns == 0 || recovery->unkillable)
        return;
    engine->sigkill_ns += plx_run_delay_ns(&engine->run_delay, engine->child.pid); /* without a processor it cannot end */
    if (now_ns - engine->sigkill_ns < PLX_KILL_BUDGET_NS)
        return;
    plx_recovery_unkillable(recovery);
    plx_say(reason, "the engine (pid %d) does not die of SIGKILL: a driver holds it", (int)engine->child.pid);
    plx_log(LOG_CRIT, "%s; unplug the camera, or restart the machine (service.md says how systemd can)", reason->text);
}
