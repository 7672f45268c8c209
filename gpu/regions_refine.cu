/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, last part: the second step of the refinement by the images. Blocks add up by region in 32 bits, which hold
 * what their 1,024 pixels come to, before they add to memory.
 */
#include "gpu/regions_step.cuh"

#define THREADS (BLOCK / 2)

/* What the second step is of: a region's face, and the strips along the sides of its inner box. */
enum { IN_FACE, IN_LEFT, IN_RIGHT, STEPS };

/* Whether the second step of a region asks WHICH for a pixel. */
static __device__ __forceinline__ bool asked(const struct plx_known &region, int which, int x, int disparity)
{
    return which == IN_FACE   ? (uint32_t)(disparity - region.median + PLX_FACE_DEPTH) <= 2 * PLX_FACE_DEPTH
           : which == IN_LEFT ? x < region.inner_x0 + PLX_REFINE_STRIP
                              : x > region.inner_x1 - PLX_REFINE_STRIP;
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
        const struct plx_known region = a.at.known[one];
#pragma unroll 1
        for (int which = 0; which < STEPS; which++) {
            uint32_t here = 0;
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                here |= asked(region, which, own.x[i], own.disparity[i]) ? mine & 1u << i : 0;
            if (__any_sync(~0u, here != 0))
                add_step(&sums[which][one].x, shifted, s, here);
        }
    });
}

/* Grid: a block for each of count_kernel's, but of half the threads: most have few of these pixels. Reads 13 bytes of each
 * pixel that the images may refine, and sums of regions from cache. */
static __global__ void __launch_bounds__(THREADS, 8) refine_kernel(plx_regions_args a)
{
    __shared__ uint4 sums[STEPS][PLX_MAX_OBSTACLES]; /* parts of a step each */
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, block = blockIdx.y * gridDim.x + blockIdx.x;

    for (uint32_t i = thread; i < STEPS * PLX_MAX_OBSTACLES; i += THREADS)
        (&sums[0][0])[i] = make_uint4(0, 0, 0, 0);
    plx_follow();
    const uint32_t count = a.at.spot_count[block];
    if (count == 0)
        return;
    __syncthreads();
    for (uint32_t first = threadIdx.y * BLOCK_X; first < count; first += THREADS * ROWS)
        add_refined(a, spots_of(a.at.spots + block * SPOTS, count, first + threadIdx.x, THREADS), sums);
    __syncthreads();
#pragma unroll 1
    for (uint32_t i = thread; i < STEPS * PLX_MAX_OBSTACLES; i += THREADS)
        give_step(&(&sums[0][0])[i].x,
                  a.at.sums + (FACE + i / PLX_MAX_OBSTACLES * 3) * PLX_MAX_OBSTACLES + i % PLX_MAX_OBSTACLES);
}

int plx_gpu_regions_refine(struct plx_gpu *gpu, const plx_regions_args *args)
{
    return PLX_LAUNCH_NEXT(gpu, refine_kernel, plx_regions_grid(args), dim3(BLOCK_X, THREADS / BLOCK_X), *args);
}
