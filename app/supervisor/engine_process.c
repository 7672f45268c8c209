/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/engine_process.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <parallax/error.h>

#include "app/log.h"

#pragma GCC poison plx_now_ns /* the caller gives service time */

#define STOP_BUDGET_NS PLX_NS_PER_S /* for the engine's orderly end; then it is killed */
#define HINTS_A_FRAME 32            /* far fewer than the socket to the engine holds */

int plx_engine_process_init(struct plx_engine_process *engine,
                            void (*on_report)(void *context, const struct plx_report *report), void *context)
{
    void *page = mmap(NULL, sizeof *engine->heartbeats, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return PLX_ERR_NOMEM;
    *engine =
        (struct plx_engine_process){.child = PLX_CHILD_NONE, .heartbeats = page, .on_report = on_report, .context = context};
    return 0;
}

void plx_engine_process_finish(struct plx_engine_process *engine)
{
    munmap(engine->heartbeats, sizeof *engine->heartbeats);
}

/* --- its start ---------------------------------------------------------------------------------------------------- */

/* What the process is given. */
struct start {
    const struct plx_parent *parent;
    const struct plx_engine_task *task;
    struct plx_heartbeats *heartbeats;
};

static int engine_main(void *argument, int report_fd)
{
    static struct plx_plan plan; /* large */
    const struct start *start = argument;
    const struct plx_engine_task *task = start->task;

    plx_parent_close_in_child(start->parent);
    plan = *task->plan;
    if (task->on_cpu)
        plan.config.backend = PLX_BACKEND_CPU;
    return plx_engine_run(&plan, task->gpu_expected, task->shm, start->heartbeats, report_fd);
}

static int receive(sd_event_source *source, int fd, uint32_t events, void *argument)
{
    struct plx_engine_process *engine = argument;
    struct plx_report report;

    (void)source;
    (void)events;
    while (plx_report_receive(fd, &report)) {
        if (report.kind == PLX_REPORT_FRAME)
            engine->hints = 0;
        if (report.kind == PLX_REPORT_END || report.kind == PLX_REPORT_FAILED)
            engine->last_report = report;
        else
            engine->on_report(engine->context, &report);
    }
    return 0;
}

int plx_engine_process_start(struct plx_engine_process *engine, const struct plx_parent *parent,
                             const struct plx_engine_task *task)
{
    struct start start = {.parent = parent, .task = task, .heartbeats = engine->heartbeats};

    engine->last_report.kind = 0;
    engine->has_failed = engine->is_replaced = false;
    engine->kill_ns = 0;
    engine->sigkill_ns = 0;
    engine->hints = 0;
    memset(engine->heartbeats, 0, sizeof *engine->heartbeats);
    const int result = plx_child_start(&engine->child, "parallax-engine", engine_main, &start);
    return result < 0 ? result : plx_child_watch(&engine->child, parent->event, receive, engine);
}

bool plx_engine_process_is_running(const struct plx_engine_process *engine)
{
    return engine->child.pid > 0;
}

bool plx_engine_process_has_ended(const struct plx_engine_process *engine, const struct plx_recovery *recovery)
{
    return engine->child.pid == 0 || recovery->unkillable;
}

int plx_engine_process_command(const struct plx_engine_process *engine, const struct plx_engine_command *command)
{
    if (!plx_engine_process_is_running(engine))
        return PLX_ERR_LOST;
    return plx_engine_command_send(engine->child.report_fd, command);
}

/* The engine takes its commands once a frame: hints must leave room for the others. */
int plx_engine_process_hint(struct plx_engine_process *engine, const struct plx_motion_hint *hint)
{
    const struct plx_engine_command command = {.kind = PLX_COMMAND_HINT, .hint = *hint};

    if (engine->hints >= HINTS_A_FRAME || plx_engine_process_command(engine, &command) < 0)
        return PLX_ERR_BUSY;
    engine->hints++;
    return 0;
}

/* --- its end ------------------------------------------------------------------------------------------------------ */

void plx_engine_process_ask_to_end(struct plx_engine_process *engine, int64_t now_ns)
{
    plx_child_signal(&engine->child, SIGTERM);
    engine->kill_ns = now_ns + STOP_BUDGET_NS;
}

void plx_engine_process_replace(struct plx_engine_process *engine, struct plx_recovery *recovery, int64_t now_ns)
{
    recovery->start_ns = now_ns;
    if (!plx_engine_process_is_running(engine))
        return;
    engine->is_replaced = true;
    plx_engine_process_ask_to_end(engine, now_ns);
}

void plx_engine_process_fail(struct plx_engine_process *engine, const char *reason)
{
    engine->has_failed = true;
    plx_log(LOG_WARNING, "%s; ending the engine", reason);
}

void plx_engine_process_kill(struct plx_engine_process *engine, int64_t now_ns)
{
    if (engine->sigkill_ns == 0)
        engine->sigkill_ns = now_ns;
    plx_child_signal(&engine->child, SIGKILL);
}

void plx_engine_process_tick(struct plx_engine_process *engine, int64_t now_ns)
{
    if (engine->kill_ns != 0 && now_ns > engine->kill_ns)
        plx_engine_process_kill(engine, now_ns);
}

static bool is_killed_outside(const struct plx_engine_process *engine, int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !engine->has_failed;
}

static struct plx_error_message describe(const struct plx_engine_process *engine, int status)
{
    struct plx_error_message sentence;

    if (engine->last_report.kind == PLX_REPORT_FAILED)
        plx_say(&sentence, "engine failed: %s", engine->last_report.message.text);
    else if (WIFSIGNALED(status))
        plx_say(&sentence, "engine died of signal %d (%s%s)", WTERMSIG(status), strsignal(WTERMSIG(status)),
                is_killed_outside(engine, status) ? ": sent from outside, or because memory is exhausted" : "");
    else
        plx_say(&sentence, "engine ended with status %d", WEXITSTATUS(status));
    return sentence;
}

/* True if the next engine would fail as REPORT says. */
static bool is_permanent(const struct plx_report *report)
{
    const int error = report->error;

    return report->kind == PLX_REPORT_FAILED && !report->gpu_lost &&
           (error == PLX_ERR_FORMAT || error == PLX_ERR_RANGE || error == PLX_ERR_NOT_FOUND || error == PLX_ERR_UNSUPPORTED ||
            error == PLX_ERR_PERMISSION);
}

struct plx_engine_exit plx_engine_process_reaped(struct plx_engine_process *engine, const struct plx_recovery *recovery,
                                                 int status)
{
    const struct plx_report *report = &engine->last_report;
    int64_t since_ns;

    receive(engine->child.reports, engine->child.report_fd, 0, engine);
    plx_child_finish(&engine->child);
    engine->kill_ns = 0;
    engine->sigkill_ns = 0;
    return (struct plx_engine_exit){
        .is_planned = engine->is_replaced,
        .has_source_ended = report->kind == PLX_REPORT_END,
        .lacks_resource = is_killed_outside(engine, status) || (report->kind == PLX_REPORT_FAILED && !report->gpu_lost),
        .is_permanent = is_permanent(report),
        .end = {.failed = report->kind == PLX_REPORT_FAILED,
                .gpu_lost = report->gpu_lost,
                .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                .hung = engine->has_failed,
                .doing = engine->has_failed ? plx_recovery_activity(recovery)->doing
                                            : plx_heartbeat_read(&engine->heartbeats->thread[PLX_THREAD_WORK], &since_ns)},
        .sentence = describe(engine, status),
    };
}
