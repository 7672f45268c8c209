/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a frame that is the same every time, as CUDA graphs: recorded while its stages are called for the first time,
 * then one launch. Each piece of memory that frames are written to has its own recording.
 */
#include <stdlib.h>

#include "gpu/internal.h"

#define RECORDINGS 64 /* the most slots that a region has */

struct plx_gpu_recordings {
    int count, oldest; /* when all are taken, the oldest makes room */
    struct recording {
        const void *key;
        cudaGraphExec_t graph;
    } recording[RECORDINGS];
    struct recording *next; /* being recorded; NULL: none */
};

int plx_gpu_recordings_create(struct plx_gpu *gpu)
{
    gpu->recordings = calloc(1, sizeof *gpu->recordings);
    return gpu->recordings ? 0 : plx_fail(&gpu->base.why, PLX_ERR_NOMEM, "no memory for the GPU backend");
}

void plx_gpu_forget(struct plx_stages *self)
{
    struct plx_gpu *gpu = plx_gpu(self);

    plx_gpu_recording_abandon(gpu);
    for (int i = 0; i < gpu->recordings->count; i++)
        if (gpu->recordings->recording[i].graph)
            cudaGraphExecDestroy(gpu->recordings->recording[i].graph);
    *gpu->recordings = (struct plx_gpu_recordings){.count = 0};
}

void plx_gpu_recordings_destroy(struct plx_gpu *gpu)
{
    if (!gpu->recordings)
        return;
    plx_gpu_forget(&gpu->base);
    free(gpu->recordings);
    gpu->recordings = NULL;
}

static struct recording *take(struct plx_gpu_recordings *recordings, const void *key)
{
    struct recording *recording;

    if (recordings->count < RECORDINGS) {
        recording = &recordings->recording[recordings->count++];
    } else {
        recording = &recordings->recording[recordings->oldest];
        recordings->oldest = (recordings->oldest + 1) % RECORDINGS;
        if (recording->graph)
            cudaGraphExecDestroy(recording->graph);
    }
    *recording = (struct recording){.key = key};
    return recording;
}

int plx_gpu_replay(struct plx_stages *self, const void *key)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct plx_gpu_recordings *recordings = gpu->recordings;
    int result;

    for (int i = 0; i < recordings->count; i++) {
        const struct recording *recording = &recordings->recording[i];
        if (recording->key != key || !recording->graph)
            continue;
        result = PLX_CUDA(gpu, cudaGraphLaunch(recording->graph, gpu->stream));
        return result < 0 ? result : 1;
    }
    result = PLX_CUDA(gpu, cudaStreamBeginCapture(gpu->stream, cudaStreamCaptureModeThreadLocal));
    if (result == 0)
        recordings->next = take(recordings, key);
    return result;
}

int plx_gpu_queue(struct plx_stages *self)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct recording *recording = gpu->recordings->next;
    cudaGraph_t graph = NULL;

    int result = plx_gpu_lanes_join(gpu);
    if (result < 0)
        return result;
    gpu->recordings->next = NULL;
    result = PLX_CUDA(gpu, cudaStreamEndCapture(gpu->stream, &graph));
    if (result == 0)
        result = PLX_CUDA(gpu, cudaGraphInstantiate(&recording->graph, graph, 0));
    if (graph)
        cudaGraphDestroy(graph);
    if (result == 0)
        result = PLX_CUDA(gpu, cudaGraphLaunch(recording->graph, gpu->stream));
    return result;
}

void plx_gpu_recording_abandon(struct plx_gpu *gpu)
{
    cudaGraph_t graph = NULL;

    if (!gpu->recordings->next)
        return;
    gpu->recordings->next = NULL;
    plx_gpu_lanes_reset(gpu);
    if (cudaStreamEndCapture(gpu->stream, &graph) != cudaSuccess)
        cudaGetLastError(); /* of a recording cut off amid its lanes; it goes on no further */
    if (graph)
        cudaGraphDestroy(graph);
}
