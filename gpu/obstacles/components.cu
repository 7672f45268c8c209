/* SPDX-License-Identifier: Apache-2.0 */
/* Connected components in three kernels: union-find within tiles in shared memory, merging across the tiles' borders, then
 * areas. Runs of a row are linked without union-find, and links that others imply are left out (Playne and Hawick 2018). */
#include "gpu/device/launch.cuh"
#include "gpu/device/reduce.cuh"
#include "gpu/obstacles/components.cuh"

#include <stdlib.h>

#define ROWS 4 /* rows of a warp in a tile, one below the other */
#define WARPS (PLX_TILE / ROWS)
#define BLOCK 128 /* threads of the other kernels */

/* Links of a pixel with the neighbouring row. */
enum link { STRAIGHT = 1, BEFORE = 2, AFTER = 4 };

/* Links of pixel ROW[1] with pixels of OTHER that other links (within the rows, of ROW[0] with OTHER[0], of ROW[2] with
 * OTHER[2]) do not imply. */
template <bool EIGHT>
static __device__ __forceinline__ uint32_t find_links(const int (&row)[3], const int (&other)[3], int max_step)
{
    const bool row_before = plx_linked(row[0], row[1], max_step), row_after = plx_linked(row[1], row[2], max_step);
    const bool other_before = plx_linked(other[0], other[1], max_step), other_after = plx_linked(other[1], other[2], max_step);
    const bool before = plx_linked(row[0], other[0], max_step), after = plx_linked(row[2], other[2], max_step);
    const bool straight = plx_linked(row[1], other[1], max_step);
    uint32_t links = straight && !(row_before && other_before && before) ? STRAIGHT : 0;

    if (EIGHT && plx_linked(row[1], other[0], max_step) && !(straight && other_before) && !(row_before && before))
        links |= BEFORE;
    if (EIGHT && plx_linked(row[1], other[2], max_step) && !(straight && other_after) && !(row_after && after))
        links |= AFTER;
    return links;
}

struct tile {
    uint32_t parent[PLX_TILE_PIXELS], area[PLX_TILE_PIXELS], root_count;
    uint32_t link[(PLX_TILE - 1) * PLX_TILE * 3], link_count; /* places of a pixel and, << 16, of one in the row above */
};

/* The lane's disparity between those of its neighbours in the warp. */
static __device__ __forceinline__ void read_neighbours(int own, int (&ret_row)[3])
{
    const int before = __shfl_up_sync(PLX_ALL_LANES, own, 1), after = __shfl_down_sync(PLX_ALL_LANES, own, 1);

    ret_row[0] = threadIdx.x > 0 ? before : (int)PLX_DISPARITY_INVALID;
    ret_row[1] = own;
    ret_row[2] = threadIdx.x < PLX_TILE - 1 ? after : (int)PLX_DISPARITY_INVALID;
}

/* Makes the start of its run the parent of each of the thread's pixels, which begin at FIRST, and finds their links with the
 * row above. DISPARITY begins in the row above FIRST. */
template <bool EIGHT>
static __device__ __forceinline__ void link_rows(const plx_components_args &a, const int (&disparity)[ROWS + 1], uint32_t first,
                                                 tile &ret_tile, uint32_t (&ret_links)[ROWS])
{
    int row[ROWS + 1][3];

    read_neighbours(disparity[0], row[0]);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const uint32_t place = first + k * PLX_TILE;
        read_neighbours(disparity[k + 1], row[k + 1]);
        const uint32_t starts = __ballot_sync(PLX_ALL_LANES, !plx_linked(row[k + 1][0], row[k + 1][1], a.max_step));
        ret_tile.parent[place] = place - threadIdx.x + 31 - __clz(starts & ((2u << threadIdx.x) - 1));
        ret_tile.area[place] = 0;
        ret_links[k] = find_links<EIGHT>(row[k + 1], row[k], a.max_step);
    }
}

/* Lists the thread's links, whose pixels begin at FIRST, so that all threads of the tile share the merges. */
static __device__ __forceinline__ void list_links(tile &t, uint32_t first, const uint32_t (&links)[ROWS])
{
    const uint32_t count = __popc(links[0] | links[1] << 3 | links[2] << 6 | links[3] << 9);
    const uint32_t up_to = plx_warp_prefix_sum(count);
    uint32_t next = threadIdx.x == 31 && up_to > 0 ? atomicAdd(&t.link_count, up_to) : 0;

    next = __shfl_sync(PLX_ALL_LANES, next, 31) + up_to - count;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const uint32_t place = first + k * PLX_TILE, above = place - PLX_TILE;
        if (links[k] & STRAIGHT)
            t.link[next++] = place | above << 16;
        if (links[k] & BEFORE)
            t.link[next++] = place | (above - 1) << 16;
        if (links[k] & AFTER)
            t.link[next++] = place | (above + 1) << 16;
    }
}

/* The roots of the thread's pixels, which begin at FIRST, a step for all at a time. */
static __device__ __forceinline__ void find_roots(const tile &t, uint32_t first, uint32_t (&ret_root)[ROWS])
{
    bool moved = true;

#pragma unroll
    for (int k = 0; k < ROWS; k++)
        ret_root[k] = first + k * PLX_TILE;
    while (moved) {
        moved = false;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const uint32_t up = t.parent[ret_root[k]];
            moved = moved || up != ret_root[k];
            ret_root[k] = up;
        }
    }
}

/* Raster index of a place in the block's tile. */
static __device__ __forceinline__ uint32_t raster(const plx_components_args &a, uint32_t place)
{
    const uint32_t x = blockIdx.x * PLX_TILE + place % PLX_TILE, y = blockIdx.y * PLX_TILE + place / PLX_TILE;
    return y * a.disparity.width + x;
}

/* Grid: a block of 32 x 8 threads a tile, a thread four pixels of a column. Reads 3 bytes a pixel and a quarter of them twice,
 * writes 4, and 12 for each root of the tile. */
template <bool EIGHT> static __global__ void __launch_bounds__(PLX_TILE *WARPS) tile_kernel(plx_components_args a)
{
    __shared__ tile t;
    const uint32_t first = threadIdx.y * ROWS * PLX_TILE + threadIdx.x, index = blockIdx.y * gridDim.x + blockIdx.x;
    const uint32_t word = index * PLX_TILE + threadIdx.x;
    const int x = blockIdx.x * PLX_TILE + threadIdx.x, top = blockIdx.y * PLX_TILE + threadIdx.y * ROWS;
    uint32_t links[ROWS], root[ROWS];
    int disparity[ROWS + 1];

    plx_grid_wait_and_trigger();
    if (first == 0)
        t.root_count = t.link_count = 0;
    if (index == 0 && first == 0)
        *a.to.large_count = *a.to.many_count = 0;
    if (threadIdx.y == 0 && word < ((uint32_t)(a.disparity.width * a.disparity.height) + 31) / 32)
        a.to.large[word] = 0;
#pragma unroll
    for (int k = 0; k <= ROWS; k++)
        disparity[k] = k > 0 || threadIdx.y > 0 ? plx_foreground(a, x, top + k - 1) : (int)PLX_DISPARITY_INVALID;
    link_rows<EIGHT>(a, disparity, first, t, links);
    __syncthreads();
    list_links(t, first, links);
    __syncthreads();
    for (uint32_t i = threadIdx.y * PLX_TILE + threadIdx.x; i < t.link_count; i += PLX_TILE * WARPS)
        plx_merge_roots(t.parent, plx_parent_now(t.parent, t.link[i] & 0xFFFF), plx_parent_now(t.parent, t.link[i] >> 16));
    __syncthreads();
    find_roots(t, first, root);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        if (disparity[k + 1] == PLX_DISPARITY_INVALID)
            root[k] = PLX_NO_COMPONENT;
        else
            atomicAdd(&t.area[root[k]], 1); /* one instruction for all threads of a warp with the same root */
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const uint32_t place = first + k * PLX_TILE, pixel = raster(a, place);
        if (x < a.disparity.width && top + k < a.disparity.height)
            a.to.parent[pixel] = root[k] != PLX_NO_COMPONENT ? raster(a, root[k]) : PLX_NO_COMPONENT;
        if (root[k] == place) {
            a.to.tile_roots[index * PLX_TILE_PIXELS + atomicAdd(&t.root_count, 1)] = place + t.area[place] * PLX_TILE_PIXELS;
            a.to.component[pixel] = {0, 0};
        }
    }
    __syncthreads();
    if (first == 0)
        a.to.tile_root_count[index] = t.root_count;
}

/* The parent of a pixel; no component outside the image. */
static __device__ __forceinline__ uint32_t parent_at(const plx_components_args &a, int x, int y)
{
    const bool inside = x >= 0 && y >= 0 && x < a.disparity.width && y < a.disparity.height;
    return inside ? a.to.parent[y * a.disparity.width + x] : PLX_NO_COMPONENT;
}

/* Grid: a thread a pixel of the tiles' first rows (the first ROW_BLOCKS blocks), then of their first columns, but for the
 * image's own. Reads about 30 bytes a thread. A row's links also cover what a column would link with the pixel above. */
template <bool EIGHT> static __global__ void __launch_bounds__(BLOCK) border_kernel(plx_components_args a, uint32_t row_blocks)
{
    const bool is_row = blockIdx.x < row_blocks;
    const int width = a.disparity.width, along_x = is_row, along_y = !is_row; /* across the border: up, or to the left */
    const int i = (blockIdx.x - (is_row ? 0 : row_blocks)) * BLOCK + threadIdx.x;
    const int x = is_row ? i % width : (i / a.disparity.height + 1) * PLX_TILE;
    const int y = is_row ? (i / width + 1) * PLX_TILE : i % a.disparity.height;
    uint32_t other_root[3];
    int row[3], other[3];

    plx_grid_wait_and_trigger();
    const uint32_t own_root = parent_at(a, x, y);
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const int at_x = x + (k - 1) * along_x, at_y = y + (k - 1) * along_y;
        row[k] = plx_foreground(a, at_x, at_y);
        other[k] = plx_foreground(a, at_x - along_y, at_y - along_x);
        other_root[k] = parent_at(a, at_x - along_y, at_y - along_x);
    }
    if (!is_row && y % PLX_TILE == 0) /* the rows' links rely on this one */
        row[0] = other[0] = PLX_DISPARITY_INVALID;
    const uint32_t links = find_links<EIGHT>(row, other, a.max_step);
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (links & (k == 0 ? BEFORE : k == 1 ? STRAIGHT : AFTER))
            plx_merge_roots(a.to.parent, own_root, other_root[k]);
}

/* Adds to the area of the component at ROOT; lists it when it becomes large. */
static __device__ __forceinline__ void grow(const plx_components_args &a, uint32_t root, uint32_t pixels)
{
    const uint32_t was = atomicAdd(&a.to.component[root].area, pixels);

    if (was >= a.min_area || was + pixels < a.min_area)
        return;
    atomicOr(&a.to.large[root / 32], 1u << root % 32);
    const uint32_t place = atomicAdd(a.to.large_count, 1);
    if (place < PLX_FEW_COMPONENTS)
        a.to.few[place] = root;
}

/* Grid: a block a tile. Gives each of the tile's roots the component's root as parent, and that one the area. Reads 4 bytes a
 * root and its parents from cache, writes 4. */
static __global__ void __launch_bounds__(BLOCK) area_kernel(plx_components_args a)
{
    const uint32_t index = blockIdx.y * gridDim.x + blockIdx.x;

    const uint32_t count = a.to.tile_root_count[index];
    uint32_t entry = threadIdx.x < count ? a.to.tile_roots[index * PLX_TILE_PIXELS + threadIdx.x] : 0;
    plx_grid_wait_and_trigger();
    for (uint32_t i = threadIdx.x; i < count; i += BLOCK) {
        if (i >= BLOCK)
            entry = a.to.tile_roots[index * PLX_TILE_PIXELS + i];
        const uint32_t pixel = raster(a, entry % PLX_TILE_PIXELS), root = plx_find(a.to.parent, pixel);
        a.to.parent[pixel] = root;
        grow(a, root, entry / PLX_TILE_PIXELS);
    }
}

int plx_gpu_components_find(struct plx_gpu *gpu, const struct plx_image *mask, const struct plx_image *disparity, int max_step,
                            uint32_t min_area, bool eight)
{
    const int width = disparity->width, height = disparity->height;
    const dim3 tiles = plx_grid(width, height, dim3(PLX_TILE, PLX_TILE));
    const unsigned rows = plx_div_ceil((height - 1) / PLX_TILE * width, BLOCK);
    const unsigned columns = plx_div_ceil((width - 1) / PLX_TILE * height, BLOCK), blocks = rows + columns;
    plx_components_args args = {{NULL, 0, 0, 0},
                                plx_view_of<const uint16_t>(disparity),
                                *gpu->components,
                                max_step < 0xFFFF ? max_step : 0xFFFF,
                                min_area};
    if (mask)
        args.mask = plx_view_of<const uint8_t>(mask);

    int result = PLX_LAUNCH_DEPENDENT(gpu, eight ? tile_kernel<true> : tile_kernel<false>, tiles, dim3(PLX_TILE, WARPS), args);
    if (result == 0) /* at least one block, because the area kernel reads the tiles' roots before it waits */
        result = PLX_LAUNCH_DEPENDENT(gpu, eight ? border_kernel<true> : border_kernel<false>, blocks > 0 ? blocks : 1, BLOCK,
                                      args, rows);
    return result < 0 ? result : PLX_LAUNCH_DEPENDENT(gpu, area_kernel, tiles, BLOCK, args);
}

int plx_gpu_components_create(struct plx_gpu *gpu)
{
    const dim3 tiles = plx_grid(gpu->limits.width, gpu->limits.height, dim3(PLX_TILE, PLX_TILE));
    const size_t all_tiles = (size_t)tiles.x * tiles.y, pixels = (size_t)gpu->limits.width * (size_t)gpu->limits.height;
    struct plx_gpu_components *c = gpu->components = (struct plx_gpu_components *)calloc(1, sizeof *c);
    if (!c)
        return PLX_ERR_NOMEM;

    const struct plx_gpu_part parts[] = {{(void **)&c->parent, pixels * sizeof *c->parent},
                                         {(void **)&c->component, pixels * sizeof *c->component},
                                         {(void **)&c->tile_roots, all_tiles * PLX_TILE_PIXELS * sizeof *c->tile_roots},
                                         {(void **)&c->tile_root_count, all_tiles * sizeof *c->tile_root_count},
                                         {(void **)&c->large, (pixels + 31) / 32 * sizeof *c->large},
                                         {(void **)&c->large_count, sizeof *c->large_count},
                                         {(void **)&c->few, PLX_FEW_COMPONENTS * sizeof *c->few},
                                         {(void **)&c->many, (pixels / PLX_SMALL_AREA + 1) * sizeof *c->many},
                                         {(void **)&c->many_count, sizeof *c->many_count},
                                         {(void **)&c->areas, PLX_ORDER_MAX_BLOCKS * PLX_SMALL_AREA * sizeof *c->areas}};
    return plx_gpu_alloc_parts(gpu, parts, sizeof parts / sizeof parts[0]);
}

void plx_gpu_components_destroy(struct plx_gpu *gpu)
{
    if (gpu->components)
        plx_gpu_free(&gpu->base, gpu->components->parent);
    free(gpu->components);
    gpu->components = NULL;
}
