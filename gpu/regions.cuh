/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of stage regions share: counters of regions, and the images that they are counted in. */
#ifndef PLX_GPU_REGIONS_CUH
#define PLX_GPU_REGIONS_CUH

#include "gpu/device.cuh"

#include "core/region_fit.h"

#define BLOCK_X 32 /* a warp is a part of a row */
#define BLOCK_Y 8
#define BLOCK (BLOCK_X * BLOCK_Y)
#define ROWS 4 /* of a thread, one below the other */
#define BYTE 256
#define PERCENTILES 3
#define NO_REGION 0xFFFFFFFFu

typedef unsigned long long sum64; /* what atomicAdd takes; two's complement, so signs do not matter */

enum face_sum { AREA, DISPARITY, X, Y, FACE_GG, FACE_GE, FACE_GGD, FACE_SUMS };
enum refined_sum { FACE, LEFT = 3, RIGHT = 6, REFINED_SUMS = 9 };

/* Counters of one region, zeroed before each frame. */
struct plx_tally {
    uint32_t high[BYTE];             /* pixels by high byte of the disparity */
    uint32_t low[PERCENTILES][BYTE]; /* of those with the percentile's high byte, pixels by low byte */
    sum64 face[FACE_SUMS];
    sum64 refined[REFINED_SUMS];
    uint32_t first; /* complement of the first pixel's index */
    uint32_t unused;
};

/* What is known of a region so far. */
struct plx_finding {
    struct plx_region region;
    uint32_t rank[PERCENTILES]; /* of the percentile among the pixels of its high byte */
    uint32_t high[PERCENTILES];
};

/* In memory of the device. */
struct plx_gpu_regions {
    struct plx_tally *tally;     /* [PLX_MAX_OBSTACLES], and behind it */
    uint32_t *column;            /* [PLX_MAX_OBSTACLES][width] pixels of the region in each column, and behind it */
    uint32_t *row;               /* [PLX_MAX_OBSTACLES][height]; the sizes are those of the image at hand */
    uint32_t *count;             /* of regions with a record: at most PLX_MAX_OBSTACLES */
    struct plx_finding *finding; /* [PLX_MAX_OBSTACLES] */
};

struct plx_regions_args {
    plx_view<const uint32_t> labels;
    plx_view<const uint16_t> disparity;
    plx_view<const uint8_t> left, right;
    plx_view<uint16_t> published;
    struct plx_gpu_regions at;
    const uint32_t *count;
    int min_disparity;
    struct plx_region *ret_regions;
};

static __device__ __forceinline__ uint32_t count_of(const plx_regions_args &a)
{
    return *a.at.count;
}

/* The label of a pixel; 0 outside. */
static __device__ __forceinline__ uint32_t label_at(const plx_regions_args &a, int x, int y)
{
    return x < 0 || y < 0 || x >= a.labels.width || y >= a.labels.height ? 0 : a.labels.row(y)[x];
}

/* A thread's pixels, read at once so that the reads overlap. */
struct plx_column {
    uint32_t label[ROWS];
    int disparity[ROWS]; /* 0 outside */

    __device__ plx_column(const plx_regions_args &a, int x, int top)
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const bool inside = x < a.labels.width && top + i < a.labels.height;
            label[i] = inside ? a.labels.row(top + i)[x] : 0;
            disparity[i] = inside ? a.disparity.row(top + i)[x] : 0;
        }
    }
};

/* A grid of blocks of 32 x 8 threads, each 4 pixels of a column: 32 x 32 pixels. */
static inline dim3 plx_regions_grid(const plx_regions_args *args)
{
    return dim3(plx_blocks(args->labels.width, BLOCK_X), plx_blocks(args->labels.height, BLOCK_Y * ROWS));
}

/* regions_count.cu: boxes, sums and percentiles */
int plx_gpu_regions_count(struct plx_gpu *gpu, const plx_regions_args *args);

/* regions_refine.cu: faces, and disparities refined by the images */
int plx_gpu_regions_refine(struct plx_gpu *gpu, const plx_regions_args *args);

#endif
