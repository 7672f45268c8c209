/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semi-global matching (Hirschmueller 2008) in two sweeps. One goes down with the paths that come from the left and from above,
 * the other up with the opposite ones; they start together, meet and go on. The first visit to a row leaves the sums of its
 * paths in memory; the second adds its own and finds the disparity candidates. Within a sweep each row is a task that follows
 * the row before at a distance of one block, so that any number of threads can share the two sweeps, and all give the same
 * bits. Where the sweeps meet depends on their progress: if a sweep's thread loses its processor, the other sweep goes on.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define ALIGNMENT 64
#define PATIENCE 1000 /* looks at a counter before the thread sleeps: about the time of a block */
#define REACH 1       /* pixels behind a block whose states it reads */
#define TAKEN_BITS 16 /* bits for a count in struct job's taken */
_Static_assert(PLX_MAX_SIDE < 1 << TAKEN_BITS, "the rows of an image fit");

enum { DOWN, UP, SWEEPS }; /* a sweep's rows go down or up, its columns right or left */

/* Buffers of one thread for one row. */
struct worker {
    struct plx_sgm_row row;
    uint8_t *cost, *pairs; /* costs and pairs of one block */
};

/* The two threads that may wait for a row: that of the sweep's next row, and that of the other sweep's visit to this one. Each
 * alone writes its entry of struct progress. */
enum { NEXT_ROW, OTHER_SWEEP, READERS };
#define NONE INT_MAX

/* How far a sweep has come in one row. Rows have cache lines of their own, for neighbours belong to different threads. */
struct progress {
    alignas(ALIGNMENT) atomic_int done; /* completed pixels; a futex word */
    atomic_int wanted[READERS];         /* pixels until which that reader may sleep; NONE: it does not */
};

/* One visit of one sweep to one row. */
struct visit {
    int sweep, index; /* in the order of the sweep */
    bool is_second;   /* the other sweep took the row earlier */
};

struct plx_sgm_scratch {
    void *memory;   /* block that holds all that follows */
    uint8_t *pairs; /* sums of the first visit, [height][width][pairs] */
    /* [height + width + 1][disparities], not of ALONG: each row's states replace those of the row before that they come from,
     * so a diagonal path's lie a pixel farther with each row. */
    uint8_t *state[SWEEPS][PLX_SWEEP_PATHS];
    struct progress *progress[SWEEPS]; /* [height] in the order of the sweep */
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
    uint8_t p2[PLX_P2_STEPS];
    /* Rows that threads have taken, TAKEN_BITS for each sweep. One word, so that all takes have one order. */
    _Atomic(uint32_t) taken;
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
        scratch->progress[sweep] = take(memory, &end, height * sizeof *scratch->progress[sweep]);
        for (int path = PLX_STRAIGHT; path < PLX_SWEEP_PATHS; path++)
            scratch->state[sweep][path] = take(memory, &end, (height + width + 1) * disparities);
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

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Spins only as long as a block takes, then sleeps: the thread that it waits for may have lost its processor. */
static void wait_for(struct progress *row, int reader, int pixels)
{
    /* acquire: pairs with the release of the thread that worked on that row, whose states and sums are read next */
    for (int i = 0; i < PATIENCE; i++)
        if (atomic_load_explicit(&row->done, memory_order_acquire) >= pixels)
            return;
    /* The wish stays until it is met, so that no announcement can take it away from a thread that has just looked at DONE. */
    atomic_store_explicit(&row->wanted[reader], pixels, memory_order_seq_cst); /* see publish; the load is an acquire, too */
    for (int done; (done = atomic_load_explicit(&row->done, memory_order_seq_cst)) < pixels;)
        syscall(SYS_futex, &row->done, FUTEX_WAIT_PRIVATE, done, NULL, NULL, 0);
    /* relaxed: one wake-up too many does no harm */
    atomic_store_explicit(&row->wanted[reader], NONE, memory_order_relaxed);
}

/* Announces that PIXELS of WIDTH are complete, and wakes a reader that has what it wants. Release: see wait_for. */
static void publish(struct progress *row, int pixels, int width)
{
    bool wakes;
    if (pixels < width) {
        /* relaxed: a thread that just falls asleep may stay unseen until the next block; no block pays for a full barrier */
        atomic_store_explicit(&row->done, pixels, memory_order_release);
        wakes = atomic_load_explicit(&row->wanted[NEXT_ROW], memory_order_relaxed) <= pixels;
    } else {
        /* sequentially consistent, like the reader's store and load: this thread sees the wish, or the reader the end */
        atomic_store_explicit(&row->done, pixels, memory_order_seq_cst);
        wakes = atomic_load_explicit(&row->wanted[NEXT_ROW], memory_order_seq_cst) != NONE ||
                atomic_load_explicit(&row->wanted[OTHER_SWEEP], memory_order_seq_cst) != NONE;
    }
    if (wakes) /* a reader that does not sleep yet compares DONE in the kernel */
        syscall(SYS_futex, &row->done, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
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
        const int from = path == PLX_BEHIND ? -step : path == PLX_AHEAD ? step : 0; /* column that the path comes from */
        const int first = from < 0 ? job->height - index : from > 0 ? index + 1 : 0;
        row->next[path] = job->scratch->state[sweep][path] + (ptrdiff_t)first * match->disparities;
        row->last[path] = row->next[path] - from * match->disparities;
    }
    job->kernels->penalties(job->p2, grey, grey, -step, job->width, row->p2[PLX_ALONG]);
    job->kernels->penalties(job->p2, grey, before, 0, job->width, row->p2[PLX_STRAIGHT]);
    if (match->paths == 8) {
        job->kernels->penalties(job->p2, grey, before, -step, job->width, row->p2[PLX_BEHIND]);
        job->kernels->penalties(job->p2, grey, before, step, job->width, row->p2[PLX_AHEAD]);
    }
}

static void prepare_candidates(const struct job *job, struct plx_sgm_row *row, int y)
{
    row->raw = plx_row(&job->candidates->raw, y);
    row->s1 = plx_row(&job->candidates->s1, y);
    row->s2 = plx_row(&job->candidates->s2, y);
    memset(row->key, 0xFF, plx_key_count(job->width, job->match->disparities) * sizeof *row->key);
}

/* The same row, in the order of the other sweep. */
static int mirror(const struct job *job, int index)
{
    return job->height - 1 - index;
}

/* Block by block through cost, aggregation and, on the second visit, the candidates. */
static void match_row(const struct job *job, struct worker *worker, const struct visit *visit)
{
    const struct plx_kernels *kernels = job->kernels;
    const int width = job->width, sweep = visit->sweep, index = visit->index;
    const int y = sweep == DOWN ? index : mirror(job, index);
    const size_t pixel = plx_pairs(job->match->paths, job->match->disparities);
    uint8_t *pairs = job->scratch->pairs + (size_t)y * (size_t)width * pixel;
    struct progress *progress = job->scratch->progress[sweep];
    struct plx_sgm_row *row = &worker->row;

    row->width = width;
    row->disparities = job->match->disparities;
    row->paths = job->match->paths;
    row->streams = !visit->is_second;
    prepare_cost(job, row, y);
    prepare_paths(job, row, y, sweep, index);
    if (visit->is_second) {
        prepare_candidates(job, row, y);
        wait_for(&job->scratch->progress[!sweep][mirror(job, index)], OTHER_SWEEP, width);
    }
    for (int begin = 0; begin < width; begin += PLX_BLOCK) {
        const int end = min(begin + PLX_BLOCK, width), count = end - begin, x = sweep == DOWN ? begin : width - end;
        uint8_t *first_pairs = pairs + (size_t)x * pixel;

        if (index > 0)
            wait_for(&progress[index - 1], NEXT_ROW, min(end + REACH, width));
        kernels->cost(row, x, count, worker->cost);
        kernels->aggregate(row, x, count, worker->cost, visit->is_second ? worker->pairs : first_pairs);
        if (visit->is_second)
            kernels->argmin(row, x, count, worker->cost, first_pairs, worker->pairs);
        publish(&progress[index], end, width);
    }
    if (visit->is_second)
        kernels->disparities(job->match, row, plx_row(&job->candidates->left, y), plx_row(&job->candidates->right, y));
}

/* Before its first row and beside its columns a path has no state: zeros, which make L = C. */
static void start_sweep(struct job *job, int sweep)
{
    const size_t states = (size_t)(job->height + job->width + 1) * (size_t)job->match->disparities;

    for (int path = PLX_STRAIGHT; path < PLX_SWEEP_PATHS; path++)
        memset(job->scratch->state[sweep][path], 0, states);
    /* relaxed: the pool orders them before and after the work */
    for (int i = 0; i < job->height; i++) {
        atomic_store_explicit(&job->scratch->progress[sweep][i].done, 0, memory_order_relaxed);
        for (int reader = 0; reader < READERS; reader++)
            atomic_store_explicit(&job->scratch->progress[sweep][i].wanted[reader], NONE, memory_order_relaxed);
    }
}

/* The next row of SWEEP after those TAKEN; false if there is none. */
static bool next_visit(const struct job *job, uint32_t taken, int sweep, struct visit *ret_visit)
{
    const int rows[SWEEPS] = {(int)(taken & ((1u << TAKEN_BITS) - 1)), (int)(taken >> TAKEN_BITS)};

    *ret_visit = (struct visit){sweep, rows[sweep], rows[DOWN] + rows[UP] >= job->height};
    return rows[sweep] < job->height;
}

/* Whether the first block can be computed now. Relaxed: only the choice of a row depends on it, and wait_for looks again. */
static bool can_begin(const struct job *job, const struct visit *visit)
{
    struct progress *const *progress = job->scratch->progress;
    const int index = visit->index;

    if (index > 0 && atomic_load_explicit(&progress[visit->sweep][index - 1].done, memory_order_relaxed) <
                         min(PLX_BLOCK + REACH, job->width))
        return false;
    return !visit->is_second ||
           atomic_load_explicit(&progress[!visit->sweep][mirror(job, index)].done, memory_order_relaxed) == job->width;
}

/* Takes the next row of a sweep: one that can begin if there is one soon, else one of the thread's own sweep. A taken row waits
 * only for rows that were taken before it, so one thread can always go on. */
static bool take_row(struct job *job, int own, struct visit *ret_visit)
{
    for (int attempt = 0;; attempt++) {
        /* relaxed: the word only hands out rows; their data is ordered by DONE */
        uint32_t taken = atomic_load_explicit(&job->taken, memory_order_relaxed);
        struct visit other;
        const bool has_own = next_visit(job, taken, own, ret_visit), has_other = next_visit(job, taken, !own, &other);
        const bool own_begins = has_own && can_begin(job, ret_visit), other_begins = has_other && can_begin(job, &other);

        if (!has_own && !has_other)
            return false;
        if (!own_begins && !other_begins && attempt < PATIENCE)
            continue;
        if (!has_own || (other_begins && !own_begins))
            *ret_visit = other;
        if (atomic_compare_exchange_strong_explicit(&job->taken, &taken, taken + (1u << ret_visit->sweep * TAKEN_BITS),
                                                    memory_order_relaxed, memory_order_relaxed))
            return true;
    }
}

static void sweep_rows(void *argument, int index)
{
    struct job *job = argument;
    struct visit visit;
    while (take_row(job, index % SWEEPS, &visit))
        match_row(job, &job->scratch->worker[index], &visit);
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
    plx_match_p2(match, job.p2);
    start_sweep(&job, DOWN);
    start_sweep(&job, UP);
    plx_pool_run(cpu->pool, cpu->sgm->threads, sweep_rows, &job);
    return 0;
}
