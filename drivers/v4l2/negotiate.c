/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/format.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <math.h>
#include <string.h>

#include <parallax/error.h>

static struct v4l2_selection selection_of(const struct plx_v4l2_requested_format *requested)
{
    return (struct v4l2_selection){
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, /* for both kinds of node, since Linux 4.13 */
        .target = V4L2_SEL_TGT_CROP,
        .r = {requested->crop.x, requested->crop.y, (uint32_t)requested->crop.width, (uint32_t)requested->crop.height},
    };
}

static int cannot_crop(const struct plx_v4l2_node *node, struct plx_error_message *message)
{
    return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera cannot crop; remove source.crop_width", node->path);
}

static bool lies_within(const struct v4l2_rect *part, const struct v4l2_rect *whole)
{
    return part->left >= whole->left && part->top >= whole->top &&
           (int64_t)part->left + part->width <= (int64_t)whole->left + whole->width &&
           (int64_t)part->top + part->height <= (int64_t)whole->top + whole->height;
}

/* Checks whether the camera can crop as requested, without setting it. *ret_cropped: it crops so already, or no cropping is
 * requested.
 * UNSUPPORTED; errors of plx_v4l2_fail. */
static int crop_try(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, bool *ret_cropped,
                    struct plx_error_message *message)
{
    struct v4l2_selection now = selection_of(requested), bounds = now;
    const struct v4l2_rect wanted = now.r, *whole = &bounds.r;

    *ret_cropped = true;
    if (requested->crop.width == 0)
        return 0;
    int result = plx_v4l2_call(node, VIDIOC_G_SELECTION, &now);
    if (result == -ENOTTY || result == -EINVAL || result == -ENODATA)
        return cannot_crop(node, message);
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the cropping cannot be read");
    *ret_cropped = memcmp(&now.r, &wanted, sizeof wanted) == 0;
    bounds.target = V4L2_SEL_TGT_CROP_BOUNDS;
    if (*ret_cropped || plx_v4l2_call(node, VIDIOC_G_SELECTION, &bounds) < 0 || lies_within(&wanted, whole))
        return 0;
    return plx_fail(
        message, PLX_ERR_UNSUPPORTED,
        "%s: the camera crops within %ux%u at %d,%d; %ux%u at %d,%d lies outside; set source.crop_* to a part of it",
        node->path, whole->width, whole->height, whole->left, whole->top, wanted.width, wanted.height, wanted.left, wanted.top);
}

/* Checks the cropping again after the format was set, which may have changed it. */
static int crop_check(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                      struct plx_error_message *message)
{
    struct v4l2_selection selection = selection_of(requested);
    const struct v4l2_rect wanted = selection.r, *is = &selection.r;

    if (requested->crop.width == 0)
        return 0;
    int result = plx_v4l2_call(node, VIDIOC_G_SELECTION, &selection);
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the cropping cannot be read");
    if (memcmp(is, &wanted, sizeof wanted) == 0)
        return 0;
    return plx_fail(message, PLX_ERR_UNSUPPORTED,
                    "%s: the camera crops to %ux%u at %d,%d instead of %ux%u at %d,%d for pictures of %dx%d; set source.crop_* "
                    "to the first, or source.width and height to the size of the second",
                    node->path, is->width, is->height, is->left, is->top, wanted.width, wanted.height, wanted.left, wanted.top,
                    requested->width, requested->height);
}

/* Sets the requested cropping, if any, before the format is set. UNSUPPORTED, with what the camera does instead; errors of
 * plx_v4l2_fail. */
static int crop_set(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                    struct plx_error_message *message)
{
    struct v4l2_selection selection = selection_of(requested);

    if (requested->crop.width == 0)
        return 0;
    int result = plx_v4l2_call(node, VIDIOC_S_SELECTION, &selection);
    if (result == -ENOTTY || result == -EINVAL || result == -ENODATA)
        return cannot_crop(node, message);
    if (result < 0 && result != -EBUSY) /* busy: another program streams; crop_check reads what is set */
        return plx_v4l2_fail(message, node->path, result, "the cropping cannot be set");
    return crop_check(node, requested, message);
}

/* Compares ACTUAL with REQUESTED. UNSUPPORTED, with what the camera gives instead. */
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

/* Sets the format. If another program streams, takes the one in force. */
static int set_format(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, uint32_t fourcc,
                      struct plx_v4l2_stream_format *ret_actual, struct plx_error_message *message)
{
    struct v4l2_format format;

    plx_v4l2_format_fill(node, requested, fourcc, &format);
    int result = plx_v4l2_call(node, VIDIOC_S_FMT, &format);
    const bool busy = result == -EBUSY;
    if (busy)
        result = plx_v4l2_call(node, VIDIOC_G_FMT, &format);
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the format cannot be set");
    result = plx_v4l2_format_read(node, &format, ret_actual, message);
    if (result == 0)
        result = compare(node, requested, fourcc, ret_actual, message);
    if (result < 0 && busy)
        return plx_fail(message, PLX_ERR_BUSY, "%s: another program uses the camera with another format", node->path);
    return result;
}

/* Writes the format that S_FMT would give into ACTUAL, or leaves ACTUAL if the driver cannot say. */
static int try_format(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, uint32_t fourcc,
                      struct plx_v4l2_stream_format *actual, struct plx_error_message *message)
{
    struct plx_v4l2_stream_format tried;
    struct v4l2_format format;

    plx_v4l2_format_fill(node, requested, fourcc, &format);
    if (plx_v4l2_call(node, VIDIOC_G_FMT, &format) == 0 && plx_v4l2_format_read(node, &format, &tried, NULL) == 0 &&
        compare(node, requested, fourcc, &tried, NULL) == 0)
        goto agreed; /* in force already, perhaps for another engine: TRY_FMT is not needed */
    plx_v4l2_format_fill(node, requested, fourcc, &format);
    int result = plx_v4l2_call(node, VIDIOC_TRY_FMT, &format);
    if (result == -ENOTTY || result == -EBUSY)
        return 0; /* the driver cannot try it now: S_FMT accepts or refuses it later */
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the format is refused");
    result = plx_v4l2_format_read(node, &format, &tried, message);
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
        plx_v4l2_call(node, VIDIOC_S_PARM, &param); /* read back next; busy: the rate stays */
        plx_v4l2_call(node, VIDIOC_G_PARM, &param);
    }
    actual->rate_hz = plx_v4l2_interval_hz(param.parm.capture.timeperframe);
}

/* Picks the format to request, through libv4l2 if none is readable directly. */
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
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "Parallax cannot read source.format %s; the camera %s offers %s", name,
                        node->path, offered);
    if (format && requested->colour && !plx_v4l2_format_has_colour(format))
        return plx_fail(
            message, PLX_ERR_UNSUPPORTED,
            "%s: colour.enabled is true, and source.format %s has no colour that Parallax can use; the camera offers %s",
            node->path, name, offered);
    if (!format && !node->converting && !node->planar) { /* libv4l2 converts formats that only it knows */
        int result = plx_v4l2_open_libv4l2(node, message);
        if (result < 0)
            return result;
        format = plx_v4l2_choose_format(node, requested);
    }
    if (!format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the camera offers %s, none of them %dx%d pixels in a format%s that Parallax can read; "
                        "`parallax cameras` lists the sizes",
                        node->path, offered, requested->width, requested->height,
                        requested->colour ? " with colour (colour.enabled is true)" : "");
    if (node->converting)
        plx_v4l2_note(note, "%s: libv4l2 converts %s, which costs a copy", node->path, offered);
    *ret_format = format;
    return 0;
}

/* Whether NODE may accept REQUESTED later, although it refuses now: controls (unless CONTROLS_SET) and cropping (unless
 * CROPPED) are not set yet. The list of formats does not depend on controls. FORMAT NULL: no format has the size. */
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
    int result = crop_try(node, requested, &cropped, message);
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
        result = crop_set(node, requested, message);
    if (result == 0)
        result = set_format(node, requested, format->fourcc, &actual, message);
    if (result == 0)
        result = crop_check(node, requested, message);
    if (result < 0)
        return result;
    set_rate(node, requested, &actual);
    *ret_actual = actual;
    return 0;
}
