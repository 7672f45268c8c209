/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions, second part: area, boxes, sums of coordinates and percentiles, from the counters, which it clears. */
#include "gpu/regions.cuh"
#include "gpu/warp.cuh"

#define THREADS 256
#define SIDES 2 /* half of the threads each: columns, rows */
#define SIDE (THREADS / SIDES)
#define WARPS (THREADS / 32)
#define AHEAD 12 /* counters of a thread that are read at once */
#define BESIDE 8 /* labels in a row, likewise */
#define PERCENTILES 3
#define THREAD_BINS (2 * BIN_ROWS) /* neighbours in disparity */

static_assert(THREADS * 2 == BIN_ROW, "a thread has a uint2 of each row of bins");

/* What the counters along one side tell. */
struct side {
    uint32_t area, first, last, fullest, inner_first, inner_last;
};

struct shared {
    side side[SIDES];
    sum64 sum[WARPS]; /* of coordinates */
    uint32_t first_x; /* in the first row */
    uint32_t in_warp[WARPS], value[PERCENTILES], rank[PERCENTILES];
};

static __device__ __forceinline__ void start(shared &s)
{
    if (threadIdx.x < SIDES)
        s.side[threadIdx.x] = {0, ~0u, 0, 0, ~0u, 0};
    if (threadIdx.x < PERCENTILES)
        s.value[threadIdx.x] = 0xFFFF; /* of no pixels */
    if (threadIdx.x == 0)
        s.first_x = ~0u;
}

/* The thread's counters of a side, of which there are LENGTH, from FROM on; 0 beyond the last. All are read at once. */
static __device__ __forceinline__ void read_counters(const uint32_t *counter, uint32_t length, uint32_t from,
                                                     uint32_t (&ret_n)[AHEAD])
{
#pragma unroll
    for (uint32_t k = 0; k < AHEAD; k++)
        ret_n[k] = from + k * SIDE < length ? counter[from + k * SIDE] : 0;
}

/* Calls LOOK(i, n) for the thread's share of a side's counters, of which the FIRST are read: counter I is N. */
template <class Look>
static __device__ __forceinline__ void by_counter(const uint32_t *counter, uint32_t length, const uint32_t (&first)[AHEAD],
                                                  const Look &look)
{
    uint32_t from = threadIdx.x % SIDE, n[AHEAD];
#pragma unroll
    for (uint32_t k = 0; k < AHEAD; k++)
        look(from + k * SIDE, first[k]);
    for (from += SIDE * AHEAD; from < length; from += SIDE * AHEAD) {
        read_counters(counter, length, from, n);
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            look(from + k * SIDE, n[k]);
    }
}

/* Area, sums and outer box. */
static __device__ __forceinline__ void measure_outer(const uint32_t *counter, uint32_t length,
                                                     const uint32_t (&counters)[AHEAD], side &ret_side, sum64 &ret_sum)
{
    uint32_t area = 0, first = ~0u, last = 0, fullest = 0;
    sum64 sum = 0;

    by_counter(counter, length, counters, [&](uint32_t i, uint32_t n) {
        area += n;
        sum += (sum64)n * i;
        first = n > 0 ? min(first, i) : first;
        last = n > 0 ? i : last;
        fullest = max(fullest, n);
    });
    area = plx_warp_sum(area);
    first = plx_warp_least(first);
    last = plx_warp_most(last);
    fullest = plx_warp_most(fullest);
    sum = plx_warp_sum((uint32_t)sum & 0xFFFFFF) + ((sum64)plx_warp_sum((uint32_t)(sum >> 24)) << 24);
    if (threadIdx.x % 32 > 0)
        return;
    ret_sum = sum;
    if (area > 0) {
        atomicAdd(&ret_side.area, area);
        atomicMin(&ret_side.first, first);
        atomicMax(&ret_side.last, last);
        atomicMax(&ret_side.fullest, fullest);
    }
}

/* The inner box; clears the counters. */
static __device__ __forceinline__ void measure_inner(uint32_t *counter, uint32_t length, side &ret_side)
{
    const uint32_t fullest = ret_side.fullest;
    uint32_t counters[AHEAD], first = ~0u, last = 0;

    read_counters(counter, length, threadIdx.x % SIDE, counters); /* again: they would take many registers until now */
    by_counter(counter, length, counters, [&](uint32_t i, uint32_t n) {
        if (n == 0)
            return;
        counter[i] = 0;
        first = n * 2 >= fullest ? min(first, i) : first;
        last = n * 2 >= fullest ? i : last;
    });
    first = plx_warp_least(first);
    last = plx_warp_most(last);
    if (threadIdx.x % 32 == 0) {
        atomicMin(&ret_side.inner_first, first);
        atomicMax(&ret_side.inner_last, last);
    }
}

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

/* The disparity of rank RANK among those of the last bin, whatever they are, by looking at the region's box again for each bit.
 * All threads come. */
static __device__ uint32_t choose_beyond(const plx_regions_args &a, uint32_t label, const side (&box)[SIDES], uint32_t rank)
{
    __shared__ uint32_t smaller;
    const uint32_t width = box[0].last - box[0].first + 1, pixels = width * (box[1].last - box[1].first + 1);
    uint32_t value = BINS - 1; /* no more than RANK are smaller */

    for (uint32_t bit = 0x8000; bit > 0; bit /= 2) {
        const uint32_t candidate = value + bit;
        uint32_t mine = 0;
        __syncthreads();
        if (threadIdx.x == 0)
            smaller = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < pixels; i += THREADS) {
            const uint32_t x = box[0].first + i % width, y = box[1].first + i / width, disparity = a.disparity.row(y)[x];
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
static __device__ __forceinline__ void replace_last_bin(const plx_regions_args &a, uint32_t label, shared &s)
{
    for (int k = 0; k < PERCENTILES; k++) {
        if (s.value[k] != BINS - 1)
            continue;
        const uint32_t value = choose_beyond(a, label, s.side, s.rank[k]);
        __syncthreads();
        if (threadIdx.x == 0)
            s.value[k] = value;
        __syncthreads();
    }
}

/* Where the region's first pixel is in its first row. Half of the threads look; the other half chooses bins as a rule. */
static __device__ __forceinline__ void find_first(const plx_regions_args &a, uint32_t label, shared &s)
{
    const uint32_t *row = a.labels.row(s.side[1].first), last = s.side[0].last;

    for (uint32_t from = s.side[0].first + threadIdx.x % SIDE; from <= last; from += SIDE * BESIDE) {
        uint32_t x = ~0u;
#pragma unroll
        for (int k = BESIDE - 1; k >= 0; k--)
            x = from + k * SIDE <= last && row[from + k * SIDE] == label ? from + k * SIDE : x;
        if (x <= last) {
            atomicMin(&s.first_x, x);
            break;
        }
    }
}

static __device__ struct plx_region region_of(const plx_regions_args &a, uint32_t label, const shared &s)
{
    const side &x = s.side[0], &y = s.side[1];
    const bool any = x.area > 0;
    struct plx_region region = {label, x.area, any ? y.first * a.labels.width + s.first_x : 0};

    region.x0 = any ? (int)x.first : 0, region.x1 = (int)x.last;
    region.y0 = any ? (int)y.first : 0, region.y1 = (int)y.last;
    region.inner_x0 = any ? (int)x.inner_first : 0, region.inner_x1 = (int)x.inner_last;
    region.inner_y0 = any ? (int)y.inner_first : 0, region.inner_y1 = (int)y.inner_last;
    for (int i = 0; i < WARPS / SIDES; i++) {
        region.sum_x += s.sum[i];
        region.sum_y += s.sum[WARPS / SIDES + i];
    }
    region.p05 = s.value[0];
    region.median = s.value[1];
    region.p95 = s.value[2];
    return region;
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

/* Grid: a block a region, a thread 16 bins. Reads and clears its counters, 16 KB and 4 bytes a column and row; those of a
 * region without pixels only along the sides. Those of one beyond the count are 0 unless there are labels beyond it. */
static __global__ void __launch_bounds__(THREADS, 4) measure_kernel(plx_regions_args a)
{
    __shared__ shared s;
    const uint32_t i = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = warp / (WARPS / SIDES);
    const uint32_t length = own == 0 ? a.labels.width : a.labels.height;
    uint32_t *counter = own == 0 ? a.at.column + i * a.labels.width : a.at.row + i * a.labels.height;
    uint2 *bins = (uint2 *)(a.at.bins + i * BINS) + threadIdx.x;
    uint32_t counters[AHEAD], bin[THREAD_BINS];

    plx_lead(); /* before it waits: the next one has much to do before it needs this one */
    start(s);
    __syncthreads();
    plx_follow();
    read_counters(counter, length, threadIdx.x % SIDE, counters);
    const bool known = i < *a.at.count;
    read_bins(bins, known, bin);
    measure_outer(counter, length, counters, s.side[own], s.sum[warp]);
    uint32_t up_to = sum_up_to(bin);
    if (lane == 31)
        s.in_warp[warp] = up_to;
    __syncthreads();
    const uint32_t area = s.side[0].area;
    if (area > 0) {
#pragma unroll
        for (int k = 0; k < BIN_ROWS; k++)
            bins[k * THREADS] = make_uint2(0, 0);
        for (uint32_t w = 0; w < warp; w++)
            up_to += s.in_warp[w];
        choose_bins(bin, up_to, area, s);
        if (own == 1)
            find_first(a, i + 1, s);
        measure_inner(counter, length, s.side[own]);
    }
    if (!known) {
        if (threadIdx.x == 0)
            a.at.known[i] = {PLX_NOWHERE, PLX_NOWHERE, -PLX_NOWHERE, 0};
        return;
    }
    __syncthreads();
    replace_last_bin(a, i + 1, s);
    if (threadIdx.x == 0) {
        const struct plx_region region = region_of(a, i + 1, s);
        a.at.found[i] = region;
        a.at.known[i] = {(int)region.median, region.inner_x0, region.inner_x1, 0};
    }
}

int plx_gpu_regions_measure(struct plx_gpu *gpu, const plx_regions_args *args)
{
    return PLX_LAUNCH_NEXT(gpu, measure_kernel, PLX_MAX_OBSTACLES, THREADS, *args);
}
