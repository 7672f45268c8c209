/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, second part: the regions' interiors, and two passes of the refinement by the images (Lucas and Kanade 1981;
 * core/region.h). Blocks add up by region in shared memory before they add to device memory.
 */
#include "gpu/obstacles/regions.cuh"

/* Bits of the thread's pixels that the refinement uses: the label is the same PLX_REFINE_MARGIN pixels to both sides. */
static __device__ __forceinline__ uint32_t find_usable(const plx_regions_args &a, const plx_region_pixels &p)
{
    uint32_t usable = 0;

    if (p.x < PLX_REFINE_MARGIN || p.x + PLX_REFINE_MARGIN >= a.labels.width)
        return 0;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        bool same = p.region[i] != NO_REGION;
        if (!same)
            continue;
        const uint32_t *const label = a.labels.row(p.top + i) + p.x;
#pragma unroll
        for (int k = 1; k <= PLX_REFINE_MARGIN; k++)
            same &= (label[-k] == p.label[i]) & (label[k] == p.label[i]);
        usable |= same ? 1u << i : 0;
    }
    return usable;
}

/* The shift by the first pass, 1/16 px. */
static __device__ __forceinline__ int first_shift(const plx_regions_args &a, uint32_t region)
{
    const sum64 *const sum = a.at.sums + FIRST_PASS * PLX_MAX_OBSTACLES + region;
    const struct plx_refine_sums sums = {(int64_t)sum[0], (int64_t)sum[PLX_MAX_OBSTACLES], (int64_t)sum[2 * PLX_MAX_OBSTACLES]};
    return plx_refine_step(&sums);
}

/* Adds gg, ge and ggd of the warp to the block's SUMS of a region; nothing where the left image has no gradient. All lanes call
 * it. */
static __device__ __forceinline__ void add_part(const struct plx_refine_sums &own, uint32_t region,
                                                sum64 (*sums)[PLX_MAX_OBSTACLES])
{
    if (!__any_sync(PLX_ALL_LANES, own.gg != 0))
        return;
    const sum64 gg = plx_warp_sum64(own.gg), ge = plx_warp_sum64(own.ge), ggd = plx_warp_sum64(own.ggd);
    if (threadIdx.x < 3)
        atomicAdd(&sums[threadIdx.x][region], threadIdx.x == 0 ? gg : threadIdx.x == 1 ? ge : ggd);
}

/* Adds the thread's pixels INTERIOR, a bit each, of the warp to the block's SUMS of a region. All lanes call it. */
static __device__ __forceinline__ void add_interior(const plx_region_pixels &p, uint32_t interior, uint32_t region,
                                                    sum64 (*sums)[PLX_MAX_OBSTACLES])
{
    uint32_t disparity = 0, y = 0;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        disparity += interior >> i & 1 ? p.disparity[i] : 0;
        y += interior >> i & 1 ? p.top + i : 0;
    }
    const uint32_t sum[FIRST_PASS] = {plx_warp_sum(__popc(interior)), plx_warp_sum(disparity),
                                      plx_warp_sum(__popc(interior) * p.x), plx_warp_sum(y)};
#pragma unroll
    for (int k = 0; k < FIRST_PASS; k++)
        if (threadIdx.x == 0)
            atomicAdd(&sums[k][region], sum[k]);
}

/* Adds the warp's pixels to the block's SUMS: of the first pass from AREA on, of the second from SECOND_PASS on. */
template <bool SECOND>
static __device__ __forceinline__ void add_pixels(const plx_regions_args &a, const plx_region_pixels &p,
                                                  sum64 (*sums)[PLX_MAX_OBSTACLES])
{
    const uint32_t usable = find_usable(a, p);

    plx_for_each_region(p.region, [&](uint32_t one, uint32_t own) {
        const struct plx_region &region = a.at.found[one];
        const int shift = SECOND ? first_shift(a, one) : 0;
        struct plx_refine_sums part[PARTS] = {};
        uint32_t interior = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const bool is_interior = abs((int)p.disparity[i] - (int)region.median) <= PLX_INTERIOR_DEPTH;
            interior |= is_interior ? own & 1u << i : 0;
            if (!(own & usable & 1u << i) || !(SECOND || is_interior))
                continue;
            struct plx_refine_sums pixel = {};
            plx_refine_add(&pixel, a.left.row(p.top + i), a.right.row(p.top + i), a.labels.width, p.x, p.disparity[i], shift,
                           a.min_disparity);
            const bool in_part[PARTS] = {is_interior, SECOND && p.x < region.inner_x0 + PLX_REFINE_STRIP,
                                         SECOND && p.x > region.inner_x1 - PLX_REFINE_STRIP};
#pragma unroll
            for (int k = 0; k < PARTS; k++) {
                part[k].gg += in_part[k] ? pixel.gg : 0;
                part[k].ge += in_part[k] ? pixel.ge : 0;
                part[k].ggd += in_part[k] ? pixel.ggd : 0;
            }
        }
        if (!SECOND && __any_sync(PLX_ALL_LANES, interior != 0))
            add_interior(p, interior, one, sums);
#pragma unroll
        for (int k = 0; k < (SECOND ? PARTS : 1); k++)
            add_part(part[k], one, sums + (SECOND ? 3 * k : FIRST_PASS));
    });
}

/* Grid: a block 32 x 32 pixels, a thread 4 pixels of a column. Reads 6 bytes a pixel, and around those of regions 6 labels and
 * 5 bytes of the images from cache. */
template <bool SECOND> static __global__ void __launch_bounds__(BLOCK) refine_kernel(plx_regions_args a)
{
    constexpr int from = SECOND ? SECOND_PASS : 0, count = SECOND ? SUMS - SECOND_PASS : SECOND_PASS;
    __shared__ sum64 sums[count][PLX_MAX_OBSTACLES];
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x;

#pragma unroll
    for (int k = 0; k < count; k++)
        sums[k][thread] = 0;
    plx_grid_wait_and_trigger();
    const plx_region_pixels p(a);
    const bool any = __any_sync(PLX_ALL_LANES, p.have_region());
    if (!__syncthreads_or(any))
        return;
    if (any)
        add_pixels<SECOND>(a, p, sums);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < count; k++)
        if (sums[k][thread] != 0)
            atomicAdd(&a.at.sums[(from + k) * PLX_MAX_OBSTACLES + thread], sums[k][thread]);
}

int plx_gpu_regions_refine(struct plx_gpu *gpu, const plx_regions_args *args)
{
    const dim3 grid = plx_regions_grid(args), block(BLOCK_X, BLOCK_Y);
    const int result = PLX_LAUNCH_DEPENDENT(gpu, refine_kernel<false>, grid, block, *args);

    return result < 0 ? result : PLX_LAUNCH_DEPENDENT(gpu, refine_kernel<true>, grid, block, *args);
}
