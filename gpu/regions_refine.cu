/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, third part: the face and the first step of the refinement by the images, then the second step. Blocks add up
 * by region in 32 bits, which hold what their 1,024 pixels come to, before they add to memory.
 */
#include "gpu/regions_step.cuh"

#define FACE_PARTS (STEP + STEP_PARTS)
#define STEPS 3 /* of a region: face, left, right */
#define REFINED_PARTS (STEPS * STEP_PARTS)
#define BESIDE (2 * (PLX_REFINE_MARGIN + 1)) /* lanes that know labels around the warp */

/* A thread's pixels, from (x, top) down. Only where the warp has any in a region is there more than that. */
struct pixels {
    const int x, top, rows;
    bool any;
    uint32_t label[ROWS], region[ROWS], disparity[ROWS];

    __device__ __forceinline__ explicit pixels(const plx_regions_args &a)
        : x(blockIdx.x * BLOCK_X + threadIdx.x), top((blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS), rows(rows_inside(a, x, top))
    {
        read_column(a.labels, x, top, rows, label);
        any = find_regions(label, PLX_MAX_OBSTACLES, region);
        if (any)
            read_column(a.disparity, x, top, rows, disparity);
    }
};

/* Labels around the warp: the first lanes have those from three columns before it to its first one, the next ones those from
 * its last one to three columns behind it. */
static __device__ __forceinline__ void read_beside(const plx_regions_args &a, const pixels &p, uint32_t (&ret_label)[ROWS])
{
    const int lane = threadIdx.x, skipped = lane < BESIDE / 2 ? 0 : BLOCK_X - 1 + PLX_REFINE_MARGIN - BESIDE / 2;
    const int x = p.x - PLX_REFINE_MARGIN + skipped;
    read_column(a.labels, x, p.top, lane < BESIDE ? rows_inside(a, x, p.top) : 0, ret_label);
}

/* Bits of the pixels, which have LABEL, that the images may refine: in a REGION, and not near the ends of a run of that label.
 * All lanes call it. */
static __device__ __forceinline__ uint32_t within_runs(uint32_t label, uint32_t region, uint32_t beside)
{
    const uint32_t own = __ballot_sync(~0u, label == __shfl_up_sync(~0u, label, 1)); /* like the pixel to the left */
    const uint32_t around = __ballot_sync(~0u, beside == __shfl_up_sync(~0u, beside, 1));
    const uint32_t before = around << (32 - PLX_REFINE_MARGIN), row = (own & ~1u) | (around >> PLX_REFINE_MARGIN & 1);
    const uint32_t behind = around >> (BESIDE / 2 + 1);
    uint32_t within = __ballot_sync(~0u, region != NO_REGION) & row;

#pragma unroll
    for (int k = 1; k < PLX_REFINE_MARGIN; k++)
        within &= __funnelshift_l(before, row, k);
#pragma unroll
    for (int k = 1; k <= PLX_REFINE_MARGIN; k++)
        within &= __funnelshift_r(row, behind, k);
    return within;
}

/* The warp's own of those bits. */
static __device__ __forceinline__ uint4 *within_of(const plx_regions_args &a)
{
    return &a.at.within[(blockIdx.y * gridDim.x + blockIdx.x) * BLOCK_Y + threadIdx.y];
}

/* A block's sums of each region. */
template <int PARTS> struct __align__(16) block_sums
{
    static_assert(PARTS % 4 == 0, "cleared by four");
    uint32_t of[PLX_MAX_OBSTACLES * PARTS];

    __device__ __forceinline__ void clear(uint32_t thread)
    {
#pragma unroll
        for (uint32_t i = 0; i < PARTS / 4; i++) /* by four: as many threads as regions */
            ((uint4 *)of)[i * BLOCK + thread] = make_uint4(0, 0, 0, 0);
    }
};

static __device__ __forceinline__ bool in_face(int median, int disparity)
{
    return (uint32_t)(disparity - median + PLX_FACE_DEPTH) <= 2 * PLX_FACE_DEPTH;
}

/* What the images say about the pixels at their own disparities. Leaves in RET_WITHIN which ones they may refine. */
static __device__ __forceinline__ void take_face_samples(const plx_regions_args &a, const pixels &p, uint4 *ret_within,
                                                         samples &s)
{
    uint32_t beside[ROWS], within[ROWS];

    read_beside(a, p, beside);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        within[i] = within_runs(p.label[i], p.region[i], beside[i]);
        const int at = plx_refine_place(a.labels.width, p.x, p.disparity[i], 0, a.min_disparity);
        s.at[i] = within[i] >> threadIdx.x & 1 ? at : -1;
        s.gg[i] = s.ge[i] = 0;
    }
    if (threadIdx.x == 0)
        *ret_within = make_uint4(within[0], within[1], within[2], within[3]);
    if ((within[0] | within[1] | within[2] | within[3]) != 0)
        take_samples(a, p.x, p.top, p.disparity, s);
}

/* Adds the pixels that are in the faces of their regions to the block's sums. */
static __device__ __forceinline__ void add_face(const pixels &p, const int *median, const samples &s, uint32_t *shared)
{
    uint32_t region[ROWS];

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const bool in = p.region[i] != NO_REGION && in_face(median[p.region[i]], p.disparity[i]);
        region[i] = in ? p.region[i] : NO_REGION;
    }
    by_region(region, [&](uint32_t one, uint32_t mine) {
        uint32_t face[STEP] = {0}, step[STEP_PARTS] = {0};
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (mine >> i & 1) {
                face[AREA]++;
                face[DISPARITY] += p.disparity[i];
                face[X] += p.x;
                face[Y] += p.top + i;
                add_step(step, s, i, p.disparity[i]);
            }
        }
        add_warp(shared + one * FACE_PARTS, face);
        add_warp_step(shared + one * FACE_PARTS + STEP, step);
    });
}

/* Grid: as count_kernel. The face, and the sums of its first step; all but the medians is older than the two kernels before.
 * Reads 4 bytes a pixel, 4 to 7 more where there are regions; writes a bit a pixel. */
static __global__ void __launch_bounds__(BLOCK) face_kernel(plx_regions_args a)
{
    __shared__ block_sums<FACE_PARTS> shared;
    __shared__ int median[PLX_MAX_OBSTACLES];
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x;

    plx_lead(); /* before it waits: so the next one's first pixels are read when this one ends */
    const pixels p(a);
    uint4 *within = within_of(a);
    samples s;
    if (!p.any && threadIdx.x == 0)
        *within = make_uint4(0, 0, 0, 0);
    if (!__syncthreads_or(p.any)) {
        plx_follow();
        return;
    }
    shared.clear(thread);
    if (p.any)
        take_face_samples(a, p, within, s);
    plx_follow();
    median[thread] = a.at.known[thread].median;
    __syncthreads();
    if (p.any)
        add_face(p, median, s, shared.of);
    __syncthreads();
    const uint32_t *parts = shared.of + thread * FACE_PARTS;
    if (parts[AREA] > 0) {
        for (int k = 0; k < STEP; k++)
            atomicAdd(&a.at.sums[k * PLX_MAX_OBSTACLES + thread], (sum64)parts[k]);
        give_step(parts + STEP, &a.at.sums[STEP * PLX_MAX_OBSTACLES + thread]);
    }
}

/* What the second step asks of a region: its face, and strips along the inner box. */
struct wanted {
    int median, shift, left_end, right_begin;

    /* Whether it asks for a pixel for the face, the left or the right strip. */
    __device__ bool asks(int which, int x, int disparity) const
    {
        return which == 0 ? in_face(median, disparity) : which == 1 ? x < left_end : x > right_begin;
    }
};

/* Of region I. */
static __device__ __forceinline__ wanted wanted_of(const plx_regions_args &a, uint32_t i)
{
    const struct plx_known known = a.at.known[i];
    const sum64 *step = a.at.sums + STEP * PLX_MAX_OBSTACLES + i;
    const struct plx_refine_sums first = {(int64_t)step[0], (int64_t)step[PLX_MAX_OBSTACLES],
                                          (int64_t)step[2 * PLX_MAX_OBSTACLES]};
    return {known.median, plx_refine_step(&first), known.inner_x0 + PLX_REFINE_STRIP, known.inner_x1 - PLX_REFINE_STRIP};
}

/* Adds what the second step asks of pixels in a REGION to the block's sums. */
static __device__ __forceinline__ void add_refined(const plx_regions_args &a, int x, int top, const uint32_t (&region)[ROWS],
                                                   const uint32_t (&disparity)[ROWS], const wanted *regions, uint32_t *shared)
{
    uint32_t shifted[ROWS];
    samples s;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int shift = region[i] != NO_REGION ? regions[region[i]].shift : 0;
        const int at = plx_refine_place(a.labels.width, x, disparity[i], shift, a.min_disparity);
        shifted[i] = disparity[i] + shift;
        s.at[i] = region[i] != NO_REGION ? at : -1;
    }
    take_samples(a, x, top, shifted, s);
    by_region(region, [&](uint32_t one, uint32_t mine) {
        const wanted of = regions[one];
        for (int which = 0; which < STEPS; which++) {
            uint32_t step[STEP_PARTS] = {0}, asked = 0;
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                asked |= of.asks(which, x, disparity[i]) ? mine & 1u << i : 0;
            if (!__any_sync(~0u, asked != 0))
                continue;
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                if (asked >> i & 1)
                    add_step(step, s, i, shifted[i]);
            add_warp_step(shared + one * REFINED_PARTS + which * STEP_PARTS, step);
        }
    });
}

/* Grid: as count_kernel. The sums of the second step: of the face and of the strips on both sides. Labels and disparities are
 * older than the three kernels before. Reads 4 bytes and a bit a pixel, 2 more where there are regions, 5 more of those that
 * the images may refine. */
static __global__ void __launch_bounds__(BLOCK) refine_kernel(plx_regions_args a)
{
    __shared__ block_sums<REFINED_PARTS> shared;
    __shared__ wanted regions[PLX_MAX_OBSTACLES];
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x;
    const pixels p(a);
    uint32_t region[ROWS];

    if (!__syncthreads_or(p.any)) {
        plx_follow();
        return;
    }
    shared.clear(thread);
    plx_follow();
    regions[thread] = wanted_of(a, thread);
    const uint4 rows = *within_of(a);
    const uint32_t within[ROWS] = {rows.x, rows.y, rows.z, rows.w};
    const bool any = (rows.x | rows.y | rows.z | rows.w) != 0;
    if (!__syncthreads_or(any))
        return;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        region[i] = within[i] >> threadIdx.x & 1 ? p.region[i] : NO_REGION;
    if (any)
        add_refined(a, p.x, p.top, region, p.disparity, regions, shared.of);
    __syncthreads();
#pragma unroll 1
    for (uint32_t i = thread; i < PLX_MAX_OBSTACLES * STEPS; i += BLOCK)
        give_step(shared.of + i * STEP_PARTS, a.at.sums + (FACE + i % STEPS * 3) * PLX_MAX_OBSTACLES + i / STEPS);
}

int plx_gpu_regions_refine(struct plx_gpu *gpu, const plx_regions_args *args)
{
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_regions_grid(args);

    const int result = PLX_LAUNCH_NEXT(gpu, face_kernel, grid, block, *args);
    return result < 0 ? result : PLX_LAUNCH_NEXT(gpu, refine_kernel, grid, block, *args);
}
