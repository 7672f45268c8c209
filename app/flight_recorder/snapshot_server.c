/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flight_recorder/snapshot_server.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/base/clock.h"

#define SILENT_NS PLX_NS_PER_S /* for which a connection may say nothing */
#define ACCEPTED_AT_ONCE 64

static bool watch(const struct plx_snapshot_server *server, int fd)
{
    return epoll_ctl(server->poll_fd, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN}) == 0;
}

int plx_snapshot_server_open(struct plx_snapshot_server *server, const char *path, struct plx_error_message *message)
{
    struct plx_snapshot_server opened = {.fd = -1, .poll_fd = epoll_create1(EPOLL_CLOEXEC)};
    if (opened.poll_fd < 0)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: no descriptor is left for its connections", path);
    int result = plx_listener_open(path, NULL, &opened.listener, message);
    if (result == 0 && !watch(&opened, opened.listener.socket)) {
        plx_listener_remove(&opened.listener);
        plx_listener_close(&opened.listener);
        result = plx_fail(message, PLX_ERR_NOMEM, "%s: the system has no room to wait for it", path);
    }
    if (result < 0)
        close(opened.poll_fd);
    else
        *server = opened;
    return result;
}

static void drop(struct plx_snapshot_server *server)
{
    if (server->fd >= 0)
        close(server->fd);
    server->fd = -1;
    server->has_request = false;
}

static void drop_silent(struct plx_silent_peer *silent)
{
    if (silent->fd > 0)
        close(silent->fd);
    silent->fd = 0;
}

void plx_snapshot_server_close(struct plx_snapshot_server *server)
{
    drop(server);
    for (int i = 0; i < PLX_SILENT_PEERS; i++)
        drop_silent(&server->silent[i]);
    close(server->poll_fd);
    plx_listener_remove(&server->listener);
    plx_listener_close(&server->listener);
}

int plx_snapshot_server_fd(const struct plx_snapshot_server *server)
{
    return server->has_request ? -1 : server->poll_fd;
}

static bool is_valid(const struct plx_recorder_request *request)
{
    return request->magic == PLX_RECORDER_MAGIC && request->version == PLX_RECORDER_VERSION && request->reserved == 0 &&
           request->milliseconds >= 1 && request->milliseconds <= 1000 * PLX_RECORDER_MAX_SECONDS;
}

/* Takes the request of SILENT if it has come. */
static void receive_request(struct plx_snapshot_server *server, struct plx_silent_peer *silent)
{
    struct plx_recorder_request request;
    const ssize_t bytes = recv(silent->fd, &request, sizeof request, MSG_TRUNC);

    if (bytes < 0 && (errno == EAGAIN || errno == EINTR) && plx_now_ns() - silent->begun_ns < SILENT_NS)
        return;
    if (bytes != (ssize_t)sizeof request || !is_valid(&request)) {
        drop_silent(silent);
        return;
    }
    epoll_ctl(server->poll_fd, EPOLL_CTL_DEL, silent->fd, NULL);
    server->fd = silent->fd;
    silent->fd = 0;
    server->has_request = true;
    server->range_ns = request.milliseconds * PLX_NS_PER_MS;
}

/* Accepts a connection in a free place, or in that of the oldest one. NULL if there is none. */
static struct plx_silent_peer *accept_connection(struct plx_snapshot_server *server)
{
    struct plx_silent_peer *place = &server->silent[0];
    const int fd = accept4(server->listener.socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return NULL;
    for (int i = 1; i < PLX_SILENT_PEERS && place->fd > 0; i++)
        if (server->silent[i].fd == 0 || server->silent[i].begun_ns < place->begun_ns)
            place = &server->silent[i];
    drop_silent(place);
    *place = (struct plx_silent_peer){fd, plx_now_ns()};
    if (!watch(server, fd))
        drop_silent(place);
    return place;
}

void plx_snapshot_server_receive(struct plx_snapshot_server *server)
{
    for (int i = 0; i < PLX_SILENT_PEERS && !server->has_request; i++)
        if (server->silent[i].fd > 0)
            receive_request(server, &server->silent[i]);
    for (int i = 0; i < ACCEPTED_AT_ONCE && !server->has_request; i++) {
        struct plx_silent_peer *silent = accept_connection(server);
        if (!silent)
            return;
        if (silent->fd > 0) /* who connects to ask has asked by now */
            receive_request(server, silent);
    }
}

void plx_snapshot_server_answer(struct plx_snapshot_server *server, struct plx_recorder_answer *answer)
{
    answer->magic = PLX_RECORDER_MAGIC;
    answer->version = PLX_RECORDER_VERSION;
    answer->text[sizeof answer->text - 1] = '\0';
    if (send(server->fd, answer, sizeof *answer, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        errno = 0; /* who asked is gone; the file stays */
    drop(server);
}
