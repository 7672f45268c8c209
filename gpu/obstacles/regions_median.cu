/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions, second part: percentiles of disparity, from the counters, which it clears. */
#include "gpu/obstacles/regions.cuh"

#define THREADS 256
#define WARPS (THREADS / 32)
#define PERCENTILES 3
#define THREAD_BINS (2 * BIN_ROWS) /* neighbours in disparity */

static_assert(THREADS * 2 == BIN_ROW, "a thread has a uint2 of each row of bins");

struct shared {
    uint32_t in_warp[WARPS], value[PERCENTILES], rank[PERCENTILES];
};

/* The bin of each percentile, and its rank there. BIN: the thread's; UP_TO: pixels in the bins up to its last one. */
static __device__ __forceinline__ void choose_bins(const uint32_t (&bin)[THREAD_BINS], uint32_t up_to, uint32_t area, shared &s)
{
    const uint32_t percent[PERCENTILES] = {5, 50, 95};
    uint32_t mine = 0;
#pragma unroll
    for (int i = 0; i < THREAD_BINS; i++)
        mine += bin[i];
#pragma unroll
    for (int k = 0; k < PERCENTILES; k++) {
        const uint32_t rank = (uint32_t)((uint64_t)(area - 1) * percent[k] / 100);
        uint32_t end = up_to;
        if (rank >= up_to || rank < up_to - mine)
            continue;
#pragma unroll
        for (int i = THREAD_BINS - 1; i >= 0; i--) {
            const uint32_t begin = end - bin[i];
            if (begin <= rank && rank < end) {
                s.value[k] = threadIdx.x * THREAD_BINS + i;
                s.rank[k] = rank - begin;
            }
            end = begin;
        }
    }
}

/* The region's columns and rows: from the first with any pixels to the last. */
struct box {
    uint32_t first[2], last[2];
};

/* Of region I, from its counters. All threads come. */
static __device__ void find_box(const plx_regions_args &a, uint32_t i, box &ret_box)
{
    const uint32_t lengths[2] = {(uint32_t)a.labels.width, (uint32_t)a.labels.height};
    const uint32_t *const counters[2] = {a.at.column + i * lengths[0], a.at.row + i * lengths[1]};

    if (threadIdx.x == 0)
        ret_box = {{~0u, ~0u}, {0, 0}};
    __syncthreads();
    for (int side = 0; side < 2; side++) {
        for (uint32_t k = threadIdx.x; k < lengths[side]; k += THREADS) {
            if (counters[side][k] > 0) {
                atomicMin(&ret_box.first[side], k);
                atomicMax(&ret_box.last[side], k);
            }
        }
    }
    __syncthreads();
}

/* The disparity of rank RANK among those of the last bin, whatever they are, by looking at the region's box again for each bit.
 * All threads come. */
static __device__ uint32_t choose_beyond(const plx_regions_args &a, uint32_t label, const box &in, uint32_t rank)
{
    __shared__ uint32_t smaller;
    const uint32_t width = in.last[0] - in.first[0] + 1, pixels = width * (in.last[1] - in.first[1] + 1);
    uint32_t value = BINS - 1; /* no more than RANK are smaller */

    for (uint32_t bit = 0x8000; bit > 0; bit /= 2) {
        const uint32_t candidate = value + bit;
        uint32_t mine = 0;
        __syncthreads();
        if (threadIdx.x == 0)
            smaller = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < pixels; i += THREADS) {
            const uint32_t x = in.first[0] + i % width, y = in.first[1] + i / width, disparity = a.disparity.row(y)[x];
            mine += a.labels.row(y)[x] == label && disparity >= BINS - 1 && disparity < candidate;
        }
        mine = plx_warp_sum(mine);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&smaller, mine);
        __syncthreads();
        value = smaller <= rank ? candidate : value;
    }
    return value;
}

/* From the last bin, where a percentile is there, to the disparity. All threads come. */
static __device__ __forceinline__ void replace_last_bin(const plx_regions_args &a, uint32_t i, shared &s)
{
    __shared__ box in;

    for (int k = 0; k < PERCENTILES; k++) {
        if (s.value[k] != BINS - 1)
            continue;
        find_box(a, i, in);
        const uint32_t value = choose_beyond(a, i + 1, in, s.rank[k]);
        __syncthreads();
        if (threadIdx.x == 0)
            s.value[k] = value;
        __syncthreads();
    }
}

/* The thread's bins of a region if it is KNOWN. */
static __device__ __forceinline__ void read_bins(const uint2 *bins, bool known, uint32_t (&ret_bin)[THREAD_BINS])
{
#pragma unroll
    for (int k = 0; k < BIN_ROWS; k++) {
        const uint2 both = known ? bins[k * THREADS] : make_uint2(0, 0);
        ret_bin[k] = both.x;
        ret_bin[BIN_ROWS + k] = both.y;
    }
}

/* Pixels in the bins of the threads of the warp up to this one. */
static __device__ __forceinline__ uint32_t sum_up_to(const uint32_t (&bin)[THREAD_BINS])
{
    uint32_t own = 0;
#pragma unroll
    for (int k = 0; k < THREAD_BINS; k++)
        own += bin[k];
    return plx_warp_sum_up_to(own);
}

/* Grid: a block a region, a thread 16 bins. Reads and clears 16 KB of those within the count. */
static __global__ void __launch_bounds__(THREADS, 4) median_kernel(plx_regions_args a)
{
    __shared__ shared s;
    const uint32_t i = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint2 *bins = (uint2 *)(a.at.bins + i * BINS) + threadIdx.x;
    uint32_t bin[THREAD_BINS], area = 0, before = 0;

    plx_lead(); /* before it waits: the next one has much to do before it needs this one */
    if (threadIdx.x < PERCENTILES)
        s.value[threadIdx.x] = 0xFFFF; /* of no pixels */
    plx_wait();
    const bool known = i < *a.at.count;
    read_bins(bins, known, bin);
    const uint32_t up_to = sum_up_to(bin);
    if (lane == 31)
        s.in_warp[warp] = up_to;
    __syncthreads();
#pragma unroll
    for (uint32_t w = 0; w < WARPS; w++) {
        before += w < warp ? s.in_warp[w] : 0;
        area += s.in_warp[w];
    }
    if (area > 0) {
#pragma unroll
        for (int k = 0; k < BIN_ROWS; k++)
            bins[k * THREADS] = make_uint2(0, 0);
        choose_bins(bin, before + up_to, area, s);
    }
    __syncthreads();
    if (!known) {
        if (threadIdx.x == 0)
            a.at.median[i] = PLX_NOWHERE;
        return;
    }
    replace_last_bin(a, i, s);
    if (threadIdx.x == 0) {
        a.at.median[i] = (int)s.value[1];
        a.at.found[i].p05 = s.value[0];
        a.at.found[i].median = s.value[1];
        a.at.found[i].p95 = s.value[2];
    }
}

int plx_gpu_regions_median(struct plx_gpu *gpu, const plx_regions_args *args)
{
    return PLX_LAUNCH_NEXT(gpu, median_kernel, PLX_MAX_OBSTACLES, THREADS, *args);
}
