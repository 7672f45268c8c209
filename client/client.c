/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls of libparallax: attach, wait, view, release, and attach again when the service comes back. */
#include <parallax/client.h>

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "client/fetch.h"
#include "client/link.h"
#include "client/map.h"
#include "core/clock.h"

#define HELLO_TIME_NS (2 * PLX_NS_PER_S)
#define SLICE_NS (20 * PLX_NS_PER_MS) /* of a wait; between two, the socket is looked at for the end of the service */
#define RETRY_NS (50 * PLX_NS_PER_MS) /* between two attempts to reattach */
#define COPY_ATTEMPTS 64

/* Detached: no socket. Greeting: socket, no map yet. Attached: both. */
struct plx_client {
    char *path;
    int socket;              /* -1: none */
    struct plx_map map;      /* header NULL: none */
    int64_t hello_until;     /* while greeting: when to give up */
    int64_t retry_at;        /* while detached: the next attempt */
    uint64_t last;           /* sequence last seen in this epoch */
    bool seen_any;           /* in any epoch: from then on frames can be missed */
    bool told;               /* that service or engine is gone */
    bool viewing;            /* a view is open */
    int poll_fd, poll_timer; /* -1 until plx_fd; an epoll descriptor, and what makes it readable while detached */
};

static bool attached(const struct plx_client *client)
{
    return client->map.header;
}

/* --- the pollable descriptor -------------------------------------------------------------------------------------- */

/* Nobody tells us when the service is back; so the descriptor polls readable at every attempt that is due. */
static void set_poll_timer(struct plx_client *client, bool on)
{
    struct timespec every = {.tv_nsec = on ? RETRY_NS : 0};
    if (client->poll_timer >= 0) /* which also takes back an expiry that was not read */
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

/* Makes the descriptor follow the socket. False: the service is gone again. */
static bool poll_socket(struct plx_client *client)
{
    set_poll_timer(client, false);
    return watch(client, client->socket) && plx_link_subscribe(client->socket);
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
    if (!attached(client))
        set_poll_timer(client, true);
    else
        poll_socket(client); /* a service that is gone makes the socket readable, and plx_next says so */
    return client->poll_fd;
}

/* --- attaching --------------------------------------------------------------------------------------------------- */

static void detach(struct plx_client *client)
{
    plx_map_close(&client->map);
    if (client->socket >= 0)
        close(client->socket); /* leaves the epoll set too */
    client->socket = -1;
    client->retry_at = plx_now_ns() + RETRY_NS;
    set_poll_timer(client, true);
}

/* One attempt, as far as it gets until DEADLINE. TIMEOUT: greeting goes on at the next call. */
static int attach(struct plx_client *client, int64_t deadline)
{
    int region = -1;
    int code = 0;
    if (client->socket < 0)
        client->hello_until = plx_now_ns() + HELLO_TIME_NS;
    if (deadline > client->hello_until)
        deadline = client->hello_until;
    if (client->socket < 0)
        code = plx_link_start(client->path, deadline, &client->socket);
    if (!code)
        code = plx_link_finish(client->socket, deadline, &region);
    if (code == PLX_ERR_TIMEOUT && client->socket >= 0 && plx_now_ns() < client->hello_until)
        return code;
    if (!code) {
        code = plx_map_open(region, &client->map);
        close(region);
    }
    if (!code && client->poll_fd >= 0 && !poll_socket(client))
        code = PLX_ERR_LOST;
    if (code) {
        detach(client);
        return code;
    }
    client->last = 0;
    return 0;
}

/* Attaches until DEADLINE. LOST: no service yet. What does not mend by waiting is said at once: VERSION, FORMAT. */
static int reattach(struct plx_client *client, int64_t deadline)
{
    for (;;) {
        int64_t now = plx_now_ns();
        if (client->socket >= 0 || now >= client->retry_at) {
            int code = attach(client, deadline);
            if (!code || code == PLX_ERR_VERSION || code == PLX_ERR_FORMAT)
                return code;
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

int plx_connect(const char *socket_path, struct plx_client **ret_client)
{
    if (!ret_client)
        return PLX_ERR_ARG;
    if (!socket_path)
        socket_path = getenv("PARALLAX_SOCKET");
    if (!socket_path)
        socket_path = PLX_DEFAULT_SOCKET;

    struct plx_client *client = calloc(1, sizeof *client);
    if (!client)
        return PLX_ERR_NOMEM;
    client->socket = client->poll_fd = client->poll_timer = -1;
    client->path = strdup(socket_path);
    int code = client->path ? attach(client, plx_now_ns() + HELLO_TIME_NS) : PLX_ERR_NOMEM;
    if (code) {
        plx_disconnect(client);
        return code == PLX_ERR_LOST ? PLX_ERR_NOT_FOUND : code; /* it closed without an answer: going down */
    }
    *ret_client = client;
    return 0;
}

void plx_disconnect(struct plx_client *client)
{
    if (!client)
        return;
    detach(client);
    unpoll(client);
    free(client->path);
    free(client);
}

/* --- waiting ----------------------------------------------------------------------------------------------------- */

static int64_t deadline_of(int timeout_ms)
{
    return timeout_ms < 0 ? INT64_MAX : plx_now_ns() + timeout_ms * PLX_NS_PER_MS;
}

static uint64_t status_of(const struct plx_client *client)
{
    /* Acquire: what led to the state is visible with it. */
    return atomic_load_explicit(&client->map.header->status, memory_order_acquire);
}

static bool engine_gone(const struct plx_client *client)
{
    uint32_t state = (uint32_t)status_of(client);
    return state == PLX_STATE_RECOVERING || state == PLX_STATE_FAILED || state == PLX_STATE_STOPPED;
}

/* Sleeps until the wake word is no longer WORD, DEADLINE or the slice's end. False if a signal handler ran. */
static bool sleep_on(const struct plx_client *client, uint32_t word, int64_t left_ns)
{
    struct timespec slice = {.tv_nsec = left_ns < SLICE_NS ? left_ns : SLICE_NS};
    return !syscall(SYS_futex, &client->map.header->wake, FUTEX_WAIT, word, &slice, NULL, 0) || errno != EINTR;
}

/* Finds a frame newer than the last one. It is not yet counted as seen. */
static int wait_frame(struct plx_client *client, int64_t deadline, struct plx_view *ret_view)
{
    for (;;) {
        if (!attached(client)) {
            drain_poll_timer(client);
            int code = reattach(client, deadline);
            if (code)
                return code;
        }
        /* Before the look, so that whatever comes after it is still there to wake us. Acquire: the look comes after. */
        uint32_t word = atomic_load_explicit(&client->map.header->wake, memory_order_acquire);
        if (client->poll_fd >= 0)
            plx_link_drain(client->socket);
        int found = plx_map_look(&client->map, client->last, ret_view);
        if (found < 0)
            return found;
        if (found)
            return 0;

        bool service_gone = !plx_link_alive(client->socket);
        bool gone = service_gone || engine_gone(client);
        bool news = gone && !client->told;
        client->told = gone;
        if (service_gone)
            detach(client);
        if (news)
            return PLX_ERR_LOST;
        if (service_gone)
            continue;
        int64_t left = deadline - plx_now_ns();
        if (left <= 0 || !sleep_on(client, word, left))
            return gone ? PLX_ERR_LOST : PLX_ERR_TIMEOUT;
    }
}

static void count_as_seen(struct plx_client *client, struct plx_view *view)
{
    view->missed = client->seen_any ? view->sequence - client->last - 1 : 0;
    view->token = view->sequence;
    client->last = view->sequence;
    client->seen_any = true;
    client->told = false;
}

int plx_next(struct plx_client *client, int timeout_ms, struct plx_view *ret_view)
{
    if (!client || !ret_view || client->viewing)
        return PLX_ERR_ARG;
    struct plx_view view;
    int code = wait_frame(client, deadline_of(timeout_ms), &view);
    if (code)
        return code;
    count_as_seen(client, &view);
    client->viewing = true;
    *ret_view = view;
    return 0;
}

int plx_release(struct plx_client *client, struct plx_view *view)
{
    if (!client || !view || !view->frame || !client->viewing)
        return PLX_ERR_ARG;
    bool whole = plx_map_whole(&client->map, view->token);
#ifdef PLX_MUTANT_NO_RECHECK /* only in tests/system/test_ring.c, which must catch it */
    whole = true;
#endif
    client->viewing = false;
    *view = (struct plx_view){0};
    return whole ? 0 : PLX_ERR_OVERWRITTEN;
}

/* Word by word, since the writer may be at work in the same memory; a copy that it disturbed is thrown away. */
static void copy_words(void *to, const void *from, size_t bytes)
{
    size_t words = bytes / 8;
    for (size_t i = 0; i < words; i++)
        ((uint64_t *)to)[i] = plx_fetch64((const uint64_t *)from + i);
    for (size_t i = words * 8; i < bytes; i++)
        ((uint8_t *)to)[i] = plx_fetch8((const uint8_t *)from + i);
}

int plx_copy(struct plx_client *client, int timeout_ms, void *buffer, size_t capacity, size_t *ret_bytes)
{
    if (!client || !ret_bytes || (!buffer && capacity) || (uintptr_t)buffer % 8 || client->viewing)
        return PLX_ERR_ARG;
    int64_t deadline = deadline_of(timeout_ms);
    for (int attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
        struct plx_view view, copied;
        int code = wait_frame(client, deadline, &view);
        if (code)
            return code;
        int64_t bytes = plx_map_frame_bytes(&client->map, &view);
        bool fits = bytes >= 0 && (uint64_t)bytes <= capacity;
        if (fits)
            copy_words(buffer, view.frame, (size_t)bytes);
        if (!plx_map_whole(&client->map, view.sequence))
            continue;
        if (bytes < 0 || (fits && !plx_map_check_frame(buffer, (uint64_t)bytes, &copied)))
            return PLX_ERR_FORMAT;
        *ret_bytes = (size_t)bytes;
        if (!fits)
            return PLX_ERR_RANGE;
        count_as_seen(client, &view);
        return 0;
    }
    return PLX_ERR_OVERWRITTEN;
}

/* --- state ------------------------------------------------------------------------------------------------------- */

int plx_state(struct plx_client *client)
{
    if (!client)
        return PLX_ERR_ARG;
    if (!attached(client) || !plx_link_alive(client->socket))
        return PLX_STATE_STOPPED;
    uint32_t state = (uint32_t)status_of(client);
    return state <= PLX_STATE_STOPPED ? (int)state : PLX_ERR_FORMAT;
}

uint32_t plx_health(struct plx_client *client)
{
    if (!client || !attached(client) || !plx_link_alive(client->socket))
        return PLX_HEALTH_NO_FRAMES;
    return (uint32_t)(status_of(client) >> 32);
}
