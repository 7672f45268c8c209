/* SPDX-License-Identifier: Apache-2.0 */
/* One row of one sweep: block by block through cost, aggregation and, on the second visit, the winner. */
#include <sched.h>
#include <string.h>

#include "cpu/sgm/sgm.h"

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

/* Partners of the pixels of row SRC at all disparities: backwards, so that disparities go up with the address, and from the
 * column on that is the last pixel's partner at disparity 0. Beside the image they are BEFORE and AFTER. */
static void partners(const struct plx_sgm_job *job, const uint8_t *src, uint8_t before, uint8_t after, uint8_t *ret_bytes)
{
    const int width = job->width, count = width + job->match->disparities - 1;
    const int last = width - 1 - job->match->min_disparity; /* column of the first, maybe outside */
    const int first_inside = clamp(last - (width - 1), 0, count), first_before = clamp(last + 1, first_inside, count);

    memset(ret_bytes, after, (size_t)first_inside);
    job->kernels->reverse(src + last - (first_before - 1), first_before - first_inside, ret_bytes + first_inside);
    memset(ret_bytes + first_before, before, (size_t)(count - first_before));
}

static void prepare_cost(const struct plx_sgm_job *job, struct plx_sgm_worker *worker, int y, struct plx_cost_row *ret_row)
{
    const struct plx_match *match = job->match;
    const bool wide = match->census == PLX_CENSUS_FULL_9X7;
    const int planes = wide ? 8 : (plx_census_bits(match->census) + 7) / 8;

    *ret_row = (struct plx_cost_row){
        .width = job->width, .disparities = match->disparities, .planes = planes, .gradient_cap = match->gradient_cap};
    job->kernels->split(plx_row(&job->right->census, y), job->width, wide, planes, worker->left);
    for (int k = 0; k < planes; k++) {
        partners(job, worker->left[k], 0, 0, worker->right[k]);
        ret_row->left[k] = worker->left[k];
        ret_row->right[k] = worker->right[k];
    }
    job->kernels->split(plx_row(&job->left->census, y), job->width, wide, planes, worker->left);
    if (match->gradient_cap > 0) {
        const uint8_t *gradient = plx_row(&job->right->gradient, y);
        partners(job, gradient, gradient[0], gradient[job->width - 1], worker->right[PLX_MAX_PLANES]);
        ret_row->left_gradient = plx_row(&job->left->gradient, y);
        ret_row->right_gradient = worker->right[PLX_MAX_PLANES];
    }
}

/* P2 of the steps from the pixels DX columns beside, in row BEFORE, to those of ROW. Where a path starts there is no step. */
static void penalties(const struct plx_sgm_job *job, const uint8_t *row, const uint8_t *before, int dx, uint8_t *ret_p2)
{
    const int first = dx < 0 ? 1 : 0, count = job->width - (dx != 0);
    ret_p2[0] = ret_p2[job->width - 1] = 0;
    job->kernels->penalty(job->match, row + first, before + first + dx, count, ret_p2 + first);
}

static void prepare_p2(const struct plx_sgm_job *job, struct plx_sgm_worker *worker, int y, int y_before, int step)
{
    const uint8_t *row = plx_row(job->grey, y), *before = plx_row(job->grey, y_before);

    penalties(job, row, row, -step, worker->p2[PLX_ALONG]);
    penalties(job, row, before, 0, worker->p2[PLX_STRAIGHT]);
    if (job->match->paths == 8) {
        penalties(job, row, before, -step, worker->p2[PLX_BEHIND]);
        penalties(job, row, before, step, worker->p2[PLX_AHEAD]);
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
    const size_t keys = plx_vote_row_keys(job->width, match->disparities);

    *ret_row = (struct plx_winner_row){.width = job->width,
                                       .disparities = match->disparities,
                                       .paths = match->paths,
                                       .raw = plx_row(&job->candidates->raw, y),
                                       .s1 = plx_row(&job->candidates->s1, y),
                                       .s2 = plx_row(&job->candidates->s2, y),
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
        kernels->finish(job->match, &winner, plx_row(&job->candidates->left, y), plx_row(&job->candidates->right, y));
}
