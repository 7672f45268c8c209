/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/messages.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <parallax/region.h>

static struct plx_message message(enum plx_message_type type)
{
    return (struct plx_message){.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = type};
}

void plx_message_refusal(int socket, int error)
{
    struct plx_message refusal = message(PLX_MESSAGE_REFUSED);
    refusal.error = error;
    send(socket, &refusal, sizeof refusal, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool send_with(int socket, struct plx_message *message, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof fd)];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {message, sizeof *message};
    struct msghdr packet = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    return sendmsg(socket, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *message;
}

bool plx_message_welcome(int socket, const struct plx_shared_region *region)
{
    struct plx_message welcome = message(PLX_MESSAGE_WELCOME);
    welcome.value = plx_region_epoch(region);
    return send_with(socket, &welcome, plx_region_client_fd(region));
}

bool plx_message_config(int socket, int fd)
{
    struct plx_message answer = message(PLX_MESSAGE_CONFIG);
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0) {
        answer.value = (uint64_t)status.st_size;
        return send_with(socket, &answer, fd);
    }
    answer.error = fd < 0 ? fd : PLX_ERR_IO;
    return send(socket, &answer, sizeof answer, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof answer;
}

bool plx_message_frame(int socket, uint64_t sequence)
{
    struct plx_message frame = message(PLX_MESSAGE_FRAME);
    frame.value = sequence;
    return send(socket, &frame, sizeof frame, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN || errno == ENOBUFS;
}
