/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include "app/corrections/history.h"
#include "app/engine/setup.h"
#include "app/exit.h"
#include "app/log.h"

/* --- its reports -------------------------------------------------------------------------------------------------- */

static void take_frame(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    const int64_t now = supervisor->now_ns;
    struct plx_recovery *recovery = &supervisor->recovery;

    plx_recovery_frame(recovery, now, report->health, report->period_ns, report->busy_ns);
    plx_gpu_state_frame(&supervisor->gpu, now, report->on_gpu, now - recovery->started_ns >= PLX_STABLE_NS);
    plx_status_line_frame(&supervisor->status_line, report);
    supervisor->degraded_reason = (struct plx_error_message){""};
    plx_supervisor_confirm_reload(supervisor, false);
    plx_supervisor_publish_state(supervisor);
    plx_clients_notify(supervisor->publisher.clients, report->sequence);
    plx_blackbox_frame(&supervisor->blackbox, supervisor->publisher.shm, report->sequence); /* after the clients */
    plx_blackbox_log_note(&supervisor->blackbox);
    plx_notify_ready(&supervisor->notify);
    plx_notify_alive(&supervisor->notify);
}

/* A recording has a gap of LEFT_NS, and replay keeps the recorded times. */
static void wait_for_pair(struct plx_recovery *recovery, int64_t now_ns, int64_t left_ns, struct plx_error_message *reason)
{
    if (left_ns <= 0)
        return;
    plx_recovery_scheduled(recovery, now_ns, now_ns + left_ns);
    if (left_ns < PLX_NS_PER_S)
        return;
    if (reason->text[0] == '\0')
        plx_log(LOG_NOTICE, "the recording has no pair for the next %.0f s; waiting", (double)left_ns / PLX_NS_PER_S);
    plx_say(reason, "waiting for the recording's next pair in %.0f s", (double)left_ns / PLX_NS_PER_S);
}

static void take_waiting(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    struct plx_recovery *recovery = &supervisor->recovery;

    if (report->is_camera_lost && !(recovery->late && recovery->suspect == PLX_THREAD_CAMERAS))
        plx_say(&supervisor->degraded_reason, "camera lost, looking for it: %s", report->message.text);
    plx_recovery_waiting(recovery, supervisor->now_ns, report->health, report->is_camera_lost);
    if (!report->is_camera_lost)
        wait_for_pair(recovery, supervisor->now_ns, report->due_in_ns, &supervisor->degraded_reason);
    plx_supervisor_publish_state(supervisor);
    if (report->is_camera_lost) { /* everything but the camera works */
        plx_supervisor_confirm_reload(supervisor, true);
        plx_notify_ready(&supervisor->notify);
    }
}

void plx_supervisor_take_report(void *context, const struct plx_report *report)
{
    struct plx_supervisor *supervisor = context;

    switch ((enum plx_report_kind)report->kind) {
    case PLX_REPORT_NOTE:
        plx_gpu_state_note(&supervisor->gpu, &report->message);
        break;
    case PLX_REPORT_WAITING:
        take_waiting(supervisor, report);
        break;
    case PLX_REPORT_FRAME:
        take_frame(supervisor, report);
        break;
    case PLX_REPORT_LOG:
        plx_blackbox_log(&supervisor->blackbox, report->error, report->message.text);
        break;
    case PLX_REPORT_PLAN:
    case PLX_REPORT_END: /* plx_supervisor_engine_ended gets these */
    case PLX_REPORT_FAILED:
        break;
    }
}

/* --- its end ------------------------------------------------------------------------------------------------------ */

/* An engine ended unasked, and the next one starts after its back-off. */
static void report_exit(struct plx_supervisor *supervisor, const struct plx_engine_exit *engine_exit)
{
    const struct plx_config *config = &supervisor->reload.plan.config;
    const int64_t now_ns = supervisor->now_ns;

    plx_log(LOG_WARNING, "%s; restarting in %.1f s%s", engine_exit->sentence.text,
            (double)(supervisor->recovery.start_ns - now_ns) / PLX_NS_PER_S,
            config->source.type == PLX_SOURCE_REPLAY ? ", and the recording starts again at its first pair" : "");
    plx_blackbox_save(&supervisor->blackbox, "engine-died");
    if (!supervisor->engine.has_failed) /* else the reason of the kill says more */
        supervisor->degraded_reason = engine_exit->sentence;
    if (engine_exit->lacks_resource)
        plx_supervisor_keep_waiting(supervisor);
    if (plx_gpu_state_is_expected(&supervisor->gpu, config->backend))
        plx_gpu_state_engine_ended(&supervisor->gpu, now_ns, &engine_exit->end, supervisor->degraded_reason.text);
}

void plx_supervisor_engine_ended(struct plx_supervisor *supervisor, int status)
{
    struct plx_recovery *recovery = &supervisor->recovery;
    const struct plx_engine_exit engine_exit = plx_engine_process_reaped(&supervisor->engine, recovery, status);
    const struct plx_report *report = &supervisor->engine.last_report;
    const bool ended = engine_exit.has_source_ended && supervisor->reload.phase != PLX_RELOAD_STOPPING;
    const bool rolled_back = !engine_exit.is_planned && !ended &&
                             plx_supervisor_roll_back(supervisor, engine_exit.end.hung ? supervisor->degraded_reason.text
                                                                                       : engine_exit.sentence.text);

    plx_recovery_died(recovery, supervisor->now_ns, engine_exit.is_planned || rolled_back);
    plx_shm_set_restarts(supervisor->publisher.shm, (uint32_t)recovery->deaths);
    if (ended)
        plx_supervisor_stop(supervisor, PLX_EXIT_OK);
    else if (!engine_exit.is_planned && engine_exit.is_permanent && plx_supervisor_is_final(supervisor, report))
        plx_supervisor_fail(supervisor, report->exit_code, report->message.text);
    else if (!engine_exit.is_planned && !rolled_back)
        report_exit(supervisor, &engine_exit);
    plx_supervisor_publish_state(supervisor);
}

/* --- its start ---------------------------------------------------------------------------------------------------- */

/* Opens memory and socket before the first engine. */
static int open_publisher(struct plx_publisher *publisher, sd_event *event, const struct plx_plan *plan,
                          struct plx_error_message *message)
{
    if (publisher->shm)
        return 0;
    const int result = plx_publisher_open(publisher, event, &plan->config, plan->frame_bytes, message);
    if (result == 0)
        plx_corrections_remove_stand_in(plan->config.publish.socket); /* left by a service that ran here before */
    return result;
}

static int start_process(struct plx_engine_process *engine, const struct plx_parent *parent, const struct plx_plan *plan,
                         const struct plx_publisher *publisher, struct plx_gpu_state *gpu, struct plx_error_message *message)
{
    plx_gpu_state_engine_started(gpu);
    const struct plx_engine_task task = {
        .plan = plan,
        .shm = plx_publisher_engine_shm(publisher),
        .gpu_expected = plx_gpu_state_is_expected(gpu, plan->config.backend),
        .on_cpu = gpu->fallback.active,
    };
    const int result = plx_engine_process_start(engine, parent, &task);
    return result == 0
               ? 0
               : plx_fail(message, result, "cannot start the engine: the system is out of processes, memory or descriptors");
}

static void start_engine(struct plx_supervisor *supervisor)
{
    const struct plx_plan *plan = &supervisor->reload.plan;
    const struct plx_parent *parent = &supervisor->parent;
    struct plx_publisher *publisher = &supervisor->publisher;
    struct plx_error_message message;

    int result = open_publisher(publisher, parent->event, plan, &message);
    if (result == 0)
        result = start_process(&supervisor->engine, parent, plan, publisher, &supervisor->gpu, &message);
    if (result < 0) {
        const struct plx_report report = plx_setup_failure(&plan->config, false, result, &message);
        if (!plx_supervisor_roll_back(supervisor, message.text))
            plx_supervisor_start_failed(supervisor, &report);
        return;
    }
    plx_recovery_started(&supervisor->recovery, supervisor->now_ns);
    plx_reload_engine_started(&supervisor->reload);
}

/* --- its failures ------------------------------------------------------------------------------------------------- */

static void fail_engine(struct plx_supervisor *supervisor, const char *reason)
{
    plx_say(&supervisor->degraded_reason, "%s", reason);
    plx_engine_process_fail(&supervisor->engine, reason);
    plx_blackbox_save(&supervisor->blackbox, "engine-killed");
}

/* True if a new engine, of a reload, takes too long for its first frame. */
static bool gives_no_first_frame(const struct plx_reload *reload, const struct plx_recovery *recovery, int64_t now_ns)
{
    return reload->phase == PLX_RELOAD_STARTING && recovery->running &&
           now_ns - recovery->started_ns > plx_budget_fatal_ns(PLX_WATCHED_START, 0);
}

static struct plx_error_message describe_hang(const struct plx_recovery *recovery, int64_t now_ns)
{
    const struct plx_activity *activity = plx_recovery_activity(recovery);
    struct plx_error_message message;

    plx_say(&message, "the engine gives no frames (%s since %.1f s)", plx_budget_name(activity->doing),
            (double)(now_ns - activity->since_ns) / PLX_NS_PER_S);
    return message;
}

void plx_supervisor_tick_engine(struct plx_supervisor *supervisor)
{
    const int64_t now_ns = supervisor->now_ns;
    struct plx_engine_process *engine = &supervisor->engine;
    struct plx_recovery *recovery = &supervisor->recovery;
    struct plx_error_message *reason = &supervisor->degraded_reason;

    if (!supervisor->stopping && !engine->has_failed && gives_no_first_frame(&supervisor->reload, recovery, now_ns)) {
        fail_engine(supervisor, "the engine gives no first frame");
        plx_engine_process_ask_to_end(engine,
                                      now_ns); /* SIGTERM: an engine that ends in order restores the cameras' controls */
    }
    plx_engine_process_tick(engine, now_ns);
    plx_engine_watch_kill_result(engine, recovery, now_ns, reason);
    if (supervisor->stopping || !plx_reload_has_plan(&supervisor->reload))
        return;
    if (plx_engine_watch_progress(engine, recovery, &supervisor->clock, now_ns, reason) && engine->kill_ns == 0 &&
        !engine->has_failed) {
        fail_engine(supervisor, describe_hang(recovery, now_ns).text);
        plx_engine_process_kill(engine, now_ns);
    }
    plx_supervisor_publish_state(supervisor);
    if (plx_recovery_wants_engine(recovery, now_ns))
        start_engine(supervisor);
}
