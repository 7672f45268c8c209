/* SPDX-License-Identifier: Apache-2.0 */
/* Stage segments: obstacles made of stixels; the arithmetic is core/ground/segments.h. One block links the stixels; a grid
 * counts the pixels of each segment; one block numbers the segments; the grid again writes the numbers. */
#include "gpu/device/launch.cuh"
#include "gpu/obstacles/components.cuh"

#include "core/ground/segments.h"

#define LINK_THREADS 1024
#define BLOCK_X 32 /* pixels of a row: a warp */
#define BLOCK_Y 8
#define BLOCK_ROWS 64 /* rows of the picture in a block */
#define BLOCK_COLUMNS (BLOCK_X / PLX_CELL_WIDTH)
#define BLOCK_STIXELS (BLOCK_COLUMNS * PLX_COLUMN_STIXELS)

struct segments_args {
    plx_view<const uint16_t> disparity;
    const struct plx_ground *ground;
    struct plx_segments_params params;
    const struct plx_predictions *predictions; /* may be in the CPU's memory */
    plx_view<struct plx_stixel> stixels;
    plx_view<uint32_t> labels;
    struct plx_gpu_segments at;
    uint32_t *ret_count; /* may be in the CPU's memory */
    int columns;
};

static __device__ __forceinline__ struct plx_stixel *stixel_of(const segments_args &a, uint32_t number)
{
    return a.stixels.row((int)(number / PLX_COLUMN_STIXELS)) + number % PLX_COLUMN_STIXELS;
}

/* Links stixel I to the later ones of its column and to those of the next. */
static __device__ __forceinline__ void link_stixel(const segments_args &a, const struct plx_predictions &predictions,
                                                   uint32_t i, uint32_t count)
{
    const struct plx_stixel mine = *stixel_of(a, i);
    const uint32_t next = i / PLX_COLUMN_STIXELS * PLX_COLUMN_STIXELS + PLX_COLUMN_STIXELS;

    if (mine.disparity == 0)
        return;
    for (uint32_t k = i + 1; k < min(next + PLX_COLUMN_STIXELS, count); k++) {
        const struct plx_stixel other = *stixel_of(a, k);
        if (plx_stixels_link(a.params.depth_scale, &mine, &other, k < next) ||
            (k >= next &&
             plx_stixels_continue(a.params.depth_scale, &predictions, &mine, &other, (int)(i / PLX_COLUMN_STIXELS))))
            plx_merge(a.at.parent, i, k);
    }
}

/* Grid: one block, a thread each 1024th stixel. Reads 16 bytes a stixel, up to 16 times from cache, and the predictions once.
 */
static __global__ void __launch_bounds__(LINK_THREADS) link_kernel(segments_args a)
{
    __shared__ struct plx_predictions predictions;
    const uint32_t count = (uint32_t)a.columns * PLX_COLUMN_STIXELS;

    plx_grid_wait();
    if (threadIdx.x == 0)
        predictions.count = a.predictions->count;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < predictions.count; i += LINK_THREADS)
        predictions.box[i] = a.predictions->box[i];
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS) {
        a.at.parent[i] = i;
        a.at.extent[i] = {UINT32_MAX, 0, 0};
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS)
        link_stixel(a, predictions, i, count);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS)
        a.at.linked[i] = a.at.parent[i] = plx_find(a.at.parent, i);
}

/* Index in SHARED, the block's stixels, of the one that pixel (X, Y) lies on; below 0 if there is none. */
static __device__ __forceinline__ int find_stixel(const segments_args &a, const struct plx_stixel *shared,
                                                  const struct plx_ground &ground, int x, int y)
{
    const int first = (int)threadIdx.x / PLX_CELL_WIDTH * PLX_COLUMN_STIXELS, d = a.disparity.row(y)[x];

    PLX_UNROLL(1)
    for (int i = first; i < first + PLX_COLUMN_STIXELS && shared[i].disparity > 0; i++)
        if (plx_stixel_holds(&shared[i], &ground, &a.params, x, y, d))
            return i;
    return -1;
}

/* Grid: a block 32 x 64 pixels, a warp 8 of its rows. Reads 2 bytes a pixel. WRITE: writes 4 bytes a pixel; else counts the
 * pixels of segments, in the block first, then at their names. */
template <bool WRITE> static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) paint_kernel(segments_args a)
{
    __shared__ struct plx_stixel stixel[BLOCK_STIXELS];
    __shared__ uint32_t name[BLOCK_STIXELS], number[BLOCK_STIXELS], area[BLOCK_STIXELS];
    __shared__ struct plx_ground ground;
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x, first = blockIdx.x * BLOCK_STIXELS;
    const int x = (int)(blockIdx.x * BLOCK_X + threadIdx.x), top = (int)(blockIdx.y * BLOCK_ROWS + threadIdx.y);
    const int end = min((int)(blockIdx.y + 1) * BLOCK_ROWS, a.disparity.height);
    uint32_t run = 0;
    int before = -1;

    plx_grid_wait();
    if (thread == 0)
        ground = *a.ground;
    if (thread < BLOCK_STIXELS) {
        const bool exists = first + thread < (uint32_t)a.columns * PLX_COLUMN_STIXELS;
        stixel[thread] = exists ? *stixel_of(a, first + thread) : plx_stixel{};
        name[thread] = !exists ? 0 : WRITE ? a.at.parent[first + thread] : a.at.linked[first + thread];
        number[thread] = WRITE && exists ? a.at.number[name[thread]] : 0;
        area[thread] = 0;
    }
    __syncthreads();
    for (int y = top; x < a.disparity.width && y < end; y += BLOCK_Y) {
        const int here = find_stixel(a, stixel, ground, x, y);
        if (WRITE)
            a.labels.row(y)[x] = here >= 0 ? number[here] : 0;
        if (!WRITE && here != before) {
            if (before >= 0)
                atomicAdd(&area[before], run);
            before = here;
            run = 0;
        }
        run++;
    }
    if (WRITE)
        return;
    if (before >= 0)
        atomicAdd(&area[before], run);
    __syncthreads();
    if (thread < BLOCK_STIXELS && area[thread] > 0)
        atomicAdd(&a.at.extent[name[thread]].area, area[thread]);
}

/* Joins the segment of stixel I, if it or the other one is narrow, to those of the stixels of the next column. */
static __device__ __forceinline__ void join_stixel(const segments_args &a, uint32_t i, uint32_t count)
{
    const struct plx_stixel mine = *stixel_of(a, i);
    const uint32_t next = i / PLX_COLUMN_STIXELS * PLX_COLUMN_STIXELS + PLX_COLUMN_STIXELS, own = a.at.linked[i];

    if (mine.disparity == 0)
        return;
    for (uint32_t k = next; k < min(next + PLX_COLUMN_STIXELS, count); k++) {
        const struct plx_stixel other = *stixel_of(a, k);
        const uint32_t beside = a.at.linked[k];
        if (beside != own && plx_stixels_join(a.params.depth_scale, &mine, &other) &&
            plx_segments_may_join(&a.at.extent[own], &a.at.extent[beside], (uint32_t)a.params.min_area))
            plx_merge(a.at.parent, own, beside);
    }
}

/* Grid: one block, a thread each 1024th stixel. Lets narrow segments join, and ranks those that stay by comparing each with
 * all. */
static __global__ void __launch_bounds__(LINK_THREADS) number_kernel(segments_args a)
{
    __shared__ uint32_t segments;
    const uint32_t count = (uint32_t)a.columns * PLX_COLUMN_STIXELS;

    if (threadIdx.x == 0)
        segments = 0;
    plx_grid_wait();
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS) {
        atomicMin(&a.at.extent[a.at.linked[i]].first, i / PLX_COLUMN_STIXELS);
        atomicMax(&a.at.extent[a.at.linked[i]].last, i / PLX_COLUMN_STIXELS);
        a.at.area[i] = a.at.number[i] = 0;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS)
        join_stixel(a, i, count);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS)
        a.at.parent[i] = plx_find(a.at.parent, i);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS)
        if (a.at.extent[i].area > 0)
            atomicAdd(&a.at.area[a.at.parent[i]], a.at.extent[i].area);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS)
        if (a.at.parent[i] == i && a.at.area[i] >= (uint32_t)a.params.min_area)
            a.at.order[atomicAdd(&segments, 1)] = (uint64_t)~a.at.area[i] << 32 | i;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < segments; i += LINK_THREADS) {
        const uint64_t mine = a.at.order[i];
        uint32_t number = 1;
        for (uint32_t k = 0; k < segments; k++)
            number += a.at.order[k] < mine;
        a.at.number[(uint32_t)mine] = number;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += LINK_THREADS)
        stixel_of(a, i)->label = plx_stixel_segment(a.at.number[a.at.parent[i]]);
    if (threadIdx.x == 0)
        *a.ret_count = segments;
}

int plx_gpu_segments_create(struct plx_gpu *gpu)
{
    const size_t count = (size_t)plx_stixels_of(gpu->limits.width);
    struct plx_gpu_segments *at = &gpu->segments;
    const struct plx_gpu_part parts[] = {
        {(void **)&at->order, count * sizeof *at->order},   {(void **)&at->parent, count * sizeof *at->parent},
        {(void **)&at->area, count * sizeof *at->area},     {(void **)&at->number, count * sizeof *at->number},
        {(void **)&at->linked, count * sizeof *at->linked}, {(void **)&at->extent, count * sizeof *at->extent}};
    return plx_gpu_alloc_parts(gpu, parts, sizeof parts / sizeof parts[0]);
}

void plx_gpu_segments_destroy(struct plx_gpu *gpu)
{
    plx_gpu_free(&gpu->base, gpu->segments.order);
    gpu->segments.order = NULL;
}

int plx_gpu_segments(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                     const struct plx_segments_params *params, const struct plx_predictions *predictions,
                     const struct plx_image *stixels, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    struct plx_gpu *gpu = plx_gpu(self);

    if (!plx_segments_ok(disparity, params, stixels, ret_labels))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, disparity))
        return PLX_ERR_RANGE;
    const segments_args args = {.disparity = plx_view_of<const uint16_t>(disparity),
                                .ground = ground,
                                .params = *params,
                                .predictions = predictions,
                                .stixels = plx_view_of<struct plx_stixel>(stixels),
                                .labels = plx_view_of<uint32_t>(ret_labels),
                                .at = gpu->segments,
                                .ret_count = ret_count,
                                .columns = stixels->height};
    const dim3 block(BLOCK_X, BLOCK_Y),
        grid(plx_div_ceil(disparity->width, BLOCK_X), plx_div_ceil(disparity->height, BLOCK_ROWS));

    int result = PLX_LAUNCH_DEPENDENT(gpu, link_kernel, 1, LINK_THREADS, args);
    if (result == 0)
        result = plx_gpu_wait_side(gpu); /* for the dense disparity */
    if (result == 0)
        result = PLX_LAUNCH(gpu, paint_kernel<false>, grid, block, args);
    if (result == 0)
        result = PLX_LAUNCH_DEPENDENT(gpu, number_kernel, 1, LINK_THREADS, args);
    return result < 0 ? result : PLX_LAUNCH_DEPENDENT(gpu, paint_kernel<true>, grid, block, args);
}
