/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels on the backend's stream. */
#ifndef PLX_GPU_DEVICE_LAUNCH_CUH
#define PLX_GPU_DEVICE_LAUNCH_CUH

#include "gpu/device/device.cuh"
#include "gpu/internal.h"

enum { PLX_DEPENDENT = 1, PLX_COOPERATIVE = 2 }; /* how a kernel is launched */

/* Launches KERNEL on the backend's stream, each block with BYTES of dynamic shared memory, which may be more than 48 KiB. */
template <class... Parameters, class... Arguments>
static inline cudaError_t plx_launch(const struct plx_gpu *gpu, int how, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                     size_t bytes, const Arguments &...arguments)
{
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};

    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.stream = gpu->stream;
    config.attrs = attributes;
    if (how & PLX_COOPERATIVE) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (how & PLX_DEPENDENT && gpu->programmatic_launch) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    const cudaError_t error =
        bytes > 48 * 1024 ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes) : cudaSuccess;
    return error != cudaSuccess ? error : cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* Launches KERNEL, or a dependent one, with a GRID, a BLOCK and its arguments; returns a plx_error. How the kernel ended is
 * seen at ops->finish. */
#define PLX_LAUNCH(gpu, kernel, grid, block, ...)                                                                              \
    plx_gpu_error(gpu, plx_launch(gpu, 0, kernel, grid, block, 0, __VA_ARGS__), #kernel)
#define PLX_LAUNCH_DEPENDENT(gpu, kernel, grid, block, ...)                                                                    \
    plx_gpu_error(gpu, plx_launch(gpu, PLX_DEPENDENT, kernel, grid, block, 0, __VA_ARGS__), #kernel)

/* Launches KERNEL as a cooperative grid: as many blocks as run at once, at most MAX_BLOCKS, each with BYTES of dynamic shared
 * memory. HOW: PLX_DEPENDENT or 0. */
template <class Args>
static inline int plx_launch_cooperative(struct plx_gpu *gpu, int how, void (*kernel)(Args), int max_blocks, int threads,
                                         size_t bytes, const Args &args)
{
    int blocks = 0; /* blocks that fit on a multiprocessor */
    int result =
        bytes > 0 ? PLX_CUDA(gpu, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes)) : 0;

    if (result == 0)
        result = PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes));
    if (result < 0)
        return result;
    const dim3 grid((unsigned)min(gpu->multiprocessors * blocks, max_blocks)), block((unsigned)threads);
    return PLX_CUDA(gpu, plx_launch(gpu, how | PLX_COOPERATIVE, kernel, grid, block, bytes, args));
}

#endif
