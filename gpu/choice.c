/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/choice.h"

/* The best of about a hundred that were measured, each somewhere; and what moves the least. docs/performance.md */
static const struct plx_sgm_choice choices[PLX_GPU_CHOICES] = {
    {"together-4", PLX_LINES, false, 4, 0},
    {"together-16-of-4", PLX_LINES, false, 16, 4},
    {"together-16-of-5", PLX_LINES, false, 16, 5},
    {"apart-4-of-16", PLX_LINES, true, 4, 16},
    {"apart-8-of-10", PLX_LINES, true, 8, 10},
    {"sweeps", PLX_SWEEPS, false, 0, 0},
    {"bands", PLX_BANDS, false, 0, 0},
};
enum { TOGETHER_4, TOGETHER_16_OF_4, SWEEPS = 5, BANDS };

static bool can(const struct plx_gpu *gpu, int choice, const struct plx_match *match)
{
    switch (choices[choice].schedule) {
    case PLX_SWEEPS:
        return plx_sgm_can_sweep(match);
    case PLX_BANDS:
        return plx_sgm_can_band(gpu, match);
    default:
        return true;
    }
}

/* Where a volume is so much larger than the cache that the memory sets the time, bands move less. They pay later where P2
 * varies, which they look up and lines bring along, and with 256 disparities, of which their strips are narrow. */
static bool bands_suit(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match)
{
    const double volume = (double)width * height * match->disparities;
    const double caches = (plx_p2_varies(match) ? 2.5 : 1.8) * (match->disparities > 128 ? 3 : 1);

    return plx_sgm_can_band(gpu, match) && volume > caches * gpu->cache_bytes;
}

/*
 * A GPU within the processor has the processor's memory, which is slow, and little cache: sweeps, which move the least. Else,
 * where more lines wait than fit, there is always another warp to go on with: as many as fit, with the fewest instructions.
 * Else the longest lines and the memory set the time: bands, which move less, or few warps that fetch far ahead and keep what
 * they can.
 */
static int suits(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match)
{
    if (gpu->integrated && plx_sgm_can_sweep(match))
        return SWEEPS;
    if (plx_lines_load(width, height, match).warps > 1.25 * gpu->lines_resident)
        return TOGETHER_4;
    return bands_suit(gpu, width, height, match) ? BANDS : TOGETHER_16_OF_4;
}

static int choice_of(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match)
{
    return gpu->choice < 0 || !can(gpu, gpu->choice, match) ? suits(gpu, width, height, match) : gpu->choice;
}

const struct plx_sgm_choice *plx_gpu_sgm_choice(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match)
{
    return &choices[choice_of(gpu, width, height, match)];
}

const char *plx_gpu_choice_name(int choice)
{
    return choice >= 0 && choice < PLX_GPU_CHOICES ? choices[choice].name : NULL;
}

int plx_gpu_choose(struct plx_stages *stages, int choice)
{
    if (choice >= PLX_GPU_CHOICES)
        return PLX_ERR_ARG;
    plx_gpu(stages)->choice = choice;
    plx_gpu_forget(stages); /* recordings hold the one before */
    return 0;
}

void plx_gpu_plan(const struct plx_stages *stages, int width, int height, const struct plx_match *match,
                  struct plx_gpu_plan *ret_plan)
{
    const struct plx_gpu *gpu = (const struct plx_gpu *)stages;
    const struct plx_lines_load load = plx_lines_load(width, height, match);
    *ret_plan = (struct plx_gpu_plan){.choice = choice_of(gpu, width, height, match),
                                      .warps = load.warps,
                                      .resident = gpu->lines_resident,
                                      .waste = load.waste};
}
