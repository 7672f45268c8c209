/* SPDX-License-Identifier: Apache-2.0 */
/* How stage sgm, by far the largest part of a frame, is launched. Every schedule gives the same bits. */
#ifndef PLX_GPU_RUNTIME_SCHEDULE_H
#define PLX_GPU_RUNTIME_SCHEDULE_H

#include "gpu/gpu.h"
#include "gpu/internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the order of plx_gpu_schedule_name. */
enum plx_sgm_schedule {
    PLX_LINES_REGISTERS, /* as many warps as fit; the next pixels wait in registers: fewest instructions */
    PLX_LINES_PREFETCH,  /* few warps, 16 pixels prefetched; the middle of each line stays in shared memory: least latency */
    PLX_SWEEPS           /* least memory traffic */
};

/* What is forced, or what suits the picture and this GPU. */
enum plx_sgm_schedule plx_gpu_sgm_schedule(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match);

/* sgm/lines.cu: how many warps the lines of a picture are, and the share of their places that have no pixel. */
struct plx_lines_load {
    int warps;
    double waste;
};
struct plx_lines_load plx_lines_load(int width, int height, const struct plx_match *match);

/* sgm/lines.cu: warps of the kernel of PLX_LINES_REGISTERS that a multiprocessor holds. */
int plx_sgm_lines_occupancy(struct plx_gpu *gpu, int *ret_warps);

/* True if P2 depends on the picture. */
static inline bool plx_p2_varies(const struct plx_match *match)
{
    return match->p2_scale > 0 && match->p2_min < match->p2;
}

/* sgm/sweeps.cu: false where the features of a pixel do not fit one word, and for 4 paths. Then there are lines, whatever is
 * forced. */
bool plx_sgm_can_sweep(const struct plx_match *match);

#ifdef __cplusplus
}
#endif
#endif
