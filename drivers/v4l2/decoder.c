/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/decoder.h"

#include <stdlib.h>
#include <turbojpeg.h>
#include <unistd.h>

#include <parallax/error.h>

struct plx_jpeg {
    tjhandle handle;
};

int plx_jpeg_create(struct plx_jpeg **ret_jpeg)
{
    struct plx_jpeg *jpeg = calloc(1, sizeof *jpeg);
    if (!jpeg)
        return PLX_ERR_NOMEM;
    jpeg->handle = tjInitDecompress();
    if (!jpeg->handle) {
        free(jpeg);
        return PLX_ERR_NOMEM;
    }
    *ret_jpeg = jpeg;
    return 0;
}

void plx_jpeg_destroy(struct plx_jpeg *jpeg)
{
    if (!jpeg)
        return;
    if (jpeg->handle)
        tjDestroy(jpeg->handle);
    free(jpeg);
}

static int decompress(tjhandle handle, const void *data, size_t bytes, const struct plx_image *grey,
                      struct plx_error_message *message)
{
    int width, height, subsampling, colours;

    if (tjDecompressHeader3(handle, data, bytes, &width, &height, &subsampling, &colours) < 0)
        return plx_fail(message, PLX_ERR_FORMAT, "no JPEG picture: %s", tjGetErrorStr2(handle));
    if (width != grey->width || height != grey->height)
        return plx_fail(message, PLX_ERR_FORMAT, "a JPEG picture of %dx%d pixels, expected %dx%d", width, height, grey->width,
                        grey->height);
    /* A warning of libjpeg-turbo is an error here: a truncated picture is grey from there on. */
    if (tjDecompress2(handle, data, bytes, grey->data, width, (int)grey->pitch, height, TJPF_GRAY, 0) < 0)
        return plx_fail(message, PLX_ERR_FORMAT, "a damaged JPEG picture: %s", tjGetErrorStr2(handle));
    return 0;
}

int plx_jpeg_decode(struct plx_jpeg *jpeg, const void *data, size_t bytes, const struct plx_image *grey,
                    struct plx_error_message *message)
{
    if (!jpeg->handle)
        jpeg->handle = tjInitDecompress();
    if (!jpeg->handle)
        return plx_fail(message, PLX_ERR_NOMEM, "JPEG: out of memory");
    int result = decompress(jpeg->handle, data, bytes, grey, message);
    if (result < 0) { /* libjpeg-turbo 2.1 resumes where a header broke off, so the next picture would fail too */
        tjDestroy(jpeg->handle);
        jpeg->handle = NULL;
    }
    return result;
}

struct plx_v4l2_decoder {
    struct plx_v4l2_frame_queue *frames;
    int wake_fd;
    struct plx_heartbeats *heartbeats;
    enum plx_thread number;
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

int plx_v4l2_decoder_create(struct plx_v4l2_frame_queue *frames, int wake_fd, size_t room,
                            struct plx_v4l2_decoder **ret_decoder)
{
    struct plx_v4l2_decoder *decoder = calloc(1, sizeof *decoder);

    if (!decoder)
        return PLX_ERR_NOMEM;
    decoder->frames = frames;
    decoder->wake_fd = wake_fd;
    decoder->file.data = malloc(room);
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
    int result = plx_jpeg_decode(decoder->jpeg, decoder->file.data, decoder->file.bytes, &grey, &message);
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

    plx_heartbeat_join(decoder->heartbeats, decoder->number);
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
        (void)written; /* full means awake already */
    }
    pthread_mutex_unlock(&decoder->lock);
    plx_heartbeat_leave();
    return NULL;
}

int plx_v4l2_decoder_start(struct plx_v4l2_decoder *decoder, struct plx_heartbeats *heartbeats, enum plx_thread thread)
{
    if (decoder->running)
        return 0;
    decoder->heartbeats = heartbeats;
    decoder->number = thread;
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
