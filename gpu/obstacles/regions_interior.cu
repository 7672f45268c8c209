/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, third part: the interior, a list of the pixels that the images may refine, and the first step of that; beside
 * it the regions' sides, which only the next step asks for. Blocks add up by region in 32 bits, which hold what their 1,024
 * pixels come to, before they add to memory.
 */
#include "gpu/obstacles/regions_sides.cuh"
#include "gpu/obstacles/regions_step.cuh"

#define BESIDE (2 * (PLX_REFINE_MARGIN + 1)) /* labels around a row of the warp: lanes of that row */
#define BLOCKS (PLX_ARCH == 900 ? 5 : 1)     /* of a multiprocessor */
#define HALF 16                              /* bits of a word that two sums share */

static_assert(BESIDE * ROWS == BLOCK_X, "a lane has one of the labels around the warp");

/* A thread's pixels, from (x, top) down. Only where the warp has any in a region is there more than that. */
struct pixels {
    const int x, top, rows;
    bool any;
    uint32_t label[ROWS], region[ROWS], disparity[ROWS];

    __device__ __forceinline__ explicit pixels(const plx_regions_args &a)
        : x(blockIdx.x * BLOCK_X + threadIdx.x), top((blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS), rows(rows_inside(a, x, top))
    {
        read_column(a.labels, x, top, rows, label);
        any = find_regions(label, region);
        if (any)
            read_column(a.disparity, x, top, rows, disparity);
    }
};

/* A label around the warp: of each row, from three columns before it to its first one, then from its last one to three columns
 * behind it. */
static __device__ __forceinline__ uint32_t read_beside(const plx_regions_args &a, const pixels &p)
{
    const int lane = threadIdx.x, row = lane / BESIDE, place = lane % BESIDE;
    const int skipped = place < BESIDE / 2 ? 0 : BLOCK_X - 1 + PLX_REFINE_MARGIN - BESIDE / 2;
    const int x = p.x - lane + place - PLX_REFINE_MARGIN + skipped, y = p.top + row;
    return x >= 0 && x < a.labels.width && y < a.labels.height ? *a.labels.below(a.labels.data + x, y) : 0;
}

/* One of four, by a lane's ROW. */
static __device__ __forceinline__ uint32_t of_row(const uint32_t (&word)[ROWS], uint32_t row)
{
    const uint32_t early = row == 0 ? word[0] : word[1], late = row == 2 ? word[2] : word[3];
    return row < 2 ? early : late;
}

/* Bits of the pixels that the images may refine: in a region, and not near the ends of a run of its label. A lane makes them of
 * a row, from bits that say where pixels are in a region and where labels are like the one before; all lanes get them. */
static __device__ __forceinline__ void within_runs(const plx_regions_args &a, const pixels &p, uint32_t (&ret_within)[ROWS])
{
    const uint32_t lane = threadIdx.x, row = lane % ROWS, beside = read_beside(a, p);
    uint32_t in[ROWS], like[ROWS];

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        in[i] = __ballot_sync(~0u, p.region[i] != NO_REGION);
        like[i] = __ballot_sync(~0u, p.label[i] == __shfl_up_sync(~0u, p.label[i], 1));
    }
    const uint32_t around = __ballot_sync(~0u, beside == __shfl_up_sync(~0u, beside, 1)) >> row * BESIDE;
    const uint32_t before = around << (32 - PLX_REFINE_MARGIN), behind = around % (1u << BESIDE) >> (BESIDE / 2 + 1);
    const uint32_t own = (of_row(like, row) & ~1u) | (around >> PLX_REFINE_MARGIN & 1);
    uint32_t within = of_row(in, row) & own;
#pragma unroll
    for (int k = 1; k < PLX_REFINE_MARGIN; k++)
        within &= __funnelshift_l(before, own, k);
#pragma unroll
    for (int k = 1; k <= PLX_REFINE_MARGIN; k++)
        within &= __funnelshift_r(own, behind, k);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        ret_within[i] = __shfl_sync(~0u, within, i);
}

/* What a block has in shared memory. */
struct shared {
    uint4 step[PLX_MAX_OBSTACLES];     /* parts of each region's */
    uint2 interior[PLX_MAX_OBSTACLES]; /* pixels, depth in the interior << HALF; columns, rows << HALF from the block's first on
                                        */
    int median[PLX_MAX_OBSTACLES + 1]; /* of each region; of no region nowhere */
    struct plx_region_sample spot[SPOTS]; /* those that the images may refine */
    uint32_t spots;                       /* how many */
};

/* By all threads, before a barrier. */
static __device__ __forceinline__ void start(shared &s, uint32_t thread)
{
    if (thread == 0) {
        s.spots = 0;
        s.median[NO_REGION] = PLX_NOWHERE;
    }
    s.step[thread] = make_uint4(0, 0, 0, 0);
    s.interior[thread] = make_uint2(0, 0);
}

/* Lists the warp's pixels that the images may refine. */
static __device__ __forceinline__ void list_spots(const plx_regions_args &a, const pixels &p, shared &s)
{
    const uint32_t lane = threadIdx.x;
    uint32_t within[ROWS], place = 0;

    within_runs(a, p, within);
    if ((within[0] | within[1] | within[2] | within[3]) == 0)
        return;
    if (lane == 0)
        place = atomicAdd(&s.spots, __popc(within[0]) + __popc(within[1]) + __popc(within[2]) + __popc(within[3]));
    place = __shfl_sync(~0u, place, 0);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (within[i] >> lane & 1)
            s.spot[place + __popc(within[i] & ((1u << lane) - 1))] = {(uint32_t)(p.x | (p.top + i) << 16),
                                                                      p.disparity[i] | p.region[i] << 16};
        place += __popc(within[i]);
    }
}

/* Writes the block's list of them to memory. */
static __device__ __forceinline__ void keep_spots(const plx_regions_args &a, const shared &s, uint32_t block, uint32_t thread)
{
    const uint32_t count = s.spots;

#pragma unroll 1
    for (uint32_t i = thread; i < count; i += BLOCK)
        a.at.spots[block * SPOTS + i] = s.spot[i];
    if (thread == 0)
        a.at.spot_count[block] = count;
}

/* Adds the pixels that are in the faces of their regions to the block's sums. */
static __device__ __forceinline__ void add_face(const pixels &p, shared &s)
{
    const uint32_t lane = threadIdx.x, first = lane | (threadIdx.y * ROWS) << HALF;
    uint32_t region[ROWS], depth[ROWS];

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        depth[i] = plx_depth_in_interior(s.median[p.region[i]], p.disparity[i]);
        region[i] = depth[i] <= 2 * PLX_INTERIOR_DEPTH ? p.region[i] : NO_REGION;
    }
    by_region(region, [&](uint32_t one, uint32_t mine) {
        uint32_t pixels = 0, places = 0;
#pragma unroll
        for (uint32_t i = 0; i < ROWS; i++) {
            pixels += mine >> i & 1 ? 1 + (depth[i] << HALF) : 0;
            places += mine >> i & 1 ? first + (i << HALF) : 0;
        }
        pixels = plx_warp_sum(pixels);
        places = plx_warp_sum(places);
        if (lane < 2)
            atomicAdd(lane == 0 ? &s.interior[one].x : &s.interior[one].y, lane == 0 ? pixels : places);
    });
}

/* Adds what the images say about a thread's pixels that are in the faces of their regions to the block's sums. */
static __device__ __forceinline__ void add_first_step(const spots &own, const samples &of, shared &s)
{
    uint32_t region[ROWS];

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t depth = plx_depth_in_interior(s.median[own.region[i]], own.disparity[i]);
        region[i] = depth <= 2 * PLX_INTERIOR_DEPTH ? own.region[i] : NO_REGION;
    }
    by_region(region, [&](uint32_t one, uint32_t mine) { add_step(&s.step[one].x, own.disparity, of, mine); });
}

/* Adds the block's sums of region I to memory. */
static __device__ __forceinline__ void give_face(const plx_regions_args &a, uint32_t i, const shared &s)
{
    const uint32_t area = s.interior[i].x & ((1u << HALF) - 1), nearest = s.median[i] - PLX_INTERIOR_DEPTH;
    const uint32_t sum[STEP] = {area, (s.interior[i].x >> HALF) + area * nearest,
                                (s.interior[i].y & ((1u << HALF) - 1)) + area * blockIdx.x * BLOCK_X,
                                (s.interior[i].y >> HALF) + area * blockIdx.y * BLOCK_Y * ROWS};

    if (area == 0)
        return;
#pragma unroll
    for (int k = 0; k < STEP; k++)
        atomicAdd(&a.at.sums[k * PLX_MAX_OBSTACLES + i], (sum64)sum[k]);
    give_step(&s.step[i].x, &a.at.sums[STEP * PLX_MAX_OBSTACLES + i]);
}

/* Grid: as count_kernel, and behind it a block a region, which measures its sides. Of pixels all but the medians is older than
 * the two kernels before. Reads 4 bytes a pixel, 2 more where there are regions, and 5 of those that the images may refine;
 * writes 8 of each of these. */
static __global__ void __launch_bounds__(BLOCK, BLOCKS) interior_kernel(plx_regions_args a)
{
    __shared__ __align__(16) shared s;
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, block = blockIdx.y * gridDim.x + blockIdx.x;
    const uint32_t blocks = (a.labels.height + BLOCK_Y * ROWS - 1) / (BLOCK_Y * ROWS) * gridDim.x;

    plx_lead(); /* before it waits: so the next one is there when this one ends */
    if (block >= blocks) {
        plx_wait();
        if (block - blocks < PLX_MAX_OBSTACLES)
            measure_sides(a, block - blocks);
        return;
    }
    const pixels p(a);
    start(s, thread);
    if (!__syncthreads_or(p.any)) {
        if (thread == 0)
            a.at.spot_count[block] = 0;
        plx_wait();
        return;
    }
    if (p.any)
        list_spots(a, p, s);
    __syncthreads();
    const uint32_t count = s.spots;
    const bool some = threadIdx.y * BLOCK_X < count; /* of the warp */
    spots own;
    samples of;
    if (some) {
        own = spots_of(s.spot, count, thread, BLOCK);
        of = take_samples(a, own);
    }
    keep_spots(a, s, block, thread);
    plx_wait();
    s.median[thread] = a.at.median[thread];
    __syncthreads();
    if (p.any)
        add_face(p, s);
    if (some)
        add_first_step(own, of, s);
    __syncthreads();
    give_face(a, thread, s);
}

int plx_gpu_regions_interior(struct plx_gpu *gpu, const plx_regions_args *args)
{
    dim3 grid = plx_regions_grid(args);
    grid.y += plx_blocks(PLX_MAX_OBSTACLES, (int)grid.x);
    return PLX_LAUNCH_NEXT(gpu, interior_kernel, grid, dim3(BLOCK_X, BLOCK_Y), *args);
}
