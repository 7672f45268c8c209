/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of stage regions share: counters of regions, and a warp's pixels by region. */
#ifndef PLX_GPU_OBSTACLES_REGIONS_CUH
#define PLX_GPU_OBSTACLES_REGIONS_CUH

#include "gpu/device/reduce.cuh"

#include "core/ground/obstacles.h"

#define BLOCK_X 32 /* a warp is a part of a row */
#define BLOCK_Y 8
#define BLOCK (BLOCK_X * BLOCK_Y)
#define ROWS 4                      /* rows of a thread, one below the other */
#define NO_REGION PLX_MAX_OBSTACLES /* for a pixel without a region that has a record: more than any */
#define BINS 4096                   /* bins of disparity, 1/16 px: all of D = 256; the last one also counts what is beyond */

static_assert(PLX_MAX_OBSTACLES == BLOCK, "a thread of a block has a region each");

typedef unsigned long long sum64; /* as atomicAdd takes it; two's complement, so signs do not matter */

/* Parts of a region whose disparity the images refine. */
enum part { INTERIOR, LEFT_STRIP, RIGHT_STRIP, PARTS };

/* Sums of a region: of its interior; gg, ge and ggd (core/ground/obstacles.h) of the first pass, then of the second pass by
 * part. */
enum region_sum { AREA, DISPARITY, X, Y, FIRST_PASS, SECOND_PASS = FIRST_PASS + 3, SUMS = SECOND_PASS + 3 * PARTS };

/* In device memory. All counters and sums are 0 between frames: the kernel that reads them last clears them. */
struct plx_gpu_regions {
    uint32_t *bins;           /* [PLX_MAX_OBSTACLES][BINS] pixels of the region by disparity */
    uint32_t *column;         /* [PLX_MAX_OBSTACLES][width] pixels of the region in each column */
    uint32_t *row;            /* [PLX_MAX_OBSTACLES][height]; both sizes are those of the frame's image */
    sum64 *sums;              /* [SUMS][PLX_MAX_OBSTACLES] */
    struct plx_region *found; /* [PLX_MAX_OBSTACLES] what is known so far of the first COUNT regions */
    uint32_t *count;          /* regions with a record */
};

struct plx_regions_args {
    plx_view<const uint32_t> labels;
    plx_view<const uint16_t> disparity;
    plx_view<const uint8_t> left, right;
    plx_view<uint16_t> published;
    struct plx_gpu_regions at;
    const uint32_t *count; /* count that stage label made; may be in the CPU's memory */
    int min_disparity;
    struct plx_region *ret_regions; /* likewise */
};

/* A thread's pixels, from (x, top) down; 0 and NO_REGION outside the image. */
struct plx_region_pixels {
    const int x, top;
    uint32_t label[ROWS], disparity[ROWS], region[ROWS];

    __device__ __forceinline__ explicit plx_region_pixels(const plx_regions_args &a)
        : x(blockIdx.x * BLOCK_X + threadIdx.x), top((blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS)
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            label[i] = is_inside(a, i) ? a.labels.row(top + i)[x] : 0;
            disparity[i] = is_inside(a, i) ? a.disparity.row(top + i)[x] : 0;
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            region[i] = min(label[i] - 1, NO_REGION);
    }

    __device__ __forceinline__ bool is_inside(const plx_regions_args &a, int i) const
    {
        return x < a.labels.width && top + i < a.labels.height;
    }

    __device__ __forceinline__ bool have_region() const
    {
        return min(min(region[0], region[1]), min(region[2], region[3])) != NO_REGION;
    }
};

/* Calls ADD(one, own) for each region of the warp's pixels; OWN has a bit for each of the thread's pixels in that region. The
 * whole warp calls it. */
template <class Add> static __device__ __forceinline__ void plx_for_each_region(const uint32_t (&region)[ROWS], const Add &add)
{
    uint32_t open[ROWS]; /* regions still to be added */

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        open[i] = region[i];
    for (;;) {
        const uint32_t one = plx_warp_min(min(min(open[0], open[1]), min(open[2], open[3])));
        uint32_t own = 0;
        if (one == NO_REGION)
            return;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            own |= open[i] == one ? 1u << i : 0;
            open[i] = open[i] == one ? NO_REGION : open[i];
        }
        add(one, own);
    }
}

/* The sum of the warp's values, each between -2^50 and 2^50. */
static __device__ __forceinline__ sum64 plx_warp_sum64(int64_t value)
{
    const uint32_t low = plx_warp_sum((uint32_t)value & 0xFFFFFF), high = plx_warp_sum((uint32_t)(value >> 24));
    return low + ((sum64)(int64_t)(int32_t)high << 24);
}

/* A block of 32 x 8 threads has 32 x 32 pixels. */
static inline dim3 plx_regions_grid(const plx_regions_args *args)
{
    return dim3(plx_div_ceil(args->labels.width, BLOCK_X), plx_div_ceil(args->labels.height, BLOCK_Y * ROWS));
}

/* regions_measure.cu: area, boxes and percentiles of disparity; published labels */
int plx_gpu_regions_measure(struct plx_gpu *gpu, const plx_regions_args *args);

#endif
