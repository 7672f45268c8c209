/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, last part: the second step of the refinement by the images. Blocks add up by region in 32 bits, which hold
 * what their 1,024 pixels come to, before they add to memory.
 */
#include "gpu/obstacles/regions_step.cuh"

/* What the second step is of: a region's face, and the strips along the sides of its inner box. */
enum { IN_INTERIOR, IN_LEFT, IN_RIGHT, STEPS };

/* Whether the second step of a region asks WHICH for a pixel. */
static __device__ __forceinline__ bool asked(int median, struct plx_inner inner, int which, int x, int disparity)
{
    return which == IN_INTERIOR ? plx_depth_in_interior(median, disparity) <= 2 * PLX_INTERIOR_DEPTH
           : which == IN_LEFT   ? x < inner.x0 + PLX_REFINE_STRIP
                                : x > inner.x1 - PLX_REFINE_STRIP;
}

/* The first step of region I. */
static __device__ __forceinline__ int first_step(const plx_regions_args &a, uint32_t i)
{
    const sum64 *step = a.at.sums + STEP * PLX_MAX_OBSTACLES + i;
    const struct plx_refine_sums sums = {(int64_t)step[0], (int64_t)step[PLX_MAX_OBSTACLES],
                                         (int64_t)step[2 * PLX_MAX_OBSTACLES]};
    return plx_refine_step(&sums);
}

/* Adds what the second step asks of the thread's pixels to the block's sums. */
static __device__ __forceinline__ void add_refined(const plx_regions_args &a, spots own, uint4 (*sums)[PLX_MAX_OBSTACLES])
{
    by_region(own.region, [&](uint32_t one, uint32_t mine) {
        const int step = first_step(a, one);
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            own.shift[i] = mine >> i & 1 ? step : own.shift[i];
    });
    const samples s = take_samples(a, own);
    uint32_t shifted[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        shifted[i] = own.disparity[i] + own.shift[i];
    by_region(own.region, [&](uint32_t one, uint32_t mine) {
        const struct plx_inner inner = a.at.inner[one];
        const int median = a.at.median[one];
#pragma unroll 1
        for (int which = 0; which < STEPS; which++) {
            uint32_t here = 0;
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                here |= asked(median, inner, which, own.x[i], own.disparity[i]) ? mine & 1u << i : 0;
            if (__any_sync(~0u, here != 0))
                add_step(&sums[which][one].x, shifted, s, here);
        }
    });
}

/* Grid: as count_kernel, a block of 128 or 256 threads. Reads 13 bytes of each pixel that the images may refine, and sums of
 * regions from cache. */
static __global__ void __launch_bounds__(BLOCK) refine_kernel(plx_regions_args a)
{
    __shared__ uint4 sums[STEPS][PLX_MAX_OBSTACLES]; /* parts of a step each */
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, block = blockIdx.y * gridDim.x + blockIdx.x;
    const uint32_t threads = blockDim.y * BLOCK_X;

    for (uint32_t i = thread; i < STEPS * PLX_MAX_OBSTACLES; i += threads)
        sums[i / PLX_MAX_OBSTACLES][i % PLX_MAX_OBSTACLES] = make_uint4(0, 0, 0, 0);
    plx_follow();
    const uint32_t count = a.at.spot_count[block];
    if (count == 0)
        return;
    __syncthreads();
    for (uint32_t first = threadIdx.y * BLOCK_X; first < count; first += threads * ROWS)
        add_refined(a, spots_of(a.at.spots + block * SPOTS, count, first + threadIdx.x, threads), sums);
    __syncthreads();
#pragma unroll 1
    for (uint32_t i = thread; i < STEPS * PLX_MAX_OBSTACLES; i += threads) {
        const uint32_t which = i / PLX_MAX_OBSTACLES, region = i % PLX_MAX_OBSTACLES;
        give_step(&sums[which][region].x, a.at.sums + (INTERIOR + which * 3) * PLX_MAX_OBSTACLES + region);
    }
}

/* Where blocks wait for room they have half of the threads each: as a rule few of their pixels are looked at. */
int plx_gpu_regions_refine(struct plx_gpu *gpu, const plx_regions_args *args)
{
    const dim3 grid = plx_regions_grid(args);
    const bool many = grid.x * grid.y > 4 * (unsigned)gpu->multiprocessors;

    return PLX_LAUNCH_NEXT(gpu, refine_kernel, grid, dim3(BLOCK_X, many ? BLOCK_Y / 2 : BLOCK_Y), *args);
}
