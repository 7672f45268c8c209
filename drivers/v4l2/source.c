/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame source of real cameras. One thread of its own speaks with both cameras: it takes pictures, gives buffers back and
 * looks for cameras that went away, so that nothing of it ever holds up the reader. A camera that is lost is no end: the reader
 * gets a capture without a picture that says so, and pictures again when the camera is back.
 */
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "drivers/sources.h"
#include "drivers/v4l2/camera.h"
#include "drivers/v4l2/inbox.h"

#define GAP_PERIODS 3 /* a setting waits at most so long for a gap between the frames of both eyes */
#define ERROR_MS 5    /* pause after an error, so that one that lasts does not keep a processor busy */
#define LOOK_MS 50    /* the thread looks round at least so often */

struct v4l2 {
    struct plx_source base;
    struct plx_v4l2_camera camera[PLX_EYES];
    int cameras;
    struct plx_v4l2_control_options control;
    int wake_fd; /* eventfd: a buffer is back, or it is time to stop */

    pthread_t thread;
    bool running; /* the thread exists; the reader's own */
    struct plx_control_range range;

    atomic_bool stopping;
    struct plx_v4l2_inbox inbox;

    pthread_mutex_t lock; /* guards the setting */
    struct setting {
        uint32_t exposure_us; /* 0: none was asked for */
        float gain;
        bool pending;     /* it is to be set */
        int64_t asked_ns; /* since when */
    } setting;
};

static struct v4l2 *v4l2_of(struct plx_source *source)
{
    return (struct v4l2 *)source;
}

static void wake(struct v4l2 *self)
{
    const uint64_t one = 1;
    ssize_t written = write(self->wake_fd, &one, sizeof one);
    (void)written; /* full means awake already */
}

static uint32_t lost_flag(const struct plx_v4l2_camera *camera)
{
    static const uint32_t flag[] = {
        [PLX_LEFT] = PLX_HEALTH_CAMERA_LOST_LEFT,
        [PLX_RIGHT] = PLX_HEALTH_CAMERA_LOST_RIGHT,
        [PLX_EYES] = PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT,
    };
    return flag[camera->eye];
}

/* Takes all that has come from CAMERA, and lets go of it when it fails. */
static void drain(struct v4l2 *self, struct plx_v4l2_camera *camera)
{
    struct plx_capture capture;
    struct plx_why why = {""};
    int result;

    do {
        result = plx_v4l2_camera_take(camera, &capture, &why);
        if (result == 0)
            plx_v4l2_inbox_put(&self->inbox, &capture);
        else if (result == PLX_ERR_FORMAT)
            plx_v4l2_inbox_tell(&self->inbox, capture.health, &why);
    } while (result == 0 || result == PLX_ERR_FORMAT);
    if (result == PLX_ERR_TIMEOUT)
        result = plx_v4l2_buffers_refill(camera->buffers, &camera->node, &why);
    if (result == 0)
        return;
    plx_v4l2_inbox_tell(&self->inbox, lost_flag(camera), &why);
    plx_v4l2_camera_lost(camera);
}

/* Both eyes have given the same frame, and the next is not near: what is set now counts from the same frame on. */
static bool in_gap(const struct v4l2 *self, int64_t now)
{
    const struct plx_v4l2_camera *left = &self->camera[0], *right = &self->camera[self->cameras - 1];
    const int64_t half = plx_v4l2_camera_period_ns(left) / 2, apart = left->last_capture_ns - right->last_capture_ns;
    const int64_t newest = left->progress_ns > right->progress_ns ? left->progress_ns : right->progress_ns;
    return left->seen && right->seen && apart < half && -apart < half && now - newest < half;
}

static struct setting take_setting(struct v4l2 *self)
{
    pthread_mutex_lock(&self->lock);
    const struct setting setting = self->setting;
    pthread_mutex_unlock(&self->lock);
    return setting;
}

/* Sets what was asked for, both eyes together. */
static void steer(struct v4l2 *self)
{
    const struct setting setting = take_setting(self);
    const int64_t now = plx_now_ns();
    bool done = false;

    if (!setting.pending)
        return;
    if (!in_gap(self, now) && now - setting.asked_ns < GAP_PERIODS * plx_v4l2_camera_period_ns(&self->camera[0]))
        return;
    for (int i = 0; i < self->cameras; i++)
        done |= plx_v4l2_camera_set(&self->camera[i], setting.exposure_us, setting.gain);
    pthread_mutex_lock(&self->lock);
    if (done && self->setting.exposure_us == setting.exposure_us && self->setting.gain == setting.gain) /* none newer came */
        self->setting.pending = false;
    pthread_mutex_unlock(&self->lock);
}

/* A camera that begins anew begins with settings of its own. */
static void set_again(struct v4l2 *self)
{
    pthread_mutex_lock(&self->lock);
    self->setting.pending = self->setting.exposure_us > 0;
    self->setting.asked_ns = plx_now_ns();
    pthread_mutex_unlock(&self->lock);
}

static void mend(struct v4l2 *self, struct plx_v4l2_camera *camera)
{
    struct plx_why why = {""};

    if (plx_v4l2_camera_mend(camera, plx_now_ns(), &why))
        set_again(self);
    if (why.text[0])
        plx_v4l2_inbox_tell(&self->inbox, lost_flag(camera), &why);
}

static void wait_for_cameras(struct v4l2 *self)
{
    struct pollfd wanted[1 + PLX_EYES] = {{.fd = self->wake_fd, .events = POLLIN}};
    uint64_t count;

    for (int i = 0; i < self->cameras; i++) /* poll leaves negative descriptors out */
        wanted[1 + i] = (struct pollfd){.fd = self->camera[i].streaming ? self->camera[i].node.fd : -1, .events = POLLIN};
    poll(wanted, 1 + (nfds_t)self->cameras, LOOK_MS);
    for (int i = 0; i < self->cameras; i++)
        if (wanted[1 + i].revents & POLLERR) /* gone; or only without a buffer, which then would be told without end */
            poll(NULL, 0, ERROR_MS);
    if (wanted[0].revents & POLLIN) {
        ssize_t got = read(self->wake_fd, &count, sizeof count);
        (void)got; /* only its emptying counts */
    }
}

static void *run(void *argument)
{
    struct v4l2 *self = argument;

    while (!atomic_load(&self->stopping)) {
        wait_for_cameras(self);
        for (int i = 0; i < self->cameras; i++)
            if (self->camera[i].streaming)
                drain(self, &self->camera[i]); /* also after POLLERR and POLLHUP: taking says what it is */
        steer(self);
        for (int i = 0; i < self->cameras; i++)
            mend(self, &self->camera[i]);
    }
    return NULL;
}

static void stop(struct plx_source *source)
{
    struct v4l2 *self = v4l2_of(source);

    if (self->running) {
        atomic_store(&self->stopping, true); /* sequentially consistent, as its load: it is rare */
        wake(self);
        pthread_join(self->thread, NULL);
        self->running = false;
    }
    for (int i = 0; i < self->cameras; i++)
        plx_v4l2_camera_stop(&self->camera[i]);
    plx_v4l2_inbox_close(&self->inbox);
}

static int start(struct plx_source *source, struct plx_why *why)
{
    struct v4l2 *self = v4l2_of(source);
    int result = 0;

    if (self->running)
        return 0;
    for (int i = 0; i < self->cameras && result == 0; i++)
        result = plx_v4l2_camera_start(&self->camera[i], why);
    set_again(self);
    atomic_store(&self->stopping, false);
    plx_v4l2_inbox_open(&self->inbox);
    if (result == 0 && pthread_create(&self->thread, NULL, run, self) != 0)
        result = plx_fail(why, PLX_ERR_NOMEM, "v4l2 source: no thread could be started");
    self->running = result == 0;
    if (result < 0)
        stop(source);
    return result;
}

static int next(struct plx_source *source, int64_t deadline_ns, struct plx_capture *ret_capture)
{
    return plx_v4l2_inbox_take(&v4l2_of(source)->inbox, deadline_ns, ret_capture, &source->why);
}

static void release(struct plx_source *source, struct plx_capture *capture)
{
    if (!capture->buffer)
        return;
    plx_v4l2_slot_give_back(capture->buffer);
    capture->buffer = NULL;
    wake(v4l2_of(source));
}

static void range(struct plx_source *source, struct plx_control_range *ret_range)
{
    *ret_range = v4l2_of(source)->range;
}

static int control(struct plx_source *source, uint32_t exposure_us, float gain)
{
    struct v4l2 *self = v4l2_of(source);
    const struct plx_control_range *allowed = &self->range; /* never changes */

    if (!isfinite(gain))
        return PLX_ERR_ARG;
    if (allowed->exposure_max_us == 0)
        return PLX_ERR_UNSUPPORTED;
    if (exposure_us < allowed->exposure_min_us)
        exposure_us = allowed->exposure_min_us;
    if (exposure_us > allowed->exposure_max_us)
        exposure_us = allowed->exposure_max_us;
    gain = fminf(fmaxf(gain, allowed->gain_min), allowed->gain_max);
    pthread_mutex_lock(&self->lock);
    self->setting = (struct setting){exposure_us, gain, .pending = true, .asked_ns = plx_now_ns()};
    pthread_mutex_unlock(&self->lock);
    wake(self);
    return 0;
}

static int calibration(struct plx_source *source, struct plx_stereo_calibration *ret_calibration)
{
    (void)source;
    (void)ret_calibration;
    return PLX_ERR_NOT_FOUND;
}

static void destroy(struct plx_source *source)
{
    if (!source)
        return;
    struct v4l2 *self = v4l2_of(source);
    stop(source);
    for (int i = 0; i < self->cameras; i++)
        plx_v4l2_camera_close(&self->camera[i]);
    pthread_mutex_destroy(&self->lock);
    plx_v4l2_inbox_finish(&self->inbox);
    close(self->wake_fd);
    free(self);
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
    .calibration = calibration,
};

static int init(struct v4l2 *self)
{
    self->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (self->wake_fd < 0)
        return PLX_ERR_NOMEM;
    if (plx_v4l2_inbox_init(&self->inbox) < 0)
        goto no_inbox;
    if (pthread_mutex_init(&self->lock, NULL) == 0)
        return 0;
    plx_v4l2_inbox_finish(&self->inbox);
no_inbox:
    close(self->wake_fd);
    return PLX_ERR_NOMEM;
}

/* What both cameras can do alike, and no exposure longer than a period. */
static void join_ranges(struct v4l2 *self)
{
    struct plx_control_range other;

    plx_v4l2_steer_range(&self->camera[0].steer, &self->range);
    plx_v4l2_steer_range(&self->camera[self->cameras - 1].steer, &other);
    const uint32_t period_us = (uint32_t)(plx_v4l2_camera_period_ns(&self->camera[0]) / PLX_NS_PER_US);
    if (other.exposure_min_us > self->range.exposure_min_us)
        self->range.exposure_min_us = other.exposure_min_us;
    if (other.exposure_max_us < self->range.exposure_max_us)
        self->range.exposure_max_us = other.exposure_max_us;
    if (period_us < self->range.exposure_max_us)
        self->range.exposure_max_us = period_us;
    self->range.gain_min = fmaxf(self->range.gain_min, other.gain_min);
    self->range.gain_max = fmaxf(fminf(self->range.gain_max, other.gain_max), self->range.gain_min);
}

/* The two cameras of a pair must give pictures of one kind. */
static int compare(const struct v4l2 *self, struct plx_why *why)
{
    const struct plx_v4l2_deal *left = &self->camera[PLX_LEFT].deal, *right = &self->camera[PLX_RIGHT].deal;

    if (self->cameras == PLX_EYES && left->format->format != right->format->format)
        return plx_fail(why, PLX_ERR_UNSUPPORTED,
                        "the two cameras give different formats; set source.format to one that both have");
    return 0;
}

static int open_cameras(struct v4l2 *self, struct plx_stages *stages, const struct plx_v4l2_options *options,
                        struct plx_why *why)
{
    const bool both_in_one = options->camera[PLX_RIGHT][0] == '\0';
    int result = 0;

    for (int i = 0; i < (both_in_one ? 1 : PLX_EYES) && result == 0; i++) {
        struct plx_v4l2_camera *camera = &self->camera[i];
        camera->wish = (struct plx_v4l2_wish){
            .fourcc = plx_v4l2_fourcc_parse(options->format),
            .width = options->width * (both_in_one ? 2 : 1),
            .height = options->height,
            .rate_hz = options->rate_hz,
            .crop = {options->crop_x, options->crop_y, options->crop_width, options->crop_height},
        };
        camera->msb_aligned = options->msb_aligned;
        camera->control = &self->control;
        camera->eye = both_in_one ? PLX_EYES : i;
        result = plx_v4l2_rule_parse(options->camera[i], &camera->rule, why);
        if (result == 0)
            result = plx_v4l2_camera_open(camera, stages, &self->base.note, why);
        if (result == 0)
            self->cameras++;
    }
    return result == 0 ? compare(self, why) : result;
}

int plx_v4l2_create(struct plx_stages *stages, const struct plx_v4l2_options *options, struct plx_source **ret_source,
                    struct plx_why *why)
{
    struct v4l2 *self = calloc(1, sizeof *self);

    if (!self || init(self) < 0) {
        free(self);
        return plx_fail(why, PLX_ERR_NOMEM, "v4l2 source: out of memory or descriptors");
    }
    self->base = (struct plx_source){.ops = &v4l2_ops, .width = options->width, .height = options->height};
    self->control = options->control;
    int result = open_cameras(self, stages, options, why);
    if (result < 0) {
        destroy(&self->base);
        return result;
    }
    self->base.rate_hz = self->camera[PLX_LEFT].deal.rate_hz;
    join_ranges(self);
    *ret_source = &self->base;
    return 0;
}
