/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/decoder.h"

#include <stdlib.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/files/picture.h"

struct plx_v4l2_decoder {
    struct plx_v4l2_frame_queue *frames;
    int wake_fd;
    struct plx_heartbeat *heartbeat;
    pthread_t thread;
    bool running; /* only for start and stop */

    pthread_mutex_t lock; /* guards the next two */
    pthread_cond_t given;
    bool stopping, busy;

    /* The thread's own while it is busy. */
    struct plx_jpeg *jpeg;
    struct plx_v4l2_compressed file;
    struct plx_capture capture;
};

int plx_v4l2_decoder_create(struct plx_v4l2_frame_queue *frames, int wake_fd, size_t capacity,
                            struct plx_v4l2_decoder **ret_decoder)
{
    struct plx_v4l2_decoder *decoder = calloc(1, sizeof *decoder);

    if (!decoder)
        return PLX_ERR_NOMEM;
    decoder->frames = frames;
    decoder->wake_fd = wake_fd;
    decoder->file.data = malloc(capacity);
    if (!decoder->file.data || plx_jpeg_create(&decoder->jpeg) < 0)
        goto no_memory;
    if (pthread_mutex_init(&decoder->lock, NULL) != 0)
        goto no_memory;
    if (pthread_cond_init(&decoder->given, NULL) == 0) {
        *ret_decoder = decoder;
        return 0;
    }
    pthread_mutex_destroy(&decoder->lock);
no_memory:
    plx_jpeg_destroy(decoder->jpeg);
    free(decoder->file.data);
    free(decoder);
    return PLX_ERR_NOMEM;
}

void plx_v4l2_decoder_destroy(struct plx_v4l2_decoder *decoder)
{
    if (!decoder)
        return;
    plx_v4l2_decoder_stop(decoder);
    pthread_cond_destroy(&decoder->given);
    pthread_mutex_destroy(&decoder->lock);
    plx_jpeg_destroy(decoder->jpeg);
    free(decoder->file.data);
    free(decoder);
}

static void decode(struct plx_v4l2_decoder *decoder)
{
    const struct plx_raw *raw = decoder->capture.raw;
    struct plx_error_message message = {""};

    if (!raw[PLX_LEFT].data)
        raw++;
    const struct plx_image grey = {((struct plx_v4l2_slot *)decoder->capture.buffer)->memory.data, raw->width, raw->height,
                                   raw->pitch, PLX_U8};
    const struct plx_image rgb = {plx_row(&grey, raw->height), raw->width, raw->height, PLX_RGB * raw->pitch, PLX_RGB};
    int result = plx_jpeg_decode(decoder->jpeg, decoder->file.data, decoder->file.bytes, &grey,
                                 raw->format == PLX_FORMAT_GREY_RGB ? &rgb : NULL, &message);
    if (result == 0) {
        plx_v4l2_frame_queue_push(decoder->frames, &decoder->capture);
        return;
    }
    plx_v4l2_slot_release(decoder->capture.buffer);
    plx_v4l2_frame_queue_report(decoder->frames, PLX_HEALTH_BUFFER_ERROR, &message);
}

static void *run(void *argument)
{
    struct plx_v4l2_decoder *decoder = argument;
    const uint64_t one = 1;

    plx_heartbeat_join(decoder->heartbeat);
    pthread_mutex_lock(&decoder->lock);
    while (!decoder->stopping) {
        if (!decoder->busy) {
            pthread_cond_wait(&decoder->given, &decoder->lock);
            continue;
        }
        pthread_mutex_unlock(&decoder->lock);
        plx_heartbeat_busy(PLX_WATCHED_DECODE);
        decode(decoder);
        plx_heartbeat_idle();
        pthread_mutex_lock(&decoder->lock);
        decoder->busy = false;
        ssize_t written = write(decoder->wake_fd, &one, sizeof one);
        (void)written; /* EAGAIN: the counter is full, so the capture thread is awake already */
    }
    pthread_mutex_unlock(&decoder->lock);
    plx_heartbeat_leave();
    return NULL;
}

int plx_v4l2_decoder_start(struct plx_v4l2_decoder *decoder, struct plx_heartbeat *heartbeat)
{
    if (decoder->running)
        return 0;
    decoder->heartbeat = heartbeat;
    decoder->stopping = false;
    decoder->running = pthread_create(&decoder->thread, NULL, run, decoder) == 0;
    return decoder->running ? 0 : PLX_ERR_NOMEM;
}

void plx_v4l2_decoder_stop(struct plx_v4l2_decoder *decoder)
{
    if (!decoder || !decoder->running)
        return;
    pthread_mutex_lock(&decoder->lock);
    decoder->stopping = true;
    pthread_cond_signal(&decoder->given);
    pthread_mutex_unlock(&decoder->lock);
    pthread_join(decoder->thread, NULL);
    decoder->running = false;
    if (decoder->busy) /* queued, not started */
        plx_v4l2_slot_release(decoder->capture.buffer);
    decoder->busy = false;
}

bool plx_v4l2_decoder_is_idle(struct plx_v4l2_decoder *decoder)
{
    pthread_mutex_lock(&decoder->lock);
    const bool idle = !decoder->busy;
    pthread_mutex_unlock(&decoder->lock);
    return idle;
}

void plx_v4l2_decoder_give(struct plx_v4l2_decoder *decoder, struct plx_v4l2_compressed *file,
                           const struct plx_capture *capture)
{
    const struct plx_v4l2_compressed own = decoder->file;

    decoder->file = *file; /* the thread looks at it only once it is busy */
    decoder->capture = *capture;
    *file = own;
    pthread_mutex_lock(&decoder->lock);
    decoder->busy = true;
    pthread_cond_signal(&decoder->given);
    pthread_mutex_unlock(&decoder->lock);
}

/* --- which pictures are decoded next ------------------------------------------------------------------------------ */

#define EXPECTED_NS (300 * PLX_NS_PER_MS) /* the schedule does not wait for a camera that was silent for so long ... */
#define EXPECTED_PERIODS 3                /* ... and for so many periods */
#define OVERDUE_PERIODS 4                 /* after so many, decode without a partner: pairing reports cameras out of step */

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
    const int64_t difference = left->capture_ns - right->capture_ns;
    if (2 * difference <= period_ns && 2 * difference >= -period_ns)
        return 3;
    const struct plx_v4l2_decode_candidate *older = difference < 0 ? left : right;
    if (older->expected)
        return 0;
    return difference < 0 ? 2 : 1;
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
    if (!is_idle(schedule)) /* if idle, the picture waited for a partner that did not come */
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
        result = plx_v4l2_decoder_create(frames, wake_fd, camera->buffers->compressed_capacity, decoder);
    if (result == 0)
        result = plx_v4l2_decoder_start(*decoder, plx_heartbeat_of(heartbeats, (enum plx_thread)(PLX_THREAD_DECODE + i)));
    return result < 0 ? plx_fail(message, result, "%s: no memory or thread for decoding its pictures", camera->node.path) : 0;
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
