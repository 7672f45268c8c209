/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/capture_queue.h"

#include <string.h>
#include <syslog.h>

#include <parallax/error.h>

#include "app/log.h"
#include "core/base/clock.h"
#include "core/checks/health_table.h"

#define WAIT_NS                                                                                                                \
    (100 * PLX_NS_PER_MS) /* longest wait for a picture: then the loop checks commands, sensors and silent cameras */
#define CAMERAS_LOST (PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT)

static bool has_pair(const struct plx_capture_queue *queue)
{
    return queue->pair[PLX_LEFT].raw[PLX_LEFT].data != NULL;
}

void plx_capture_queue_release(struct plx_capture_queue *queue)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        if (queue->pair[eye].buffer)
            queue->source->ops->release(queue->source, &queue->pair[eye]);
        queue->pair[eye] = (struct plx_capture){0};
    }
}

/* Logs the source's note, and follows its rate, which changes when a missing camera appears. */
static void update_rate(struct plx_capture_queue *queue)
{
    struct plx_source *source = queue->source;

    if (source->note.text[0] != '\0')
        plx_log(LOG_NOTICE, "%s", source->note.text);
    source->note.text[0] = '\0';
    if (source->rate_hz == queue->rate_hz)
        return;
    queue->rate_hz = source->rate_hz;
    queue->period_ns = source->rate_hz > 0 ? (int64_t)(PLX_NS_PER_S / source->rate_hz) : 0;
    queue->seen = (struct plx_period){0};
    plx_period_add(&queue->seen, queue->period_ns);
    queue->pairing.drift_ns = plx_pairing_default_tolerance_ns(plx_source_capture_hz(source));
    queue->pairing.tolerance_ns = queue->tolerance_ns > 0 ? queue->tolerance_ns : queue->pairing.drift_ns;
}

void plx_capture_queue_init(struct plx_capture_queue *queue, struct plx_source *source, int64_t tolerance_ns)
{
    *queue = (struct plx_capture_queue){.source = source, .rate_hz = -1 /* no valid rate */, .tolerance_ns = tolerance_ns};
    plx_pairing_init(&queue->pairing, plx_pairing_default_tolerance_ns(plx_source_capture_hz(source)));
    update_rate(queue);
}

void plx_capture_queue_start(struct plx_capture_queue *queue)
{
    queue->seen_ns[PLX_LEFT] = queue->seen_ns[PLX_RIGHT] = plx_now_ns();
}

/* Records the health flags of a capture without a picture. */
static void update_lost_cameras(struct plx_capture_queue *queue, uint32_t health)
{
    const uint32_t lost = health & CAMERAS_LOST;

    if (lost & ~queue->lost_cameras)
        plx_log(LOG_WARNING, "camera lost, looking for it: %s", queue->source->message.text);
    queue->lost_cameras |= lost;
    queue->health |= health & ~CAMERAS_LOST;
}

/* A newer pair replaces one that the engine has not processed. */
static void keep_newest(struct plx_capture_queue *queue, const struct plx_capture *pair)
{
    if (has_pair(queue)) {
        queue->skipped++;
        queue->health |= PLX_HEALTH_OVERLOAD;
        plx_capture_queue_release(queue);
    }
    memcpy(queue->pair, pair, sizeof queue->pair);
    queue->skipped += pair[PLX_LEFT].skipped > pair[PLX_RIGHT].skipped ? pair[PLX_LEFT].skipped : pair[PLX_RIGHT].skipped;
    if (queue->lost_cameras)
        plx_log(LOG_NOTICE, "both cameras are there again");
    queue->lost_cameras = 0;
}

static void pair_capture(struct plx_capture_queue *queue, const struct plx_capture *capture)
{
    struct plx_source *source = queue->source;
    struct plx_pairing_result result;

    for (int eye = 0; eye < PLX_EYES; eye++)
        if (capture->raw[eye].data)
            queue->seen_ns[eye] = plx_now_ns();
    if (plx_pairing_push(&queue->pairing, capture, &result) < 0) {
        struct plx_capture unpaired = *capture;
        source->ops->release(source, &unpaired);
        return;
    }
    queue->health |= result.health;
    for (int i = 0; i < result.release_count; i++)
        source->ops->release(source, &result.release[i]);
    if (result.paired)
        keep_newest(queue, result.pair);
}

int64_t plx_capture_queue_fresh_ns(const struct plx_capture_queue *queue)
{
    return queue->period_ns > 0 ? plx_budget_fresh_ns(plx_period_ns(&queue->seen)) : 0;
}

/* The pair is the loop's now. */
static void take(struct plx_capture_queue *queue)
{
    const int64_t capture_ns = queue->pair[PLX_LEFT].capture_ns;

    if (queue->taken_ns != 0)
        plx_period_add(&queue->seen, capture_ns - queue->taken_ns);
    queue->taken_ns = capture_ns;
}

/* Drops a pair that a robot may not act by any more: nobody would be given its frame. True if it was one. */
static bool drop_old(struct plx_capture_queue *queue)
{
    const int64_t fresh_ns = plx_capture_queue_fresh_ns(queue);
    const int64_t age_ns = plx_now_ns() - queue->pair[PLX_LEFT].capture_ns;
    const bool was_old = queue->old;

    queue->old = fresh_ns > 0 && age_ns >= fresh_ns;
    if (!queue->old)
        return false;
    if (!was_old)
        plx_log(LOG_WARNING, "a pair was captured %.2f s ago, and with %.2f s it is too old: dropping such pairs",
                (double)age_ns / PLX_NS_PER_S, (double)fresh_ns / PLX_NS_PER_S);
    queue->skipped++;
    queue->health |= PLX_HEALTH_LATE;
    plx_capture_queue_release(queue);
    return true;
}

int plx_capture_queue_next(struct plx_capture_queue *queue, const volatile sig_atomic_t *stop)
{
    struct plx_source *source = queue->source;
    const int64_t deadline_ns = plx_now_ns() + WAIT_NS;
    struct plx_capture capture;
    int result = 0;

    while (result == 0 && (!has_pair(queue) || source->rate_hz > 0) && !*stop) {
        result = source->ops->next(source, has_pair(queue) ? 0 : deadline_ns, &capture);
        update_rate(queue);
        if (result < 0) {
            if (source->due_ns > plx_now_ns()) /* a recording waits for the time of its next pair: the cameras are not silent */
                plx_capture_queue_start(queue);
        } else if (capture.raw[PLX_LEFT].data || capture.raw[PLX_RIGHT].data) {
            pair_capture(queue, &capture);
        } else {
            update_lost_cameras(queue, capture.health);
            if (queue->lost_cameras && !has_pair(queue))
                break; /* the loss is reported at once */
        }
    }
    if (has_pair(queue)) {
        take(queue);
        if (!drop_old(queue))
            return 0; /* if the source has ended, the next call returns END */
    }
    return result < 0 ? result : PLX_ERR_TIMEOUT;
}

uint32_t plx_capture_queue_silent_eyes(const struct plx_capture_queue *queue)
{
    const int64_t now = plx_now_ns();
    uint32_t health = 0;

    for (int eye = 0; eye < PLX_EYES; eye++)
        if (now - queue->seen_ns[eye] > plx_budget_warn_ns(PLX_WATCHED_LEFT + eye, queue->period_ns))
            health |= plx_budget_health(PLX_WATCHED_LEFT + eye);
    return health;
}
