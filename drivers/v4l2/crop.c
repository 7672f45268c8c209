/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/crop.h"

#include <errno.h>
#include <linux/videodev2.h>
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

int plx_v4l2_crop_try(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested, bool *ret_cropped,
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
        return plx_v4l2_fail(message, node->path, result, "the camera does not say how it crops");
    *ret_cropped = memcmp(&now.r, &wanted, sizeof wanted) == 0;
    bounds.target = V4L2_SEL_TGT_CROP_BOUNDS;
    if (*ret_cropped || plx_v4l2_call(node, VIDIOC_G_SELECTION, &bounds) < 0 || lies_within(&wanted, whole))
        return 0;
    return plx_fail(
        message, PLX_ERR_UNSUPPORTED,
        "%s: the camera crops within %ux%u at %d,%d, which %ux%u at %d,%d is not; set source.crop_* to a part of it",
        node->path, whole->width, whole->height, whole->left, whole->top, wanted.width, wanted.height, wanted.left, wanted.top);
}

int plx_v4l2_crop_check(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                        struct plx_error_message *message)
{
    struct v4l2_selection selection = selection_of(requested);
    const struct v4l2_rect wanted = selection.r, *is = &selection.r;

    if (requested->crop.width == 0)
        return 0;
    int result = plx_v4l2_call(node, VIDIOC_G_SELECTION, &selection);
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "the camera does not say how it crops");
    if (memcmp(is, &wanted, sizeof wanted) == 0)
        return 0;
    return plx_fail(message, PLX_ERR_UNSUPPORTED,
                    "%s: the camera crops to %ux%u at %d,%d instead of %ux%u at %d,%d for pictures of %dx%d; set source.crop_* "
                    "to what it does, or source.width and height to the part's size",
                    node->path, is->width, is->height, is->left, is->top, wanted.width, wanted.height, wanted.left, wanted.top,
                    requested->width, requested->height);
}

int plx_v4l2_crop_set(const struct plx_v4l2_node *node, const struct plx_v4l2_requested_format *requested,
                      struct plx_error_message *message)
{
    struct v4l2_selection selection = selection_of(requested);

    if (requested->crop.width == 0)
        return 0;
    int result = plx_v4l2_call(node, VIDIOC_S_SELECTION, &selection);
    if (result == -ENOTTY || result == -EINVAL || result == -ENODATA)
        return cannot_crop(node, message);
    if (result < 0 && result != -EBUSY) /* somebody else streams: as it is set */
        return plx_v4l2_fail(message, node->path, result, "cropping");
    return plx_v4l2_crop_check(node, requested, message);
}
