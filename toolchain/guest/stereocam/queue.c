// SPDX-License-Identifier: GPL-2.0-only
/* The queue of buffers: videobuf2's, in memory that the processor writes. */
#include <media/videobuf2-vmalloc.h>

#include "stereocam.h"

static int queue_setup(struct vb2_queue *queue, unsigned int *buffers, unsigned int *planes, unsigned int sizes[],
                       struct device *devices[])
{
    struct capture_node *node = vb2_get_drv_priv(queue);
    if (*planes)
        return sizes[0] < node->format.sizeimage ? -EINVAL : 0;
    *planes = 1;
    sizes[0] = node->format.sizeimage;
    return 0;
}

static int buffer_prepare(struct vb2_buffer *vb)
{
    struct capture_node *node = vb2_get_drv_priv(vb->vb2_queue);
    return vb2_plane_size(vb, 0) < node->format.sizeimage ? -EINVAL : 0;
}

static void buffer_queue(struct vb2_buffer *vb)
{
    struct capture_node *node = vb2_get_drv_priv(vb->vb2_queue);
    struct buffer *buffer = container_of(to_vb2_v4l2_buffer(vb), struct buffer, vb);
    mutex_lock(&node->eye->lock);
    list_add_tail(&buffer->list, &node->eye->buffers);
    mutex_unlock(&node->eye->lock);
}

static void return_buffers(struct eye *eye, enum vb2_buffer_state state)
{
    struct buffer *buffer, *next;
    list_for_each_entry_safe(buffer, next, &eye->buffers, list)
    {
        list_del(&buffer->list);
        vb2_buffer_done(&buffer->vb.vb2_buf, state);
    }
}

static int start_streaming(struct vb2_queue *queue, unsigned int count)
{
    struct capture_node *node = vb2_get_drv_priv(queue);
    struct eye *eye = node->eye;
    int result = 0;
    mutex_lock(&eye->lock);
    if (eye->fail_streamon) {
        eye->fail_streamon--;
        return_buffers(eye, VB2_BUF_STATE_QUEUED);
        result = -EIO;
    } else {
        eye->sequence = 0;
        eye->streaming = true;
        controls_start(eye);
    }
    mutex_unlock(&eye->lock);
    return result;
}

static void stop_streaming(struct vb2_queue *queue)
{
    struct capture_node *node = vb2_get_drv_priv(queue);
    mutex_lock(&node->eye->lock);
    node->eye->streaming = false;
    return_buffers(node->eye, VB2_BUF_STATE_ERROR);
    mutex_unlock(&node->eye->lock);
}

static const struct vb2_ops queue_ops = {
    .queue_setup = queue_setup,
    .buf_prepare = buffer_prepare,
    .buf_queue = buffer_queue,
    .start_streaming = start_streaming,
    .stop_streaming = stop_streaming,
    .wait_prepare = vb2_ops_wait_prepare,
    .wait_finish = vb2_ops_wait_finish,
};

int queue_init(struct capture_node *node)
{
    static const u32 stamps[] = {
        V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_EOF,
        V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_SOE,
        V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN,
    };
    struct vb2_queue *queue = &node->queue;
    int result;
    queue->type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    queue->io_modes = VB2_MMAP | VB2_DMABUF | (userptr ? VB2_USERPTR : 0);
    queue->drv_priv = node;
    queue->buf_struct_size = sizeof(struct buffer);
    queue->ops = &queue_ops;
    queue->mem_ops = &vb2_vmalloc_memops;
    queue->timestamp_flags = stamps[0];
    queue->lock = &node->lock;
    result = vb2_queue_init(queue);
    queue->timestamp_flags = stamps[clamp(timestamp_kind, 0, 2)]; /* only now: videobuf2 warns of an unknown clock */
    return result;
}
