// SPDX-License-Identifier: GPL-2.0-only
/* One capture node: it comes with the camera and goes with it, while files on it may still be open. */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <media/v4l2-fh.h>
#include <media/v4l2-ioctl.h>

#include "stereocam.h"

static const struct v4l2_file_operations node_files = {
    .owner = THIS_MODULE,
    .open = v4l2_fh_open,
    .release = vb2_fop_release,
    .poll = vb2_fop_poll,
    .mmap = vb2_fop_mmap,
    .unlocked_ioctl = video_ioctl2,
};

static void node_free(struct video_device *vdev)
{
    struct capture_node *node = container_of(vdev, struct capture_node, vdev);
    v4l2_ctrl_handler_free(&node->controls);
    kfree(node);
}

int node_plug(struct eye *eye)
{
    struct capture_node *node;
    struct video_device *vdev;
    int result;
    if (eye->node)
        return 0;
    node = kzalloc(sizeof *node, GFP_KERNEL);
    if (!node)
        return -ENOMEM;
    node->eye = eye;
    mutex_init(&node->lock);
    format_init(node);
    result = controls_init(node);
    if (result)
        goto failed;
    result = queue_init(node);
    if (result)
        goto failed;

    vdev = &node->vdev;
    snprintf(vdev->name, sizeof vdev->name, "stereocam %s", eye->name);
    vdev->v4l2_dev = &stereocam.v4l2;
    vdev->fops = &node_files;
    vdev->ioctl_ops = &node_ioctls;
    vdev->ctrl_handler = &node->controls;
    vdev->queue = &node->queue;
    vdev->lock = &node->lock;
    vdev->device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    vdev->release = node_free;
    video_set_drvdata(vdev, node);
    if (!standard_controls) { /* Tegra's nodes take the rate as a control only */
        v4l2_disable_ioctl(vdev, VIDIOC_S_PARM);
        v4l2_disable_ioctl(vdev, VIDIOC_G_PARM);
    }
    result = video_register_device(vdev, VFL_TYPE_VIDEO, -1);
    if (result)
        goto failed;
    mutex_lock(&eye->lock);
    eye->node = node;
    mutex_unlock(&eye->lock);
    return 0;

failed:
    node_free(&node->vdev);
    return result;
}

void node_unplug(struct eye *eye)
{
    struct capture_node *node = eye->node;
    if (!node)
        return;
    mutex_lock(&eye->lock);
    eye->node = NULL;
    mutex_unlock(&eye->lock);
    vb2_video_unregister_device(&node->vdev);
}
