/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a frame while it is recorded. The main stream has the stages that obstacles depend on. The side stream has
 * refinement and template matching, which run beside them. The scan stream has what only the scan depends on. The copy stream
 * copies outputs to shared memory, the clock stream times the stages. Stage calls outside a frame all use the main stream. */
#include <string.h>

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
    for (int i = 0; i <= PLX_MAX_BESIDE && result == 0; i++)
        result = PLX_CUDA(gpu, cudaEventCreateWithFlags(i < PLX_MAX_BESIDE ? &streams->beside[i] : &streams->done,
                                                        cudaEventDisableTiming | cudaEventBlockingSync));
    return result;
}

void plx_gpu_streams_destroy(struct plx_gpu *gpu)
{
    for (int i = 0; i < PLX_MAX_BESIDE; i++)
        if (gpu->streams.beside[i])
            cudaEventDestroy(gpu->streams.beside[i]);
    if (gpu->streams.done)
        cudaEventDestroy(gpu->streams.done);
    for (int i = 0; i < PLX_STREAMS; i++) {
        if (gpu->streams.passed[i])
            cudaEventDestroy(gpu->streams.passed[i]);
        if (gpu->streams.stream[i])
            cudaStreamDestroy(gpu->streams.stream[i]);
    }
}

/* Calls from now on of stream LATER start after all calls so far of EARLIER. */
static int wait_for(struct plx_gpu *gpu, enum plx_gpu_stream later, enum plx_gpu_stream earlier)
{
    struct plx_gpu_streams *streams = &gpu->streams;

    streams->used[later] = true;
    const int result = PLX_CUDA(gpu, cudaEventRecord(streams->passed[earlier], streams->stream[earlier]));
    return result < 0 ? result : PLX_CUDA(gpu, cudaStreamWaitEvent(streams->stream[later], streams->passed[earlier], 0));
}

int plx_gpu_last_recorded(struct plx_gpu *gpu, cudaGraphNode_t *ret_node)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *last = NULL;
    size_t count = 0;

#if CUDART_VERSION >= 13000
    const cudaGraphEdgeData *edges = NULL;
    const int result = PLX_CUDA(gpu, cudaStreamGetCaptureInfo(gpu->stream, &status, NULL, NULL, &last, &edges, &count));
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

int plx_gpu_use_side(struct plx_gpu *gpu, bool in_any_stage)
{
    struct plx_gpu_streams *streams = &gpu->streams;
    cudaGraphNode_t last = NULL;

    if (!streams->run || streams->one_stream || !(in_any_stage || streams->stage == PLX_STAGE_REFINE))
        return 0;
    int result = plx_gpu_last_recorded(gpu, &last);
    if (result == 0 && (last != streams->forked_at || !streams->used[PLX_STREAM_SIDE]))
        result = wait_for(gpu, PLX_STREAM_SIDE, PLX_STREAM_MAIN);
    if (result < 0)
        return result;
    streams->forked_at = last;
    streams->side_used = true;
    gpu->stream = streams->stream[PLX_STREAM_SIDE];
    return 0;
}

int plx_gpu_use_scan(struct plx_gpu *gpu)
{
    struct plx_gpu_streams *streams = &gpu->streams;

    if (!streams->run)
        return 0;
    int result = wait_for(gpu, PLX_STREAM_SCAN, PLX_STREAM_MAIN);
    if (result == 0 && streams->used[PLX_STREAM_SIDE])
        result = wait_for(gpu, PLX_STREAM_SCAN, PLX_STREAM_SIDE);
    if (result == 0)
        gpu->stream = streams->stream[PLX_STREAM_SCAN];
    return result;
}

int plx_gpu_use_main(struct plx_gpu *gpu, int result)
{
    gpu->stream = gpu->streams.stream[PLX_STREAM_MAIN];
    return result;
}

int plx_gpu_wait_side(struct plx_gpu *gpu)
{
    const struct plx_gpu_streams *streams = &gpu->streams;

    return streams->run && streams->used[PLX_STREAM_SIDE] ? wait_for(gpu, PLX_STREAM_MAIN, PLX_STREAM_SIDE) : 0;
}

/* Copies from now on start after all calls so far. */
static int copy_after_all(struct plx_gpu *gpu)
{
    int result = wait_for(gpu, PLX_STREAM_COPY, PLX_STREAM_MAIN);

    for (int i = PLX_STREAM_SIDE; i <= PLX_STREAM_SCAN && result == 0; i++)
        if (gpu->streams.used[i])
            result = wait_for(gpu, PLX_STREAM_COPY, (enum plx_gpu_stream)i);
    return result;
}

/* Copies the outputs that the first STEPS steps have completed; with BESIDE of at least 0 only what that step beside and those
 * before it read. */
static int copy_outputs(struct plx_gpu *gpu, int steps, int beside)
{
    struct plx_gpu_streams *streams = &gpu->streams;
    bool waits = false;
    int result = 0;

    for (int i = 0; i < streams->run->outputs && result == 0; i++) {
        const struct plx_output *output = &streams->run->output[i];
        if (streams->copied & UINT64_C(1) << i || output->step >= steps ||
            (beside >= 0 && (output->beside < 0 || output->beside > beside)))
            continue;
        if (!waits)
            result = copy_after_all(gpu);
        waits = true;
        if (result == 0)
            result = PLX_CUDA(gpu, cudaMemcpyAsync(output->to, output->from, output->bytes, cudaMemcpyDefault,
                                                   streams->stream[PLX_STREAM_COPY]));
        streams->copied |= UINT64_C(1) << i;
    }
    return result;
}

/* Stamps the time when the calls of the stage so far are complete. */
static int stamp_stage(struct plx_gpu *gpu)
{
    struct plx_gpu_streams *streams = &gpu->streams;
    cudaGraphNode_t last = NULL;

    if (!gpu->times_stages)
        return 0;
    if (streams->stage == PLX_STAGE_REFINE && streams->side_used)
        return plx_gpu_stage_clock_stamp(gpu, PLX_STAGE_REFINE, streams->stream[PLX_STREAM_SIDE]);
    int result = plx_gpu_last_recorded(gpu, &last);
    if (result < 0 || (last == streams->stamped && streams->stage != PLX_STAGE_COUNT))
        return result;
    streams->stamped = last;
    result = wait_for(gpu, PLX_STREAM_CLOCK, PLX_STREAM_MAIN);
    return result < 0 ? result : plx_gpu_stage_clock_stamp(gpu, (int)streams->stage, streams->stream[PLX_STREAM_CLOCK]);
}

/* Tells the CPU when the images are there that its steps beside the stages read, copied or not: of those steps for which the
 * first STEPS steps of the backend are enough. */
static int signal_beside(struct plx_gpu *gpu, int steps)
{
    struct plx_gpu_streams *streams = &gpu->streams;
    const struct plx_frame_run *run = streams->run;
    int result = 0;

    for (; streams->signalled < run->beside_steps && result == 0; streams->signalled++) {
        const int i = streams->signalled;
        if (run->beside_after[i] > steps)
            return 0;
        result = copy_outputs(gpu, steps, i);
        if (result == 0)
            result = copy_after_all(gpu);
        if (result == 0)
            result = PLX_CUDA(
                gpu, cudaEventRecordWithFlags(streams->beside[i], streams->stream[PLX_STREAM_COPY], cudaEventRecordExternal));
    }
    return result;
}

int plx_gpu_begin_step(struct plx_gpu *gpu, int index)
{
    struct plx_gpu_streams *streams = &gpu->streams;
    const enum plx_stage stage = streams->run->step[index].stage;
    int result = signal_beside(gpu, index);

    if (stage == streams->stage)
        return result;
    if (result == 0)
        result = copy_outputs(gpu, index, -1);
    if (result == 0 && streams->stage != PLX_STAGE_COUNT)
        result = stamp_stage(gpu);
    streams->stage = stage;
    streams->side_used = false;
    return result;
}

int plx_gpu_streams_begin(struct plx_gpu *gpu, const struct plx_frame_run *run)
{
    struct plx_gpu_streams *streams = &gpu->streams;

    streams->run = run;
    streams->stage = PLX_STAGE_COUNT; /* none yet */
    streams->copied = 0;
    streams->signalled = 0;
    streams->one_stream = false;
    streams->forked_at = streams->stamped = NULL;
    streams->side_used = false;
    memset(streams->used, 0, sizeof streams->used);
    return stamp_stage(gpu);
}

/* The main stream waits for the others. */
static int join(struct plx_gpu *gpu)
{
    int result = 0;

    for (int i = PLX_STREAM_MAIN + 1; i < PLX_STREAMS; i++) {
        if (gpu->streams.used[i] && result == 0)
            result = wait_for(gpu, PLX_STREAM_MAIN, (enum plx_gpu_stream)i);
        gpu->streams.used[i] = false;
    }
    return result;
}

int plx_gpu_streams_end(struct plx_gpu *gpu, int result)
{
    const struct plx_frame_run *run = gpu->streams.run;

    if (result == 0)
        result = signal_beside(gpu, run->backend_steps);
    if (result == 0)
        result = copy_outputs(gpu, run->backend_steps, -1);
    if (result == 0)
        result = stamp_stage(gpu);
    gpu->streams.run = NULL;
    return result < 0 ? result : join(gpu);
}

/* Errors of kernels that failed while they ran come here. */
int plx_gpu_finish(struct plx_stages *self)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int result = PLX_CUDA(gpu, cudaEventRecord(gpu->streams.done, gpu->streams.stream[PLX_STREAM_MAIN]));

    return result < 0 ? result : PLX_CUDA(gpu, cudaEventSynchronize(gpu->streams.done));
}
