/* SPDX-License-Identifier: Apache-2.0 */
#include "app/recorder/asker.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define SILENT_NS PLX_NS_PER_S /* for which a connection may say nothing */

int plx_asker_open(struct plx_asker *asker, const char *path, struct plx_error_message *message)
{
    struct plx_asker opened = {.fd = -1};
    const int result = plx_listener_open(path, NULL, &opened.listener, message);
    if (result == 0)
        *asker = opened;
    return result;
}

static void drop(struct plx_asker *asker)
{
    if (asker->fd >= 0)
        close(asker->fd);
    asker->fd = -1;
    asker->asked = false;
}

void plx_asker_close(struct plx_asker *asker)
{
    drop(asker);
    plx_listener_remove(&asker->listener);
    plx_listener_close(&asker->listener);
}

int plx_asker_fd(const struct plx_asker *asker)
{
    if (asker->asked)
        return -1;
    return asker->fd >= 0 ? asker->fd : asker->listener.socket;
}

static bool is_valid(const struct plx_recorder_request *request)
{
    return request->magic == PLX_RECORDER_MAGIC && request->version == PLX_RECORDER_VERSION && request->reserved == 0 &&
           request->milliseconds >= 1 && request->milliseconds <= 1000 * PLX_RECORDER_MAX_SECONDS;
}

void plx_asker_receive(struct plx_asker *asker)
{
    struct plx_recorder_request request;

    if (asker->asked)
        return;
    if (asker->fd < 0) {
        asker->fd = accept4(asker->listener.socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        asker->begun_ns = plx_now_ns();
    }
    if (asker->fd < 0)
        return;
    const ssize_t bytes = recv(asker->fd, &request, sizeof request, MSG_TRUNC);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR) && plx_now_ns() - asker->begun_ns < SILENT_NS)
        return;
    if (bytes != (ssize_t)sizeof request || !is_valid(&request)) {
        drop(asker);
        return;
    }
    asker->asked = true;
    asker->range_ns = request.milliseconds * PLX_NS_PER_MS;
}

void plx_asker_answer(struct plx_asker *asker, struct plx_recorder_answer *answer)
{
    answer->magic = PLX_RECORDER_MAGIC;
    answer->version = PLX_RECORDER_VERSION;
    answer->text[sizeof answer->text - 1] = '\0';
    if (send(asker->fd, answer, sizeof *answer, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        errno = 0; /* who asked is gone; the file stays */
    drop(asker);
}
