/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/run_delay.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The wait of thread TID of the process whose tasks are in TASKS; -1 if it is not there. */
static int64_t delay_of(int tasks, pid_t tid)
{
    char path[32], text[96];
    int64_t ns;

    snprintf(path, sizeof path, "%d/schedstat", (int)tid);
    const int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return sscanf(text, "%*u %" SCNd64, &ns) == 1 ? ns : -1; /* time on a processor, time in wait of one, slices */
}

/* The wait at the last call; NOW_NS for a thread that is new. */
static int64_t delay_before(const struct plx_run_delay *run_delay, pid_t tid, int64_t now_ns)
{
    for (int i = 0; i < run_delay->count; i++)
        if (run_delay->thread[i].tid == tid)
            return run_delay->thread[i].delay_ns;
    return now_ns;
}

int64_t plx_run_delay_ns(struct plx_run_delay *run_delay, pid_t pid)
{
    struct plx_run_delay now = {.count = 0};
    int64_t longest_ns = 0;
    char path[32];

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory)) && now.count < PLX_RUN_DELAY_THREADS;) {
        const pid_t tid = atoi(entry->d_name);
        const int64_t delay_ns = tid > 0 ? delay_of(dirfd(directory), tid) : -1;
        if (delay_ns < 0)
            continue;
        const int64_t since_ns = delay_ns - delay_before(run_delay, tid, delay_ns);
        longest_ns = since_ns > longest_ns ? since_ns : longest_ns;
        now.thread[now.count++] = (struct plx_run_delay_thread){tid, delay_ns};
    }
    if (directory)
        closedir(directory);
    *run_delay = now;
    return longest_ns;
}
