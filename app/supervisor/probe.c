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

#define PROBE_BUDGET_NS (20 * PLX_NS_PER_S) /* for opening everything */

static int probe_main(void *argument, int report_fd)
{
    struct plx_supervisor *supervisor = argument;
    plx_supervisor_close_in_child(supervisor);
    return supervisor->probe_kind == PLX_PROBE_GPU
               ? plx_engine_probe_gpu(report_fd)
               : plx_engine_probe(&supervisor->candidate.config, supervisor->publisher.frame_bytes, report_fd);
}

static void gpu_probed(struct plx_supervisor *supervisor, bool works, const char *reason)
{
    struct plx_gpu_fallback *gpu_fallback = &supervisor->gpu_fallback;

    plx_gpu_fallback_probed(gpu_fallback, supervisor->now_ns, works);
    if (works) {
        plx_log(LOG_NOTICE, "the GPU works again; the engine starts anew on it");
        plx_engine_process_replace(supervisor);
        return;
    }
    plx_log(LOG_WARNING, "the GPU is still lost, and is tried again in %d s: %s", (int)(gpu_fallback->pause_ns / PLX_NS_PER_S),
            reason);
    plx_fail(&supervisor->fallback_reason, 0, "the GPU is lost, and the CPU works: %s", reason);
}

/* What REPORT, PLAN or FAILED, means for what was tried. */
static void conclude(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    supervisor->probe_answered = true;
    if (supervisor->stopping)
        return;
    if (supervisor->probe_kind == PLX_PROBE_GPU)
        gpu_probed(supervisor, report->kind == PLX_REPORT_PLAN, report->message.text);
    else
        plx_reload_probed(supervisor, report);
}

/* The probe ended, or could not begin, without an answer; TRANSIENT: another one may have one. */
static void conclude_without(struct plx_supervisor *supervisor, int exit_code, bool transient, const char *reason)
{
    struct plx_report report = {.kind = PLX_REPORT_FAILED, .exit_code = exit_code, .transient = transient};

    plx_fail(&report.message, PLX_ERR_NOMEM, "%s", reason);
    conclude(supervisor, &report);
}

void plx_probe_start(struct plx_supervisor *supervisor, enum plx_probe_kind what)
{
    supervisor->probe_kind = what;
    supervisor->probe_answered = false;
    supervisor->probe_kill_ns = supervisor->now_ns + PROBE_BUDGET_NS;
    if (plx_child_start(&supervisor->probe, "parallax-probe", probe_main, supervisor) == 0 &&
        plx_supervisor_watch(supervisor, supervisor->probe.report_fd, PLX_EVENT_PROBE) == 0)
        return;
    plx_child_signal(&supervisor->probe, SIGKILL);
    conclude_without(supervisor, PLX_EXIT_OS, true,
                     "cannot start a process: the system is out of processes, memory or descriptors");
}

void plx_probe_receive(struct plx_supervisor *supervisor)
{
    struct plx_report report;

    while (plx_report_receive(supervisor->probe.report_fd, &report))
        if (!supervisor->probe_answered)
            conclude(supervisor, &report);
}

/* The probe ended with STATUS before it could say anything. */
static void conclude_silence(struct plx_supervisor *supervisor, int status)
{
    if (supervisor->now_ns > supervisor->probe_kill_ns)
        conclude_without(supervisor, PLX_EXIT_FAILURE, true, "opening all that it names did not end in time");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        conclude_without(supervisor, PLX_EXIT_OS, true,
                         "the process that tried it was killed: by somebody, or for lack of memory");
    else
        conclude_without(supervisor, PLX_EXIT_FAILURE, false, "trying it ended without an answer: please report this");
}

void plx_probe_reaped(struct plx_supervisor *supervisor, int status)
{
    plx_supervisor_unwatch(supervisor, supervisor->probe.report_fd);
    plx_probe_receive(supervisor);
    plx_child_finish(&supervisor->probe);
    if (!supervisor->probe_answered)
        conclude_silence(supervisor, status);
}

bool plx_probe_has_ended(const struct plx_supervisor *supervisor)
{
    return supervisor->probe.pid == 0 || supervisor->now_ns > supervisor->probe_kill_ns + PLX_KILL_BUDGET_NS;
}

void plx_probe_tick(struct plx_supervisor *supervisor, int64_t now_ns)
{
    if (supervisor->probe.pid > 0 && now_ns > supervisor->probe_kill_ns)
        plx_child_signal(&supervisor->probe, SIGKILL);
    if (!supervisor->probe_answered && supervisor->probe.pid > 0 && plx_probe_has_ended(supervisor))
        conclude_without(supervisor, PLX_EXIT_FAILURE, true,
                         "the process that tried it was killed and does not die: a driver holds it");
    if (!supervisor->stopping && supervisor->probe.pid == 0 && supervisor->reload.phase == PLX_RELOAD_NONE &&
        supervisor->plan.config.backend != PLX_BACKEND_CPU && plx_gpu_fallback_wants_probe(&supervisor->gpu_fallback, now_ns))
        plx_probe_start(supervisor, PLX_PROBE_GPU);
}
