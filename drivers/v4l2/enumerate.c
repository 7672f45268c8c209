/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/enumerate.h"

#include <linux/videodev2.h>
#include <stdio.h>
#include <string.h>

#include "drivers/v4l2/find.h"
#include "drivers/v4l2/format.h"
#include "drivers/v4l2/offer.h"

#define SLOW_HZ 15.0 /* a suggestion should not be slower */
#define WIDE_PX 1280 /* nor an eye wider */

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

/* The largest size of INFO that would do; NULL if none. */
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

/* TEXT as part of a match, between quotes in YAML: what has a meaning there becomes the wildcard for one character. */
static void print_match(const char *name, const char *text, char ret_match[PLX_V4L2_PATH])
{
    snprintf(ret_match, PLX_V4L2_PATH, "%s=%s", name, text);
    for (char *at = ret_match + strlen(name) + 1; *(at += strcspn(at, ",*[]\\\"")) != '\0';)
        *at = '?';
}

void plx_v4l2_configured_name(const struct plx_v4l2_node *node, char ret_name[PLX_V4L2_PATH])
{
    const struct plx_v4l2_identity *identity = &node->identity;

    if (plx_v4l2_stable_name(node->path, ret_name))
        return;
    const bool by_serial = identity->serial[0] != '\0';
    char driver[PLX_V4L2_PATH], device[PLX_V4L2_PATH];
    print_match("driver", identity->driver, driver);
    print_match(by_serial ? "serial" : "bus", by_serial ? identity->serial : identity->bus, device);
    snprintf(ret_name, PLX_V4L2_PATH, "%.100s,%.150s", driver, device);
}
