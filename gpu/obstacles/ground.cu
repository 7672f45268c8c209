/* SPDX-License-Identifier: Apache-2.0 */
/* Stage ground: v-disparity, the best line, then a plane by least squares; the arithmetic is core/ground/ground.h. One kernel
 * with barriers across its grid. After a barrier each block computes the same next step from the sums of all blocks, so no step
 * waits for the CPU or for a launch. All sums are integers. */
#include <cooperative_groups.h>
#include <stdlib.h>

#include "gpu/device/launch.cuh"

#include "core/ground/fit.h"
#include "core/ground/mask.h"

#define NEIGHBOURS 9
#define WARPS NEIGHBOURS
#define BLOCK (WARPS * 32)
#define MAX_BLOCKS 256
#define PIXELS 4     /* pixels of a thread, at every 32nd column; their reads overlap */
#define LINE_LANES 8 /* threads that share a candidate line, PLX_GROUND_ROWS / LINE_LANES rows each */
#define SUMS (int)(sizeof(struct plx_ground_sums) / sizeof(int64_t))

typedef unsigned long long sum64; /* what atomicAdd takes; two's complement, so signs do not matter */

struct plx_gpu_ground {
    struct plx_ground_histogram histogram; /* first, because it is read 16 bytes at a time */
    sum64 best;                            /* best line so far: score + 2^30 in the high half, ~index in the low half */
    sum64 sums[PLX_GROUND_FITS][SUMS];     /* as struct plx_ground_sums */
};

struct ground_args {
    plx_view<const uint16_t> disparity;
    struct plx_ground_params params;
    const struct plx_ground_prior *prior;
    struct plx_gpu_ground *state;
    struct plx_ground *ret_ground;
};

/* The candidate lines: each horizon with each slope. The prior, copied because it may lie in the CPU's memory, says which. */
struct candidates {
    int32_t horizon[PLX_GROUND_HORIZONS], slope[PLX_GROUND_SLOPES];
    struct plx_ground_prior prior;
};

static __device__ void clear_state(struct plx_gpu_ground *state)
{
    const int i = threadIdx.x;
    if (i < PLX_GROUND_FITS * SUMS)
        state->sums[i / SUMS][i % SUMS] = 0;
    else if (i == PLX_GROUND_FITS * SUMS)
        state->best = 0;
}

static __device__ void make_candidates(const ground_args &a, struct candidates &ret_candidates)
{
    const int i = threadIdx.x;
    if (i < PLX_GROUND_HORIZONS)
        ret_candidates.horizon[i] = plx_ground_grid_line(&a.params, i * PLX_GROUND_SLOPES).horizon;
    if (i < PLX_GROUND_SLOPES)
        ret_candidates.slope[i] = plx_ground_grid_line(&a.params, i).slope;
    if (i == 0)
        ret_candidates.prior = *a.prior;
}

/* Fills row I of the histogram: counts, then their prefix sums. All threads call it. */
static __device__ void count_row(const ground_args &a, int i)
{
    __shared__ uint32_t count[PLX_GROUND_BINS];
    const unsigned width = plx_ground_bin_width(a.params.disparities);
    const uint16_t *row = a.disparity.row(plx_ground_row(i, a.disparity.height));
    uint32_t *below = a.state->histogram.below[i];
    const int bin = threadIdx.x;

    __syncthreads();
    if (bin < PLX_GROUND_BINS)
        count[bin] = 0;
    __syncthreads();
    for (int x = threadIdx.x; x < a.disparity.width; x += BLOCK) {
        const unsigned at = row[x] / width; /* an invalid pixel's is too large */
        if (at < PLX_GROUND_BINS)
            atomicAdd(&count[at], 1);
    }
    for (int step = 1; step < PLX_GROUND_BINS; step *= 2) {
        __syncthreads();
        const uint32_t before = bin >= step && bin < PLX_GROUND_BINS ? count[bin - step] : 0;
        __syncthreads();
        if (bin < PLX_GROUND_BINS)
            count[bin] += before;
    }
    if (bin < PLX_GROUND_BINS)
        below[bin + 1] = count[bin];
    if (bin == 0)
        below[0] = 0;
}

/* As plx_ground_score, by COUNT neighbouring threads, which all get the score: each takes every COUNT-th row, up to the first
 * row where the line is nearer than the search. The whole warp calls it. */
template <int COUNT>
static __device__ int64_t score_line(const ground_args &a, const struct plx_ground_histogram *histogram,
                                     struct plx_ground_line line, int reach)
{
    const uint32_t lane = threadIdx.x % COUNT, first = threadIdx.x % 32 - lane, mask = ~0u >> (32 - COUNT);
    int64_t score = 0;
    bool open = true; /* no row so far is nearer than the search */

    for (int from = 0; from < PLX_GROUND_ROWS && __any_sync(~0u, open); from += COUNT) {
        int64_t more;
        const bool counts = plx_ground_score_row(histogram, &a.params, a.disparity.width, a.disparity.height, line, reach,
                                                 from + (int)lane, &more);
        const uint32_t ends = __ballot_sync(~0u, !counts) >> first & mask;
        score += open && (ends & ((2u << lane) - 1)) == 0 ? more : 0;
        open = open && ends == 0;
    }
#pragma unroll
    for (int step = COUNT / 2; step > 0; step /= 2)
        score += __shfl_xor_sync(~0u, score, step);
    return score;
}

/* Finds the best of the block's candidate lines, and makes it the best of all if it is better. */
static __device__ void search(const ground_args &a, const struct plx_ground_histogram *histogram,
                              const struct candidates &candidates)
{
    const int each = BLOCK / LINE_LANES, reach = plx_ground_grid_reach(a.params.disparities); /* EACH: lines at a time */
    sum64 best = 0;

    for (int from = blockIdx.x * each; from < PLX_GROUND_LINES; from += gridDim.x * each) {
        const int index = from + threadIdx.x / LINE_LANES, inside = min(index, PLX_GROUND_LINES - 1);
        const struct plx_ground_line line = {candidates.horizon[inside / PLX_GROUND_SLOPES],
                                             candidates.slope[inside % PLX_GROUND_SLOPES]};
        const int64_t score =
            plx_ground_allowed_score(&candidates.prior, line, score_line<LINE_LANES>(a, histogram, line, reach));
        const sum64 mine =
            (sum64)(score + (1 << 30)) << 32 | ~(uint32_t)inside; /* among lines of equal score the first is the largest */
        best = mine > best ? mine : best;
    }
    for (int step = 16; step > 0; step /= 2) {
        const sum64 other = __shfl_xor_sync(~0u, best, step);
        best = other > best ? other : best;
    }
    if (threadIdx.x % 32 == 0)
        atomicMax(&a.state->best, best);
}

/* As plx_ground_start; a warp scores one neighbour of the line. */
static __device__ struct plx_ground start(const ground_args &a, const struct plx_ground_histogram *histogram,
                                          const struct candidates &candidates)
{
    __shared__ int64_t score[NEIGHBOURS];
    const uint32_t index = ~(uint32_t)__ldcg(&a.state->best), warp = threadIdx.x / 32;
    struct plx_ground_line line = {candidates.horizon[index / PLX_GROUND_SLOPES], candidates.slope[index % PLX_GROUND_SLOPES]};
    struct plx_ground_line step = plx_ground_grid_step(&a.params, line);

    for (int round = 0; round < PLX_GROUND_REFINES; round++) {
        step = plx_ground_half_step(step);
        const int64_t mine = score_line<32>(a, histogram, plx_ground_neighbour(line, step, (int)warp), 1);
        if (threadIdx.x % 32 == 0)
            score[warp] = mine;
        __syncthreads();
        int best = NEIGHBOURS / 2;
        for (int k = 0; k < NEIGHBOURS; k++)
            best = score[k] > score[best] ? k : best;
        line = plx_ground_neighbour(line, step, best);
        __syncthreads();
    }
    return plx_ground_from_line(&a.params, line);
}

/* Adds the threads' SUMS of the block to RET_SUMS in device memory. */
static __device__ void add_sums(const struct plx_ground_sums &sums, sum64 *ret_sums)
{
    __shared__ int64_t part[WARPS][SUMS];
    const int64_t mine[SUMS] = {sums.pixels, sums.n, sums.u, sums.v, sums.d, sums.uu, sums.uv, sums.vv, sums.ud, sums.vd};

#pragma unroll
    for (int k = 0; k < SUMS; k++) {
        int64_t sum = mine[k];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32][k] = sum;
    }
    __syncthreads();
    if (threadIdx.x < SUMS) {
        int64_t sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += part[w][threadIdx.x];
        atomicAdd(&ret_sums[threadIdx.x], (sum64)sum);
    }
}

/* Sums of the thread's pixels near GROUND. A warp takes pieces of PIXELS * 32 neighbours of a row, in turn with all warps of
 * the CUDA grid. */
static __device__ struct plx_ground_sums sum_pixels(const ground_args &a, const struct plx_ground &ground, int fit)
{
    const int width = a.disparity.width, height = a.disparity.height, every = plx_ground_fit_step(height);
    const struct plx_ground_gate gate = plx_ground_gate(&a.params, fit);
    const int pieces = (width + PIXELS * 32 - 1) / (PIXELS * 32), rows = (height + every - 1) / every;
    struct plx_ground_sums sums = {0};

    for (int i = blockIdx.x * WARPS + threadIdx.x / 32; i < rows * pieces; i += gridDim.x * WARPS) {
        const int y = i / pieces * every, x = i % pieces * PIXELS * 32 + threadIdx.x % 32;
        const uint16_t *row = a.disparity.row(y);
        const int64_t plane = ground.a * x + ground.b * y + ground.c;
        int disparity[PIXELS];
#pragma unroll
        for (int k = 0; k < PIXELS; k++)
            disparity[k] = x + 32 * k < width ? row[x + 32 * k] : PLX_DISPARITY_INVALID;
#pragma unroll
        for (int k = 0; k < PIXELS; k++)
            plx_ground_add_pixel(&sums, &gate, x + 32 * k, x + 32 * k - width / 2, y - height / 2, disparity[k],
                                 plane + ground.a * (32 * k));
    }
    return sums;
}

/* Fits the plane, decides whether it is ground, and writes it. */
static __device__ void fit(const ground_args &a, const cooperative_groups::grid_group &grid, struct plx_ground ground)
{
    __shared__ struct plx_ground plane;
    __shared__ struct plx_ground_sums all;
    __shared__ bool solved;
    const bool first = threadIdx.x == 0;

    for (int i = 0; i < PLX_GROUND_FITS; i++) {
        add_sums(sum_pixels(a, ground, i), a.state->sums[i]);
        grid.sync();
        if (threadIdx.x < SUMS)
            ((int64_t *)&all)[threadIdx.x] = (int64_t)__ldcg(&a.state->sums[i][threadIdx.x]);
        __syncthreads();
        if (first) {
            plane = ground;
            solved = plx_ground_solve(&all, a.disparity.width, a.disparity.height, &plane);
        }
        __syncthreads();
        ground = plane;
        if (!solved) /* these sums are the last, in all blocks */
            break;
    }
    if (blockIdx.x == 0 && first) {
        plx_ground_accept(&all, &a.params, a.prior, a.disparity.width, a.disparity.height, solved, &ground);
        *a.ret_ground = ground;
    }
}

/* Grid: up to 256 blocks that run at once (cooperative). A block counts a row of the histogram; then 8 threads score a
 * candidate line, with the histogram (33 KB) in shared memory; then five fits. Reads 2 bytes a pixel of 64 rows, and of 240 to
 * 479 rows in each fit. */
static __global__ void __launch_bounds__(BLOCK, 1) ground_kernel(ground_args a)
{
    __shared__ __align__(16) struct plx_ground_histogram histogram;
    __shared__ struct candidates candidates;
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    static_assert(sizeof histogram % sizeof(uint4) == 0, "copied 16 bytes at a time");
    const uint4 *from = (const uint4 *)&a.state->histogram;
    uint4 *to = (uint4 *)&histogram;

    if (blockIdx.x == gridDim.x - 1)
        clear_state(a.state);
    make_candidates(a, candidates);
    for (int i = blockIdx.x; i < PLX_GROUND_ROWS; i += gridDim.x)
        count_row(a, i);
    grid.sync();
    for (int i = threadIdx.x; i < (int)(sizeof histogram / sizeof *to); i += BLOCK)
        to[i] = __ldcg(&from[i]);
    __syncthreads();
    search(a, &histogram, candidates);
    grid.sync();
    fit(a, grid, start(a, &histogram, candidates));
}

static __global__ void no_ground_kernel(struct plx_ground *ret_ground)
{
    *ret_ground = {};
}

int plx_gpu_ground_create(struct plx_gpu *gpu)
{
    return plx_gpu_alloc_local(&gpu->base, sizeof *gpu->ground, NULL, (void **)&gpu->ground);
}

void plx_gpu_ground_destroy(struct plx_gpu *gpu)
{
    plx_gpu_free(&gpu->base, gpu->ground);
    gpu->ground = NULL;
}

int plx_gpu_ground(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground_params *params,
                   const struct plx_ground_prior *prior, struct plx_ground *ret_ground)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const struct ground_args args = {plx_view_of<const uint16_t>(disparity), *params, prior, gpu->ground, ret_ground};

    if (!plx_image_ok(disparity, PLX_U16) || params->disparities < 1 || params->horizon_min > params->horizon_max ||
        params->tolerance < 0)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, disparity))
        return PLX_ERR_RANGE;
    if (!params->enabled)
        return PLX_LAUNCH(gpu, no_ground_kernel, 1, 1, ret_ground);
    return plx_launch_cooperative(gpu, 0, ground_kernel, MAX_BLOCKS, BLOCK, 0, args);
}

/* --- mask: what is in range and stands above the ground ----------------------------------------------------------------- */

#define MASK_X 32
#define MASK_Y 8

/* Grid: a thread a pixel. Reads 2 bytes a pixel, and of its neighbours in the row from the cache; writes 1. */
static __global__ void __launch_bounds__(MASK_X *MASK_Y)
    mask_kernel(plx_view<const uint16_t> disparity, const struct plx_ground *ground, struct plx_mask_params params,
                plx_view<uint8_t> mask)
{
    const int x = blockIdx.x * MASK_X + threadIdx.x, y = blockIdx.y * MASK_Y + threadIdx.y;

    if (x < mask.width && y < mask.height)
        mask.row(y)[x] = plx_is_obstacle(ground, &params, disparity.row(y), disparity.width, x, y) ? 255 : 0;
}

int plx_gpu_mask(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                 const struct plx_mask_params *params, const struct plx_image *ret_mask)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const dim3 block(MASK_X, MASK_Y), grid = plx_grid(disparity->width, disparity->height, block);

    if (!plx_image_ok(disparity, PLX_U16) || !plx_image_ok(ret_mask, PLX_U8) || !plx_same_size(disparity, ret_mask))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, disparity))
        return PLX_ERR_RANGE;
    return PLX_LAUNCH(gpu, mask_kernel, grid, block, plx_view_of<const uint16_t>(disparity), ground, *params,
                      plx_view_of<uint8_t>(ret_mask));
}
