/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/report.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <parallax/error.h>

#define LAST_REPORT_MS 1000

int plx_report_pair(int fd[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) == 0 ? 0 : PLX_ERR_NOMEM;
}

static int send_record(int fd, const void *record, size_t bytes)
{
    ssize_t sent;
    do {
        sent = send(fd, record, bytes, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t)bytes)
        return 0;
    return errno == EAGAIN || errno == ENOBUFS ? PLX_ERR_TIMEOUT : PLX_ERR_LOST;
}

static bool receive_record(int fd, void *record, size_t bytes)
{
    ssize_t got;
    do {
        got = recv(fd, record, bytes, 0);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)bytes;
}

int plx_report_send(int fd, const struct plx_report *report)
{
    return send_record(fd, report, sizeof *report);
}

int plx_report_send_last(int fd, const struct plx_report *report)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    poll(&room, 1, LAST_REPORT_MS);
    return plx_report_send(fd, report);
}

bool plx_report_receive(int fd, struct plx_report *ret_report)
{
    return receive_record(fd, ret_report, sizeof *ret_report);
}

int plx_engine_command_send(int fd, const struct plx_engine_command *command)
{
    return send_record(fd, command, sizeof *command);
}

bool plx_engine_command_receive(int fd, struct plx_engine_command *ret_command)
{
    return receive_record(fd, ret_command, sizeof *ret_command);
}
