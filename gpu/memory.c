/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the GPU backend. Shared memory is pinned and mapped: one address, no copies, and the CPU may look while kernels
 * run, which managed memory forbids where concurrentManagedAccess is 0 (Jetson). */
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
