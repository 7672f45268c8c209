/* SPDX-License-Identifier: Apache-2.0 */
/* What machine code this program holds for the device. */
#include "gpu/internal.h"

static __global__ void probe_kernel(void)
{
}

bool plx_gpu_has_machine_code(bool *ret_follows)
{
    struct cudaFuncAttributes attributes;

    if (cudaFuncGetAttributes(&attributes, probe_kernel) != cudaSuccess)
        return false;
    *ret_follows = attributes.ptxVersion >= 90;
    return true;
}
