/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, third part: the face and the first step of the refinement by the images, then the second step. Blocks add up
 * by region in 32 bits, which hold what their 1,024 pixels come to, before they add to memory.
 */
#include "gpu/regions_step.cuh"

#define FACE_PARTS (STEP + STEP_PARTS)
#define STEPS 3 /* of a region: face, left, right */
#define REFINED_PARTS (STEPS * STEP_PARTS)
#define HALO (2 * PLX_REFINE_MARGIN) /* columns beside a warp's */

/* A thread's pixels, from (x, top) down, and labels beside the warp's in each row: of the three columns before it in the first
 * lanes, then of those behind it; 0 in others. */
struct pixels {
    const int x, top;
    const plx_column own;
    uint32_t beside[ROWS];

    __device__ __forceinline__ explicit pixels(const plx_regions_args &a)
        : x(blockIdx.x * BLOCK_X + threadIdx.x), top((blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS), own(a, x, top)
    {
        const int lane = threadIdx.x, left = blockIdx.x * BLOCK_X - PLX_REFINE_MARGIN;
        const int at = left + lane + (lane < PLX_REFINE_MARGIN ? 0 : BLOCK_X);
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            beside[i] = lane < HALO ? label_at(a, at, top + i) : 0;
    }
};

/* True where the images may refine: not near the ends of a run of the LABEL. BESIDE: see above. All lanes call it. */
static __device__ __forceinline__ bool within_run(uint32_t label, uint32_t beside)
{
    const int lane = threadIdx.x;
    const uint32_t first = __shfl_sync(~0u, beside, PLX_REFINE_MARGIN - 1), last = __shfl_sync(~0u, label, BLOCK_X - 1);
    uint32_t left = __shfl_up_sync(~0u, label, 1), beside_left = __shfl_up_sync(~0u, beside, 1);

    left = lane == 0 ? first : left;
    beside_left = lane == PLX_REFINE_MARGIN ? last : beside_left;
    const uint64_t own = __ballot_sync(~0u, label == left); /* like the pixel to the left */
    const uint32_t other = __ballot_sync(~0u, beside == beside_left) & ((1u << HALO) - 2);
    const uint32_t before = other & ((1u << PLX_REFINE_MARGIN) - 1);
    const uint64_t row =
        (uint64_t)(other >> PLX_REFINE_MARGIN) << (PLX_REFINE_MARGIN + BLOCK_X) | own << PLX_REFINE_MARGIN | before;
    return (row >> (lane + 1) & ((1u << HALO) - 1)) == (1u << HALO) - 1;
}

/* Calls ADD(one, mine) for each of the regions that the warp's pixels have, MINE being those of the thread's pixels that are in
 * it. All lanes call it. */
template <class Add> static __device__ __forceinline__ void by_region(const uint32_t (&region)[ROWS], const Add &add)
{
    uint32_t open = 0, all; /* the thread's pixels that are still to be added */

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        open |= region[i] != NO_REGION ? 1u << i : 0;
    while ((all = __ballot_sync(~0u, open != 0)) != 0) {
        uint32_t next = NO_REGION, mine = 0;
#pragma unroll
        for (int i = ROWS - 1; i >= 0; i--)
            next = open >> i & 1 ? region[i] : next;
        const uint32_t one = __shfl_sync(~0u, next, __ffs(all) - 1);
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            mine |= region[i] == one ? 1u << i : 0;
        open &= ~mine;
        add(one, mine);
    }
}

static __device__ __forceinline__ void clear(uint32_t *shared, uint32_t count)
{
    for (uint32_t i = threadIdx.y * BLOCK_X + threadIdx.x; i < count; i += BLOCK)
        shared[i] = 0;
}

static __device__ __forceinline__ bool in_face(int median, int disparity)
{
    return abs(disparity - median) <= PLX_FACE_DEPTH;
}

/* Adds pixels to the block's sums of faces. */
static __device__ __forceinline__ void add_face(const plx_regions_args &a, const pixels &p, uint32_t count, const int *median,
                                                uint32_t *shared)
{
    uint32_t region[ROWS];
    bool any = false;
    samples s;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t own = p.own.label[i] - 1;
        region[i] = own < count && in_face(median[own], p.own.disparity[i]) ? own : NO_REGION;
        any = any || region[i] != NO_REGION;
    }
    if (!__any_sync(~0u, any))
        return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const bool within = within_run(p.own.label[i], p.beside[i]) && region[i] != NO_REGION;
        s.at[i] = within ? plx_refine_place(a.labels.width, p.x, p.own.disparity[i], 0, a.min_disparity) : -1;
    }
    take_samples(a, p.x, p.top, p.own.disparity, s);
    by_region(region, [&](uint32_t one, uint32_t mine) {
        uint32_t face[STEP] = {0}, step[STEP_PARTS] = {0};
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (mine >> i & 1) {
                face[AREA]++;
                face[DISPARITY] += p.own.disparity[i];
                face[X] += p.x;
                face[Y] += p.top + i;
                add_step(step, s, i, p.own.disparity[i]);
            }
        }
        add_warp(shared + one * FACE_PARTS, face);
        add_warp_step(shared + one * FACE_PARTS + STEP, step);
    });
}

/* Grid: as count_kernel. The face, and the sums of its first step. Reads 6 bytes a pixel, 2 to 5 more where there are samples.
 */
static __global__ void __launch_bounds__(BLOCK) face_kernel(plx_regions_args a)
{
    __shared__ uint32_t shared[PLX_MAX_OBSTACLES * FACE_PARTS];
    __shared__ int median[PLX_MAX_OBSTACLES];
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, count = *a.at.count;
    const pixels p(a);

    if (thread < count)
        median[thread] = a.at.known[thread].median;
    clear(shared, count * FACE_PARTS);
    __syncthreads();
    add_face(a, p, count, median, shared);
    __syncthreads();
    const uint32_t *parts = shared + thread * FACE_PARTS;
    if (thread < count && parts[AREA] > 0) {
        sum64 *face = a.at.tally[thread].face;
        for (int k = 0; k < STEP; k++)
            atomicAdd(&face[k], (sum64)parts[k]);
        give_step(parts + STEP, face + STEP);
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

static __device__ __forceinline__ wanted wanted_of(const plx_regions_args &a, uint32_t i)
{
    const struct plx_known known = a.at.known[i];
    const sum64 *step = a.at.tally[i].face + STEP;
    const struct plx_refine_sums first = {(int64_t)step[0], (int64_t)step[1], (int64_t)step[2]};
    return {known.median, plx_refine_step(&first), known.inner_x0 + PLX_REFINE_STRIP, known.inner_x1 - PLX_REFINE_STRIP};
}

/* Adds what the second step asks of pixels to the block's sums. */
static __device__ __forceinline__ void add_refined(const plx_regions_args &a, const pixels &p, uint32_t count,
                                                   const wanted *regions, uint32_t *shared)
{
    uint32_t region[ROWS];
    int shifted[ROWS];
    bool any = false;
    samples s;

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        any = any || p.own.label[i] - 1 < count;
    if (!__any_sync(~0u, any))
        return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const bool within = within_run(p.own.label[i], p.beside[i]) && p.own.label[i] - 1 < count;
        region[i] = within ? p.own.label[i] - 1 : NO_REGION;
        const int shift = region[i] != NO_REGION ? regions[region[i]].shift : 0;
        const int at = plx_refine_place(a.labels.width, p.x, p.own.disparity[i], shift, a.min_disparity);
        shifted[i] = p.own.disparity[i] + shift;
        s.at[i] = region[i] != NO_REGION ? at : -1;
    }
    take_samples(a, p.x, p.top, shifted, s);
    by_region(region, [&](uint32_t one, uint32_t mine) {
        const wanted of = regions[one];
        for (int which = 0; which < STEPS; which++) {
            uint32_t step[STEP_PARTS] = {0}, asked = 0;
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                asked |= of.asks(which, p.x, p.own.disparity[i]) ? mine & 1u << i : 0;
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

/* Grid: as count_kernel. The sums of the second step: of the face and of the strips on both sides. Reads 6 bytes a pixel, 2 to
 * 5 more where there are samples. */
static __global__ void __launch_bounds__(BLOCK) refine_kernel(plx_regions_args a)
{
    __shared__ uint32_t shared[PLX_MAX_OBSTACLES * REFINED_PARTS];
    __shared__ wanted regions[PLX_MAX_OBSTACLES];
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, count = *a.at.count;
    const pixels p(a);

    if (thread < count)
        regions[thread] = wanted_of(a, thread);
    clear(shared, count * REFINED_PARTS);
    __syncthreads();
    add_refined(a, p, count, regions, shared);
    __syncthreads();
    for (uint32_t i = thread; i < count * STEPS; i += BLOCK)
        give_step(shared + i * STEP_PARTS, a.at.tally[i / STEPS].refined + i % STEPS * 3);
}

int plx_gpu_regions_refine(struct plx_gpu *gpu, const plx_regions_args *args)
{
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_regions_grid(args);

    face_kernel<<<grid, block, 0, gpu->stream>>>(*args);
    const int result = PLX_LAUNCHED(gpu, face_kernel);
    if (result < 0)
        return result;
    refine_kernel<<<grid, block, 0, gpu->stream>>>(*args);
    return PLX_LAUNCHED(gpu, refine_kernel);
}
