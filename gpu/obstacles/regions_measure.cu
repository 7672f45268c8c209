/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions, first part: pixels of each region by column, by row and by disparity; then, from these counters, the regions'
 * areas, boxes and percentiles of disparity. */
#include "gpu/device/launch.cuh"
#include "gpu/obstacles/regions.cuh"

#define SLOTS (2 * BLOCK)
#define REGION_SLOTS 61 /* from a disparity's slot to that of the same disparity in the next region */
#define PERCENTILES 3
#define THREAD_BINS (BINS / BLOCK)
#define SIDES 2              /* columns and rows: half of the threads each */
#define SIDE (BLOCK / SIDES) /* threads */
#define BATCH 10             /* counters of a thread that are read at once */

/* A block's counters by key: region * BINS + bin. A slot belongs to one key; pixels of another one are counted in memory. That
 * one is of another region, or 32 pixels of disparity away. */
struct block_bins {
    uint32_t key[SLOTS], count[SLOTS];
};

static __device__ __forceinline__ uint32_t key_of(uint32_t region, uint32_t disparity)
{
    return region * BINS + min(disparity, BINS - 1);
}

static __device__ __forceinline__ uint32_t slot_of(uint32_t key)
{
    return (key / BINS * REGION_SLOTS + key % BINS) % SLOTS;
}

/* Adds the warp's pixels of each region to its columns and rows. */
static __device__ __forceinline__ void count_sides(const plx_regions_args &a, const plx_region_pixels &p)
{
    plx_for_each_region(p.region, [&](uint32_t one, uint32_t own) {
        uint32_t in_row = 0; /* lane i: pixels in row i */
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const uint32_t pixels = __popc(__ballot_sync(PLX_ALL_LANES, own >> i & 1));
            in_row = threadIdx.x == i ? pixels : in_row;
        }
        if (in_row > 0)
            atomicAdd(&a.at.row[one * a.labels.height + p.top + threadIdx.x], in_row);
        if (own != 0)
            atomicAdd(&a.at.column[one * a.labels.width + p.x], __popc(own));
    });
}

/* Grid: a block 32 x 32 pixels, a thread 4 pixels of a column. Reads 6 bytes a pixel, writes 2. Nothing on the GPU reads the
 * published labels, so they do not stay in cache. */
static __global__ void __launch_bounds__(BLOCK) count_kernel(plx_regions_args a)
{
    __shared__ block_bins bins;
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x;

    bins.count[thread] = bins.count[BLOCK + thread] = 0;
    plx_grid_wait_and_trigger();
    if (blockIdx.x == 0 && blockIdx.y == 0 && thread == 0)
        *a.at.count = min(*a.count, (uint32_t)PLX_MAX_OBSTACLES);
    const plx_region_pixels p(a);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (p.is_inside(a, i))
            __stcs(a.published.row(p.top + i) + p.x, (uint16_t)(p.label[i] <= PLX_MAX_OBSTACLES ? p.label[i] : 0xFFFF));
        if (p.region[i] != NO_REGION) /* the last key takes the slot */
            atomicExch(&bins.key[slot_of(key_of(p.region[i], p.disparity[i]))], key_of(p.region[i], p.disparity[i]));
    }
    if (__any_sync(PLX_ALL_LANES, p.have_region()))
        count_sides(a, p);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t key = key_of(p.region[i], p.disparity[i]), slot = slot_of(key);
        if (p.region[i] == NO_REGION)
            continue;
        if (bins.key[slot] == key)
            atomicAdd(&bins.count[slot], 1); /* one instruction for all threads of a warp with the same slot */
        else
            atomicAdd(&a.at.bins[key], 1);
    }
    __syncthreads();
    for (uint32_t slot = thread; slot < SLOTS; slot += BLOCK)
        if (bins.count[slot] > 0)
            atomicAdd(&a.at.bins[bins.key[slot]], bins.count[slot]);
}

/* What the counters along one side of a region tell. */
struct side {
    uint32_t area, first, last, fullest, inner_first, inner_last;
    sum64 sum; /* sum of coordinates */
};

/* Calls VISIT(i, n) for the thread's share of COUNTER [LENGTH]: counter i is n. The reads of a batch overlap. */
template <class Visit>
static __device__ __forceinline__ void for_each_counter(const uint32_t *counter, uint32_t length, const Visit &visit)
{
    for (uint32_t from = threadIdx.x % SIDE; from < length; from += SIDE * BATCH) {
        uint32_t n[BATCH];
#pragma unroll
        for (uint32_t k = 0; k < BATCH; k++)
            n[k] = from + k * SIDE < length ? counter[from + k * SIDE] : 0;
#pragma unroll
        for (uint32_t k = 0; k < BATCH; k++)
            visit(from + k * SIDE, n[k]);
    }
}

/* Measures one side from COUNTER [LENGTH], and clears that; half of the block's threads each. All threads call it. */
static __device__ void measure_side(uint32_t *counter, uint32_t length, side &ret_side)
{
    uint32_t area = 0, first = ~0u, last = 0, fullest = 0, inner_first = ~0u, inner_last = 0;
    int64_t sum = 0;

    for_each_counter(counter, length, [&](uint32_t i, uint32_t n) {
        area += n;
        sum += (int64_t)n * i;
        first = n > 0 ? min(first, i) : first;
        last = n > 0 ? i : last;
        fullest = max(fullest, n);
    });
    area = plx_warp_sum(area);
    first = plx_warp_min(first);
    last = plx_warp_max(last);
    fullest = plx_warp_max(fullest);
    const sum64 warp_sum = plx_warp_sum64(sum);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&ret_side.area, area);
        atomicMin(&ret_side.first, first);
        atomicMax(&ret_side.last, last);
        atomicMax(&ret_side.fullest, fullest);
        atomicAdd(&ret_side.sum, warp_sum);
    }
    __syncthreads();
    fullest = ret_side.fullest;
    for_each_counter(counter, length, [&](uint32_t i, uint32_t n) {
        if (n == 0)
            return;
        inner_first = n * 2 >= fullest ? min(inner_first, i) : inner_first;
        inner_last = n * 2 >= fullest ? i : inner_last;
        counter[i] = 0;
    });
    inner_first = plx_warp_min(inner_first);
    inner_last = plx_warp_max(inner_last);
    if (threadIdx.x % 32 == 0) {
        atomicMin(&ret_side.inner_first, inner_first);
        atomicMax(&ret_side.inner_last, inner_last);
    }
}

/* The disparities of percentiles: the bin, then the rank within the bin. */
struct percentiles {
    uint32_t value[PERCENTILES], rank[PERCENTILES];
};

/* Selects the bins that hold the percentiles of AREA pixels, and clears the bins. All threads call it; a barrier is still
 * needed. */
static __device__ void select_bins(uint32_t *bins, uint32_t area, percentiles &ret_selected)
{
    __shared__ uint32_t warp_sum[BLOCK / 32];
    const uint32_t percent[PERCENTILES] = {5, 50, 95}, warp = threadIdx.x / 32;
    uint4 *const own_bins = (uint4 *)bins + threadIdx.x * (THREAD_BINS / 4);
    uint32_t bin[THREAD_BINS], own = 0;

#pragma unroll
    for (int k = 0; k < THREAD_BINS / 4; k++) {
        const uint4 four = own_bins[k];
        bin[4 * k] = four.x, bin[4 * k + 1] = four.y, bin[4 * k + 2] = four.z, bin[4 * k + 3] = four.w;
        own += four.x + four.y + four.z + four.w;
        own_bins[k] = make_uint4(0, 0, 0, 0);
    }
    const uint32_t up_to = plx_warp_prefix_sum(own);
    if (threadIdx.x % 32 == 31)
        warp_sum[warp] = up_to;
    __syncthreads();
    uint32_t begin = up_to - own; /* pixels in the bins before */
    for (uint32_t w = 0; w < warp; w++)
        begin += warp_sum[w];
#pragma unroll
    for (int k = 0; k < THREAD_BINS; k++) {
#pragma unroll
        for (int p = 0; p < PERCENTILES; p++) {
            const uint32_t rank = (uint32_t)((uint64_t)(area - 1) * percent[p] / 100);
            if (rank >= begin && rank - begin < bin[k]) {
                ret_selected.value[p] = threadIdx.x * THREAD_BINS + k;
                ret_selected.rank[p] = rank - begin;
            }
        }
        begin += bin[k];
    }
}

/* The disparity of rank RANK among those of the last bin, whatever they are: bit by bit, each by looking at the region's box
 * again. No camera needs it. All threads call it. */
static __device__ uint32_t select_beyond(const plx_regions_args &a, uint32_t label, const side (&s)[SIDES], uint32_t rank)
{
    __shared__ uint32_t smaller;
    const uint32_t width = s[0].last - s[0].first + 1, pixels = width * (s[1].last - s[1].first + 1);
    uint32_t value = BINS - 1; /* no more than RANK are smaller */

    for (uint32_t bit = 0x8000; bit > 0; bit /= 2) {
        uint32_t own = 0;
        __syncthreads();
        if (threadIdx.x == 0)
            smaller = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < pixels; i += BLOCK) {
            const uint32_t x = s[0].first + i % width, y = s[1].first + i / width, disparity = a.disparity.row(y)[x];
            own += a.labels.row(y)[x] == label && disparity >= BINS - 1 && disparity < value + bit;
        }
        atomicAdd(&smaller, own);
        __syncthreads();
        value += smaller <= rank ? bit : 0;
    }
    return value;
}

/* The record of a region, but for what the refinement adds. FIRST_X: the column of its first pixel. */
static __device__ __forceinline__ struct plx_region make_region(const plx_regions_args &a, uint32_t label,
                                                                const side (&s)[SIDES], uint32_t first_x,
                                                                const uint32_t (&percentile)[PERCENTILES])
{
    const side &x = s[0], &y = s[1];
    struct plx_region region = {};

    region.label = label;
    region.area = x.area;
    region.first = y.first * a.labels.width + first_x;
    region.x0 = (int)x.first, region.x1 = (int)x.last;
    region.y0 = (int)y.first, region.y1 = (int)y.last;
    region.inner_x0 = (int)x.inner_first, region.inner_x1 = (int)x.inner_last;
    region.inner_y0 = (int)y.inner_first, region.inner_y1 = (int)y.inner_last;
    region.sum_x = x.sum;
    region.sum_y = y.sum;
    region.p05 = percentile[0];
    region.median = percentile[1];
    region.p95 = percentile[2];
    return region;
}

/* Grid: a block a region. Reads and clears 4 bytes a column and row of the image, and 16 KB of bins; only of regions that have
 * a record. Triggers the refinement at once, which first reads only what is older than this stage. */
static __global__ void __launch_bounds__(BLOCK) measure_kernel(plx_regions_args a)
{
    __shared__ side s[SIDES];
    __shared__ percentiles selected;
    __shared__ uint32_t first_x;
    const uint32_t i = blockIdx.x, thread = threadIdx.x, width = a.labels.width, height = a.labels.height;
    const bool is_column = thread < SIDE;
    uint32_t percentile[PERCENTILES];

    plx_trigger_dependents();
    if (thread < SIDES)
        s[thread] = {0, ~0u, 0, 0, ~0u, 0, 0};
    if (thread == 0)
        first_x = ~0u;
    __syncthreads();
    plx_grid_wait();
    if (i >= *a.at.count)
        return;
    measure_side(is_column ? a.at.column + i * width : a.at.row + i * height, is_column ? width : height, s[!is_column]);
    __syncthreads();
    if (s[0].area == 0) { /* no pixel has this label */
        if (thread == 0)
            a.at.found[i] = {};
        return;
    }
    for (uint32_t x = s[0].first + thread; x <= s[0].last; x += BLOCK)
        if (a.labels.row(s[1].first)[x] == i + 1)
            atomicMin(&first_x, x);
    select_bins(a.at.bins + i * BINS, s[0].area, selected);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < PERCENTILES; k++)
        percentile[k] = selected.value[k] == BINS - 1 ? select_beyond(a, i + 1, s, selected.rank[k]) : selected.value[k];
    if (thread == 0)
        a.at.found[i] = make_region(a, i + 1, s, first_x, percentile);
}

int plx_gpu_regions_measure(struct plx_gpu *gpu, const plx_regions_args *args)
{
    const int result = PLX_LAUNCH_DEPENDENT(gpu, count_kernel, plx_regions_grid(args), dim3(BLOCK_X, BLOCK_Y), *args);

    return result < 0 ? result : PLX_LAUNCH_DEPENDENT(gpu, measure_kernel, PLX_MAX_OBSTACLES, BLOCK, *args);
}
