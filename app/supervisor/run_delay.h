/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the threads of a process were ready to run and waited for a processor: a program that is kept from running is no
 * program that hangs. Linux counts it for each thread in /proc/PID/task/TID/schedstat
 * (Documentation/scheduler/sched-stats.rst).
 */
#ifndef PLX_APP_SUPERVISOR_RUN_DELAY_H
#define PLX_APP_SUPERVISOR_RUN_DELAY_H

#include <stdint.h>
#include <sys/types.h>

#define PLX_RUN_DELAY_THREADS 64 /* more are not looked at */

struct plx_run_delay {
    struct plx_run_delay_thread {
        pid_t tid;
        int64_t delay_ns; /* since the thread's start */
    } thread[PLX_RUN_DELAY_THREADS];
    int count; /* 0: the next measure begins anew */
};

/* The longest time that a thread of PID has waited since the last call. 0 for the first one, and where Linux does not count. */
int64_t plx_run_delay_ns(struct plx_run_delay *run_delay, pid_t pid);

#endif
