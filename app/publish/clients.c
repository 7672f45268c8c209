/* SPDX-License-Identifier: Apache-2.0 */
#include "app/publish/clients.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "app/publish/listener.h"
#include "app/publish/quota.h"
#include "app/publish/session.h"
#include "core/base/clock.h"

#define HELLO_TIME_NS (2 * PLX_NS_PER_S)
#define TICK_NS (PLX_NS_PER_S / 2) /* timer that ends silent clients */
#define EVENTS 64

/* The user data of an epoll event: one of these, else an index into client[]. */
#define LISTENER UINT64_MAX
#define TIMER (UINT64_MAX - 1)

struct plx_clients {
    struct plx_client_offer offer;
    struct plx_listener listener;
    int epoll, timer;
    int spare; /* closed to accept and refuse a client when the process has no other descriptor left */
    bool ticking;
    int capacity, count;
    void (*note)(const char *sentence);
    int64_t noted_ns;
    int not_noted;
    struct plx_client_session client[];
};

__attribute__((format(printf, 2, 3))) static void note(struct plx_clients *clients, const char *format, ...)
{
    int64_t now = plx_now_ns();
    if (!clients->note)
        return;
    if (clients->noted_ns && now - clients->noted_ns < PLX_NS_PER_S) {
        clients->not_noted++;
        return;
    }
    char text[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (clients->not_noted && length > 0 && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, " (and %d more such events)", clients->not_noted);
    clients->noted_ns = now;
    clients->not_noted = 0;
    clients->note(text);
}

static int watch(struct plx_clients *clients, int fd, uint64_t about)
{
    return epoll_ctl(clients->epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.u64 = about});
}

static int cannot_wait(const struct plx_clients *clients, struct plx_error_message *message)
{
    return plx_fail(message, PLX_ERR_NOMEM, "%s: cannot wait for clients: %s", clients->listener.address.sun_path,
                    strerror(errno));
}

static int start_events(struct plx_clients *clients, struct plx_error_message *message)
{
    clients->epoll = epoll_create1(EPOLL_CLOEXEC);
    clients->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    clients->spare = fcntl(clients->listener.socket, F_DUPFD_CLOEXEC, 0);
    if (clients->epoll < 0 || clients->timer < 0 || clients->spare < 0 || watch(clients, clients->listener.socket, LISTENER) ||
        watch(clients, clients->timer, TIMER))
        return cannot_wait(clients, message);
    return 0;
}

int plx_clients_create(const struct plx_clients_options *options, struct plx_shm *shm, struct plx_clients **ret_clients,
                       struct plx_error_message *message)
{
    if (options->max_clients < 1)
        return plx_fail(message, PLX_ERR_RANGE, "%d clients at most; expected at least 1", options->max_clients);

    struct plx_clients *clients = calloc(1, sizeof *clients + (size_t)options->max_clients * sizeof clients->client[0]);
    if (!clients)
        return plx_fail(message, PLX_ERR_NOMEM, "out of memory");
    clients->offer = (struct plx_client_offer){shm, options->config, options->hint, options->hint_user, options->context};
    clients->capacity = options->max_clients;
    clients->note = options->note;
    clients->listener.lock = clients->listener.socket = clients->epoll = clients->timer = clients->spare = -1;
    for (int i = 0; i < clients->capacity; i++)
        clients->client[i].fd = -1;

    int result = plx_listener_open(options->socket_path, options->group, &clients->listener, message);
    if (!result && (result = start_events(clients, message)))
        plx_listener_remove(&clients->listener);
    if (result) {
        plx_clients_close_in_child(clients);
        return result;
    }
    *ret_clients = clients;
    return 0;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void plx_clients_close_in_child(struct plx_clients *clients)
{
    if (!clients)
        return;
    for (int i = 0; i < clients->capacity; i++)
        close_if_open(clients->client[i].fd);
    close_if_open(clients->spare);
    close_if_open(clients->timer);
    close_if_open(clients->epoll);
    plx_listener_close(&clients->listener);
    free(clients);
}

static void drop(struct plx_clients *clients, struct plx_client_session *client)
{
    /* A forked engine may hold a copy of the descriptor; then close alone ends neither the connection nor its epoll entry. */
    epoll_ctl(clients->epoll, EPOLL_CTL_DEL, client->fd, NULL);
    shutdown(client->fd, SHUT_RDWR);
    close(client->fd);
    client->fd = -1;
    clients->count--;
}

static void receive(struct plx_clients *clients, struct plx_client_session *client)
{
    const char *fault;

    if (plx_client_session_receive(client, &clients->offer, &fault))
        return;
    if (fault)
        note(clients, "client of pid %d, uid %u dropped: %s", (int)client->peer.pid, client->peer.uid, fault);
    drop(clients, client);
}

/* The timer runs only while a client has yet to send HELLO. */
static void tick(struct plx_clients *clients, bool on)
{
    if (on == clients->ticking)
        return;
    struct timespec every = {.tv_nsec = on ? TICK_NS : 0};
    timerfd_settime(clients->timer, 0, &(struct itimerspec){every, every}, NULL);
    clients->ticking = on;
}

static void end_silent(struct plx_clients *clients)
{
    uint64_t ticks;
    if (read(clients->timer, &ticks, sizeof ticks) < 0)
        return;
    int64_t now = plx_now_ns();
    bool waiting = false;
    for (int i = 0; i < clients->capacity; i++) {
        struct plx_client_session *client = &clients->client[i];
        if (client->fd < 0 || client->welcomed)
            continue;
        waiting = true;
        if (now >= client->deadline_ns) {
            note(clients, "client of pid %d, uid %u dropped: it sent no HELLO within 2 s", (int)client->peer.pid,
                 client->peer.uid);
            drop(clients, client);
        }
    }
    tick(clients, waiting);
}

static void admit(struct plx_clients *clients, int fd)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    int free_slot = -1;
    struct plx_client_quota quota = {.capacity = clients->capacity, .service = geteuid()};
    for (int i = 0; i < clients->capacity; i++)
        if (clients->client[i].fd >= 0)
            plx_client_quota_count(&quota, &peer, &clients->client[i].peer);
        else if (free_slot < 0)
            free_slot = i;
    const char *refusal = plx_client_quota_refusal(&quota, &peer);
    /* The service's own check of its socket must not take the last connection. */
    const bool is_last_for_self = peer.pid == getpid() && !refusal && clients->count + 1 >= clients->capacity;
    if (!refusal && !is_last_for_self && watch(clients, fd, (uint64_t)free_slot))
        refusal = "the system is out of memory";
    if (refusal)
        note(clients, "client of pid %d, uid %u refused: %s; %d clients are connected", (int)peer.pid, peer.uid, refusal,
             clients->count);
    if (refusal || is_last_for_self) {
        plx_client_session_refuse(fd, PLX_ERR_BUSY);
        close(fd);
        return;
    }
    clients->client[free_slot] =
        (struct plx_client_session){.fd = fd, .deadline_ns = plx_now_ns() + HELLO_TIME_NS, .peer = peer};
    clients->count++;
    tick(clients, true);
}

static void accept_some(struct plx_clients *clients)
{
    for (int i = 0; i < EVENTS; i++) { /* bounded: attached clients wait meanwhile */
        int fd = accept4(clients->listener.socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            admit(clients, fd);
        } else if (errno == EMFILE || errno == ENFILE) {
            /* Refuse with the spare descriptor: left in the queue, the connection would keep the listener readable for ever. */
            close_if_open(clients->spare);
            fd = accept4(clients->listener.socket, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0) {
                plx_client_session_refuse(fd, PLX_ERR_BUSY);
                close(fd);
            }
            clients->spare = fcntl(clients->listener.socket, F_DUPFD_CLOEXEC, 0);
            note(clients, "a client refused: the service has no file descriptor left; raise LimitNOFILE");
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

void plx_clients_destroy(struct plx_clients *clients)
{
    if (!clients)
        return;
    plx_listener_remove(&clients->listener);
    for (int i = 0; i < clients->capacity; i++)
        if (clients->client[i].fd >= 0)
            drop(clients, &clients->client[i]);
    plx_clients_close_in_child(clients);
}

void plx_clients_set_shm(struct plx_clients *clients, struct plx_shm *shm)
{
    clients->offer.shm = shm;
    for (int i = 0; i < clients->capacity; i++)
        if (clients->client[i].fd >= 0 && clients->client[i].welcomed)
            drop(clients, &clients->client[i]);
}

int plx_clients_repair(struct plx_clients *clients, bool unreachable, struct plx_error_message *message)
{
    accept_some(clients); /* connections that wait in the old socket's queue */
    int result = plx_listener_repair(&clients->listener, unreachable, message);
    if (result <= 0)
        return result;
    close_if_open(clients->spare); /* the last copy of the old socket: closing it removes it from the epoll set */
    clients->spare = fcntl(clients->listener.socket, F_DUPFD_CLOEXEC, 0);
    if (watch(clients, clients->listener.socket, LISTENER))
        return cannot_wait(clients, message);
    return result;
}

int plx_clients_fd(const struct plx_clients *clients)
{
    return clients->epoll;
}

void plx_clients_handle(struct plx_clients *clients)
{
    struct epoll_event event[EVENTS];
    int count = epoll_wait(clients->epoll, event, EVENTS, 0);
    for (int i = 0; i < count; i++) {
        uint64_t about = event[i].data.u64;
        if (about == LISTENER)
            accept_some(clients);
        else if (about == TIMER)
            end_silent(clients);
        else if (clients->client[about].fd >= 0) /* else dropped by an earlier event */
            receive(clients, &clients->client[about]);
    }
}

void plx_clients_notify(struct plx_clients *clients, uint64_t sequence)
{
    for (int i = 0; i < clients->capacity; i++) {
        struct plx_client_session *client = &clients->client[i];
        if (client->fd >= 0 && client->subscribed && !plx_client_session_send_frame(client, sequence))
            drop(clients, client);
    }
}

int plx_clients_count(const struct plx_clients *clients)
{
    return clients->count;
}
