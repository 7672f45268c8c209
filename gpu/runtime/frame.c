/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame's stage calls as a CUDA graph: recorded when a key is new, replayed as one launch after that. While a frame is
 * recorded, this file puts its calls on three streams. The main stream has the stages that obstacles depend on; the side stream
 * has refinement and template matching, which run beside them; the copy stream brings outputs to shared memory.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"

#define RECORDINGS 64 /* the most slots that a region has */
#define CHANGING 8    /* kernels of a frame with new arguments each time */

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

    /* of the frame that is recorded */
    const struct plx_frame_run *run;
    enum plx_stage stage;
    bool one_stream;           /* speckle ran, whose scratch memory others share: nothing runs beside it */
    cudaGraphNode_t forked_at; /* last call of the main stream that the side stream waits for */
    uint32_t copied;           /* outputs that are on their way, a bit each */
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

/* --- while a frame is recorded -------------------------------------------------------------------------------------- */

/* The node that the next call on the current stream would follow; NULL if there is none yet. */
static int last_recorded(struct plx_gpu *gpu, cudaGraphNode_t *ret_node)
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
    if (status != cudaStreamCaptureStatusActive || count > 1)
        return plx_fail(&gpu->base.message, PLX_ERR_IO, "a frame was not recorded");
    *ret_node = count == 1 ? last[0] : NULL;
    return 0;
}

/* The calls that follow go to the side stream, behind all calls so far, until plx_gpu_use_main. */
static int use_side(struct plx_gpu *gpu)
{
    struct plx_gpu_frames *frames = gpu->frames;
    cudaGraphNode_t last = NULL;

    if (!frames->next || frames->one_stream)
        return 0;
    int result = last_recorded(gpu, &last);
    if (result == 0 && last != frames->forked_at)
        result = plx_gpu_stream_wait(gpu, PLX_STREAM_SIDE, PLX_STREAM_MAIN);
    if (result < 0)
        return result;
    frames->forked_at = last;
    gpu->stream = gpu->streams.stream[PLX_STREAM_SIDE];
    return 0;
}

static int use_main(struct plx_gpu *gpu, int result)
{
    gpu->stream = gpu->streams.stream[PLX_STREAM_MAIN];
    return result;
}

/* Copies the outputs of the stage that is complete, or all that are left. */
static int copy_outputs(struct plx_gpu *gpu, bool all)
{
    struct plx_gpu_frames *frames = gpu->frames;
    bool waits = false;
    int result = 0;

    for (int i = 0; i < frames->run->outputs && result == 0; i++) {
        const struct plx_output *output = &frames->run->output[i];
        if (frames->copied & 1u << i || !(all || output->stage == frames->stage))
            continue;
        if (!waits)
            result = plx_gpu_stream_wait(gpu, PLX_STREAM_COPY, PLX_STREAM_MAIN);
        if (result == 0 && !waits && gpu->streams.used[PLX_STREAM_SIDE])
            result = plx_gpu_stream_wait(gpu, PLX_STREAM_COPY, PLX_STREAM_SIDE);
        waits = true;
        if (result == 0)
            result = PLX_CUDA(gpu, cudaMemcpyAsync(output->to, output->from, output->bytes, cudaMemcpyDefault,
                                                   gpu->streams.stream[PLX_STREAM_COPY]));
        frames->copied |= 1u << i;
    }
    return result;
}

int plx_gpu_begin_stage(struct plx_stages *self, enum plx_stage stage)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct plx_gpu_frames *frames = gpu->frames;

    if (!frames->next)
        return 0;
    const int result = copy_outputs(gpu, false);
    frames->stage = stage;
    return result;
}

/* Stages that may leave the main stream: those of refinement, whose results no later stage needs, and template matching. */
static bool is_beside(const struct plx_gpu *gpu)
{
    return gpu->frames->next && gpu->frames->stage == PLX_STAGE_REFINE;
}

int plx_gpu_frame_median(struct plx_stages *self, const struct plx_image *src, enum plx_median kind,
                         const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int result = is_beside(gpu) ? use_side(gpu) : 0;
    return use_main(gpu, result < 0 ? result : plx_gpu_median(self, src, kind, dst));
}

int plx_gpu_frame_check(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                        const struct plx_image *left_grey, const struct plx_match *match, const struct plx_image *ret_disparity)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int result = is_beside(gpu) ? use_side(gpu) : 0;
    return use_main(gpu, result < 0 ? result : plx_gpu_left_right_check(self, left, right, left_grey, match, ret_disparity));
}

int plx_gpu_frame_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                       const struct plx_image *ret_filled)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int result = is_beside(gpu) ? use_side(gpu) : 0;
    return use_main(gpu, result < 0 ? result : plx_gpu_fill(self, src, dst, ret_filled));
}

int plx_gpu_frame_confidence(struct plx_stages *self, const struct plx_winners *winners, const struct plx_image *checked,
                             const struct plx_match *match, const struct plx_image *ret_confidence)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int result = is_beside(gpu) ? use_side(gpu) : 0;
    return use_main(gpu, result < 0 ? result : plx_gpu_confidence(self, winners, checked, match, ret_confidence));
}

int plx_gpu_frame_match_template(struct plx_stages *self, const struct plx_image *image, const struct plx_image *patch,
                                 struct plx_template_match *ret_best)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int result = use_side(gpu);
    return use_main(gpu, result < 0 ? result : plx_gpu_match_template(self, image, patch, ret_best));
}

int plx_gpu_frame_speckle(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                          const struct plx_image *dst)
{
    plx_gpu(self)->frames->one_stream = true;
    return plx_gpu_speckle(self, src, speckle, dst);
}

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
    return last_recorded(gpu, &recording->kernel[recording->changing++]);
}

/* --- a frame -------------------------------------------------------------------------------------------------------- */

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

static int record(struct plx_gpu *gpu, const struct plx_frame_run *run)
{
    struct plx_gpu_frames *frames = gpu->frames;
    cudaStream_t stream = gpu->streams.stream[PLX_STREAM_MAIN];

    int result = PLX_CUDA(gpu, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (result < 0)
        return result;
    struct recording *recording = frames->next = add(frames, run->key);
    frames->run = run;
    frames->copied = 0;
    frames->one_stream = false;
    frames->forked_at = NULL;
    memset(gpu->streams.used, 0, sizeof gpu->streams.used);
    result = run->body(run->context);
    if (result == 0)
        result = copy_outputs(gpu, true);
    if (result == 0)
        result = plx_gpu_streams_join(gpu);
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
    int result = run->changing(run->context);
    frames->played = NULL;
    if (result == 0 && frames->updated != recording->changing)
        result = plx_fail(&gpu->base.message, PLX_ERR_ARG, "a frame makes other calls than the one that was recorded");
    return result;
}

int plx_gpu_run_frame(struct plx_stages *self, const struct plx_frame_run *run)
{
    struct plx_gpu *gpu = plx_gpu(self);
    struct recording *recording = find(gpu->frames, run->key);

    gpu->base.message.text[0] = '\0';
    int result = recording ? update(gpu, run, recording) : record(gpu, run);
    if (result < 0)
        return result;
    recording = find(gpu->frames, run->key);
    result = PLX_CUDA(gpu, cudaGraphLaunch(recording->launchable, gpu->streams.stream[PLX_STREAM_MAIN]));
    const int finished = self->ops->finish(self);
    return result < 0 ? result : finished;
}
