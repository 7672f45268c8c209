/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose blocks all run at once, so that they can wait for one another. */
#ifndef PLX_GPU_DEVICE_COOPERATE_CUH
#define PLX_GPU_DEVICE_COOPERATE_CUH

#include <cooperative_groups.h>

#include "gpu/device/follow.cuh"

/* Launches as many blocks of KERNEL as the device runs at once, up to MOST, each with BYTES of dynamic shared memory; ARGS is
 * its only parameter. FOLLOWS: it calls plx_wait or plx_follow, and is launched early. */
template <class Args>
static inline int plx_launch_together(struct plx_gpu *gpu, void (*kernel)(Args), int most, int threads, Args args,
                                      bool follows = false, size_t bytes = 0)
{
    void *arguments[] = {&args};
    int each = 0;

    const int result = PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, bytes));
    if (result < 0)
        return result;
    const int resident = gpu->multiprocessors * each;
    cudaLaunchAttribute how[2] = {{}, plx_early()};
    cudaLaunchConfig_t config = {};
    how[0].id = cudaLaunchAttributeCooperative;
    how[0].val.cooperative = 1;
    config.gridDim = dim3((unsigned)(resident < most ? resident : most));
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = bytes;
    config.stream = gpu->stream;
    config.attrs = how;
    config.numAttrs = follows && gpu->follows ? 2 : 1;
    return PLX_CUDA(gpu, cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
}

#endif
