/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the GPU backend: what both processors reach, of the kind that memory_policy.c chose, what only kernels reach, and
 * what somebody else allocated. */
#include <string.h>

#include "gpu/internal.h"

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
