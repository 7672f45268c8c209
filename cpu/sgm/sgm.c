/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semi-global matching (Hirschmueller 2008) in two sweeps. One goes down with the paths that come from the left and from above,
 * the other up with the opposite ones; they start together, meet in the middle and go on. The first visit to a row leaves the
 * sums of its paths in memory; the second adds its own and finds the disparity candidates. Within a sweep each row is a task
 * that follows the row before at a distance of one block, so that any number of threads can share the two sweeps, and all give
 * the same bits.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define ALIGNMENT 64
#define PATIENCE 1000 /* looks at a counter before the thread yields */

enum { FIRST, SECOND, VISITS };
enum { DOWN, UP, SWEEPS }; /* a sweep's rows go down or up, its columns right or left */

/* Buffers of one thread for one row. */
struct worker {
    struct plx_sgm_row row;
    uint8_t *cost, *pairs; /* of one block */
};

struct plx_sgm_scratch {
    void *memory;                               /* of all that follows */
    uint8_t *pairs;                             /* sums of the first visit, [height][width][pairs] */
    uint8_t *state[SWEEPS][2][PLX_SWEEP_PATHS]; /* of even and odd rows, [1 + width + 1][disparities]; not of ALONG */
    atomic_int *done[SWEEPS];                   /* [height] pixels of each row that a sweep has completed */
    int threads;
    struct worker worker[]; /* [threads] */
};

/* One frame. */
struct job {
    const struct plx_kernels *kernels;
    struct plx_sgm_scratch *scratch;
    const struct plx_features *left, *right;
    const struct plx_image *grey;
    const struct plx_match *match;
    const struct plx_candidates *candidates;
    int width, height;
    atomic_int next[VISITS][SWEEPS]; /* first row, in the order of the sweep, that no thread has taken; may exceed the end */
};

/* The next BYTES of MEMORY, aligned; without MEMORY only counts. */
static void *take(uint8_t *memory, size_t *offset, size_t bytes)
{
    void *here = memory ? memory + *offset : NULL;
    *offset += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return here;
}

static void place_worker(struct worker *worker, uint8_t *memory, size_t *end, size_t width, size_t disparities)
{
    struct plx_sgm_row *row = &worker->row;
    for (int i = 0; i < PLX_MAX_PLANES; i++) {
        row->left[i] = take(memory, end, width);
        row->right[i] = take(memory, end, width + disparities);
    }
    for (int i = 0; i < PLX_GRADIENTS; i++) {
        row->left_gradient[i] = take(memory, end, width);
        row->right_gradient[i] = take(memory, end, width + disparities);
    }
    for (int i = 0; i < PLX_SWEEP_PATHS; i++)
        row->p2[i] = take(memory, end, width);
    row->along = take(memory, end, disparities);
    row->below = take(memory, end, width * sizeof *row->below);
    row->above = take(memory, end, width * sizeof *row->above);
    row->key = take(memory, end, plx_key_count((int)width, (int)disparities) * sizeof *row->key);
    worker->cost = take(memory, end, PLX_BLOCK * disparities);
    worker->pairs = take(memory, end, PLX_BLOCK * plx_pairs(8, (int)disparities));
}

/* Points all buffers into MEMORY, or nowhere if it is NULL; returns the bytes that they need. */
static size_t place(struct plx_sgm_scratch *scratch, uint8_t *memory, const struct plx_limits *limits)
{
    const size_t width = (size_t)limits->width, height = (size_t)limits->height, disparities = (size_t)limits->disparities;
    size_t end = 0;

    scratch->pairs = take(memory, &end, width * height * plx_pairs(8, limits->disparities));
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        scratch->done[sweep] = take(memory, &end, height * sizeof *scratch->done[sweep]);
        for (int odd = 0; odd < 2; odd++)
            for (int path = PLX_STRAIGHT; path < PLX_SWEEP_PATHS; path++)
                scratch->state[sweep][odd][path] = take(memory, &end, (width + 2) * disparities);
    }
    for (int i = 0; i < scratch->threads; i++)
        place_worker(&scratch->worker[i], memory, &end, width, disparities);
    return end;
}

int plx_sgm_scratch_create(const struct plx_limits *limits, int threads, struct plx_sgm_scratch **ret_scratch)
{
    struct plx_sgm_scratch *scratch = calloc(1, sizeof *scratch + (size_t)threads * sizeof scratch->worker[0]);
    if (!scratch)
        return PLX_ERR_NOMEM;
    scratch->threads = threads;
    scratch->memory = aligned_alloc(ALIGNMENT, place(scratch, NULL, limits));
    if (!scratch->memory) {
        free(scratch);
        return PLX_ERR_NOMEM;
    }
    place(scratch, scratch->memory, limits);
    *ret_scratch = scratch;
    return 0;
}

void plx_sgm_scratch_destroy(struct plx_sgm_scratch *scratch)
{
    if (scratch)
        free(scratch->memory);
    free(scratch);
}

/* Rows of SWEEP, counted in its order, that it visits before the other does: half of the image. */
static int first_rows(const struct job *job, int sweep)
{
    return (job->height + (sweep == DOWN)) / 2;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Acquire: pairs with the release of the thread that worked on that row, whose states and sums are read next. */
static void wait_for(const atomic_int *done, int pixels)
{
    for (int i = 0; atomic_load_explicit(done, memory_order_acquire) < pixels; i++)
        if (i >= PATIENCE)
            sched_yield();
}

static void prepare_cost(const struct job *job, struct plx_sgm_row *row, int y)
{
    const struct plx_match *match = job->match;
    const struct plx_kernels *kernels = job->kernels;
    const int word_bytes = (int)job->left->census.type;

    row->planes = (plx_census_bits(match->census) + 7) / 8;
    row->gradient_cap = match->gradient_cap;
    row->gradient_cap_y = match->gradient_cap_y;
    /* row->left holds the bytes of the right view until its own are split */
    kernels->split(plx_row(&job->right->census, y), job->width, word_bytes, row->planes, row->left);
    for (int k = 0; k < row->planes; k++)
        kernels->partners(match, row->left[k], job->width, 0, 0, row->right[k]);
    kernels->split(plx_row(&job->left->census, y), job->width, word_bytes, row->planes, row->left);
    if (match->gradient_cap > 0) {
        kernels->split(plx_row(&job->right->gradient, y), job->width, PLX_U16, PLX_GRADIENTS, row->left_gradient);
        for (int k = 0; k < PLX_GRADIENTS; k++) {
            const uint8_t *right = row->left_gradient[k];
            kernels->partners(match, right, job->width, right[0], right[job->width - 1], row->right_gradient[k]);
        }
        kernels->split(plx_row(&job->left->gradient, y), job->width, PLX_U16, PLX_GRADIENTS, row->left_gradient);
    }
}

static void prepare_paths(const struct job *job, struct plx_sgm_row *row, int y, int sweep, int index)
{
    const struct plx_match *match = job->match;
    const int step = sweep == DOWN ? 1 : -1;
    const uint8_t *grey = plx_row(job->grey, y), *before = index > 0 ? plx_row(job->grey, y - step) : grey;

    row->step = step;
    row->p1_straight = (uint8_t)match->p1_straight;
    row->p1_diagonal = (uint8_t)match->p1_diagonal;
    memset(row->along, 0, (size_t)match->disparities);
    for (int path = PLX_STRAIGHT; path < PLX_SWEEP_PATHS; path++) {
        row->last[path] = job->scratch->state[sweep][(index + 1) % 2][path] + match->disparities;
        row->next[path] = job->scratch->state[sweep][index % 2][path] + match->disparities;
    }
    job->kernels->penalties(match, grey, grey, -step, job->width, row->p2[PLX_ALONG]);
    job->kernels->penalties(match, grey, before, 0, job->width, row->p2[PLX_STRAIGHT]);
    if (match->paths == 8) {
        job->kernels->penalties(match, grey, before, -step, job->width, row->p2[PLX_BEHIND]);
        job->kernels->penalties(match, grey, before, step, job->width, row->p2[PLX_AHEAD]);
    }
}

static void prepare_candidates(const struct job *job, struct plx_sgm_row *row, int y)
{
    row->raw = plx_row(&job->candidates->raw, y);
    row->s1 = plx_row(&job->candidates->s1, y);
    row->s2 = plx_row(&job->candidates->s2, y);
    memset(row->key, 0xFF, plx_key_count(job->width, job->match->disparities) * sizeof *row->key);
}

/* Row INDEX, in the order of SWEEP: block by block through cost, aggregation and, on the second visit, the candidates. */
static void match_row(const struct job *job, struct worker *worker, int sweep, int index)
{
    const struct plx_kernels *kernels = job->kernels;
    const int width = job->width, other_index = job->height - 1 - index; /* the same row, in the order of the other sweep */
    const int y = sweep == DOWN ? index : other_index;
    const bool second_visit = index >= first_rows(job, sweep);
    const size_t pixel = plx_pairs(job->match->paths, job->match->disparities);
    uint8_t *pairs = job->scratch->pairs + (size_t)y * (size_t)width * pixel;
    atomic_int *done = job->scratch->done[sweep];
    struct plx_sgm_row *row = &worker->row;

    row->width = width;
    row->disparities = job->match->disparities;
    row->paths = job->match->paths;
    prepare_cost(job, row, y);
    prepare_paths(job, row, y, sweep, index);
    if (second_visit) {
        prepare_candidates(job, row, y);
        wait_for(&job->scratch->done[!sweep][other_index], width);
    }
    for (int begin = 0; begin < width; begin += PLX_BLOCK) {
        const int end = min(begin + PLX_BLOCK, width), count = end - begin, x = sweep == DOWN ? begin : width - end;
        uint8_t *first_pairs = pairs + (size_t)x * pixel;

        if (index > 0)
            wait_for(&done[index - 1], min(end + 1, width));
        kernels->cost(row, x, count, worker->cost);
        kernels->aggregate(row, x, count, worker->cost, second_visit ? worker->pairs : first_pairs);
        if (second_visit)
            kernels->argmin(row, x, count, worker->cost, first_pairs, worker->pairs);
        atomic_store_explicit(&done[index], end, memory_order_release); /* see wait_for */
    }
    if (second_visit)
        kernels->disparities(job->match, row, plx_row(&job->candidates->left, y), plx_row(&job->candidates->right, y));
}

/* Before its first row and beside its columns a path has no state: zeros, which make L = C. */
static void start_sweep(struct job *job, int sweep)
{
    const size_t pixel = (size_t)job->match->disparities, width = (size_t)job->width;

    for (int path = PLX_STRAIGHT; path < PLX_SWEEP_PATHS; path++) {
        uint8_t *even = job->scratch->state[sweep][0][path];
        memset(even, 0, pixel);
        memset(even + (width + 1) * pixel, 0, pixel);
        memset(job->scratch->state[sweep][1][path], 0, (width + 2) * pixel);
    }
    /* relaxed, here and in the claims: the pool orders them before and after the work; order within it is that of DONE */
    for (int i = 0; i < job->height; i++)
        atomic_store_explicit(&job->scratch->done[sweep][i], 0, memory_order_relaxed);
    atomic_store_explicit(&job->next[FIRST][sweep], 0, memory_order_relaxed);
    atomic_store_explicit(&job->next[SECOND][sweep], first_rows(job, sweep), memory_order_relaxed);
}

/* The next row, of the thread's own sweep if there is one. No second visit begins before all first visits are taken: a taken
 * row waits only for rows that are taken, too, so one thread can always go on. */
static bool claim(struct job *job, int own, int *ret_sweep, int *ret_index)
{
    for (int visit = 0; visit < VISITS; visit++) {
        for (int i = 0; i < SWEEPS; i++) {
            const int sweep = (own + i) % SWEEPS, end = visit == FIRST ? first_rows(job, sweep) : job->height;
            const int index = atomic_fetch_add_explicit(&job->next[visit][sweep], 1, memory_order_relaxed);
            if (index < end) {
                *ret_sweep = sweep;
                *ret_index = index;
                return true;
            }
        }
    }
    return false;
}

static void sweep_rows(void *argument, int index)
{
    struct job *job = argument;
    int sweep, row;
    while (claim(job, index % SWEEPS, &sweep, &row))
        match_row(job, &job->scratch->worker[index], sweep, row);
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

    struct job job = {
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
    start_sweep(&job, DOWN);
    start_sweep(&job, UP);
    plx_pool_run(cpu->pool, cpu->sgm->threads, sweep_rows, &job);
    return 0;
}
