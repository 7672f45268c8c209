/* SPDX-License-Identifier: Apache-2.0 */
/* Calls beside each other: a stream a lane, and events where one waits for another. The same outside and inside a recording. */
#include "gpu/internal.h"

int plx_gpu_lanes_create(struct plx_gpu *gpu)
{
    struct plx_gpu_lanes *lanes = &gpu->lanes;
    int result = 0;

    for (int i = 0; i < PLX_LANES && result == 0; i++) {
        result = PLX_CUDA(gpu, cudaStreamCreateWithFlags(&lanes->stream[i], cudaStreamNonBlocking));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaEventCreateWithFlags(&lanes->passed[i], cudaEventDisableTiming));
    }
    gpu->stream = lanes->stream[0];
    return result;
}

void plx_gpu_lanes_destroy(struct plx_gpu *gpu)
{
    for (int i = 0; i < PLX_LANES; i++) {
        if (gpu->lanes.passed[i])
            cudaEventDestroy(gpu->lanes.passed[i]);
        if (gpu->lanes.stream[i])
            cudaStreamDestroy(gpu->lanes.stream[i]);
    }
}

/* Lane TO waits for all calls so far of lane FROM. */
static int wait_for(struct plx_gpu *gpu, int to, int from)
{
    struct plx_gpu_lanes *lanes = &gpu->lanes;
    const int result = PLX_CUDA(gpu, cudaEventRecord(lanes->passed[from], lanes->stream[from]));
    return result < 0 ? result : PLX_CUDA(gpu, cudaStreamWaitEvent(lanes->stream[to], lanes->passed[from], 0));
}

int plx_gpu_lane(struct plx_stages *self, int lane)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int from = gpu->lanes.current;

    if (lane < 0 || lane >= PLX_LANES)
        return PLX_ERR_ARG;
    if (plx_gpu_replays(gpu)) /* the recording has its lanes */
        return 0;
    gpu->lanes.current = lane;
    gpu->stream = gpu->lanes.stream[lane];
    if (lane == 0 || lane == from)
        return 0;
    gpu->lanes.used[lane] = true;
    return wait_for(gpu, lane, from);
}

int plx_gpu_lanes_join(struct plx_gpu *gpu)
{
    int result = 0;

    for (int i = 1; i < PLX_LANES && result == 0; i++)
        if (gpu->lanes.used[i])
            result = wait_for(gpu, 0, i);
    plx_gpu_lanes_reset(gpu);
    return result;
}

void plx_gpu_lanes_reset(struct plx_gpu *gpu)
{
    for (int i = 0; i < PLX_LANES; i++)
        gpu->lanes.used[i] = false;
    gpu->lanes.current = 0;
    gpu->stream = gpu->lanes.stream[0];
}
