/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/enumerate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLOW_HZ 15.0 /* suggest no slower format ... */
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
    return result == -ENOTTY; /* the driver does not enumerate sizes: S_FMT will tell */
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
        if (!plx_v4l2_has_format(node, fourcc))
            continue;
        double rate = plx_v4l2_max_rate(node, fourcc, requested->width, requested->height);
        if (rate < 0.0) /* the driver does not say: believe the requested rate */
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
