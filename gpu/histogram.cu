/* SPDX-License-Identifier: Apache-2.0 */
/* Stage histogram: brightness counts of the whole image and of a grid of zones. */
#include "gpu/total.cuh"
#include "gpu/vector.cuh"

#define LEVELS PLX_GPU_LEVELS
#define THREADS (2 * LEVELS)
#define ZONES (PLX_ZONES * PLX_ZONES)
#define COPIES 32  /* of a block's counters, one a lane: each lane has a bank of its own, so no content is slow */
#define VECTOR 16  /* bytes that are read at once */
#define LEAST 4096 /* pixels of a block, fewer only where a zone has no more */
#define PER_SM 4   /* blocks that a multiprocessor is meant to hold */

struct histogram_args {
    plx_view<const uint8_t> grey;
    plx_view<uint32_t> bins;
    struct plx_gpu_totals *totals;
};

/* First row or column of zone INDEX: pixel i of COUNT lies in zone i * PLX_ZONES / count. */
static __device__ __forceinline__ int zone_start(int index, int count)
{
    return (count * index + PLX_ZONES - 1) / PLX_ZONES;
}

static __device__ __forceinline__ void count_level(uint32_t *counter, unsigned level)
{
    atomicAdd(&counter[level * COPIES], 1u);
}

/* Counts pixels x0..x1-1 of the COUNT rows from Y0 on. COUNTER: [level][COPIES], from the lane's copy on. */
static __device__ void count_pixels(const plx_view<const uint8_t> &grey, int x0, int x1, int y0, int count, uint32_t *counter)
{
    const int pieces = (x1 - x0) / VECTOR + 2; /* of a row: aligned vectors, of which the first and the last may be cut */

    for (int i = threadIdx.x; i < pieces * count; i += THREADS) {
        const uint8_t *row = grey.row(y0 + i / pieces);
        const int piece = x0 - (int)((uintptr_t)(row + x0) % VECTOR) + i % pieces * VECTOR;
        const int first = max(piece, x0), last = min(piece + VECTOR, x1);
        if (last - first == VECTOR) {
            const plx_vector<uint32_t, VECTOR / 4> word =
                plx_load<VECTOR / 4>((const uint32_t *)(row + piece), VECTOR / 4, true);
#pragma unroll
            for (int j = 0; j < VECTOR; j++)
                count_level(counter, word.at[j / 4] >> j % 4 * 8 & 0xFF);
        } else {
            for (int x = first; x < last; x++)
                count_level(counter, row[x]);
        }
    }
}

/* Adds the block's counters to those of its zone and of the whole; two threads a level. */
static __device__ void merge(const uint32_t *counter, int bins, uint32_t *zone, uint32_t *whole)
{
    const int level = threadIdx.x / 2, bin = level * bins / LEVELS;
    uint32_t sum = 0;

#pragma unroll
    for (int i = 0; i < COPIES / 2; i++) /* each thread of a warp in another bank */
        sum += counter[level * COPIES + (threadIdx.x % 2 * COPIES / 2 + threadIdx.x / 2 + i) % COPIES];
    sum += __shfl_down_sync(0xFFFFFFFFu, sum, 1);
    if (threadIdx.x % 2 == 0 && sum > 0) {
        atomicAdd(&zone[bin], sum);
        atomicAdd(&whole[bin], sum);
    }
}

/* Moves a row of counts out and clears it. */
static __device__ __forceinline__ void write_row(uint32_t *counts, int bins, uint32_t *ret_row)
{
    if (threadIdx.x < LEVELS) {
        const uint32_t count = __ldcg(&counts[threadIdx.x]);
        counts[threadIdx.x] = 0;
        if ((int)threadIdx.x < bins)
            ret_row[threadIdx.x] = count;
    }
}

/* Grid: x zones in raster order, y slices of a zone's rows. Reads 1 byte a pixel, 16 at a time; the last slice of a zone writes
 * the zone's row of bins, the last zone that of the whole. */
static __global__ void __launch_bounds__(THREADS) histogram_kernel(histogram_args a)
{
    __shared__ __align__(16) uint32_t counter[LEVELS * COPIES];
    const int zone = blockIdx.x, zone_x = zone % PLX_ZONES, zone_y = zone / PLX_ZONES, slices = gridDim.y;
    const int x0 = zone_start(zone_x, a.grey.width), x1 = zone_start(zone_x + 1, a.grey.width);
    const int y0 = zone_start(zone_y, a.grey.height), rows = zone_start(zone_y + 1, a.grey.height) - y0;
    const int first = rows * (int)blockIdx.y / slices, last = rows * ((int)blockIdx.y + 1) / slices;

    for (int i = threadIdx.x; i < LEVELS * COPIES / 4; i += THREADS)
        ((uint4 *)counter)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    count_pixels(a.grey, x0, x1, y0 + first, last - first, counter + threadIdx.x % COPIES);
    __syncthreads();
    merge(counter, a.bins.width, a.totals->bins[1 + zone], a.totals->bins[0]);
    if (!plx_last_block(&a.totals->slices[zone], slices))
        return;
    write_row(a.totals->bins[1 + zone], a.bins.width, a.bins.row(1 + zone));
    if (plx_last_block(&a.totals->blocks, ZONES))
        write_row(a.totals->bins[0], a.bins.width, a.bins.row(0));
}

int plx_gpu_histogram(struct plx_stages *self, const struct plx_image *grey, int bins, const struct plx_image *ret_bins)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(grey, PLX_U8) || !plx_image_ok(ret_bins, PLX_U32) || bins < 1 || LEVELS % bins != 0 ||
        ret_bins->width != bins || ret_bins->height != 1 + ZONES)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, grey))
        return PLX_ERR_RANGE;

    const int pixels = grey->width * grey->height, most = gpu->multiprocessors * PER_SM / ZONES;
    const int wanted = pixels / (ZONES * LEAST), fewer = wanted < most ? wanted : most, slices = fewer < 1 ? 1 : fewer;
    const struct histogram_args args = {plx_view_of<const uint8_t>(grey), plx_view_of<uint32_t>(ret_bins), gpu->totals};
    histogram_kernel<<<dim3(ZONES, (unsigned)slices), THREADS, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, histogram_kernel);
}
