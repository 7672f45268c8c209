/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the GPU backend. Shared memory is pinned and mapped: one address, no copies, and the CPU may look while kernels
 * run, which managed memory forbids where concurrentManagedAccess is 0 (Jetson). Where the GPU is integrated it is the same
 * memory as any other, and kernels write published planes in place; elsewhere it lies beyond a bus, and they get a copy.
 */
#include <string.h>

#include "gpu/internal.h"

int plx_gpu_alloc(struct plx_stages *self, size_t bytes, void **ret_data)
{
    struct plx_gpu *gpu = plx_gpu(self);
    void *data;

    int result = PLX_CUDA(gpu, cudaHostAlloc(&data, bytes > 0 ? bytes : 1, cudaHostAllocMapped | cudaHostAllocPortable));
    if (result < 0)
        return result;
    memset(data, 0, bytes);
    *ret_data = data;
    return 0;
}

int plx_gpu_alloc_local(struct plx_stages *self, size_t bytes, void **ret_data)
{
    struct plx_gpu *gpu = plx_gpu(self);
    void *data;

    int result = PLX_CUDA(gpu, cudaMalloc(&data, bytes > 0 ? bytes : 1));
    if (result < 0)
        return result;
    result = PLX_CUDA(gpu, cudaMemsetAsync(data, 0, bytes, gpu->stream));
    if (result < 0) {
        cudaFree(data);
        return result;
    }
    *ret_data = data;
    return 0;
}

void plx_gpu_free(struct plx_stages *self, void *data)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct cudaPointerAttributes attributes;

    if (!data || PLX_CUDA(gpu, cudaPointerGetAttributes(&attributes, data)) < 0)
        return;
    if (attributes.type == cudaMemoryTypeHost)
        PLX_CUDA(gpu, cudaFreeHost(data));
    else
        PLX_CUDA(gpu, cudaFree(data));
}

int plx_gpu_adopt(struct plx_stages *self, void *data, size_t bytes)
{
    struct plx_gpu *gpu = plx_gpu(self);

    if (!gpu->adopts)
        return plx_fail(&gpu->base.why, PLX_ERR_UNSUPPORTED, "this GPU does not reach memory of others by its address");
    return PLX_CUDA(gpu, cudaHostRegister(data, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
}

void plx_gpu_disown(struct plx_stages *self, void *data)
{
    if (data)
        PLX_CUDA(plx_gpu(self), cudaHostUnregister(data));
}

int plx_gpu_copy(struct plx_stages *self, void *dst, const void *src, size_t bytes)
{
    struct plx_gpu *gpu = plx_gpu(self);
    return PLX_CUDA(gpu, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, gpu->stream));
}
