/* SPDX-License-Identifier: Apache-2.0 */
/* Stage histogram: brightness counts of the whole image and of a grid of zones. */
#include "gpu/device/launch.cuh"

#define LEVELS PLX_GPU_LEVELS
#define THREADS 512
#define PER_SM 2 /* blocks that a multiprocessor is meant to hold */
#define ZONES (PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES)
#define COPIES 32 /* copies of a block's counters: each lane has its own in its own bank, so no image is slow */
#define FOURS (LEVELS * COPIES / 4 / THREADS) /* vectors of four counters that a thread clears and adds up */
#define SHIFT 7                               /* from a level to the byte offset of its counters: log2(4 * COPIES) */
#define VECTOR 16                             /* bytes that are read at once */
#define MIN_PIXELS (THREADS * VECTOR)         /* pixels of a block, unless the zone has fewer */

struct histogram_args {
    plx_view<const uint8_t> grey;
    plx_view<uint32_t> bins;
    int rows;         /* rows of a block, at most */
    int pieces;       /* vectors that hold a zone's row, at most */
    int rows_at_once; /* rows that a block reads at once, a piece a thread */
    struct plx_gpu_accumulators *totals;
};

/* First row or column of zone INDEX: pixel i of COUNT lies in zone i * PLX_HISTOGRAM_TILES / count. */
static __device__ __forceinline__ int zone_start(int index, int count)
{
    return (count * index + PLX_HISTOGRAM_TILES - 1) / PLX_HISTOGRAM_TILES;
}

typedef plx_vector<uint32_t, VECTOR / 4> pixels;

/* A column of aligned vectors: number PIECE of those that hold each row of a zone, which begins at FROM. */
struct column {
    const uint8_t *from;
    size_t pitch;
    int width, piece; /* the width of the zone */

    /* The vector in a row; *RET_START: its first pixel, in the zone. */
    __device__ __forceinline__ const uint8_t *vector(int row, int *ret_start) const
    {
        const uint8_t *at = from + row * pitch + piece * VECTOR;
        const int before = (int)((uintptr_t)at % VECTOR);
        *ret_start = piece * VECTOR - before;
        return at - before;
    }

    /* True if the vectors lie within columns 0 .. SIZE - 1, where the zone begins at column ZONE. */
    __device__ __forceinline__ bool within(int zone, int size) const
    {
        const bool aligned = pitch % VECTOR == 0;
        const int least = aligned ? (int)((uintptr_t)from % VECTOR) : 0, most = aligned ? least : VECTOR - 1;
        const int first = zone + piece * VECTOR;
        return first - most >= 0 && first - least + VECTOR <= size;
    }
};

/* A block's counters, [level][COPIES]; each lane adds to its own copy. */
struct counters {
    char *all;
    uint32_t copy; /* offset of the lane's */
    uint32_t one;  /* 1, unknown to the compiler: for a constant 1 it looks for equal addresses first, which is slower */

    __device__ __forceinline__ explicit counters(uint32_t *all)
        : all((char *)all), copy(threadIdx.x % COPIES * (uint32_t)sizeof *all), one(gridDim.z)
    {
    }

    /* SHIFTED: a level at bit SHIFT; other bits are ignored. */
    __device__ __forceinline__ void add(uint32_t shifted) const
    {
        atomicAdd((uint32_t *)(all + ((shifted & (LEVELS - 1) << SHIFT) | copy)), one);
    }

    __device__ __forceinline__ void add_pixel(const pixels &p, int i) const
    {
        add(i % 4 ? p.at[i / 4] >> (8 * (i % 4) - SHIFT) : p.at[i / 4] << SHIFT);
    }

    __device__ __forceinline__ void add_all(const pixels &p) const
    {
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            add_pixel(p, i);
    }

    /* Only the pixels within the zone; the vector begins at column START of the zone. */
    __device__ __forceinline__ void add_some(const pixels &p, int start, int width) const
    {
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if ((unsigned)(start + i) < (unsigned)width)
                add_pixel(p, i);
    }

    /* The same for a vector that is not within the image, so it is read byte by byte. */
    __device__ __forceinline__ void add_bytes(const uint8_t *vector, int start, int width) const
    {
#pragma unroll 1
        for (int i = max(0, -start); i < min(VECTOR, width - start); i++)
            add((uint32_t)vector[i] << SHIFT);
    }
};

/* The thread's part of the count of level threadIdx.x * LEVELS / THREADS; its neighbours have the rest. */
static __device__ __forceinline__ uint32_t sum_of_copies(const uint32_t *counter)
{
    const uint4 *copies = (const uint4 *)counter + threadIdx.x * FOURS;
    const int level = threadIdx.x * LEVELS / THREADS;
    uint32_t sum = 0;

#pragma unroll
    for (int i = 0; i < FOURS; i++) { /* neighbouring levels begin in different banks */
        const uint4 four = copies[(level + i) % FOURS];
        sum += four.x + four.y + four.z + four.w;
    }
    return sum;
}

/* Adds VALUE to *TOTAL, whose upper half counts the additions. True for the last of ADDERS, which gets the sum and resets the
 * total. No thread waits, and no other memory is read. */
static __device__ __forceinline__ bool add_up(unsigned long long *total, uint32_t value, unsigned adders, uint32_t *ret_sum)
{
    const unsigned long long before = atomicAdd(total, 1ULL << 32 | value);

    if (before >> 32 != adders - 1)
        return false;
    *total = 0;
    *ret_sum = (uint32_t)before + value;
    return true;
}

/* Adds the block's count of each bin to that of the zone; the last block of a zone adds the zone's bin to the whole image's. */
static __device__ __forceinline__ void add_to_bins(const histogram_args &a, int zone, uint32_t count)
{
    const int threads = THREADS / a.bins.width, group = min(threads, warpSize), bin = threadIdx.x / threads; /* in a bin */

    PLX_UNROLL(1)
    for (int step = group / 2; step > 0; step /= 2)
        count += __shfl_xor_sync(PLX_ALL_LANES, count, step);
    if (threadIdx.x % group == 0 && add_up(&a.totals->bins[1 + zone][bin], count, gridDim.y * (threads / group), &count)) {
        a.bins.row(1 + zone)[bin] = count;
        if (add_up(&a.totals->bins[0][bin], count, ZONES, &count))
            a.bins.row(0)[bin] = count;
    }
}

/* Grid: x zones in raster order, y slices of a zone's rows; a thread takes one piece of every rows_at_once-th row. Reads 1 byte
 * a pixel, 16 at a time. */
static __global__ void __launch_bounds__(THREADS, PER_SM) histogram_kernel(histogram_args a)
{
    __shared__ __align__(16) uint32_t counter[LEVELS * COPIES];
    const int zone = blockIdx.x, zone_x = zone % PLX_HISTOGRAM_TILES, zone_y = zone / PLX_HISTOGRAM_TILES;
    const int x0 = zone_start(zone_x, a.grey.width), x1 = zone_start(zone_x + 1, a.grey.width);
    const int y0 = zone_start(zone_y, a.grey.height) + blockIdx.y * a.rows;
    const int y1 = min(y0 + a.rows, zone_start(zone_y + 1, a.grey.height));
    const int first = threadIdx.x / (unsigned)a.pieces, piece = threadIdx.x - first * a.pieces;
    const int end = first < a.rows_at_once ? y1 - y0 : 0;
    const counters mine(counter);
    const column c = {a.grey.row(y0) + x0, a.grey.pitch, x1 - x0, piece};
    const bool whole = c.within(0, c.width), inside = c.within(x0, a.grey.width);

    pixels next = {};
    int start;

#pragma unroll
    for (int i = 0; i < FOURS; i++) /* while the kernel before ends */
        ((uint4 *)counter)[threadIdx.x + i * THREADS] = make_uint4(0, 0, 0, 0);
    plx_grid_wait();
    if (inside && first < end)
        next = *(const pixels *)c.vector(first, &start);
    __syncthreads();
    plx_trigger_dependents();
#pragma unroll 1
    for (int row = first; row < end; row += a.rows_at_once) {
        const pixels read = next;
        if (inside && row + a.rows_at_once < end)
            next = *(const pixels *)c.vector(row + a.rows_at_once, &start);
        const uint8_t *vector = c.vector(row, &start);
        if (whole)
            mine.add_all(read);
        else if (inside)
            mine.add_some(read, start, c.width);
        else
            mine.add_bytes(vector, start, c.width);
    }
    __syncthreads();
    add_to_bins(a, zone, sum_of_copies(counter));
}

int plx_gpu_histogram(struct plx_stages *self, const struct plx_image *grey, int bins, const struct plx_image *ret_bins)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(grey, PLX_U8) || !plx_image_ok(ret_bins, PLX_U32) || bins < 1 || LEVELS % bins != 0 ||
        ret_bins->width != bins || ret_bins->height != 1 + ZONES)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, grey))
        return PLX_ERR_RANGE;

    const int zone_width = plx_div_ceil(grey->width, PLX_HISTOGRAM_TILES),
              zone_height = plx_div_ceil(grey->height, PLX_HISTOGRAM_TILES);
    const int wanted = zone_width * zone_height / MIN_PIXELS, resident = gpu->multiprocessors * PER_SM / ZONES;
    const int fewer = wanted < resident ? wanted : resident, slices = fewer < 1 ? 1 : fewer;
    const bool aligned = plx_rows_aligned(grey, VECTOR) && grey->width % (PLX_HISTOGRAM_TILES * VECTOR) == 0;
    const int pieces = (int)plx_div_ceil(zone_width, VECTOR) + !aligned;
    const struct histogram_args args = {plx_view_of<const uint8_t>(grey),
                                        plx_view_of<uint32_t>(ret_bins),
                                        (int)plx_div_ceil(zone_height, slices),
                                        pieces,
                                        THREADS / pieces,
                                        gpu->totals};
    return PLX_LAUNCH_DEPENDENT(gpu, histogram_kernel, dim3(ZONES, (unsigned)slices), THREADS, args);
}
