/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames as CUDA graphs: recorded while their stages are called for the first time, then one launch. Each piece of memory that
 * frames are written to has its own recording. Kernels whose arguments are new in every frame are told them in the graph.
 */
#include <stdlib.h>

#include "gpu/internal.h"

#define RECORDINGS 64 /* the most slots that a region has */
#define CHANGING 8    /* kernels of a frame with new arguments each time */

struct plx_gpu_recordings {
    int count, oldest; /* when all are taken, the oldest makes room */
    struct recording {
        const void *key;
        cudaGraph_t graph;
        cudaGraphExec_t launchable;
        int changing;
        cudaGraphNode_t kernel[CHANGING]; /* in the order of their calls */
    } recording[RECORDINGS];
    struct recording *next;   /* being recorded; NULL: none */
    struct recording *played; /* about to be launched again; NULL: none */
    int told;                 /* kernels of it whose arguments are there */
};

int plx_gpu_recordings_create(struct plx_gpu *gpu)
{
    gpu->recordings = calloc(1, sizeof *gpu->recordings);
    return gpu->recordings ? 0 : plx_fail(&gpu->base.message, PLX_ERR_NOMEM, "no memory for the GPU backend");
}

static void erase(struct recording *recording)
{
    if (recording->launchable)
        cudaGraphExecDestroy(recording->launchable);
    if (recording->graph)
        cudaGraphDestroy(recording->graph);
    *recording = (struct recording){.key = NULL};
}

void plx_gpu_forget(struct plx_stages *self)
{
    struct plx_gpu *gpu = plx_gpu(self);

    plx_gpu_recording_abandon(gpu);
    for (int i = 0; i < gpu->recordings->count; i++)
        erase(&gpu->recordings->recording[i]);
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
        erase(recording);
    }
    recording->key = key;
    return recording;
}

int plx_gpu_replay(struct plx_stages *self, const void *key)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct plx_gpu_recordings *recordings = gpu->recordings;

    for (int i = 0; i < recordings->count; i++) {
        if (recordings->recording[i].key != key || !recordings->recording[i].launchable)
            continue;
        recordings->played = &recordings->recording[i];
        recordings->told = 0;
        return 1;
    }
    const int result = PLX_CUDA(gpu, cudaStreamBeginCapture(gpu->stream, cudaStreamCaptureModeThreadLocal));
    if (result == 0)
        recordings->next = take(recordings, key);
    return result;
}

bool plx_gpu_replays(const struct plx_gpu *gpu)
{
    return gpu->recordings->played != NULL;
}

/* The kernel that was recorded last: what the next call on the lane would wait for. */
static int last_recorded(struct plx_gpu *gpu, cudaGraphNode_t *ret_kernel)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *last = NULL;
    size_t count = 0;

#if CUDART_VERSION >= 13000
    const int result = PLX_CUDA(gpu, cudaStreamGetCaptureInfo(gpu->stream, &status, NULL, NULL, &last, NULL, &count));
#else
    const int result = PLX_CUDA(gpu, cudaStreamGetCaptureInfo_v2(gpu->stream, &status, NULL, NULL, &last, &count));
#endif
    if (result < 0)
        return result;
    if (status != cudaStreamCaptureStatusActive || count != 1)
        return plx_fail(&gpu->base.message, PLX_ERR_IO, "a kernel was not recorded");
    *ret_kernel = last[0];
    return 0;
}

static int tell(struct plx_gpu *gpu, const struct cudaKernelNodeParams *params)
{
    struct plx_gpu_recordings *recordings = gpu->recordings;
    const struct recording *played = recordings->played;

    if (recordings->told == played->changing)
        return plx_fail(&gpu->base.message, PLX_ERR_ARG, "a frame makes other calls than the one that was recorded");
    return PLX_CUDA(gpu, cudaGraphExecKernelNodeSetParams(played->launchable, played->kernel[recordings->told++], params));
}

int plx_gpu_launch_changing(struct plx_gpu *gpu, void *kernel, dim3 grid, dim3 block, void **args)
{
    struct recording *recording = gpu->recordings->next;

    if (plx_gpu_replays(gpu))
        return tell(gpu,
                    &(struct cudaKernelNodeParams){.func = kernel, .gridDim = grid, .blockDim = block, .kernelParams = args});
    int result = PLX_CUDA(gpu, cudaLaunchKernel(kernel, grid, block, args, 0, gpu->stream));
    if (result < 0 || !recording)
        return result;
    if (recording->changing == CHANGING)
        return plx_fail(&gpu->base.message, PLX_ERR_RANGE, "a frame has more than %d calls with new arguments", CHANGING);
    return last_recorded(gpu, &recording->kernel[recording->changing++]);
}

/* Ends the recording of all lanes and makes it launchable. */
static int complete(struct plx_gpu *gpu, struct recording *recording)
{
    int result = plx_gpu_lanes_join(gpu);
    if (result < 0)
        return result; /* still being recorded: finish abandons it */
    gpu->recordings->next = NULL;
    result = PLX_CUDA(gpu, cudaStreamEndCapture(gpu->stream, &recording->graph));
    if (result == 0)
        result = PLX_CUDA(gpu, cudaGraphInstantiate(&recording->launchable, recording->graph, 0));
    return result;
}

int plx_gpu_queue(struct plx_stages *self)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct plx_gpu_recordings *recordings = gpu->recordings;
    struct recording *frame = recordings->played;

    if (frame) {
        recordings->played = NULL;
        if (recordings->told != frame->changing)
            return plx_fail(&gpu->base.message, PLX_ERR_ARG, "a frame makes other calls than the one that was recorded");
    } else {
        frame = recordings->next;
        const int result = complete(gpu, frame);
        if (result < 0)
            return result;
    }
    return PLX_CUDA(gpu, cudaGraphLaunch(frame->launchable, gpu->stream));
}

void plx_gpu_recording_abandon(struct plx_gpu *gpu)
{
    cudaGraph_t graph = NULL;

    gpu->recordings->played = NULL;
    if (!gpu->recordings->next)
        return;
    gpu->recordings->next = NULL;
    plx_gpu_lanes_reset(gpu);
    if (cudaStreamEndCapture(gpu->stream, &graph) != cudaSuccess)
        cudaGetLastError(); /* of a recording cut off amid its lanes; it goes on no further */
    if (graph)
        cudaGraphDestroy(graph);
}
