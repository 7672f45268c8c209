/* SPDX-License-Identifier: Apache-2.0 */
/* One row of one sweep: block by block through cost, aggregation and, on the second visit, the winner. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/sgm.h"

#define PATIENCE 1000 /* looks before the processor is offered to somebody else */

static int min(int a, int b)
{
    return a < b ? a : b;
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* Acquire: pairs with the release of the thread that worked on that row, whose states and sums are read next. */
static void wait_for(const atomic_int *done, int pixels)
{
    for (int i = 0; atomic_load_explicit(done, memory_order_acquire) < pixels; i++)
        if (i >= PATIENCE)
            sched_yield();
}

static uint64_t word_at(const struct plx_image *census, int x, int y)
{
    const void *row = plx_row(census, y);
    return census->type == PLX_U64 ? ((const uint64_t *)row)[x] : ((const uint32_t *)row)[x];
}

/* Cuts the census words of both rows into bytes; the right one runs backwards, so that disparities go up with the address. */
static void prepare_cost(const struct plx_sgm_job *job, struct plx_sgm_worker *worker, int y, struct plx_cost_row *ret_row)
{
    const struct plx_match *match = job->match;
    const int planes = match->census == PLX_CENSUS_FULL_9X7 ? 8 : (plx_census_bits(match->census) + 7) / 8;
    const int last = job->width - 1 - match->min_disparity; /* column that is first in the backward row */
    const int partners = job->width + match->disparities - 1;

    for (int k = 0; k < planes; k++) {
        for (int x = 0; x < job->width; x++)
            worker->left[k][x] = (uint8_t)(word_at(&job->left->census, x, y) >> 8 * k);
        memset(worker->right[k], 0, (size_t)partners);
        for (int i = clamp(last - (job->width - 1), 0, partners); i < partners && i <= last; i++)
            worker->right[k][i] = (uint8_t)(word_at(&job->right->census, last - i, y) >> 8 * k);
    }
    *ret_row = (struct plx_cost_row){
        .width = job->width, .disparities = match->disparities, .planes = planes, .gradient_cap = match->gradient_cap};
    for (int k = 0; k < planes; k++) {
        ret_row->left[k] = worker->left[k];
        ret_row->right[k] = worker->right[k];
    }
    if (match->gradient_cap > 0) {
        const uint8_t *gradient = plx_row(&job->right->gradient, y);
        uint8_t *backward = worker->right[PLX_MAX_PLANES];
        for (int i = 0; i < partners; i++)
            backward[i] = gradient[clamp(last - i, 0, job->width - 1)];
        ret_row->left_gradient = plx_row(&job->left->gradient, y);
        ret_row->right_gradient = backward;
    }
}

/* P2 of every path's step to each pixel. Where a path starts it does not matter, and a neighbour inside will do. */
static void prepare_p2(const struct plx_sgm_job *job, struct plx_sgm_worker *worker, int y, int y_before, int step)
{
    const uint8_t *row = plx_row(job->grey, y), *before = plx_row(job->grey, y_before);

    for (int x = 0; x < job->width; x++) {
        const int back = clamp(x - step, 0, job->width - 1), on = clamp(x + step, 0, job->width - 1), grey = row[x];
        worker->p2[PLX_ALONG][x] = job->p2[abs(grey - row[back])];
        worker->p2[PLX_STRAIGHT][x] = job->p2[abs(grey - before[x])];
        worker->p2[PLX_BEHIND][x] = job->p2[abs(grey - before[back])];
        worker->p2[PLX_AHEAD][x] = job->p2[abs(grey - before[on])];
    }
}

static void prepare_paths(const struct plx_sgm_job *job, struct plx_sgm_worker *worker, int sweep, int row,
                          struct plx_sweep_row *ret_row)
{
    const struct plx_match *match = job->match;

    *ret_row = (struct plx_sweep_row){.step = sweep == PLX_DOWN ? 1 : -1,
                                      .disparities = match->disparities,
                                      .paths = match->paths,
                                      .p1_straight = (uint8_t)match->p1_straight,
                                      .p1_diagonal = (uint8_t)match->p1_diagonal,
                                      .along = worker->along};
    memset(worker->along, 0, (size_t)match->disparities);
    for (int path = 0; path < PLX_SWEEP_PATHS; path++) {
        ret_row->p2[path] = worker->p2[path];
        if (path != PLX_ALONG) {
            ret_row->last[path] = job->scratch->state[sweep][(row + 1) % 2][path] + match->disparities;
            ret_row->next[path] = job->scratch->state[sweep][row % 2][path] + match->disparities;
        }
    }
}

static void prepare_winner(const struct plx_sgm_job *job, const struct plx_sgm_worker *worker, int y,
                           struct plx_winner_row *ret_row)
{
    const struct plx_match *match = job->match;
    const size_t keys = (size_t)(match->disparities / PLX_CHUNK) * (size_t)(job->width + match->disparities);

    *ret_row = (struct plx_winner_row){.width = job->width,
                                       .disparities = match->disparities,
                                       .paths = match->paths,
                                       .raw = plx_row(&job->winners->raw, y),
                                       .s1 = plx_row(&job->winners->s1, y),
                                       .s2 = plx_row(&job->winners->s2, y),
                                       .below = worker->below,
                                       .above = worker->above,
                                       .key = worker->key};
    memset(worker->key, 0xFF, keys * sizeof *worker->key);
}

void plx_sgm_row(struct plx_sgm_job *job, struct plx_sgm_worker *worker, int sweep, int row)
{
    const struct plx_kernels *kernels = job->kernels;
    const int width = job->width, other_row = job->height - 1 - row; /* the same row, in the order of the other sweep */
    const int y = sweep == PLX_DOWN ? row : other_row;
    const int y_before = row == 0 ? y : sweep == PLX_DOWN ? y - 1 : y + 1;
    const bool second_visit = row >= plx_sgm_first_rows(job, sweep);
    const size_t pixel = plx_pairs(job->match->paths, job->match->disparities);
    uint8_t *pairs = job->scratch->pairs + (size_t)y * (size_t)width * pixel;
    atomic_int *done = job->scratch->done[sweep];
    struct plx_cost_row cost;
    struct plx_sweep_row paths;
    struct plx_winner_row winner;

    prepare_cost(job, worker, y, &cost);
    prepare_paths(job, worker, sweep, row, &paths);
    prepare_p2(job, worker, y, y_before, paths.step);
    if (second_visit) {
        prepare_winner(job, worker, y, &winner);
        wait_for(&job->scratch->done[!sweep][other_row], width);
    }
    for (int begin = 0; begin < width; begin += PLX_BLOCK) {
        const int end = min(begin + PLX_BLOCK, width), count = end - begin, x = sweep == PLX_DOWN ? begin : width - end;
        uint8_t *first_pairs = pairs + (size_t)x * pixel;

        if (row > 0)
            wait_for(&done[row - 1], min(end + 1, width));
        kernels->cost(&cost, x, count, worker->cost);
        kernels->aggregate(&paths, x, count, worker->cost, second_visit ? worker->pairs : first_pairs);
        if (second_visit)
            kernels->winner(&winner, x, count, worker->cost, first_pairs, worker->pairs);
        atomic_store_explicit(&done[row], end, memory_order_release); /* see wait_for */
    }
    if (second_visit)
        plx_winner_finish(job->match, &winner, plx_row(&job->winners->left, y), plx_row(&job->winners->right, y));
}
