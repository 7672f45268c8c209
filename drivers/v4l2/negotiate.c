/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/negotiate.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <math.h>

#include <parallax/error.h>

#include "core/raw.h"
#include "drivers/v4l2/crop.h"
#include "drivers/v4l2/offer.h"

static void fill_format(const struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, uint32_t fourcc,
                        struct v4l2_format *ret_format)
{
    *ret_format = (struct v4l2_format){.type = plx_v4l2_buffer_type(node)};
    if (node->planar) {
        struct v4l2_pix_format_mplane *pix = &ret_format->fmt.pix_mp;
        pix->width = (uint32_t)wish->width;
        pix->height = (uint32_t)wish->height;
        pix->pixelformat = fourcc;
        pix->field = V4L2_FIELD_NONE;
    } else {
        struct v4l2_pix_format *pix = &ret_format->fmt.pix;
        pix->width = (uint32_t)wish->width;
        pix->height = (uint32_t)wish->height;
        pix->pixelformat = fourcc;
        pix->field = V4L2_FIELD_NONE;
    }
}

/* Takes what the driver says over into DEAL, each number checked. */
static int read_format(const struct plx_v4l2_node *node, const struct v4l2_format *format, struct plx_v4l2_deal *ret_deal,
                       struct plx_error_message *message)
{
    const struct v4l2_pix_format_mplane *planar = &format->fmt.pix_mp;
    const struct v4l2_pix_format *pix = &format->fmt.pix;
    const uint32_t fourcc = node->planar ? planar->pixelformat : pix->pixelformat;
    const uint32_t field = node->planar ? planar->field : pix->field;
    struct plx_v4l2_deal deal = {.format = plx_v4l2_format_find(fourcc),
                                 .width = (int)(node->planar ? planar->width : pix->width),
                                 .height = (int)(node->planar ? planar->height : pix->height),
                                 .pitch = node->planar ? planar->plane_fmt[0].bytesperline : pix->bytesperline,
                                 .planes = node->planar ? planar->num_planes : 1};
    char name[5];

    plx_v4l2_fourcc_text(fourcc, name);
    if (!deal.format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera gives %s, which cannot be read; set source.format",
                        node->path, name);
    if (field != V4L2_FIELD_NONE && field != V4L2_FIELD_ANY)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera gives interlaced fields; expected whole pictures",
                        node->path);
    if (deal.width < 1 || deal.width > PLX_MAX_SIDE || deal.height < 1 || deal.height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera gives pictures of %dx%d, expected 1..%d per side",
                        node->path, deal.width, deal.height, PLX_MAX_SIDE);
    if (deal.planes < 1 || deal.planes > PLX_V4L2_PLANES)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: %s in %d memory planes, expected 1..%d", node->path, name,
                        deal.planes, PLX_V4L2_PLANES);
    for (int i = 0; i < deal.planes; i++)
        deal.bytes[i] = node->planar ? planar->plane_fmt[i].sizeimage : pix->sizeimage;
    const size_t row = plx_raw_row_bytes(deal.format->format, deal.width);
    if (deal.format->jpeg)
        deal.pitch = 0;
    else if (deal.pitch == 0)
        deal.pitch = row; /* packed: some drivers leave it out */
    if (deal.bytes[0] == 0 || (!deal.format->jpeg && (deal.pitch < row || deal.bytes[0] / deal.pitch < (size_t)deal.height)))
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the driver's numbers are wrong: %zu bytes with a pitch of %zu do not hold %dx%d pixels %s",
                        node->path, deal.bytes[0], deal.pitch, deal.width, deal.height, name);
    *ret_deal = deal;
    return 0;
}

/* DEAL against WISH. UNSUPPORTED, with what the camera gives instead. */
static int compare(const struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, uint32_t fourcc,
                   const struct plx_v4l2_deal *deal, struct plx_error_message *message)
{
    char name[5], offered[160];

    plx_v4l2_fourcc_text(fourcc, name);
    plx_v4l2_list_formats(node, offered, sizeof offered);
    if (deal->format->fourcc != fourcc)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera does not give %s; it offers %s", node->path, name,
                        offered);
    if (deal->width != wish->width || deal->height != wish->height)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the camera gives %dx%d pixels instead of %dx%d as %s; set source.width and height to a size that "
                        "`parallax cameras` lists",
                        node->path, deal->width, deal->height, wish->width, wish->height, name);
    return 0;
}

/* Sets the format; where another program streams already, takes what is set. */
static int set_format(const struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, uint32_t fourcc,
                      struct plx_v4l2_deal *ret_deal, struct plx_error_message *message)
{
    struct v4l2_format format;

    fill_format(node, wish, fourcc, &format);
    int result = plx_v4l2_call(node, VIDIOC_S_FMT, &format);
    const bool busy = result == -EBUSY;
    if (busy)
        result = plx_v4l2_call(node, VIDIOC_G_FMT, &format);
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the format cannot be set");
    result = read_format(node, &format, ret_deal, message);
    if (result == 0)
        result = compare(node, wish, fourcc, ret_deal, message);
    if (result < 0 && busy)
        return plx_fail(message, PLX_ERR_BUSY, "%s: another program uses the camera with another format", node->path);
    return result;
}

/* What setting the format would give, as far as the camera says without setting it. */
static int try_format(const struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, uint32_t fourcc,
                      struct plx_v4l2_deal *deal, struct plx_error_message *message)
{
    struct plx_v4l2_deal tried;
    struct v4l2_format format;

    fill_format(node, wish, fourcc, &format);
    if (plx_v4l2_call(node, VIDIOC_G_FMT, &format) == 0 && read_format(node, &format, &tried, NULL) == 0 &&
        compare(node, wish, fourcc, &tried, NULL) == 0)
        goto agreed; /* set already, by an engine that works with it: the camera need not be asked */
    fill_format(node, wish, fourcc, &format);
    int result = plx_v4l2_call(node, VIDIOC_TRY_FMT, &format);
    if (result == -ENOTTY || result == -EBUSY)
        return 0; /* it does not say: setting it will */
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the format is refused");
    result = read_format(node, &format, &tried, message);
    if (result == 0)
        result = compare(node, wish, fourcc, &tried, message);
    if (result < 0)
        return result;
agreed:
    tried.rate_hz = deal->rate_hz;
    *deal = tried;
    return 0;
}

static void set_rate(const struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, struct plx_v4l2_deal *deal)
{
    struct v4l2_streamparm param = {.type = plx_v4l2_buffer_type(node)};

    if (plx_v4l2_call(node, VIDIOC_G_PARM, &param) < 0 || !(param.parm.capture.capability & V4L2_CAP_TIMEPERFRAME)) {
        deal->rate_hz = wish->rate_hz;
        deal->rate_unset = true;
        return;
    }
    if (wish->rate_hz > 0.0) {
        param.parm.capture.timeperframe =
            (struct v4l2_fract){.numerator = 1000, .denominator = (uint32_t)lround(wish->rate_hz * 1000.0)};
        plx_v4l2_call(node, VIDIOC_S_PARM, &param); /* what came of it is read next; busy: stays as it is */
        plx_v4l2_call(node, VIDIOC_G_PARM, &param);
    }
    deal->rate_hz = plx_v4l2_hertz(param.parm.capture.timeperframe);
}

/* The format to ask for, through libv4l2 where none can be read directly. */
static int pick_format(struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, const struct plx_v4l2_format **ret_format,
                       struct plx_error_message *note, struct plx_error_message *message)
{
    char offered[160], name[5];

    plx_v4l2_list_formats(node, offered, sizeof offered);
    const struct plx_v4l2_format *format = wish->fourcc ? plx_v4l2_format_find(wish->fourcc) : plx_v4l2_choose(node, wish);
    plx_v4l2_fourcc_text(wish->fourcc, name);
    if (wish->fourcc && !format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "source.format %s cannot be read; the camera %s offers %s", name,
                        node->path, offered);
    if (!format && !node->converting && !node->planar) { /* libv4l2 makes a format out of one that only it knows */
        int result = plx_v4l2_convert(node, message);
        if (result < 0)
            return result;
        format = plx_v4l2_choose(node, wish);
    }
    if (!format)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the camera offers %s, none of them %dx%d pixels in a form that can be read; "
                        "`parallax cameras` lists the sizes",
                        node->path, offered, wish->width, wish->height);
    if (node->converting)
        plx_v4l2_note(note, "%s: libv4l2 converts %s, which costs a copy", node->path, offered);
    *ret_format = format;
    return 0;
}

/* Whether what NODE refuses of WISH now it may yet give, once controls (unless SETTLED) and the part of the sensor (unless
 * CROPPED) are set. What it lists does not depend on controls. FORMAT NULL: it lists none of the size. */
static bool may_change(const struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, const struct plx_v4l2_format *format,
                       bool settled, bool cropped)
{
    if (settled && cropped)
        return false;
    if (!format)
        return !cropped && !wish->fourcc;
    return plx_v4l2_offers(node, format->fourcc) &&
           (!cropped || plx_v4l2_best_rate(node, format->fourcc, wish->width, wish->height) != 0.0);
}

int plx_v4l2_foresee(struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, bool settled, struct plx_v4l2_deal *ret_deal,
                     struct plx_error_message *message)
{
    struct v4l2_streamparm param = {.type = plx_v4l2_buffer_type(node)};
    struct plx_v4l2_deal deal = {.rate_hz = wish->rate_hz};
    const struct plx_v4l2_format *format = NULL;
    struct plx_error_message note = {""};
    bool cropped;

    if (deal.rate_hz <= 0.0 && plx_v4l2_call(node, VIDIOC_G_PARM, &param) == 0)
        deal.rate_hz = plx_v4l2_hertz(param.parm.capture.timeperframe);
    int result = plx_v4l2_crop_foresee(node, wish, &cropped, message);
    if (result < 0)
        return result;
    result = pick_format(node, wish, &format, &note, message);
    if (result == 0)
        result = try_format(node, wish, format->fourcc, &deal, message);
    if (result == PLX_ERR_UNSUPPORTED && may_change(node, wish, format, settled, cropped))
        result = 0;
    if (result == 0)
        *ret_deal = deal;
    return result;
}

int plx_v4l2_negotiate(struct plx_v4l2_node *node, const struct plx_v4l2_wish *wish, struct plx_v4l2_deal *ret_deal,
                       struct plx_error_message *note, struct plx_error_message *message)
{
    const struct plx_v4l2_format *format;
    struct plx_v4l2_deal deal;

    int result = pick_format(node, wish, &format, note, message);
    if (result == 0)
        result = plx_v4l2_crop_set(node, wish, message);
    if (result == 0)
        result = set_format(node, wish, format->fourcc, &deal, message);
    if (result == 0)
        result = plx_v4l2_crop_check(node, wish, message);
    if (result < 0)
        return result;
    set_rate(node, wish, &deal);
    *ret_deal = deal;
    return 0;
}
