/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallax-ros behind a slow network: linked into the program parallax-ros_slow in front of the call that sends its datagrams
 * (ld
 * --wrap). $PLX_NETWORK is a file that a test writes, "MS PERCENT": each datagram leaves MS late, in order, or, for PERCENT of
 * them, never. Without the file the network is fast, and what waited leaves at once. What comes in is neither late nor lost.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"

struct datagram {
    struct datagram *next;
    int64_t sent_ns;
    int fd;
    struct sockaddr_storage to;
    socklen_t to_bytes;
    size_t bytes;
    uint8_t data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct datagram *first, **last = &first; /* guarded by lock */

static void read_network(int *ret_delay_ms, int *ret_lost_percent)
{
    const char *path = getenv("PLX_NETWORK");
    FILE *file = path ? fopen(path, "re") : NULL;

    *ret_delay_ms = *ret_lost_percent = 0;
    if (!file)
        return;
    if (fscanf(file, "%d %d", ret_delay_ms, ret_lost_percent) != 2)
        *ret_delay_ms = *ret_lost_percent = 0; /* the test is writing it */
    fclose(file);
}

static void *send_when_due(void *unused)
{
    (void)unused;
    for (;; usleep(1000)) {
        int delay_ms, lost_percent;

        read_network(&delay_ms, &lost_percent);
        pthread_mutex_lock(&lock);
        while (first && first->sent_ns + delay_ms * PLX_NS_PER_MS <= plx_now_ns()) {
            struct datagram *datagram = first;
            sendto(datagram->fd, datagram->data, datagram->bytes, MSG_NOSIGNAL, (struct sockaddr *)&datagram->to,
                   datagram->to_bytes);
            first = datagram->next;
            if (!first)
                last = &first;
            free(datagram);
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void enqueue(int fd, const struct msghdr *message, size_t bytes)
{
    struct datagram *datagram = malloc(sizeof *datagram + bytes);

    if (!datagram)
        abort();
    *datagram = (struct datagram){.sent_ns = plx_now_ns(), .fd = fd, .to_bytes = message->msg_namelen, .bytes = bytes};
    memcpy(&datagram->to, message->msg_name, message->msg_namelen);
    bytes = 0;
    for (size_t i = 0; i < (size_t)message->msg_iovlen; i++) {
        memcpy(datagram->data + bytes, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
        bytes += message->msg_iov[i].iov_len;
    }
    pthread_mutex_lock(&lock);
    *last = datagram;
    last = &datagram->next;
    pthread_mutex_unlock(&lock);
}

static void start_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, send_when_due, NULL) != 0)
        abort();
}

static bool is_lost(int percent)
{
    static uint32_t random = 1; /* guarded by lock */

    pthread_mutex_lock(&lock);
    random = random * 1664525U + 1013904223U;
    const bool result = (int)((random >> 16) % 100) < percent;
    pthread_mutex_unlock(&lock);
    return result;
}

static long send_slowly(int fd, const struct msghdr *message)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int delay_ms, lost_percent;
    size_t bytes = 0;

    for (size_t i = 0; i < (size_t)message->msg_iovlen; i++)
        bytes += message->msg_iov[i].iov_len;
    pthread_once(&once, start_thread);
    read_network(&delay_ms, &lost_percent);
    if (!is_lost(lost_percent))
        enqueue(fd, message, bytes);
    return (long)bytes;
}

/* By this call pacing.c sends; other calls pass, with as many arguments as any has. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long argument[6];
    va_list rest;

    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_sendmsg)
        return send_slowly((int)argument[0], (const struct msghdr *)(uintptr_t)argument[1]);
    return __real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
