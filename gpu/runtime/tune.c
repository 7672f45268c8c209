/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the schedules on this GPU: stage sgm on noise, as one graph launch, as in a frame. */
#include <stdlib.h>

#include "gpu/internal.h"

#define WARM_UP 3
#define ROUNDS 15

struct bench {
    struct plx_gpu *gpu;
    struct plx_features features[PLX_EYES];
    struct plx_image grey;
    struct plx_candidates candidates;
    void *memory;
    cudaEvent_t begin, end;
};

/* Lays the images out from BLOCK on; returns their bytes. */
static size_t lay_out(struct bench *bench, int width, int height, enum plx_type census, char *block)
{
    const struct {
        struct plx_image *image;
        enum plx_type type;
    } all[] = {
        {&bench->features[0].census, census},
        {&bench->features[1].census, census},
        {&bench->features[0].gradient, PLX_U8},
        {&bench->features[1].gradient, PLX_U8},
        {&bench->grey, PLX_U8},
        {&bench->candidates.left, PLX_U16},
        {&bench->candidates.right, PLX_U16},
        {&bench->candidates.raw, PLX_U16},
        {&bench->candidates.s1, PLX_U16},
        {&bench->candidates.s2, PLX_U16},
    };
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const size_t pitch = ((size_t)width * all[i].type + 63) / 64 * 64;
        *all[i].image = (struct plx_image){block + bytes, width, height, pitch, all[i].type};
        bytes += pitch * (size_t)height;
    }
    return bytes;
}

/* Noise is the worst for what depends on the picture at all. */
static int fill(struct bench *bench, size_t bytes)
{
    uint32_t random = 1;
    uint32_t *noise = malloc(bytes);
    if (!noise)
        return PLX_ERR_NOMEM;
    for (size_t i = 0; i < bytes / sizeof *noise; i++)
        noise[i] = random = random * 1664525u + 1013904223u;
    int result = PLX_CUDA(bench->gpu, cudaMemcpy(bench->memory, noise, bytes, cudaMemcpyDefault));
    free(noise);
    return result;
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int replay(struct bench *bench, cudaGraphExec_t stage, double *ret_ms)
{
    struct plx_gpu *gpu = bench->gpu;
    float ms[ROUNDS];
    int result = 0;

    for (int round = -WARM_UP; round < ROUNDS && result == 0; round++) {
        result = PLX_CUDA(gpu, cudaEventRecord(bench->begin, gpu->stream));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaGraphLaunch(stage, gpu->stream));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaEventRecord(bench->end, gpu->stream));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaEventSynchronize(bench->end));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaEventElapsedTime(&ms[round < 0 ? 0 : round], bench->begin, bench->end));
    }
    if (result == 0) {
        qsort(ms, ROUNDS, sizeof ms[0], ascending);
        *ret_ms = (double)ms[ROUNDS / 2];
    }
    return result;
}

/* With the choice that is in force. */
static int measure(struct bench *bench, const struct plx_match *match, double *ret_ms)
{
    struct plx_gpu *gpu = bench->gpu;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t stage = NULL;

    int result = PLX_CUDA(gpu, cudaStreamBeginCapture(gpu->stream, cudaStreamCaptureModeThreadLocal));
    if (result < 0)
        return result;
    result = gpu->base.ops->sgm(&gpu->base, &bench->features[0], &bench->features[1], &bench->grey, match, &bench->candidates);
    int ended = PLX_CUDA(gpu, cudaStreamEndCapture(gpu->stream, &graph));
    if (result == 0)
        result = ended;
    if (result == 0)
        result = PLX_CUDA(gpu, cudaGraphInstantiate(&stage, graph, 0));
    if (result == 0)
        result = replay(bench, stage, ret_ms);
    if (stage)
        cudaGraphExecDestroy(stage);
    if (graph)
        cudaGraphDestroy(graph);
    return result;
}

int plx_gpu_tune(struct plx_stages *stages, int width, int height, const struct plx_match *match,
                 double ret_ms[PLX_GPU_SCHEDULES])
{
    struct bench bench = {.gpu = plx_gpu(stages)};
    struct plx_gpu *gpu = bench.gpu;
    const enum plx_type census = match->census == PLX_CENSUS_FULL_9X7 ? PLX_U64 : PLX_U32;
    const int before = gpu->schedule;
    double ms[PLX_GPU_SCHEDULES];

    if (width < 1 || height < 1 || width > gpu->limits.width || height > gpu->limits.height)
        return PLX_ERR_RANGE;
    const size_t bytes = lay_out(&bench, width, height, census, NULL);
    int result = plx_gpu_alloc_local(stages, bytes, NULL, &bench.memory);
    if (result < 0)
        return result;
    lay_out(&bench, width, height, census, bench.memory);
    result = fill(&bench, bytes);
    if (result == 0)
        result = PLX_CUDA(gpu, cudaEventCreate(&bench.begin));
    if (result == 0)
        result = PLX_CUDA(gpu, cudaEventCreate(&bench.end));
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES && result == 0; schedule++) {
        gpu->schedule = schedule;
        result = measure(&bench, match, &ms[schedule]);
    }
    gpu->schedule = before;
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES && result == 0; schedule++)
        ret_ms[schedule] = ms[schedule];
    if (bench.begin)
        cudaEventDestroy(bench.begin);
    if (bench.end)
        cudaEventDestroy(bench.end);
    plx_gpu_free(stages, bench.memory);
    return result;
}
