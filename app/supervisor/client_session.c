/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/client_session.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <parallax/region.h>

static struct plx_message message(enum plx_message_type type)
{
    return (struct plx_message){.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = type};
}

void plx_client_session_refuse(int socket, int error)
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

/* REGION's epoch and read-only descriptor. False: they did not fit, or the client is gone. */
static bool send_welcome(int socket, const struct plx_shared_region *region)
{
    struct plx_message welcome = message(PLX_MESSAGE_WELCOME);
    welcome.value = plx_region_epoch(region);
    return send_with(socket, &welcome, plx_region_client_fd(region));
}

/* The descriptor FD of the configuration's text, which stays the caller's, or the plx_error for why there is none. Once for
 * each client: a descriptor that nobody takes from the queue counts against the service's own limit. */
static bool send_config(int socket, int fd)
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

bool plx_client_session_send_frame(const struct plx_client_session *session, uint64_t sequence)
{
    struct plx_message frame = message(PLX_MESSAGE_FRAME);
    frame.value = sequence;
    return send(session->fd, &frame, sizeof frame, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN || errno == ENOBUFS;
}

/* Returns what is wrong with REQUEST, or NULL. */
static const char *answer(struct plx_client_session *session, const struct plx_client_offer *offer,
                          const struct plx_message *request)
{
    if (request->magic != PLX_MESSAGE_MAGIC)
        return "it does not speak our protocol";
    if (request->type == PLX_MESSAGE_HELLO && !session->welcomed) {
        if (request->abi_version != PLX_ABI_VERSION) {
            plx_client_session_refuse(session->fd, PLX_ERR_VERSION);
            return "its libparallax has another version";
        }
        session->welcomed = send_welcome(session->fd, offer->region);
        return session->welcomed ? NULL : "the region could not be handed over";
    }
    if (request->type == PLX_MESSAGE_SUBSCRIBE && session->welcomed && !session->subscribed) {
        session->subscribed = true;
        plx_client_session_send_frame(session, plx_ring_newest(offer->region)); /* what it may have missed until now */
        return NULL;
    }
    if (request->type == PLX_MESSAGE_CONFIG && session->welcomed && !session->has_config && offer->config) {
        session->has_config = send_config(session->fd, offer->config(offer->context));
        return session->has_config ? NULL : "the configuration could not be handed over";
    }
    return "it said something out of turn";
}

bool plx_client_session_receive(struct plx_client_session *session, const struct plx_client_offer *offer,
                                const char **ret_fault)
{
    struct plx_message request;
    const ssize_t bytes = recv(session->fd, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC); /* TRUNC: the true length */

    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (bytes <= 0)
        *ret_fault = NULL;
    else if (bytes != (ssize_t)sizeof request)
        *ret_fault = "it does not speak our protocol (wrong length)";
    else
        *ret_fault = answer(session, offer, &request);
    return bytes > 0 && !*ret_fault;
}
