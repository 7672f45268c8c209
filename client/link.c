/* SPDX-License-Identifier: Apache-2.0 */
#include "client/link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/error.h>
#include <parallax/region.h>

#include "core/clock.h"

#define QUEUE_RETRY_MS 5
#define DRAIN_LIMIT 1024 /* more than a queue holds; a service that floods us does not hold us */

static bool say(int fd, enum plx_message_type type)
{
    struct plx_message message = {.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = type};
    return send(fd, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

static int connect_error(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED: /* a socket file that nobody listens to */
        return PLX_ERR_NOT_FOUND;
    case EACCES:
    case EPERM:
        return PLX_ERR_PERMISSION;
    case EPROTOTYPE:
        return PLX_ERR_FORMAT; /* another kind of socket: not ours */
    case ENOMEM:
    case ENOBUFS:
        return PLX_ERR_NOMEM;
    default:
        return PLX_ERR_IO;
    }
}

int plx_link_start(const char *path, int64_t deadline, int *ret_socket)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path)
        return PLX_ERR_RANGE;
    memcpy(address.sun_path, path, length);

    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return PLX_ERR_NOMEM;
    while (connect(fd, (const struct sockaddr *)&address, sizeof address)) {
        int code = errno == EAGAIN ? PLX_ERR_TIMEOUT : connect_error(errno);
        if (code != PLX_ERR_TIMEOUT || plx_now_ns() >= deadline) {
            close(fd);
            return code;
        }
        poll(NULL, 0, QUEUE_RETRY_MS); /* many connect at once and the queue is full */
    }
    say(fd, PLX_MESSAGE_HELLO); /* if it cannot be said, the answer (refused, or end of file) tells why */
    *ret_socket = fd;
    return 0;
}

static int take_answer(const struct plx_message *answer, size_t bytes, int region, int *ret_region)
{
    int code = PLX_ERR_FORMAT;
    if (bytes != sizeof *answer || answer->magic != PLX_MESSAGE_MAGIC)
        code = PLX_ERR_FORMAT;
    else if (answer->type == PLX_MESSAGE_REFUSED)
        code = answer->error == PLX_ERR_VERSION || answer->error == PLX_ERR_BUSY ? answer->error : PLX_ERR_FORMAT;
    else if (answer->abi_version != PLX_ABI_VERSION)
        code = PLX_ERR_VERSION;
    else if (answer->type == PLX_MESSAGE_WELCOME && region >= 0)
        code = 0;
    if (!code)
        *ret_region = region;
    else if (region >= 0)
        close(region);
    return code;
}

static int read_answer(int fd, int *ret_region)
{
    struct plx_message answer = {0};
    int region = -1;
    union {
        char bytes[CMSG_SPACE(sizeof region)];
        struct cmsghdr align;
    } control;
    struct iovec part = {&answer, sizeof answer};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes};
    ssize_t bytes;
    do { /* again after ECONNRESET: a service that refused us without reading our hello leaves one before its answer */
        packet.msg_controllen = CMSG_LEN(sizeof region); /* room for one descriptor, not for more from a hostile service */
        bytes = recvmsg(fd, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (bytes < 0 && (errno == ECONNRESET || errno == EINTR));
    if (bytes < 0)
        return errno == EAGAIN ? PLX_ERR_TIMEOUT : PLX_ERR_LOST;
    const struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
        rights->cmsg_len == CMSG_LEN(sizeof region))
        memcpy(&region, CMSG_DATA(rights), sizeof region);
    if (bytes == 0 && region < 0)
        return PLX_ERR_LOST;
    if (region < 0 && (packet.msg_flags & MSG_CTRUNC))
        return PLX_ERR_NOMEM; /* this process has no descriptor left to receive it */
    return take_answer(&answer, packet.msg_flags & MSG_TRUNC ? 0 : (size_t)bytes, region, ret_region);
}

int plx_link_finish(int fd, int64_t deadline, int *ret_region)
{
    for (;;) {
        int code = read_answer(fd, ret_region);
        int64_t left = deadline - plx_now_ns();
        if (code != PLX_ERR_TIMEOUT || left <= 0)
            return code;
        poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, (int)((left + PLX_NS_PER_MS - 1) / PLX_NS_PER_MS));
    }
}

bool plx_link_subscribe(int fd)
{
    return say(fd, PLX_MESSAGE_SUBSCRIBE);
}

bool plx_link_alive(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLRDHUP};
    return poll(&end, 1, 0) <= 0 || !(end.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
}

void plx_link_drain(int fd)
{
    struct plx_message message;
    for (int i = 0; i < DRAIN_LIMIT && recv(fd, &message, sizeof message, MSG_DONTWAIT) > 0; i++)
        ;
}
