/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/buffer_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/pipeline/stages.h"

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

int plx_v4l2_memory_alloc(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = whole_pages(bytes);
    void *block;
    int result = stages->ops->alloc(stages, whole + page, &block); /* one page more: STAGES aligns for the GPU, not to pages */
    if (result < 0)
        return result;
    uint8_t *start = block;
    *ret_memory = (struct plx_v4l2_memory){
        .data = start + (page - (uintptr_t)start % page) % page, .bytes = whole, .dmabuf = -1, .block = block};
    return 0;
}

/* Makes a dma-buf of the BYTES of MEMFD; returns its descriptor or a negative errno. */
static int make_dmabuf(int memfd, size_t bytes)
{
    const struct udmabuf_create create = {.memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes};
    int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (device < 0)
        return -errno;
    int dmabuf = ioctl(device, UDMABUF_CREATE, &create);
    const int failure = errno;
    close(device);
    return dmabuf < 0 ? -failure : dmabuf;
}

static void unmap(const struct plx_v4l2_memory *memory)
{
    if (memory->data != MAP_FAILED)
        munmap(memory->data, memory->bytes);
    if (memory->dmabuf >= 0)
        close(memory->dmabuf);
}

/* Lets STAGES adopt MEMORY; unmaps it if that fails. */
static int adopt(struct plx_stages *stages, const struct plx_v4l2_memory *memory, struct plx_v4l2_memory *ret_memory)
{
    int result = stages->ops->adopt ? stages->ops->adopt(stages, memory->data, memory->bytes) : PLX_ERR_UNSUPPORTED;
    if (result == 0)
        *ret_memory = *memory;
    else
        unmap(memory);
    return result;
}

int plx_v4l2_memory_adopt(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory)
{
    struct plx_v4l2_memory memory = {.bytes = whole_pages(bytes), .dmabuf = -1};

    memory.data = mmap(NULL, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return memory.data == MAP_FAILED ? PLX_ERR_NOMEM : adopt(stages, &memory, ret_memory);
}

int plx_v4l2_memory_create_dmabuf(struct plx_stages *stages, size_t bytes, struct plx_v4l2_memory *ret_memory)
{
    struct plx_v4l2_memory memory = {.data = MAP_FAILED, .bytes = whole_pages(bytes), .dmabuf = -1};

    int memfd = memfd_create("parallax-camera", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memfd < 0)
        return PLX_ERR_UNSUPPORTED;
    if (ftruncate(memfd, (off_t)memory.bytes) == 0 && fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK) == 0) {
        memory.data = mmap(NULL, memory.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memfd, 0);
        memory.dmabuf = make_dmabuf(memfd, memory.bytes);
    }
    close(memfd); /* the mapping and the dma-buf hold the memory */
    if (memory.data != MAP_FAILED && memory.dmabuf >= 0)
        return adopt(stages, &memory, ret_memory);
    unmap(&memory);
    return PLX_ERR_UNSUPPORTED;
}

void plx_v4l2_memory_free(struct plx_stages *stages, struct plx_v4l2_memory *memory)
{
    if (memory->block) {
        stages->ops->free(stages, memory->block);
    } else if (memory->data) {
        stages->ops->disown(stages, memory->data);
        unmap(memory);
    }
    *memory = (struct plx_v4l2_memory){.data = NULL};
}

static void synchronize(const struct plx_v4l2_memory *memory, uint64_t flags)
{
    struct dma_buf_sync sync = {.flags = flags};
    while (memory->dmabuf >= 0 && ioctl(memory->dmabuf, DMA_BUF_IOCTL_SYNC, &sync) < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
}

void plx_v4l2_memory_begin_read(const struct plx_v4l2_memory *memory)
{
    synchronize(memory, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
}

void plx_v4l2_memory_end_read(const struct plx_v4l2_memory *memory)
{
    synchronize(memory, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
}

/* --- the buffer ioctls -------------------------------------------------------------------------------------------- */

static const uint32_t v4l2_memory[] = {
    [PLX_MEMORY_USERPTR] = V4L2_MEMORY_USERPTR,
    [PLX_MEMORY_DMABUF] = V4L2_MEMORY_DMABUF,
    [PLX_MEMORY_MMAP] = V4L2_MEMORY_MMAP,
};

static void prepare(struct plx_v4l2_buffer *buffer, const struct plx_v4l2_node *node, enum plx_memory kind, int planes,
                    int index)
{
    memset(buffer, 0, sizeof *buffer);
    buffer->buffer.type = plx_v4l2_buffer_type(node);
    buffer->buffer.memory = v4l2_memory[kind];
    buffer->buffer.index = (uint32_t)index;
    if (node->planar) {
        buffer->buffer.m.planes = buffer->plane;
        buffer->buffer.length = (uint32_t)planes;
    }
}

int plx_v4l2_request_buffers(const struct plx_v4l2_node *node, enum plx_memory kind, int count)
{
    struct v4l2_requestbuffers request = {
        .count = (uint32_t)count, .type = plx_v4l2_buffer_type(node), .memory = v4l2_memory[kind]};
    int result = plx_v4l2_call(node, VIDIOC_REQBUFS, &request);
    return result < 0 ? result : (int)request.count;
}

int plx_v4l2_queue_buffer(const struct plx_v4l2_node *node, enum plx_memory kind, int planes, int index,
                          const struct plx_v4l2_memory *memory)
{
    struct plx_v4l2_buffer buffer;

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

int plx_v4l2_test_memory(const struct plx_v4l2_node *node, enum plx_memory kind, const struct plx_v4l2_memory *memory,
                         int count)
{
    int result = plx_v4l2_request_buffers(node, kind, count);

    if (result < 0) /* another program may stream: do not stop it */
        return result;
    result = result > 0 ? plx_v4l2_queue_buffer(node, kind, 1, 0, memory) : -ENOMEM;
    plx_v4l2_stream_off(node);
    plx_v4l2_request_buffers(node, kind, 0);
    return result;
}

int plx_v4l2_dequeue_buffer(const struct plx_v4l2_node *node, enum plx_memory kind, int planes,
                            struct plx_v4l2_buffer *ret_buffer)
{
    prepare(ret_buffer, node, kind, planes, 0);
    int result = plx_v4l2_call(node, VIDIOC_DQBUF, &ret_buffer->buffer);
    ret_buffer->used = node->planar ? ret_buffer->plane[0].bytesused : ret_buffer->buffer.bytesused;
    ret_buffer->offset = node->planar ? ret_buffer->plane[0].data_offset : 0;
    return result;
}

int plx_v4l2_stream_on(const struct plx_v4l2_node *node)
{
    int type = (int)plx_v4l2_buffer_type(node);
    return plx_v4l2_call(node, VIDIOC_STREAMON, &type);
}

void plx_v4l2_stream_off(const struct plx_v4l2_node *node)
{
    int type = (int)plx_v4l2_buffer_type(node);
    plx_v4l2_call(node, VIDIOC_STREAMOFF, &type);
}

int plx_v4l2_map_buffer(const struct plx_v4l2_node *node, int planes, int index, struct plx_v4l2_mapping *mapping)
{
    struct plx_v4l2_buffer buffer;

    prepare(&buffer, node, PLX_MEMORY_MMAP, planes, index);
    int result = plx_v4l2_call(node, VIDIOC_QUERYBUF, &buffer.buffer);
    for (int i = 0; i < planes && result == 0; i++) {
        const size_t bytes = node->planar ? buffer.plane[i].length : buffer.buffer.length;
        const off_t offset = node->planar ? buffer.plane[i].m.mem_offset : buffer.buffer.m.offset;
        void *data = node->converting ? v4l2_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, node->fd, offset)
                                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, node->fd, offset);
        if (data == MAP_FAILED)
            return -errno;
        mapping->data[i] = data;
        mapping->bytes[i] = bytes;
    }
    return result;
}

void plx_v4l2_unmap_buffer(const struct plx_v4l2_node *node, struct plx_v4l2_mapping *mapping)
{
    for (int i = 0; i < PLX_V4L2_PLANES; i++)
        if (mapping->data[i])
            (void)(node->converting ? v4l2_munmap(mapping->data[i], mapping->bytes[i])
                                    : munmap(mapping->data[i], mapping->bytes[i]));
    *mapping = (struct plx_v4l2_mapping){.data = {NULL}};
}
