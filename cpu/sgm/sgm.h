/* SPDX-License-Identifier: Apache-2.0 */
/* Semi-global matching on the CPU: what its files share. */
#ifndef PLX_CPU_SGM_SGM_H
#define PLX_CPU_SGM_SGM_H

#include <stdatomic.h>

#include "core/stages.h"
#include "cpu/simd/kernels.h"

enum { PLX_DOWN, PLX_UP, PLX_SWEEPS }; /* a sweep's rows go down or up, its columns right or left */

/* What one thread works with in a row. */
struct plx_sgm_worker {
    uint8_t *left[PLX_MAX_PLANES], *right[PLX_MAX_PLANES + 1]; /* census bytes; the last: gradient */
    uint8_t *p2[PLX_SWEEP_PATHS];
    uint8_t *along, *cost, *pairs;
    uint16_t *below, *above, *key;
    void *memory; /* that all of them lie in */
};

struct plx_sgm_scratch {
    int threads;
    struct plx_sgm_worker *worker;                  /* [threads] */
    uint8_t *pairs;                                 /* first visit's sums, [height][width][pairs] */
    uint8_t *state[PLX_SWEEPS][2][PLX_SWEEP_PATHS]; /* of even and odd rows, [1 + width + 1][disparities]; not of ALONG */
    atomic_int *done[PLX_SWEEPS];                   /* [height] pixels of each row that a sweep is through with */
};

/* One frame. */
struct plx_sgm_job {
    const struct plx_kernels *kernels;
    const struct plx_sgm_scratch *scratch;
    const struct plx_features *left, *right;
    const struct plx_image *grey;
    const struct plx_match *match;
    const struct plx_candidates *candidates;
    int width, height;
    atomic_int next[PLX_SWEEPS]; /* first row, in the order of the sweep, that nobody has taken */
};

/* sgm_row.c: cost, paths and, on the second visit, winner of one row */
void plx_sgm_row(struct plx_sgm_job *job, struct plx_sgm_worker *worker, int sweep, int row);

/* Rows of SWEEP, counted in its order, that it visits before the other does: the image's half. */
static inline int plx_sgm_first_rows(const struct plx_sgm_job *job, int sweep)
{
    return (job->height + (sweep == PLX_DOWN)) / 2;
}

/* winner.c: the row's disparities of both views from what the winner kernel left */
void plx_winner_finish(const struct plx_match *match, const struct plx_winner_row *row, uint16_t *ret_left,
                       uint16_t *ret_right);

#endif
