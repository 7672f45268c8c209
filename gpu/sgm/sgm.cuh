/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of stage sgm share. The stage is three steps:
 *
 *   cost     features -> C, a volume of bytes                                             cost.cu
 *   lines    C -> for each of 2 or 4 orientations a volume of bytes: L - C of its two     lines.cu
 *            opposite paths, added up; that is at most 2 * 120
 *   winner   C and those volumes -> S, and the candidates of both views                   winner.cu
 *
 * The sweeps (sweep.cuh) replace all three.
 */
#ifndef PLX_GPU_SGM_SGM_CUH
#define PLX_GPU_SGM_SGM_CUH

#include "gpu/internal.h"
#include "gpu/sgm/step.cuh"

struct plx_gpu_sgm {
    uint4 *cost;
    uint4 *path_sums[PLX_ORIENTATIONS];
    uint4 *dummy_line;       /* [32] chunks that the dummy lines of a warp write */
    uint32_t *penalty;       /* [height][width], one byte for each orientation: P2 of the step from the pixel above or left */
    uint32_t *right_argmin;  /* [height][width] minimum S << 16 | d of each right pixel; all ones between frames */
    uint32_t *segments_done; /* [height] blocks that are done with a row; zeros between frames */

    /* for the sweeps */
    uint4 *sums;               /* [height][width] 16-bit sums, in the memory of PATH_SUMS */
    uint4 *band_messages;      /* L from one band to the next; all ones between frames */
    uint32_t *exchange_flags;  /* 1: a warp has published its sums; zeros between frames */
    uint32_t *next_band;       /* number of bands taken; zero between frames */
    uint32_t *penalty_upwards; /* as PENALTY, for the step from the pixel below or right; in the memory of PATH_SUMS */
    uint32_t *words[2];        /* [height][width] feature words of both views; in the memory of PATH_SUMS */

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

/* Each launches its kernels on the stream of the backend. */
int plx_sgm_cost(const struct plx_sgm_job *job);
int plx_sgm_penalty(const struct plx_sgm_job *job, bool both_sweeps);
int plx_sgm_lines(const struct plx_sgm_job *job, bool prefetch);
int plx_sgm_winner(const struct plx_sgm_job *job);
int plx_sgm_feature_words(const struct plx_sgm_job *job);
int plx_sgm_sweeps(const struct plx_sgm_job *job);

/* Writes the right view from right_argmin, and resets right_argmin and next_band for the next frame. */
int plx_sgm_right_view(const struct plx_sgm_job *job);

/* Sizes of the sweeps' own memory. */
size_t plx_sgm_band_message_bytes(const struct plx_limits *limits);
size_t plx_sgm_exchange_flag_bytes(const struct plx_limits *limits);

#endif
