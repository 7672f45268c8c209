/* SPDX-License-Identifier: Apache-2.0 */
/* Stage histogram: brightness counts of the whole image and of a grid of zones. */
#include "gpu/total.cuh"
#include "gpu/vector.cuh"

#define LEVELS PLX_GPU_LEVELS
#define THREADS LEVELS
#define ZONES (PLX_ZONES * PLX_ZONES)
#define COPIES 32  /* of a block's counters, one a lane: each lane has a bank of its own, so no content is slow */
#define VECTOR 16  /* bytes that are read at once */
#define BATCH 4    /* vectors of a thread on their way at the same time */
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

/* Pixels X0..X1-1 of COUNT rows, cut into aligned vectors, of which the first and the last of a row may be cut. */
struct slice {
    plx_view<const uint8_t> grey;
    int x0, x1, y0, count, pieces; /* of a row */
};

/* BATCH pieces of a slice, THREADS apart. */
struct batch {
    plx_vector<uint32_t, VECTOR / 4> whole[BATCH];
    uint32_t read; /* a bit for each that is whole */

    __device__ __forceinline__ batch(const slice &s, int piece)
    {
        read = 0;
#pragma unroll
        for (int i = 0; i < BATCH; i++, piece += THREADS) {
            const uint8_t *row = s.grey.row(s.y0 + piece / s.pieces);
            const int x = start(s, row, piece);
            if (piece >= s.pieces * s.count || x < s.x0 || x + VECTOR > s.x1)
                continue;
            whole[i] = *(const plx_vector<uint32_t, VECTOR / 4> *)(row + x);
            read |= 1u << i;
        }
    }

    /* Column where PIECE, of ROW, begins. */
    static __device__ __forceinline__ int start(const slice &s, const uint8_t *row, int piece)
    {
        return s.x0 - (int)((uintptr_t)(row + s.x0) % VECTOR) + piece % s.pieces * VECTOR;
    }

    /* COUNTER: [level][COPIES], from the lane's copy on. */
    __device__ __forceinline__ void count(const slice &s, int piece, uint32_t *counter) const
    {
#pragma unroll
        for (int i = 0; i < BATCH; i++, piece += THREADS) {
            if (read >> i & 1) {
#pragma unroll
                for (int j = 0; j < VECTOR; j++)
                    atomicAdd(&counter[(whole[i].at[j / 4] >> j % 4 * 8 & 0xFF) * COPIES], 1u);
            } else if (piece < s.pieces * s.count) {
                const uint8_t *row = s.grey.row(s.y0 + piece / s.pieces);
                const int x = start(s, row, piece), end = min(x + VECTOR, s.x1);
                for (int k = max(x, s.x0); k < end; k++)
                    atomicAdd(&counter[row[k] * COPIES], 1u);
            }
        }
    }
};

/* Sum of the block's counters of the thread's level. */
static __device__ uint32_t sum_of_copies(const uint32_t *counter)
{
    const uint4 *copies = (const uint4 *)(counter + threadIdx.x * COPIES);
    uint32_t sum = 0;

#pragma unroll
    for (int i = 0; i < COPIES / 4; i++) { /* neighbours in other banks */
        const uint4 four = copies[(threadIdx.x + i) % (COPIES / 4)];
        sum += four.x + four.y + four.z + four.w;
    }
    return sum;
}

/* Moves a row of counts out and clears it; the count of the thread's bin. */
static __device__ __forceinline__ uint32_t write_row(uint32_t *counts, int bins, uint32_t *ret_row)
{
    if ((int)threadIdx.x >= bins)
        return 0;
    const uint32_t count = __ldcg(&counts[threadIdx.x]);
    counts[threadIdx.x] = 0;
    return ret_row[threadIdx.x] = count;
}

/* Grid: x zones in raster order, y slices of a zone's rows. Reads 1 byte a pixel, 16 at a time; the last slice of a zone writes
 * the zone's row of bins, the last zone that of the whole. */
static __global__ void __launch_bounds__(THREADS, PER_SM) histogram_kernel(histogram_args a)
{
    __shared__ __align__(16) uint32_t counter[LEVELS * COPIES];
    const int zone = blockIdx.x, zone_x = zone % PLX_ZONES, zone_y = zone / PLX_ZONES, slices = gridDim.y;
    const int x0 = zone_start(zone_x, a.grey.width), x1 = zone_start(zone_x + 1, a.grey.width);
    const int top = zone_start(zone_y, a.grey.height), rows = zone_start(zone_y + 1, a.grey.height) - top;
    const int first = rows * (int)blockIdx.y / slices, last = rows * ((int)blockIdx.y + 1) / slices;
    const slice s = {a.grey, x0, x1, top + first, last - first, (x1 - x0) / VECTOR + 2};
    uint32_t *mine = counter + threadIdx.x % COPIES;
    batch pixels(s, threadIdx.x); /* on their way while the counters are cleared */

    for (int i = threadIdx.x; i < LEVELS * COPIES / 4; i += THREADS)
        ((uint4 *)counter)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    for (int i = threadIdx.x; i < s.pieces * s.count;) {
        const int next = i + BATCH * THREADS;
        const batch later(s, next);
        pixels.count(s, i, mine);
        pixels = later;
        i = next;
    }
    __syncthreads();

    const uint32_t sum = sum_of_copies(counter);
    if (sum > 0)
        atomicAdd(&a.totals->bins[1 + zone][threadIdx.x * a.bins.width / LEVELS], sum);
    if (!plx_last_block(&a.totals->slices[zone], slices))
        return;
    const uint32_t count = write_row(a.totals->bins[1 + zone], a.bins.width, a.bins.row(1 + zone));
    if (count > 0)
        atomicAdd(&a.totals->bins[0][threadIdx.x], count);
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
