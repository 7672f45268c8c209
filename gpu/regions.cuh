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
#define NO_REGION 0xFFFFFFFFu
#define BINS 4096 /* of disparity, 1/16 px: all of D = 256; what is more than the last goes there */

static_assert(PLX_MAX_OBSTACLES == BLOCK, "a thread of a block has a region each");

typedef unsigned long long sum64; /* what atomicAdd takes; two's complement, so signs do not matter */

enum face_sum { AREA, DISPARITY, X, Y, STEP, FACE_SUMS = STEP + 3 }; /* STEP: gg, ge and ggd, as in the others */
enum refined_sum { FACE, LEFT = 3, RIGHT = 6, REFINED_SUMS = 9 };

/* Of a region, for those who look at pixels. */
struct plx_known {
    int median, inner_x0, inner_x1, unused;
};

struct plx_tally {
    sum64 face[FACE_SUMS];
    sum64 refined[REFINED_SUMS];
};

/* In memory of the device. All counters are 0 between frames: who reads them last clears them. */
struct plx_gpu_regions {
    uint32_t *bins;           /* [PLX_MAX_OBSTACLES][BINS] pixels of the region by disparity */
    struct plx_tally *tally;  /* [PLX_MAX_OBSTACLES] */
    uint32_t *column;         /* [PLX_MAX_OBSTACLES][width] pixels of the region in each column */
    uint32_t *row;            /* [PLX_MAX_OBSTACLES][height]; the sizes are those of the image at hand */
    struct plx_region *found; /* [PLX_MAX_OBSTACLES] what is known so far */
    struct plx_known *known;  /* [PLX_MAX_OBSTACLES] some of that */
    uint32_t *count;          /* of regions with a record: at most PLX_MAX_OBSTACLES */
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
        const char *labels = (const char *)(a.labels.row(top) + x), *disparities = (const char *)(a.disparity.row(top) + x);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const bool inside = x < a.labels.width && top + i < a.labels.height;
            label[i] = inside ? *(const uint32_t *)(labels + i * a.labels.pitch) : 0;
            disparity[i] = inside ? *(const uint16_t *)(disparities + i * a.disparity.pitch) : 0;
        }
    }
};

/* A grid of blocks of 32 x 8 threads, each 4 pixels of a column: 32 x 32 pixels. */
static inline dim3 plx_regions_grid(const plx_regions_args *args)
{
    return dim3(plx_blocks(args->labels.width, BLOCK_X), plx_blocks(args->labels.height, BLOCK_Y * ROWS));
}

/* regions_count.cu: pixels by column, by row and by disparity */
int plx_gpu_regions_count(struct plx_gpu *gpu, const plx_regions_args *args);

/* regions_measure.cu: boxes, sums and percentiles */
int plx_gpu_regions_measure(struct plx_gpu *gpu, const plx_regions_args *args);

/* regions_refine.cu: faces, and disparities refined by the images */
int plx_gpu_regions_refine(struct plx_gpu *gpu, const plx_regions_args *args);

#endif
