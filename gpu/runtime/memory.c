/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the GPU backend: the choice of what both processors reach, that memory, what only kernels reach, and what somebody
 * else allocated. */
#include <string.h>

#include "gpu/internal.h"

#define PART_ALIGNMENT 256

#define INTEGRATED 1u /* the GPU's memory is the CPU's */
#define REGISTERED 2u /* kernels reach registered memory by the CPU's own address */
#define CONCURRENT 4u /* the CPU may touch managed memory while kernels run; on Jetson before Thor it must not */

/* Which memory both processors use, by what the device can. The first row that fits is taken. */
static const struct {
    enum plx_gpu_memory wanted;
    unsigned needs;
    enum plx_gpu_memory gets;
} rules[] = {
    {PLX_GPU_MEMORY_AUTO, INTEGRATED | REGISTERED, PLX_GPU_MEMORY_MAPPED}, /* Jetson: one memory, nothing to copy */
    {PLX_GPU_MEMORY_AUTO, 0, PLX_GPU_MEMORY_COPIED},                       /* beyond a bus each byte crosses once */
    {PLX_GPU_MEMORY_MAPPED, REGISTERED, PLX_GPU_MEMORY_MAPPED},
    {PLX_GPU_MEMORY_MANAGED, REGISTERED | CONCURRENT, PLX_GPU_MEMORY_MANAGED}, /* slots stay registered memory */
    {PLX_GPU_MEMORY_COPIED, 0, PLX_GPU_MEMORY_COPIED},
};

int plx_gpu_memory_choose(enum plx_gpu_memory wanted, const struct cudaDeviceProp *device, enum plx_gpu_memory *ret_memory,
                          struct plx_error_message *message)
{
    const unsigned can = (device->integrated ? INTEGRATED : 0) | (device->canUseHostPointerForRegisteredMem ? REGISTERED : 0) |
                         (device->concurrentManagedAccess ? CONCURRENT : 0);
    unsigned missing = 0;

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].wanted != wanted)
            continue;
        missing = rules[i].needs & ~can;
        if (missing == 0) {
            *ret_memory = rules[i].gets;
            return 0;
        }
    }
    return plx_fail(message, PLX_ERR_UNSUPPORTED, "gpu.memory is %s, but %s %s; set it to auto",
                    wanted == PLX_GPU_MEMORY_MAPPED ? "mapped" : "managed", device->name,
                    missing & CONCURRENT ? "forbids the CPU to touch managed memory while it works"
                                         : "does not reach registered memory by its address");
}

int plx_gpu_alloc(struct plx_stages *self, size_t bytes, void **ret_data)
{
    struct plx_gpu *gpu = plx_gpu(self);
    void *data;

    const size_t size = bytes > 0 ? bytes : 1;
    const int result = gpu->memory == PLX_GPU_MEMORY_MANAGED
                           ? PLX_CUDA(gpu, cudaMallocManaged(&data, size, cudaMemAttachGlobal))
                           : PLX_CUDA(gpu, cudaHostAlloc(&data, size, cudaHostAllocMapped | cudaHostAllocPortable));
    if (result < 0)
        return result;
    memset(data, 0, bytes);
    *ret_data = data;
    return 0;
}

int plx_gpu_alloc_local(struct plx_stages *self, size_t bytes, const void *content, void **ret_data)
{
    struct plx_gpu *gpu = plx_gpu(self);
    void *data;

    int result = PLX_CUDA(gpu, cudaMalloc(&data, bytes > 0 ? bytes : 1));
    if (result < 0)
        return result;
    if (content)
        result = PLX_CUDA(gpu, cudaMemcpyAsync(data, content, bytes, cudaMemcpyHostToDevice, gpu->stream));
    else
        result = PLX_CUDA(gpu, cudaMemsetAsync(data, 0, bytes, gpu->stream));
    if (result == 0 && content)
        result = PLX_CUDA(gpu, cudaStreamSynchronize(gpu->stream)); /* content is the caller's again */
    if (result < 0) {
        cudaFree(data);
        return result;
    }
    *ret_data = data;
    return 0;
}

int plx_gpu_write_local(struct plx_stages *self, void *data, const void *content, size_t bytes)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int result = PLX_CUDA(gpu, cudaMemcpyAsync(data, content, bytes, cudaMemcpyHostToDevice, gpu->stream));
    return result < 0 ? result : PLX_CUDA(gpu, cudaStreamSynchronize(gpu->stream)); /* content is the caller's again */
}

int plx_gpu_alloc_parts(struct plx_gpu *gpu, const struct plx_gpu_part *part, int parts)
{
    size_t bytes = 0;
    void *block;

    for (int i = 0; i < parts; i++)
        bytes += (part[i].bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
    const int result = plx_gpu_alloc_local(&gpu->base, bytes, NULL, &block);
    if (result < 0)
        return result;
    for (int i = 0; i < parts; i++) {
        *part[i].data = block;
        block = (char *)block + (part[i].bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
    }
    return 0;
}

void plx_gpu_free(struct plx_stages *self, void *data)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct cudaPointerAttributes attributes;

    if (!data)
        return;
    plx_gpu_frames_forget(gpu);
    const bool known = PLX_CUDA(gpu, cudaPointerGetAttributes(&attributes, data)) == 0;
    if (!known || attributes.type == cudaMemoryTypeHost)
        PLX_CUDA(gpu, cudaFreeHost(data));
    if (!known || attributes.type != cudaMemoryTypeHost)
        PLX_CUDA(gpu, cudaFree(data));
}

int plx_gpu_adopt(struct plx_stages *self, void *data, size_t bytes)
{
    struct plx_gpu *gpu = plx_gpu(self);

    if (!gpu->adopts)
        return plx_fail(&gpu->base.message, PLX_ERR_UNSUPPORTED, "this GPU does not reach memory of others by its address");
    return PLX_CUDA(gpu, cudaHostRegister(data, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
}

void plx_gpu_disown(struct plx_stages *self, void *data)
{
    struct plx_gpu *gpu = plx_gpu(self);

    if (!data)
        return;
    plx_gpu_frames_forget(gpu);
    PLX_CUDA(gpu, cudaHostUnregister(data));
}
