/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semi-global matching (Hirschmueller 2008) in two sweeps. One goes down with the paths that come from the left and from above,
 * the other up with the opposite ones; they start together, meet in the middle and go on. The first to visit a row leaves the
 * sums of its paths in memory; the second adds its own and knows the winner. Within a sweep each row is a task that follows the
 * row before at a distance of one block, so that any number of threads can share the two sweeps, and all give the same bits.
 */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"
#include "cpu/sgm/sgm.h"

#define ALIGNMENT 64

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The next BYTES of a block; the first round, on a block that is not there yet, only counts. */
static void *take(uint8_t *block, size_t *offset, size_t bytes)
{
    void *here = block ? block + *offset : NULL;
    *offset += aligned(bytes);
    return here;
}

static size_t place_worker(struct plx_sgm_worker *worker, uint8_t *block, size_t width, size_t disparities)
{
    size_t end = 0;
    for (int i = 0; i < PLX_MAX_PLANES; i++)
        worker->left[i] = take(block, &end, width);
    for (int i = 0; i <= PLX_MAX_PLANES; i++)
        worker->right[i] = take(block, &end, width + disparities);
    for (int i = 0; i < PLX_SWEEP_PATHS; i++)
        worker->p2[i] = take(block, &end, width);
    worker->along = take(block, &end, disparities);
    worker->cost = take(block, &end, PLX_BLOCK * disparities);
    worker->pairs = take(block, &end, PLX_BLOCK * plx_pairs(8, (int)disparities));
    worker->below = take(block, &end, width * sizeof *worker->below);
    worker->above = take(block, &end, width * sizeof *worker->above);
    worker->key = take(block, &end, plx_vote_row_keys((int)width, (int)disparities) * sizeof *worker->key);
    return end;
}

static int create_worker(struct plx_sgm_worker *worker, size_t width, size_t disparities)
{
    worker->memory = aligned_alloc(ALIGNMENT, place_worker(worker, NULL, width, disparities));
    if (!worker->memory)
        return PLX_ERR_NOMEM;
    place_worker(worker, worker->memory, width, disparities);
    return 0;
}

int plx_sgm_scratch_create(const struct plx_limits *limits, int threads, struct plx_sgm_scratch **ret_scratch)
{
    const size_t width = (size_t)limits->width, height = (size_t)limits->height, disparities = (size_t)limits->disparities;
    struct plx_sgm_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return PLX_ERR_NOMEM;

    scratch->worker = calloc((size_t)threads, sizeof *scratch->worker);
    if (!scratch->worker)
        goto fail;
    for (; scratch->threads < threads; scratch->threads++)
        if (create_worker(&scratch->worker[scratch->threads], width, disparities) < 0)
            goto fail;
    scratch->pairs = aligned_alloc(ALIGNMENT, aligned(width * height * plx_pairs(8, limits->disparities)));
    if (!scratch->pairs)
        goto fail;
    for (int sweep = 0; sweep < PLX_SWEEPS; sweep++) {
        scratch->done[sweep] = calloc(height, sizeof *scratch->done[sweep]);
        if (!scratch->done[sweep])
            goto fail;
        for (int odd = 0; odd < 2; odd++) {
            for (int path = PLX_STRAIGHT; path < PLX_SWEEP_PATHS; path++) {
                uint8_t **state = &scratch->state[sweep][odd][path];
                *state = aligned_alloc(ALIGNMENT, aligned((width + 2) * disparities));
                if (!*state)
                    goto fail;
            }
        }
    }
    *ret_scratch = scratch;
    return 0;

fail:
    plx_sgm_scratch_destroy(scratch);
    return PLX_ERR_NOMEM;
}

void plx_sgm_scratch_destroy(struct plx_sgm_scratch *scratch)
{
    if (!scratch)
        return;
    for (int sweep = 0; sweep < PLX_SWEEPS; sweep++) {
        for (int odd = 0; odd < 2; odd++)
            for (int path = PLX_STRAIGHT; path < PLX_SWEEP_PATHS; path++)
                free(scratch->state[sweep][odd][path]);
        free(scratch->done[sweep]);
    }
    free(scratch->pairs);
    for (int i = 0; i < scratch->threads; i++)
        free(scratch->worker[i].memory);
    free(scratch->worker);
    free(scratch);
}

/* Before its first row and beside its columns a path has no state: zeros, which make L = C. */
static void start_sweep(struct plx_sgm_job *job, int sweep)
{
    const size_t pixel = (size_t)job->match->disparities, width = (size_t)job->width;

    for (int path = PLX_STRAIGHT; path < PLX_SWEEP_PATHS; path++) {
        uint8_t *even = job->scratch->state[sweep][0][path];
        memset(even, 0, pixel);
        memset(even + (width + 1) * pixel, 0, pixel);
        memset(job->scratch->state[sweep][1][path], 0, (width + 2) * pixel);
    }
    /* relaxed, here and in the claims: the pool orders them before and after the work; order within it is that of DONE */
    for (int row = 0; row < job->height; row++)
        atomic_store_explicit(&job->scratch->done[sweep][row], 0, memory_order_relaxed);
    atomic_store_explicit(&job->next[sweep], 0, memory_order_relaxed);
}

static bool claim_below(struct plx_sgm_job *job, int sweep, int end, int *ret_row)
{
    int row = atomic_load_explicit(&job->next[sweep], memory_order_relaxed);
    while (row < end) {
        if (atomic_compare_exchange_weak_explicit(&job->next[sweep], &row, row + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            *ret_row = row;
            return true;
        }
    }
    return false;
}

/* The next row, of the thread's own sweep if there is one. No second visit begins before all first visits are taken: a taken
 * row waits only for rows that are taken, too, so somebody always goes on. */
static bool claim(struct plx_sgm_job *job, int own, int *ret_sweep, int *ret_row)
{
    for (int visit = 0; visit < 2; visit++) {
        for (int i = 0; i < PLX_SWEEPS; i++) {
            *ret_sweep = (own + i) % PLX_SWEEPS;
            if (claim_below(job, *ret_sweep, visit == 0 ? plx_sgm_first_rows(job, *ret_sweep) : job->height, ret_row))
                return true;
        }
    }
    return false;
}

static void sweep_rows(void *argument, int index)
{
    struct plx_sgm_job *job = argument;
    int sweep, row;
    while (claim(job, index % PLX_SWEEPS, &sweep, &row))
        plx_sgm_row(job, &job->scratch->worker[index], sweep, row);
}

int plx_cpu_sgm(struct plx_stages *self, const struct plx_features *left, const struct plx_features *right,
                const struct plx_image *left_grey, const struct plx_match *match, const struct plx_candidates *ret_candidates)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = plx_sgm_check(left, right, left_grey, match, ret_candidates);
    if (result < 0)
        return result;
    if (!plx_cpu_holds(cpu, left_grey) || match->disparities > cpu->limits.disparities)
        return PLX_ERR_RANGE;

    struct plx_sgm_job job = {
        .kernels = cpu->kernels,
        .scratch = cpu->sgm,
        .left = left,
        .right = right,
        .grey = left_grey,
        .match = match,
        .candidates = ret_candidates,
        .width = left_grey->width,
        .height = left_grey->height,
    };
    start_sweep(&job, PLX_DOWN);
    start_sweep(&job, PLX_UP);
    plx_pool_run(cpu->pool, cpu->sgm->threads, sweep_rows, &job);
    return 0;
}
