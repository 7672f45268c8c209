/* SPDX-License-Identifier: Apache-2.0 */
/* One forked process and the line to it. */
#ifndef PLX_APP_SUPERVISOR_CHILD_H
#define PLX_APP_SUPERVISOR_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct plx_child {
    pid_t pid;     /* 0 = there is none */
    int report_fd; /* its reports come from here, orders go there; -1 = none. Outlives the process until plx_child_finish */
};

#define PLX_CHILD_NONE ((struct plx_child){.pid = 0, .report_fd = -1})

/* What the child does: its return value is its exit code. It never returns into the parent's code. */
typedef int plx_child_main(void *argument, int report_fd);

/* Forks. The child dies with its parent (PR_SET_PDEATHSIG), has default signal handling and nothing blocked, and is called
 * NAME in ps. Only for single-threaded parents. Errors: NOMEM. */
int plx_child_start(struct plx_child *child, const char *name, plx_child_main *run, void *argument);

/* Sends SIGNAL if the process is there. */
void plx_child_signal(const struct plx_child *child, int signal);

/* True if it has ended by now; *ret_status as of waitpid. */
bool plx_child_reap(struct plx_child *child, int *ret_status);

/* Closes the line to a child that was reaped. */
void plx_child_finish(struct plx_child *child);

#endif
