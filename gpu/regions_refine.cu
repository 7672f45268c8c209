/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, third part: the face and the first step of the refinement by the images, then the second step. Blocks add up
 * by region in 32 bits, which hold what their 1,024 pixels come to, before they add to memory.
 */
#include "gpu/regions.cuh"
#include "gpu/warp.cuh"

/* Sums of a step in 32 bits, in which ggd is two: in a warp, which has 128 pixels, by the LOW_BITS lowest bits of d + shift +
 * PLX_REFINE_STEP and by the others; in a block by the HALF_BITS lowest bits of the warps' sums and by the others. */
enum step_part { GG, GE, LOW, HIGH, STEP_PARTS };

#define LOW_BITS 9
#define HALF_BITS 24
#define FACE_PARTS (STEP + STEP_PARTS)
#define STEPS 3 /* of a region: face, left, right */
#define REFINED_PARTS (STEPS * STEP_PARTS)
#define HALO (2 * PLX_REFINE_MARGIN) /* columns beside a warp's */

/* A thread's pixels: where they lie in the right image (below 0: no sample there), and what the images say about them. */
struct samples {
    int at[ROWS], gg[ROWS], ge[ROWS];
};

/* Labels beside the warp's: of column x - 3, x - 2, x - 1 in the first lanes, then of those behind it; 0 in others. */
static __device__ __forceinline__ uint32_t label_beside(const plx_regions_args &a, int y)
{
    const int lane = threadIdx.x, left = blockIdx.x * BLOCK_X - PLX_REFINE_MARGIN;
    return lane < HALO ? label_at(a, left + lane + (lane < PLX_REFINE_MARGIN ? 0 : BLOCK_X), y) : 0;
}

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

/* Of the pixels with a place in the right image, all reads at once. */
static __device__ __forceinline__ void take_samples(const plx_regions_args &a, int x, int top, const int (&shifted)[ROWS],
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
#pragma unroll
    for (int k = 0; k < N; k++)
        if (threadIdx.x == k && sums[k] != 0)
            atomicAdd(&block[k], sums[k]);
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

/* The sums of a step from their parts in a block. */
static __device__ __forceinline__ void give_step(const uint32_t *parts, sum64 *ret_sums)
{
    if (parts[GG] == 0)
        return;
    const sum64 by = parts[LOW] + ((sum64)parts[HIGH] << HALF_BITS);
    atomicAdd(&ret_sums[0], (sum64)parts[GG]);
    atomicAdd(&ret_sums[1], (sum64)(int32_t)parts[GE]);
    atomicAdd(&ret_sums[2], by - (sum64)PLX_REFINE_STEP * parts[GG]);
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

/* Grid: as count_kernel. The face, and the sums of its first step. Reads 6 bytes a pixel, 2 to 5 more where there are samples.
 */
static __global__ void __launch_bounds__(BLOCK) face_kernel(plx_regions_args a)
{
    __shared__ uint32_t shared[PLX_MAX_OBSTACLES * FACE_PARTS];
    __shared__ int median[PLX_MAX_OBSTACLES];
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, count = *a.at.count;
    const plx_column pixel(a, x, top);
    uint32_t region[ROWS], beside[ROWS];
    samples s;

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        beside[i] = label_beside(a, top + i);
    if (thread < count)
        median[thread] = a.at.known[thread].median;
    clear(shared, count * FACE_PARTS);
    __syncthreads();
    bool any = false;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t own = pixel.label[i] - 1;
        region[i] = own < count && in_face(median[own], pixel.disparity[i]) ? own : NO_REGION;
        any = any || region[i] != NO_REGION;
    }
    if (__any_sync(~0u, any)) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const bool within = within_run(pixel.label[i], beside[i]) && region[i] != NO_REGION;
            s.at[i] = within ? plx_refine_place(a.labels.width, x, pixel.disparity[i], 0, a.min_disparity) : -1;
        }
        take_samples(a, x, top, pixel.disparity, s);
        by_region(region, [&](uint32_t one, uint32_t mine) {
            uint32_t face[STEP] = {0}, step[STEP_PARTS] = {0};
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                if (mine >> i & 1) {
                    face[AREA]++;
                    face[DISPARITY] += pixel.disparity[i];
                    face[X] += x;
                    face[Y] += top + i;
                    add_step(step, s, i, pixel.disparity[i]);
                }
            }
            add_warp(shared + one * FACE_PARTS, face);
            add_warp_step(shared + one * FACE_PARTS + STEP, step);
        });
    }
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

/* Grid: as count_kernel. The sums of the second step: of the face and of the strips on both sides. Reads 6 bytes a pixel, 2 to
 * 5 more where there are samples. */
static __global__ void __launch_bounds__(BLOCK) refine_kernel(plx_regions_args a)
{
    __shared__ uint32_t shared[PLX_MAX_OBSTACLES * REFINED_PARTS];
    __shared__ wanted regions[PLX_MAX_OBSTACLES];
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, count = *a.at.count;
    const plx_column pixel(a, x, top);
    uint32_t region[ROWS], beside[ROWS];
    int shifted[ROWS];
    samples s;

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        beside[i] = label_beside(a, top + i);
    if (thread < count)
        regions[thread] = wanted_of(a, thread);
    clear(shared, count * REFINED_PARTS);
    __syncthreads();
    bool any = false;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const bool within = within_run(pixel.label[i], beside[i]) && pixel.label[i] - 1 < count;
        region[i] = within ? pixel.label[i] - 1 : NO_REGION;
        any = any || within;
    }
    if (__any_sync(~0u, any)) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int shift = region[i] != NO_REGION ? regions[region[i]].shift : 0;
            const int at = plx_refine_place(a.labels.width, x, pixel.disparity[i], shift, a.min_disparity);
            shifted[i] = pixel.disparity[i] + shift;
            s.at[i] = region[i] != NO_REGION ? at : -1;
        }
        take_samples(a, x, top, shifted, s);
        by_region(region, [&](uint32_t one, uint32_t mine) {
            const wanted of = regions[one];
            for (int which = 0; which < STEPS; which++) {
                uint32_t step[STEP_PARTS] = {0}, asked = 0;
#pragma unroll
                for (int i = 0; i < ROWS; i++)
                    asked |= of.asks(which, x, pixel.disparity[i]) ? mine & 1u << i : 0;
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
