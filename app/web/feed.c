/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/feed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <parallax/error.h>

#include "app/log.h"
#include "app/view/export.h"
#include "app/view/frame_text.h"
#include "core/base/clock.h"

#define STATE_US UINT64_C(200000) /* a page calls everything unknown after a second without news */
#define STATES_PER_S 5

/* Copies a new frame into feed->frame. Errors of plx_copy but RANGE; NOMEM. */
static int copy_frame(struct plx_web_feed *feed)
{
    size_t bytes = 0;
    int result = plx_copy(feed->client, 0, feed->frame, feed->capacity, &bytes);
    if (result != PLX_ERR_RANGE)
        return result;
    struct plx_frame *larger = realloc(feed->frame, bytes);
    if (!larger)
        return PLX_ERR_NOMEM;
    feed->frame = larger;
    feed->capacity = bytes;
    return plx_copy(feed->client, 0, feed->frame, feed->capacity, &bytes);
}

/* Only counts a new frame: nobody looks. */
static int pass_frame(struct plx_web_feed *feed)
{
    struct plx_view view;
    const int result = plx_next(feed->client, 0, &view);
    if (result < 0)
        return result;
    struct plx_frame_stats stats = feed->stats;
    plx_frame_stats_add(&stats, view.frame);
    const double free_m = plx_free_ahead(&view);
    const struct plx_drop drop = plx_drop_ahead(&view);
    const int released = plx_release(feed->client, &view);
    if (released < 0)
        return released;
    feed->stats = stats;
    feed->status.free_m = free_m;
    feed->status.drop = drop;
    return 0;
}

static void tell_frame(struct plx_web_feed *feed)
{
    struct plx_status *status = &feed->status;
    plx_frame_stats_add(&feed->stats, feed->frame);
    plx_status_read(feed->client, status);
    memcpy(&status->frame, feed->frame, sizeof status->frame);
    status->any = true;
    status->fresh = plx_is_fresh(feed->frame); /* this program may have been held up since the copy */
    status->age_ns = plx_age_ns(feed->frame);
    const struct plx_view view = plx_export_view(feed->frame);
    status->free_m = plx_free_ahead(&view);
    status->drop = plx_drop_ahead(&view);
    feed->audience->frame(feed->audience->context);
}

/* Takes a new frame, if there is one. */
static void take(struct plx_web_feed *feed)
{
    const bool whole = feed->audience->wants_frame(feed->audience->context);
    const int result = whole ? copy_frame(feed) : pass_frame(feed); /* LOST and the like: read_state sees it too */
    if (result == 0 && whole)
        tell_frame(feed);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *context)
{
    (void)source;
    (void)fd;
    (void)events;
    take(context);
    return 0;
}

/* The service is looked for once a second; where it hangs, plx_connect waits for up to 2 s. */
static void find_service(struct plx_web_feed *feed)
{
    if (plx_connect(feed->socket, &feed->client) < 0)
        return;
    const int fd = plx_fd(feed->client);
    if (fd < 0 || sd_event_add_io(feed->event, &feed->readable, fd, EPOLLIN, on_readable, feed) < 0) {
        plx_disconnect(feed->client);
        feed->client = NULL;
    }
}

static void read_state(struct plx_web_feed *feed)
{
    struct plx_status *status = &feed->status;
    status->up = false;
    if (!feed->client || plx_status_read(feed->client, status) < 0 || status->state == PLX_STATE_STOPPED) {
        status->up = false;
        status->state = PLX_STATE_STOPPED;
        status->health = PLX_HEALTH_NO_FRAMES;
        status->reason[0] = '\0';
    }
    status->any = (feed->client && plx_last_header(feed->client, &status->frame) == 0) || status->any;
    status->fresh = status->any && status->up && plx_is_fresh(&status->frame);
    status->age_ns = status->any ? plx_age_ns(&status->frame) : INT64_MAX;
    status->free_m = status->fresh ? status->free_m : (double)NAN;
    status->drop = status->fresh ? status->drop : (struct plx_drop){.known = false};
}

/* Says once whether the service is there, and whenever it comes or goes. */
static void log_change(struct plx_web_feed *feed, bool was_up)
{
    if (feed->status.up && (!was_up || !feed->is_logged))
        plx_log(LOG_INFO, "%s: reading the service", feed->socket);
    else if (!feed->status.up && (was_up || !feed->is_logged))
        plx_log(LOG_WARNING, "%s: %s; waiting for it", feed->socket,
                feed->is_logged ? "the service is gone" : "no service is there yet");
    feed->is_logged = true;
}

static int on_timer(sd_event_source *source, uint64_t now_us, void *context)
{
    struct plx_web_feed *feed = context;
    (void)now_us;
    const bool was_up = feed->status.up, is_second = feed->states % STATES_PER_S == 0;
    feed->states++;
    if (is_second && !feed->client)
        find_service(feed);
    else if (is_second)
        take(feed); /* whose service is gone, attaches again */
    read_state(feed);
    if (is_second) {
        feed->status.stats = feed->stats;
        plx_frame_stats_restart(&feed->stats);
    }
    log_change(feed, was_up);
    feed->audience->state(feed->audience->context, is_second);
    sd_event_source_set_time_relative(source, STATE_US);
    sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    return 0;
}

int plx_web_feed_open(struct plx_web_feed *feed, const char *socket, sd_event *event, const struct plx_web_audience *audience)
{
    feed->socket = socket;
    feed->event = event;
    feed->audience = audience;
    feed->status.state = PLX_STATE_STOPPED;
    return sd_event_add_time(event, &feed->timer, CLOCK_MONOTONIC, 0, 0, on_timer, feed) < 0 ? PLX_ERR_NOMEM : 0;
}

void plx_web_feed_close(struct plx_web_feed *feed)
{
    sd_event_source_disable_unref(feed->timer);
    sd_event_source_disable_unref(feed->readable);
    plx_disconnect(feed->client);
    free(feed->frame);
    *feed = (struct plx_web_feed){.socket = NULL};
}
