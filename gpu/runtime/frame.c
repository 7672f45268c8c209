/* SPDX-License-Identifier: Apache-2.0 */
/* One frame's stage calls as a CUDA graph: recorded when a key is new, replayed as one launch after that. */
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/heartbeat.h"
#include "gpu/internal.h"

#define RECORDINGS 64 /* the most slots that a region has */
#define CHANGING 12   /* kernels of a frame with new arguments each time */

struct plx_gpu_frames {
    int count, oldest; /* when all are taken, the oldest makes room */
    struct recording {
        const void *key;
        cudaGraph_t graph;
        cudaGraphExec_t launchable;
        int changing;
        cudaGraphNode_t kernel[CHANGING]; /* in the order of their calls */
    } recording[RECORDINGS];
    struct recording *next;   /* that is recorded; NULL: none */
    struct recording *played; /* that is about to be launched again; NULL: none */
    int updated;              /* kernels of it whose arguments are set */
};

int plx_gpu_frames_create(struct plx_gpu *gpu)
{
    gpu->frames = calloc(1, sizeof *gpu->frames);
    return gpu->frames ? 0 : plx_fail(&gpu->base.message, PLX_ERR_NOMEM, "no memory for the GPU backend");
}

/* --- recordings by key ---------------------------------------------------------------------------------------------- */

static void erase(struct recording *recording)
{
    if (recording->launchable)
        cudaGraphExecDestroy(recording->launchable);
    if (recording->graph)
        cudaGraphDestroy(recording->graph);
    *recording = (struct recording){.key = NULL};
}

void plx_gpu_frames_forget(struct plx_gpu *gpu)
{
    if (!gpu->frames)
        return;
    for (int i = 0; i < gpu->frames->count; i++)
        erase(&gpu->frames->recording[i]);
    gpu->frames->count = gpu->frames->oldest = 0;
}

void plx_gpu_frames_destroy(struct plx_gpu *gpu)
{
    plx_gpu_frames_forget(gpu);
    free(gpu->frames);
    gpu->frames = NULL;
}

static struct recording *find(struct plx_gpu_frames *frames, const void *key)
{
    for (int i = 0; i < frames->count; i++)
        if (frames->recording[i].key == key && frames->recording[i].launchable)
            return &frames->recording[i];
    return NULL;
}

static struct recording *add(struct plx_gpu_frames *frames, const void *key)
{
    struct recording *recording;

    if (frames->count < RECORDINGS) {
        recording = &frames->recording[frames->count++];
    } else {
        recording = &frames->recording[frames->oldest];
        frames->oldest = (frames->oldest + 1) % RECORDINGS;
        erase(recording);
    }
    recording->key = key;
    return recording;
}

/* --- a frame -------------------------------------------------------------------------------------------------------- */

int plx_gpu_launch_changing(struct plx_gpu *gpu, void *kernel, dim3 grid, dim3 block, void **args)
{
    struct plx_gpu_frames *frames = gpu->frames;
    struct recording *played = frames->played, *recording = frames->next;

    if (played) {
        const struct cudaKernelNodeParams params = {.func = kernel, .gridDim = grid, .blockDim = block, .kernelParams = args};
        if (frames->updated == played->changing)
            return plx_fail(&gpu->base.message, PLX_ERR_ARG, "a frame makes other calls than the one that was recorded");
        return PLX_CUDA(gpu, cudaGraphExecKernelNodeSetParams(played->launchable, played->kernel[frames->updated++], &params));
    }
    int result = PLX_CUDA(gpu, cudaLaunchKernel(kernel, grid, block, args, 0, gpu->stream));
    if (result < 0 || !recording)
        return result;
    if (recording->changing == CHANGING)
        return plx_fail(&gpu->base.message, PLX_ERR_RANGE, "a frame has more than %d calls with new arguments", CHANGING);
    return plx_gpu_last_recorded(gpu, &recording->kernel[recording->changing++]);
}

/* Ends a recording that failed. */
static void abandon(struct plx_gpu *gpu)
{
    cudaGraph_t graph = NULL;

    if (!gpu->frames->next)
        return;
    gpu->frames->next = NULL;
    if (cudaStreamEndCapture(gpu->streams.stream[PLX_STREAM_MAIN], &graph) != cudaSuccess)
        cudaGetLastError(); /* the streams were not joined; the recording is over all the same */
    if (graph)
        cudaGraphDestroy(graph);
}

static int run_steps(struct plx_gpu *gpu, const struct plx_frame_run *run)
{
    int result = 0;

    for (int i = 0; i < run->backend_steps && result == 0; i++) {
        result = plx_gpu_begin_step(gpu, i);
        if (result == 0)
            result = plx_step_run(&run->step[i], run->context);
    }
    return result;
}

static int record(struct plx_gpu *gpu, const struct plx_frame_run *run)
{
    struct plx_gpu_frames *frames = gpu->frames;
    cudaStream_t stream = gpu->streams.stream[PLX_STREAM_MAIN];

    int result = PLX_CUDA(gpu, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (result < 0)
        return result;
    struct recording *recording = frames->next = add(frames, run->key);
    result = plx_gpu_streams_begin(gpu, run);
    if (result == 0)
        result = run_steps(gpu, run);
    result = plx_gpu_streams_end(gpu, result);
    if (result < 0) {
        abandon(gpu);
        return result;
    }
    frames->next = NULL;
    result = PLX_CUDA(gpu, cudaStreamEndCapture(stream, &recording->graph));
    return result < 0 ? result : PLX_CUDA(gpu, cudaGraphInstantiate(&recording->launchable, recording->graph, 0));
}

static int update(struct plx_gpu *gpu, const struct plx_frame_run *run, struct recording *recording)
{
    struct plx_gpu_frames *frames = gpu->frames;

    frames->played = recording;
    frames->updated = 0;
    int result = 0;
    for (int i = 0; i < run->backend_steps && result == 0; i++)
        if (run->step[i].changes)
            result = plx_step_run(&run->step[i], run->context);
    frames->played = NULL;
    if (result == 0 && frames->updated != recording->changing)
        result = plx_fail(&gpu->base.message, PLX_ERR_ARG, "a frame makes other calls than the one that was recorded");
    return result;
}

/* Runs the steps on the CPU beside the stages. *ret_end_ns: when they ended. */
static int run_beside(struct plx_gpu *gpu, const struct plx_frame_run *run, int64_t *ret_end_ns)
{
    int result = 0;

    for (int i = 0; i < run->beside_steps && result == 0; i++) {
        result = PLX_CUDA(gpu, cudaEventSynchronize(gpu->streams.beside[i]));
        if (result == 0)
            result = plx_step_run(&run->step[run->backend_steps + i], run->context);
    }
    *ret_end_ns = plx_now_ns();
    plx_heartbeat_busy((int)gpu->streams.stage); /* the thread waits for the last stage */
    return result;
}

/* The time outside stages (launch, copies of outputs, waiting) counts for the last stage; or for motion, if the steps of
 * pictures lasted longer than the stages. */
static void add_rest(int64_t start_ns, int64_t beside_end_ns, uint32_t stage_us[PLX_STAGE_COUNT])
{
    const int64_t all_us = (plx_now_ns() - start_ns) / PLX_NS_PER_US;
    int64_t sum_us = 0;

    for (int i = 0; i < PLX_STAGE_COUNT; i++)
        sum_us += stage_us[i];
    const bool waits_for_beside = beside_end_ns - start_ns > sum_us * PLX_NS_PER_US;
    stage_us[waits_for_beside ? PLX_STAGE_MOTION : PLX_STAGE_OBSTACLES] += (uint32_t)(all_us > sum_us ? all_us - sum_us : 0);
}

int plx_gpu_run_frame(struct plx_stages *self, const struct plx_frame_run *run)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct recording *recording = find(gpu->frames, run->key);
    const int64_t start_ns = plx_now_ns();
    int64_t beside_end_ns = 0;

    gpu->base.message.text[0] = '\0';
    int result = recording ? update(gpu, run, recording) : record(gpu, run);
    if (result < 0)
        return result;
    plx_gpu_stage_clock_clear(gpu);
    recording = find(gpu->frames, run->key);
    result = PLX_CUDA(gpu, cudaGraphLaunch(recording->launchable, gpu->streams.stream[PLX_STREAM_MAIN]));
    if (result == 0)
        result = run_beside(gpu, run, &beside_end_ns);
    const int finished = self->ops->finish(self);
    if (result < 0 || finished < 0)
        return result < 0 ? result : finished;
    plx_gpu_stage_clock_read(gpu, run->ret_stage_us);
    add_rest(start_ns, beside_end_ns, run->ret_stage_us);
    return 0;
}
