/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for frames, viewing and copying them. */
#include "client/client.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/fetch.h"
#include "client/link.h"
#include "client/mapping.h"
#include "core/base/clock.h"

#define SLICE_NS (20 * PLX_NS_PER_MS) /* longest sleep; between two sleeps the socket is checked for the end of the service */
#define CROWDED_SLICE_NS (2 * PLX_NS_PER_MS) /* the same after a missed wake-up, */
#define CROWDED_NS PLX_NS_PER_S              /* for this long */
#define PASSED_ON 2                          /* readers that each woken reader wakes */
#define COPY_ATTEMPTS 64
#define LOOK_ATTEMPTS 16 /* to see a frame that is not being overwritten */

/* --- waiting ----------------------------------------------------------------------------------------------------- */

static int64_t deadline_of(int timeout_ms)
{
    return timeout_ms < 0 ? INT64_MAX : plx_now_ns() + timeout_ms * PLX_NS_PER_MS;
}

static uint64_t status_of(const struct plx_client *client)
{
    /* Acquire: everything written before the state is visible with it. */
    return atomic_load_explicit(&client->map.header->status, memory_order_acquire);
}

static bool engine_gone(const struct plx_client *client)
{
    uint32_t state = (uint32_t)status_of(client);
    return state == PLX_STATE_RECOVERING || state == PLX_STATE_FAILED || state == PLX_STATE_STOPPED;
}

/*
 * Sleeps until the wake word is no longer WORD, until DEADLINE or the end of the slice. False if a signal handler ran.
 * The writer wakes some readers, and each of them wakes more readers that sleep on the same word, which the bit selects. A
 * reader that finds the word unchanged was not woken by the writer and wakes nobody.
 */
static bool sleep_on(struct plx_client *client, uint32_t word, int64_t deadline)
{
    const _Atomic(uint32_t) *wake = &client->map.header->wake;
    const uint32_t bit = 1u << word % 32;
    int64_t now = plx_now_ns(), end = now + (now < client->crowded_until ? CROWDED_SLICE_NS : SLICE_NS);
    end = end < deadline ? end : deadline;
    const struct timespec until = {.tv_sec = end / PLX_NS_PER_S, .tv_nsec = end % PLX_NS_PER_S};
    bool woken = !syscall(SYS_futex, wake, FUTEX_WAIT_BITSET, word, &until, NULL, bit);
    bool interrupted = !woken && errno == EINTR, timed_out = !woken && errno == ETIMEDOUT;
    bool changed = atomic_load_explicit(wake, memory_order_relaxed) != word; /* the caller loads it again, ordered */
    if (woken && changed)
        syscall(SYS_futex, wake, FUTEX_WAKE_BITSET, PASSED_ON, NULL, NULL, bit);
    if (timed_out && changed) /* a wake-up reached other readers first */
        client->crowded_until = end + CROWDED_NS;
    return !interrupted;
}

/* 1: *ret_view shows a fresh frame newer than the last one; 0: there is none, or it is not fresh; FORMAT. */
static int find_new_frame(const struct plx_client *client, struct plx_view *ret_view)
{
    for (int attempt = 0; attempt < LOOK_ATTEMPTS; attempt++) {
        int found = plx_map_find_newest(&client->map, client->last, ret_view);
        if (found <= 0 || plx_is_fresh(ret_view->frame))
            return found;
        if (plx_map_whole(&client->map, ret_view->sequence))
            return 0;
    }
    return 0;
}

/* Waits for a fresh frame newer than the last one, and does not count it as seen. */
static int wait_frame(struct plx_client *client, int64_t deadline, struct plx_view *ret_view)
{
    for (;;) {
        if (!plx_client_attached(client)) {
            int result = plx_client_reattach(client, deadline);
            if (result)
                return result;
        }
        int mapped = plx_client_map_frames(client); /* nothing to do, unless plx_verdict has attached */
        if (mapped)
            return mapped;
        /* Loaded before the ring, so that a later frame changes the word and ends the sleep. Acquire: the ring is read after.
         */
        uint32_t word = atomic_load_explicit(&client->map.header->wake, memory_order_acquire);
        if (client->poll_fd >= 0)
            plx_link_drain(client->socket);
        int found = find_new_frame(client, ret_view);
        if (found < 0)
            return found;
        if (found) {
            if (engine_gone(client)) /* the message of the state may have been drained above */
                plx_client_remind(client, true);
            return 0;
        }

        plx_client_remind(client, false);
        bool service_gone = !plx_link_alive(client->socket);
        bool gone = service_gone || engine_gone(client);
        bool is_new = gone && !client->loss_reported;
        client->loss_reported = gone;
        if (service_gone)
            plx_client_detach(client);
        if (is_new)
            return PLX_ERR_LOST;
        if (service_gone)
            continue;
        if (plx_now_ns() >= deadline || !sleep_on(client, word, deadline))
            return gone ? PLX_ERR_LOST : PLX_ERR_TIMEOUT;
    }
}

static void count_as_seen(struct plx_client *client, struct plx_view *view)
{
    view->missed = client->seen_any ? view->sequence - client->last - 1 : 0;
    view->token = view->sequence;
    client->last = view->sequence;
    client->seen_any = true;
    client->loss_reported = false;
}

int plx_next(struct plx_client *client, int timeout_ms, struct plx_view *ret_view)
{
    if (!client || !ret_view || client->viewing)
        return PLX_ERR_ARG;
    struct plx_view view;
    int result = wait_frame(client, deadline_of(timeout_ms), &view);
    if (result)
        return result;
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

/* Word by word: the writer may write the same memory meanwhile, and such a copy is discarded. */
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
        int result = wait_frame(client, deadline, &view);
        if (result)
            return result;
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

/* Maps the frames of an attached client. LOST: it is not attached. */
static int reach_frames(struct plx_client *client)
{
    return plx_client_attached(client) ? plx_client_map_frames(client) : PLX_ERR_LOST;
}

int plx_view_at(struct plx_client *client, uint64_t sequence, struct plx_view *ret_view)
{
    if (!client || !ret_view || client->viewing)
        return PLX_ERR_ARG;
    struct plx_view view;
    const int result = reach_frames(client);
    const int found = result ? result : plx_map_find(&client->map, sequence, &view);
    if (found <= 0)
        return found < 0 ? found : PLX_ERR_NOT_FOUND;
    view.missed = 0;
    view.token = sequence;
    client->viewing = true;
    *ret_view = view;
    return 0;
}

int plx_last_header(struct plx_client *client, struct plx_frame *ret_frame)
{
    if (!client || !ret_frame)
        return PLX_ERR_ARG;
    int result = reach_frames(client);
    if (result)
        return result;
    for (int attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
        struct plx_view view;
        struct plx_frame frame;
        int found = plx_map_find_newest(&client->map, 0, &view);
        if (found <= 0)
            return found < 0 ? found : PLX_ERR_NOT_FOUND;
        copy_words(&frame, view.frame, sizeof frame);
        if (!plx_map_whole(&client->map, view.sequence))
            continue;
        *ret_frame = frame;
        ret_frame->obstacle_count = view.obstacle_count;
        return 0;
    }
    return PLX_ERR_OVERWRITTEN;
}

/* --- state ------------------------------------------------------------------------------------------------------- */

/* True if the newest frame is fresh, or there is none to judge. Looked at in place: a copy of the header is tens of kilobytes.
 */
static bool newest_is_fresh(const struct plx_client *client)
{
    for (int attempt = 0; attempt < LOOK_ATTEMPTS; attempt++) {
        struct plx_view view;
        if (plx_map_find_newest(&client->map, 0, &view) <= 0)
            return true;
        bool fresh = plx_is_fresh(view.frame);
        if (plx_map_whole(&client->map, view.sequence))
            return fresh;
    }
    return true; /* frames come too fast to be old */
}

/* State and health of an attached client's service. The service notices missing frames after a while; what a robot must not act
 * by any more does not look good in between. */
static uint64_t status_now(const struct plx_client *client)
{
    uint64_t status = status_of(client);
    uint32_t state = (uint32_t)status;
    if ((state != PLX_STATE_RUNNING && state != PLX_STATE_DEGRADED) || newest_is_fresh(client))
        return status;
    return (status >> 32 | PLX_HEALTH_NO_FRAMES) << 32 | PLX_STATE_DEGRADED;
}

int plx_state(struct plx_client *client)
{
    if (!client)
        return PLX_ERR_ARG;
    if (plx_client_hands_over(client))
        return PLX_STATE_STARTING;
    if (!plx_client_attached(client) || !plx_link_alive(client->socket) || plx_client_map_frames(client))
        return PLX_STATE_STOPPED;
    uint32_t state = (uint32_t)status_now(client);
    return state <= PLX_STATE_STOPPED ? (int)state : PLX_ERR_FORMAT;
}

int plx_mapping_ref(struct plx_client *client, const struct plx_mapping **ret_mapping)
{
    if (!client || !ret_mapping)
        return PLX_ERR_ARG;
    int result = reach_frames(client);
    if (result)
        return result;
    *ret_mapping = plx_mapping_share(client->map.mapping);
    return 0;
}

uint32_t plx_restarts(struct plx_client *client)
{
    if (!client || !plx_client_attached(client))
        return 0;
    return atomic_load_explicit(&client->map.header->restarts, memory_order_relaxed); /* no other data depends on it */
}

uint32_t plx_health(struct plx_client *client)
{
    if (!client || !plx_client_attached(client) || !plx_link_alive(client->socket) || plx_client_map_frames(client))
        return PLX_HEALTH_NO_FRAMES;
    return (uint32_t)(status_now(client) >> 32);
}

int plx_reason(struct plx_client *client, char *ret_text, size_t size)
{
    if (!client || !ret_text || size == 0)
        return PLX_ERR_ARG;
    if (!plx_client_attached(client) || !plx_link_alive(client->socket))
        return PLX_ERR_LOST;
    return plx_map_reason(&client->map, ret_text, size);
}
