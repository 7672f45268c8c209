/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/format.h"

#include <ctype.h>
#include <linux/videodev2.h>
#include <stddef.h>
#include <string.h>

#include <parallax/error.h>

#include "core/image.h"

#define BAYER(bits, code, order)                                                                                               \
    {                                                                                                                          \
        .fourcc = (code), .format = PLX_FORMAT_BAYER##bits, .bayer = PLX_BAYER_##order, .planes = 1                            \
    }
#define PLAIN(code, as)                                                                                                        \
    {                                                                                                                          \
        .fourcc = (code), .format = PLX_FORMAT_##as, .planes = 1                                                               \
    }
#define LUMA_FIRST(code, count)                                                                                                \
    {                                                                                                                          \
        .fourcc = (code), .format = PLX_FORMAT_GREY, .planes = (count)                                                         \
    }

const struct plx_v4l2_format plx_v4l2_formats[] = {
    PLAIN(V4L2_PIX_FMT_GREY, GREY),
    PLAIN(V4L2_PIX_FMT_Y10, Y10),
    PLAIN(V4L2_PIX_FMT_Y12, Y12),
    PLAIN(V4L2_PIX_FMT_Y16, Y16),
    PLAIN(V4L2_PIX_FMT_NV12, NV12),
    PLAIN(V4L2_PIX_FMT_NV21, NV21),
    LUMA_FIRST(V4L2_PIX_FMT_NV12M, 2),
    LUMA_FIRST(V4L2_PIX_FMT_NV21M, 2),
    LUMA_FIRST(V4L2_PIX_FMT_YUV420, 1),
    LUMA_FIRST(V4L2_PIX_FMT_YVU420, 1),
    LUMA_FIRST(V4L2_PIX_FMT_YUV420M, 3),
    LUMA_FIRST(V4L2_PIX_FMT_NV16, 1),
    LUMA_FIRST(V4L2_PIX_FMT_YUV422P, 1),
    PLAIN(V4L2_PIX_FMT_YUYV, YUYV),
    PLAIN(V4L2_PIX_FMT_YVYU, YUYV), /* the luma lies at the same places */
    PLAIN(V4L2_PIX_FMT_UYVY, UYVY),
    PLAIN(V4L2_PIX_FMT_VYUY, UYVY),
    BAYER(8, V4L2_PIX_FMT_SRGGB8, RGGB),
    BAYER(8, V4L2_PIX_FMT_SBGGR8, BGGR),
    BAYER(8, V4L2_PIX_FMT_SGRBG8, GRBG),
    BAYER(8, V4L2_PIX_FMT_SGBRG8, GBRG),
    BAYER(10, V4L2_PIX_FMT_SRGGB10, RGGB),
    BAYER(10, V4L2_PIX_FMT_SBGGR10, BGGR),
    BAYER(10, V4L2_PIX_FMT_SGRBG10, GRBG),
    BAYER(10, V4L2_PIX_FMT_SGBRG10, GBRG),
    BAYER(12, V4L2_PIX_FMT_SRGGB12, RGGB),
    BAYER(12, V4L2_PIX_FMT_SBGGR12, BGGR),
    BAYER(12, V4L2_PIX_FMT_SGRBG12, GRBG),
    BAYER(12, V4L2_PIX_FMT_SGBRG12, GBRG),
    PLAIN(V4L2_PIX_FMT_RGB24, RGB24),
    PLAIN(V4L2_PIX_FMT_BGR24, BGR24),
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

void plx_v4l2_fourcc_text(uint32_t fourcc, char ret_text[5])
{
    int length = 0;
    for (int i = 0; i < 4; i++) {
        const int byte = (int)(fourcc >> (8 * i) & 0x7F); /* the top bit of the last says big endian */
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
        actual.pitch = row; /* rows without a gap: some drivers omit bytesperline */
    if (actual.bytes[0] == 0 ||
        (!actual.format->jpeg && (actual.pitch < row || actual.bytes[0] / actual.pitch < (size_t)actual.height)))
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the driver's numbers are wrong: %zu bytes with a pitch of %zu do not hold %dx%d pixels %s",
                        node->path, actual.bytes[0], actual.pitch, actual.width, actual.height, name);
    *ret_actual = actual;
    return 0;
}
