/* SPDX-License-Identifier: Apache-2.0 */
/* Stage times of a frame: kernels of one thread beside the stages read the GPU's clock when a stage is complete. The same
 * kernel tells whether this program holds machine code for the device. */
#include <string.h>

#include "gpu/internal.h"

#define START PLX_STAGE_COUNT /* time stamp of the frame's begin */
#define STAMPS (START + 1)

static __global__ void stamp_kernel(unsigned long long *ret_now_ns)
{
    unsigned long long now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    *ret_now_ns = now;
}

bool plx_gpu_has_machine_code(bool *ret_dependent)
{
    struct cudaFuncAttributes attributes;

    if (cudaFuncGetAttributes(&attributes, stamp_kernel) != cudaSuccess)
        return false;
    *ret_dependent = attributes.ptxVersion >= 90;
    return true;
}

int plx_gpu_stage_clock_create(struct plx_gpu *gpu)
{
    gpu->times_stages = true;
    return plx_gpu_alloc(&gpu->base, STAMPS * sizeof *gpu->stamp_ns, (void **)&gpu->stamp_ns);
}

void plx_gpu_stage_clock_destroy(struct plx_gpu *gpu)
{
    plx_gpu_free(&gpu->base, gpu->stamp_ns);
}

void plx_gpu_stage_clock_clear(struct plx_gpu *gpu)
{
    memset(gpu->stamp_ns, 0, STAMPS * sizeof *gpu->stamp_ns);
}

int plx_gpu_stage_clock_stamp(struct plx_gpu *gpu, int stage, cudaStream_t stream)
{
    stamp_kernel<<<1, 1, 0, stream>>>(&gpu->stamp_ns[stage]);
    return plx_gpu_error(gpu, cudaGetLastError(), "stamp_kernel");
}

void plx_gpu_stage_clock_read(struct plx_gpu *gpu, uint32_t ret_us[PLX_STAGE_COUNT])
{
    const unsigned long long *stamp_ns = gpu->stamp_ns, start_ns = stamp_ns[START];
    unsigned long long before_ns = start_ns;
    bool done[PLX_STAGE_COUNT] = {};

    for (;;) { /* in the order in which the stages were completed */
        int next = -1;
        for (int i = 0; i < PLX_STAGE_COUNT; i++)
            if (!done[i] && stamp_ns[i] > start_ns && (next < 0 || stamp_ns[i] < stamp_ns[next]))
                next = i;
        if (next < 0)
            return;
        ret_us[next] = (uint32_t)((stamp_ns[next] - start_ns) / 1000 - (before_ns - start_ns) / 1000);
        before_ns = stamp_ns[next];
        done[next] = true;
    }
}
