/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of the backend, and events where one waits for another: the same outside and inside a recording. */
#include "gpu/internal.h"

int plx_gpu_streams_create(struct plx_gpu *gpu)
{
    struct plx_gpu_streams *streams = &gpu->streams;
    int result = 0;

    for (int i = 0; i < PLX_STREAMS && result == 0; i++) {
        result = PLX_CUDA(gpu, cudaStreamCreateWithFlags(&streams->stream[i], cudaStreamNonBlocking));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaEventCreateWithFlags(&streams->passed[i], cudaEventDisableTiming));
    }
    gpu->stream = streams->stream[PLX_STREAM_MAIN];
    return result;
}

void plx_gpu_streams_destroy(struct plx_gpu *gpu)
{
    for (int i = 0; i < PLX_STREAMS; i++) {
        if (gpu->streams.passed[i])
            cudaEventDestroy(gpu->streams.passed[i]);
        if (gpu->streams.stream[i])
            cudaStreamDestroy(gpu->streams.stream[i]);
    }
}

int plx_gpu_stream_wait(struct plx_gpu *gpu, enum plx_gpu_stream later, enum plx_gpu_stream earlier)
{
    struct plx_gpu_streams *streams = &gpu->streams;

    streams->used[later] = true;
    const int result = PLX_CUDA(gpu, cudaEventRecord(streams->passed[earlier], streams->stream[earlier]));
    return result < 0 ? result : PLX_CUDA(gpu, cudaStreamWaitEvent(streams->stream[later], streams->passed[earlier], 0));
}

int plx_gpu_streams_join(struct plx_gpu *gpu)
{
    int result = 0;

    for (int i = PLX_STREAM_MAIN + 1; i < PLX_STREAMS; i++) {
        if (gpu->streams.used[i] && result == 0)
            result = plx_gpu_stream_wait(gpu, PLX_STREAM_MAIN, (enum plx_gpu_stream)i);
        gpu->streams.used[i] = false;
    }
    return result;
}
