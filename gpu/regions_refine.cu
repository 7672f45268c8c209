/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, second half: the face and the first step of the refinement by the images, then the second step. A thread sums
 * down its column while the region stays the same, a warp and then a block gather by region.
 */
#include "gpu/regions.cuh"

/* Adds the SUMS of those lanes of a warp that ASK for it to their regions' sums in shared memory; all lanes call it. */
template <int N> static __device__ void gather(sum64 (*shared)[N], bool ask, uint32_t region, int64_t (&sums)[N])
{
    for (uint32_t open = __ballot_sync(~0u, ask && region != NO_REGION); open != 0;) {
        const uint32_t one = __shfl_sync(~0u, region, __ffs(open) - 1);
        const bool mine = ask && region == one;
#pragma unroll
        for (int k = 0; k < N; k++) {
            int64_t sum = mine ? sums[k] : 0;
            for (int step = 16; step > 0; step /= 2)
                sum += __shfl_xor_sync(~0u, sum, step);
            if (threadIdx.x == 0 && sum != 0)
                atomicAdd(&shared[one][k], (sum64)sum);
        }
        open &= ~__ballot_sync(~0u, mine);
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        sums[k] = ask ? 0 : sums[k];
}

template <int N> static __device__ void clear(sum64 (*shared)[N], uint32_t count)
{
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < (int)count * N; i += BLOCK)
        shared[i / N][i % N] = 0;
}

/* True where the images may refine: not near the ends of a run of the label. */
static __device__ __forceinline__ bool within_run(const plx_regions_args &a, int x, int y, uint32_t label)
{
    bool within = true;
#pragma unroll
    for (int i = 1; i <= PLX_REFINE_MARGIN; i++)
        within = within && label_at(a, x - i, y) == label && label_at(a, x + i, y) == label;
    return within;
}

static __device__ __forceinline__ struct plx_refine_sums refine_at(const plx_regions_args &a, int x, int y, int disparity,
                                                                   int shift)
{
    struct plx_refine_sums sums = {0, 0, 0};
    plx_refine_add(&sums, a.left.row(y), a.right.row(y), a.labels.width, x, disparity, shift, a.min_disparity);
    return sums;
}

static __device__ __forceinline__ bool in_face(const struct plx_region *region, int disparity)
{
    return abs(disparity - (int)region->median) <= PLX_FACE_DEPTH;
}

/* Down the thread's column ADD(sums, region, y, disparity) adds to the sums of the pixel's region; those of the whole block end
 * up in RET_SUMS of the tallies. SHARED is clear. */
template <int N, class Add>
static __device__ __forceinline__ void sum_by_region(const plx_regions_args &a, const plx_column &pixel, int top,
                                                     uint32_t count, sum64 (*shared)[N], sum64 (plx_tally::*ret_sums)[N],
                                                     const Add &add)
{
    uint32_t region = NO_REGION;
    int64_t sums[N] = {0};

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t next = pixel.label[i] - 1;
        const bool in = next < count, leaves = in && region != NO_REGION && region != next;
        if (__any_sync(~0u, leaves))
            gather(shared, leaves, region, sums);
        region = in ? next : region;
        if (in)
            add(sums, region, top + i, pixel.disparity[i]);
    }
    gather(shared, true, region, sums);
    __syncthreads();
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < (int)count * N; i += BLOCK)
        if (shared[i / N][i % N] != 0)
            atomicAdd(&(a.at.tally[i / N].*ret_sums)[i % N], shared[i / N][i % N]);
}

/* Grid: as count_kernel. The face, and the sums of its first step. Reads 8 bytes a pixel of a region. */
static __global__ void __launch_bounds__(BLOCK, 4) face_kernel(plx_regions_args a)
{
    __shared__ sum64 shared[PLX_MAX_OBSTACLES][FACE_SUMS];
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const plx_column pixel(a, x, top);
    const uint32_t count = count_of(a);

    clear(shared, count);
    __syncthreads();
    sum_by_region(a, pixel, top, count, shared, &plx_tally::face, [&](int64_t *sums, uint32_t region, int y, int disparity) {
        if (!in_face(&a.at.finding[region].region, disparity))
            return;
        sums[AREA]++;
        sums[DISPARITY] += disparity;
        sums[X] += x;
        sums[Y] += y;
        if (within_run(a, x, y, region + 1)) {
            const struct plx_refine_sums more = refine_at(a, x, y, disparity, 0);
            sums[FACE_GG] += more.gg;
            sums[FACE_GE] += more.ge;
            sums[FACE_GGD] += more.ggd;
        }
    });
}

static __device__ __forceinline__ void add_if(bool condition, int64_t *sums, const struct plx_refine_sums &more)
{
    sums[0] += condition ? more.gg : 0;
    sums[1] += condition ? more.ge : 0;
    sums[2] += condition ? more.ggd : 0;
}

/* Grid: as count_kernel. The sums of the second step: of the face and of the strips on both sides. Reads 8 bytes a pixel of a
 * region. */
static __global__ void __launch_bounds__(BLOCK, 4) refine_kernel(plx_regions_args a)
{
    __shared__ sum64 shared[PLX_MAX_OBSTACLES][REFINED_SUMS];
    __shared__ int shift[PLX_MAX_OBSTACLES];
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const plx_column pixel(a, x, top);
    const uint32_t count = count_of(a);

    clear(shared, count);
    for (uint32_t i = threadIdx.y * BLOCK_X + threadIdx.x; i < count; i += BLOCK) {
        const sum64 *face = a.at.tally[i].face;
        const struct plx_refine_sums first = {(int64_t)face[FACE_GG], (int64_t)face[FACE_GE], (int64_t)face[FACE_GGD]};
        shift[i] = plx_refine_step(&first);
    }
    __syncthreads();
    sum_by_region(a, pixel, top, count, shared, &plx_tally::refined, [&](int64_t *sums, uint32_t region, int y, int disparity) {
        if (!within_run(a, x, y, region + 1))
            return;
        const struct plx_region *found = &a.at.finding[region].region;
        const struct plx_refine_sums more = refine_at(a, x, y, disparity, shift[region]);
        add_if(in_face(found, disparity), sums + FACE, more);
        add_if(x < found->inner_x0 + PLX_REFINE_STRIP, sums + LEFT, more);
        add_if(x > found->inner_x1 - PLX_REFINE_STRIP, sums + RIGHT, more);
    });
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
