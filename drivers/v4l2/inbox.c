/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/inbox.h"

#include <string.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "drivers/v4l2/buffers.h"

int plx_v4l2_inbox_init(struct plx_v4l2_inbox *inbox)
{
    pthread_condattr_t monotonic;
    int result = PLX_ERR_NOMEM;

    memset(inbox, 0, sizeof *inbox);
    if (pthread_condattr_init(&monotonic) != 0)
        return result;
    if (pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0 || pthread_mutex_init(&inbox->lock, NULL) != 0)
        goto done;
    if (pthread_cond_init(&inbox->reader, &monotonic) == 0)
        result = 0;
    else
        pthread_mutex_destroy(&inbox->lock);
done:
    pthread_condattr_destroy(&monotonic);
    return result;
}

void plx_v4l2_inbox_finish(struct plx_v4l2_inbox *inbox)
{
    pthread_cond_destroy(&inbox->reader);
    pthread_mutex_destroy(&inbox->lock);
}

static void remove_ready(struct plx_v4l2_inbox *inbox, int index)
{
    inbox->count--;
    memmove(inbox->ready + index, inbox->ready + index + 1, (size_t)(inbox->count - index) * sizeof inbox->ready[0]);
}

void plx_v4l2_inbox_open(struct plx_v4l2_inbox *inbox)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->open = true;
    inbox->health = 0;
    inbox->message.text[0] = '\0';
    pthread_mutex_unlock(&inbox->lock);
}

void plx_v4l2_inbox_close(struct plx_v4l2_inbox *inbox)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->open = false;
    inbox->health = 0;
    while (inbox->count > 0) {
        plx_v4l2_slot_give_back(inbox->ready[0].buffer);
        remove_ready(inbox, 0);
    }
    pthread_cond_signal(&inbox->reader);
    pthread_mutex_unlock(&inbox->lock);
}

static bool same_eyes(const struct plx_capture *a, const struct plx_capture *b)
{
    return !a->raw[PLX_LEFT].data == !b->raw[PLX_LEFT].data && !a->raw[PLX_RIGHT].data == !b->raw[PLX_RIGHT].data;
}

void plx_v4l2_inbox_put(struct plx_v4l2_inbox *inbox, const struct plx_capture *capture)
{
    int waiting = 0, oldest = -1, next = -1;

    pthread_mutex_lock(&inbox->lock);
    for (int i = inbox->count - 1; i >= 0; i--) {
        if (!same_eyes(&inbox->ready[i], capture))
            continue;
        waiting++;
        next = oldest;
        oldest = i;
    }
    if (waiting == PLX_V4L2_WAITING) {
        plx_v4l2_slot_give_back(inbox->ready[oldest].buffer);
        inbox->ready[next].skipped += inbox->ready[oldest].skipped + 1;
        remove_ready(inbox, oldest);
        inbox->health |= PLX_HEALTH_OVERLOAD;
    }
    inbox->ready[inbox->count++] = *capture;
    pthread_cond_signal(&inbox->reader);
    pthread_mutex_unlock(&inbox->lock);
}

void plx_v4l2_inbox_tell(struct plx_v4l2_inbox *inbox, uint32_t health, const struct plx_error_message *message)
{
    pthread_mutex_lock(&inbox->lock);
    if (inbox->health & ~health) /* of something else, and not read yet */
        plx_v4l2_note(&inbox->message, "%s", message->text);
    else
        inbox->message = *message;
    inbox->health |= health;
    pthread_cond_signal(&inbox->reader);
    pthread_mutex_unlock(&inbox->lock);
}

void plx_v4l2_inbox_agree(struct plx_v4l2_inbox *inbox, double rate_hz, const struct plx_error_message *note)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->rate_hz = rate_hz;
    if (note->text[0])
        plx_v4l2_note(&inbox->note, "%s", note->text);
    pthread_mutex_unlock(&inbox->lock);
}

void plx_v4l2_inbox_terms(struct plx_v4l2_inbox *inbox, double *ret_rate_hz, struct plx_error_message *note)
{
    pthread_mutex_lock(&inbox->lock);
    *ret_rate_hz = inbox->rate_hz;
    if (inbox->note.text[0])
        *note = inbox->note;
    inbox->note.text[0] = '\0';
    pthread_mutex_unlock(&inbox->lock);
}

/* News first, then the oldest picture; false if there is nothing. */
static bool take_ready(struct plx_v4l2_inbox *inbox, struct plx_capture *ret_capture, struct plx_error_message *message)
{
    if (inbox->health) {
        memset(ret_capture, 0, sizeof *ret_capture);
        ret_capture->health = inbox->health;
        inbox->health = 0;
        *message = inbox->message;
        return true;
    }
    if (inbox->count == 0)
        return false;
    *ret_capture = inbox->ready[0];
    remove_ready(inbox, 0);
    return true;
}

int plx_v4l2_inbox_take(struct plx_v4l2_inbox *inbox, int64_t deadline_ns, struct plx_capture *ret_capture,
                        struct plx_error_message *message)
{
    const int64_t until = deadline_ns > 0 ? deadline_ns : 0;
    const struct timespec deadline = {.tv_sec = until / PLX_NS_PER_S, .tv_nsec = until % PLX_NS_PER_S};
    int result = 0;

    pthread_mutex_lock(&inbox->lock);
    while (result == 0 && !take_ready(inbox, ret_capture, message)) {
        if (!inbox->open)
            result = plx_fail(message, PLX_ERR_LOST, "the v4l2 source is stopped");
        else if (deadline_ns <= plx_now_ns())
            result = plx_fail(message, PLX_ERR_TIMEOUT, "%s",
                              inbox->message.text[0] ? inbox->message.text : "no picture came in time");
        else
            pthread_cond_timedwait(&inbox->reader, &inbox->lock, &deadline);
    }
    pthread_mutex_unlock(&inbox->lock);
    return result;
}
