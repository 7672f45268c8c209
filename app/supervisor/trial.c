/* SPDX-License-Identifier: Apache-2.0 */
/* Trying before taking: a configuration at start and on SIGHUP, and a GPU that was lost, in a process that lives for it. It
 * opens and closes, and never starts a source: what runs beside it goes on. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <parallax/error.h>

#include "app/engine/engine.h"
#include "app/exit.h"
#include "app/log.h"
#include "app/supervisor/supervisor_internal.h"

#define TRIAL_BUDGET_NS (20 * PLX_NS_PER_S) /* for opening everything */

static int trial_main(void *argument, int report_fd)
{
    struct plx_supervisor *supervisor = argument;
    plx_supervisor_leave(supervisor);
    return supervisor->trial_of == PLX_TRIAL_GPU
               ? plx_engine_probe_gpu(report_fd)
               : plx_engine_probe(&supervisor->candidate.config, supervisor->publisher.frame_bytes, report_fd);
}

static void gpu_tried(struct plx_supervisor *supervisor, bool works, const char *reason)
{
    struct plx_ladder *ladder = &supervisor->ladder;

    plx_ladder_tried(ladder, supervisor->now_ns, works);
    if (works) {
        plx_log(LOG_NOTICE, "the GPU works again; the engine starts anew on it");
        plx_worker_replace(supervisor);
        return;
    }
    plx_log(LOG_WARNING, "the GPU is still lost, and is tried again in %d s: %s", (int)(ladder->pause_ns / PLX_NS_PER_S),
            reason);
    plx_fail(&supervisor->handicap, 0, "the GPU is lost, and the CPU works: %s", reason);
}

/* What REPORT, PLAN or FAILED, means for what was tried. */
static void conclude(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    supervisor->trial_answered = true;
    if (supervisor->stopping)
        return;
    if (supervisor->trial_of == PLX_TRIAL_GPU)
        gpu_tried(supervisor, report->kind == PLX_REPORT_PLAN, report->message.text);
    else
        plx_reload_tried(supervisor, report);
}

/* The trial ended, or could not begin, without an answer; TRANSIENT: another one may have one. */
static void conclude_without(struct plx_supervisor *supervisor, int exit_code, bool transient, const char *reason)
{
    struct plx_report report = {.kind = PLX_REPORT_FAILED, .exit_code = exit_code, .transient = transient};

    plx_fail(&report.message, PLX_ERR_NOMEM, "%s", reason);
    conclude(supervisor, &report);
}

void plx_trial_start(struct plx_supervisor *supervisor, enum plx_trial_of what)
{
    supervisor->trial_of = what;
    supervisor->trial_answered = false;
    supervisor->trial_kill_ns = supervisor->now_ns + TRIAL_BUDGET_NS;
    if (plx_child_start(&supervisor->trial, "parallax-probe", trial_main, supervisor) == 0 &&
        plx_supervisor_watch(supervisor, supervisor->trial.report_fd, PLX_EVENT_TRIAL) == 0)
        return;
    plx_child_signal(&supervisor->trial, SIGKILL);
    conclude_without(supervisor, PLX_EXIT_OS, true,
                     "cannot start a process: the system is out of processes, memory or descriptors");
}

void plx_trial_receive(struct plx_supervisor *supervisor)
{
    struct plx_report report;

    while (plx_report_receive(supervisor->trial.report_fd, &report))
        if (!supervisor->trial_answered)
            conclude(supervisor, &report);
}

/* The trial ended with STATUS before it could say anything. */
static void conclude_silence(struct plx_supervisor *supervisor, int status)
{
    if (supervisor->now_ns > supervisor->trial_kill_ns)
        conclude_without(supervisor, PLX_EXIT_FAILURE, true, "opening all that it names did not end in time");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        conclude_without(supervisor, PLX_EXIT_OS, true,
                         "the process that tried it was killed: by somebody, or for lack of memory");
    else
        conclude_without(supervisor, PLX_EXIT_FAILURE, false, "trying it ended without an answer: please report this");
}

void plx_trial_gone(struct plx_supervisor *supervisor, int status)
{
    plx_supervisor_unwatch(supervisor, supervisor->trial.report_fd);
    plx_trial_receive(supervisor);
    plx_child_finish(&supervisor->trial);
    if (!supervisor->trial_answered)
        conclude_silence(supervisor, status);
}

bool plx_trial_is_over(const struct plx_supervisor *supervisor)
{
    return supervisor->trial.pid == 0 || supervisor->now_ns > supervisor->trial_kill_ns + PLX_DEATH_BUDGET_NS;
}

void plx_trial_tick(struct plx_supervisor *supervisor, int64_t now_ns)
{
    if (supervisor->trial.pid > 0 && now_ns > supervisor->trial_kill_ns)
        plx_child_signal(&supervisor->trial, SIGKILL);
    if (!supervisor->trial_answered && supervisor->trial.pid > 0 && plx_trial_is_over(supervisor))
        conclude_without(supervisor, PLX_EXIT_FAILURE, true,
                         "the process that tried it was killed and does not die: a driver holds it");
    if (!supervisor->stopping && supervisor->trial.pid == 0 && supervisor->reload.phase == PLX_RELOAD_NONE &&
        supervisor->plan.config.backend != PLX_BACKEND_CPU && plx_ladder_wants_trial(&supervisor->ladder, now_ns))
        plx_trial_start(supervisor, PLX_TRIAL_GPU);
}
