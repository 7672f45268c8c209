/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of the refinement by the images: of a thread, together of a warp, then of a block. */
#ifndef PLX_GPU_REGIONS_STEP_CUH
#define PLX_GPU_REGIONS_STEP_CUH

#include "gpu/regions.cuh"
#include "gpu/warp.cuh"

/* Sums of a step in 32 bits, in which ggd is two: in a warp, which has 128 pixels, by the LOW_BITS lowest bits of d + shift +
 * PLX_REFINE_STEP and by the others; in a block by the HALF_BITS lowest bits of the warps' sums and by the others. */
enum step_part { GG, GE, LOW, HIGH, STEP_PARTS };

#define LOW_BITS 9
#define HALF_BITS 24

/* A thread's pixels: where they lie in the right image (below 0: no sample there), and what the images say about them. */
struct samples {
    int at[ROWS], gg[ROWS], ge[ROWS];
};

/* Of the pixels with a place in the right image, all reads at once. */
static __device__ __forceinline__ void take_samples(const plx_regions_args &a, int x, int top, const uint32_t (&shifted)[ROWS],
                                                    samples &s)
{
    const uint8_t *left_row = a.left.row(top) + x, *right_row = a.right.row(top);
    int left[ROWS][3], right[ROWS][2];

#pragma unroll
    for (int i = 0; i < ROWS; i++, left_row += a.left.pitch, right_row += a.right.pitch) {
        const uint8_t *across = right_row + (s.at[i] >> 4);
#pragma unroll
        for (int k = 0; k < 3; k++)
            left[i][k] = s.at[i] >= 0 ? left_row[k - 1] : 0;
#pragma unroll
        for (int k = 0; k < 2; k++)
            right[i][k] = s.at[i] >= 0 ? across[k] : 0;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        struct plx_refine_sums sums = {0, 0, 0};
        plx_refine_pixel(&sums, left[i], right[i], s.at[i], shifted[i]);
        s.gg[i] = (int)sums.gg;
        s.ge[i] = (int)sums.ge;
    }
}

static __device__ __forceinline__ void add_step(uint32_t *sums, const samples &s, int i, int shifted)
{
    const uint32_t gg = s.gg[i], by = shifted + PLX_REFINE_STEP;
    sums[GG] += gg;
    sums[GE] += s.ge[i];
    sums[LOW] += gg * (by & ((1u << LOW_BITS) - 1));
    sums[HIGH] += gg * (by >> LOW_BITS);
}

/* Adds SUMS, which all lanes have, to the block's. */
template <int N> static __device__ __forceinline__ void give_block(uint32_t *block, const uint32_t (&sums)[N])
{
    uint32_t mine = 0;

#pragma unroll
    for (int k = 0; k < N; k++)
        mine = threadIdx.x == k ? sums[k] : mine;
    if (mine != 0)
        atomicAdd(&block[threadIdx.x], mine);
}

/* Adds SUMS of all lanes to the block's. */
static __device__ __forceinline__ void add_warp(uint32_t *block, uint32_t (&sums)[STEP])
{
#pragma unroll
    for (int k = 0; k < STEP; k++)
        sums[k] = plx_warp_sum(sums[k]);
    give_block(block, sums);
}

/* The same of a step. */
static __device__ __forceinline__ void add_warp_step(uint32_t *block, uint32_t (&sums)[STEP_PARTS])
{
    const sum64 by = plx_warp_sum(sums[LOW]) + ((sum64)plx_warp_sum(sums[HIGH]) << LOW_BITS);
    const uint32_t parts[STEP_PARTS] = {plx_warp_sum(sums[GG]), plx_warp_sum(sums[GE]), (uint32_t)by & ((1u << HALF_BITS) - 1),
                                        (uint32_t)(by >> HALF_BITS)};
    give_block(block, parts);
}

/* Adds a step, from its parts in a block, to a region's sums. */
static __device__ __forceinline__ void give_step(const uint32_t *parts, sum64 *sums)
{
    if (parts[GG] == 0)
        return;
    const sum64 by = parts[LOW] + ((sum64)parts[HIGH] << HALF_BITS);
    atomicAdd(&sums[0], (sum64)parts[GG]);
    atomicAdd(&sums[PLX_MAX_OBSTACLES], (sum64)(int32_t)parts[GE]);
    atomicAdd(&sums[2 * PLX_MAX_OBSTACLES], by - (sum64)PLX_REFINE_STEP * parts[GG]);
}

#endif
