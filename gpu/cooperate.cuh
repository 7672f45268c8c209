/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose blocks all run at once, so that they can wait for one another. */
#ifndef PLX_GPU_COOPERATE_CUH
#define PLX_GPU_COOPERATE_CUH

#include <cooperative_groups.h>

#include "gpu/device.cuh"

/* Launches as many blocks of KERNEL as the device runs at once, up to MOST; ARGS is its only parameter. */
template <class Args>
static inline int plx_launch_together(struct plx_gpu *gpu, void (*kernel)(Args), int most, int threads, Args args)
{
    void *arguments[] = {&args};
    int each = 0;

    const int result = PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0));
    if (result < 0)
        return result;
    const int resident = gpu->multiprocessors * each;
    return PLX_CUDA(gpu, cudaLaunchCooperativeKernel((const void *)kernel, dim3((unsigned)(resident < most ? resident : most)),
                                                     dim3((unsigned)threads), arguments, 0, gpu->stream));
}

#endif
