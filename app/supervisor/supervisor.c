/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/exit.h"
#include "app/log.h"
#include "app/realtime.h"
#include "core/base/text.h"

#define STALL_NS PLX_NS_PER_S /* an iteration that is this late is logged */
#define STATUS_PERIOD_NS PLX_NS_PER_S
#define HINTS_A_FRAME 32 /* far fewer than the socket to the engine holds */

static int handle_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *argument)
{
    struct plx_supervisor *supervisor = argument;

    (void)source;
    if (info->ssi_signo == SIGHUP)
        plx_reload_request(supervisor);
    else
        plx_supervisor_stop(supervisor, PLX_EXIT_OK);
    return 0;
}

static int handle_child(sd_event_source *source, const struct signalfd_siginfo *info, void *argument)
{
    struct plx_supervisor *supervisor = argument;
    int status;

    (void)source;
    (void)info;
    if (plx_child_reap(&supervisor->engine.child, &status))
        plx_engine_process_reaped(supervisor, status);
    if (plx_child_reap(&supervisor->probe.child, &status))
        plx_probe_reaped(supervisor, status);
    return 0;
}

static void publish_status(struct plx_supervisor *supervisor)
{
    const int64_t now = supervisor->clock.turn_ns; /* real time */
    const struct plx_recovery *recovery = &supervisor->recovery;
    const char *reason = plx_supervisor_reason(supervisor);
    char faults[512], sentence[1280], obstacles[32] = "obstacles unknown, ";
    const double seconds = (double)(now - supervisor->told.since_ns) / PLX_NS_PER_S;

    if (seconds * PLX_NS_PER_S < STATUS_PERIOD_NS)
        return;
    plx_health_sentence(recovery->health, faults, sizeof faults);
    if (now < supervisor->told.fresh_until_ns && !supervisor->told.blind)
        snprintf(obstacles, sizeof obstacles, "%u obstacles, ", supervisor->told.obstacles);
    const char *note = plx_source_note(supervisor->plan.config.source.type);
    snprintf(sentence, sizeof sentence, "%s: %.0f pairs/s, %s%d clients, %s%s%s%s%s", plx_state_word(recovery->state),
             supervisor->told.frames / seconds, obstacles,
             supervisor->publisher.clients ? plx_clients_count(supervisor->publisher.clients) : 0, faults, *note ? ", " : "",
             note, *reason ? "; " : "", reason);
    plx_notify_status(&supervisor->notify, sentence);
    supervisor->told.since_ns = now;
    supervisor->told.frames = 0;
}

static void check_socket(struct plx_supervisor *supervisor)
{
    struct plx_error_message message;

    if (plx_publisher_check(&supervisor->publisher, supervisor->plan.config.publish.socket, supervisor->now_ns, &message) < 0)
        plx_supervisor_fail(supervisor, PLX_EXIT_BUSY, message.text);
}

/* The probe's answer about the GPU that was lost. */
static void gpu_probed(struct plx_supervisor *supervisor, bool works, const char *reason)
{
    struct plx_gpu_fallback *gpu_fallback = &supervisor->gpu.fallback;

    plx_gpu_fallback_probed(gpu_fallback, supervisor->now_ns, works);
    if (works) {
        plx_log(LOG_NOTICE, "the GPU works again; the engine restarts on it");
        plx_engine_process_replace(supervisor);
        return;
    }
    plx_log(LOG_WARNING, "the GPU is still lost, and is probed again in %d s: %s", (int)(gpu_fallback->pause_ns / PLX_NS_PER_S),
            reason);
    plx_say(&supervisor->gpu.reason, "the GPU is lost, and the CPU replaces it: %s", reason);
}

static void take_probe_answer(struct plx_supervisor *supervisor)
{
    struct plx_report report;

    if (!plx_probe_take_answer(&supervisor->probe, &report) || supervisor->stopping)
        return;
    if (supervisor->probe.kind == PLX_PROBE_GPU)
        gpu_probed(supervisor, report.kind == PLX_REPORT_PLAN, report.message.text);
    else
        plx_reload_probed(supervisor, &report);
}

/* Probes the GPU that was lost, when that is due. */
static void probe_gpu(struct plx_supervisor *supervisor)
{
    if (!supervisor->stopping && supervisor->probe.child.pid == 0 && supervisor->reload.phase == PLX_RELOAD_NONE &&
        supervisor->plan.config.backend != PLX_BACKEND_CPU &&
        plx_gpu_fallback_wants_probe(&supervisor->gpu.fallback, supervisor->now_ns))
        plx_probe_start(supervisor, PLX_PROBE_GPU);
}

static int copier_main(void *argument, int report_fd)
{
    struct plx_supervisor *supervisor = argument;
    struct plx_blackbox blackbox = supervisor->blackbox;

    (void)report_fd;
    supervisor->blackbox.box = NULL; /* this process still needs the box */
    plx_supervisor_close_in_child(supervisor);
    return plx_blackbox_write_copy(&blackbox);
}

static void tick_blackbox(struct plx_supervisor *supervisor)
{
    struct plx_blackbox *blackbox = &supervisor->blackbox;

    if (plx_blackbox_tick(blackbox, supervisor->engine.heartbeats) &&
        plx_child_start(&blackbox->copier, "parallax-copier", copier_main, supervisor) < 0)
        plx_log(LOG_WARNING, "no copy of the black box: the system is out of processes, memory or descriptors");
}

static void stop_children(struct plx_supervisor *supervisor)
{
    if (!supervisor->stopping || supervisor->children_stopped)
        return;
    supervisor->children_stopped = true;
    plx_probe_stop(supervisor);
    plx_engine_process_replace(supervisor); /* while stopping no next engine starts */
}

/* What follows from the events of this iteration, and from the clock. */
static void tick(struct plx_supervisor *supervisor)
{
    plx_log_flush();
    take_probe_answer(supervisor);
    stop_children(supervisor);
    plx_probe_tick(supervisor);
    probe_gpu(supervisor);
    plx_reload_tick(supervisor);
    plx_engine_process_tick(supervisor);
    tick_blackbox(supervisor);
    if (supervisor->stopping)
        return;
    check_socket(supervisor);
    if (supervisor->notify.ready && plx_recovery_is_well(&supervisor->recovery, supervisor->now_ns))
        plx_notify_alive(&supervisor->notify);
    publish_status(supervisor);
}

/* For clients that ask for the configuration in force. */
static int config_in_force(void *context)
{
    struct plx_supervisor *supervisor = context;
    return plx_config_text_fd(&supervisor->config_text, plx_reload_config(supervisor));
}

/* For clients that give odometry. The engine takes its commands once a frame: hints must leave room for the others. */
static int pass_hint(void *context, const struct plx_motion_hint *hint)
{
    struct plx_supervisor *supervisor = context;
    const struct plx_engine_command command = {.kind = PLX_COMMAND_HINT, .hint = *hint};

    if (supervisor->engine.child.pid <= 0 || supervisor->told.hints >= HINTS_A_FRAME ||
        plx_engine_command_send(supervisor->engine.child.report_fd, &command) < 0)
        return PLX_ERR_BUSY;
    supervisor->told.hints++;
    return 0;
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
    void *page = mmap(NULL, sizeof *supervisor->engine.heartbeats, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return PLX_ERR_NOMEM;
    supervisor->engine.heartbeats = page;
    if (block_signals() < 0 || sd_event_new(&supervisor->event) < 0 ||
        sd_event_add_signal(supervisor->event, NULL, SIGTERM, handle_signal, supervisor) < 0 ||
        sd_event_add_signal(supervisor->event, NULL, SIGINT, handle_signal, supervisor) < 0 ||
        sd_event_add_signal(supervisor->event, NULL, SIGHUP, handle_signal, supervisor) < 0 ||
        sd_event_add_signal(supervisor->event, NULL, SIGCHLD, handle_child, supervisor) < 0)
        return PLX_ERR_NOMEM;
    supervisor->event_fd = sd_event_get_fd(supervisor->event);
    return 0;
}

/* Sets the time by which this iteration decides. */
static void begin_turn(struct plx_supervisor *supervisor)
{
    const int64_t monotonic_ns = plx_monotonic_ns();
    const int64_t lost_ns = plx_service_clock_turn(&supervisor->clock, monotonic_ns);

    supervisor->now_ns = plx_service_clock_at(&supervisor->clock, monotonic_ns);
    if (lost_ns > STALL_NS)
        plx_log(LOG_WARNING,
                "the service did not run for %.1f s (frozen, stopped or short of processor time); no budget counts that time",
                (double)lost_ns / PLX_NS_PER_S);
}

/* Waits for an event, and at most TURN_NS, and handles it. A plx_error if the system fails the loop. */
static int turn(struct plx_supervisor *supervisor)
{
    int pending = sd_event_prepare(supervisor->event);

    if (pending == 0)
        pending = sd_event_wait(supervisor->event, PLX_TURN_NS / PLX_NS_PER_US);
    begin_turn(supervisor);
    if (pending > 0)
        pending = sd_event_dispatch(supervisor->event);
    tick(supervisor);
    return pending < 0 ? PLX_ERR_NOMEM : 0;
}

static void loop(struct plx_supervisor *supervisor)
{
    while (!supervisor->stopping || !plx_engine_process_has_ended(supervisor) || !plx_probe_has_ended(supervisor))
        if (turn(supervisor) < 0)
            plx_supervisor_fail(supervisor, PLX_EXIT_OS, "the event loop fails: the system is out of memory");
}

int plx_supervise(const struct plx_config_source *config_source, const struct plx_config *config, bool wait)
{
    static struct plx_supervisor supervisor; /* large, and there is one */

    supervisor = (struct plx_supervisor){
        .config_source = config_source,
        .wait = wait,
        .plan.config = *config,
        .reload.candidate.config = *config,
        .engine.child = PLX_CHILD_NONE,
        .probe.child = PLX_CHILD_NONE,
        .blackbox.copier = PLX_CHILD_NONE,
        .publisher = {.config = config_in_force, .hint = pass_hint, .context = &supervisor},
    };
    plx_service_clock_init(&supervisor.clock, plx_monotonic_ns());
    supervisor.now_ns = plx_service_clock_at(&supervisor.clock, supervisor.clock.turn_ns);
    plx_recovery_init(&supervisor.recovery, supervisor.now_ns);
    plx_notify_init(&supervisor.notify);
    if (open_loop(&supervisor) < 0) {
        plx_log(LOG_ERR, "cannot start: the system is out of memory or descriptors");
        return PLX_EXIT_OS;
    }
    plx_realtime_lock_memory(NULL); /* the engine logs a refusal */
    plx_blackbox_open(&supervisor.blackbox, config->blackbox.directory);
    plx_probe_start(&supervisor, PLX_PROBE_CONFIG);
    loop(&supervisor);
    if (supervisor.recovery.unkillable) /* systemd ends the engine, which is in the unit's control group */
        supervisor.exit_code = PLX_EXIT_OS;

    if (supervisor.exit_code == PLX_EXIT_OK)
        plx_publisher_set_state(&supervisor.publisher, PLX_STATE_STOPPED, 0);
    plx_blackbox_close(&supervisor.blackbox);
    sd_event_source_disable_unref(supervisor.clients);
    plx_publisher_close(&supervisor.publisher);
    plx_config_text_close(&supervisor.config_text);
    sd_event_unref(supervisor.event);
    munmap(supervisor.engine.heartbeats, sizeof *supervisor.engine.heartbeats);
    return supervisor.exit_code;
}
