/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/frame_queue.h"

#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/v4l2/buffer_queue.h"
#include "drivers/v4l2/node.h"

int plx_v4l2_frame_queue_init(struct plx_v4l2_frame_queue *frames)
{
    memset(frames, 0, sizeof *frames);
    if (pthread_mutex_init(&frames->lock, NULL) != 0)
        return PLX_ERR_NOMEM;
    if (pthread_cond_init(&frames->reader, NULL) == 0)
        return 0;
    pthread_mutex_destroy(&frames->lock);
    return PLX_ERR_NOMEM;
}

void plx_v4l2_frame_queue_finish(struct plx_v4l2_frame_queue *frames)
{
    pthread_cond_destroy(&frames->reader);
    pthread_mutex_destroy(&frames->lock);
}

static void remove_ready(struct plx_v4l2_frame_queue *frames, int index)
{
    frames->count--;
    memmove(frames->ready + index, frames->ready + index + 1, (size_t)(frames->count - index) * sizeof frames->ready[0]);
}

void plx_v4l2_frame_queue_open(struct plx_v4l2_frame_queue *frames)
{
    pthread_mutex_lock(&frames->lock);
    frames->open = true;
    frames->health = 0;
    frames->message.text[0] = '\0';
    pthread_mutex_unlock(&frames->lock);
}

void plx_v4l2_frame_queue_close(struct plx_v4l2_frame_queue *frames)
{
    pthread_mutex_lock(&frames->lock);
    frames->open = false;
    frames->health = 0;
    while (frames->count > 0) {
        plx_v4l2_slot_release(frames->ready[0].buffer);
        remove_ready(frames, 0);
    }
    pthread_cond_signal(&frames->reader);
    pthread_mutex_unlock(&frames->lock);
}

static bool same_eyes(const struct plx_capture *a, const struct plx_capture *b)
{
    return !a->raw[PLX_LEFT].data == !b->raw[PLX_LEFT].data && !a->raw[PLX_RIGHT].data == !b->raw[PLX_RIGHT].data;
}

void plx_v4l2_frame_queue_push(struct plx_v4l2_frame_queue *frames, const struct plx_capture *capture)
{
    int waiting = 0, oldest = -1, next = -1;

    pthread_mutex_lock(&frames->lock);
    for (int i = frames->count - 1; i >= 0; i--) {
        if (!same_eyes(&frames->ready[i], capture))
            continue;
        waiting++;
        next = oldest;
        oldest = i;
    }
    if (waiting == PLX_V4L2_FRAMES_QUEUED) {
        plx_v4l2_slot_release(frames->ready[oldest].buffer);
        frames->ready[next].skipped += frames->ready[oldest].skipped + 1;
        remove_ready(frames, oldest);
        frames->health |= PLX_HEALTH_OVERLOAD;
    }
    frames->ready[frames->count++] = *capture;
    pthread_cond_signal(&frames->reader);
    pthread_mutex_unlock(&frames->lock);
}

void plx_v4l2_frame_queue_report(struct plx_v4l2_frame_queue *frames, uint32_t health, const struct plx_error_message *message)
{
    pthread_mutex_lock(&frames->lock);
    if (frames->health & ~health) /* flags of another event that were not read yet */
        plx_v4l2_note(&frames->message, "%s", message->text);
    else
        frames->message = *message;
    frames->health |= health;
    pthread_cond_signal(&frames->reader);
    pthread_mutex_unlock(&frames->lock);
}

void plx_v4l2_frame_queue_fail(struct plx_v4l2_frame_queue *frames, const struct plx_error_message *message)
{
    pthread_mutex_lock(&frames->lock);
    frames->failure = *message;
    pthread_cond_signal(&frames->reader);
    pthread_mutex_unlock(&frames->lock);
}

void plx_v4l2_frame_queue_set_rate(struct plx_v4l2_frame_queue *frames, double rate_hz, const struct plx_error_message *note)
{
    pthread_mutex_lock(&frames->lock);
    frames->rate_hz = rate_hz;
    if (note->text[0])
        plx_v4l2_note(&frames->note, "%s", note->text);
    pthread_mutex_unlock(&frames->lock);
}

void plx_v4l2_frame_queue_read_rate(struct plx_v4l2_frame_queue *frames, double *ret_rate_hz, struct plx_error_message *note)
{
    pthread_mutex_lock(&frames->lock);
    *ret_rate_hz = frames->rate_hz;
    if (frames->note.text[0])
        *note = frames->note;
    frames->note.text[0] = '\0';
    pthread_mutex_unlock(&frames->lock);
}

/* Health flags first, then the oldest picture; false if there is neither. */
static bool take_ready(struct plx_v4l2_frame_queue *frames, struct plx_capture *ret_capture, struct plx_error_message *message)
{
    if (frames->health) {
        memset(ret_capture, 0, sizeof *ret_capture);
        ret_capture->health = frames->health;
        frames->health = 0;
        *message = frames->message;
        return true;
    }
    if (frames->count == 0)
        return false;
    *ret_capture = frames->ready[0];
    remove_ready(frames, 0);
    return true;
}

int plx_v4l2_frame_queue_pop(struct plx_v4l2_frame_queue *frames, int64_t deadline_ns, struct plx_capture *ret_capture,
                             struct plx_error_message *message)
{
    const int64_t until = deadline_ns > 0 ? deadline_ns : 0;
    const struct timespec deadline = {.tv_sec = until / PLX_NS_PER_S, .tv_nsec = until % PLX_NS_PER_S};
    int result = 0;

    pthread_mutex_lock(&frames->lock);
    while (result == 0 && (*frames->failure.text || !take_ready(frames, ret_capture, message))) {
        if (*frames->failure.text)
            result = plx_fail(message, PLX_ERR_LOST, "%s", frames->failure.text);
        else if (!frames->open)
            result = plx_fail(message, PLX_ERR_LOST, "the v4l2 source is stopped");
        else if (deadline_ns <= plx_now_ns())
            result = plx_fail(message, PLX_ERR_TIMEOUT, "%s",
                              frames->message.text[0] ? frames->message.text : "no picture came in time");
        else
            pthread_cond_clockwait(&frames->reader, &frames->lock, CLOCK_MONOTONIC, &deadline);
    }
    pthread_mutex_unlock(&frames->lock);
    return result;
}

/* --- the requested exposure and gain ------------------------------------------------------------------------------ */

int plx_v4l2_control_request_submit(struct plx_v4l2_control_request *request, uint32_t exposure_us, float gain)
{
    const struct plx_control_range *range = &request->range;
    int result = PLX_ERR_UNSUPPORTED;

    if (!isfinite(gain))
        return PLX_ERR_ARG;
    pthread_mutex_lock(&request->lock);
    if (range->exposure_max_us > 0) {
        if (exposure_us < range->exposure_min_us)
            exposure_us = range->exposure_min_us;
        if (exposure_us > range->exposure_max_us)
            exposure_us = range->exposure_max_us;
        gain = fminf(fmaxf(gain, range->gain_min), range->gain_max);
        request->setting = (struct plx_v4l2_setting){exposure_us, gain, .pending = true, .asked_ns = plx_now_ns()};
        result = 0;
    }
    pthread_mutex_unlock(&request->lock);
    return result;
}

void plx_v4l2_control_request_range(struct plx_v4l2_control_request *request, struct plx_control_range *ret_range)
{
    pthread_mutex_lock(&request->lock);
    *ret_range = request->range;
    pthread_mutex_unlock(&request->lock);
}

void plx_v4l2_control_request_set_range(struct plx_v4l2_control_request *request, const struct plx_control_range *range)
{
    pthread_mutex_lock(&request->lock);
    request->range = *range;
    pthread_mutex_unlock(&request->lock);
}

struct plx_v4l2_setting plx_v4l2_control_request_read(struct plx_v4l2_control_request *request)
{
    pthread_mutex_lock(&request->lock);
    const struct plx_v4l2_setting setting = request->setting;
    pthread_mutex_unlock(&request->lock);
    return setting;
}

void plx_v4l2_control_request_done(struct plx_v4l2_control_request *request, const struct plx_v4l2_setting *setting)
{
    pthread_mutex_lock(&request->lock);
    if (request->setting.exposure_us == setting->exposure_us && request->setting.gain == setting->gain)
        request->setting.pending = false;
    pthread_mutex_unlock(&request->lock);
}

void plx_v4l2_control_request_repeat(struct plx_v4l2_control_request *request)
{
    pthread_mutex_lock(&request->lock);
    request->setting.pending = request->setting.exposure_us > 0;
    request->setting.asked_ns = plx_now_ns();
    pthread_mutex_unlock(&request->lock);
}
