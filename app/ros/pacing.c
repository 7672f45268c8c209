/* SPDX-License-Identifier: Apache-2.0 */
#include "app/ros/pacing.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"

/* A thread of its own has each: what DDS sends again, it sends from another thread, and without a pace. */
static _Thread_local struct {
    bool active;
    int64_t pause_ns; /* between portions */
    int64_t due_ns;   /* when the next portion may leave */
    size_t portion;   /* bytes in the present one */
    size_t sent;      /* bytes */
} pace;

void plx_pacing_begin(int64_t spread_ns, size_t bytes)
{
    const int64_t portions = (int64_t)(bytes / PLX_PACING_PORTION);
    pace.active = true;
    pace.pause_ns = portions > 0 ? spread_ns / portions : 0;
    pace.due_ns = plx_now_ns() + pace.pause_ns;
    pace.portion = pace.sent = 0;
}

size_t plx_pacing_end(void)
{
    pace.active = false;
    return pace.sent;
}

/* Begins another portion when the present one is full. A thread that woke up late catches up, but never by more than one pause,
 * for else the portions would leave together after all. */
static void wait_turn(size_t bytes)
{
    if (pace.portion > 0 && pace.portion + bytes > PLX_PACING_PORTION) {
        const struct timespec due = {.tv_sec = pace.due_ns / PLX_NS_PER_S, .tv_nsec = pace.due_ns % PLX_NS_PER_S};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
            ;
        const int64_t earliest = plx_now_ns() - pace.pause_ns;
        pace.due_ns = (pace.due_ns > earliest ? pace.due_ns : earliest) + pace.pause_ns;
        pace.portion = 0;
    }
    pace.portion += bytes;
    pace.sent += bytes;
}

/* In place of the C library's. */
__attribute__((visibility("default"))) ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    size_t bytes = 0;
    for (size_t i = 0; pace.active && i < (size_t)message->msg_iovlen; i++)
        bytes += message->msg_iov[i].iov_len;
    if (bytes > 0)
        wait_turn(bytes);
    return syscall(SYS_sendmsg, fd, message, flags);
}
