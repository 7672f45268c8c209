/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/probe.h"

#include <signal.h>
#include <sys/wait.h>

#include <parallax/error.h>

#include "app/engine/engine.h"
#include "app/exit.h"

#pragma GCC poison plx_now_ns /* the caller gives service time */

#define PROBE_BUDGET_NS (20 * PLX_NS_PER_S) /* for opening all that the configuration names */

/* What the process of a probe does. */
struct task {
    const struct plx_parent *parent;
    const struct plx_config *config; /* NULL: it opens the GPU */
    uint32_t ring_bytes;
};

static int probe_main(void *argument, int report_fd)
{
    const struct task *task = argument;

    plx_parent_close_in_child(task->parent);
    return task->config ? plx_engine_probe(task->config, task->ring_bytes, report_fd) : plx_engine_probe_gpu(report_fd);
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
    struct plx_probe *probe = argument;
    struct plx_report report;

    (void)source;
    (void)events;
    while (plx_report_receive(fd, &report))
        answer(probe, &report);
    return 0;
}

static void start(struct plx_probe *probe, enum plx_probe_kind kind, struct task *task, int64_t now_ns)
{
    *probe = (struct plx_probe){.child = PLX_CHILD_NONE, .kind = kind, .kill_ns = now_ns + PROBE_BUDGET_NS};
    if (plx_child_start(&probe->child, "parallax-probe", probe_main, task) < 0 ||
        plx_child_watch(&probe->child, task->parent->event, receive, probe) < 0)
        answer_failed(probe, PLX_EXIT_OS, true,
                      "cannot start a process: the system is out of processes, memory or descriptors");
}

void plx_probe_start_config(struct plx_probe *probe, const struct plx_parent *parent, const struct plx_config *config,
                            uint32_t ring_bytes, int64_t now_ns)
{
    start(probe, PLX_PROBE_CONFIG, &(struct task){.parent = parent, .config = config, .ring_bytes = ring_bytes}, now_ns);
}

void plx_probe_start_gpu(struct plx_probe *probe, const struct plx_parent *parent, int64_t now_ns)
{
    start(probe, PLX_PROBE_GPU, &(struct task){.parent = parent}, now_ns);
}

bool plx_probe_is_running(const struct plx_probe *probe)
{
    return probe->child.pid > 0;
}

void plx_probe_reaped(struct plx_probe *probe, int64_t now_ns, int status)
{
    receive(probe->child.reports, probe->child.report_fd, 0, probe);
    plx_child_finish(&probe->child);
    if (now_ns > probe->kill_ns)
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

bool plx_probe_has_ended(const struct plx_probe *probe, int64_t now_ns)
{
    return probe->child.pid == 0 || now_ns > probe->kill_ns + PLX_KILL_BUDGET_NS;
}

void plx_probe_tick(struct plx_probe *probe, int64_t now_ns)
{
    if (plx_probe_is_running(probe) && now_ns > probe->kill_ns)
        plx_child_signal(&probe->child, SIGKILL);
    if (plx_probe_is_running(probe) && plx_probe_has_ended(probe, now_ns))
        answer_failed(
            probe, PLX_EXIT_FAILURE, true,
            "the probe process does not die of SIGKILL: a driver holds it; unplug the camera, or restart the machine");
}

void plx_probe_stop(struct plx_probe *probe, int64_t now_ns)
{
    plx_child_signal(&probe->child, SIGKILL);
    if (probe->kill_ns > now_ns)
        probe->kill_ns = now_ns;
}
