/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/child.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/engine/report.h"

void plx_parent_close_in_child(const struct plx_parent *parent)
{
    parent->close_in_child(parent->context);
}

static _Noreturn void run_child(const char *name, pid_t parent, plx_child_main *run, void *argument, int report_fd)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before prctl */
        _exit(1);
    prctl(PR_SET_NAME, name);
    signal(SIGPIPE, SIG_IGN); /* the death signal reports a parent that is gone */
    signal(SIGINT, SIG_IGN);  /* sent by the terminal: the parent acts on it; likewise SIGHUP */
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    _exit(run(argument, report_fd));
}

int plx_child_start(struct plx_child *child, const char *name, plx_child_main *run, void *argument)
{
    int fd[2];
    const pid_t parent = getpid();

    if (plx_report_pair(fd) < 0)
        return PLX_ERR_NOMEM;
    pid_t pid = fork();
    if (pid < 0) {
        close(fd[0]);
        close(fd[1]);
        return PLX_ERR_NOMEM;
    }
    if (pid == 0) {
        close(fd[0]);
        run_child(name, parent, run, argument, fd[1]);
    }
    close(fd[1]);
    *child = (struct plx_child){.pid = pid, .report_fd = fd[0]};
    return 0;
}

int plx_child_watch(struct plx_child *child, sd_event *event, sd_event_io_handler_t on_report, void *argument)
{
    if (sd_event_add_io(event, &child->reports, child->report_fd, EPOLLIN, on_report, argument) >= 0)
        return 0;
    plx_child_signal(child, SIGKILL);
    waitpid(child->pid, NULL, 0); /* the process is new: no driver can hold it yet */
    plx_child_finish(child);
    return PLX_ERR_NOMEM;
}

void plx_child_signal(const struct plx_child *child, int signal)
{
    if (child->pid > 0)
        kill(child->pid, signal);
}

bool plx_child_reap(struct plx_child *child, int *ret_status)
{
    int status;
    if (child->pid == 0 || waitpid(child->pid, &status, WNOHANG) != child->pid)
        return false;
    child->pid = 0;
    *ret_status = status;
    return true;
}

void plx_child_close_in_child(struct plx_child *child)
{
    if (child->report_fd >= 0)
        close(child->report_fd);
    *child = PLX_CHILD_NONE;
}

void plx_child_finish(struct plx_child *child)
{
    /* Before the socket is closed: a forked engine may hold a copy of it, which would keep it in the loop's set. */
    sd_event_source_disable_unref(child->reports);
    plx_child_close_in_child(child);
}
