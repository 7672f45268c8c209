/* SPDX-License-Identifier: Apache-2.0 */
#include "app/publish/session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <parallax/shm.h>

#include "core/motion/motion.h"

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

/* False: the client's queue is full, or it is gone. */
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

/* Sends the descriptor FD of the configuration's text, which stays the caller's, or the plx_error that FD is instead. Once per
 * client: a descriptor that nobody takes from the queue counts against the service's own limit. */
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

/* Returns the fault of REQUEST, or NULL. */
static const char *answer(struct plx_client_session *session, const struct plx_client_offer *offer,
                          const struct plx_message *request)
{
    if (request->magic != PLX_MESSAGE_MAGIC)
        return "its message is not of the Parallax protocol";
    if (request->type == PLX_MESSAGE_HELLO && !session->welcomed) {
        if (request->abi_version != PLX_ABI_VERSION) {
            plx_client_session_refuse(session->fd, PLX_ERR_VERSION);
            return "its libparallax has another ABI version; link it again with the installed one";
        }
        struct plx_message welcome = message(PLX_MESSAGE_WELCOME);
        welcome.value = plx_shm_epoch(offer->shm);
        session->welcomed = send_with(session->fd, &welcome, plx_shm_client_fd(offer->shm));
        return session->welcomed ? NULL : "the shared memory could not be sent to it";
    }
    if (request->type == PLX_MESSAGE_SUBSCRIBE && session->welcomed && !session->subscribed) {
        session->subscribed = true;
        plx_client_session_send_frame(session, plx_ring_newest(offer->shm)); /* it may have missed this frame */
        return NULL;
    }
    if (request->type == PLX_MESSAGE_CONFIG && session->welcomed && !session->has_config && offer->config) {
        session->has_config = send_config(session->fd, offer->config(offer->context));
        return session->has_config ? NULL : "the configuration could not be sent to it";
    }
    return "its message is out of order; expected HELLO, then SUBSCRIBE and CONFIG once each";
}

static int hint_error(const struct plx_client_session *session, const struct plx_client_offer *offer,
                      const struct plx_motion_hint *hint)
{
    if (!offer->hint || session->peer.uid != offer->hint_user)
        return PLX_ERR_PERMISSION;
    return plx_motion_hint_is_valid(hint) ? offer->hint(offer->context, hint) : PLX_ERR_RANGE;
}

/* Answers a hint; returns the fault of REQUEST, or NULL. The answer is lost if the client's queue is full. */
static const char *answer_hint(struct plx_client_session *session, const struct plx_client_offer *offer,
                               const struct plx_hint_message *request)
{
    struct plx_message reply = message(PLX_MESSAGE_HINT);

    if (request->head.magic != PLX_MESSAGE_MAGIC || request->head.type != PLX_MESSAGE_HINT || !session->welcomed)
        return "its message is no hint after HELLO";
    if (session->may_not_hint) /* a flood must cost it more than the service */
        return "it gives odometry, which motion.hint_user does not allow its user";
    reply.error = hint_error(session, offer, &request->hint);
    reply.value = request->head.value;
    session->may_not_hint = reply.error == PLX_ERR_PERMISSION;
    send(session->fd, &reply, sizeof reply, MSG_DONTWAIT | MSG_NOSIGNAL);
    return NULL;
}

bool plx_client_session_receive(struct plx_client_session *session, const struct plx_client_offer *offer,
                                const char **ret_fault)
{
    struct plx_hint_message request;
    const ssize_t bytes = recv(session->fd, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC); /* TRUNC: the true length */

    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (bytes <= 0)
        *ret_fault = NULL;
    else if (bytes == (ssize_t)sizeof request)
        *ret_fault = answer_hint(session, offer, &request);
    else if (bytes == (ssize_t)sizeof request.head) /* all other messages */
        *ret_fault = answer(session, offer, &request.head);
    else
        *ret_fault = "its message is not of the Parallax protocol (wrong length)";
    return bytes > 0 && !*ret_fault;
}
