/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/feed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "core/stages.h"

enum use { FREE, FILLING, READY, HELD };

struct pair {
    uint64_t order; /* of the pictures in it */
    enum use use[PLX_EYES];
    struct plx_capture capture[PLX_EYES];
    void *data[PLX_EYES];
};

struct plx_feed {
    struct plx_stages *stages;
    enum plx_feed_mode mode;
    pthread_t thread;
    bool running; /* the thread exists; the reader's own */

    pthread_mutex_t lock;         /* guards all below */
    pthread_cond_t maker, reader; /* each side's own alarm */
    bool stopping, asked, finished;
    int64_t due_ns; /* while the maker sleeps: until when; else 0 */
    int result;     /* of make, once finished */
    struct plx_error_message message;
    uint64_t order;
    int pairs;
    struct pair pair[];
};

static int init_locks(struct plx_feed *feed)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0)
        return PLX_ERR_NOMEM;
    int result = PLX_ERR_NOMEM;
    if (pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0 || pthread_mutex_init(&feed->lock, NULL) != 0)
        goto done;
    if (pthread_cond_init(&feed->maker, &monotonic) != 0)
        goto no_maker;
    if (pthread_cond_init(&feed->reader, &monotonic) != 0)
        goto no_reader;
    result = 0;
    goto done;

no_reader:
    pthread_cond_destroy(&feed->maker);
no_maker:
    pthread_mutex_destroy(&feed->lock);
done:
    pthread_condattr_destroy(&monotonic);
    return result;
}

int plx_feed_create(struct plx_stages *stages, enum plx_feed_mode mode, int pairs, size_t bytes, struct plx_feed **ret_feed)
{
    struct plx_feed *feed = calloc(1, sizeof *feed + (size_t)pairs * sizeof feed->pair[0]);
    if (!feed)
        return PLX_ERR_NOMEM;
    feed->stages = stages;
    feed->mode = mode;
    feed->pairs = pairs;
    int result = init_locks(feed);
    if (result < 0) {
        free(feed);
        return result;
    }
    for (int i = 0; i < pairs * PLX_EYES; i++) {
        result = stages->ops->alloc(stages, bytes, &feed->pair[i / PLX_EYES].data[i % PLX_EYES]);
        if (result < 0) {
            plx_feed_destroy(feed);
            return result;
        }
    }
    *ret_feed = feed;
    return 0;
}

void plx_feed_destroy(struct plx_feed *feed)
{
    if (!feed)
        return;
    for (int i = 0; i < feed->pairs * PLX_EYES; i++)
        if (feed->pair[i / PLX_EYES].data[i % PLX_EYES])
            feed->stages->ops->free(feed->stages, feed->pair[i / PLX_EYES].data[i % PLX_EYES]);
    pthread_cond_destroy(&feed->reader);
    pthread_cond_destroy(&feed->maker);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
}

static struct plx_fed_source *fed_of(struct plx_source *source)
{
    return (struct plx_fed_source *)source;
}

static void *run(void *argument)
{
    struct plx_fed_source *source = argument;
    struct plx_feed *feed = source->feed;
    struct plx_error_message message = {""};
    plx_heartbeat_join(source->base.heartbeats, PLX_THREAD_FEED);
    plx_heartbeat_busy(PLX_WATCHED_FEED);
    int result = source->make(source, &message);
    plx_heartbeat_leave();
    pthread_mutex_lock(&feed->lock);
    feed->finished = true;
    feed->result = result;
    feed->message = message;
    pthread_cond_signal(&feed->reader);
    pthread_mutex_unlock(&feed->lock);
    return NULL;
}

int plx_fed_start(struct plx_source *source, struct plx_error_message *message)
{
    struct plx_feed *feed = fed_of(source)->feed;
    if (feed->running)
        return 0;
    feed->stopping = feed->finished = feed->asked = false; /* no thread yet: nobody else looks */
    if (pthread_create(&feed->thread, NULL, run, source) != 0)
        return plx_fail(message, PLX_ERR_NOMEM, "%s source: no thread could be started", source->ops->name);
    feed->running = true;
    return 0;
}

void plx_fed_stop(struct plx_source *source)
{
    struct plx_feed *feed = fed_of(source)->feed;
    if (!feed || !feed->running)
        return;
    pthread_mutex_lock(&feed->lock);
    feed->stopping = true;
    pthread_cond_signal(&feed->maker);
    pthread_mutex_unlock(&feed->lock);
    pthread_join(feed->thread, NULL);
    feed->running = false;
    for (int i = 0; i < feed->pairs * PLX_EYES; i++)
        if (feed->pair[i / PLX_EYES].use[i % PLX_EYES] != HELD)
            feed->pair[i / PLX_EYES].use[i % PLX_EYES] = FREE;
}

static bool both(const struct pair *pair, enum use use)
{
    return pair->use[PLX_LEFT] == use && pair->use[PLX_RIGHT] == use;
}

/* The pair to fill next: a free one or, where the latest wins, the oldest of which nothing was read; -1 if there is none. */
static int find_room(const struct plx_feed *feed)
{
    int oldest = -1;
    for (int i = 0; i < feed->pairs; i++) {
        if (both(&feed->pair[i], FREE))
            return i;
        if (both(&feed->pair[i], READY) && (oldest < 0 || feed->pair[i].order < feed->pair[oldest].order))
            oldest = i;
    }
    return feed->mode == PLX_FEED_LATEST ? oldest : -1;
}

int plx_feed_begin(struct plx_feed *feed, void *ret_data[PLX_EYES])
{
    pthread_mutex_lock(&feed->lock);
    int number = PLX_FEED_STOPPED;
    plx_heartbeat_idle();
    while (!feed->stopping) {
        bool wanted = feed->mode != PLX_FEED_ON_DEMAND || feed->asked;
        number = wanted ? find_room(feed) : PLX_FEED_FULL;
        if (number >= 0 || feed->mode == PLX_FEED_LATEST)
            break;
        pthread_cond_wait(&feed->maker, &feed->lock);
    }
    if (feed->stopping)
        number = PLX_FEED_STOPPED;
    if (number >= 0) {
        struct pair *pair = &feed->pair[number];
        pair->use[PLX_LEFT] = pair->use[PLX_RIGHT] = FILLING;
        pair->order = feed->order++;
        memcpy(ret_data, pair->data, sizeof pair->data);
    }
    pthread_mutex_unlock(&feed->lock);
    plx_heartbeat_busy(PLX_WATCHED_FEED);
    return number;
}

void plx_feed_publish(struct plx_feed *feed, int number, enum plx_eye eye, const struct plx_image *image,
                      const struct plx_capture *capture)
{
    pthread_mutex_lock(&feed->lock);
    struct pair *pair = &feed->pair[number];
    pair->capture[eye] = *capture;
    pair->capture[eye].buffer = &pair->use[eye];
    pair->capture[eye].raw[eye] = (struct plx_raw){
        .data = image->data,
        .bytes = image->pitch * (size_t)image->height,
        .width = image->width,
        .height = image->height,
        .pitch = image->pitch,
        .format = image->type == PLX_U16 ? PLX_FORMAT_Y16 : PLX_FORMAT_GREY,
        .eye_width = image->width,
    };
    pair->use[eye] = READY;
    feed->asked = false; /* that was what the reader waited for; the next pair is begun when it asks again */
    pthread_cond_signal(&feed->reader);
    pthread_mutex_unlock(&feed->lock);
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / PLX_NS_PER_S, .tv_nsec = ns % PLX_NS_PER_S};
}

bool plx_feed_sleep_until(struct plx_feed *feed, int64_t deadline_ns)
{
    const struct timespec deadline = to_timespec(deadline_ns > 0 ? deadline_ns : 0);
    plx_heartbeat_idle();
    pthread_mutex_lock(&feed->lock);
    feed->due_ns = deadline_ns;
    while (!feed->stopping && plx_now_ns() < deadline_ns)
        pthread_cond_timedwait(&feed->maker, &feed->lock, &deadline);
    feed->due_ns = 0;
    bool go_on = !feed->stopping;
    pthread_mutex_unlock(&feed->lock);
    plx_heartbeat_busy(PLX_WATCHED_FEED);
    return go_on;
}

/* The oldest picture that waits for the reader, the left eye first. */
static struct plx_capture *find_ready(struct plx_feed *feed)
{
    const struct pair *oldest = NULL;
    struct plx_capture *ready = NULL;
    for (int i = 0; i < feed->pairs; i++)
        for (int eye = PLX_RIGHT; eye >= PLX_LEFT; eye--) {
            struct pair *pair = &feed->pair[i];
            if (pair->use[eye] != READY || (oldest && oldest->order < pair->order))
                continue;
            oldest = pair;
            ready = &pair->capture[eye];
        }
    return ready;
}

int plx_fed_next(struct plx_source *source, int64_t deadline_ns, struct plx_capture *ret_capture)
{
    struct plx_feed *feed = fed_of(source)->feed;
    struct plx_error_message *message = &source->message;
    const struct timespec deadline = to_timespec(deadline_ns > 0 ? deadline_ns : 0);
    struct plx_capture *ready;
    int result = 0;
    pthread_mutex_lock(&feed->lock);
    while (!(ready = find_ready(feed)) && result == 0) {
        if (!feed->running) {
            result = plx_fail(message, PLX_ERR_LOST, "the %s source is stopped", source->ops->name);
        } else if (feed->finished) {
            result = feed->result;
            *message = feed->message;
        } else {
            feed->asked = true;
            pthread_cond_signal(&feed->maker);
            if (deadline_ns <= plx_now_ns())
                result = plx_fail(message, PLX_ERR_TIMEOUT, "no picture came in time");
            else
                pthread_cond_timedwait(&feed->reader, &feed->lock, &deadline);
        }
    }
    source->due_ns = feed->due_ns;
    if (ready) {
        *ret_capture = *ready;
        *(enum use *)ready->buffer = HELD;
        result = 0;
    }
    pthread_mutex_unlock(&feed->lock);
    return result;
}

void plx_fed_release(struct plx_source *source, struct plx_capture *capture)
{
    struct plx_feed *feed = fed_of(source)->feed;
    if (!capture->buffer)
        return;
    pthread_mutex_lock(&feed->lock);
    *(enum use *)capture->buffer = FREE;
    pthread_cond_signal(&feed->maker);
    pthread_mutex_unlock(&feed->lock);
    capture->buffer = NULL;
}
