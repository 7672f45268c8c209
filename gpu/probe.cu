/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this program holds machine code for the device. */
#include "gpu/internal.h"

static __global__ void probe_kernel(void)
{
}

bool plx_gpu_runs_here(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, probe_kernel) == cudaSuccess;
}
