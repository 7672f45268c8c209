/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connected components by union-find in three kernels: within tiles in shared memory, across the borders of tiles, then areas.
 * Of two roots the later pixel is hung below the earlier one, so that the root is the component's first pixel whatever the
 * order. Rows are joined as runs; links that follow from others are left out (Playne and Hawick 2018 describe both).
 */
#include "gpu/components.cuh"

#include <stdlib.h>

#define TILE_X 32 /* a warp */
#define TILE_Y 16
#define BLOCK 256

struct find_args {
    plx_view<const uint8_t> mask; /* data may be NULL */
    plx_view<const uint16_t> disparity;
    uint32_t *parent, *area, *roots;
    int max_step;
};

/* The disparity of a pixel that is in; PLX_DISPARITY_INVALID for one that is out or outside. */
static __device__ __forceinline__ int disparity_at(const find_args &a, int x, int y)
{
    if (x < 0 || y < 0 || x >= a.disparity.width || y >= a.disparity.height || (a.mask.data && a.mask.row(y)[x] == 0))
        return PLX_DISPARITY_INVALID;
    return a.disparity.row(y)[x];
}

static __device__ __forceinline__ bool linked(int a, int b, int max_step)
{
    return a != PLX_DISPARITY_INVALID && b != PLX_DISPARITY_INVALID && abs(a - b) <= max_step;
}

static __device__ __forceinline__ uint32_t find(const volatile uint32_t *parent, uint32_t i)
{
    for (uint32_t up = parent[i]; up != i; up = parent[i])
        i = up;
    return i;
}

/* Other threads join at the same time: whoever finds a root that has got a parent meanwhile goes on with that one. */
static __device__ void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find(parent, a);
        b = find(parent, b);
        if (a == b)
            return;
        const uint32_t late = max(a, b), early = min(a, b), was = atomicMin(&parent[late], early);
        if (was == late)
            return;
        a = was;
        b = early;
    }
}

/* Which of the links of a pixel with the row above are to be joined. Straight up is left out where the pixels to the left of
 * both say the same, a diagonal where a way round by straight links does. */
struct links {
    bool up, up_left, up_right;
};

/* D: disparities of the pixel's row and, ABOVE, of the row above, at x - 1, x, x + 1; LEFT and RIGHT, ABOVE_LEFT and
 * ABOVE_RIGHT: whether the middle one is linked within its row. */
static __device__ __forceinline__ links links_above(const int d[3], const int above[3], int max_step, bool left, bool right,
                                                    bool above_left, bool above_right)
{
    const bool up = linked(d[1], above[1], max_step), before = linked(d[0], above[0], max_step);
    const bool after = linked(d[2], above[2], max_step);
    links result;
    result.up = up && !(left && above_left && before);
    result.up_left = linked(d[1], above[0], max_step) && !(up && above_left) && !(left && before);
    result.up_right = linked(d[1], above[2], max_step) && !(up && above_right) && !(right && after);
    return result;
}

/* Grid: a block a tile of 32 x 16, a warp a row, a thread a pixel. Reads 3 bytes a pixel, writes 8. */
template <bool EIGHT> static __global__ void __launch_bounds__(TILE_X *TILE_Y) tile_kernel(find_args a)
{
    __shared__ uint32_t parent[TILE_Y * TILE_X], area[TILE_Y * TILE_X];
    __shared__ uint16_t disparity[TILE_Y][TILE_X + 2]; /* a column that is out on both sides */
    const int lane = threadIdx.x, row = threadIdx.y, x = blockIdx.x * TILE_X + lane, y = blockIdx.y * TILE_Y + row;
    const int width = a.disparity.width, d = disparity_at(a, x, y);
    const bool in = d != PLX_DISPARITY_INVALID;
    const uint32_t here = row * TILE_X + lane;

    const int left = __shfl_up_sync(~0u, d, 1);
    const bool follows = lane > 0 && linked(d, left, a.max_step);
    const uint32_t starts = ~__ballot_sync(~0u, follows);
    const uint32_t run = row * TILE_X + 31 - __clz(starts & (~0u >> (31 - lane)));
    const uint32_t next = lane < 31 ? starts & (~0u << (lane + 1)) : 0; /* where the next run starts */
    parent[here] = run;
    area[here] = 0;
    disparity[row][lane + 1] = (uint16_t)d;
    if (lane == 0)
        disparity[row][0] = disparity[row][TILE_X + 1] = (uint16_t)PLX_DISPARITY_INVALID;
    __syncthreads();

    if (in && row > 0) {
        int now[3], above[3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            now[i] = disparity[row][lane + i];
            above[i] = disparity[row - 1][lane + i];
        }
        const links link = links_above(now, above, a.max_step, follows, linked(now[1], now[2], a.max_step),
                                       linked(above[0], above[1], a.max_step), linked(above[1], above[2], a.max_step));
        if (link.up)
            join(parent, run, here - TILE_X);
        if (EIGHT && link.up_left)
            join(parent, run, here - TILE_X - 1);
        if (EIGHT && link.up_right)
            join(parent, run, here - TILE_X + 1);
    }
    __syncthreads();

    const uint32_t root = find(parent, run);
    if (in && run == here)
        atomicAdd(&area[root], (next ? __ffs(next) - 1 : TILE_X) - lane);
    __syncthreads();
    if (x >= width || y >= a.disparity.height)
        return;
    const uint32_t index = (uint32_t)y * width + x;
    const uint32_t root_index = (blockIdx.y * TILE_Y + root / TILE_X) * width + blockIdx.x * TILE_X + root % TILE_X;
    a.parent[index] = in ? root_index : PLX_NO_COMPONENT;
    a.area[index] = area[here];
}

/* Links of (x, y), in the first row of a tile, with the row above. */
template <bool EIGHT> static __device__ void join_above(const find_args &a, int x, int y)
{
    int d[3], above[3];
    d[1] = disparity_at(a, x, y);
    if (d[1] == PLX_DISPARITY_INVALID)
        return;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        d[i] = i == 1 ? d[1] : disparity_at(a, x + i - 1, y);
        above[i] = disparity_at(a, x + i - 1, y - 1);
    }
    const links link = links_above(d, above, a.max_step, linked(d[0], d[1], a.max_step), linked(d[1], d[2], a.max_step),
                                   linked(above[0], above[1], a.max_step), linked(above[1], above[2], a.max_step));
    const uint32_t width = a.disparity.width, here = y * width + x, over = here - width;
    if (link.up)
        join(a.parent, here, over);
    if (EIGHT && link.up_left)
        join(a.parent, here, over - 1);
    if (EIGHT && link.up_right)
        join(a.parent, here, over + 1);
}

/* Links of (x, y), in the first column of a tile, with the column to the left; diagonals of a tile's first row are
 * join_above's. A link that the pixel pair above makes is left out, but in the first row, on which join_above relies. */
template <bool EIGHT> static __device__ void join_left(const find_args &a, int x, int y)
{
    const bool first = y % TILE_Y == 0;
    const int right = disparity_at(a, x, y), left = disparity_at(a, x - 1, y);
    const int right_above = first ? PLX_DISPARITY_INVALID : disparity_at(a, x, y - 1);
    const int left_above = first ? PLX_DISPARITY_INVALID : disparity_at(a, x - 1, y - 1);
    const bool across = linked(left, right, a.max_step), above = linked(left_above, right_above, a.max_step);
    const bool left_up = linked(left, left_above, a.max_step), right_up = linked(right, right_above, a.max_step);
    const uint32_t width = a.disparity.width, here = y * width + x;

    if (across && !(above && left_up && right_up))
        join(a.parent, here, here - 1);
    if (EIGHT && linked(right, left_above, a.max_step) && !(across && left_up) && !(above && right_up))
        join(a.parent, here, here - width - 1);
    if (EIGHT && linked(left, right_above, a.max_step) && !(across && right_up) && !(above && left_up))
        join(a.parent, here - 1, here - width);
}

/* Grid: a thread a pixel of the tiles' first rows, then of their first columns, but for the image's own. Reads about 18 bytes
 * a thread; the atomics go to roots. */
template <bool EIGHT> static __global__ void __launch_bounds__(BLOCK) border_kernel(find_args a)
{
    const int width = a.disparity.width, height = a.disparity.height;
    const int rows = (height - 1) / TILE_Y, columns = (width - 1) / TILE_X;
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < rows * width) {
        join_above<EIGHT>(a, i % width, (i / width + 1) * TILE_Y);
        return;
    }
    i -= rows * width;
    if (i < columns * height)
        join_left<EIGHT>(a, (i / height + 1) * TILE_X, i % height);
}

/* Grid: a thread a pixel. The roots of tiles, which hold the tiles' areas, give them to the root of all. Reads 8 bytes a
 * pixel, writes a bit. */
static __global__ void __launch_bounds__(BLOCK) area_kernel(uint32_t *parent, uint32_t *area, uint32_t *roots, uint32_t pixels)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    const bool is_root = i < pixels && parent[i] == i;
    const uint32_t word = __ballot_sync(~0u, is_root);

    if (i % 32 == 0 && i < pixels)
        roots[i / 32] = word;
    if (i >= pixels || is_root || area[i] == 0)
        return;
    const uint32_t root = find(parent, i);
    atomicAdd(&area[root], area[i]);
    area[i] = 0;
    parent[i] = root;
}

template <bool EIGHT> static int find_all(struct plx_gpu *gpu, const find_args &args)
{
    const int width = args.disparity.width, height = args.disparity.height;
    const int border = (height - 1) / TILE_Y * width + (width - 1) / TILE_X * height;

    tile_kernel<EIGHT><<<plx_grid(width, height, dim3(TILE_X, TILE_Y)), dim3(TILE_X, TILE_Y), 0, gpu->stream>>>(args);
    int result = PLX_LAUNCHED(gpu, tile_kernel);
    if (result == 0 && border > 0) {
        border_kernel<EIGHT><<<plx_blocks(border, BLOCK), BLOCK, 0, gpu->stream>>>(args);
        result = PLX_LAUNCHED(gpu, border_kernel);
    }
    if (result < 0)
        return result;
    const int pixels = width * height;
    area_kernel<<<plx_blocks(pixels, BLOCK), BLOCK, 0, gpu->stream>>>(args.parent, args.area, args.roots, (uint32_t)pixels);
    return PLX_LAUNCHED(gpu, area_kernel);
}

int plx_gpu_components_find(struct plx_gpu *gpu, const struct plx_image *mask, const struct plx_image *disparity, int max_step,
                            bool eight)
{
    const struct plx_gpu_components *c = gpu->components;
    find_args args = {{NULL, 0, 0, 0}, plx_view_of<const uint16_t>(disparity), c->parent, c->area, c->roots, max_step};
    if (mask)
        args.mask = plx_view_of<const uint8_t>(mask);
    return eight ? find_all<true>(gpu, args) : find_all<false>(gpu, args);
}

static int alloc_array(struct plx_gpu *gpu, size_t count, uint32_t **ret_array)
{
    void *data = NULL;
    const int result = plx_gpu_alloc_local(&gpu->base, count * sizeof(uint32_t), &data);
    *ret_array = (uint32_t *)data;
    return result;
}

int plx_gpu_components_create(struct plx_gpu *gpu)
{
    const size_t pixels = (size_t)gpu->limits.width * (size_t)gpu->limits.height;
    struct plx_gpu_components *c = gpu->components = (struct plx_gpu_components *)calloc(1, sizeof *c);
    if (!c)
        return PLX_ERR_NOMEM;

    int result = alloc_array(gpu, pixels, &c->parent);
    if (result == 0)
        result = alloc_array(gpu, pixels, &c->area);
    if (result == 0)
        result = alloc_array(gpu, (pixels + 31) / 32, &c->roots);
    if (result == 0)
        result = alloc_array(gpu, pixels, &c->order[0]);
    if (result == 0)
        result = alloc_array(gpu, pixels, &c->order[1]);
    if (result == 0)
        result = alloc_array(gpu, PLX_ORDER_DIGITS * PLX_ORDER_BLOCKS, &c->digits);
    if (result == 0)
        result = alloc_array(gpu, 2 * PLX_ORDER_BLOCKS, &c->listed);
    return result;
}

void plx_gpu_components_destroy(struct plx_gpu *gpu)
{
    struct plx_gpu_components *c = gpu->components;
    if (!c)
        return;
    plx_gpu_free(&gpu->base, c->parent);
    plx_gpu_free(&gpu->base, c->area);
    plx_gpu_free(&gpu->base, c->roots);
    plx_gpu_free(&gpu->base, c->order[0]);
    plx_gpu_free(&gpu->base, c->order[1]);
    plx_gpu_free(&gpu->base, c->digits);
    plx_gpu_free(&gpu->base, c->listed);
    free(c);
    gpu->components = NULL;
}
