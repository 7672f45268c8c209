/* SPDX-License-Identifier: Apache-2.0 */
/* Stage sgm, by far the largest part of a frame: scratch memory, the choice of a schedule, and its launches. */
#include <stdlib.h>

#include "gpu/device/launch.cuh"
#include "gpu/sgm/sgm.cuh"

#define ALIGNMENT 256

/* Reserves BYTES at *END of a block. */
static void *reserve(char *block, size_t *end, size_t bytes)
{
    char *at = block + *end;
    *end += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* Divides BLOCK and returns its size; NULL: only the size counts. */
static size_t divide(struct plx_gpu_sgm *sgm, const struct plx_limits *limits, char *block)
{
    const size_t pixels = (size_t)limits->width * (size_t)limits->height, volume = pixels * (size_t)limits->disparities;
    const size_t row_pixels = (size_t)limits->width + 1; /* from a pixel to the next on a diagonal */
    const size_t overrun = (PLX_OVERRUN_ROWS * row_pixels + PLX_OVERRUN_COLUMNS) * (size_t)limits->disparities;
    size_t end = 0, last = 0;

    reserve(block, &end, overrun);
    sgm->cost = (uint4 *)reserve(block, &end, volume);
    for (int i = 0; i < PLX_ORIENTATIONS; i++) {
        reserve(block, &end, overrun);
        last = end;
        sgm->path_sums[i] = (uint4 *)reserve(block, &end, volume);
    }
    reserve(block, &end, overrun);

    sgm->sums = sgm->path_sums[1]; /* and [2] */
    sgm->penalty_upwards = (uint32_t *)reserve(block, &last, pixels * sizeof *sgm->penalty_upwards);
    for (int eye = 0; eye < PLX_EYES; eye++)
        sgm->words[eye] = (uint32_t *)reserve(block, &last, pixels * sizeof *sgm->words[eye]);
    end = last > end ? last : end; /* the volumes of an image of few rows are smaller */

    sgm->dummy_line = (uint4 *)reserve(block, &end, 32 * sizeof *sgm->dummy_line);
    reserve(block, &end, PLX_OVERRUN_ROWS * row_pixels * sizeof *sgm->penalty);
    sgm->penalty = (uint32_t *)reserve(block, &end, pixels * sizeof *sgm->penalty);
    reserve(block, &end, (PLX_OVERRUN_ROWS + 1) * row_pixels * sizeof *sgm->penalty); /* a first step reads one row beyond */
    sgm->right_argmin = (uint32_t *)reserve(block, &end, pixels * sizeof *sgm->right_argmin);
    sgm->segments_done = (uint32_t *)reserve(block, &end, (size_t)limits->height * sizeof *sgm->segments_done);
    sgm->band_messages = (uint4 *)reserve(block, &end, plx_sgm_band_message_bytes(limits));
    sgm->exchange_flags = (uint32_t *)reserve(block, &end, plx_sgm_exchange_flag_bytes(limits));
    sgm->next_band = (uint32_t *)reserve(block, &end, sizeof *sgm->next_band);
    return end;
}

int plx_gpu_sgm_create(struct plx_gpu *gpu)
{
    struct plx_gpu_sgm *sgm = (struct plx_gpu_sgm *)calloc(1, sizeof *sgm);
    if (!sgm)
        return PLX_ERR_NOMEM;

    gpu->sgm = sgm;
    int result = plx_gpu_alloc_local(&gpu->base, divide(sgm, &gpu->limits, NULL), NULL, &sgm->memory);
    if (result < 0)
        return result;
    divide(sgm, &gpu->limits, (char *)sgm->memory);
    const size_t right_argmin = (size_t)gpu->limits.width * (size_t)gpu->limits.height * sizeof *sgm->right_argmin;
    result = PLX_CUDA(gpu, cudaMemsetAsync(sgm->right_argmin, 0xFF, right_argmin, gpu->stream));
    if (result == 0)
        result =
            PLX_CUDA(gpu, cudaMemsetAsync(sgm->band_messages, 0xFF, plx_sgm_band_message_bytes(&gpu->limits), gpu->stream));
    if (result == 0)
        result = plx_sgm_lines_occupancy(gpu, &gpu->lines_resident);
    gpu->lines_resident *= gpu->multiprocessors;
    return result;
}

void plx_gpu_sgm_destroy(struct plx_gpu *gpu)
{
    struct plx_gpu_sgm *sgm = gpu->sgm;
    if (!sgm)
        return;
    plx_gpu_free(&gpu->base, sgm->memory);
    free(sgm);
}

/* --- schedules ------------------------------------------------------------------------------------------------------- */

/* A GPU within the processor shares the processor's slow memory and has little cache: sweeps, which move the least. On others,
 * where more warps of lines wait than fit, another warp is always ready: as many as fit, with the fewest instructions. Else the
 * longest lines set the time: few warps that prefetch. The factor is measured: docs/performance.md. */
static enum plx_sgm_schedule default_schedule(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match)
{
    if (gpu->integrated && plx_sgm_can_sweep(match))
        return PLX_SWEEPS;
    return plx_lines_load(width, height, match).warps > 1.25 * gpu->lines_resident ? PLX_LINES_REGISTERS : PLX_LINES_PREFETCH;
}

enum plx_sgm_schedule plx_gpu_sgm_schedule(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match)
{
    if (gpu->schedule < 0 || (gpu->schedule == PLX_SWEEPS && !plx_sgm_can_sweep(match)))
        return default_schedule(gpu, width, height, match);
    return (enum plx_sgm_schedule)gpu->schedule;
}

const char *plx_gpu_schedule_name(int schedule)
{
    static const char *const names[PLX_GPU_SCHEDULES] = {"lines-registers", "lines-prefetch", "sweeps"};
    return schedule >= 0 && schedule < PLX_GPU_SCHEDULES ? names[schedule] : NULL;
}

int plx_gpu_set_schedule(struct plx_stages *stages, int schedule)
{
    if (schedule >= PLX_GPU_SCHEDULES)
        return PLX_ERR_ARG;
    plx_gpu(stages)->schedule = schedule;
    plx_gpu_frames_forget(plx_gpu(stages)); /* recordings hold the one before */
    return 0;
}

void plx_gpu_plan(const struct plx_stages *stages, int width, int height, const struct plx_match *match,
                  struct plx_gpu_plan *ret_plan)
{
    const struct plx_gpu *gpu = (const struct plx_gpu *)stages;
    const struct plx_lines_load load = plx_lines_load(width, height, match);
    *ret_plan = {(int)plx_gpu_sgm_schedule(gpu, width, height, match), load.warps, gpu->lines_resident, load.waste};
}

/* --- the stage ------------------------------------------------------------------------------------------------------- */

int plx_gpu_sgm(struct plx_stages *self, const struct plx_features *left, const struct plx_features *right,
                const struct plx_image *left_grey, const struct plx_match *match, const struct plx_candidates *ret_candidates)
{
    struct plx_gpu *gpu = plx_gpu(self);
    int result = plx_sgm_check(left, right, left_grey, match, ret_candidates);
    if (result < 0)
        return result;
    if (!plx_gpu_holds(gpu, left_grey) || match->disparities > gpu->limits.disparities)
        return PLX_ERR_RANGE;

    const struct plx_sgm_job job = {gpu, left, right, left_grey, match, ret_candidates, left_grey->width, left_grey->height};
    const enum plx_sgm_schedule schedule = plx_gpu_sgm_schedule(gpu, job.width, job.height, match);
    if (plx_p2_varies(match))
        result = plx_sgm_penalty(&job, schedule == PLX_SWEEPS);
    if (schedule == PLX_SWEEPS)
        return result == 0 ? plx_sgm_sweeps(&job) : result;
    if (result == 0)
        result = plx_sgm_cost(&job);
    if (result == 0)
        result = schedule == PLX_LINES_PREFETCH ? plx_sgm_lines_prefetch(&job) : plx_sgm_lines_registers(&job);
    if (result == 0)
        result = plx_sgm_winner(&job);
    return result;
}
