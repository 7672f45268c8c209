/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/exit.h"
#include "app/log.h"
#include "app/realtime.h"
#include "core/base/text.h"

#define STALL_NS PLX_NS_PER_S /* an iteration that is this late is logged */

static void close_in_child(void *context)
{
    struct plx_supervisor *supervisor = context;

    plx_publisher_close_in_child(&supervisor->publisher);
    plx_config_text_close(&supervisor->client_requests.config_text);
    plx_child_close_in_child(&supervisor->engine.child);
    plx_child_close_in_child(&supervisor->probe.child);
    plx_blackbox_close_in_child(&supervisor->blackbox);
    close(supervisor->event_fd); /* sd-event itself must not be used after a fork */
}

static int handle_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *argument)
{
    struct plx_supervisor *supervisor = argument;
    int status;

    (void)source;
    if (info->ssi_signo == SIGHUP) {
        plx_reload_request(&supervisor->reload, plx_probe_is_running(&supervisor->probe));
    } else if (info->ssi_signo == SIGCHLD) {
        if (plx_child_reap(&supervisor->engine.child, &status))
            plx_supervisor_engine_ended(supervisor, status);
        if (plx_child_reap(&supervisor->probe.child, &status))
            plx_probe_reaped(&supervisor->probe, supervisor->now_ns, status);
    } else {
        plx_supervisor_stop(supervisor, PLX_EXIT_OK);
    }
    return 0;
}

static void take_probe_answer(struct plx_supervisor *supervisor)
{
    const int64_t now_ns = supervisor->now_ns;
    struct plx_report report;
    enum plx_reload_event event;

    if (!plx_probe_take_answer(&supervisor->probe, &report) || supervisor->stopping)
        return;
    const bool works = report.kind == PLX_REPORT_PLAN;
    if (supervisor->probe.kind == PLX_PROBE_GPU) {
        plx_gpu_state_probed(&supervisor->gpu, now_ns, works, report.message.text);
        if (works)
            plx_engine_process_replace(&supervisor->engine, &supervisor->recovery, now_ns);
    } else if ((event = plx_reload_probed(&supervisor->reload, &report)) == PLX_RELOAD_FIRST_FAILED) {
        plx_supervisor_start_failed(supervisor, &report);
    } else {
        plx_supervisor_follow_reload(supervisor, event);
    }
}

/* Probes the GPU that was lost, when that is due. */
static void probe_gpu(struct plx_probe *probe, const struct plx_parent *parent, const struct plx_reload *reload,
                      const struct plx_gpu_state *gpu, int64_t now_ns)
{
    if (!plx_probe_is_running(probe) && reload->phase == PLX_RELOAD_NONE && reload->plan.config.backend != PLX_BACKEND_CPU &&
        plx_gpu_fallback_wants_probe(&gpu->fallback, now_ns))
        plx_probe_start_gpu(probe, parent, now_ns);
}

/* What follows from the events of this iteration, and from the clock. */
static void tick(struct plx_supervisor *supervisor)
{
    const int64_t now_ns = supervisor->now_ns;
    const struct plx_recovery *recovery = &supervisor->recovery;
    struct plx_publisher *publisher = &supervisor->publisher;
    const struct plx_config *config = &supervisor->reload.plan.config;
    struct plx_error_message message;

    plx_log_flush();
    take_probe_answer(supervisor);
    if (supervisor->stopping && !supervisor->children_stopped) {
        supervisor->children_stopped = true;
        plx_probe_stop(&supervisor->probe, now_ns);
        /* While stopping, no next engine starts. */
        plx_engine_process_replace(&supervisor->engine, &supervisor->recovery, now_ns);
    }
    plx_probe_tick(&supervisor->probe, now_ns);
    if (!supervisor->stopping)
        probe_gpu(&supervisor->probe, &supervisor->parent, &supervisor->reload, &supervisor->gpu, now_ns);
    plx_supervisor_tick_reload(supervisor);
    plx_supervisor_tick_engine(supervisor);
    if (plx_blackbox_tick(&supervisor->blackbox, supervisor->engine.heartbeats))
        plx_blackbox_start_copier(&supervisor->blackbox, &supervisor->parent);
    if (supervisor->stopping)
        return;
    if (plx_publisher_check(publisher, config->publish.socket, now_ns, &message) < 0)
        plx_supervisor_fail(supervisor, PLX_EXIT_BUSY, message.text);
    if (supervisor->notify.ready && plx_recovery_is_well(recovery, now_ns))
        plx_notify_alive(&supervisor->notify);
    const struct plx_status status = {.state = recovery->state,
                                      .health = recovery->health,
                                      .clients = publisher->clients ? plx_clients_count(publisher->clients) : 0,
                                      .source_note = plx_source_note(config->source.type),
                                      .reason = plx_supervisor_reason(supervisor)};
    plx_status_line_tick(&supervisor->status_line, &supervisor->notify, &status, supervisor->clock.turn_ns);
}

/* Signals that come before the loop runs stay pending until it does. */
static int block_signals(void)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    return sigprocmask(SIG_BLOCK, &signals, NULL) == 0 ? 0 : PLX_ERR_NOMEM;
}

static int open_loop(struct plx_supervisor *supervisor)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    sd_event **event = &supervisor->parent.event;

    if (block_signals() < 0 || sd_event_new(event) < 0)
        return PLX_ERR_NOMEM;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sd_event_add_signal(*event, NULL, signals[i], handle_signal, supervisor) < 0)
            return PLX_ERR_NOMEM;
    supervisor->event_fd = sd_event_get_fd(*event);
    return 0;
}

/* Returns the time by which this iteration decides. */
static int64_t begin_turn(struct plx_service_clock *clock)
{
    const int64_t monotonic_ns = plx_monotonic_ns();
    const int64_t lost_ns = plx_service_clock_turn(clock, monotonic_ns);

    if (lost_ns > STALL_NS)
        plx_log(LOG_WARNING,
                "the service did not run for %.1f s (frozen, stopped or short of processor time); no budget counts that time",
                (double)lost_ns / PLX_NS_PER_S);
    return plx_service_clock_at(clock, monotonic_ns);
}

/* Waits for an event, and at most TURN_NS, as often as the service runs, and handles it. */
static void loop(struct plx_supervisor *supervisor)
{
    sd_event *event = supervisor->parent.event;

    while (!supervisor->stopping || !plx_engine_process_has_ended(&supervisor->engine, &supervisor->recovery) ||
           !plx_probe_has_ended(&supervisor->probe, supervisor->now_ns)) {
        int pending = sd_event_prepare(event);
        if (pending == 0)
            pending = sd_event_wait(event, PLX_TURN_NS / PLX_NS_PER_US);
        supervisor->now_ns = begin_turn(&supervisor->clock);
        if (pending > 0)
            pending = sd_event_dispatch(event);
        tick(supervisor);
        if (pending < 0)
            plx_supervisor_fail(supervisor, PLX_EXIT_OS, "the event loop fails: the system is out of memory");
    }
}

int plx_supervise(const struct plx_config_source *config_source, const struct plx_config *config, bool wait)
{
    static struct plx_supervisor supervisor; /* large, and there is one */

    supervisor = (struct plx_supervisor){
        .parent = {.close_in_child = close_in_child, .context = &supervisor},
        .config_source = config_source,
        .wait = wait,
        .probe.child = PLX_CHILD_NONE,
        .blackbox.copier = PLX_CHILD_NONE,
        .client_requests = {.reload = &supervisor.reload, .engine = &supervisor.engine},
        .publisher = {.config = plx_client_requests_config,
                      .hint = plx_client_requests_hint,
                      .context = &supervisor.client_requests},
    };
    plx_service_clock_init(&supervisor.clock, plx_monotonic_ns());
    supervisor.now_ns = plx_service_clock_at(&supervisor.clock, supervisor.clock.turn_ns);
    plx_recovery_init(&supervisor.recovery, supervisor.now_ns);
    plx_reload_init(&supervisor.reload, config);
    plx_notify_init(&supervisor.notify);
    if (plx_engine_process_init(&supervisor.engine, plx_supervisor_take_report, &supervisor) < 0 ||
        open_loop(&supervisor) < 0) {
        plx_log(LOG_ERR, "cannot start: the system is out of memory or descriptors");
        return PLX_EXIT_OS;
    }
    plx_realtime_lock_memory(NULL); /* the engine logs a refusal */
    plx_blackbox_open(&supervisor.blackbox, config->blackbox.directory);
    plx_supervisor_follow_reload(&supervisor, PLX_RELOAD_NEEDS_PROBE);
    loop(&supervisor);
    if (supervisor.recovery.unkillable) /* systemd ends the engine, which is in the unit's control group */
        supervisor.exit_code = PLX_EXIT_OS;

    if (supervisor.exit_code == PLX_EXIT_OK)
        plx_publisher_set_state(&supervisor.publisher, PLX_STATE_STOPPED, 0);
    plx_blackbox_close(&supervisor.blackbox);
    plx_publisher_close(&supervisor.publisher);
    plx_config_text_close(&supervisor.client_requests.config_text);
    sd_event_unref(supervisor.parent.event);
    plx_engine_process_finish(&supervisor.engine);
    return supervisor.exit_code;
}
