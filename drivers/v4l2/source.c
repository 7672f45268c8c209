/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame source of real cameras. A lost or missing camera is no error: the reader gets a capture without a picture whose
 * health flags name the camera, and pictures once the camera is back.
 */
#include "drivers/v4l2/v4l2.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/v4l2/capture_thread.h"

struct v4l2 {
    struct plx_source base;
    struct plx_v4l2_options options;
    struct plx_v4l2_capture_thread thread;
};

static struct v4l2 *v4l2_of(struct plx_source *source)
{
    return (struct v4l2 *)source;
}

static int start(struct plx_source *source, struct plx_error_message *message)
{
    struct plx_v4l2_capture_thread *thread = &v4l2_of(source)->thread;

    thread->heartbeats = source->heartbeats;
    int result = plx_v4l2_capture_thread_start(thread, message);
    plx_v4l2_frame_queue_read_rate(&thread->frames, &source->rate_hz, &source->note);
    return result;
}

static void stop(struct plx_source *source)
{
    plx_v4l2_capture_thread_stop(&v4l2_of(source)->thread);
}

static int next(struct plx_source *source, int64_t deadline_ns, struct plx_capture *ret_capture)
{
    struct plx_v4l2_frame_queue *frames = &v4l2_of(source)->thread.frames;
    int result = plx_v4l2_frame_queue_pop(frames, deadline_ns, ret_capture, &source->message);
    plx_v4l2_frame_queue_read_rate(frames, &source->rate_hz, &source->note);
    return result;
}

static void release(struct plx_source *source, struct plx_capture *capture)
{
    if (!capture->buffer)
        return;
    plx_v4l2_slot_release(capture->buffer);
    capture->buffer = NULL;
    plx_v4l2_capture_thread_wake(&v4l2_of(source)->thread);
}

static int control(struct plx_source *source, uint32_t exposure_us, float gain)
{
    struct plx_v4l2_capture_thread *thread = &v4l2_of(source)->thread;
    int result = plx_v4l2_control_request_submit(&thread->request, exposure_us, gain);
    plx_v4l2_capture_thread_wake(thread);
    return result;
}

static void range(struct plx_source *source, struct plx_control_range *ret_range)
{
    plx_v4l2_control_request_range(&v4l2_of(source)->thread.request, ret_range);
}

static void identify(struct plx_source *source, char *ret_text, size_t bytes)
{
    const struct plx_v4l2_capture_thread *thread = &v4l2_of(source)->thread;
    const char *left = thread->camera[0].identity, *last = thread->camera[thread->cameras - 1].identity;

    *ret_text = '\0';
    if (*left && *last)
        snprintf(ret_text, bytes, "%s%s%s", left, thread->cameras > 1 ? ", " : "", thread->cameras > 1 ? last : "");
}

static void destroy(struct plx_source *source)
{
    if (!source)
        return;
    plx_v4l2_capture_thread_finish(&v4l2_of(source)->thread);
    free(source);
}

static const struct plx_source_ops v4l2_ops = {
    .name = "v4l2",
    .destroy = destroy,
    .start = start,
    .stop = stop,
    .next = next,
    .release = release,
    .control = control,
    .range = range,
    .identify = identify,
};

/* Fills in the cameras from OPTIONS. */
static int describe(struct v4l2 *self, struct plx_stages *stages, const struct plx_v4l2_options *options,
                    struct plx_error_message *message)
{
    const bool both_in_one = options->cameras.camera[PLX_RIGHT][0] == '\0';
    int result = 0;

    self->thread.cameras = both_in_one ? 1 : PLX_EYES;
    self->thread.retries_refusals = options->retries_refusals;
    for (int i = 0; i < self->thread.cameras; i++) {
        struct plx_v4l2_camera *camera = &self->thread.camera[i];
        *camera = (struct plx_v4l2_camera){
            .stages = stages,
            .requested = {.fourcc = plx_v4l2_fourcc_parse(options->cameras.format),
                          .colour = options->colour, /* also the right one: both must have the same format */
                          .width = options->width * (both_in_one ? 2 : 1),
                          .height = options->height,
                          .rate_hz = options->rate_hz,
                          .crop = {options->cameras.crop_x, options->cameras.crop_y, options->cameras.crop_width,
                                   options->cameras.crop_height}},
            .msb_aligned = options->cameras.msb_aligned,
            .readout_ns = llround(options->cameras.readout_ms * (double)PLX_NS_PER_MS),
            .options = &self->options,
            .eye = both_in_one ? PLX_EYES : i,
            .node.fd = -1,
        };
        if (result == 0)
            result = plx_v4l2_rule_parse(options->cameras.camera[i], &camera->rule, message);
    }
    return result;
}

int plx_v4l2_create(struct plx_stages *stages, const struct plx_v4l2_options *options, struct plx_source **ret_source,
                    struct plx_error_message *message)
{
    const char *key;
    if (plx_v4l2_check(&options->cameras, &key, message) < 0)
        return PLX_ERR_RANGE;
    struct v4l2 *self = calloc(1, sizeof *self);
    if (!self || plx_v4l2_capture_thread_init(&self->thread) < 0) {
        free(self);
        return plx_fail(message, PLX_ERR_NOMEM, "v4l2 source: out of memory or descriptors");
    }
    self->base = (struct plx_source){.ops = &v4l2_ops, .width = options->width, .height = options->height};
    self->options = *options;
    int result = describe(self, stages, options, message);
    if (result == 0)
        result = plx_v4l2_capture_thread_open(&self->thread, message);
    if (result < 0) {
        destroy(&self->base);
        return result;
    }
    plx_v4l2_frame_queue_read_rate(&self->thread.frames, &self->base.rate_hz, &self->base.note);
    *ret_source = &self->base;
    return 0;
}

static void read_inspection(const struct plx_v4l2_camera *camera, struct plx_v4l2_inspection *ret)
{
    const struct plx_v4l2_stream_format *actual = &camera->actual;

    *ret = (struct plx_v4l2_inspection){.width = actual->width, .height = actual->height, .rate_hz = actual->rate_hz};
    snprintf(ret->driver, sizeof ret->driver, "%s", camera->node.identity.driver);
    snprintf(ret->card, sizeof ret->card, "%s", camera->node.identity.card);
    snprintf(ret->node, sizeof ret->node, "%s", camera->node.path);
    if (actual->format)
        plx_v4l2_fourcc_text(actual->format->fourcc, ret->format);
}

int plx_v4l2_inspect(const struct plx_v4l2_options *options, int camera, struct plx_v4l2_inspection *ret_inspection,
                     struct plx_error_message *message)
{
    const char *key;
    int result = plx_v4l2_check(&options->cameras, &key, message);
    if (result < 0)
        return result;
    struct v4l2 *self = calloc(1, sizeof *self);
    if (!self)
        return plx_fail(message, PLX_ERR_NOMEM, "out of memory");
    self->options = *options;
    struct plx_v4l2_camera *inspected = &self->thread.camera[camera];
    result = describe(self, NULL, &self->options, message);
    if (result == 0)
        result = plx_v4l2_camera_open(inspected, message);
    if (result == 0) {
        read_inspection(inspected, ret_inspection);
        plx_v4l2_camera_close(inspected);
    }
    if (result == PLX_ERR_LOST && inspected->rule.path[0] == '\0' && plx_v4l2_is_any_denied())
        result = PLX_ERR_PERMISSION; /* a match knows those nodes only that can be opened */
    free(self);
    return result;
}
