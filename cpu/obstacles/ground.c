/* SPDX-License-Identifier: Apache-2.0 */
/* Stage ground: v-disparity, the best line, then a plane by least squares. Stage mask: what is in range and stands above it.
 * The arithmetic is in core/ground/fit.h and mask.h. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/ground/fit.h"
#include "core/ground/mask.h"
#include "cpu/internal.h"

#define STRIPS 16 /* strips of rows; sums do not depend on their number */

struct plx_ground_scratch {
    struct plx_ground_histogram histogram;
    int32_t bin_score[PLX_GROUND_ROWS][PLX_GROUND_BINS]; /* plx_ground_bin_score for lines of the grid */
    int32_t row[PLX_GROUND_ROWS];                        /* plx_ground_row_16 */
    int32_t slope[PLX_GROUND_SLOPES];                    /* slopes of the grid */
    int64_t score[PLX_GROUND_LINES];
    struct plx_ground_sums sums[STRIPS];
};

struct ground_job {
    const struct plx_kernels *kernels;
    const struct plx_image *disparity;
    const struct plx_ground_params *params;
    const struct plx_ground_prior *prior;
    struct plx_ground_scratch *scratch;
    struct plx_ground ground; /* so far */
    int fit;
};

int plx_ground_scratch_create(struct plx_ground_scratch **ret_scratch)
{
    struct plx_ground_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return PLX_ERR_NOMEM;
    *ret_scratch = scratch;
    return 0;
}

void plx_ground_scratch_destroy(struct plx_ground_scratch *scratch)
{
    free(scratch);
}

static void count_row(void *argument, int i)
{
    const struct ground_job *job = argument;
    const struct plx_image *disparity = job->disparity;
    const uint16_t *row = plx_row(disparity, plx_ground_row(i, disparity->height));
    const uint64_t inverse = ((uint64_t)1 << 32) / (uint64_t)plx_ground_bin_width(job->params->disparities) + 1;
    uint32_t *below = job->scratch->histogram.below[i];

    job->scratch->row[i] = plx_ground_row_16(i, disparity->height);
    memset(below, 0, sizeof job->scratch->histogram.below[i]);
    for (int x = 0; x < disparity->width; x++) {
        const uint64_t bin = row[x] * inverse >> 32; /* exact in 16 bits; an invalid pixel's is too large */
        if (bin < PLX_GROUND_BINS)
            below[bin + 1]++;
    }
    for (int k = 0; k < PLX_GROUND_BINS; k++)
        below[k + 1] += below[k];
    const int reach = plx_ground_grid_reach(job->params->disparities);
    for (int k = 0; k < PLX_GROUND_BINS; k++)
        job->scratch->bin_score[i][k] = plx_ground_bin_score(&job->scratch->histogram, disparity->width, reach, i, k);
}

/* The first row of the histogram below HORIZON, 1/16. */
static int first_row(const struct ground_job *job, int32_t horizon)
{
    int i = 0;

    while (i < PLX_GROUND_ROWS && job->scratch->row[i] <= horizon)
        i++;
    return i;
}

/* As plx_ground_score, from the table bin_score: most lines share their bins with many others. */
static int64_t score_line(const struct ground_job *job, int64_t infinity, struct plx_ground_line line, int first)
{
    int64_t score = 0;

    for (int i = first; i < PLX_GROUND_ROWS; i++) {
        const int64_t rows = job->scratch->row[i] - line.horizon;
        const int64_t bin = (infinity + (line.slope * rows >> 4)) >> 16;
        if (bin >= PLX_GROUND_BINS)
            break;
        if (bin >= 0)
            score += job->scratch->bin_score[i][bin];
    }
    return score;
}

/* Scores the lines of one horizon; all horizons have the same slopes. */
static void score_lines(void *argument, int horizon)
{
    const struct ground_job *job = argument;
    const int64_t infinity = plx_ground_infinity(job->params);
    struct plx_ground_line line = plx_ground_grid_line(job->params, horizon * PLX_GROUND_SLOPES);
    const int first = first_row(job, line.horizon);

    for (int i = 0; i < PLX_GROUND_SLOPES; i++) {
        line.slope = job->scratch->slope[i];
        job->scratch->score[horizon * PLX_GROUND_SLOPES + i] =
            plx_ground_allows(job->prior, line) ? score_line(job, infinity, line, first) : PLX_GROUND_WORST;
    }
}

static int best_line(const int64_t *score)
{
    int best = 0;
    for (int i = 1; i < PLX_GROUND_LINES; i++)
        if (score[i] > score[best])
            best = i;
    return best;
}

static void sum_strip(void *argument, int strip)
{
    const struct ground_job *job = argument;
    const struct plx_ground_gate gate = plx_ground_gate(job->params, job->fit);
    const int step = plx_ground_fit_step(job->disparity->height);
    struct plx_ground_sums sums = {0};

    for (int y = strip * step; y < job->disparity->height; y += STRIPS * step)
        job->kernels->ground_sums(&gate, &job->ground, job->disparity, y, &sums);
    job->scratch->sums[strip] = sums;
}

static struct plx_ground_sums total(const struct plx_ground_sums *part)
{
    struct plx_ground_sums sum = {0};
    for (int i = 0; i < STRIPS; i++) {
        sum.pixels += part[i].pixels;
        sum.n += part[i].n;
        sum.u += part[i].u;
        sum.v += part[i].v;
        sum.d += part[i].d;
        sum.uu += part[i].uu;
        sum.uv += part[i].uv;
        sum.vv += part[i].vv;
        sum.ud += part[i].ud;
        sum.vd += part[i].vd;
    }
    return sum;
}

int plx_cpu_ground(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground_params *params,
                   const struct plx_ground_prior *prior, struct plx_ground *ret_ground)
{
    struct plx_cpu *cpu = plx_cpu(self);
    struct ground_job job = {
        .kernels = cpu->kernels, .disparity = disparity, .params = params, .prior = prior, .scratch = cpu->ground};

    if (params->disparities < 1 || params->horizon_min > params->horizon_max || params->tolerance < 0)
        return PLX_ERR_ARG;
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {disparity, PLX_U16});
    if (result < 0)
        return result;
    if (!params->enabled) {
        *ret_ground = (struct plx_ground){0};
        return 0;
    }

    plx_pool_run(cpu->pool, PLX_GROUND_ROWS, count_row, &job);
    for (int i = 0; i < PLX_GROUND_SLOPES; i++)
        cpu->ground->slope[i] = plx_ground_grid_line(params, i).slope;
    plx_pool_run(cpu->pool, PLX_GROUND_HORIZONS, score_lines, &job);
    job.ground =
        plx_ground_start(&job.scratch->histogram, params, disparity->width, disparity->height, best_line(job.scratch->score));

    struct plx_ground_sums sums = {0};
    bool solved = true;
    for (job.fit = 0; job.fit < PLX_GROUND_FITS && solved; job.fit++) {
        plx_pool_run(cpu->pool, STRIPS, sum_strip, &job);
        sums = total(job.scratch->sums);
        solved = plx_ground_solve(&sums, disparity->width, disparity->height, &job.ground);
    }
    plx_ground_accept(&sums, params, prior, disparity->width, disparity->height, solved, &job.ground);
    *ret_ground = job.ground;
    return 0;
}

/* Stage mask. */
struct mask_job {
    const struct plx_image *disparity, *mask;
    const struct plx_ground *ground;
    const struct plx_mask_params *params;
};

static void mask_row(void *argument, int y)
{
    const struct mask_job *job = argument;
    const uint16_t *disparity = plx_row(job->disparity, y);
    uint8_t *mask = plx_row(job->mask, y);

    for (int x = 0; x < job->disparity->width; x++)
        mask[x] = plx_is_obstacle(job->ground, job->params, disparity, job->disparity->width, x, y) ? 255 : 0;
}

int plx_cpu_mask(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                 const struct plx_mask_params *params, const struct plx_image *ret_mask)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {disparity, PLX_U16}, {ret_mask, PLX_U8});
    if (result < 0)
        return result;

    struct mask_job job = {disparity, ret_mask, ground, params};
    plx_pool_run_rows(cpu->pool, disparity->height, mask_row, &job);
    return 0;
}
