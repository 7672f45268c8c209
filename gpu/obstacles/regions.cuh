/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of stage regions share: counters of regions, and the images that they are counted in. */
#ifndef PLX_GPU_OBSTACLES_REGIONS_CUH
#define PLX_GPU_OBSTACLES_REGIONS_CUH

#include "gpu/device/follow.cuh"
#include "gpu/device/warp.cuh"

#include "core/region_fit.h"

#define BLOCK_X 32 /* a warp is a part of a row */
#define BLOCK_Y 8
#define BLOCK (BLOCK_X * BLOCK_Y)
#define ROWS 4                      /* of a thread, one below the other */
#define SPOTS (BLOCK * ROWS)        /* pixels of a block */
#define NO_REGION PLX_MAX_OBSTACLES /* of a pixel in none that has a record: more than any */
#define BINS 4096                   /* of disparity, 1/16 px: all of D = 256; what is more than the last goes there */
#define BIN_ROWS 8 /* that bins lie in, neighbours in different ones: what all blocks add to is spread over the cache */
#define BIN_ROW (BINS / BIN_ROWS)

static_assert(PLX_MAX_OBSTACLES == BLOCK, "a thread of a block has a region each");

typedef unsigned long long sum64; /* what atomicAdd takes; two's complement, so signs do not matter */

/* Sums of a region. STEP: gg, ge and ggd of the first step; INTERIOR, LEFT and RIGHT: of the second. */
enum region_sum { AREA, DISPARITY, X, Y, STEP, INTERIOR = STEP + 3, LEFT = INTERIOR + 3, RIGHT = LEFT + 3, SUMS = RIGHT + 3 };

#define PLX_NOWHERE (-0x100000) /* a disparity or column that nothing is near */

/* The columns of a region's inner box. */
struct __align__(8) plx_inner
{
    int x0, x1;
};

/* A pixel in a region: its column, row << 16; disparity, region << 16. */
struct __align__(8) plx_region_sample
{
    uint32_t place, what;
};

/* In memory of the device. All counters are 0 between frames: who reads them last clears them. */
struct plx_gpu_regions {
    uint32_t *bins;                  /* [PLX_MAX_OBSTACLES][BIN_ROWS][BIN_ROW] pixels of the region by disparity */
    sum64 *sums;                     /* [SUMS][PLX_MAX_OBSTACLES], a region's on lines of the cache of their own */
    uint32_t *column;                /* [PLX_MAX_OBSTACLES][width] pixels of the region in each column */
    uint32_t *row;                   /* [PLX_MAX_OBSTACLES][height]; the sizes are those of the image at hand */
    struct plx_region_sample *spots; /* [blocks][SPOTS] of each block's pixels those that the images may refine, in any order */
    uint32_t *spot_count;            /* [blocks] how many */
    struct plx_region *found;        /* [PLX_MAX_OBSTACLES] what is known so far */
    int *median;             /* [PLX_MAX_OBSTACLES] of that, for those who look at pixels; one beyond the count is nowhere */
    struct plx_inner *inner; /* [PLX_MAX_OBSTACLES] likewise */
    uint32_t *count;         /* of regions with a record: at most PLX_MAX_OBSTACLES */
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
    const T *const from = image.below(image.data + x, top);

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        ret_value[i] = i < rows ? *image.below(from, i) : 0;
}

/* The least of the thread's. */
static __device__ __forceinline__ uint32_t least_of(const uint32_t (&region)[ROWS])
{
    return min(min(region[0], region[1]), min(region[2], region[3]));
}

/* The regions of the thread's pixels by their LABEL; false if no pixel of the warp is in any. */
static __device__ __forceinline__ bool find_regions(const uint32_t (&label)[ROWS], uint32_t (&ret_region)[ROWS])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        ret_region[i] = min(label[i] - 1, NO_REGION);
    return __any_sync(~0u, least_of(ret_region) != NO_REGION);
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
        const uint32_t one = plx_warp_least(least_of(open));
        uint32_t mine = 0;
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

/* How deep a disparity is in a face: from 0 to twice PLX_INTERIOR_DEPTH if it is. */
static __device__ __forceinline__ uint32_t plx_depth_in_interior(int median, int disparity)
{
    return disparity - median + PLX_INTERIOR_DEPTH;
}

/* A grid of blocks of 32 x 8 threads, each 4 pixels of a column: 32 x 32 pixels. */
static inline dim3 plx_regions_grid(const plx_regions_args *args)
{
    return dim3(plx_blocks(args->labels.width, BLOCK_X), plx_blocks(args->labels.height, BLOCK_Y * ROWS));
}

/* regions_count.cu: pixels by column, by row and by disparity */
int plx_gpu_regions_count(struct plx_gpu *gpu, const plx_regions_args *args);

/* regions_median.cu: percentiles of disparity */
int plx_gpu_regions_median(struct plx_gpu *gpu, const plx_regions_args *args);

/* regions_face.cu: boxes, faces, and the first step by which the images refine disparities */
int plx_gpu_regions_interior(struct plx_gpu *gpu, const plx_regions_args *args);

/* regions_refine.cu: the second step */
int plx_gpu_regions_refine(struct plx_gpu *gpu, const plx_regions_args *args);

#endif
