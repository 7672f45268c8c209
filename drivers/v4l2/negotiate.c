/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/negotiate.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <math.h>

#include <parallax/error.h>

#include "core/raw.h"
#include "drivers/v4l2/crop.h"
#include "drivers/v4l2/offer.h"

static void fill_format(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, uint32_t fourcc,
                        struct v4l2_format *ret_format)
{
    *ret_format = (struct v4l2_format){.type = plx_v4l2_buffer_type(node)};
    if (node->planar) {
        struct v4l2_pix_format_mplane *pix = &ret_format->fmt.pix_mp;
        pix->width = (uint32_t)requested->width;
        pix->height = (uint32_t)requested->height;
        pix->pixelformat = fourcc;
        pix->field = V4L2_FIELD_NONE;
    } else {
        struct v4l2_pix_format *pix = &ret_format->fmt.pix;
        pix->width = (uint32_t)requested->width;
        pix->height = (uint32_t)requested->height;
        pix->pixelformat = fourcc;
        pix->field = V4L2_FIELD_NONE;
    }
}

/* Takes what the driver says over into ACTUAL, each number checked. */
static int read_format(const struct plx_v4l2_node *node, const struct v4l2_format *format,
                       struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *message)
{
    const struct v4l2_pix_format_mplane *planar = &format->fmt.pix_mp;
    const struct v4l2_pix_format *pix = &format->fmt.pix;
    const uint32_t fourcc = node->planar ? planar->pixelformat : pix->pixelformat;
    const uint32_t field = node->planar ? planar->field : pix->field;
    struct plx_v4l2_stream_format actual = {.format = plx_v4l2_format_find(fourcc),
                                            .width = (int)(node->planar ? planar->width : pix->width),
                                            .height = (int)(node->planar ? planar->height : pix->height),
                                            .pitch = node->planar ? planar->plane_fmt[0].bytesperline : pix->bytesperline,
                                            .planes = node->planar ? planar->num_planes : 1};
    char name[5];

    plx_v4l2_fourcc_text(fourcc, name);
    if (!actual.format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera gives %s, which cannot be read; set source.format",
                        node->path, name);
    if (field != V4L2_FIELD_NONE && field != V4L2_FIELD_ANY)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera gives interlaced fields; expected whole pictures",
                        node->path);
    if (actual.width < 1 || actual.width > PLX_MAX_SIDE || actual.height < 1 || actual.height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera gives pictures of %dx%d, expected 1..%d per side",
                        node->path, actual.width, actual.height, PLX_MAX_SIDE);
    if (actual.planes < 1 || actual.planes > PLX_V4L2_PLANES)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: %s in %d memory planes, expected 1..%d", node->path, name,
                        actual.planes, PLX_V4L2_PLANES);
    for (int i = 0; i < actual.planes; i++)
        actual.bytes[i] = node->planar ? planar->plane_fmt[i].sizeimage : pix->sizeimage;
    const size_t row = plx_raw_row_bytes(actual.format->format, actual.width);
    if (actual.format->jpeg)
        actual.pitch = 0;
    else if (actual.pitch == 0)
        actual.pitch = row; /* packed: some drivers leave it out */
    if (actual.bytes[0] == 0 ||
        (!actual.format->jpeg && (actual.pitch < row || actual.bytes[0] / actual.pitch < (size_t)actual.height)))
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the driver's numbers are wrong: %zu bytes with a pitch of %zu do not hold %dx%d pixels %s",
                        node->path, actual.bytes[0], actual.pitch, actual.width, actual.height, name);
    *ret_actual = actual;
    return 0;
}

/* ACTUAL against REQUESTED. UNSUPPORTED, with what the camera gives instead. */
static int compare(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, uint32_t fourcc,
                   const struct plx_v4l2_stream_format *actual, struct plx_error_message *message)
{
    char name[5], offered[160];

    plx_v4l2_fourcc_text(fourcc, name);
    plx_v4l2_list_formats(node, offered, sizeof offered);
    if (actual->format->fourcc != fourcc)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera does not give %s; it offers %s", node->path, name,
                        offered);
    if (actual->width != requested->width || actual->height != requested->height)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the camera gives %dx%d pixels instead of %dx%d as %s; set source.width and height to a size that "
                        "`parallax cameras` lists",
                        node->path, actual->width, actual->height, requested->width, requested->height, name);
    return 0;
}

/* Sets the format; where another program streams already, takes what is set. */
static int set_format(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, uint32_t fourcc,
                      struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *message)
{
    struct v4l2_format format;

    fill_format(node, requested, fourcc, &format);
    int result = plx_v4l2_call(node, VIDIOC_S_FMT, &format);
    const bool busy = result == -EBUSY;
    if (busy)
        result = plx_v4l2_call(node, VIDIOC_G_FMT, &format);
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the format cannot be set");
    result = read_format(node, &format, ret_actual, message);
    if (result == 0)
        result = compare(node, requested, fourcc, ret_actual, message);
    if (result < 0 && busy)
        return plx_fail(message, PLX_ERR_BUSY, "%s: another program uses the camera with another format", node->path);
    return result;
}

/* What setting the format would give, as far as the camera says without setting it. */
static int try_format(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, uint32_t fourcc,
                      struct plx_v4l2_stream_format *actual, struct plx_error_message *message)
{
    struct plx_v4l2_stream_format tried;
    struct v4l2_format format;

    fill_format(node, requested, fourcc, &format);
    if (plx_v4l2_call(node, VIDIOC_G_FMT, &format) == 0 && read_format(node, &format, &tried, NULL) == 0 &&
        compare(node, requested, fourcc, &tried, NULL) == 0)
        goto agreed; /* set already, by an engine that works with it: the camera need not be asked */
    fill_format(node, requested, fourcc, &format);
    int result = plx_v4l2_call(node, VIDIOC_TRY_FMT, &format);
    if (result == -ENOTTY || result == -EBUSY)
        return 0; /* it does not say: setting it will */
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the format is refused");
    result = read_format(node, &format, &tried, message);
    if (result == 0)
        result = compare(node, requested, fourcc, &tried, message);
    if (result < 0)
        return result;
agreed:
    tried.rate_hz = actual->rate_hz;
    *actual = tried;
    return 0;
}

static void set_rate(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                     struct plx_v4l2_stream_format *actual)
{
    struct v4l2_streamparm param = {.type = plx_v4l2_buffer_type(node)};

    if (plx_v4l2_call(node, VIDIOC_G_PARM, &param) < 0 || !(param.parm.capture.capability & V4L2_CAP_TIMEPERFRAME)) {
        actual->rate_hz = requested->rate_hz;
        actual->rate_unset = true;
        return;
    }
    if (requested->rate_hz > 0.0) {
        param.parm.capture.timeperframe =
            (struct v4l2_fract){.numerator = 1000, .denominator = (uint32_t)lround(requested->rate_hz * 1000.0)};
        plx_v4l2_call(node, VIDIOC_S_PARM, &param); /* what came of it is read next; busy: stays as it is */
        plx_v4l2_call(node, VIDIOC_G_PARM, &param);
    }
    actual->rate_hz = plx_v4l2_interval_hz(param.parm.capture.timeperframe);
}

/* The format to ask for, through libv4l2 where none can be read directly. */
static int pick_format(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                       const struct plx_v4l2_format **ret_format, struct plx_error_message *note,
                       struct plx_error_message *message)
{
    char offered[160], name[5];

    plx_v4l2_list_formats(node, offered, sizeof offered);
    const struct plx_v4l2_format *format =
        requested->fourcc ? plx_v4l2_format_find(requested->fourcc) : plx_v4l2_choose_format(node, requested);
    plx_v4l2_fourcc_text(requested->fourcc, name);
    if (requested->fourcc && !format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "source.format %s cannot be read; the camera %s offers %s", name,
                        node->path, offered);
    if (!format && !node->converting && !node->planar) { /* libv4l2 makes a format out of one that only it knows */
        int result = plx_v4l2_open_libv4l2(node, message);
        if (result < 0)
            return result;
        format = plx_v4l2_choose_format(node, requested);
    }
    if (!format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the camera offers %s, none of them %dx%d pixels in a form that can be read; "
                        "`parallax cameras` lists the sizes",
                        node->path, offered, requested->width, requested->height);
    if (node->converting)
        plx_v4l2_note(note, "%s: libv4l2 converts %s, which costs a copy", node->path, offered);
    *ret_format = format;
    return 0;
}

/* Whether what NODE refuses of REQUESTED now it may yet give, once controls (unless CONTROLS_SET) and the part of the sensor
 * (unless CROPPED) are set. What it lists does not depend on controls. FORMAT NULL: it lists none of the size. */
static bool may_change(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                       const struct plx_v4l2_format *format, bool controls_set, bool cropped)
{
    if (controls_set && cropped)
        return false;
    if (!format)
        return !cropped && !requested->fourcc;
    return plx_v4l2_has_format(node, format->fourcc) &&
           (!cropped || plx_v4l2_max_rate(node, format->fourcc, requested->width, requested->height) != 0.0);
}

int plx_v4l2_negotiate_try(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, bool controls_set,
                           struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *message)
{
    struct v4l2_streamparm param = {.type = plx_v4l2_buffer_type(node)};
    struct plx_v4l2_stream_format actual = {.rate_hz = requested->rate_hz};
    const struct plx_v4l2_format *format = NULL;
    struct plx_error_message note = {""};
    bool cropped;

    if (actual.rate_hz <= 0.0 && plx_v4l2_call(node, VIDIOC_G_PARM, &param) == 0)
        actual.rate_hz = plx_v4l2_interval_hz(param.parm.capture.timeperframe);
    int result = plx_v4l2_crop_try(node, requested, &cropped, message);
    if (result < 0)
        return result;
    result = pick_format(node, requested, &format, &note, message);
    if (result == 0)
        result = try_format(node, requested, format->fourcc, &actual, message);
    if (result == PLX_ERR_UNSUPPORTED && may_change(node, requested, format, controls_set, cropped))
        result = 0;
    if (result == 0)
        *ret_actual = actual;
    return result;
}

int plx_v4l2_negotiate(struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                       struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *note,
                       struct plx_error_message *message)
{
    const struct plx_v4l2_format *format;
    struct plx_v4l2_stream_format actual;

    int result = pick_format(node, requested, &format, note, message);
    if (result == 0)
        result = plx_v4l2_crop_set(node, requested, message);
    if (result == 0)
        result = set_format(node, requested, format->fourcc, &actual, message);
    if (result == 0)
        result = plx_v4l2_crop_check(node, requested, message);
    if (result < 0)
        return result;
    set_rate(node, requested, &actual);
    *ret_actual = actual;
    return 0;
}
