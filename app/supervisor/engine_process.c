/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

#include <parallax/error.h>

#include "app/corrections/history.h"
#include "app/engine/engine.h"
#include "app/engine/setup.h"
#include "app/exit.h"
#include "app/log.h"

#define STOP_BUDGET_NS PLX_NS_PER_S /* for the engine's orderly end; then it is killed */

static int engine_main(void *argument, int report_fd)
{
    struct plx_supervisor *supervisor = argument;
    const bool expected = plx_engine_expects_gpu(supervisor);

    plx_supervisor_close_in_child(supervisor);
    if (supervisor->gpu.fallback.active)
        supervisor->plan.config.backend = PLX_BACKEND_CPU; /* in this process only */
    return plx_engine_run(&supervisor->plan, expected, supervisor->publisher.shm, supervisor->engine.heartbeats, report_fd);
}

static int handle_clients(sd_event_source *source, int fd, uint32_t events, void *argument)
{
    struct plx_supervisor *supervisor = argument;

    (void)source;
    (void)fd;
    (void)events;
    plx_clients_handle(supervisor->publisher.clients);
    return 0;
}

/* Opens memory and socket before the first engine. */
static int open_publisher(struct plx_supervisor *supervisor, struct plx_error_message *message)
{
    struct plx_publisher *publisher = &supervisor->publisher;

    if (publisher->shm)
        return 0;
    int result = plx_publisher_open(publisher, &supervisor->plan.config, supervisor->plan.frame_bytes, message);
    if (result < 0)
        return result;
    if (sd_event_add_io(supervisor->event, &supervisor->clients, plx_clients_fd(publisher->clients), EPOLLIN, handle_clients,
                        supervisor) < 0) {
        plx_publisher_close(publisher);
        return plx_fail(message, PLX_ERR_NOMEM, "cannot watch the socket: out of memory or descriptors");
    }
    plx_corrections_remove_stand_in(supervisor->plan.config.publish.socket); /* of a service that ran here before */
    return 0;
}

/* An engine cannot be started. */
static void cannot_start(struct plx_supervisor *supervisor, int error, const struct plx_error_message *message)
{
    const struct plx_report report = plx_setup_failure(&supervisor->plan.config, false, error, message);

    if (!plx_reload_roll_back(supervisor, message->text))
        plx_supervisor_start_failed(supervisor, &report);
}

static void handle_frame(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    const int64_t now = supervisor->now_ns;
    struct plx_recovery *recovery = &supervisor->recovery;
    const bool was_active = supervisor->gpu.fallback.active;

    plx_recovery_frame(recovery, now, report->health, report->period_ns, report->busy_ns);
    plx_gpu_fallback_frame(&supervisor->gpu.fallback, now, report->on_gpu, now - recovery->started_ns >= PLX_STABLE_NS);
    if (supervisor->gpu.fallback.active && !was_active)
        plx_log(LOG_ERR, "the GPU that worked before is gone; the CPU replaces it");
    supervisor->told.frames++;
    supervisor->told.hints = 0;
    supervisor->told.obstacles = report->obstacles;
    supervisor->told.blind = report->blind;
    supervisor->told.fresh_until_ns = report->fresh_until_ns;
    supervisor->degraded_reason = (struct plx_error_message){""};
    plx_reload_confirm(supervisor, false);
    plx_supervisor_publish_state(supervisor);
    plx_clients_notify(supervisor->publisher.clients, report->sequence);
    plx_blackbox_frame(&supervisor->blackbox, supervisor->publisher.shm, report->sequence); /* after the clients */
    plx_blackbox_log_note(&supervisor->blackbox);
    plx_notify_ready(&supervisor->notify);
    plx_notify_alive(&supervisor->notify);
}

/* A recording has a gap, and replay keeps the recorded times. */
static void wait_for_pair(struct plx_supervisor *supervisor, int64_t left_ns)
{
    if (left_ns <= 0)
        return;
    plx_recovery_scheduled(&supervisor->recovery, supervisor->now_ns, supervisor->now_ns + left_ns);
    if (left_ns < PLX_NS_PER_S)
        return;
    if (supervisor->degraded_reason.text[0] == '\0')
        plx_log(LOG_NOTICE, "the recording has no pair for the next %.0f s; waiting", (double)left_ns / PLX_NS_PER_S);
    plx_say(&supervisor->degraded_reason, "waiting for the recording's next pair in %.0f s", (double)left_ns / PLX_NS_PER_S);
}

static int receive(sd_event_source *source, int fd, uint32_t events, void *argument)
{
    struct plx_supervisor *supervisor = argument;
    struct plx_report report;

    (void)source;
    (void)events;
    while (plx_report_receive(fd, &report)) {
        switch ((enum plx_report_kind)report.kind) {
        case PLX_REPORT_NOTE:
            if (!supervisor->gpu.fallback.active) /* a lost GPU is more important than a note of the engine */
                supervisor->gpu.reason = report.message;
            break;
        case PLX_REPORT_WAITING:
            if (report.away && !(supervisor->recovery.late && supervisor->recovery.suspect == PLX_THREAD_CAMERAS))
                plx_say(&supervisor->degraded_reason, "camera lost, looking for it: %s", report.message.text);
            plx_recovery_waiting(&supervisor->recovery, supervisor->now_ns, report.health, report.away);
            if (!report.away)
                wait_for_pair(supervisor, report.due_in_ns);
            plx_supervisor_publish_state(supervisor);
            if (report.away) { /* everything but the camera works */
                plx_reload_confirm(supervisor, true);
                plx_notify_ready(&supervisor->notify);
            }
            break;
        case PLX_REPORT_FRAME:
            handle_frame(supervisor, &report);
            break;
        case PLX_REPORT_END:
        case PLX_REPORT_FAILED:
            supervisor->engine.last_report = report;
            break;
        case PLX_REPORT_LOG:
            plx_blackbox_log(&supervisor->blackbox, report.error, report.message.text);
            break;
        case PLX_REPORT_PLAN:
            break;
        }
    }
    return 0;
}

void plx_engine_process_reaped(struct plx_supervisor *supervisor, int status)
{
    const bool planned = supervisor->engine.is_replaced;

    receive(supervisor->engine.child.reports, supervisor->engine.child.report_fd, 0, supervisor);
    plx_child_finish(&supervisor->engine.child);
    supervisor->engine.kill_ns = 0;
    supervisor->engine.sigkill_ns = 0;
    const struct plx_error_message sentence = plx_engine_exit_describe(supervisor, status);
    const bool ended = supervisor->engine.last_report.kind == PLX_REPORT_END && supervisor->reload.phase != PLX_RELOAD_STOPPING;
    const bool rolled_back =
        !planned && !ended &&
        plx_reload_roll_back(supervisor, supervisor->engine.has_failed ? supervisor->degraded_reason.text : sentence.text);
    plx_recovery_died(&supervisor->recovery, supervisor->now_ns, planned || rolled_back);
    plx_shm_set_restarts(supervisor->publisher.shm, (uint32_t)supervisor->recovery.deaths);
    if (ended) {
        plx_supervisor_stop(supervisor, PLX_EXIT_OK);
    } else if (!planned && plx_engine_exit_is_permanent(supervisor)) {
        plx_supervisor_fail(supervisor, supervisor->engine.last_report.exit_code, supervisor->engine.last_report.message.text);
    } else if (!planned && !rolled_back) {
        plx_engine_exit_report(supervisor, status, &sentence);
        plx_engine_exit_count_gpu_loss(supervisor, status);
    }
    plx_supervisor_publish_state(supervisor);
}

/* Asks the engine to end; the tick kills it if it does not. */
static void ask_to_end(struct plx_supervisor *supervisor)
{
    plx_child_signal(&supervisor->engine.child, SIGTERM);
    supervisor->engine.kill_ns = supervisor->now_ns + STOP_BUDGET_NS;
}

void plx_engine_process_replace(struct plx_supervisor *supervisor)
{
    supervisor->recovery.start_ns = supervisor->now_ns;
    if (supervisor->engine.child.pid > 0) {
        supervisor->engine.is_replaced = true;
        ask_to_end(supervisor);
    }
}

/* The engine has failed for REASON. */
static void fail(struct plx_supervisor *supervisor, const char *reason)
{
    supervisor->engine.has_failed = true;
    plx_say(&supervisor->degraded_reason, "%s", reason);
    plx_log(LOG_WARNING, "%s; ending the engine", reason);
    plx_blackbox_save(&supervisor->blackbox, "engine-killed");
}

/* SIGTERM first: an engine that ends in order restores the cameras' controls. */
void plx_engine_process_give_up(struct plx_supervisor *supervisor, const char *reason)
{
    fail(supervisor, reason);
    ask_to_end(supervisor);
}

bool plx_engine_process_has_ended(const struct plx_supervisor *supervisor)
{
    return supervisor->engine.child.pid == 0 || supervisor->recovery.unkillable;
}

static void start_engine(struct plx_supervisor *supervisor)
{
    struct plx_error_message message;

    int result = open_publisher(supervisor, &message);
    if (result < 0) {
        cannot_start(supervisor, result, &message);
        return;
    }
    supervisor->engine.last_report.kind = 0;
    supervisor->engine.has_failed = supervisor->engine.is_replaced = false;
    supervisor->engine.kill_ns = 0;
    supervisor->engine.sigkill_ns = 0;
    supervisor->told.hints = 0;
    if (!supervisor->gpu.fallback.active)
        supervisor->gpu.reason = (struct plx_error_message){""};
    memset(supervisor->engine.heartbeats, 0, sizeof *supervisor->engine.heartbeats);
    result = plx_child_start(&supervisor->engine.child, "parallax-engine", engine_main, supervisor);
    if (result == 0)
        result = plx_child_watch(&supervisor->engine.child, supervisor->event, receive, supervisor);
    if (result < 0) {
        plx_fail(&message, result, "cannot start the engine: the system is out of processes, memory or descriptors");
        cannot_start(supervisor, result, &message);
        return;
    }
    plx_recovery_started(&supervisor->recovery, supervisor->now_ns);
    plx_reload_started(supervisor);
}

void plx_engine_process_tick(struct plx_supervisor *supervisor)
{
    const int64_t now_ns = supervisor->now_ns;
    const struct plx_recovery *recovery = &supervisor->recovery;

    if (supervisor->engine.kill_ns != 0 && now_ns > supervisor->engine.kill_ns)
        plx_engine_watch_kill(supervisor);
    plx_engine_watch_kill_result(supervisor);
    if (supervisor->stopping || supervisor->plan.frame_bytes == 0)
        return;
    if (plx_engine_watch_progress(supervisor) && supervisor->engine.kill_ns == 0 && !supervisor->engine.has_failed) {
        const struct plx_activity *activity = plx_recovery_activity(recovery);
        struct plx_error_message message;
        plx_say(&message, "the engine gives no frames (%s since %.1f s)", plx_budget_name(activity->doing),
                (double)(now_ns - activity->since_ns) / PLX_NS_PER_S);
        fail(supervisor, message.text);
        plx_engine_watch_kill(supervisor);
    }
    plx_supervisor_publish_state(supervisor);
    if (plx_recovery_wants_engine(recovery, now_ns))
        start_engine(supervisor);
}
