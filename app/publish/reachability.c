/* SPDX-License-Identifier: Apache-2.0 */
#include "app/publish/reachability.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/error.h>
#include <parallax/shm.h>

void plx_reachability_close(struct plx_reachability *attempt)
{
    if (attempt->fd >= 0)
        close(attempt->fd);
    attempt->fd = -1;
}

/* Connects and sends HELLO. False if nobody listens. True without an attempt if the process has no descriptor left. */
static bool begin_check(struct plx_reachability *attempt, const char *path)
{
    const struct plx_message hello = {.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = PLX_MESSAGE_HELLO};
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    attempt->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (attempt->fd < 0)
        return true;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (connect(attempt->fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        send(attempt->fd, &hello, sizeof hello, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof hello)
        return true;
    const bool queue_full = errno == EAGAIN; /* so somebody listens */
    plx_reachability_close(attempt);
    return queue_full;
}

/* Receives the answer and closes its descriptor. -1: no answer yet, 0: a wrong one, 1: the right one. */
static int receive_answer(const struct plx_reachability *attempt, uint64_t epoch)
{
    struct plx_message answer;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {&answer, sizeof answer};
    struct msghdr packet = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    const ssize_t bytes = recvmsg(attempt->fd, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
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

enum plx_reachability_result plx_reachability_check(struct plx_reachability *attempt, const char *path, uint64_t epoch,
                                                    int64_t now_ns)
{
    if (attempt->fd < 0) {
        if (now_ns - attempt->begun_ns < PLX_REACHABILITY_PERIOD_NS)
            return PLX_REACHABILITY_PENDING;
        attempt->begun_ns = now_ns;
        return begin_check(attempt, path) ? PLX_REACHABILITY_PENDING : PLX_REACHABILITY_LOST;
    }
    const int answer = receive_answer(attempt, epoch);
    if (answer < 0 && now_ns - attempt->begun_ns < PLX_REACHABILITY_BUDGET_NS)
        return PLX_REACHABILITY_PENDING;
    plx_reachability_close(attempt);
    return answer > 0 ? PLX_REACHABILITY_PROVEN : PLX_REACHABILITY_LOST;
}
