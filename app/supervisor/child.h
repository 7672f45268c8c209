/* SPDX-License-Identifier: Apache-2.0 */
/* One forked process, the socket to it, its event source in the event loop, and what it inherits of its parent. */
#ifndef PLX_APP_SUPERVISOR_CHILD_H
#define PLX_APP_SUPERVISOR_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include <systemd/sd-event.h>

#include "core/base/clock.h"

#define PLX_KILL_BUDGET_NS (2 * PLX_NS_PER_S) /* from SIGKILL to a process's end */

struct plx_child {
    pid_t pid;     /* 0 = no process */
    int report_fd; /* receives reports, sends commands; -1 = closed. Stays open after the process until plx_child_finish */
    sd_event_source *reports; /* source that plx_child_watch made; NULL = none */
};

#define PLX_CHILD_NONE ((struct plx_child){.pid = 0, .report_fd = -1})

/* The process that starts children. */
struct plx_parent {
    sd_event *event;
    void (*close_in_child)(void *context); /* for plx_parent_close_in_child */
    void *context;
};

/* For a child, first of all: closes inherited descriptors, or sockets would outlive their owner. */
void plx_parent_close_in_child(const struct plx_parent *parent);

/* The child's main function; it returns the exit code. */
typedef int plx_child_main(void *argument, int report_fd);

/* Forks. The child dies with its parent (PR_SET_PDEATHSIG), has default signal handling and nothing blocked, and is called
 * NAME in ps. Only for single-threaded parents. Errors: NOMEM. */
int plx_child_start(struct plx_child *child, const char *name, plx_child_main *run, void *argument);

/* Lets EVENT call ON_REPORT with ARGUMENT when the child has written to its socket. NOMEM: the child is killed and finished.
 * SIGCHLD and plx_child_reap report its end: sd_event_add_child misses it when a debugger holds the child. */
int plx_child_watch(struct plx_child *child, sd_event *event, sd_event_io_handler_t on_report, void *argument);

/* Sends SIGNAL if there is a process. */
void plx_child_signal(const struct plx_child *child, int signal);

/* True if it has ended by now; *ret_status as of waitpid. */
bool plx_child_reap(struct plx_child *child, int *ret_status);

/* Closes the socket to a child that has ended. */
void plx_child_finish(struct plx_child *child);

/* For a forked process: closes its copy of the socket, and leaves its parent's event loop alone. */
void plx_child_close_in_child(struct plx_child *child);

#endif
