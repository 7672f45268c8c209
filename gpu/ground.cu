/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage ground: v-disparity, the best line, then a plane by least squares; the arithmetic is core/ground_fit.h. The last block
 * of a kernel to end does what needs all of them, so that nothing waits for the CPU. All sums are of integers.
 */
#include <stdlib.h>

#include "gpu/device.cuh"

#include "core/ground_fit.h"

#define BLOCK 256
#define WARPS (BLOCK / 32)
#define NEIGHBOURS 9
#define SUMS (int)(sizeof(struct plx_ground_sums) / sizeof(int64_t))

typedef unsigned long long sum64; /* what atomicAdd takes; two's complement, so signs do not matter */

struct plx_gpu_ground {
    struct plx_ground_histogram histogram;
    sum64 best;       /* line so far: score + 2^30 in the high half, its index's complement in the low one */
    sum64 sums[SUMS]; /* of a fit, as struct plx_ground_sums */
    struct plx_ground ground;
    uint32_t solved;
    unsigned int ended; /* blocks of this kernel */
};

struct ground_args {
    plx_view<const uint16_t> disparity;
    struct plx_ground_params params;
    struct plx_gpu_ground *state;
    struct plx_ground *ret_ground;
};

/* True in all threads of the last block of a kernel that calls it; that block sees what the others wrote. */
static __device__ bool last_block(unsigned int *ended)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(ended, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return last;
}

/* Grid: a block a row of the histogram, which takes turns over its columns. Reads 2 bytes a pixel of 64 rows. */
static __global__ void __launch_bounds__(BLOCK) histogram_kernel(ground_args a)
{
    __shared__ uint32_t count[PLX_GROUND_BINS];
    const unsigned width = plx_ground_bin_width(a.params.disparities);
    const uint16_t *row = a.disparity.row(plx_ground_row(blockIdx.x, a.disparity.height));
    const int bin = threadIdx.x;

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
    uint32_t *below = a.state->histogram.below[blockIdx.x];
    if (bin < PLX_GROUND_BINS)
        below[bin + 1] = count[bin];
    if (bin == 0)
        below[0] = 0;
    if (blockIdx.x == 0 && bin == 0)
        a.state->best = 0;
    if (blockIdx.x == 0 && bin < SUMS)
        a.state->sums[bin] = 0;
}

/* As plx_ground_score, by a warp, a lane a row. */
static __device__ int64_t score_by_warp(const ground_args &a, const struct plx_ground_histogram *histogram,
                                        struct plx_ground_line line)
{
    int64_t score = 0;
    bool open = true; /* no row so far was nearer than the search */

    for (int from = 0; from < PLX_GROUND_ROWS && open; from += 32) {
        const int lane = threadIdx.x % 32;
        int64_t more;
        const bool said =
            plx_ground_score_row(histogram, &a.params, a.disparity.width, a.disparity.height, line, 1, from + lane, &more);
        const uint32_t ends = __ballot_sync(~0u, !said);
        open = ends == 0;
        more = open || lane < __ffs(ends) - 1 ? more : 0;
        for (int step = 16; step > 0; step /= 2)
            more += __shfl_xor_sync(~0u, more, step);
        score += more;
    }
    return score;
}

/* As plx_ground_start, a warp a neighbour. */
static __device__ void start(const ground_args &a, const struct plx_ground_histogram *histogram)
{
    __shared__ int64_t score[NEIGHBOURS];
    const uint32_t index = ~(uint32_t) * (volatile sum64 *)&a.state->best;
    struct plx_ground_line line = plx_ground_grid_line(&a.params, (int)index), step = plx_ground_grid_step(&a.params, line);

    for (int round = 0; round < PLX_GROUND_REFINES; round++) {
        step = plx_ground_half_step(step);
        for (int i = threadIdx.x / 32; i < NEIGHBOURS; i += WARPS) {
            const int64_t mine = score_by_warp(a, histogram, plx_ground_neighbour(line, step, i));
            if (threadIdx.x % 32 == 0)
                score[i] = mine;
        }
        __syncthreads();
        int best = NEIGHBOURS / 2;
        for (int k = 0; k < NEIGHBOURS; k++)
            best = score[k] > score[best] ? k : best;
        line = plx_ground_neighbour(line, step, best);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        a.state->ground = plx_ground_from_line(&a.params, line);
        a.state->solved = true;
    }
}

/* Grid: a thread a line. The histogram, 33 KB, lies in shared memory; the last block refines the best line. */
static __global__ void __launch_bounds__(BLOCK) line_kernel(ground_args a)
{
    __shared__ struct plx_ground_histogram histogram;
    const uint32_t *from = &a.state->histogram.below[0][0];
    uint32_t *to = &histogram.below[0][0];
    const int index = blockIdx.x * BLOCK + threadIdx.x;

    for (int i = threadIdx.x; i < (int)(sizeof histogram / sizeof *to); i += BLOCK)
        to[i] = from[i];
    __syncthreads();
    const int64_t score = plx_ground_score(&histogram, &a.params, a.disparity.width, a.disparity.height,
                                           plx_ground_grid_line(&a.params, index), 2);
    sum64 best = (sum64)(score + (1 << 30)) << 32 | ~(uint32_t)index; /* the first of equals is the largest */
    for (int step = 16; step > 0; step /= 2) {
        const sum64 other = __shfl_xor_sync(~0u, best, step);
        best = other > best ? other : best;
    }
    if (threadIdx.x % 32 == 0)
        atomicMax(&a.state->best, best);
    if (last_block(&a.state->ended))
        start(a, &histogram);
}

/* Adds the block's SUMS to the state's. */
static __device__ void add_sums(struct plx_gpu_ground *state, const struct plx_ground_sums &sums)
{
    __shared__ int64_t part[WARPS][SUMS];
    const int64_t mine[SUMS] = {sums.votes, sums.n, sums.u, sums.v, sums.d, sums.uu, sums.uv, sums.vv, sums.ud, sums.vd};

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
        atomicAdd(&state->sums[threadIdx.x], (sum64)sum);
    }
}

/* Solves for the plane; after the last fit, decides whether it is ground. One thread. */
static __device__ void solve(const ground_args &a, bool last)
{
    struct plx_gpu_ground *state = a.state;
    const volatile sum64 *s = state->sums;
    const struct plx_ground_sums sums = {(int64_t)s[0], (int64_t)s[1], (int64_t)s[2], (int64_t)s[3], (int64_t)s[4],
                                         (int64_t)s[5], (int64_t)s[6], (int64_t)s[7], (int64_t)s[8], (int64_t)s[9]};

    if (state->solved)
        state->solved = plx_ground_solve(&sums, a.disparity.width, a.disparity.height, &state->ground);
    if (last) {
        plx_ground_accept(&sums, &a.params, a.disparity.height, state->solved, &state->ground);
        *a.ret_ground = state->ground;
    } else if (state->solved) { /* or these sums are the last */
        for (int k = 0; k < SUMS; k++)
            state->sums[k] = 0;
    }
}

/* Grid: a block a row of those that count, fit FIT. Reads 2 bytes a pixel; the last block solves. */
static __global__ void __launch_bounds__(BLOCK) fit_kernel(ground_args a, int fit)
{
    const struct plx_ground ground = a.state->ground;
    const int width = a.disparity.width, height = a.disparity.height, y = blockIdx.x * plx_ground_fit_step(height);
    const int infinity = plx_disparity_at_infinity(&a.params.calibration, a.params.min_disparity);
    const int64_t least = (int64_t)(infinity + PLX_GROUND_LEAST) * 65536;
    const int64_t tolerance = (int64_t)plx_ground_fit_tolerance(&a.params, fit) << 16;
    const uint16_t *row = a.disparity.row(y);
    struct plx_ground_sums sums = {0};

    if (a.state->solved) {
        for (int x = threadIdx.x; x < width; x += BLOCK)
            plx_ground_vote(&sums, x - width / 2, y - height / 2, row[x], ground.a * x + ground.b * y + ground.c, least,
                            tolerance);
        add_sums(a.state, sums);
    }
    if (last_block(&a.state->ended) && threadIdx.x == 0)
        solve(a, fit == PLX_GROUND_FITS - 1);
}

static __global__ void none_kernel(struct plx_ground *ret_ground)
{
    *ret_ground = {};
}

int plx_gpu_ground_create(struct plx_gpu *gpu)
{
    void *state = NULL;
    const int result = plx_gpu_alloc_local(&gpu->base, sizeof *gpu->ground, &state);
    gpu->ground = (struct plx_gpu_ground *)state;
    return result;
}

void plx_gpu_ground_destroy(struct plx_gpu *gpu)
{
    plx_gpu_free(&gpu->base, gpu->ground);
    gpu->ground = NULL;
}

int plx_gpu_ground(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground_params *params,
                   struct plx_ground *ret_ground)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const struct ground_args args = {plx_view_of<const uint16_t>(disparity), *params, gpu->ground, ret_ground};

    if (!plx_image_ok(disparity, PLX_U16) || params->disparities < 1 || params->horizon_min > params->horizon_max ||
        params->tolerance < 0)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, disparity))
        return PLX_ERR_RANGE;
    if (!params->enabled) {
        none_kernel<<<1, 1, 0, gpu->stream>>>(ret_ground);
        return PLX_LAUNCHED(gpu, none_kernel);
    }

    histogram_kernel<<<PLX_GROUND_ROWS, BLOCK, 0, gpu->stream>>>(args);
    int result = PLX_LAUNCHED(gpu, histogram_kernel);
    if (result < 0)
        return result;
    line_kernel<<<PLX_GROUND_LINES / BLOCK, BLOCK, 0, gpu->stream>>>(args);
    result = PLX_LAUNCHED(gpu, line_kernel);
    const unsigned rows = plx_blocks(disparity->height, plx_ground_fit_step(disparity->height));
    for (int fit = 0; fit < PLX_GROUND_FITS && result == 0; fit++) {
        fit_kernel<<<rows, BLOCK, 0, gpu->stream>>>(args, fit);
        result = PLX_LAUNCHED(gpu, fit_kernel);
    }
    return result;
}
