/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of stage regions share: counters of regions, and the images that they are counted in. */
#ifndef PLX_GPU_REGIONS_CUH
#define PLX_GPU_REGIONS_CUH

#include "gpu/follow.cuh"
#include "gpu/warp.cuh"

#include "core/region_fit.h"

#define BLOCK_X 32 /* a warp is a part of a row */
#define BLOCK_Y 8
#define BLOCK (BLOCK_X * BLOCK_Y)
#define ROWS 4 /* of a thread, one below the other */
#define NO_REGION 0xFFFFFFFFu
#define BINS 4096  /* of disparity, 1/16 px: all of D = 256; what is more than the last goes there */
#define BIN_ROWS 8 /* that bins lie in, neighbours in different ones: what all blocks add to is spread over the cache */
#define BIN_ROW (BINS / BIN_ROWS)

static_assert(PLX_MAX_OBSTACLES == BLOCK, "a thread of a block has a region each");

typedef unsigned long long sum64; /* what atomicAdd takes; two's complement, so signs do not matter */

/* Sums of a region. STEP: gg, ge and ggd of the first step; FACE, LEFT and RIGHT: of the second. */
enum region_sum { AREA, DISPARITY, X, Y, STEP, FACE = STEP + 3, LEFT = FACE + 3, RIGHT = LEFT + 3, SUMS = RIGHT + 3 };

#define PLX_NOWHERE (-0x100000) /* a disparity or column that nothing is near */

/* Of a region, for those who look at pixels; one beyond the count is nowhere. */
struct plx_known {
    int median, inner_x0, inner_x1, unused;
};

/* In memory of the device. All counters are 0 between frames: who reads them last clears them. */
struct plx_gpu_regions {
    uint32_t *bins;           /* [PLX_MAX_OBSTACLES][BIN_ROWS][BIN_ROW] pixels of the region by disparity */
    sum64 *sums;              /* [SUMS][PLX_MAX_OBSTACLES], a region's on lines of the cache of their own */
    uint32_t *column;         /* [PLX_MAX_OBSTACLES][width] pixels of the region in each column */
    uint32_t *row;            /* [PLX_MAX_OBSTACLES][height]; the sizes are those of the image at hand */
    uint4 *within;            /* [blocks][BLOCK_Y] of a warp's four rows a bit a pixel: whether the images may refine it */
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

/* How many of a thread's pixels, from (X, TOP) down, are in the image. */
static __device__ __forceinline__ int rows_inside(const plx_regions_args &a, int x, int top)
{
    return x >= 0 && x < a.labels.width ? a.labels.height - top : 0;
}

/* Those pixels, read at once so that the reads overlap; 0 outside. */
template <class T>
static __device__ __forceinline__ void read_column(plx_view<const T> image, int x, int top, int rows,
                                                   uint32_t (&ret_value)[ROWS])
{
    const char *from = (const char *)(image.row(top) + x);

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        ret_value[i] = i < rows ? *(const T *)(from + i * image.pitch) : 0;
}

/* The regions of the thread's pixels, of COUNT, by their LABEL; false if no pixel of the warp is in any. */
static __device__ __forceinline__ bool find_regions(const uint32_t (&label)[ROWS], uint32_t count, uint32_t (&ret_region)[ROWS])
{
    bool any = false;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        ret_region[i] = label[i] - 1 < count ? label[i] - 1 : NO_REGION;
        any = any || ret_region[i] != NO_REGION;
    }
    return __any_sync(~0u, any);
}

/* Calls ADD(one, mine) for each of the regions that the warp's pixels have, MINE being those of the thread's pixels that are in
 * it. All lanes call it. */
template <class Add> static __device__ __forceinline__ void by_region(const uint32_t (&region)[ROWS], const Add &add)
{
    uint32_t open[ROWS]; /* what is still to be added */

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        open[i] = region[i];
    for (;;) {
        uint32_t one = NO_REGION, mine = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            one = min(one, open[i]);
        one = plx_warp_least(one);
        if (one == NO_REGION)
            return;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            mine |= open[i] == one ? 1u << i : 0;
            open[i] = open[i] == one ? NO_REGION : open[i];
        }
        add(one, mine);
    }
}

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
