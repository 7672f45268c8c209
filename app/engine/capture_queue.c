/* SPDX-License-Identifier: Apache-2.0 */
#include "app/engine/capture_queue.h"

#include <string.h>
#include <syslog.h>

#include <parallax/error.h>

#include "app/budget.h"
#include "app/supervisor/log.h"
#include "core/clock.h"

#define PATIENCE_NS (100 * PLX_NS_PER_MS) /* wait so long for a picture, then say so and look whether to stop */
#define CAMERAS_LOST (PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT)

/* Pairs are [PLX_EYES] here. */
static bool has_come(const struct plx_capture *pair)
{
    return pair[PLX_LEFT].raw[PLX_LEFT].data != NULL;
}

static void release(struct plx_capture_queue *intake, struct plx_capture *pair)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        if (pair[eye].buffer)
            intake->source->ops->release(intake->source, &pair[eye]);
        pair[eye] = (struct plx_capture){0};
    }
}

void plx_capture_queue_release(struct plx_capture_queue *intake)
{
    release(intake, intake->pair);
}

void plx_capture_queue_close(struct plx_capture_queue *intake)
{
    release(intake, intake->pair);
    release(intake, intake->next);
}

/* What the source is, which it may know only now: a camera that was missing has come. */
static void take_terms(struct plx_capture_queue *intake)
{
    struct plx_source *source = intake->source;

    if (source->note.text[0] != '\0')
        plx_log(LOG_NOTICE, "%s", source->note.text);
    source->note.text[0] = '\0';
    if (source->rate_hz == intake->rate_hz)
        return;
    intake->rate_hz = source->rate_hz;
    intake->period_ns = source->rate_hz > 0 ? (int64_t)(PLX_NS_PER_S / source->rate_hz) : 0;
    intake->pairing.drift_ns = plx_pairing_default_tolerance_ns(source->rate_hz);
    intake->pairing.tolerance_ns = intake->tolerance_ns > 0 ? intake->tolerance_ns : intake->pairing.drift_ns;
}

void plx_capture_queue_init(struct plx_capture_queue *intake, struct plx_source *source, int64_t tolerance_ns)
{
    *intake = (struct plx_capture_queue){.source = source, .rate_hz = -1 /* of no source */, .tolerance_ns = tolerance_ns};
    plx_pairing_init(&intake->pairing, plx_pairing_default_tolerance_ns(source->rate_hz));
    take_terms(intake);
}

void plx_capture_queue_start(struct plx_capture_queue *intake)
{
    intake->seen_ns[PLX_LEFT] = intake->seen_ns[PLX_RIGHT] = plx_now_ns();
}

/* What the source has to say without a picture. */
static void take_news(struct plx_capture_queue *intake, uint32_t health)
{
    const uint32_t lost = health & CAMERAS_LOST;

    if (lost & ~intake->away)
        plx_log(LOG_WARNING, "camera lost, looking for it: %s", intake->source->message.text);
    intake->away |= lost;
    intake->health |= health & ~CAMERAS_LOST;
}

/* The newest pair takes the place of one that nobody took. */
static void keep(struct plx_capture_queue *intake, const struct plx_capture *pair)
{
    if (has_come(intake->next)) {
        intake->skipped++;
        intake->health |= PLX_HEALTH_OVERLOAD;
        release(intake, intake->next);
    }
    memcpy(intake->next, pair, sizeof intake->next);
    intake->skipped += pair[PLX_LEFT].skipped > pair[PLX_RIGHT].skipped ? pair[PLX_LEFT].skipped : pair[PLX_RIGHT].skipped;
    if (intake->away)
        plx_log(LOG_NOTICE, "both cameras are there again");
    intake->away = 0;
}

static void take_capture(struct plx_capture_queue *intake, const struct plx_capture *capture)
{
    struct plx_source *source = intake->source;
    struct plx_pairing_result result;

    for (int eye = 0; eye < PLX_EYES; eye++)
        if (capture->raw[eye].data)
            intake->seen_ns[eye] = plx_now_ns();
    if (plx_pairing_push(&intake->pairing, capture, &result) < 0) {
        struct plx_capture useless = *capture;
        source->ops->release(source, &useless);
        return;
    }
    intake->health |= result.health;
    for (int i = 0; i < result.release_count; i++)
        source->ops->release(source, &result.release[i]);
    if (result.paired)
        keep(intake, result.pair);
}

/* Takes in what has come; while that is no pair, waits for one until DEADLINE_NS. */
static int take_in(struct plx_capture_queue *intake, int64_t deadline_ns, const volatile sig_atomic_t *stop)
{
    struct plx_source *source = intake->source;
    struct plx_capture capture;

    while ((!has_come(intake->next) || source->rate_hz > 0) && !*stop) {
        const int result = source->ops->next(source, has_come(intake->next) ? 0 : deadline_ns, &capture);
        take_terms(intake);
        if (result < 0) {
            if (source->due_ns > plx_now_ns()) /* it waits by its own timetable, which is not silence */
                plx_capture_queue_start(intake);
            return result;
        }
        if (capture.raw[PLX_LEFT].data || capture.raw[PLX_RIGHT].data) {
            take_capture(intake, &capture);
            continue;
        }
        take_news(intake, capture.health);
        if (intake->away && !has_come(intake->next))
            break; /* to be reported at once */
    }
    return PLX_ERR_TIMEOUT;
}

int plx_capture_queue_next(struct plx_capture_queue *intake, const volatile sig_atomic_t *stop)
{
    const int result = take_in(intake, plx_now_ns() + PATIENCE_NS, stop);

    if (!has_come(intake->next))
        return result; /* what ended the source is met again at the next call */
    memcpy(intake->pair, intake->next, sizeof intake->pair);
    memset(intake->next, 0, sizeof intake->next);
    return 0;
}

struct plx_capture *plx_capture_queue_peek(struct plx_capture_queue *intake, const volatile sig_atomic_t *stop)
{
    take_in(intake, 0, stop);
    return has_come(intake->next) ? intake->next : NULL;
}

uint32_t plx_capture_queue_silent_eyes(const struct plx_capture_queue *intake)
{
    const int64_t now = plx_now_ns();
    uint32_t health = 0;

    for (int eye = 0; eye < PLX_EYES; eye++)
        if (now - intake->seen_ns[eye] > plx_budget_warn_ns(PLX_WATCHED_LEFT + eye, intake->period_ns))
            health |= plx_budget_health(PLX_WATCHED_LEFT + eye);
    return health;
}
