/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <parallax/error.h>

#include "app/engine/engine.h"
#include "app/exit.h"

#define PROBE_BUDGET_NS (20 * PLX_NS_PER_S) /* for opening all that the configuration names */

static int probe_main(void *argument, int report_fd)
{
    struct plx_supervisor *supervisor = argument;
    plx_supervisor_close_in_child(supervisor);
    return supervisor->probe.kind == PLX_PROBE_GPU
               ? plx_engine_probe_gpu(report_fd)
               : plx_engine_probe(&supervisor->reload.candidate.config, supervisor->publisher.frame_bytes, report_fd);
}

/* The first answer counts. */
static void answer(struct plx_probe *probe, const struct plx_report *report)
{
    if (probe->answered)
        return;
    probe->answered = true;
    probe->answer = *report;
}

/* The probe could not start, or ended without an answer. TRANSIENT: another probe may succeed. */
static void answer_failed(struct plx_probe *probe, int exit_code, bool transient, const char *reason)
{
    struct plx_report report = {.kind = PLX_REPORT_FAILED, .exit_code = exit_code, .transient = transient};

    plx_fail(&report.message, PLX_ERR_NOMEM, "%s", reason);
    answer(probe, &report);
}

static int receive(sd_event_source *source, int fd, uint32_t events, void *argument)
{
    struct plx_supervisor *supervisor = argument;
    struct plx_report report;

    (void)source;
    (void)events;
    while (plx_report_receive(fd, &report))
        answer(&supervisor->probe, &report);
    return 0;
}

void plx_probe_start(struct plx_supervisor *supervisor, enum plx_probe_kind kind)
{
    struct plx_probe *probe = &supervisor->probe;

    *probe = (struct plx_probe){.child = PLX_CHILD_NONE, .kind = kind, .kill_ns = supervisor->now_ns + PROBE_BUDGET_NS};
    if (plx_child_start(&probe->child, "parallax-probe", probe_main, supervisor) < 0 ||
        plx_child_watch(&probe->child, supervisor->event, receive, supervisor) < 0)
        answer_failed(probe, PLX_EXIT_OS, true,
                      "cannot start a process: the system is out of processes, memory or descriptors");
}

void plx_probe_reaped(struct plx_supervisor *supervisor, int status)
{
    struct plx_probe *probe = &supervisor->probe;

    receive(probe->child.reports, probe->child.report_fd, 0, supervisor);
    plx_child_finish(&probe->child);
    if (supervisor->now_ns > probe->kill_ns)
        answer_failed(probe, PLX_EXIT_FAILURE, true, "opening cameras or GPU took longer than 20 s; does a driver hang?");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        answer_failed(probe, PLX_EXIT_OS, true, "the probe process was killed from outside, or because memory is exhausted");
    else
        answer_failed(probe, PLX_EXIT_FAILURE, false, "the probe process ended without an answer; please report this");
}

bool plx_probe_take_answer(struct plx_probe *probe, struct plx_report *ret_report)
{
    if (probe->answer.kind == 0)
        return false;
    *ret_report = probe->answer;
    probe->answer.kind = 0;
    return true;
}

bool plx_probe_has_ended(const struct plx_supervisor *supervisor)
{
    const struct plx_probe *probe = &supervisor->probe;
    return probe->child.pid == 0 || supervisor->now_ns > probe->kill_ns + PLX_KILL_BUDGET_NS;
}

void plx_probe_tick(struct plx_supervisor *supervisor)
{
    struct plx_probe *probe = &supervisor->probe;

    if (probe->child.pid > 0 && supervisor->now_ns > probe->kill_ns)
        plx_child_signal(&probe->child, SIGKILL);
    if (probe->child.pid > 0 && plx_probe_has_ended(supervisor))
        answer_failed(
            probe, PLX_EXIT_FAILURE, true,
            "the probe process does not die of SIGKILL: a driver holds it; unplug the camera, or restart the machine");
}

void plx_probe_stop(struct plx_supervisor *supervisor)
{
    struct plx_probe *probe = &supervisor->probe;

    plx_child_signal(&probe->child, SIGKILL);
    if (probe->kill_ns > supervisor->now_ns)
        probe->kill_ns = supervisor->now_ns;
}
