/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/camera.h"

#include <linux/videodev2.h>
#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/v4l2/format.h"

#define RETRY_NS (100 * PLX_NS_PER_MS) /* between two attempts to open a camera; doubled by each refusal ... */
#define MAX_DOUBLINGS 4                /* ... up to 1.6 s */
#define SILENCE_NS PLX_NS_PER_S        /* without a picture for so long ... */
#define SILENCE_PERIODS 5              /* ... and so many periods, the stream is restarted */
#define DEFAULT_PERIOD_NS (PLX_NS_PER_S / 30)

/* Gives up the picture that waits to be decoded, if there is one. */
static void drop_pending(struct plx_v4l2_camera *camera)
{
    if (!camera->pending.buffer)
        return;
    plx_v4l2_slot_release(camera->pending.buffer);
    camera->pending.buffer = NULL;
}

int64_t plx_v4l2_camera_period_ns(const struct plx_v4l2_camera *camera)
{
    return camera->actual.rate_hz > 0.0 ? (int64_t)(PLX_NS_PER_S / camera->actual.rate_hz) : DEFAULT_PERIOD_NS;
}

/* Configures the camera. Controls are set before the format: a control for the sensor mode may determine the format. */
static int configure(struct plx_v4l2_camera *camera, struct plx_v4l2_stream_format *ret_actual,
                     struct plx_error_message *message)
{
    struct plx_error_message *note = &camera->note;

    note->text[0] = '\0';
    int result = plx_v4l2_camera_controls_configure(&camera->controls, &camera->node, note, message);
    if (result == 0)
        result = plx_v4l2_negotiate(&camera->node, &camera->requested, ret_actual, note, message);
    if (result < 0)
        return result;
    ret_actual->colour = camera->requested.colour && camera->eye != PLX_RIGHT;
    const double requested_hz = camera->requested.rate_hz;
    const double set_hz = ret_actual->rate_unset
                              ? plx_v4l2_camera_controls_set_rate(&camera->controls, &camera->node, requested_hz)
                              : ret_actual->rate_hz;
    if (set_hz > 0.0)
        ret_actual->rate_hz = set_hz;
    else if (requested_hz > 0.0)
        plx_v4l2_note(note, "%s: the driver cannot set the rate; %g Hz is assumed (source.controls may set it)",
                      camera->node.path, requested_hz);
    if (requested_hz > 0.0 && fabs(ret_actual->rate_hz - requested_hz) > requested_hz * PLX_V4L2_SAME_RATE)
        plx_v4l2_note(note, "%s: the camera runs at %.6g Hz instead of %.6g", camera->node.path, ret_actual->rate_hz,
                      requested_hz);
    return 0;
}

/* Allocates buffers for pictures of ACTUAL, or checks that the existing ones fit. */
static int fit_buffers(struct plx_v4l2_camera *camera, const struct plx_v4l2_stream_format *actual,
                       struct plx_error_message *message)
{
    if (!camera->buffers)
        return plx_v4l2_buffers_create(camera->stages, &camera->node, actual, &camera->buffers, message);
    const struct plx_v4l2_stream_format *old = &camera->buffers->actual;
    if (actual->format != old->format || actual->pitch != old->pitch || actual->bytes[0] != old->bytes[0])
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera came back with another format", camera->node.path);
    return 0;
}

static void close_node(struct plx_v4l2_camera *camera)
{
    if (!plx_v4l2_camera_is_closed(camera) && (camera->options->cameras.control.restore || !camera->has_worked))
        plx_v4l2_camera_controls_restore(&camera->controls, &camera->node);
    plx_v4l2_close(&camera->node);
}

/* What was learned from the pictures of one camera is not true of another. */
static int identify(struct plx_v4l2_camera *camera, struct plx_error_message *message)
{
    char identity[PLX_V4L2_IDENTITY];

    plx_v4l2_identity_text(&camera->node.identity, identity);
    camera->is_other = camera->was_opened && (*identity == '\0' || strcmp(identity, camera->identity) != 0);
    if (camera->is_other)
        return plx_fail(message, PLX_ERR_LOST, "%s: another camera than before: %s instead of %s", camera->node.path,
                        *identity ? identity : "one that does not say who it is",
                        *camera->identity ? camera->identity : "one that did not say who it was");
    if (!camera->was_opened) /* read by the source's reader after the first pair */
        memcpy(camera->identity, identity, sizeof identity);
    camera->was_opened = true;
    return 0;
}

int plx_v4l2_camera_open(struct plx_v4l2_camera *camera, struct plx_error_message *message)
{
    struct plx_v4l2_stream_format actual = {.format = NULL};
    bool controls_set = false;

    int result = plx_v4l2_find(&camera->rule, &camera->node, message);
    if (result < 0)
        return result;
    result = identify(camera, message);
    if (result < 0) {
        plx_v4l2_close(&camera->node); /* nothing of it was set, so there is nothing to restore */
        return result;
    }
    result = plx_v4l2_camera_controls_open(&camera->controls, &camera->node, camera->options, &controls_set, message);
    if (result == 0)
        result = plx_v4l2_negotiate_try(&camera->node, &camera->requested, controls_set, &actual, message);
    if (result < 0) {
        close_node(camera);
        return result;
    }
    camera->actual = actual;
    camera->tegra_ns = plx_v4l2_tegra_offset();
    return 0;
}

void plx_v4l2_camera_close(struct plx_v4l2_camera *camera)
{
    plx_v4l2_camera_stop(camera);
    close_node(camera);
    plx_v4l2_buffers_destroy(camera->buffers);
    camera->buffers = NULL;
}

static int start_stream(struct plx_v4l2_camera *camera, struct plx_error_message *message)
{
    plx_v4l2_clock_init(&camera->clock, plx_v4l2_camera_period_ns(camera));
    int result = plx_v4l2_buffers_attach(camera->buffers, &camera->node, message);
    plx_v4l2_camera_controls_reset_history(&camera->controls);
    camera->has_picture = false;
    camera->streaming = result == 0;
    camera->progress_ns = plx_now_ns();
    return result;
}

int plx_v4l2_camera_start(struct plx_v4l2_camera *camera, struct plx_error_message *message)
{
    struct plx_v4l2_stream_format actual = {.format = NULL};

    if (camera->streaming)
        return 0;
    int result = configure(camera, &actual, message);
    if (result == 0)
        result = fit_buffers(camera, &actual, message);
    if (result < 0)
        return result;
    camera->actual = actual;
    return start_stream(camera, message);
}

void plx_v4l2_camera_stop(struct plx_v4l2_camera *camera)
{
    drop_pending(camera);
    if (camera->buffers)
        plx_v4l2_buffers_detach(camera->buffers, &camera->node);
    camera->streaming = false;
}

static int64_t realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
}

static void fill_eyes(const struct plx_v4l2_camera *camera, const struct plx_raw *raw, struct plx_capture *capture)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        if (camera->eye != PLX_EYES && camera->eye != eye)
            continue;
        capture->raw[eye] = *raw;
        capture->raw[eye].msb_aligned = camera->msb_aligned;
        if (camera->eye == PLX_EYES) {
            capture->raw[eye].eye_width = raw->width / 2;
            capture->raw[eye].eye_x = eye == PLX_LEFT ? 0 : raw->width / 2;
        }
    }
}

/* The time from a timestamp to the middle of the exposure; 0 if it is unknown. */
static int64_t to_middle_ns(const struct plx_v4l2_camera *camera, uint32_t flags, uint32_t exposure_us)
{
    const int64_t half_ns = exposure_us / 2 * PLX_NS_PER_US;

    if ((flags & V4L2_BUF_FLAG_TSTAMP_SRC_MASK) == V4L2_BUF_FLAG_TSTAMP_SRC_SOE)
        return half_ns;
    return camera->readout_ns > 0 ? -camera->readout_ns - half_ns : 0;
}

/* Fills in CAPTURE, whose time is set already, from PICTURE. */
static void describe(struct plx_v4l2_camera *camera, const struct plx_v4l2_picture *picture, struct plx_capture *capture)
{
    capture->clock = camera->clock.kind;
    capture->clock_offset_ns = camera->clock.offset_ns;
    capture->sequence = picture->sequence;
    capture->skipped = camera->skipped;
    camera->skipped = 0;
    plx_v4l2_camera_controls_in_force(&camera->controls, picture->sequence, &capture->exposure_us, &capture->gain);
    capture->capture_ns += to_middle_ns(camera, picture->flags, capture->exposure_us);
    camera->has_picture = camera->has_worked = true;
    camera->last_sequence = picture->sequence;
    camera->last_capture_ns = capture->capture_ns;
    capture->memory = picture->memory;
    capture->buffer = picture->slot;
    fill_eyes(camera, &picture->raw, capture);
}

int plx_v4l2_camera_take(struct plx_v4l2_camera *camera, struct plx_capture *ret_capture, bool *ret_compressed,
                         struct plx_error_message *message)
{
    struct plx_v4l2_picture picture;
    bool implausible;

    memset(ret_capture, 0, sizeof *ret_capture);
    int result = plx_v4l2_buffers_take(camera->buffers, &camera->node, &picture, message);
    if (result == PLX_ERR_FORMAT)
        ret_capture->health = PLX_HEALTH_BUFFER_ERROR;
    else if (result == PLX_ERR_BUSY)
        ret_capture->health = PLX_HEALTH_OVERLOAD;
    if (result == PLX_ERR_FORMAT || result == PLX_ERR_BUSY) {
        camera->skipped += result == PLX_ERR_BUSY;
        camera->progress_ns = plx_now_ns();
        return PLX_ERR_FORMAT;
    }
    if (result < 0)
        return result;
    camera->progress_ns = plx_now_ns();
    camera->restarts = camera->refusals = 0;
    const struct plx_v4l2_stamp stamp = {.stamp_ns = picture.stamp_ns,
                                         .arrival_ns = camera->progress_ns,
                                         .realtime_ns = realtime_ns(),
                                         .tegra_ns = camera->tegra_ns};
    ret_capture->capture_ns = plx_v4l2_clock_read(&camera->clock, &stamp, &implausible);
    if (implausible) {
        if (picture.compressed)
            drop_pending(camera); /* its file was overwritten */
        plx_v4l2_slot_release(picture.slot);
        ret_capture->health = PLX_HEALTH_TIMESTAMP;
        return plx_fail(message, PLX_ERR_FORMAT, "%s: a picture's timestamp differs from its arrival by %.3f s",
                        camera->node.path, (double)(stamp.arrival_ns - ret_capture->capture_ns) / PLX_NS_PER_S);
    }
    describe(camera, &picture, ret_capture);
    *ret_compressed = picture.compressed;
    return 0;
}

bool plx_v4l2_camera_set(struct plx_v4l2_camera *camera, uint32_t exposure_us, float gain)
{
    return camera->streaming && camera->has_picture &&
           plx_v4l2_camera_controls_set_exposure(&camera->controls, &camera->node, camera->last_sequence, exposure_us, gain) ==
               0;
}

void plx_v4l2_camera_disconnect(struct plx_v4l2_camera *camera, int error)
{
    const bool worked = camera->streaming && camera->has_picture;
    const int doublings = camera->refusals < MAX_DOUBLINGS ? camera->refusals : MAX_DOUBLINGS;

    plx_v4l2_camera_stop(camera);
    if (!camera->has_worked && !plx_v4l2_camera_is_closed(camera))
        plx_v4l2_camera_controls_restore(&camera->controls, &camera->node);
    plx_v4l2_close(&camera->node); /* only then the driver frees the node */
    camera->retry_ns = plx_now_ns() + (RETRY_NS << doublings);
    camera->refusals = worked || error == PLX_ERR_LOST ? 0 : camera->refusals + 1;
}

bool plx_v4l2_camera_is_stalled(const struct plx_v4l2_camera *camera, int64_t now_ns)
{
    const int64_t periods = SILENCE_PERIODS * plx_v4l2_camera_period_ns(camera);
    return camera->streaming && now_ns - camera->progress_ns > (periods > SILENCE_NS ? periods : SILENCE_NS);
}

int plx_v4l2_camera_recover(struct plx_v4l2_camera *camera, struct plx_error_message *message)
{
    const double silent_s = (double)(plx_now_ns() - camera->progress_ns) / PLX_NS_PER_S;

    if (camera->restarts++ > 0)
        return plx_fail(message, PLX_ERR_LOST, "%s: no picture for %.1f s; the camera is opened again", camera->node.path,
                        silent_s);
    plx_v4l2_camera_stop(camera);
    int result = start_stream(camera, message);
    if (result == 0)
        plx_say(message, "%s: no picture for %.1f s; the stream is restarted", camera->node.path, silent_s);
    return result;
}
