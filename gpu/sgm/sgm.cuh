/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of stage sgm share. The stage is three steps:
 *
 *   cost     features -> C, a volume of bytes                                             cost.cu
 *   lines    C -> for each of 2 or 4 orientations a volume of bytes: L - C of its two     lines.cu
 *            opposite paths, added up; that is at most 2 * 120
 *   winner   C and those volumes -> S, and the winners of both views                      winner.cu
 *
 * The sweeps of sweeps.cuh may take the place of all three.
 */
#ifndef PLX_GPU_SGM_SGM_CUH
#define PLX_GPU_SGM_SGM_CUH

#include "gpu/internal.h"
#include "gpu/sgm/step.cuh"

struct plx_gpu_sgm {
    uint4 *cost;
    uint4 *path_sums[PLX_ORIENTATIONS];
    uint4 *dummy_line; /* [32] where lines that do not exist store */
    uint32_t *penalty; /* [height][width], a byte an orientation: P2 of the step to this pixel from the one above or left */
    uint32_t *right_argmin;  /* [height][width] least S << 16 | d of each pixel of the right view; ones between frames */
    uint32_t *segments_done; /* [height] blocks that have voted in a row; zeros between frames */

    /* of the sweeps */
    uint4 *sums;               /* [height][width] two volumes of 16-bit sums, in the place of PATH_SUMS */
    uint4 *band_messages;      /* L that one band hands to the next; ones between frames */
    uint32_t *exchange_flags;  /* whether a warp's sums are there, of each sweep; zeros between frames */
    uint32_t *next_band;       /* bands that are taken; zero between frames */
    uint32_t *penalty_upwards; /* as PENALTY, of the step from the pixel below or right, */
    uint32_t *words[2];        /* and [height][width] features of both views: in the place of PATH_SUMS too */

    void *memory; /* all of it */
};

struct plx_sgm_job {
    struct plx_gpu *gpu;
    const struct plx_features *left, *right;
    const struct plx_image *grey;
    const struct plx_match *match;
    const struct plx_candidates *candidates;
    int width, height;
};

/* Each starts its kernels on the stream of the backend. */
int plx_sgm_cost(const struct plx_sgm_job *job);
int plx_sgm_penalty(const struct plx_sgm_job *job, bool both_sweeps);
int plx_sgm_lines(const struct plx_sgm_job *job, bool prefetch);
int plx_sgm_winner(const struct plx_sgm_job *job);
int plx_sgm_feature_words(const struct plx_sgm_job *job);
int plx_sgm_sweeps(const struct plx_sgm_job *job);

/* The right view from votes; they and the ticket are left as the next frame needs them. */
int plx_sgm_right_view(const struct plx_sgm_job *job);

/* What the sweeps need of memory of their own. */
size_t plx_sgm_band_message_bytes(const struct plx_limits *limits);
size_t plx_sgm_exchange_flag_bytes(const struct plx_limits *limits);

#endif
