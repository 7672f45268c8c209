/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/decode_schedule.h"

#include <parallax/error.h>

#include "core/clock.h"

#define EXPECTED_NS (300 * PLX_NS_PER_MS) /* the schedule does not wait for a camera that was silent for so long ... */
#define EXPECTED_PERIODS 3                /* ... and for so many periods */
#define OVERDUE_PERIODS 4                 /* then decode without a partner: pairing reports cameras out of step */

unsigned plx_v4l2_decode_schedule_choose(const struct plx_v4l2_decode_candidate *eye, int count, int64_t period_ns,
                                         bool overdue)
{
    const struct plx_v4l2_decode_candidate *left = &eye[0], *right = &eye[1];

    if (overdue)
        return (left->waiting ? 1U : 0) | (count > 1 && right->waiting ? 2U : 0);
    if (count == 1 || !right->waiting)
        return left->waiting && (count == 1 || !right->expected) ? 1 : 0;
    if (!left->waiting)
        return left->expected ? 0 : 2;
    const int64_t apart = left->capture_ns - right->capture_ns;
    if (2 * apart <= period_ns && 2 * apart >= -period_ns)
        return 3;
    const struct plx_v4l2_decode_candidate *older = apart < 0 ? left : right;
    if (older->expected)
        return 0;
    return apart < 0 ? 2 : 1;
}

static bool is_expected(const struct plx_v4l2_camera *camera, int64_t now_ns)
{
    const int64_t periods = EXPECTED_PERIODS * plx_v4l2_camera_period_ns(camera);
    return camera->streaming && now_ns - camera->progress_ns < (periods > EXPECTED_NS ? periods : EXPECTED_NS);
}

static bool is_idle(const struct plx_v4l2_decode_schedule *schedule)
{
    for (int i = 0; i < PLX_EYES; i++)
        if (schedule->decoder[i] && !plx_v4l2_decoder_is_idle(schedule->decoder[i]))
            return false;
    return true;
}

void plx_v4l2_decode_schedule_run(struct plx_v4l2_decode_schedule *schedule, struct plx_v4l2_camera *camera, int count)
{
    const int64_t now = plx_now_ns(), period_ns = plx_v4l2_camera_period_ns(&camera[0]);
    struct plx_v4l2_decode_candidate eye[PLX_EYES] = {{0}};

    if (!is_idle(schedule)) {
        schedule->progress_ns = now;
        return;
    }
    for (int i = 0; i < count; i++)
        eye[i] = (struct plx_v4l2_decode_candidate){.waiting = camera[i].pending.buffer != NULL,
                                                    .capture_ns = camera[i].pending.capture_ns,
                                                    .expected = schedule->decoder[i] && is_expected(&camera[i], now)};
    const bool overdue = now - schedule->progress_ns > OVERDUE_PERIODS * period_ns;
    const unsigned chosen = plx_v4l2_decode_schedule_choose(eye, count, period_ns, overdue);
    schedule->progress_ns = chosen ? now : schedule->progress_ns;
    for (int i = 0; i < count; i++) {
        if (!(chosen >> i & 1))
            continue;
        plx_v4l2_decoder_give(schedule->decoder[i], &camera[i].buffers->compressed, &camera[i].pending);
        camera[i].pending.buffer = NULL;
    }
}

void plx_v4l2_decode_schedule_put(const struct plx_v4l2_decode_schedule *schedule, struct plx_v4l2_camera *camera,
                                  const struct plx_capture *capture)
{
    const struct plx_capture before = camera->pending;

    camera->pending = *capture;
    if (!before.buffer)
        return;
    plx_v4l2_slot_release(before.buffer);
    camera->pending.skipped += before.skipped + 1;
    if (!is_idle(schedule)) /* else its partner did not come */
        camera->pending.health |= PLX_HEALTH_OVERLOAD;
}

int plx_v4l2_decode_schedule_start(struct plx_v4l2_decode_schedule *schedule, const struct plx_v4l2_camera *camera, int i,
                                   struct plx_v4l2_frame_queue *frames, int wake_fd, struct plx_heartbeats *heartbeats,
                                   struct plx_error_message *message)
{
    struct plx_v4l2_decoder **decoder = &schedule->decoder[i];
    int result = 0;

    if (!camera->buffers->compressed.data)
        return 0;
    schedule->progress_ns = plx_now_ns();
    if (!*decoder)
        result = plx_v4l2_decoder_create(frames, wake_fd, camera->buffers->compressed_room, decoder);
    if (result == 0)
        result = plx_v4l2_decoder_start(*decoder, heartbeats, (enum plx_thread)(PLX_THREAD_DECODE + i));
    return result < 0 ? plx_fail(message, result, "%s: no memory or thread to decode its pictures", camera->node.path) : 0;
}

void plx_v4l2_decode_schedule_stop(struct plx_v4l2_decode_schedule *schedule)
{
    for (int i = 0; i < PLX_EYES; i++)
        plx_v4l2_decoder_stop(schedule->decoder[i]);
}

void plx_v4l2_decode_schedule_finish(struct plx_v4l2_decode_schedule *schedule)
{
    for (int i = 0; i < PLX_EYES; i++) {
        plx_v4l2_decoder_destroy(schedule->decoder[i]);
        schedule->decoder[i] = NULL;
    }
}
