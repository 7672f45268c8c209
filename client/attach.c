/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching to the service, attaching again after its restart, and the pollable descriptor. */
#include "client/client.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "client/fetch.h"
#include "client/link.h"
#include "core/base/clock.h"

#define RETRY_NS (50 * PLX_NS_PER_MS)   /* between two attempts to reattach */
#define HAND_OVER_NS (2 * PLX_NS_PER_S) /* a service that replaces its memory has the next one ready */

/* --- the pollable descriptor -------------------------------------------------------------------------------------- */

/* No message announces the return of the service, so the descriptor becomes readable at every attempt that is due. */
static void set_poll_timer(struct plx_client *client, bool on)
{
    struct timespec every = {.tv_nsec = on ? RETRY_NS : 0};
    if (client->poll_timer >= 0) /* this also discards an unread expiry */
        timerfd_settime(client->poll_timer, 0, &(struct itimerspec){every, every}, NULL);
}

static void drain_poll_timer(const struct plx_client *client)
{
    uint64_t expiries;
    if (client->poll_timer >= 0 && read(client->poll_timer, &expiries, sizeof expiries) < 0)
        return; /* not due yet */
}

static bool watch(const struct plx_client *client, int fd)
{
    return !epoll_ctl(client->poll_fd, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN});
}

/* Makes the descriptor readable with the socket. False: the service closed the connection. */
static bool poll_socket(struct plx_client *client)
{
    set_poll_timer(client, false);
    return watch(client, client->socket) && plx_link_subscribe(client->socket);
}

void plx_client_remind(struct plx_client *client, bool on)
{
    if (client->poll_timer < 0 || client->reminded == on)
        return;
    client->reminded = on;
    timerfd_settime(client->poll_timer, 0, &(struct itimerspec){.it_value.tv_nsec = on ? 1 : 0}, NULL);
}

static void unpoll(struct plx_client *client)
{
    if (client->poll_fd >= 0)
        close(client->poll_fd);
    if (client->poll_timer >= 0)
        close(client->poll_timer);
    client->poll_fd = client->poll_timer = -1;
}

int plx_fd(struct plx_client *client)
{
    if (!client)
        return PLX_ERR_ARG;
    if (client->poll_fd >= 0)
        return client->poll_fd;
    client->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    client->poll_timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (client->poll_fd < 0 || client->poll_timer < 0 || !watch(client, client->poll_timer)) {
        unpoll(client);
        return PLX_ERR_NOMEM;
    }
    if (!plx_client_attached(client))
        set_poll_timer(client, true);
    else
        poll_socket(client); /* if it fails, the closed socket is readable and plx_next reports it */
    return client->poll_fd;
}

/* --- attaching --------------------------------------------------------------------------------------------------- */

/* All but the map, which the caller closes. */
static void leave(struct plx_client *client)
{
    if (plx_client_hands_over(client))
        client->handed_over_until = plx_now_ns() + HAND_OVER_NS;
    if (client->socket >= 0 && client->poll_fd >= 0) /* explicitly: a forked process may still hold it open */
        epoll_ctl(client->poll_fd, EPOLL_CTL_DEL, client->socket, NULL);
    if (client->socket >= 0)
        close(client->socket);
    client->socket = -1;
    client->may_not_hint = false;
    client->retry_at = plx_now_ns() + RETRY_NS;
    set_poll_timer(client, true);
}

void plx_client_detach(struct plx_client *client)
{
    leave(client);
    plx_map_close(&client->map);
}

void plx_client_detach_soon(struct plx_client *client)
{
    leave(client);
    plx_gone_add(&client->gone, &client->map);
}

bool plx_client_hands_over(const struct plx_client *client)
{
    if (!plx_client_attached(client))
        return plx_now_ns() < client->handed_over_until;
    /* Relaxed: no other data depends on it. */
    return atomic_load_explicit(&client->map.header->replaced, memory_order_relaxed) != 0;
}

/* Continues after the last seen frame if the memory is the same as before; starts again in a new memory. */
static void resume_after_last(struct plx_client *client)
{
    const struct plx_shm_header *header = client->map.header;
    const uint64_t epoch = plx_fetch64(&header->epoch);
    /* Relaxed: it only tells whether the memory can be the same one; plx_map_find_newest orders the reads of frames. */
    if (epoch != client->epoch || atomic_load_explicit(&header->newest, memory_order_relaxed) < client->last)
        client->last = 0;
    client->epoch = epoch;
}

int plx_client_map_frames(struct plx_client *client)
{
    const int result = plx_map_frames(&client->map);
    if (result)
        plx_client_detach(client);
    return result;
}

/* One attempt until DEADLINE, without frames. TIMEOUT: no answer yet, and the next call waits for it. */
static int attach(struct plx_client *client, int64_t deadline)
{
    int shm = -1;
    int result = 0;
    if (client->socket < 0)
        client->hello_until = plx_now_ns() + PLX_HELLO_TIME_NS;
    if (deadline > client->hello_until)
        deadline = client->hello_until;
    if (client->socket < 0)
        result = plx_link_start(client->path, deadline, &client->socket);
    if (!result)
        result = plx_link_finish(client->socket, deadline, &shm);
    if (result == PLX_ERR_TIMEOUT && client->socket >= 0 && plx_now_ns() < client->hello_until)
        return result;
    if (!result) {
        result = plx_map_open(shm, &client->map);
        if (!result)
            close(shm);
        else
            client->map.fd = shm; /* perhaps the last of its memory: closed with the map, as late as that */
    }
    if (!result && client->poll_fd >= 0 && !poll_socket(client))
        result = PLX_ERR_LOST;
    if (result) {
        plx_client_detach_soon(client);
        return result;
    }
    resume_after_last(client);
    plx_gone_collect(&client->gone);
    client->handed_over_until = 0;
    return 0;
}

void plx_client_reattach_soon(struct plx_client *client)
{
    const int64_t now = plx_now_ns();
    drain_poll_timer(client);
    if (client->socket >= 0 || now >= client->retry_at)
        attach(client, now);
}

int plx_client_reattach(struct plx_client *client, int64_t deadline)
{
    drain_poll_timer(client);
    for (;;) {
        int64_t now = plx_now_ns();
        if (client->socket >= 0 || now >= client->retry_at) {
            int result = attach(client, deadline);
            if (!result)
                result = plx_client_map_frames(client);
            if (!result || result == PLX_ERR_VERSION || result == PLX_ERR_FORMAT)
                return result;
            now = plx_now_ns();
        }
        int64_t until = client->retry_at < deadline ? client->retry_at : deadline;
        if (now >= deadline)
            return PLX_ERR_LOST;
        struct timespec pause = {.tv_nsec = until > now ? until - now : 0}; /* at most RETRY_NS */
        if (nanosleep(&pause, NULL) && errno == EINTR)
            return PLX_ERR_LOST;
    }
}

int plx_connect_wait(const char *socket_path, int timeout_ms, struct plx_client **ret_client)
{
    const int64_t deadline = timeout_ms < 0 ? INT64_MAX : plx_now_ns() + timeout_ms * PLX_NS_PER_MS;
    for (;;) {
        int result = plx_connect(socket_path, ret_client);
        int64_t left = deadline - plx_now_ns();
        if (result != PLX_ERR_NOT_FOUND || left <= 0)
            return result;
        struct timespec pause = {.tv_nsec = left < RETRY_NS ? left : RETRY_NS};
        if (nanosleep(&pause, NULL) && errno == EINTR)
            return PLX_ERR_TIMEOUT;
    }
}

const char *plx_socket_path(const char *socket_path)
{
    return plx_link_path(socket_path);
}

int plx_connect(const char *socket_path, struct plx_client **ret_client)
{
    if (!ret_client)
        return PLX_ERR_ARG;
    struct plx_client *client = calloc(1, sizeof *client);
    if (!client)
        return PLX_ERR_NOMEM;
    client->socket = client->poll_fd = client->poll_timer = -1;
    client->map = PLX_NO_MAP;
    client->path = strdup(plx_link_path(socket_path));
    int result = client->path ? attach(client, plx_now_ns() + PLX_HELLO_TIME_NS) : PLX_ERR_NOMEM;
    if (!result)
        result = plx_client_map_frames(client);
    if (result) {
        plx_disconnect(client);
        return result == PLX_ERR_LOST ? PLX_ERR_NOT_FOUND : result; /* closed without an answer: the service is stopping */
    }
    *ret_client = client;
    return 0;
}

void plx_disconnect(struct plx_client *client)
{
    if (!client)
        return;
    plx_client_detach(client);
    plx_gone_wait(&client->gone); /* afterwards no thread runs this library, which the program may unload */
    unpoll(client);
    free(client->path);
    free(client);
}
