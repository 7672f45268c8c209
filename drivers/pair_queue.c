/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/pair_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/checks/health_table.h"
#include "core/pipeline/stages.h"

enum use { FREE, FILLING, READY, HELD };

struct pair {
    uint64_t order; /* order of the pictures in it */
    enum use use[PLX_EYES];
    struct plx_capture capture[PLX_EYES];
    void *data[PLX_EYES];
};

struct plx_pair_queue {
    struct plx_stages *stages;
    enum plx_pair_queue_mode mode;
    pthread_t thread;
    bool running; /* the thread exists; the reader's own */

    pthread_mutex_t lock;         /* guards all below */
    pthread_cond_t maker, reader; /* wake the producer and the reader */
    bool stopping, asked, finished;
    int64_t due_ns; /* end of the producer's sleep; 0: it does not sleep */
    int result;     /* what make returned, once finished */
    struct plx_error_message message;
    uint64_t order;
    int pairs;
    struct pair pair[];
};

static int init_locks(struct plx_pair_queue *queue)
{
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        return PLX_ERR_NOMEM;
    if (pthread_cond_init(&queue->maker, NULL) != 0)
        goto no_maker;
    if (pthread_cond_init(&queue->reader, NULL) == 0)
        return 0;
    pthread_cond_destroy(&queue->maker);
no_maker:
    pthread_mutex_destroy(&queue->lock);
    return PLX_ERR_NOMEM;
}

int plx_pair_queue_create(struct plx_stages *stages, enum plx_pair_queue_mode mode, int pairs, size_t bytes,
                          struct plx_pair_queue **ret_queue)
{
    struct plx_pair_queue *queue = calloc(1, sizeof *queue + (size_t)pairs * sizeof queue->pair[0]);
    if (!queue)
        return PLX_ERR_NOMEM;
    queue->stages = stages;
    queue->mode = mode;
    queue->pairs = pairs;
    int result = init_locks(queue);
    if (result < 0) {
        free(queue);
        return result;
    }
    for (int i = 0; i < pairs * PLX_EYES; i++) {
        result = stages->ops->alloc(stages, bytes, &queue->pair[i / PLX_EYES].data[i % PLX_EYES]);
        if (result < 0) {
            plx_pair_queue_destroy(queue);
            return result;
        }
    }
    *ret_queue = queue;
    return 0;
}

void plx_pair_queue_destroy(struct plx_pair_queue *queue)
{
    if (!queue)
        return;
    for (int i = 0; i < queue->pairs * PLX_EYES; i++)
        if (queue->pair[i / PLX_EYES].data[i % PLX_EYES])
            queue->stages->ops->free(queue->stages, queue->pair[i / PLX_EYES].data[i % PLX_EYES]);
    pthread_cond_destroy(&queue->reader);
    pthread_cond_destroy(&queue->maker);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

static struct plx_queued_source *queued_of(struct plx_source *source)
{
    return (struct plx_queued_source *)source;
}

static void *run(void *argument)
{
    struct plx_queued_source *source = argument;
    struct plx_pair_queue *queue = source->queue;
    struct plx_error_message message = {""};
    plx_heartbeat_join(plx_heartbeat_of(source->base.heartbeats, PLX_THREAD_FEED));
    plx_heartbeat_busy(PLX_WATCHED_FEED);
    int result = source->make(source, &message);
    plx_heartbeat_leave();
    pthread_mutex_lock(&queue->lock);
    queue->finished = true;
    queue->result = result;
    queue->message = message;
    pthread_cond_signal(&queue->reader);
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

int plx_queued_source_start(struct plx_source *source, struct plx_error_message *message)
{
    struct plx_pair_queue *queue = queued_of(source)->queue;
    if (queue->running)
        return 0;
    queue->stopping = queue->finished = queue->asked = false; /* no thread yet, so no lock */
    if (pthread_create(&queue->thread, NULL, run, source) != 0)
        return plx_fail(message, PLX_ERR_NOMEM, "%s source: no thread could be started", source->ops->name);
    queue->running = true;
    return 0;
}

void plx_queued_source_stop(struct plx_source *source)
{
    struct plx_pair_queue *queue = queued_of(source)->queue;
    if (!queue || !queue->running)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->stopping = true;
    pthread_cond_signal(&queue->maker);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    queue->running = false;
    for (int i = 0; i < queue->pairs * PLX_EYES; i++)
        if (queue->pair[i / PLX_EYES].use[i % PLX_EYES] != HELD)
            queue->pair[i / PLX_EYES].use[i % PLX_EYES] = FREE;
}

static bool both(const struct pair *pair, enum use use)
{
    return pair->use[PLX_LEFT] == use && pair->use[PLX_RIGHT] == use;
}

/* The pair to fill next: a free one or, where the latest wins, the oldest of which nothing was read; -1 if there is none. */
static int find_room(const struct plx_pair_queue *queue)
{
    int oldest = -1;
    for (int i = 0; i < queue->pairs; i++) {
        if (both(&queue->pair[i], FREE))
            return i;
        if (both(&queue->pair[i], READY) && (oldest < 0 || queue->pair[i].order < queue->pair[oldest].order))
            oldest = i;
    }
    return queue->mode == PLX_PAIR_QUEUE_LATEST ? oldest : -1;
}

int plx_pair_queue_begin_pair(struct plx_pair_queue *queue, void *ret_data[PLX_EYES])
{
    pthread_mutex_lock(&queue->lock);
    int number = PLX_PAIR_QUEUE_STOPPED;
    plx_heartbeat_idle();
    while (!queue->stopping) {
        bool wanted = queue->mode != PLX_PAIR_QUEUE_ON_DEMAND || queue->asked;
        number = wanted ? find_room(queue) : PLX_PAIR_QUEUE_FULL;
        if (number >= 0 || queue->mode == PLX_PAIR_QUEUE_LATEST)
            break;
        pthread_cond_wait(&queue->maker, &queue->lock);
    }
    if (queue->stopping)
        number = PLX_PAIR_QUEUE_STOPPED;
    if (number >= 0) {
        struct pair *pair = &queue->pair[number];
        pair->use[PLX_LEFT] = pair->use[PLX_RIGHT] = FILLING;
        pair->order = queue->order++;
        memcpy(ret_data, pair->data, sizeof pair->data);
    }
    pthread_mutex_unlock(&queue->lock);
    plx_heartbeat_busy(PLX_WATCHED_FEED);
    return number;
}

void plx_pair_queue_publish(struct plx_pair_queue *queue, int number, enum plx_eye eye, const struct plx_raw *raw,
                            const struct plx_capture *capture)
{
    pthread_mutex_lock(&queue->lock);
    struct pair *pair = &queue->pair[number];
    pair->capture[eye] = *capture;
    pair->capture[eye].buffer = &pair->use[eye];
    pair->capture[eye].raw[eye] = *raw;
    pair->use[eye] = READY;
    queue->asked = false; /* the reader has its picture; the next pair is begun when it asks again */
    pthread_cond_signal(&queue->reader);
    pthread_mutex_unlock(&queue->lock);
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / PLX_NS_PER_S, .tv_nsec = ns % PLX_NS_PER_S};
}

bool plx_pair_queue_sleep_until(struct plx_pair_queue *queue, int64_t deadline_ns)
{
    const struct timespec deadline = to_timespec(deadline_ns > 0 ? deadline_ns : 0);
    plx_heartbeat_idle();
    pthread_mutex_lock(&queue->lock);
    queue->due_ns = deadline_ns;
    while (!queue->stopping && plx_now_ns() < deadline_ns)
        pthread_cond_clockwait(&queue->maker, &queue->lock, CLOCK_MONOTONIC, &deadline);
    queue->due_ns = 0;
    bool go_on = !queue->stopping;
    pthread_mutex_unlock(&queue->lock);
    plx_heartbeat_busy(PLX_WATCHED_FEED);
    return go_on;
}

/* The oldest picture that waits for the reader, the left eye first. */
static struct plx_capture *find_ready(struct plx_pair_queue *queue)
{
    const struct pair *oldest = NULL;
    struct plx_capture *ready = NULL;
    for (int i = 0; i < queue->pairs; i++)
        for (int eye = PLX_RIGHT; eye >= PLX_LEFT; eye--) {
            struct pair *pair = &queue->pair[i];
            if (pair->use[eye] != READY || (oldest && oldest->order < pair->order))
                continue;
            oldest = pair;
            ready = &pair->capture[eye];
        }
    return ready;
}

int plx_queued_source_next(struct plx_source *source, int64_t deadline_ns, struct plx_capture *ret_capture)
{
    struct plx_pair_queue *queue = queued_of(source)->queue;
    struct plx_error_message *message = &source->message;
    const struct timespec deadline = to_timespec(deadline_ns > 0 ? deadline_ns : 0);
    struct plx_capture *ready;
    int result = 0;
    pthread_mutex_lock(&queue->lock);
    while (!(ready = find_ready(queue)) && result == 0) {
        if (!queue->running) {
            result = plx_fail(message, PLX_ERR_LOST, "the %s source is stopped", source->ops->name);
        } else if (queue->finished) {
            result = queue->result;
            *message = queue->message;
        } else {
            queue->asked = true;
            pthread_cond_signal(&queue->maker);
            if (deadline_ns <= plx_now_ns())
                result = plx_fail(message, PLX_ERR_TIMEOUT, "no picture came in time");
            else
                pthread_cond_clockwait(&queue->reader, &queue->lock, CLOCK_MONOTONIC, &deadline);
        }
    }
    source->due_ns = queue->due_ns;
    if (ready) {
        *ret_capture = *ready;
        *(enum use *)ready->buffer = HELD;
        result = 0;
    }
    pthread_mutex_unlock(&queue->lock);
    return result;
}

void plx_queued_source_release(struct plx_source *source, struct plx_capture *capture)
{
    struct plx_pair_queue *queue = queued_of(source)->queue;
    if (!capture->buffer)
        return;
    pthread_mutex_lock(&queue->lock);
    *(enum use *)capture->buffer = FREE;
    pthread_cond_signal(&queue->maker);
    pthread_mutex_unlock(&queue->lock);
    capture->buffer = NULL;
}
