/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/buffers.h"

#include <errno.h>
#include <libv4l2.h>
#include <linux/videodev2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <parallax/error.h>

#include "core/raw.h"
#include "drivers/v4l2/clock.h"

#define MAPPED_WANTED 4 /* the driver's own buffers: one being filled, two waiting, one being copied */
#define LEAST 2         /* fewer do not stream */
#define ROW_ALIGNMENT 64

static const uint32_t v4l2_memory[] = {
    [PLX_MEMORY_USERPTR] = V4L2_MEMORY_USERPTR,
    [PLX_MEMORY_DMABUF] = V4L2_MEMORY_DMABUF,
    [PLX_MEMORY_MMAP] = V4L2_MEMORY_MMAP,
};

/* One struct v4l2_buffer with room for its planes. */
struct buffer {
    struct v4l2_buffer buffer;
    struct v4l2_plane plane[PLX_V4L2_PLANES];
};

static void prepare(struct buffer *buffer, const struct plx_v4l2_node *node, enum plx_memory memory, int planes, int index)
{
    memset(buffer, 0, sizeof *buffer);
    buffer->buffer.type = plx_v4l2_buffer_type(node);
    buffer->buffer.memory = v4l2_memory[memory];
    buffer->buffer.index = (uint32_t)index;
    if (node->planar) {
        buffer->buffer.m.planes = buffer->plane;
        buffer->buffer.length = (uint32_t)planes;
    }
}

/* Asks for COUNT buffers of the driver; how many it gave, or a negative errno. */
static int request(const struct plx_v4l2_node *node, enum plx_memory memory, int count)
{
    struct v4l2_requestbuffers wish = {
        .count = (uint32_t)count, .type = plx_v4l2_buffer_type(node), .memory = v4l2_memory[memory]};
    int result = plx_v4l2_call(node, VIDIOC_REQBUFS, &wish);
    return result < 0 ? result : (int)wish.count;
}

static void stop_stream(const struct plx_v4l2_node *node)
{
    int type = (int)plx_v4l2_buffer_type(node);
    plx_v4l2_call(node, VIDIOC_STREAMOFF, &type); /* a device that is gone cannot object */
}

/* Queues the driver's buffer INDEX, which is MEMORY unless it is mapped. */
static int queue(const struct plx_v4l2_node *node, enum plx_memory kind, int planes, int index,
                 const struct plx_v4l2_memory *memory)
{
    struct buffer buffer;

    prepare(&buffer, node, kind, planes, index);
    if (kind == PLX_MEMORY_USERPTR && node->planar) {
        buffer.plane[0].m.userptr = (unsigned long)memory->data;
        buffer.plane[0].length = (uint32_t)memory->bytes;
    } else if (kind == PLX_MEMORY_USERPTR) {
        buffer.buffer.m.userptr = (unsigned long)memory->data;
        buffer.buffer.length = (uint32_t)memory->bytes;
    } else if (kind == PLX_MEMORY_DMABUF && node->planar) {
        buffer.plane[0].m.fd = memory->dmabuf;
        buffer.plane[0].length = (uint32_t)memory->bytes;
    } else if (kind == PLX_MEMORY_DMABUF) {
        buffer.buffer.m.fd = memory->dmabuf;
        buffer.buffer.length = (uint32_t)memory->bytes;
    }
    return plx_v4l2_call(node, VIDIOC_QBUF, &buffer.buffer);
}

/* Whether the driver really takes MEMORY, not only in name: some refuse at the first buffer. */
static bool takes(const struct plx_v4l2_node *node, enum plx_memory kind, const struct plx_v4l2_memory *memory)
{
    bool taken = request(node, kind, LEAST) > 0 && queue(node, kind, 1, 0, memory) == 0;
    stop_stream(node);
    request(node, kind, 0);
    return taken;
}

static bool direct(const struct plx_v4l2_buffers *buffers)
{
    return buffers->memory != PLX_MEMORY_MMAP;
}

/* The best way of sharing that NODE has, tried with the first slot, which it allocates. */
static int choose_memory(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node, size_t bytes)
{
    struct plx_v4l2_memory *first = &buffers->slot[0].memory, shared;

    buffers->memory = PLX_MEMORY_MMAP;
    int result = plx_v4l2_memory_alloc(buffers->stages, bytes, first);
    if (result < 0 || node->converting || buffers->jpeg || buffers->deal.planes > 1)
        return result;
    if (takes(node, PLX_MEMORY_USERPTR, first)) {
        buffers->memory = PLX_MEMORY_USERPTR;
        return 0;
    }
    if (plx_v4l2_memory_share(buffers->stages, bytes, &shared) < 0)
        return 0;
    if (takes(node, PLX_MEMORY_DMABUF, &shared)) {
        buffers->memory = PLX_MEMORY_DMABUF;
        plx_v4l2_memory_free(buffers->stages, first);
        *first = shared;
    } else {
        plx_v4l2_memory_free(buffers->stages, &shared);
    }
    return 0;
}

static int allocate(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node)
{
    const struct plx_v4l2_deal *deal = &buffers->deal;
    size_t bytes = deal->bytes[0];
    int result = 0;

    buffers->pitch = deal->pitch;
    if (deal->format->jpeg) {
        result = plx_jpeg_create(&buffers->jpeg);
        buffers->pitch = ((size_t)deal->width + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
        bytes = buffers->pitch * (size_t)deal->height;
    }
    if (result == 0)
        result = choose_memory(buffers, node, bytes);
    for (int i = 1; i < PLX_V4L2_SLOTS && result == 0; i++) {
        struct plx_v4l2_memory *memory = &buffers->slot[i].memory;
        result = buffers->memory == PLX_MEMORY_DMABUF ? plx_v4l2_memory_share(buffers->stages, bytes, memory)
                                                      : plx_v4l2_memory_alloc(buffers->stages, bytes, memory);
    }
    return result;
}

int plx_v4l2_buffers_create(struct plx_stages *stages, const struct plx_v4l2_node *node, const struct plx_v4l2_deal *deal,
                            struct plx_v4l2_buffers **ret_buffers, struct plx_why *why)
{
    struct plx_v4l2_buffers *buffers = calloc(1, sizeof *buffers);
    int result = PLX_ERR_NOMEM;

    if (buffers) {
        buffers->stages = stages;
        buffers->deal = *deal;
        result = allocate(buffers, node);
    }
    if (result < 0) {
        plx_v4l2_buffers_destroy(buffers);
        return plx_fail(why, result, "%s: out of memory for %d pictures of %dx%d", node->path, PLX_V4L2_SLOTS, deal->width,
                        deal->height);
    }
    *ret_buffers = buffers;
    return 0;
}

void plx_v4l2_buffers_destroy(struct plx_v4l2_buffers *buffers)
{
    if (!buffers)
        return;
    for (int i = 0; i < PLX_V4L2_SLOTS; i++)
        plx_v4l2_memory_free(buffers->stages, &buffers->slot[i].memory);
    plx_jpeg_destroy(buffers->jpeg);
    free(buffers);
}

/* Maps the driver's buffer INDEX, all planes of it. */
static int map(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node, int index)
{
    struct buffer buffer;

    prepare(&buffer, node, PLX_MEMORY_MMAP, buffers->deal.planes, index);
    int result = plx_v4l2_call(node, VIDIOC_QUERYBUF, &buffer.buffer);
    for (int i = 0; i < buffers->deal.planes && result == 0; i++) {
        const size_t bytes = node->planar ? buffer.plane[i].length : buffer.buffer.length;
        const off_t offset = node->planar ? buffer.plane[i].m.mem_offset : buffer.buffer.m.offset;
        void *data = node->converting ? v4l2_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, node->fd, offset)
                                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, node->fd, offset);
        if (data == MAP_FAILED)
            return -errno;
        buffers->mapped[index].data[i] = data;
        buffers->mapped[index].bytes[i] = bytes;
    }
    return result;
}

static void unmap_all(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node)
{
    for (int i = 0; i < PLX_V4L2_MAPPED * PLX_V4L2_PLANES; i++) {
        void **data = &buffers->mapped[i / PLX_V4L2_PLANES].data[i % PLX_V4L2_PLANES];
        const size_t bytes = buffers->mapped[i / PLX_V4L2_PLANES].bytes[i % PLX_V4L2_PLANES];
        if (*data)
            (void)(node->converting ? v4l2_munmap(*data, bytes) : munmap(*data, bytes));
        *data = NULL;
    }
}

int plx_v4l2_buffers_attach(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node, struct plx_why *why)
{
    const int most = direct(buffers) ? PLX_V4L2_SLOTS : PLX_V4L2_MAPPED;
    int type = (int)plx_v4l2_buffer_type(node);
    int count = request(node, buffers->memory, direct(buffers) ? PLX_V4L2_SLOTS : MAPPED_WANTED);

    if (count < LEAST)
        return plx_v4l2_fail(why, node->path, count < 0 ? count : -ENOMEM, "the driver gives no buffers");
    buffers->driver_count = count < most ? count : most;
    int result = 0;
    for (int i = 0; i < buffers->driver_count && result == 0 && !direct(buffers); i++) {
        result = map(buffers, node, i);
        if (result == 0)
            result = queue(node, PLX_MEMORY_MMAP, buffers->deal.planes, i, NULL);
    }
    if (result < 0)
        result = plx_v4l2_fail(why, node->path, result, "the driver's buffers cannot be used");
    else
        result = plx_v4l2_buffers_refill(buffers, node, why);
    if (result == 0) {
        result = plx_v4l2_call(node, VIDIOC_STREAMON, &type);
        if (result < 0)
            result = plx_v4l2_fail(why, node->path, result, "the stream does not start");
    }
    if (result < 0)
        plx_v4l2_buffers_detach(buffers, node);
    return result;
}

void plx_v4l2_buffers_detach(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node)
{
    if (buffers->driver_count == 0)
        return;
    stop_stream(node);
    unmap_all(buffers, node);
    request(node, buffers->memory, 0);
    buffers->driver_count = 0;
    for (int i = 0; i < PLX_V4L2_SLOTS; i++)
        if (atomic_load_explicit(&buffers->slot[i].use, memory_order_relaxed) == PLX_V4L2_QUEUED) /* ours: no other stores it */
            plx_v4l2_slot_give_back(&buffers->slot[i]);
}

int plx_v4l2_buffers_refill(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node, struct plx_why *why)
{
    for (int i = 0; direct(buffers) && i < buffers->driver_count; i++) {
        struct plx_v4l2_slot *slot = &buffers->slot[i];
        if (atomic_load_explicit(&slot->use, memory_order_acquire) != PLX_V4L2_IDLE) /* its reader has finished */
            continue;
        plx_v4l2_memory_end_read(&slot->memory);
        int result = queue(node, buffers->memory, 1, i, &slot->memory);
        if (result < 0)
            return plx_v4l2_fail(why, node->path, result, "the driver takes no buffer");
        atomic_store_explicit(&slot->use, PLX_V4L2_QUEUED, memory_order_relaxed); /* it is this thread's own now */
    }
    return 0;
}

/* A slot for a copy; NULL if the reader has all. */
static struct plx_v4l2_slot *find_idle(struct plx_v4l2_buffers *buffers)
{
    for (int i = 0; i < PLX_V4L2_SLOTS; i++)
        if (atomic_load_explicit(&buffers->slot[i].use, memory_order_acquire) == PLX_V4L2_IDLE) /* as in refill */
            return &buffers->slot[i];
    return NULL;
}

/* Judges what the driver says of a picture of USED bytes, OFFSET of them in front, at DATA. */
static int check_picture(const struct plx_v4l2_buffers *buffers, const struct buffer *buffer, size_t used, size_t offset,
                         const void *data, struct plx_raw *ret_raw, struct plx_why *why)
{
    const struct plx_v4l2_deal *deal = &buffers->deal;

    if (buffer->buffer.flags & V4L2_BUF_FLAG_ERROR)
        return plx_fail(why, PLX_ERR_FORMAT, "the driver marked a picture as damaged");
    if (used <= offset)
        return plx_fail(why, PLX_ERR_FORMAT, "a picture of %zu bytes, expected %zu", used, deal->bytes[0]);
    *ret_raw = (struct plx_raw){
        .data = (const uint8_t *)data + offset,
        .bytes = used - offset,
        .width = deal->width,
        .height = deal->height,
        .pitch = deal->pitch,
        .format = deal->format->format,
        .bayer = deal->format->bayer,
        .eye_width = deal->width,
    };
    return deal->format->jpeg ? 0 : plx_raw_check(ret_raw, why);
}

/* Copies or decodes RAW, in the driver's memory, into SLOT and lets it point there. */
static int bring(struct plx_v4l2_buffers *buffers, struct plx_v4l2_slot *slot, struct plx_raw *raw, struct plx_why *why)
{
    int result = 0;

    if (buffers->jpeg) {
        const struct plx_image grey = {slot->memory.data, raw->width, raw->height, buffers->pitch, PLX_U8};
        result = plx_jpeg_decode(buffers->jpeg, raw->data, raw->bytes, &grey, why);
        raw->pitch = buffers->pitch;
        raw->bytes = buffers->pitch * (size_t)raw->height;
    } else {
        if (raw->bytes > slot->memory.bytes)
            raw->bytes = slot->memory.bytes;
        memcpy(slot->memory.data, raw->data, raw->bytes);
    }
    raw->data = slot->memory.data;
    return result;
}

static int take_copy(struct plx_v4l2_buffers *buffers, const struct buffer *buffer, size_t used, size_t offset,
                     struct plx_v4l2_picture *picture, struct plx_why *why)
{
    const int index = (int)buffer->buffer.index;
    const size_t mapped = buffers->mapped[index].bytes[0];

    int result = check_picture(buffers, buffer, used < mapped ? used : mapped, offset, buffers->mapped[index].data[0],
                               &picture->raw, why);
    if (result < 0)
        return result;
    picture->slot = find_idle(buffers);
    if (!picture->slot)
        return plx_fail(why, PLX_ERR_BUSY, "the reader holds every picture");
    result = bring(buffers, picture->slot, &picture->raw, why);
    if (result == 0)
        atomic_store_explicit(&picture->slot->use, PLX_V4L2_FILLED, memory_order_relaxed); /* handed on under a lock */
    return result;
}

static int take_direct(struct plx_v4l2_buffers *buffers, const struct buffer *buffer, size_t used, size_t offset,
                       struct plx_v4l2_picture *picture, struct plx_why *why)
{
    struct plx_v4l2_slot *slot = &buffers->slot[buffer->buffer.index];

    plx_v4l2_memory_begin_read(&slot->memory);
    picture->slot = slot;
    atomic_store_explicit(&slot->use, PLX_V4L2_FILLED, memory_order_relaxed); /* handed on under a lock */
    int result = check_picture(buffers, buffer, used < slot->memory.bytes ? used : slot->memory.bytes, offset,
                               slot->memory.data, &picture->raw, why);
    if (result < 0)
        plx_v4l2_slot_give_back(slot);
    return result;
}

int plx_v4l2_buffers_take(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                          struct plx_v4l2_picture *ret_picture, struct plx_why *why)
{
    struct buffer buffer;

    prepare(&buffer, node, buffers->memory, buffers->deal.planes, 0);
    int result = plx_v4l2_call(node, VIDIOC_DQBUF, &buffer.buffer);
    if (result == -EAGAIN)
        return PLX_ERR_TIMEOUT;
    if (result < 0)
        return plx_v4l2_fail(why, node->path, result, "no more pictures come");
    const int index = (int)buffer.buffer.index;
    if (index < 0 || index >= buffers->driver_count)
        return plx_fail(why, PLX_ERR_IO, "%s: the driver returned buffer %d of %d", node->path, index, buffers->driver_count);

    const size_t used = node->planar ? buffer.plane[0].bytesused : buffer.buffer.bytesused;
    const size_t offset = node->planar ? buffer.plane[0].data_offset : 0;
    struct plx_v4l2_picture picture = {
        .stamp_ns = plx_v4l2_stamp_ns(buffer.buffer.timestamp.tv_sec, buffer.buffer.timestamp.tv_usec),
        .flags = buffer.buffer.flags,
        .sequence = buffer.buffer.sequence,
    };
    if (direct(buffers)) {
        result = take_direct(buffers, &buffer, used, offset, &picture, why);
        if (result < 0) /* back to the driver at once; if that fails, the next refill says so */
            plx_v4l2_buffers_refill(buffers, node, NULL);
    } else {
        result = take_copy(buffers, &buffer, used, offset, &picture, why);
        int back = queue(node, PLX_MEMORY_MMAP, buffers->deal.planes, index, NULL);
        if (back < 0) {
            if (result == 0)
                plx_v4l2_slot_give_back(picture.slot);
            return plx_v4l2_fail(why, node->path, back, "the driver takes no buffer back");
        }
    }
    if (result == 0)
        *ret_picture = picture;
    return result;
}
