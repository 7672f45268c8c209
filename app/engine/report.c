/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/report.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <parallax/error.h>

#define LAST_WORDS_MS 1000

int plx_report_pair(int fd[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) == 0 ? 0 : PLX_ERR_NOMEM;
}

static int put(int fd, const void *record, size_t bytes)
{
    ssize_t sent;
    do {
        sent = send(fd, record, bytes, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t)bytes)
        return 0;
    return errno == EAGAIN || errno == ENOBUFS ? PLX_ERR_TIMEOUT : PLX_ERR_LOST;
}

static bool get(int fd, void *record, size_t bytes)
{
    ssize_t got;
    do {
        got = recv(fd, record, bytes, 0);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)bytes;
}

int plx_report_send(int fd, const struct plx_report *report)
{
    return put(fd, report, sizeof *report);
}

int plx_report_send_last(int fd, const struct plx_report *report)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    poll(&room, 1, LAST_WORDS_MS);
    return plx_report_send(fd, report);
}

bool plx_report_receive(int fd, struct plx_report *ret_report)
{
    return get(fd, ret_report, sizeof *ret_report);
}

int plx_engine_command_send(int fd, const struct plx_engine_command *order)
{
    return put(fd, order, sizeof *order);
}

bool plx_engine_command_receive(int fd, struct plx_engine_command *ret_order)
{
    return get(fd, ret_order, sizeof *ret_order);
}
