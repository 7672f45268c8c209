/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/exit.h"
#include "app/log.h"
#include "app/realtime.h"
#include "app/supervisor/supervisor_internal.h"
#include "core/words.h"

#define TURN_MS (PLX_TURN_NS / PLX_NS_PER_MS) /* how late a deadline may be noticed */
#define STALL_NS PLX_NS_PER_S                 /* a turn that is so late is logged */
#define STATUS_PERIOD_NS PLX_NS_PER_S

int plx_supervisor_watch(struct plx_supervisor *supervisor, int fd, enum plx_event event)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.u32 = event};
    return epoll_ctl(supervisor->epoll_fd, EPOLL_CTL_ADD, fd, &wanted) == 0 ? 0 : PLX_ERR_NOMEM;
}

/* Explicitly, because a forked engine may hold a copy of FD that would keep it in the set after close. */
void plx_supervisor_unwatch(struct plx_supervisor *supervisor, int fd)
{
    epoll_ctl(supervisor->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

const char *plx_supervisor_reason(const struct plx_supervisor *supervisor)
{
    if (supervisor->degraded_reason.text[0])
        return supervisor->degraded_reason.text;
    return supervisor->reload.refusal.text[0] ? supervisor->reload.refusal.text : supervisor->fallback_reason.text;
}

static void tell_end(struct plx_supervisor *supervisor)
{
    char sentence[640];

    snprintf(sentence, sizeof sentence, "stopping%s%s", supervisor->degraded_reason.text[0] ? ": " : "",
             supervisor->degraded_reason.text);
    plx_notify_status(&supervisor->notify, sentence);
}

void plx_supervisor_stop(struct plx_supervisor *supervisor, int exit_code)
{
    if (supervisor->stopping)
        return;
    supervisor->stopping = true;
    supervisor->exit_code = exit_code;
    plx_notify_stopping(&supervisor->notify);
    tell_end(supervisor);
    plx_child_signal(&supervisor->probe, SIGKILL);
    if (supervisor->probe_kill_ns > supervisor->now_ns)
        supervisor->probe_kill_ns = supervisor->now_ns;
    plx_engine_process_replace(supervisor); /* nobody starts the next */
}

void plx_supervisor_fail(struct plx_supervisor *supervisor, int exit_code, const char *sentence)
{
    if (!supervisor->stopping) {
        plx_log(LOG_ERR, "%s", sentence);
        plx_fail(&supervisor->degraded_reason, 0, "%s", sentence);
    }
    plx_publisher_set_reason(&supervisor->publisher, plx_supervisor_reason(supervisor));
    plx_publisher_set_state(&supervisor->publisher, PLX_STATE_FAILED, supervisor->recovery.health);
    plx_blackbox_state(&supervisor->blackbox, PLX_STATE_FAILED, supervisor->recovery.health, plx_supervisor_reason(supervisor));
    plx_blackbox_save(&supervisor->blackbox, "failed");
    plx_supervisor_stop(supervisor, exit_code);
}

void plx_supervisor_publish_state(struct plx_supervisor *supervisor)
{
    const struct plx_recovery *recovery = &supervisor->recovery;
    const enum plx_state before = supervisor->publisher.state;

    plx_publisher_set_reason(&supervisor->publisher, plx_supervisor_reason(supervisor));
    plx_blackbox_state(&supervisor->blackbox, recovery->state, recovery->health, plx_supervisor_reason(supervisor));
    if (plx_publisher_set_state(&supervisor->publisher, recovery->state, recovery->health) &&
        recovery->state == PLX_STATE_FAILED && before != PLX_STATE_FAILED) {
        plx_blackbox_save(&supervisor->blackbox, "failed");
        plx_log(LOG_ERR, "no fresh frame for %d s; still trying", (int)(PLX_RECOVERY_BUDGET_NS / PLX_NS_PER_S));
    }
}

void plx_supervisor_close_in_child(struct plx_supervisor *supervisor)
{
    plx_publisher_close_in_child(&supervisor->publisher);
    plx_config_text_close(&supervisor->config_text);
    plx_child_finish(&supervisor->engine);
    plx_child_finish(&supervisor->probe);
    plx_blackbox_close_in_child(&supervisor->blackbox);
    close(supervisor->epoll_fd);
    close(supervisor->signal_fd);
}

static void handle_signals(struct plx_supervisor *supervisor)
{
    struct signalfd_siginfo info;
    int status;

    while (read(supervisor->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
            plx_supervisor_stop(supervisor, PLX_EXIT_OK);
        else if (info.ssi_signo == SIGHUP)
            plx_reload_request(supervisor);
    }
    if (plx_child_reap(&supervisor->engine, &status)) /* SIGCHLD */
        plx_engine_process_reaped(supervisor, status);
    if (plx_child_reap(&supervisor->probe, &status))
        plx_probe_reaped(supervisor, status);
}

static void tell_status(struct plx_supervisor *supervisor)
{
    const int64_t now = supervisor->clock.turn_ns; /* what people call a second */
    const struct plx_recovery *recovery = &supervisor->recovery;
    const char *reason = plx_supervisor_reason(supervisor);
    char faults[512], sentence[1280], obstacles[32] = "";
    const double seconds = (double)(now - supervisor->status_ns) / PLX_NS_PER_S;

    if (seconds * PLX_NS_PER_S < STATUS_PERIOD_NS)
        return;
    plx_health_sentence(recovery->health, faults, sizeof faults);
    if (!(recovery->health & PLX_HEALTH_NOT_CALIBRATED)) /* else nothing looks for any */
        snprintf(obstacles, sizeof obstacles, "%u obstacles, ", supervisor->obstacles);
    const char *note = plx_source_note(supervisor->plan.config.source.type);
    snprintf(sentence, sizeof sentence, "%s: %.0f pairs/s, %s%d clients, %s%s%s%s%s", plx_state_word(recovery->state),
             supervisor->frames / seconds, obstacles,
             supervisor->publisher.clients ? plx_clients_count(supervisor->publisher.clients) : 0, faults, *note ? ", " : "",
             note, *reason ? "; " : "", reason);
    plx_notify_status(&supervisor->notify, sentence);
    supervisor->status_ns = now;
    supervisor->frames = 0;
}

static void check_socket(struct plx_supervisor *supervisor)
{
    struct plx_error_message message;

    if (plx_publisher_check(&supervisor->publisher, supervisor->plan.config.publish.socket, supervisor->now_ns, &message) < 0)
        plx_supervisor_fail(supervisor, PLX_EXIT_BUSY, message.text);
}

/* What happens by the clock alone. */
static void tick(struct plx_supervisor *supervisor)
{
    const int64_t now = supervisor->now_ns;

    plx_log_flush();
    plx_probe_tick(supervisor, now);
    plx_reload_tick(supervisor, now);
    plx_start_tick(supervisor, now);
    plx_engine_process_tick(supervisor, now);
    plx_blackbox_tick(supervisor);
    if (supervisor->stopping)
        return;
    check_socket(supervisor);
    if (supervisor->notify.ready && plx_recovery_is_well(&supervisor->recovery, now))
        plx_notify_alive(&supervisor->notify);
    tell_status(supervisor);
}

/* For clients that ask for the configuration in force. */
static int config_in_force(void *context)
{
    struct plx_supervisor *supervisor = context;
    return plx_config_text_fd(&supervisor->config_text, plx_reload_config(supervisor));
}

static int open_loop(struct plx_supervisor *supervisor)
{
    void *page = mmap(NULL, sizeof *supervisor->heartbeats, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    if (page == MAP_FAILED)
        return PLX_ERR_NOMEM;
    supervisor->heartbeats = page;
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0)
        return PLX_ERR_NOMEM;
    supervisor->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    supervisor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (supervisor->signal_fd < 0 || supervisor->epoll_fd < 0)
        return PLX_ERR_NOMEM;
    return plx_supervisor_watch(supervisor, supervisor->signal_fd, PLX_EVENT_SIGNAL);
}

/* A turn begins: what it decides, it decides by the time of now, without what this process slept. */
static void begin_turn(struct plx_supervisor *supervisor)
{
    const int64_t monotonic_ns = plx_monotonic_ns();
    const int64_t lost_ns = plx_service_clock_turn(&supervisor->clock, monotonic_ns);

    supervisor->now_ns = plx_service_clock_at(&supervisor->clock, monotonic_ns);
    if (lost_ns > STALL_NS)
        plx_log(LOG_WARNING,
                "the service stood still for %.1f s (frozen, stopped or short of processor time); no budget counts it",
                (double)lost_ns / PLX_NS_PER_S);
}

static void loop(struct plx_supervisor *supervisor)
{
    struct epoll_event events[8];

    while (!supervisor->stopping || !plx_engine_process_has_ended(supervisor) || !plx_probe_has_ended(supervisor)) {
        int count = epoll_wait(supervisor->epoll_fd, events, sizeof events / sizeof events[0], TURN_MS);
        begin_turn(supervisor);
        for (int i = 0; i < count; i++) {
            switch ((enum plx_event)events[i].data.u32) {
            case PLX_EVENT_SIGNAL:
                handle_signals(supervisor);
                break;
            case PLX_EVENT_CLIENTS:
                plx_clients_handle(supervisor->publisher.clients);
                break;
            case PLX_EVENT_ENGINE:
                plx_engine_process_receive(supervisor);
                break;
            case PLX_EVENT_PROBE:
                plx_probe_receive(supervisor);
                break;
            }
        }
        tick(supervisor);
    }
}

int plx_supervise(const struct plx_config_source *config_source, const struct plx_config *config, bool wait)
{
    static struct plx_supervisor supervisor; /* large, and there is one */

    supervisor = (struct plx_supervisor){
        .config_source = config_source,
        .wait = wait,
        .plan.config = *config,
        .candidate.config = *config,
        .engine = PLX_CHILD_NONE,
        .probe = PLX_CHILD_NONE,
        .blackbox.copier = PLX_CHILD_NONE,
        .epoll_fd = -1,
        .signal_fd = -1,
        .publisher = {.config = config_in_force, .context = &supervisor},
    };
    plx_service_clock_init(&supervisor.clock, plx_monotonic_ns());
    supervisor.now_ns = plx_service_clock_at(&supervisor.clock, supervisor.clock.turn_ns);
    plx_recovery_init(&supervisor.recovery, supervisor.now_ns);
    plx_notify_init(&supervisor.notify);
    if (open_loop(&supervisor) < 0) {
        plx_log(LOG_ERR, "cannot start: the system is out of memory or descriptors");
        return PLX_EXIT_OS;
    }
    plx_realtime_lock_memory(NULL); /* the engine says it where that is refused */
    plx_blackbox_open(&supervisor.blackbox, config->blackbox.directory);
    plx_probe_start(&supervisor, PLX_PROBE_CONFIG);
    loop(&supervisor);
    if (supervisor.recovery.unkillable) /* it is left to systemd, which finds it in the unit's control group */
        supervisor.exit_code = PLX_EXIT_OS;

    if (supervisor.exit_code == PLX_EXIT_OK)
        plx_publisher_set_state(&supervisor.publisher, PLX_STATE_STOPPED, 0);
    plx_blackbox_close(&supervisor.blackbox);
    plx_publisher_close(&supervisor.publisher);
    plx_config_text_close(&supervisor.config_text);
    close(supervisor.epoll_fd);
    close(supervisor.signal_fd);
    munmap(supervisor.heartbeats, sizeof *supervisor.heartbeats);
    return supervisor.exit_code;
}
