/* SPDX-License-Identifier: Apache-2.0 */
#include "client/link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "core/base/clock.h"
#include "core/base/text.h"

#define QUEUE_RETRY_MS 5
#define DRAIN_LIMIT 1024 /* more than a queue holds; bounds the time if the service floods the socket */

static bool send_message(int fd, enum plx_message_type type)
{
    struct plx_message message = {.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = type};
    return send(fd, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

static int connect_error(int error)
{
    switch (error) {
    case ECONNREFUSED: /* a socket file without a listener */
        return PLX_ERR_NOT_FOUND;
    case EPROTOTYPE:
        return PLX_ERR_FORMAT; /* another kind of socket */
    case ENOBUFS:
        return PLX_ERR_NOMEM;
    default:
        return plx_error_of_errno(error);
    }
}

const char *plx_link_path(const char *socket_path)
{
    if (socket_path)
        return socket_path;
    const char *chosen = getenv("PARALLAX_SOCKET");
    return chosen && *chosen ? chosen : PLX_DEFAULT_SOCKET;
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
        int result = errno == EAGAIN ? PLX_ERR_TIMEOUT : connect_error(errno);
        if (result != PLX_ERR_TIMEOUT || plx_now_ns() >= deadline) {
            close(fd);
            return result;
        }
        poll(NULL, 0, QUEUE_RETRY_MS); /* the queue of the service is full */
    }
    send_message(fd, PLX_MESSAGE_HELLO); /* after a failure, the answer (refused, or end of file) has the reason */
    *ret_socket = fd;
    return 0;
}

/* The next message and its descriptor, which is the caller's, or -1. TIMEOUT: none yet. */
static int read_message(int fd, struct plx_message *ret_message, int *ret_descriptor)
{
    struct plx_message message = {0};
    int descriptor = -1;
    union {
        char bytes[CMSG_SPACE(sizeof descriptor)];
        struct cmsghdr align;
    } control;
    struct iovec part = {&message, sizeof message};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes};
    ssize_t bytes;
    do { /* a service that refuses without reading HELLO causes ECONNRESET before its answer */
        packet.msg_controllen = CMSG_LEN(sizeof descriptor); /* room for one descriptor, whatever a hostile service sends */
        bytes = recvmsg(fd, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (bytes < 0 && (errno == ECONNRESET || errno == EINTR));
    if (bytes < 0)
        return errno == EAGAIN ? PLX_ERR_TIMEOUT : PLX_ERR_LOST;
    const struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
        rights->cmsg_len == CMSG_LEN(sizeof descriptor))
        memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
    if (bytes == 0 && descriptor < 0)
        return PLX_ERR_LOST;
    if (descriptor < 0 && (packet.msg_flags & MSG_CTRUNC))
        return PLX_ERR_NOMEM; /* this process is out of descriptors */
    if (bytes != (ssize_t)sizeof message || (packet.msg_flags & MSG_TRUNC) || message.magic != PLX_MESSAGE_MAGIC) {
        if (descriptor >= 0)
            close(descriptor);
        return PLX_ERR_FORMAT;
    }
    *ret_message = message;
    *ret_descriptor = descriptor;
    return 0;
}

/* As read_message, but waits until DEADLINE. */
static int wait_message(int fd, int64_t deadline, struct plx_message *ret_message, int *ret_descriptor)
{
    for (;;) {
        int result = read_message(fd, ret_message, ret_descriptor);
        int64_t left = deadline - plx_now_ns();
        if (result != PLX_ERR_TIMEOUT || left <= 0)
            return result;
        poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, (int)((left + PLX_NS_PER_MS - 1) / PLX_NS_PER_MS));
    }
}

/* Checks ANSWER, and gives the descriptor of one of TYPE to the caller. */
static int take_answer(const struct plx_message *answer, enum plx_message_type type, int descriptor, int *ret_descriptor)
{
    int result = PLX_ERR_FORMAT;
    if (answer->type == PLX_MESSAGE_REFUSED)
        result = answer->error == PLX_ERR_VERSION || answer->error == PLX_ERR_BUSY ? answer->error : PLX_ERR_FORMAT;
    else if (answer->abi_version != PLX_ABI_VERSION)
        result = PLX_ERR_VERSION;
    else if (answer->type == type && descriptor >= 0)
        result = 0;
    if (!result)
        *ret_descriptor = descriptor;
    else if (descriptor >= 0)
        close(descriptor);
    return result;
}

int plx_link_finish(int fd, int64_t deadline, int *ret_shm)
{
    struct plx_message answer;
    int shm;
    int result = wait_message(fd, deadline, &answer, &shm);
    return result ? result : take_answer(&answer, PLX_MESSAGE_WELCOME, shm, ret_shm);
}

int plx_link_ask_config(int fd, int64_t deadline, int *ret_text, uint64_t *ret_bytes)
{
    struct plx_message answer;
    int text;
    if (!send_message(fd, PLX_MESSAGE_CONFIG))
        return PLX_ERR_LOST;
    int result = wait_message(fd, deadline, &answer, &text);
    if (result)
        return result;
    if (text < 0 && answer.type == PLX_MESSAGE_CONFIG && (answer.error == PLX_ERR_NOMEM || answer.error == PLX_ERR_IO))
        return answer.error;
    result = take_answer(&answer, PLX_MESSAGE_CONFIG, text, ret_text);
    if (!result)
        *ret_bytes = answer.value;
    return result;
}

int plx_link_hint(int fd, const struct plx_motion_hint *hint, uint64_t number, int64_t deadline, bool *ret_skipped)
{
    const struct plx_hint_message said = {
        {.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = PLX_MESSAGE_HINT, .value = number}, *hint};
    if (send(fd, &said, sizeof said, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)sizeof said)
        return errno == EAGAIN ? PLX_ERR_TIMEOUT : PLX_ERR_LOST;
    for (;;) {
        struct plx_message answer;
        int descriptor;
        int result = wait_message(fd, deadline, &answer, &descriptor);
        if (result)
            return result;
        if (descriptor >= 0) /* a hostile service may send one */
            close(descriptor);
        if (answer.type == PLX_MESSAGE_HINT && answer.value == number)
            return answer.error == 0 || answer.error == PLX_ERR_PERMISSION || answer.error == PLX_ERR_RANGE ||
                           answer.error == PLX_ERR_BUSY
                       ? answer.error
                       : PLX_ERR_FORMAT;
        *ret_skipped = true;
        if (plx_now_ns() >= deadline) /* a flood of messages must not hold the caller */
            return PLX_ERR_TIMEOUT;
    }
}

bool plx_link_subscribe(int fd)
{
    return send_message(fd, PLX_MESSAGE_SUBSCRIBE);
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
