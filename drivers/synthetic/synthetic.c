/* SPDX-License-Identifier: Apache-2.0 */
/* The synthetic scene as a frame source: a camera pair with a clock, a frame counter and controls that act with a delay. */
#include "drivers/synthetic/synthetic.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/pair_queue.h"

#define ROW_ALIGNMENT 64
#define EXPOSURE_MIN_US 20
#define FIRST_EXPOSURE_US 10000
#define GAIN_MIN 1.0f
#define GAIN_MAX 16.0f
#define HISTORY (PLX_SYNTHETIC_MAX_DELAY + 1)

struct setting {
    uint32_t exposure_us;
    float gain;
};

struct synthetic {
    struct plx_queued_source queued; /* first: a struct plx_source * of this source is a struct synthetic * */
    struct plx_synthetic_options options;
    struct plx_scene_renderer *renderer;
    size_t pitch;
    double period_s;
    _Atomic uint64_t request;        /* the newest struct setting, packed */
    struct setting history[HISTORY]; /* the request at the start of frame k, at k % HISTORY; only for the producer thread */
};

static uint64_t pack(struct setting setting)
{
    uint64_t packed;
    _Static_assert(sizeof packed == sizeof setting, "a setting is one atomic word");
    memcpy(&packed, &setting, sizeof packed);
    return packed;
}

static struct setting unpack(uint64_t packed)
{
    struct setting setting;
    memcpy(&setting, &packed, sizeof setting);
    return setting;
}

static struct synthetic *synthetic_of(struct plx_source *source)
{
    return (struct synthetic *)source;
}

/* The setting in force in frame K; for frames before the first, the first one. */
static struct setting in_force(const struct synthetic *self, uint64_t k)
{
    uint64_t exposure_delay = (uint64_t)self->options.exposure_delay, gain_delay = (uint64_t)self->options.gain_delay;
    return (struct setting){
        .exposure_us = self->history[(k > exposure_delay ? k - exposure_delay : 0) % HISTORY].exposure_us,
        .gain = self->history[(k > gain_delay ? k - gain_delay : 0) % HISTORY].gain,
    };
}

static int make_pair(struct synthetic *self, int number, void *const data[PLX_EYES], uint64_t k, int64_t capture_ns)
{
    const struct plx_scene *scene = &self->options.scene;
    const struct setting setting = in_force(self, k);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image image = {data[eye], scene->width, scene->height, self->pitch, PLX_U8};
        int result = plx_scene_renderer_draw(self->renderer, (double)k * self->period_s, (uint32_t)k, (enum plx_eye)eye,
                                             setting.exposure_us, (double)setting.gain, &image);
        if (result < 0)
            return result;
        struct plx_raw raw = plx_raw_of_grey(&image);
        if (self->options.colour && eye == PLX_LEFT) {
            const struct plx_image rgb = {plx_row(&image, image.height), image.width, image.height, PLX_RGB * image.pitch,
                                          PLX_RGB};
            result = plx_scene_colour(scene, (double)k * self->period_s, PLX_LEFT, &image, &rgb);
            raw.format = PLX_FORMAT_GREY_RGB;
            raw.bytes *= 1 + PLX_RGB;
        }
        if (result < 0)
            return result;
        const struct plx_capture capture = {
            .capture_ns = capture_ns,
            .clock = PLX_CLOCK_MONOTONIC,
            .sequence = (uint32_t)k,
            .exposure_us = setting.exposure_us,
            .gain = setting.gain,
        };
        plx_pair_queue_publish(self->queued.queue, number, (enum plx_eye)eye, &raw, &capture);
    }
    return 0;
}

/* Produces pairs, in the producer thread. */
static int make(struct plx_queued_source *queued, struct plx_error_message *message)
{
    struct synthetic *self = synthetic_of(&queued->base);
    const bool paced = self->queued.base.rate_hz > 0.0;
    const int64_t begun = plx_now_ns();
    uint64_t k = 0, remembered = 0; /* frames whose request is in the history */
    for (;;) {
        int64_t capture_ns = begun + (int64_t)((double)k * self->period_s * PLX_NS_PER_S);
        if (paced && !plx_pair_queue_sleep_until(self->queued.queue, capture_ns))
            return PLX_ERR_LOST;
        void *data[PLX_EYES];
        int number = plx_pair_queue_begin_pair(self->queued.queue, data);
        if (number == PLX_PAIR_QUEUE_STOPPED)
            return PLX_ERR_LOST;
        /* Relaxed: the request is one word, and no other data depends on it. */
        uint64_t request = atomic_load_explicit(&self->request, memory_order_relaxed);
        for (remembered = k - remembered > HISTORY ? k - HISTORY : remembered; remembered <= k; remembered++)
            self->history[remembered % HISTORY] = unpack(request);
        if (number >= 0) {
            int result = make_pair(self, number, data, k, capture_ns);
            if (result < 0)
                return plx_fail(message, result,
                                "the synthetic scene cannot be drawn; check source.width, height and noise_levels");
        }
        k++;
        if (paced) { /* frames that were due during the drawing are lost, as with a camera that is read too slowly */
            uint64_t due = (uint64_t)((double)(plx_now_ns() - begun) / (self->period_s * PLX_NS_PER_S));
            k = due > k ? due : k;
        }
    }
}

static void destroy(struct plx_source *source)
{
    if (!source)
        return;
    plx_queued_source_stop(source);
    plx_pair_queue_destroy(synthetic_of(source)->queued.queue);
    plx_scene_renderer_destroy(synthetic_of(source)->renderer);
    free(source);
}

static void range(struct plx_source *source, struct plx_control_range *ret_range)
{
    const struct synthetic *self = synthetic_of(source);
    *ret_range = (struct plx_control_range){
        .exposure_min_us = EXPOSURE_MIN_US,
        .exposure_max_us = (uint32_t)fmax(EXPOSURE_MIN_US, self->period_s * 1e6),
        .gain_min = GAIN_MIN,
        .gain_max = GAIN_MAX,
        .exposure_delay = self->options.exposure_delay,
        .gain_delay = self->options.gain_delay,
    };
}

static int control(struct plx_source *source, uint32_t exposure_us, float gain)
{
    struct plx_control_range allowed;
    if (!isfinite(gain))
        return PLX_ERR_ARG;
    range(source, &allowed);
    struct setting setting = {exposure_us, fminf(fmaxf(gain, allowed.gain_min), allowed.gain_max)};
    if (setting.exposure_us < allowed.exposure_min_us)
        setting.exposure_us = allowed.exposure_min_us;
    if (setting.exposure_us > allowed.exposure_max_us)
        setting.exposure_us = allowed.exposure_max_us;
    atomic_store_explicit(&synthetic_of(source)->request, pack(setting), memory_order_relaxed); /* as its load in make */
    return 0;
}

static int calibration(struct plx_source *source, struct plx_stereo_calibration *ret_calibration,
                       struct plx_error_message *message)
{
    (void)message;
    const struct plx_scene *scene = &synthetic_of(source)->options.scene;
    plx_calibration_pinhole(scene->width, scene->height, &scene->calibration, ret_calibration);
    return 0;
}

static void identify(struct plx_source *source, char *ret_text, size_t bytes)
{
    snprintf(ret_text, bytes, "%s", source->ops->name);
}

static const struct plx_source_ops synthetic_ops = {
    .name = "synthetic",
    .destroy = destroy,
    PLX_QUEUED_SOURCE_OPS,
    .control = control,
    .range = range,
    .calibration = calibration,
    .identify = identify,
};

static int check(const struct plx_synthetic_options *options, struct plx_error_message *message)
{
    if (!(options->rate_hz == 0.0 ||
          (options->rate_hz >= PLX_SOURCE_MIN_RATE_HZ && options->rate_hz <= PLX_SOURCE_MAX_RATE_HZ)))
        return plx_fail(message, PLX_ERR_RANGE, "synthetic source: a rate of %g Hz, expected 0 or 0.1..1000", options->rate_hz);
    if (options->exposure_delay < 0 || options->exposure_delay > PLX_SYNTHETIC_MAX_DELAY || options->gain_delay < 0 ||
        options->gain_delay > PLX_SYNTHETIC_MAX_DELAY)
        return plx_fail(message, PLX_ERR_RANGE, "synthetic source: delays of %d and %d frames, expected 0..%d",
                        options->exposure_delay, options->gain_delay, PLX_SYNTHETIC_MAX_DELAY);
    return plx_scene_check(&options->scene, message);
}

int plx_synthetic_create(struct plx_stages *stages, const struct plx_synthetic_options *options, struct plx_source **ret_source,
                         struct plx_error_message *message)
{
    int result = check(options, message);
    if (result < 0)
        return result;
    struct synthetic *self = calloc(1, sizeof *self);
    if (!self)
        return plx_fail(message, PLX_ERR_NOMEM, "synthetic source: out of memory");

    const struct plx_scene *scene = &options->scene;
    self->queued.base =
        (struct plx_source){.ops = &synthetic_ops, .width = scene->width, .height = scene->height, .rate_hz = options->rate_hz};
    self->options = *options;
    self->period_s = 1.0 / (options->rate_hz > 0.0 ? options->rate_hz : PLX_SYNTHETIC_RATE_HZ);
    self->pitch = ((size_t)scene->width + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    self->queued.make = make;
    control(&self->queued.base, FIRST_EXPOSURE_US, GAIN_MIN);
    result = plx_pair_queue_create(
        stages, options->rate_hz > 0.0 ? PLX_PAIR_QUEUE_LATEST : PLX_PAIR_QUEUE_ON_DEMAND, PLX_SOURCE_MIN_PAIRS + 1,
        self->pitch * (size_t)scene->height * (options->colour ? 1 + PLX_RGB : 1), &self->queued.queue);
    if (result == 0)
        result = plx_scene_renderer_create(scene, &self->renderer);
    if (result < 0) {
        plx_pair_queue_destroy(self->queued.queue);
        free(self);
        return plx_fail(message, result, "synthetic source: out of memory for pictures of %dx%d", scene->width, scene->height);
    }
    *ret_source = &self->queued.base;
    return 0;
}
