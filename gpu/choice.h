/* SPDX-License-Identifier: Apache-2.0 */
/* How stage sgm, by far the largest part of a frame, is launched. Every choice gives the same bits. */
#ifndef PLX_GPU_CHOICE_H
#define PLX_GPU_CHOICE_H

#include "gpu/gpu.h"
#include "gpu/internal.h"

#ifdef __cplusplus
extern "C" {
#endif

enum plx_sgm_schedule { PLX_LINES, PLX_SWEEPS, PLX_BANDS };

struct plx_sgm_choice {
    const char *name;
    enum plx_sgm_schedule schedule; /* the rest is of lines */
    bool apart;   /* rows, the fewest and longest lines, in haste in a launch of their own beside the others */
    int ahead;    /* pixels that lines, or those others, fetch ahead: 4, 8, or 16 and in haste */
    int resident; /* warps of a multiprocessor: the shared memory that they leave keeps the middle of lines; 0: as many as fit,
                     and nothing is kept */
};

/* What is forced, or what suits the picture and this GPU. */
const struct plx_sgm_choice *plx_gpu_sgm_choice(const struct plx_gpu *gpu, int width, int height,
                                                const struct plx_match *match);

/* sgm_lines.cu: how many warps the lines of a picture are, and the share of their places that have no pixel. */
struct plx_lines_load {
    int warps;
    double waste;
};
struct plx_lines_load plx_lines_load(int width, int height, const struct plx_match *match);

/* sgm_lines.cu: warps of the leanest kernel that a multiprocessor holds. */
int plx_sgm_lines_occupancy(struct plx_gpu *gpu, int *ret_warps);

/* True if P2 depends on the picture. */
static inline bool plx_p2_varies(const struct plx_match *match)
{
    return match->p2_scale > 0 && match->p2_min < match->p2;
}

/* sgm_bands.cu: false where there are no diagonals, or where a block of them does not fit a multiprocessor. */
bool plx_sgm_can_band(const struct plx_gpu *gpu, const struct plx_match *match);

/* sgm_bands.cu: whether it does. */
int plx_sgm_bands_fit(struct plx_gpu *gpu, bool *ret_fit);

/* sgm_sweeps.cu: false where the features of a pixel do not fit one word. Then there are lines, whatever is chosen. */
bool plx_sgm_can_sweep(const struct plx_match *match);

#ifdef __cplusplus
}
#endif
#endif
