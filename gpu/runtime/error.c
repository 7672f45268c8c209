/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA's errors mean to Parallax. */
#include "gpu/internal.h"

static int meaning(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return 0;
    case cudaErrorMemoryAllocation:
    case cudaErrorLaunchOutOfResources:
        return PLX_ERR_NOMEM;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorDevicesUnavailable:
        return PLX_ERR_UNSUPPORTED;
    default: /* what is sticky in CUDA, or a bug: nothing that this process can mend */
        return PLX_ERR_LOST;
    }
}

int plx_gpu_check(struct plx_gpu *gpu, cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return 0;
    cudaGetLastError(); /* told here: the next kernel's launch is not to be blamed for it */
    if (gpu->base.message.text[0] != '\0')
        return meaning(error); /* what failed first is the reason */
    return plx_fail(&gpu->base.message, meaning(error), "the GPU failed: %s: %s", call, cudaGetErrorString(error));
}
