/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/budget.h"
#include "app/engine/engine.h"
#include "app/engine/report.h"
#include "app/exit.h"
#include "app/supervisor/child.h"
#include "app/supervisor/log.h"
#include "app/supervisor/notify.h"
#include "app/supervisor/publisher.h"
#include "app/supervisor/recovery.h"
#include "core/clock.h"
#include "core/words.h"

#define TICK_MS 50                          /* how late a deadline may be noticed */
#define STOP_BUDGET_NS PLX_NS_PER_S         /* for the engine's orderly end; then it is killed */
#define PROBE_BUDGET_NS (20 * PLX_NS_PER_S) /* for opening everything */
#define STATUS_PERIOD_NS PLX_NS_PER_S

enum event { EVENT_SIGNAL, EVENT_CLIENTS, EVENT_ENGINE, EVENT_PROBE };

struct supervisor {
    const struct plx_config_origin *origin;
    struct plx_config config;    /* in force */
    struct plx_config candidate; /* being probed */
    uint32_t frame_bytes;        /* that config needs */

    struct plx_publisher publisher; /* closed until the first probe has told the size */
    struct plx_child engine, probe;
    struct plx_heartbeat *heartbeat;       /* shared with the engine, which marks in it what it is doing */
    int64_t probe_kill_ns, engine_kill_ns; /* deadline of a probe, of an engine that was asked to stop; 0 = none */
    struct plx_report last_words;          /* END or FAILED of the engine that is about to exit; kind 0 = none */
    bool probe_answered, engine_killed;

    struct plx_recovery recovery;
    struct plx_notify notify;
    int64_t status_ns;  /* when STATUS= was last told in full */
    uint32_t frames;    /* published since then */
    uint32_t obstacles; /* in the newest */

    int epoll_fd, signal_fd;
    bool stopping;
    int exit_code;
};

static int watch(struct supervisor *supervisor, int fd, enum event event)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.u32 = event};
    return epoll_ctl(supervisor->epoll_fd, EPOLL_CTL_ADD, fd, &wanted) == 0 ? 0 : PLX_ERR_NOMEM;
}

/* Explicitly, because a forked engine may hold a copy of FD that would keep it in the set after close. */
static void unwatch(struct supervisor *supervisor, int fd)
{
    epoll_ctl(supervisor->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* Begins the end; the loop ends when the children are gone. The first reason counts. */
static void stop(struct supervisor *supervisor, int exit_code)
{
    if (supervisor->stopping)
        return;
    supervisor->stopping = true;
    supervisor->exit_code = exit_code;
    plx_notify_stopping(&supervisor->notify);
    plx_notify_status(&supervisor->notify, "stopping");
    plx_child_signal(&supervisor->probe, SIGKILL);
    plx_child_signal(&supervisor->engine, SIGTERM);
    supervisor->engine_kill_ns = plx_now_ns() + STOP_BUDGET_NS;
}

static void fail(struct supervisor *supervisor, int exit_code, const char *sentence)
{
    if (!supervisor->stopping)
        plx_log(LOG_ERR, "%s", sentence);
    plx_publisher_tell(&supervisor->publisher, PLX_STATE_FAILED, supervisor->recovery.health);
    stop(supervisor, exit_code);
}

/* Tells the clients how things stand, if they do not know yet. */
static void tell_state(struct supervisor *supervisor)
{
    const struct plx_recovery *recovery = &supervisor->recovery;
    const enum plx_state before = supervisor->publisher.state;

    if (plx_publisher_tell(&supervisor->publisher, recovery->state, recovery->health) && recovery->state == PLX_STATE_FAILED &&
        before != PLX_STATE_FAILED)
        plx_log(LOG_ERR, "no fresh frame for %d s; still trying", (int)(PLX_RECOVERY_BUDGET_NS / PLX_NS_PER_S));
}

/* What a child inherited and must not keep: with it the socket and the pipes would outlive their owner. */
static void leave(struct supervisor *supervisor)
{
    plx_publisher_leave(&supervisor->publisher);
    plx_child_finish(&supervisor->engine);
    plx_child_finish(&supervisor->probe);
    close(supervisor->epoll_fd);
    close(supervisor->signal_fd);
}

static int probe_main(void *argument, int report_fd)
{
    struct supervisor *supervisor = argument;
    leave(supervisor);
    return plx_engine_probe(&supervisor->candidate, report_fd);
}

static int engine_main(void *argument, int report_fd)
{
    struct supervisor *supervisor = argument;
    leave(supervisor);
    return plx_engine_run(&supervisor->config, supervisor->publisher.region, supervisor->heartbeat, report_fd);
}

static void start_probe(struct supervisor *supervisor)
{
    int result = plx_child_start(&supervisor->probe, "parallax-probe", probe_main, supervisor);
    if (result == 0)
        result = watch(supervisor, supervisor->probe.report_fd, EVENT_PROBE);
    if (result < 0)
        fail(supervisor, PLX_EXIT_OS, "cannot start a process: the system is out of processes, memory or descriptors");
    supervisor->probe_answered = false;
    supervisor->probe_kill_ns = plx_now_ns() + PROBE_BUDGET_NS;
}

static void start_engine(struct supervisor *supervisor)
{
    struct plx_why why;

    if (supervisor->publisher.frame_bytes != supervisor->frame_bytes) {
        int result = plx_publisher_open(&supervisor->publisher, &supervisor->config, supervisor->frame_bytes, &why);
        if (result == 0 && watch(supervisor, plx_clients_fd(supervisor->publisher.clients), EVENT_CLIENTS) < 0)
            result = plx_fail(&why, PLX_ERR_NOMEM, "cannot watch the socket: out of memory or descriptors");
        if (result < 0) {
            fail(supervisor, plx_exit_code(result), why.text);
            return;
        }
    }
    if (plx_child_start(&supervisor->engine, "parallax-engine", engine_main, supervisor) < 0 ||
        watch(supervisor, supervisor->engine.report_fd, EVENT_ENGINE) < 0) {
        fail(supervisor, PLX_EXIT_OS, "cannot start the engine: the system is out of processes, memory or descriptors");
        return;
    }
    supervisor->last_words.kind = 0;
    supervisor->engine_killed = false;
    plx_recovery_started(&supervisor->recovery, plx_now_ns());
}

/* Lets the engine end itself; the next one starts at once, with the configuration that is then in force. */
static void replace_engine(struct supervisor *supervisor)
{
    supervisor->recovery.start_ns = plx_now_ns();
    if (supervisor->engine.pid > 0) {
        plx_child_signal(&supervisor->engine, SIGTERM);
        supervisor->engine_kill_ns = supervisor->recovery.start_ns + STOP_BUDGET_NS;
    }
}

static void receive_from_engine(struct supervisor *supervisor)
{
    struct plx_report report;

    while (plx_report_receive(supervisor->engine.report_fd, &report)) {
        const int64_t now = plx_now_ns();
        switch ((enum plx_report_kind)report.kind) {
        case PLX_REPORT_WAITING:
            plx_recovery_waiting(&supervisor->recovery, now, report.health, report.away);
            tell_state(supervisor);
            break;
        case PLX_REPORT_FRAME:
            plx_recovery_frame(&supervisor->recovery, now, report.health, report.period_ns, report.busy_ns);
            supervisor->frames++;
            supervisor->obstacles = report.obstacles;
            tell_state(supervisor);
            plx_clients_notify(supervisor->publisher.clients, report.sequence);
            plx_notify_ready(&supervisor->notify);
            plx_notify_alive(&supervisor->notify, now);
            break;
        case PLX_REPORT_END:
        case PLX_REPORT_FAILED:
            supervisor->last_words = report;
            break;
        case PLX_REPORT_PLAN:
            break;
        }
    }
}

/* A failure that the next engine would meet again. */
static bool is_permanent(int error)
{
    return error == PLX_ERR_FORMAT || error == PLX_ERR_RANGE || error == PLX_ERR_NOT_FOUND || error == PLX_ERR_UNSUPPORTED ||
           error == PLX_ERR_PERMISSION;
}

static void log_death(const struct supervisor *supervisor, int status)
{
    const double pause = (double)(supervisor->recovery.start_ns - plx_now_ns()) / PLX_NS_PER_S;

    if (supervisor->last_words.kind == PLX_REPORT_FAILED)
        plx_log(LOG_WARNING, "engine failed: %s; restarting in %.1f s", supervisor->last_words.why.text, pause);
    else if (WIFSIGNALED(status))
        plx_log(LOG_WARNING, "engine died of signal %d (%s); restarting in %.1f s", WTERMSIG(status),
                strsignal(WTERMSIG(status)), pause);
    else
        plx_log(LOG_WARNING, "engine ended with status %d; restarting in %.1f s", WEXITSTATUS(status), pause);
}

static void engine_gone(struct supervisor *supervisor, int status)
{
    const bool planned = supervisor->engine_kill_ns != 0;
    const struct plx_report *words = &supervisor->last_words;

    unwatch(supervisor, supervisor->engine.report_fd);
    receive_from_engine(supervisor);
    plx_child_finish(&supervisor->engine);
    supervisor->engine_kill_ns = 0;
    plx_recovery_died(&supervisor->recovery, plx_now_ns(), planned);
    if (words->kind == PLX_REPORT_END)
        stop(supervisor, PLX_EXIT_OK);
    else if (words->kind == PLX_REPORT_FAILED && is_permanent(words->error))
        fail(supervisor, words->exit_code, words->why.text);
    else if (!planned)
        log_death(supervisor, status);
    tell_state(supervisor);
}

/* The probe has answered: CANDIDATE works and needs frames of FRAME_BYTES. */
static void adopt(struct supervisor *supervisor, uint32_t frame_bytes)
{
    const bool reload = supervisor->publisher.region != NULL;

    supervisor->config = supervisor->candidate;
    supervisor->frame_bytes = frame_bytes;
    if (!reload)
        return; /* the next tick starts the first engine */
    plx_log(LOG_NOTICE, "configuration reloaded; the engine starts anew%s",
            frame_bytes == supervisor->publisher.frame_bytes ? "" : ", and clients reattach because frames changed their size");
    plx_notify_reloaded(&supervisor->notify);
    replace_engine(supervisor);
}

/* CANDIDATE does not work: that ends a service that is starting; a running one keeps what it has. */
static void reject(struct supervisor *supervisor, const char *reason, int exit_code)
{
    if (!supervisor->publisher.region) {
        fail(supervisor, exit_code, reason);
        return;
    }
    plx_log(LOG_ERR, "configuration kept as it was: %s", reason);
    plx_notify_reloaded(&supervisor->notify);
}

static void receive_from_probe(struct supervisor *supervisor)
{
    struct plx_report report;

    while (plx_report_receive(supervisor->probe.report_fd, &report)) {
        supervisor->probe_answered = true;
        if (supervisor->stopping)
            continue;
        if (report.kind == PLX_REPORT_PLAN)
            adopt(supervisor, report.frame_bytes);
        else
            reject(supervisor, report.why.text, report.exit_code);
    }
}

static void probe_gone(struct supervisor *supervisor)
{
    unwatch(supervisor, supervisor->probe.report_fd);
    receive_from_probe(supervisor);
    plx_child_finish(&supervisor->probe);
    if (!supervisor->probe_answered && !supervisor->stopping)
        reject(supervisor, "trying the configuration ended without an answer: please report this", PLX_EXIT_FAILURE);
}

/* CANDIDATE differs only in what a running engine takes as an order. */
static void apply(struct supervisor *supervisor)
{
    const struct plx_order order = {.exposure = supervisor->candidate.exposure};

    supervisor->config = supervisor->candidate;
    if (supervisor->engine.pid > 0)
        plx_order_send(supervisor->engine.report_fd, &order); /* an engine that is still starting has it from its birth */
    plx_log(LOG_NOTICE, "configuration reloaded");
    plx_notify_reloaded(&supervisor->notify);
}

static void reload(struct supervisor *supervisor)
{
    struct plx_why why;
    const char *key;

    if (supervisor->stopping)
        return;
    if (!supervisor->publisher.region || supervisor->probe.pid > 0) {
        plx_log(LOG_WARNING, "a configuration is being tried already; send SIGHUP again when that is over");
        return;
    }
    plx_notify_reloading(&supervisor->notify);
    if (plx_config_read(supervisor->origin, &supervisor->candidate, &why) < 0) {
        reject(supervisor, why.text, 0);
    } else if (plx_config_reloadable(&supervisor->config, &supervisor->candidate, &key)) {
        apply(supervisor);
    } else if (memcmp(&supervisor->candidate.publish, &supervisor->config.publish, sizeof supervisor->config.publish) != 0) {
        reject(supervisor, "publish.* cannot change while clients are connected; restart the service instead", 0);
    } else {
        start_probe(supervisor);
    }
}

static void handle_signals(struct supervisor *supervisor)
{
    struct signalfd_siginfo info;
    int status;

    while (read(supervisor->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
            stop(supervisor, PLX_EXIT_OK);
        else if (info.ssi_signo == SIGHUP)
            reload(supervisor);
    }
    if (plx_child_reap(&supervisor->engine, &status)) /* SIGCHLD */
        engine_gone(supervisor, status);
    if (plx_child_reap(&supervisor->probe, &status))
        probe_gone(supervisor);
}

static void tell_status(struct supervisor *supervisor, int64_t now)
{
    const struct plx_recovery *recovery = &supervisor->recovery;
    char faults[96], sentence[160];
    const double seconds = (double)(now - supervisor->status_ns) / PLX_NS_PER_S;

    if (seconds * PLX_NS_PER_S < STATUS_PERIOD_NS || supervisor->stopping)
        return;
    plx_health_sentence(recovery->health, faults, sizeof faults);
    snprintf(sentence, sizeof sentence, "%s: %.0f pairs/s, %u obstacles, %d clients, %s%s%s", plx_state_word(recovery->state),
             supervisor->frames / seconds, supervisor->obstacles,
             supervisor->publisher.clients ? plx_clients_count(supervisor->publisher.clients) : 0, faults,
             recovery->late ? ": " : "", recovery->late ? plx_budget_name(recovery->doing) : "");
    plx_notify_status(&supervisor->notify, sentence);
    supervisor->status_ns = now;
    supervisor->frames = 0;
}

/* Looks at what the engine is doing; true if it must be killed. */
static bool watch_progress(struct supervisor *supervisor, int64_t now)
{
    struct plx_recovery *recovery = &supervisor->recovery;
    const bool was_late = recovery->late;
    int64_t since_ns;
    const int doing = plx_heartbeat_read(supervisor->heartbeat, &since_ns);

    plx_recovery_progress(recovery, doing, since_ns);
    const bool hangs = plx_recovery_tick(recovery, now);
    if (recovery->late && !was_late)
        plx_log(LOG_WARNING, "%s has taken %.2f s and is not done", plx_budget_name(recovery->doing),
                (double)(now - recovery->since_ns) / PLX_NS_PER_S);
    return hangs;
}

/* What happens by the clock alone. */
static void tick(struct supervisor *supervisor)
{
    const int64_t now = plx_now_ns();
    struct plx_recovery *recovery = &supervisor->recovery;

    if (supervisor->probe.pid > 0 && now > supervisor->probe_kill_ns)
        plx_child_signal(&supervisor->probe, SIGKILL);
    if (supervisor->engine_kill_ns != 0 && now > supervisor->engine_kill_ns)
        plx_child_signal(&supervisor->engine, SIGKILL);
    if (supervisor->stopping || supervisor->frame_bytes == 0)
        return;
    if (watch_progress(supervisor, now) && supervisor->engine_kill_ns == 0 && !supervisor->engine_killed) {
        supervisor->engine_killed = true;
        plx_log(LOG_WARNING, "the engine gives no frames (%s since %.1f s); killing it", plx_budget_name(recovery->doing),
                (double)(now - recovery->since_ns) / PLX_NS_PER_S);
        plx_child_signal(&supervisor->engine, SIGKILL);
    }
    tell_state(supervisor);
    if (plx_recovery_wants_engine(recovery, now))
        start_engine(supervisor);
    if (supervisor->notify.ready && plx_recovery_is_well(recovery, now))
        plx_notify_alive(&supervisor->notify, now);
    tell_status(supervisor, now);
}

static int open_loop(struct supervisor *supervisor)
{
    void *page = mmap(NULL, sizeof *supervisor->heartbeat, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    if (page == MAP_FAILED)
        return PLX_ERR_NOMEM;
    supervisor->heartbeat = page;
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0)
        return PLX_ERR_NOMEM;
    supervisor->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    supervisor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (supervisor->signal_fd < 0 || supervisor->epoll_fd < 0)
        return PLX_ERR_NOMEM;
    return watch(supervisor, supervisor->signal_fd, EVENT_SIGNAL);
}

static void loop(struct supervisor *supervisor)
{
    struct epoll_event events[8];

    while (!supervisor->stopping || supervisor->engine.pid > 0 || supervisor->probe.pid > 0) {
        int count = epoll_wait(supervisor->epoll_fd, events, sizeof events / sizeof events[0], TICK_MS);
        for (int i = 0; i < count; i++) {
            switch ((enum event)events[i].data.u32) {
            case EVENT_SIGNAL:
                handle_signals(supervisor);
                break;
            case EVENT_CLIENTS:
                plx_clients_handle(supervisor->publisher.clients);
                break;
            case EVENT_ENGINE:
                receive_from_engine(supervisor);
                break;
            case EVENT_PROBE:
                receive_from_probe(supervisor);
                break;
            }
        }
        tick(supervisor);
    }
}

int plx_supervise(const struct plx_config_origin *origin, const struct plx_config *config)
{
    static struct supervisor supervisor; /* large, and there is one */

    supervisor = (struct supervisor){
        .origin = origin,
        .candidate = *config,
        .engine = PLX_CHILD_NONE,
        .probe = PLX_CHILD_NONE,
        .epoll_fd = -1,
        .signal_fd = -1,
    };
    plx_recovery_init(&supervisor.recovery, plx_now_ns());
    plx_notify_init(&supervisor.notify);
    if (open_loop(&supervisor) < 0) {
        plx_log(LOG_ERR, "cannot start: the system is out of memory or descriptors");
        return PLX_EXIT_OS;
    }
    start_probe(&supervisor);
    loop(&supervisor);

    if (supervisor.exit_code == PLX_EXIT_OK)
        plx_publisher_tell(&supervisor.publisher, PLX_STATE_STOPPED, 0);
    plx_publisher_close(&supervisor.publisher);
    close(supervisor.epoll_fd);
    close(supervisor.signal_fd);
    munmap(supervisor.heartbeat, sizeof *supervisor.heartbeat);
    return supervisor.exit_code;
}
