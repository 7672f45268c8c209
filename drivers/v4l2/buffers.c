/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/image.h"
#include "drivers/v4l2/buffer_queue.h"
#include "drivers/v4l2/clock.h"

#define MAPPED_WANTED 4 /* the driver's own buffers: one being filled, two waiting, one being copied */
#define MIN_BUFFERS 2   /* with fewer, drivers do not stream */
#define ROW_ALIGNMENT 64
#define EXTRA_BYTES 65536 /* a driver may round the size of its buffers up to whole pages */

/* Kinds of memory that a driver and the backend can share, best first. The last one always works. */
static const struct plx_v4l2_memory_method {
    enum plx_memory kind;
    int (*make)(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory);
} methods[] = {
    {PLX_MEMORY_USERPTR, plx_v4l2_memory_alloc},
    {PLX_MEMORY_USERPTR, plx_v4l2_memory_adopt}, /* some drivers cannot pin memory of the GPU's driver */
    {PLX_MEMORY_DMABUF, plx_v4l2_memory_create_dmabuf},
    {PLX_MEMORY_MMAP, plx_v4l2_memory_alloc},
};

static bool direct(const struct plx_v4l2_buffers *buffers)
{
    return buffers->method->kind != PLX_MEMORY_MMAP;
}

/* Chooses the best kind of memory that NODE and the backend support. The test uses the first slot, which keeps its memory. */
static int choose_method(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node, size_t bytes,
                         struct plx_error_message *message)
{
    const bool copies = node->converting || buffers->compressed.data || buffers->actual.planes > 1;
    struct plx_v4l2_memory *first = &buffers->slot[0].memory;
    int result = PLX_ERR_UNSUPPORTED;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        buffers->method = &methods[i];
        if (direct(buffers) && copies)
            continue;
        result = methods[i].make(buffers->stages, bytes, first);
        if (result < 0)
            continue;
        result = direct(buffers) ? plx_v4l2_test_memory(node, methods[i].kind, first, MIN_BUFFERS) : 0;
        if (result == 0)
            break;
        plx_v4l2_memory_free(buffers->stages, first);
        if (result == -EBUSY || result == -ENODEV) /* another kind of memory would not help */
            return plx_v4l2_fail(message, node->path, result, "the driver gives no buffers");
    }
    return result;
}

/* The format of the pictures that readers get. */
static enum plx_format picture_format(const struct plx_v4l2_stream_format *actual)
{
    return actual->format->jpeg && actual->colour ? PLX_FORMAT_GREY_RGB : actual->format->format;
}

static int allocate(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node, struct plx_error_message *message)
{
    const struct plx_v4l2_stream_format *actual = &buffers->actual;
    size_t bytes = actual->bytes[0];
    int result = 0;

    buffers->pitch = actual->pitch;
    if (actual->format->jpeg) {
        buffers->compressed_capacity = bytes + EXTRA_BYTES;
        buffers->compressed.data = malloc(buffers->compressed_capacity);
        result = buffers->compressed.data ? 0 : PLX_ERR_NOMEM;
        buffers->pitch = ((size_t)actual->width + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
        bytes = buffers->pitch * plx_raw_rows(picture_format(actual), actual->height);
    }
    if (result == 0)
        result = choose_method(buffers, node, bytes, message);
    for (int i = 1; i < PLX_V4L2_SLOTS && result == 0; i++)
        result = buffers->method->make(buffers->stages, bytes, &buffers->slot[i].memory);
    return result;
}

int plx_v4l2_buffers_create(struct plx_stages *stages, const struct plx_v4l2_node *node,
                            const struct plx_v4l2_stream_format *actual, struct plx_v4l2_buffers **ret_buffers,
                            struct plx_error_message *message)
{
    struct plx_v4l2_buffers *buffers = calloc(1, sizeof *buffers);
    int result = PLX_ERR_NOMEM;

    if (buffers) {
        buffers->stages = stages;
        buffers->actual = *actual;
        result = allocate(buffers, node, message);
    }
    if (result == 0) {
        *ret_buffers = buffers;
        return 0;
    }
    plx_v4l2_buffers_destroy(buffers);
    if (result != PLX_ERR_NOMEM)
        return result;
    return plx_fail(message, result, "%s: out of memory for %d pictures of %dx%d", node->path, PLX_V4L2_SLOTS, actual->width,
                    actual->height);
}

void plx_v4l2_buffers_destroy(struct plx_v4l2_buffers *buffers)
{
    if (!buffers)
        return;
    for (int i = 0; i < PLX_V4L2_SLOTS; i++)
        plx_v4l2_memory_free(buffers->stages, &buffers->slot[i].memory);
    free(buffers->compressed.data);
    free(buffers);
}

int plx_v4l2_buffers_attach(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                            struct plx_error_message *message)
{
    const int max = direct(buffers) ? PLX_V4L2_SLOTS : PLX_V4L2_MAPPED, planes = buffers->actual.planes;
    int count = plx_v4l2_request_buffers(node, buffers->method->kind, direct(buffers) ? PLX_V4L2_SLOTS : MAPPED_WANTED);

    if (count < MIN_BUFFERS)
        return plx_v4l2_fail(message, node->path, count < 0 ? count : -ENOMEM, "the driver gives no buffers");
    buffers->driver_count = count < max ? count : max;
    int result = 0;
    for (int i = 0; i < buffers->driver_count && result == 0 && !direct(buffers); i++) {
        result = plx_v4l2_map_buffer(node, planes, i, &buffers->mapped[i]);
        if (result == 0)
            result = plx_v4l2_queue_buffer(node, PLX_MEMORY_MMAP, planes, i, NULL);
    }
    if (result < 0)
        result = plx_v4l2_fail(message, node->path, result, "the driver's buffers cannot be used");
    else
        result = plx_v4l2_buffers_refill(buffers, node, message);
    if (result == 0) {
        result = plx_v4l2_stream_on(node);
        if (result < 0)
            result = plx_v4l2_fail(message, node->path, result, "the stream does not start");
    }
    if (result < 0)
        plx_v4l2_buffers_detach(buffers, node);
    return result;
}

void plx_v4l2_buffers_detach(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node)
{
    if (buffers->driver_count == 0)
        return;
    plx_v4l2_stream_off(node);
    for (int i = 0; i < PLX_V4L2_MAPPED; i++)
        plx_v4l2_unmap_buffer(node, &buffers->mapped[i]);
    plx_v4l2_request_buffers(node, buffers->method->kind, 0);
    buffers->driver_count = 0;
    for (int i = 0; i < PLX_V4L2_SLOTS; i++)
        if (atomic_load_explicit(&buffers->slot[i].use, memory_order_relaxed) == PLX_V4L2_QUEUED) /* only this thread stores
                                                                                                   * QUEUED */
            plx_v4l2_slot_release(&buffers->slot[i]);
}

int plx_v4l2_buffers_refill(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                            struct plx_error_message *message)
{
    for (int i = 0; direct(buffers) && i < buffers->driver_count; i++) {
        struct plx_v4l2_slot *slot = &buffers->slot[i];
        if (atomic_load_explicit(&slot->use, memory_order_acquire) != PLX_V4L2_IDLE) /* acquire: its reader has finished */
            continue;
        plx_v4l2_memory_end_read(&slot->memory);
        int result = plx_v4l2_queue_buffer(node, buffers->method->kind, 1, i, &slot->memory);
        if (result < 0)
            return plx_v4l2_fail(message, node->path, result, "the driver rejects a buffer");
        atomic_store_explicit(&slot->use, PLX_V4L2_QUEUED, memory_order_relaxed); /* no other thread changes a QUEUED slot */
    }
    return 0;
}

/* A free slot for a copy; NULL if the reader holds all slots. */
static struct plx_v4l2_slot *find_idle(struct plx_v4l2_buffers *buffers)
{
    for (int i = 0; i < PLX_V4L2_SLOTS; i++)
        if (atomic_load_explicit(&buffers->slot[i].use, memory_order_acquire) == PLX_V4L2_IDLE) /* as in refill */
            return &buffers->slot[i];
    return NULL;
}

/* Checks what the driver says of the picture in BUFFER, whose memory is CAPACITY bytes at DATA. */
static int check_picture(const struct plx_v4l2_buffers *buffers, const struct plx_v4l2_buffer *buffer, const void *data,
                         size_t capacity, struct plx_raw *ret_raw, struct plx_error_message *message)
{
    const struct plx_v4l2_stream_format *actual = &buffers->actual;
    const size_t used = buffer->used < capacity ? buffer->used : capacity, offset = buffer->offset;

    if (buffer->buffer.flags & V4L2_BUF_FLAG_ERROR)
        return plx_fail(message, PLX_ERR_FORMAT, "the driver marked a picture as damaged");
    if (used <= offset)
        return plx_fail(message, PLX_ERR_FORMAT, "a picture of %zu bytes, expected %zu", used, actual->bytes[0]);
    *ret_raw = (struct plx_raw){
        .data = (const uint8_t *)data + offset,
        .bytes = used - offset,
        .width = actual->width,
        .height = actual->height,
        .pitch = actual->pitch,
        .format = picture_format(actual),
        .bayer = actual->format->bayer,
        .eye_width = actual->width,
        .chroma = actual->chroma,
    };
    return actual->format->jpeg ? 0 : plx_raw_check(ret_raw, message);
}

/* Copies the picture RAW from the driver's memory into SLOT, or its file into `compressed`. RAW then points into SLOT. */
static int copy_picture(struct plx_v4l2_buffers *buffers, struct plx_v4l2_slot *slot, struct plx_raw *raw,
                        struct plx_error_message *message)
{
    if (buffers->compressed.data) {
        if (raw->bytes > buffers->compressed_capacity)
            return plx_fail(message, PLX_ERR_FORMAT, "a picture of %zu bytes, expected at most %zu", raw->bytes,
                            buffers->compressed_capacity);
        memcpy(buffers->compressed.data, raw->data, raw->bytes);
        buffers->compressed.bytes = raw->bytes;
        raw->pitch = buffers->pitch;
        raw->bytes = buffers->pitch * (size_t)raw->height;
    } else {
        if (raw->bytes > slot->memory.bytes)
            raw->bytes = slot->memory.bytes;
        memcpy(slot->memory.data, raw->data, raw->bytes);
    }
    raw->data = slot->memory.data;
    return 0;
}

static int take_copy(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_buffer *buffer, struct plx_v4l2_picture *picture,
                     struct plx_error_message *message)
{
    const struct plx_v4l2_mapping *mapping = &buffers->mapped[buffer->buffer.index];

    int result = check_picture(buffers, buffer, mapping->data[0], mapping->bytes[0], &picture->raw, message);
    if (result < 0)
        return result;
    picture->slot = find_idle(buffers);
    if (!picture->slot)
        return plx_fail(message, PLX_ERR_BUSY, "the reader holds every picture");
    result = copy_picture(buffers, picture->slot, &picture->raw, message);
    if (result == 0)
        atomic_store_explicit(&picture->slot->use, PLX_V4L2_FILLED, memory_order_relaxed); /* the queue's lock publishes it */
    return result;
}

static int take_direct(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_buffer *buffer, struct plx_v4l2_picture *picture,
                       struct plx_error_message *message)
{
    struct plx_v4l2_slot *slot = &buffers->slot[buffer->buffer.index];

    plx_v4l2_memory_begin_read(&slot->memory);
    picture->slot = slot;
    atomic_store_explicit(&slot->use, PLX_V4L2_FILLED, memory_order_relaxed); /* the queue's lock publishes it */
    int result = check_picture(buffers, buffer, slot->memory.data, slot->memory.bytes, &picture->raw, message);
    if (result < 0)
        plx_v4l2_slot_release(slot);
    return result;
}

int plx_v4l2_buffers_take(struct plx_v4l2_buffers *buffers, const struct plx_v4l2_node *node,
                          struct plx_v4l2_picture *ret_picture, struct plx_error_message *message)
{
    const int planes = buffers->actual.planes;
    struct plx_v4l2_buffer buffer;

    int result = plx_v4l2_dequeue_buffer(node, buffers->method->kind, planes, &buffer);
    if (result == -EAGAIN)
        return PLX_ERR_TIMEOUT;
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "no picture can be dequeued");
    const int index = (int)buffer.buffer.index;
    if (index < 0 || index >= buffers->driver_count)
        return plx_fail(message, PLX_ERR_IO, "%s: the driver returned buffer %d of %d", node->path, index,
                        buffers->driver_count);

    struct plx_v4l2_picture picture = {
        .stamp_ns = plx_v4l2_stamp_ns(buffer.buffer.timestamp.tv_sec, buffer.buffer.timestamp.tv_usec),
        .flags = buffer.buffer.flags,
        .sequence = buffer.buffer.sequence,
        .memory = buffers->method->kind,
        .compressed = buffers->compressed.data != NULL,
    };
    if (direct(buffers)) {
        result = take_direct(buffers, &buffer, &picture, message);
        if (result < 0) /* the slot goes back to the driver at once; the next refill reports an error */
            plx_v4l2_buffers_refill(buffers, node, NULL);
    } else {
        result = take_copy(buffers, &buffer, &picture, message);
        int back = plx_v4l2_queue_buffer(node, PLX_MEMORY_MMAP, planes, index, NULL);
        if (back < 0) {
            if (result == 0)
                plx_v4l2_slot_release(picture.slot);
            return plx_v4l2_fail(message, node->path, back, "the driver does not take a buffer back");
        }
    }
    if (result == 0)
        *ret_picture = picture;
    return result;
}
