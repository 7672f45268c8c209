/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels that the images may refine, and the sums of a step of that: of a thread, together of a warp, then of a block. */
#ifndef PLX_GPU_OBSTACLES_REGIONS_STEP_CUH
#define PLX_GPU_OBSTACLES_REGIONS_STEP_CUH

#include "gpu/device/warp.cuh"
#include "gpu/obstacles/regions.cuh"

/* Sums of a step in 32 bits, in which ggd is two: in a warp, which has 128 pixels, by the LOW_BITS lowest bits of d + shift +
 * PLX_REFINE_STEP and by the others; in a block by the HALF_BITS lowest bits of the warps' sums and by the others. */
enum step_part { GG, GE, LOW, HIGH, STEP_PARTS };

#define LOW_BITS 9
#define HALF_BITS 24

/* Pixels of a thread; those that are not to be looked at are in NO_REGION. SHIFT: of the disparity that is tried. */
struct spots {
    int x[ROWS], y[ROWS], shift[ROWS];
    uint32_t disparity[ROWS], region[ROWS];
};

/* A thread's of a LIST of COUNT: from FIRST on each APART. */
static __device__ __forceinline__ spots spots_of(const struct plx_region_sample *list, uint32_t count, uint32_t first,
                                                 uint32_t apart)
{
    spots own;

#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t at = first + i * apart;
        const struct plx_region_sample spot = at < count ? list[at] : plx_region_sample{0, NO_REGION << 16};
        own.x[i] = spot.place & 0xFFFF;
        own.y[i] = spot.place >> 16;
        own.shift[i] = 0;
        own.disparity[i] = spot.what & 0xFFFF;
        own.region[i] = spot.what >> 16;
    }
    return own;
}

/* What the images say about them; 0 where there is no sample. */
struct samples {
    int gg[ROWS], ge[ROWS];
};

/* All reads at once. */
static __device__ __forceinline__ samples take_samples(const plx_regions_args &a, const spots &own)
{
    int at[ROWS], left[ROWS][3], right[ROWS][2]; /* AT: place in the right image, below 0 if there is no sample */
    samples s;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int x = own.x[i], y = own.y[i];
        at[i] = plx_refine_place(a.labels.width, x, own.disparity[i], own.shift[i], a.min_disparity);
        at[i] = own.region[i] != NO_REGION ? at[i] : -1;
        const uint8_t *near = a.left.below(a.left.data + x, y), *across = a.right.below(a.right.data + (at[i] >> 4), y);
#pragma unroll
        for (int k = 0; k < 3; k++)
            left[i][k] = at[i] >= 0 ? near[k - 1] : 0;
#pragma unroll
        for (int k = 0; k < 2; k++)
            right[i][k] = at[i] >= 0 ? across[k] : 0;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        struct plx_refine_sums sums = {0, 0, 0};
        plx_refine_pixel(&sums, left[i], right[i], at[i], own.disparity[i] + own.shift[i]);
        s.gg[i] = (int)sums.gg;
        s.ge[i] = (int)sums.ge;
    }
    return s;
}

/* Adds the samples that are MINE, a bit each, at disparities SHIFTED, to the sums of a step in a BLOCK. All lanes call it. */
static __device__ __forceinline__ void add_step(uint32_t *block, const uint32_t (&shifted)[ROWS], const samples &s,
                                                uint32_t mine)
{
    uint32_t gg = 0, ge = 0, low = 0, high = 0;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t g = mine >> i & 1 ? s.gg[i] : 0, by = shifted[i] + PLX_REFINE_STEP;
        gg += g;
        ge += mine >> i & 1 ? s.ge[i] : 0;
        low += g * (by & ((1u << LOW_BITS) - 1));
        high += g * (by >> LOW_BITS);
    }
    gg = plx_warp_sum(gg);
    ge = plx_warp_sum(ge);
    const sum64 by = plx_warp_sum(low) + ((sum64)plx_warp_sum(high) << LOW_BITS);
    const uint32_t lane = threadIdx.x, below = (uint32_t)by & ((1u << HALF_BITS) - 1), above = (uint32_t)(by >> HALF_BITS);
    if (lane < STEP_PARTS)
        atomicAdd(&block[lane], lane == GG ? gg : lane == GE ? ge : lane == LOW ? below : above);
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
