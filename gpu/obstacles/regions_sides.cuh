/* SPDX-License-Identifier: Apache-2.0 */
/* Areas, boxes and sums of coordinates of regions, from the counters of columns and rows, which are cleared. */
#ifndef PLX_GPU_OBSTACLES_REGIONS_SIDES_CUH
#define PLX_GPU_OBSTACLES_REGIONS_SIDES_CUH

#include "gpu/device/warp.cuh"
#include "gpu/obstacles/regions.cuh"

#define SIDES 2 /* half of the threads each: columns, rows */
#define SIDE (BLOCK / SIDES)
#define AHEAD 10 /* counters or labels of a thread that are read at once */

/* What the counters along one side tell. */
struct side {
    uint32_t area, first, last, fullest, inner_first, inner_last;
    sum64 sum; /* of coordinates */
};

/* Calls LOOK(i, n) for the thread's share of a side's counters, of which there are LENGTH: counter I is N. */
template <class Look>
static __device__ __forceinline__ void by_counter(const uint32_t *counter, uint32_t length, const Look &look)
{
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x;

    for (uint32_t from = thread % SIDE; from < length; from += SIDE * AHEAD) {
        uint32_t n[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            n[k] = from + k * SIDE < length ? counter[from + k * SIDE] : 0;
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            look(from + k * SIDE, n[k]);
    }
}

/* Area, sums and outer box. */
static __device__ __forceinline__ void measure_outer(const uint32_t *counter, uint32_t length, side &ret_side)
{
    uint32_t area = 0, first = ~0u, last = 0, fullest = 0;
    sum64 sum = 0;

    by_counter(counter, length, [&](uint32_t i, uint32_t n) {
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
    if (threadIdx.x > 0)
        return;
    if (area > 0) {
        atomicAdd(&ret_side.area, area);
        atomicMin(&ret_side.first, first);
        atomicMax(&ret_side.last, last);
        atomicMax(&ret_side.fullest, fullest);
        atomicAdd(&ret_side.sum, sum);
    }
}

/* The inner box; clears the counters. */
static __device__ __forceinline__ void measure_inner(uint32_t *counter, uint32_t length, side &ret_side)
{
    const uint32_t fullest = ret_side.fullest;
    uint32_t first = ~0u, last = 0;

    by_counter(counter, length, [&](uint32_t i, uint32_t n) {
        if (n == 0)
            return;
        counter[i] = 0;
        first = n * 2 >= fullest ? min(first, i) : first;
        last = n * 2 >= fullest ? i : last;
    });
    first = plx_warp_least(first);
    last = plx_warp_most(last);
    if (threadIdx.x == 0) {
        atomicMin(&ret_side.inner_first, first);
        atomicMax(&ret_side.inner_last, last);
    }
}

/* Where the region's first pixel is in its first row. Half of the threads look. */
static __device__ __forceinline__ void find_first(const plx_regions_args &a, uint32_t label, const side (&s)[SIDES],
                                                  uint32_t *ret_x)
{
    const uint32_t *row = a.labels.row(s[1].first), last = s[0].last;

    for (uint32_t from = s[0].first + (threadIdx.y * BLOCK_X + threadIdx.x) % SIDE; from <= last; from += SIDE * AHEAD) {
        uint32_t x = ~0u;
#pragma unroll
        for (int k = AHEAD - 1; k >= 0; k--)
            x = from + k * SIDE <= last && row[from + k * SIDE] == label ? from + k * SIDE : x;
        if (x <= last) {
            atomicMin(ret_x, x);
            break;
        }
    }
}

/* Writes what is known of region I, but for its disparities. */
static __device__ __forceinline__ void write_sides(const plx_regions_args &a, uint32_t i, const side (&s)[SIDES],
                                                   uint32_t first_x)
{
    const side &x = s[0], &y = s[1];
    const bool any = x.area > 0;
    struct plx_region *region = &a.at.found[i];

    region->label = i + 1;
    region->area = x.area;
    region->first = any ? y.first * a.labels.width + first_x : 0;
    region->x0 = any ? (int)x.first : 0, region->x1 = (int)x.last;
    region->y0 = any ? (int)y.first : 0, region->y1 = (int)y.last;
    region->inner_x0 = any ? (int)x.inner_first : 0;
    region->inner_x1 = (int)x.inner_last;
    region->inner_y0 = any ? (int)y.inner_first : 0, region->inner_y1 = (int)y.inner_last;
    region->sum_x = x.sum;
    region->sum_y = y.sum;
    a.at.inner[i] = {region->inner_x0, region->inner_x1};
}

/* By a block: measures region I. Reads and clears 4 bytes a column and row. All counters of a region beyond the count are 0
 * unless there are labels beyond it, and then its bins, which nobody has read, are cleared too. */
static __device__ void measure_sides(const plx_regions_args &a, uint32_t i)
{
    __shared__ side s[SIDES];
    __shared__ uint32_t first_x; /* in the first row */
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, own = thread / SIDE;
    const uint32_t length = own == 0 ? a.labels.width : a.labels.height;
    uint32_t *counter = own == 0 ? a.at.column + i * a.labels.width : a.at.row + i * a.labels.height;

    if (thread < SIDES)
        s[thread] = {0, ~0u, 0, 0, ~0u, 0, 0};
    if (thread == 0)
        first_x = ~0u;
    __syncthreads();
    const bool known = i < *a.at.count;
    measure_outer(counter, length, s[own]);
    __syncthreads();
    if (s[0].area > 0) {
        if (own == 1)
            find_first(a, i + 1, s, &first_x);
        measure_inner(counter, length, s[own]);
    }
    __syncthreads();
    if (thread == 0 && known)
        write_sides(a, i, s, first_x);
    if (known)
        return;
    if (thread == 0)
        a.at.inner[i] = {PLX_NOWHERE, -PLX_NOWHERE};
    for (uint32_t bin = thread; bin < BINS && s[0].area > 0; bin += BLOCK)
        a.at.bins[i * BINS + bin] = 0;
}

#endif
