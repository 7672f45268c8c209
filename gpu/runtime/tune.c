/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the schedules on this GPU: stage sgm on noise, as the only stage of a frame. */
#include <stdlib.h>

#include "gpu/internal.h"

#define WARM_UP 3
#define ROUNDS 15

struct bench {
    struct plx_gpu *gpu;
    struct plx_features features[PLX_EYES];
    struct plx_image grey;
    struct plx_candidates candidates;
    const struct plx_match *match;
    void *memory;
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
        {&bench->features[0].gradient, PLX_U16},
        {&bench->features[1].gradient, PLX_U16},
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
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int run_sgm(const struct plx_step *step, void *context)
{
    const struct bench *bench = context;
    struct plx_stages *stages = &bench->gpu->base;

    (void)step;
    return stages->ops->sgm(stages, &bench->features[0], &bench->features[1], &bench->grey, bench->match, &bench->candidates);
}

/* With the schedule that is in force. */
static int measure(struct bench *bench, double *ret_ms)
{
    uint32_t us[ROUNDS];

    for (int round = -WARM_UP; round < ROUNDS; round++) {
        uint32_t stage_us[PLX_STAGE_COUNT] = {0};
        const struct plx_step step = {.stage = PLX_STAGE_SGM, .place = PLX_STEP_BACKEND, .run = run_sgm};
        const struct plx_frame_run run = {
            .step = &step, .backend_steps = 1, .context = bench, .key = ret_ms, .ret_stage_us = stage_us};
        const int result = plx_gpu_run_frame(&bench->gpu->base, &run);
        if (result < 0)
            return result;
        us[round < 0 ? 0 : round] = stage_us[PLX_STAGE_SGM];
    }
    qsort(us, ROUNDS, sizeof us[0], ascending);
    *ret_ms = us[ROUNDS / 2] / 1000.0;
    return 0;
}

int plx_gpu_tune(struct plx_stages *stages, int width, int height, const struct plx_match *match,
                 double ret_ms[PLX_GPU_SCHEDULES])
{
    struct bench bench = {.gpu = plx_gpu(stages), .match = match};
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
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES && result == 0; schedule++) {
        gpu->schedule = schedule;
        result = measure(&bench, &ms[schedule]);
    }
    gpu->schedule = before;
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES && result == 0; schedule++)
        ret_ms[schedule] = ms[schedule];
    plx_gpu_free(stages, bench.memory); /* also forgets the recorded frames */
    return result;
}
