/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's life: its start, what it reports, its hang, its end. */
#include <signal.h>
#include <string.h>

#include <parallax/error.h>

#include "app/budget.h"
#include "app/engine/engine.h"
#include "app/engine/setup.h"
#include "app/exit.h"
#include "app/log.h"
#include "app/supervisor/supervisor_internal.h"

#define STOP_BUDGET_NS PLX_NS_PER_S /* for the engine's orderly end; then it is killed */

bool plx_worker_expects_gpu(const struct plx_supervisor *supervisor)
{
    const enum plx_backend_kind backend = supervisor->plan.config.backend;
    return backend == PLX_BACKEND_GPU || (backend == PLX_BACKEND_AUTO && supervisor->ladder.worked);
}

static int engine_main(void *argument, int report_fd)
{
    struct plx_supervisor *supervisor = argument;
    const bool expected = plx_worker_expects_gpu(supervisor);

    plx_supervisor_leave(supervisor);
    if (supervisor->ladder.fallen)
        supervisor->plan.config.backend = PLX_BACKEND_CPU; /* in this process alone */
    return plx_engine_run(&supervisor->plan, expected, supervisor->publisher.region, supervisor->heartbeats, report_fd);
}

/* Region and socket, before the first engine. */
static int open_publisher(struct plx_supervisor *supervisor, struct plx_error_message *message)
{
    struct plx_publisher *publisher = &supervisor->publisher;

    if (publisher->region)
        return 0;
    int result = plx_publisher_open(publisher, &supervisor->plan.config, supervisor->plan.frame_bytes, message);
    if (result < 0)
        return result;
    if (plx_supervisor_watch(supervisor, plx_clients_fd(publisher->clients), PLX_EVENT_CLIENTS) < 0) {
        plx_publisher_close(publisher);
        return plx_fail(message, PLX_ERR_NOMEM, "cannot watch the socket: out of memory or descriptors");
    }
    return 0;
}

/* An engine cannot be started, for ERROR and MESSAGE. */
static void cannot_start(struct plx_supervisor *supervisor, int error, const struct plx_error_message *message)
{
    const struct plx_report report = {
        .kind = PLX_REPORT_FAILED,
        .error = error,
        .exit_code = plx_exit_code(error),
        .transient = plx_setup_is_transient(&supervisor->plan.config, false, error),
        .message = *message,
    };

    if (!plx_reload_ended(supervisor, message->text))
        plx_start_failed(supervisor, &report);
}

void plx_worker_start(struct plx_supervisor *supervisor)
{
    struct plx_error_message message;

    int result = open_publisher(supervisor, &message);
    if (result < 0) {
        cannot_start(supervisor, result, &message);
        return;
    }
    supervisor->last_words.kind = 0;
    supervisor->engine_killed = false;
    supervisor->sigkill_ns = 0;
    if (!supervisor->ladder.fallen)
        supervisor->handicap = (struct plx_error_message){""};
    memset(supervisor->heartbeats, 0, sizeof *supervisor->heartbeats);
    result = plx_child_start(&supervisor->engine, "parallax-engine", engine_main, supervisor);
    if (result < 0) {
        plx_fail(&message, result, "cannot start the engine: the system is out of processes, memory or descriptors");
        cannot_start(supervisor, result, &message);
        return;
    }
    plx_recovery_started(&supervisor->recovery, supervisor->now_ns);
    plx_reload_started(supervisor);
    if (plx_supervisor_watch(supervisor, supervisor->engine.report_fd, PLX_EVENT_ENGINE) < 0) {
        plx_log(LOG_ERR, "cannot listen to the engine: the system is out of memory");
        plx_child_signal(&supervisor->engine, SIGKILL); /* and once more, after its end */
    }
}

void plx_worker_kill(struct plx_supervisor *supervisor, const char *sentence)
{
    supervisor->engine_killed = true;
    plx_fail(&supervisor->trouble, 0, "%s", sentence);
    plx_log(LOG_WARNING, "%s; killing it", sentence);
    plx_blackbox_save(&supervisor->blackbox, "engine-killed");
    plx_watch_kill(supervisor);
}

void plx_worker_replace(struct plx_supervisor *supervisor)
{
    supervisor->recovery.start_ns = supervisor->now_ns;
    if (supervisor->engine.pid > 0) {
        plx_child_signal(&supervisor->engine, SIGTERM);
        supervisor->engine_kill_ns = supervisor->recovery.start_ns + STOP_BUDGET_NS;
    }
}

static void frame_came(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    const int64_t now = supervisor->now_ns;
    struct plx_recovery *recovery = &supervisor->recovery;
    const bool had_fallen = supervisor->ladder.fallen;

    plx_recovery_frame(recovery, now, report->health, report->period_ns, report->busy_ns);
    plx_ladder_frame(&supervisor->ladder, now, report->on_gpu, now - recovery->born_ns >= PLX_STABLE_NS);
    if (supervisor->ladder.fallen && !had_fallen)
        plx_log(LOG_ERR, "the GPU that worked before is gone; the CPU works");
    supervisor->frames++;
    supervisor->obstacles = report->obstacles;
    supervisor->trouble = (struct plx_error_message){""};
    plx_reload_works(supervisor, false);
    plx_supervisor_tell_state(supervisor);
    plx_clients_notify(supervisor->publisher.clients, report->sequence);
    plx_blackbox_frame(&supervisor->blackbox, supervisor->publisher.region, report->sequence); /* after the clients */
    plx_blackbox_tell_note(&supervisor->blackbox);
    plx_notify_ready(&supervisor->notify);
    plx_notify_alive(&supervisor->notify);
}

/* A recording has a gap, and the replay keeps its pace. */
static void await_pair(struct plx_supervisor *supervisor, int64_t left_ns)
{
    if (left_ns <= 0)
        return;
    plx_recovery_scheduled(&supervisor->recovery, supervisor->now_ns, supervisor->now_ns + left_ns);
    if (left_ns < PLX_NS_PER_S)
        return;
    if (supervisor->trouble.text[0] == '\0')
        plx_log(LOG_NOTICE, "the recording has no pair for the next %.0f s; waiting", (double)left_ns / PLX_NS_PER_S);
    plx_fail(&supervisor->trouble, 0, "waiting for the recording's next pair in %.0f s", (double)left_ns / PLX_NS_PER_S);
}

void plx_worker_receive(struct plx_supervisor *supervisor)
{
    struct plx_report report;

    while (plx_report_receive(supervisor->engine.report_fd, &report)) {
        switch ((enum plx_report_kind)report.kind) {
        case PLX_REPORT_NOTE:
            if (!supervisor->ladder.fallen) /* a lost GPU weighs more than what an engine notes */
                supervisor->handicap = report.message;
            break;
        case PLX_REPORT_WAITING:
            if (report.away && !(supervisor->recovery.late && supervisor->recovery.suspect == PLX_THREAD_CAMERAS))
                plx_fail(&supervisor->trouble, 0, "camera lost, looking for it: %s", report.message.text);
            plx_recovery_waiting(&supervisor->recovery, supervisor->now_ns, report.health, report.away);
            if (!report.away)
                await_pair(supervisor, report.due_in_ns);
            plx_supervisor_tell_state(supervisor);
            if (report.away) { /* all that can be had without the camera works */
                plx_reload_works(supervisor, true);
                plx_notify_ready(&supervisor->notify);
            }
            break;
        case PLX_REPORT_FRAME:
            frame_came(supervisor, &report);
            break;
        case PLX_REPORT_END:
        case PLX_REPORT_FAILED:
            supervisor->last_words = report;
            break;
        case PLX_REPORT_LOG:
            plx_blackbox_log(&supervisor->blackbox, report.error, report.message.text);
            break;
        case PLX_REPORT_PLAN:
            break;
        }
    }
}

void plx_worker_gone(struct plx_supervisor *supervisor, int status)
{
    const bool planned = supervisor->engine_kill_ns != 0;

    plx_supervisor_unwatch(supervisor, supervisor->engine.report_fd);
    plx_worker_receive(supervisor);
    plx_child_finish(&supervisor->engine);
    supervisor->engine_kill_ns = 0;
    supervisor->sigkill_ns = 0;
    const struct plx_error_message sentence = plx_death_describe(supervisor, status);
    const bool ended = supervisor->last_words.kind == PLX_REPORT_END && supervisor->reload.phase != PLX_RELOAD_STOPPING;
    const bool taken_back = !planned && !ended &&
                            plx_reload_ended(supervisor, supervisor->engine_killed ? supervisor->trouble.text : sentence.text);
    plx_recovery_died(&supervisor->recovery, supervisor->now_ns, planned || taken_back);
    plx_region_set_restarts(supervisor->publisher.region, (uint32_t)supervisor->recovery.deaths);
    if (ended) {
        plx_supervisor_stop(supervisor, PLX_EXIT_OK);
    } else if (!planned && plx_death_is_permanent(supervisor)) {
        plx_supervisor_fail(supervisor, supervisor->last_words.exit_code, supervisor->last_words.message.text);
    } else if (!planned && !taken_back) {
        plx_death_meet(supervisor, status, &sentence);
        plx_death_count_loss(supervisor, status);
    }
    plx_supervisor_tell_state(supervisor);
}

bool plx_worker_is_over(const struct plx_supervisor *supervisor)
{
    return supervisor->engine.pid == 0 || supervisor->recovery.undead;
}

void plx_worker_tick(struct plx_supervisor *supervisor, int64_t now_ns)
{
    const struct plx_recovery *recovery = &supervisor->recovery;

    if (supervisor->engine_kill_ns != 0 && now_ns > supervisor->engine_kill_ns)
        plx_watch_kill(supervisor);
    plx_watch_death(supervisor);
    if (supervisor->stopping || supervisor->plan.frame_bytes == 0)
        return;
    if (plx_watch_progress(supervisor) && supervisor->engine_kill_ns == 0 && !supervisor->engine_killed) {
        const struct plx_activity *activity = plx_recovery_activity(recovery);
        struct plx_error_message message;
        plx_fail(&message, 0, "the engine gives no frames (%s since %.1f s)", plx_budget_name(activity->doing),
                 (double)(now_ns - activity->since_ns) / PLX_NS_PER_S);
        plx_worker_kill(supervisor, message.text);
    }
    plx_supervisor_tell_state(supervisor);
    if (plx_recovery_wants_engine(recovery, now_ns))
        plx_worker_start(supervisor);
}
