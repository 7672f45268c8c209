/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/format.h"

#include <ctype.h>
#include <errno.h>
#include <linux/videodev2.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/image.h"

#define BAYER(bits, order)                                                                                                     \
    {                                                                                                                          \
        .fourcc = V4L2_PIX_FMT_S##order##bits, .format = PLX_FORMAT_BAYER##bits, .bayer = PLX_BAYER_##order, .planes = 1       \
    }
#define BAYERS(bits) BAYER(bits, RGGB), BAYER(bits, BGGR), BAYER(bits, GRBG), BAYER(bits, GBRG)
#define PLAIN(code, as) .fourcc = (code), .format = PLX_FORMAT_##as, .planes = 1
#define LUMA_FIRST(code, count) .fourcc = (code), .format = PLX_FORMAT_GREY, .planes = (count)

const struct plx_v4l2_format plx_v4l2_formats[] = {
    {PLAIN(V4L2_PIX_FMT_GREY, GREY)},
    {PLAIN(V4L2_PIX_FMT_Y10, Y10)},
    {PLAIN(V4L2_PIX_FMT_Y12, Y12)},
    {PLAIN(V4L2_PIX_FMT_Y16, Y16)},
    {PLAIN(V4L2_PIX_FMT_NV12, NV12)},
    {PLAIN(V4L2_PIX_FMT_NV21, NV21)},
    {LUMA_FIRST(V4L2_PIX_FMT_NV12M, 2)},
    {LUMA_FIRST(V4L2_PIX_FMT_NV21M, 2)},
    {LUMA_FIRST(V4L2_PIX_FMT_YUV420, 1)},
    {LUMA_FIRST(V4L2_PIX_FMT_YVU420, 1)},
    {LUMA_FIRST(V4L2_PIX_FMT_YUV420M, 3)},
    {PLAIN(V4L2_PIX_FMT_NV16, NV16)},
    {LUMA_FIRST(V4L2_PIX_FMT_YUV422P, 1)},
    {PLAIN(V4L2_PIX_FMT_YUYV, YUYV)},
    {PLAIN(V4L2_PIX_FMT_YVYU, YUYV), .swapped = true},
    {PLAIN(V4L2_PIX_FMT_UYVY, UYVY)},
    {PLAIN(V4L2_PIX_FMT_VYUY, UYVY), .swapped = true},
    BAYERS(8),
    BAYERS(10),
    BAYERS(12),
    {PLAIN(V4L2_PIX_FMT_RGB24, RGB24)},
    {PLAIN(V4L2_PIX_FMT_BGR24, BGR24)},
    {.fourcc = V4L2_PIX_FMT_MJPEG, .format = PLX_FORMAT_GREY, .jpeg = true, .planes = 1},
    {.fourcc = V4L2_PIX_FMT_JPEG, .format = PLX_FORMAT_GREY, .jpeg = true, .planes = 1},
};
const int plx_v4l2_format_count = sizeof plx_v4l2_formats / sizeof *plx_v4l2_formats;

const struct plx_v4l2_format *plx_v4l2_format_find(uint32_t fourcc)
{
    for (int i = 0; i < plx_v4l2_format_count; i++)
        if (plx_v4l2_formats[i].fourcc == fourcc)
            return &plx_v4l2_formats[i];
    return NULL;
}

bool plx_v4l2_format_has_colour(const struct plx_v4l2_format *format)
{
    const struct plx_format_layout *layout = plx_format_layout(format->format);
    return format->jpeg || layout->yuv || layout->bayer || format->format == PLX_FORMAT_RGB24 ||
           format->format == PLX_FORMAT_BGR24;
}

void plx_v4l2_fourcc_text(uint32_t fourcc, char ret_text[5])
{
    int length = 0;
    for (int i = 0; i < 4; i++) {
        const int byte = (int)(fourcc >> (8 * i) & 0x7F); /* the top bit of the last byte marks big endian */
        ret_text[i] = (char)(isgraph(byte) || byte == ' ' ? byte : '?');
        if (byte != ' ')
            length = i + 1;
    }
    ret_text[length] = '\0';
}

uint32_t plx_v4l2_fourcc_parse(const char *text)
{
    const size_t length = strlen(text);
    uint32_t fourcc = 0;

    if (length < 1 || length > 4)
        return 0;
    for (size_t i = 0; i < 4; i++)
        fourcc |= (uint32_t)(i < length ? (unsigned char)text[i] : ' ') << (8 * i);
    return fourcc;
}

void plx_v4l2_format_fill(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, uint32_t fourcc,
                          struct v4l2_format *ret_format)
{
    const uint32_t width = (uint32_t)requested->width, height = (uint32_t)requested->height;

    *ret_format = (struct v4l2_format){.type = plx_v4l2_buffer_type(node)};
    if (node->planar)
        ret_format->fmt.pix_mp =
            (struct v4l2_pix_format_mplane){.width = width, .height = height, .pixelformat = fourcc, .field = V4L2_FIELD_NONE};
    else
        ret_format->fmt.pix =
            (struct v4l2_pix_format){.width = width, .height = height, .pixelformat = fourcc, .field = V4L2_FIELD_NONE};
}

/* What the driver says of the YCbCr pictures of FORMAT; where it does not say, what V4L2 defines for its colour space. */
static struct plx_chroma read_chroma(const struct plx_v4l2_node *node, const struct v4l2_format *format, bool swapped)
{
    const uint32_t space = node->planar ? format->fmt.pix_mp.colorspace : format->fmt.pix.colorspace;
    uint32_t matrix = node->planar ? format->fmt.pix_mp.ycbcr_enc : format->fmt.pix.ycbcr_enc;
    uint32_t range = node->planar ? format->fmt.pix_mp.quantization : format->fmt.pix.quantization;

    if (matrix == V4L2_YCBCR_ENC_DEFAULT)
        matrix = V4L2_MAP_YCBCR_ENC_DEFAULT(space);
    if (range == V4L2_QUANTIZATION_DEFAULT)
        range = V4L2_MAP_QUANTIZATION_DEFAULT(false, space, matrix);
    return (struct plx_chroma){.bt709 = matrix == V4L2_YCBCR_ENC_709 || matrix == V4L2_YCBCR_ENC_XV709,
                               .full_range = range == V4L2_QUANTIZATION_FULL_RANGE,
                               .swapped = swapped};
}

int plx_v4l2_format_read(const struct plx_v4l2_node *node, const struct v4l2_format *format,
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
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera gives %s, which Parallax cannot read; set source.format",
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
    actual.chroma = read_chroma(node, format, actual.format->swapped);
    const size_t row = plx_raw_row_bytes(actual.format->format, actual.width);
    if (actual.format->jpeg)
        actual.pitch = 0;
    else if (actual.pitch == 0)
        actual.pitch = row; /* rows without a gap: some drivers omit bytesperline */
    if (actual.bytes[0] == 0 ||
        (!actual.format->jpeg && (actual.pitch < row || actual.bytes[0] / actual.pitch < (size_t)actual.height)))
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the driver's numbers are wrong: %zu bytes with a pitch of %zu do not hold %dx%d pixels %s",
                        node->path, actual.bytes[0], actual.pitch, actual.width, actual.height, name);
    *ret_actual = actual;
    return 0;
}

/* --- what a camera offers ----------------------------------------------------------------------------------------- */

#define SLOW_HZ 15.0 /* no slower format is suggested ... */
#define WIDE_PX 1280 /* ... and no wider eye */

double plx_v4l2_interval_hz(struct v4l2_fract interval)
{
    return interval.numerator ? (double)interval.denominator / interval.numerator : 0.0;
}

static bool offers_size(const struct plx_v4l2_node *node, uint32_t fourcc, int width, int height)
{
    const uint32_t w = (uint32_t)width, h = (uint32_t)height;
    struct v4l2_frmsizeenum size = {.pixel_format = fourcc};
    int result;

    for (; (result = plx_v4l2_call(node, VIDIOC_ENUM_FRAMESIZES, &size)) == 0; size.index++) {
        const struct v4l2_frmsize_stepwise *step = &size.stepwise;
        if (size.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
            if (size.discrete.width == w && size.discrete.height == h)
                return true;
            continue;
        }
        return w >= step->min_width && w <= step->max_width && h >= step->min_height && h <= step->max_height;
    }
    return result == -ENOTTY; /* the driver does not enumerate sizes: S_FMT accepts or refuses the size later */
}

double plx_v4l2_max_rate(const struct plx_v4l2_node *node, uint32_t fourcc, int width, int height)
{
    struct v4l2_frmivalenum interval = {.pixel_format = fourcc, .width = (uint32_t)width, .height = (uint32_t)height};
    double best = 0.0;

    if (!offers_size(node, fourcc, width, height))
        return 0.0;
    for (; plx_v4l2_call(node, VIDIOC_ENUM_FRAMEINTERVALS, &interval) == 0; interval.index++) {
        const bool discrete = interval.type == V4L2_FRMIVAL_TYPE_DISCRETE;
        best = fmax(best, plx_v4l2_interval_hz(discrete ? interval.discrete : interval.stepwise.min));
        if (!discrete)
            break;
    }
    return best > 0.0 ? best : -1.0;
}

bool plx_v4l2_has_format(const struct plx_v4l2_node *node, uint32_t fourcc)
{
    struct v4l2_fmtdesc desc = {.type = plx_v4l2_buffer_type(node)};

    while (plx_v4l2_call(node, VIDIOC_ENUM_FMT, &desc) == 0 && desc.pixelformat != fourcc)
        desc.index++;
    return desc.pixelformat == fourcc;
}

const struct plx_v4l2_format *plx_v4l2_choose_format(const struct plx_v4l2_node *node,
                                                     const struct plx_v4l2_requested_format *requested)
{
    const struct plx_v4l2_format *best = NULL;
    double best_rate = 0.0;

    for (int i = 0; i < plx_v4l2_format_count; i++) {
        const uint32_t fourcc = plx_v4l2_formats[i].fourcc;
        if (!plx_v4l2_has_format(node, fourcc) || (requested->colour && !plx_v4l2_format_has_colour(&plx_v4l2_formats[i])))
            continue;
        double rate = plx_v4l2_max_rate(node, fourcc, requested->width, requested->height);
        if (rate < 0.0) /* the driver does not say: assume the requested rate */
            rate = fmax(requested->rate_hz, 1.0);
        if (rate > best_rate * (1.0 + PLX_V4L2_SAME_RATE)) {
            best = &plx_v4l2_formats[i];
            best_rate = rate;
        }
        if (rate > 0.0 && rate >= requested->rate_hz * (1.0 - PLX_V4L2_SAME_RATE))
            return &plx_v4l2_formats[i];
    }
    return best;
}

void plx_v4l2_list_formats(const struct plx_v4l2_node *node, char *text, size_t bytes)
{
    struct v4l2_fmtdesc desc = {.type = plx_v4l2_buffer_type(node)};
    size_t used = 0;

    text[0] = '\0';
    for (; plx_v4l2_call(node, VIDIOC_ENUM_FMT, &desc) == 0 && used + 8 < bytes; desc.index++) {
        char name[5];
        plx_v4l2_fourcc_text(desc.pixelformat, name);
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", desc.index ? ", " : "", name);
    }
}

static void enumerate_sizes(const struct plx_v4l2_node *node, struct plx_v4l2_format_info *info)
{
    struct v4l2_frmsizeenum size = {.pixel_format = info->fourcc};

    for (; info->size_count < PLX_V4L2_FRAME_SIZES && plx_v4l2_call(node, VIDIOC_ENUM_FRAMESIZES, &size) == 0; size.index++) {
        const bool range = size.type != V4L2_FRMSIZE_TYPE_DISCRETE;
        struct plx_v4l2_frame_size *one = &info->size[info->size_count++];
        one->up_to = range;
        one->width = (int)(range ? size.stepwise.max_width : size.discrete.width);
        one->height = (int)(range ? size.stepwise.max_height : size.discrete.height);
        one->rate_hz = plx_v4l2_max_rate(node, info->fourcc, one->width, one->height);
        if (range)
            break;
    }
}

int plx_v4l2_enumerate_formats(const struct plx_v4l2_node *node, struct plx_v4l2_format_info ret_info[PLX_V4L2_FORMATS])
{
    struct v4l2_fmtdesc format = {.type = plx_v4l2_buffer_type(node)};
    int count = 0;

    for (; count < PLX_V4L2_FORMATS && plx_v4l2_call(node, VIDIOC_ENUM_FMT, &format) == 0; format.index++) {
        struct plx_v4l2_format_info *info = &ret_info[count++];
        memset(info, 0, sizeof *info);
        info->fourcc = format.pixelformat;
        info->readable = plx_v4l2_format_find(format.pixelformat) != NULL;
        enumerate_sizes(node, info);
    }
    return count;
}

/* The largest suitable size of INFO; NULL if none. */
static const struct plx_v4l2_frame_size *largest(const struct plx_v4l2_format_info *info, bool both)
{
    const struct plx_v4l2_frame_size *best = NULL;

    for (int i = 0; i < info->size_count; i++) {
        const struct plx_v4l2_frame_size *size = &info->size[i];
        const bool fast = size->rate_hz < 0.0 || size->rate_hz >= SLOW_HZ;
        if (fast && size->width <= (both ? 2 : 1) * WIDE_PX && (2 * size->width >= 5 * size->height) == both &&
            (!best || size->width * size->height > best->width * best->height))
            best = size;
    }
    return best;
}

bool plx_v4l2_suggest_format(const struct plx_v4l2_format_info *info, int count, bool both, uint32_t *ret_fourcc,
                             struct plx_v4l2_frame_size *ret_size)
{
    for (int i = 0; i < plx_v4l2_format_count; i++)
        for (int k = 0; k < count; k++) {
            const struct plx_v4l2_frame_size *size =
                info[k].fourcc == plx_v4l2_formats[i].fourcc ? largest(&info[k], both) : NULL;
            if (!size)
                continue;
            *ret_fourcc = info[k].fourcc;
            *ret_size = *size;
            return true;
        }
    return false;
}
