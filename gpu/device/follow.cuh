/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that begin while the one before them in the stream ends, of whichever stage: programmatic dependent launch, from
 * compute capability 9.0 on; elsewhere, and behind a copy, they begin after it. Each waits for all before it, and as a rule
 * only then lets the next one begin. So what a kernel does ahead of that may read whatever is older than the kernel before it,
 * and must write nothing that others touch. A kernel that lets the next one begin before it has waited says so: then that
 * one's early reads must be older by a kernel more. What it will read may be brought into L2, whoever yet writes it, for L2 is
 * where all writes arrive.
 *
 * The next one's blocks take the places that are free. Where those are not the same everywhere they end up side by side on some
 * multiprocessors, so a kernel whose blocks all run at once, but not each alone, lets the next one begin at its own end.
 */
#ifndef PLX_GPU_DEVICE_FOLLOW_CUH
#define PLX_GPU_DEVICE_FOLLOW_CUH

#include "gpu/device/device.cuh"

/* The next kernel may begin, once all blocks say so or are done. */
static __device__ __forceinline__ void plx_lead()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* All kernels before this one are complete, and what they wrote can be read. All threads must come. */
static __device__ __forceinline__ void plx_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The same, then as plx_lead. */
static __device__ __forceinline__ void plx_follow()
{
    plx_wait();
    plx_lead();
}

/* How a kernel that calls plx_wait or plx_follow is launched right after another one in its stream. */
static inline cudaLaunchAttribute plx_early(void)
{
    cudaLaunchAttribute early = {};

    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    return early;
}

/* Launches such a KERNEL as CONFIG says. */
template <class... Parameters, class... Arguments>
static inline cudaError_t plx_launch_early(const struct plx_gpu *gpu, void (*kernel)(Parameters...), cudaLaunchConfig_t config,
                                           const Arguments &...arguments)
{
    cudaLaunchAttribute early = plx_early();

    config.attrs = &early;
    config.numAttrs = gpu->follows ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* The same of a plain grid. */
template <class... Parameters, class... Arguments>
static inline cudaError_t plx_launch_next(const struct plx_gpu *gpu, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                          const Arguments &...arguments)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = grid;
    config.blockDim = block;
    config.stream = gpu->stream;
    return plx_launch_early(gpu, kernel, config, arguments...);
}

/* The same; returns a plx_error. */
#define PLX_LAUNCH_NEXT(gpu, kernel, ...) plx_gpu_check(gpu, plx_launch_next(gpu, kernel, __VA_ARGS__), #kernel)

#endif
