// SPDX-License-Identifier: GPL-2.0-only
/* Formats, sizes and rates, and the ioctls that tell and set them. */
#include <linux/platform_device.h>
#include <media/v4l2-event.h>
#include <media/v4l2-ioctl.h>

#include "stereocam.h"

/* Raw: one sample a pixel, those of more than 8 bits in the low bits of 16. */
static const struct {
    u32 fourcc;
    int bits;
} formats[] = {
    {V4L2_PIX_FMT_GREY, 8},     {V4L2_PIX_FMT_Y10, 10},     {V4L2_PIX_FMT_Y12, 12},     {V4L2_PIX_FMT_SRGGB8, 8},
    {V4L2_PIX_FMT_SGRBG8, 8},   {V4L2_PIX_FMT_SGBRG8, 8},   {V4L2_PIX_FMT_SBGGR8, 8},   {V4L2_PIX_FMT_SRGGB10, 10},
    {V4L2_PIX_FMT_SGRBG10, 10}, {V4L2_PIX_FMT_SGBRG10, 10}, {V4L2_PIX_FMT_SBGGR10, 10}, {V4L2_PIX_FMT_SRGGB12, 12},
    {V4L2_PIX_FMT_SGRBG12, 12}, {V4L2_PIX_FMT_SGBRG12, 12}, {V4L2_PIX_FMT_SBGGR12, 12},
};

/* The first mode is the module's parameters. */
static const struct v4l2_frmsize_discrete modes[] = {{0, 0}, {1280, 800}, {640, 400}, {320, 200}};

static struct v4l2_frmsize_discrete mode_size(int mode)
{
    struct v4l2_frmsize_discrete own = {width, height};
    return mode ? modes[mode] : own;
}

int format_modes(void)
{
    return ARRAY_SIZE(modes);
}

int format_bits(u32 fourcc)
{
    for (int i = 0; i < ARRAY_SIZE(formats); i++)
        if (formats[i].fourcc == fourcc)
            return formats[i].bits;
    return 0;
}

static void complete_format(struct v4l2_pix_format *pix)
{
    int bytes = format_bits(pix->pixelformat) > 8 ? 2 : 1;
    pix->bytesperline = roundup(pix->width * bytes, max(stride_align, 1));
    pix->sizeimage = pix->bytesperline * pix->height;
    pix->field = V4L2_FIELD_NONE;
    pix->colorspace = V4L2_COLORSPACE_RAW;
}

void format_set_mode(struct capture_node *node, int mode)
{
    struct v4l2_frmsize_discrete size = mode_size(mode);
    node->sensor_mode = mode;
    node->format.width = size.width;
    node->format.height = size.height;
    complete_format(&node->format);
}

void format_init(struct capture_node *node)
{
    node->format.pixelformat = formats[0].fourcc;
    format_set_mode(node, 0);
}

/* The mode whose size is nearest. */
static int nearest_mode(const struct v4l2_pix_format *pix)
{
    int best = 0;
    u32 best_error = U32_MAX;
    for (int i = 0; i < ARRAY_SIZE(modes); i++) {
        struct v4l2_frmsize_discrete size = mode_size(i);
        u32 error = abs((int)size.width - (int)min(pix->width, 65535U)) + abs((int)size.height - (int)min(pix->height, 65535U));
        if (error < best_error) {
            best = i;
            best_error = error;
        }
    }
    return best;
}

static int querycap(struct file *file, void *fh, struct v4l2_capability *cap)
{
    struct capture_node *node = video_drvdata(file);
    strscpy(cap->driver, "stereocam", sizeof cap->driver);
    snprintf(cap->card, sizeof cap->card, "stereocam %s", node->eye->name);
    snprintf(cap->bus_info, sizeof cap->bus_info, "platform:stereocam.0:%s", node->eye->name);
    return 0;
}

static int enum_input(struct file *file, void *fh, struct v4l2_input *input)
{
    if (input->index)
        return -EINVAL;
    input->type = V4L2_INPUT_TYPE_CAMERA;
    strscpy(input->name, "sensor", sizeof input->name);
    return 0;
}

static int g_input(struct file *file, void *fh, unsigned int *input)
{
    *input = 0;
    return 0;
}

static int s_input(struct file *file, void *fh, unsigned int input)
{
    return input ? -EINVAL : 0;
}

static int enum_fmt(struct file *file, void *fh, struct v4l2_fmtdesc *desc)
{
    if (desc->index >= ARRAY_SIZE(formats))
        return -EINVAL;
    desc->pixelformat = formats[desc->index].fourcc;
    return 0;
}

static int enum_framesizes(struct file *file, void *fh, struct v4l2_frmsizeenum *size)
{
    if (size->index >= ARRAY_SIZE(modes) || !format_bits(size->pixel_format))
        return -EINVAL;
    size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
    size->discrete = mode_size(size->index);
    return 0;
}

static int enum_frameintervals(struct file *file, void *fh, struct v4l2_frmivalenum *interval)
{
    if (interval->index || !format_bits(interval->pixel_format))
        return -EINVAL;
    interval->type = V4L2_FRMIVAL_TYPE_CONTINUOUS;
    interval->stepwise.min = (struct v4l2_fract){1, 120};
    interval->stepwise.max = (struct v4l2_fract){1, 1};
    interval->stepwise.step = (struct v4l2_fract){1, 1};
    return 0;
}

static int g_fmt(struct file *file, void *fh, struct v4l2_format *format)
{
    struct capture_node *node = video_drvdata(file);
    format->fmt.pix = node->format;
    return 0;
}

static int try_fmt(struct file *file, void *fh, struct v4l2_format *format)
{
    struct v4l2_pix_format *pix = &format->fmt.pix;
    struct v4l2_frmsize_discrete size = mode_size(nearest_mode(pix));
    if (!format_bits(pix->pixelformat))
        pix->pixelformat = formats[0].fourcc;
    pix->width = size.width;
    pix->height = size.height;
    complete_format(pix);
    return 0;
}

static int s_fmt(struct file *file, void *fh, struct v4l2_format *format)
{
    struct capture_node *node = video_drvdata(file);
    if (node->eye->refuse_format)
        return -(int)node->eye->refuse_format;
    if (vb2_is_busy(&node->queue))
        return -EBUSY;
    try_fmt(file, fh, format);
    node->sensor_mode = nearest_mode(&format->fmt.pix);
    node->format = format->fmt.pix;
    return 0;
}

static int g_parm(struct file *file, void *fh, struct v4l2_streamparm *parm)
{
    struct v4l2_captureparm *capture = &parm->parm.capture;
    if (parm->type != V4L2_BUF_TYPE_VIDEO_CAPTURE)
        return -EINVAL;
    capture->capability = V4L2_CAP_TIMEPERFRAME;
    capture->timeperframe = (struct v4l2_fract){READ_ONCE(stereocam.period_us), 1000000};
    capture->readbuffers = 1;
    return 0;
}

static int s_parm(struct file *file, void *fh, struct v4l2_streamparm *parm)
{
    struct v4l2_fract period = parm->parm.capture.timeperframe;
    if (parm->type != V4L2_BUF_TYPE_VIDEO_CAPTURE)
        return -EINVAL;
    if (period.numerator && period.denominator) {
        u64 us = div_u64(1000000ULL * period.numerator, period.denominator);
        WRITE_ONCE(stereocam.period_us, clamp_t(u64, us, 1000000 / 120, 1000000));
    }
    return g_parm(file, fh, parm);
}

const struct v4l2_ioctl_ops node_ioctls = {
    .vidioc_querycap = querycap,
    .vidioc_enum_input = enum_input,
    .vidioc_g_input = g_input,
    .vidioc_s_input = s_input,
    .vidioc_enum_fmt_vid_cap = enum_fmt,
    .vidioc_enum_framesizes = enum_framesizes,
    .vidioc_enum_frameintervals = enum_frameintervals,
    .vidioc_g_fmt_vid_cap = g_fmt,
    .vidioc_try_fmt_vid_cap = try_fmt,
    .vidioc_s_fmt_vid_cap = s_fmt,
    .vidioc_g_parm = g_parm,
    .vidioc_s_parm = s_parm,
    .vidioc_reqbufs = vb2_ioctl_reqbufs,
    .vidioc_create_bufs = vb2_ioctl_create_bufs,
    .vidioc_prepare_buf = vb2_ioctl_prepare_buf,
    .vidioc_querybuf = vb2_ioctl_querybuf,
    .vidioc_qbuf = vb2_ioctl_qbuf,
    .vidioc_dqbuf = vb2_ioctl_dqbuf,
    .vidioc_expbuf = vb2_ioctl_expbuf,
    .vidioc_streamon = vb2_ioctl_streamon,
    .vidioc_streamoff = vb2_ioctl_streamoff,
    .vidioc_log_status = v4l2_ctrl_log_status,
    .vidioc_subscribe_event = v4l2_ctrl_subscribe_event,
    .vidioc_unsubscribe_event = v4l2_event_unsubscribe,
};
