/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How kernels are launched: programmatic dependent launch (CUDA programming guide), from compute capability 9.0 on, and
 * cooperative grids.
 *
 * A dependent kernel may start while the previous kernel in the stream, of whichever stage, still runs. On older GPUs, and
 * behind a copy, it starts afterwards. Rules for every such kernel:
 *   - It calls plx_grid_wait before it writes anything that other kernels use.
 *   - Before that call it may read only what is older than the previous kernel. It may also prefetch into L2 what the previous
 *     kernel still writes, because all writes go through L2.
 *   - As a rule it triggers its dependents after plx_grid_wait. A kernel that triggers earlier says so in its comment: then
 *     early reads of its dependent must be older by one more kernel.
 *   - A kernel whose blocks all run at once, several to a multiprocessor, does not trigger at all: blocks of the dependent take
 *     free places first, which would crowd some multiprocessors.
 */
#ifndef PLX_GPU_DEVICE_LAUNCH_CUH
#define PLX_GPU_DEVICE_LAUNCH_CUH

#include "gpu/device/device.cuh"
#include "gpu/internal.h"

/* The dependent kernel may start when all blocks have called this or have ended. */
static __device__ __forceinline__ void plx_trigger_dependents()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Waits until all previous kernels of the stream are complete and their writes visible. For all threads. */
static __device__ __forceinline__ void plx_grid_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

static __device__ __forceinline__ void plx_grid_wait_and_trigger()
{
    plx_grid_wait();
    plx_trigger_dependents();
}

/* The launch attribute of a dependent kernel. */
static inline cudaLaunchAttribute plx_programmatic_launch(void)
{
    cudaLaunchAttribute attribute = {};

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
}

/* Launches a dependent KERNEL with a CONFIG that has no attributes. */
template <class... Parameters, class... Arguments>
static inline cudaError_t plx_launch_dependent_config(const struct plx_gpu *gpu, void (*kernel)(Parameters...),
                                                      cudaLaunchConfig_t config, const Arguments &...arguments)
{
    cudaLaunchAttribute attribute = plx_programmatic_launch();

    config.attrs = &attribute;
    config.numAttrs = gpu->programmatic_launch ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <class... Parameters, class... Arguments>
static inline cudaError_t plx_launch_dependent(const struct plx_gpu *gpu, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                               const Arguments &...arguments)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = grid;
    config.blockDim = block;
    config.stream = gpu->stream;
    return plx_launch_dependent_config(gpu, kernel, config, arguments...);
}

/* Launches a dependent kernel on the backend's stream; returns a plx_error. */
#define PLX_LAUNCH_DEPENDENT(gpu, kernel, ...) plx_gpu_check(gpu, plx_launch_dependent(gpu, kernel, __VA_ARGS__), #kernel)

/* Launches KERNEL, whose only parameter is ARGS, as a cooperative grid: as many blocks as run at once, at most MAX_BLOCKS, each
 * with BYTES of dynamic shared memory. DEPENDENT: the kernel calls plx_grid_wait. */
template <class Args>
static inline int plx_launch_cooperative(struct plx_gpu *gpu, void (*kernel)(Args), int max_blocks, int threads, Args args,
                                         bool dependent = false, size_t bytes = 0)
{
    void *arguments[] = {&args};
    int blocks_per_multiprocessor = 0;

    const int result =
        PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, kernel, threads, bytes));
    if (result < 0)
        return result;
    const int resident = gpu->multiprocessors * blocks_per_multiprocessor;
    cudaLaunchAttribute attributes[2] = {{}, plx_programmatic_launch()};
    cudaLaunchConfig_t config = {};
    attributes[0].id = cudaLaunchAttributeCooperative;
    attributes[0].val.cooperative = 1;
    config.gridDim = dim3((unsigned)(resident < max_blocks ? resident : max_blocks));
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = bytes;
    config.stream = gpu->stream;
    config.attrs = attributes;
    config.numAttrs = dependent && gpu->programmatic_launch ? 2 : 1;
    return PLX_CUDA(gpu, cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
}

#endif
