/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/self_client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/error.h>
#include <parallax/region.h>

void plx_self_client_close(struct plx_self_client *self)
{
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
}

/* False if nobody listens. Without a descriptor to spare there is nothing to be learnt: true, and no attempt. */
static bool call(struct plx_self_client *self, const char *path)
{
    const struct plx_message hello = {.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = PLX_MESSAGE_HELLO};
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    self->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (self->fd < 0)
        return true;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (connect(self->fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        send(self->fd, &hello, sizeof hello, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof hello)
        return true;
    const bool crowded = errno == EAGAIN; /* its queue is full of others: somebody listens */
    plx_self_client_close(self);
    return crowded;
}

/* The answer, whose descriptor is closed again; -1: none has come, 0: a wrong one, 1: the right one. */
static int hear(const struct plx_self_client *self, uint64_t epoch)
{
    struct plx_message answer;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {&answer, sizeof answer};
    struct msghdr packet = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    const ssize_t bytes = recvmsg(self->fd, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int fd = -1;

    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return -1;
    const struct cmsghdr *rights = bytes > 0 ? CMSG_FIRSTHDR(&packet) : NULL;
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
        memcpy(&fd, CMSG_DATA(rights), sizeof fd);
        close(fd);
    }
    if (bytes != (ssize_t)sizeof answer || answer.magic != PLX_MESSAGE_MAGIC)
        return 0;
    return (answer.type == PLX_MESSAGE_WELCOME && fd >= 0 && answer.value == epoch) ||
           (answer.type == PLX_MESSAGE_REFUSED && answer.error == PLX_ERR_BUSY);
}

enum plx_self_client_result plx_self_client_check(struct plx_self_client *self, const char *path, uint64_t epoch,
                                                  int64_t now_ns)
{
    if (self->fd < 0) {
        if (now_ns - self->begun_ns < PLX_SELF_PERIOD_NS)
            return PLX_SELF_PENDING;
        self->begun_ns = now_ns;
        return call(self, path) ? PLX_SELF_PENDING : PLX_SELF_UNREACHABLE;
    }
    const int heard = hear(self, epoch);
    if (heard < 0 && now_ns - self->begun_ns < PLX_SELF_BUDGET_NS)
        return PLX_SELF_PENDING;
    plx_self_client_close(self);
    return heard > 0 ? PLX_SELF_REACHABLE : PLX_SELF_UNREACHABLE;
}
