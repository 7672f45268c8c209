/* SPDX-License-Identifier: Apache-2.0 */
/* Connected components in three kernels: within tiles (components_tile.cu), across their borders, then areas. */
#include "gpu/device/counters.cuh"
#include "gpu/device/follow.cuh"
#include "gpu/obstacles/components.cuh"

#include <stdlib.h>

#define BLOCK 128
#define LINKS 3 /* of a pixel across a border */
#define SEEN_BITS 10
#define SEEN (1 << SEEN_BITS)
#define TILES 4   /* of a block that adds up areas */
#define LANES 128 /* of each: as many as it has parts, as a rule */

/* Two pixels' roots to be joined, by the lanes that ASK for it, unless the lane to the left joins the same. All lanes call it.
 */
static __device__ void list_join(bool ask, uint32_t a, uint32_t b, uint2 *joins, uint32_t *count)
{
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t left_a = __shfl_up_sync(~0u, ask ? a : PLX_NO_COMPONENT, 1), left_b = __shfl_up_sync(~0u, b, 1);
    const bool mine = ask && (lane == 0 || a != left_a || b != left_b);
    const uint32_t all = __ballot_sync(~0u, mine);
    uint32_t place = 0;

    if (lane == 0 && all != 0)
        place = atomicAdd(count, (uint32_t)__popc(all));
    place = __shfl_sync(~0u, place, 0) + __popc(all & ((1u << lane) - 1));
    if (mine)
        joins[place] = make_uint2(a, b);
}

static __device__ __forceinline__ uint32_t parent_at(const plx_find_args &a, int x, int y)
{
    const bool inside = x >= 0 && y >= 0 && x < a.disparity.width && y < a.disparity.height;
    return inside ? a.to.parent[(uint32_t)y * a.disparity.width + x] : PLX_NO_COMPONENT;
}

/* Links of (x, y), in the first row of a tile, with the row above: straight up is left out where the pixels to the left of both
 * say the same, a diagonal where a way round by straight links does. */
template <bool EIGHT> static __device__ void list_above(const plx_find_args &a, int x, int y, uint2 *joins, uint32_t *count)
{
    int d[3], over[3];
    uint32_t root[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        d[i] = plx_disparity_in(a, x + i - 1, y);
        over[i] = plx_disparity_in(a, x + i - 1, y - 1);
    }
    plx_follow();
#pragma unroll
    for (int i = 0; i < 3; i++)
        root[i] = parent_at(a, x + i - 1, y - 1);
    const uint32_t here = parent_at(a, x, y);
    if (!__any_sync(~0u, d[1] != PLX_DISPARITY_INVALID))
        return;
    const bool left = plx_linked(d[0], d[1], a.max_step), right = plx_linked(d[1], d[2], a.max_step);
    const bool over_left = plx_linked(over[0], over[1], a.max_step), over_right = plx_linked(over[1], over[2], a.max_step);
    const bool up = plx_linked(d[1], over[1], a.max_step);
    const bool before = plx_linked(d[0], over[0], a.max_step), after = plx_linked(d[2], over[2], a.max_step);

    list_join(up && !(left && over_left && before), here, root[1], joins, count);
    if (EIGHT) {
        const bool up_left = plx_linked(d[1], over[0], a.max_step), up_right = plx_linked(d[1], over[2], a.max_step);
        list_join(up_left && !(up && over_left) && !(left && before), here, root[0], joins, count);
        list_join(up_right && !(up && over_right) && !(right && after), here, root[2], joins, count);
    }
}

/* What the lane before has as VALUE, which in the first lane is FIRST. */
template <class T> static __device__ __forceinline__ T of_lane_before(T value, T first)
{
    const T before = __shfl_up_sync(~0u, value, 1);
    return threadIdx.x % 32 == 0 ? first : before;
}

/* Links of (x, y), in the first column of a tile, with the column to the left; diagonals of a tile's first row are
 * list_above's. A link that the pixel pair above makes is left out, but in the first row, on which list_above relies. The lane
 * before has that pair, but for the first lane, and where a tile begins. */
template <bool EIGHT> static __device__ void list_left(const plx_find_args &a, int x, int y, uint2 *joins, uint32_t *count)
{
    const bool begins = y % PLX_TILE == 0;
    const int over_y = begins || threadIdx.x % 32 > 0 ? -1 : y - 1; /* nothing is there */
    const int right = plx_disparity_in(a, x, y), left = plx_disparity_in(a, x - 1, y);
    int right_over = of_lane_before(right, plx_disparity_in(a, x, over_y));
    int left_over = of_lane_before(left, plx_disparity_in(a, x - 1, over_y));
    right_over = begins ? (int)PLX_DISPARITY_INVALID : right_over;
    left_over = begins ? (int)PLX_DISPARITY_INVALID : left_over;
    plx_follow();
    const uint32_t right_root = parent_at(a, x, y), left_root = parent_at(a, x - 1, y);
    const uint32_t right_first = EIGHT ? parent_at(a, x, over_y) : 0, left_first = EIGHT ? parent_at(a, x - 1, over_y) : 0;
    if (!__any_sync(~0u, left != PLX_DISPARITY_INVALID || right != PLX_DISPARITY_INVALID))
        return;
    const bool across = plx_linked(left, right, a.max_step), over = plx_linked(left_over, right_over, a.max_step);
    const bool left_up = plx_linked(left, left_over, a.max_step), right_up = plx_linked(right, right_over, a.max_step);

    list_join(across && !(over && left_up && right_up), right_root, left_root, joins, count);
    if (EIGHT) {
        const bool up_left = plx_linked(right, left_over, a.max_step), up_right = plx_linked(left, right_over, a.max_step);
        const uint32_t left_over_root = of_lane_before(left_root, left_first);
        const uint32_t right_over_root = of_lane_before(right_root, right_first);
        list_join(up_left && !(across && left_up) && !(over && right_up), right_root, left_over_root, joins, count);
        list_join(up_right && !(across && right_up) && !(over && left_up), left_root, right_over_root, joins, count);
    }
}

/* Grid: blocks of pixels of the tiles' first rows, then of their first columns, but for the image's own; a thread each. Reads
 * about 30 bytes a thread; the atomics go to roots. One block at least, for others rely on it that tiles are long done. */
template <bool EIGHT> static __global__ void __launch_bounds__(BLOCK) border_kernel(plx_find_args a, uint32_t row_blocks)
{
    __shared__ uint2 joins[LINKS * BLOCK];
    __shared__ unsigned long long seen[SEEN]; /* joins that a thread has taken */
    __shared__ uint32_t count;
    const int width = a.disparity.width, height = a.disparity.height;

    for (int i = threadIdx.x; i < SEEN; i += BLOCK)
        seen[i] = ~0ull;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (blockIdx.x < row_blocks) { /* what lies beyond the last row or column is linked with nothing */
        const int i = blockIdx.x * BLOCK + threadIdx.x;
        list_above<EIGHT>(a, i % width, (i / width + 1) * PLX_TILE, joins, &count);
    } else {
        const int i = (blockIdx.x - row_blocks) * BLOCK + threadIdx.x;
        list_left<EIGHT>(a, (i / height + 1) * PLX_TILE, i % height, joins, &count);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += BLOCK) {
        const unsigned long long both = (unsigned long long)joins[i].x << 32 | joins[i].y;
        unsigned long long *slot = &seen[(joins[i].x * 2654435761u ^ joins[i].y * 2246822519u) >> (32 - SEEN_BITS)];
        if (atomicCAS(slot, ~0ull, both) != both)
            plx_join_roots(a.to.parent, joins[i].x, joins[i].y);
    }
}

typedef plx_counters<9, 4> sums; /* pixels of a block by root */

/* Adds PIXELS to the area at ROOT; true if that made it large enough. */
static __device__ __forceinline__ bool grow(const plx_find_args &a, uint32_t root, uint32_t pixels)
{
    const uint32_t was = atomicAdd(&a.to.at[root].area, pixels);
    return was < a.min_area && was + pixels >= a.min_area;
}

/* Lists ROOT as the one of a component that is large enough, at PLACE. */
static __device__ __forceinline__ void list_large(const plx_find_args &a, uint32_t root, uint32_t place)
{
    atomicOr(&a.to.large[root / 32], 1u << root % 32);
    if (place < PLX_FEW)
        a.to.list[place] = root;
}

/* Grid: 128 threads a tile. Parts of components give their pixels to the root of all; a block first adds up what goes to the
 * same, and lists at once what it makes large enough. Reads 4 bytes a part and its roots from cache, writes 4. */
static __global__ void __launch_bounds__(LANES *TILES) area_kernel(plx_find_args a, uint32_t tiles_x, uint32_t tiles)
{
    __shared__ sums of_block;
    __shared__ uint32_t listed, first_place;
    const uint32_t lane = threadIdx.x, tile = blockIdx.x * TILES + threadIdx.y, thread = threadIdx.y * LANES + lane;
    const uint32_t count = tile < tiles ? a.to.of_tile[tile] : 0;
    const uint32_t corner = tile / tiles_x * PLX_TILE * a.disparity.width + tile % tiles_x * PLX_TILE;
    const uint32_t *parts = a.to.parts + tile * PLX_TILE_PIXELS;
    uint32_t next = lane < count ? parts[lane] : 0; /* read ahead */
    uint32_t place[sums::SLOTS / (LANES * TILES)];  /* in the block's list; PLX_NO_COMPONENT: none */

    of_block.clear(thread, LANES * TILES);
    if (thread == 0)
        listed = 0;
    __syncthreads();
    plx_follow();
    for (uint32_t i = lane; i < count; i += LANES) {
        const uint32_t part = next, at = part % PLX_TILE_PIXELS;
        next = i + LANES < count ? parts[i + LANES] : 0;
        const uint32_t index = corner + at / PLX_TILE * a.disparity.width + at % PLX_TILE, n = part / PLX_TILE_PIXELS;
        const uint32_t root = plx_find(a.to.parent, index);
        a.to.parent[index] = root;
        if (!of_block.add(root, n) && grow(a, root, n))
            list_large(a, root, atomicAdd(a.to.listed, 1));
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < sums::SLOTS / (LANES * TILES); i++) {
        const uint32_t slot = i * LANES * TILES + thread;
        const bool large = of_block.count[slot] > 0 && grow(a, of_block.key[slot], of_block.count[slot]);
        place[i] = large ? atomicAdd(&listed, 1) : PLX_NO_COMPONENT;
    }
    __syncthreads();
    if (thread == 0 && listed > 0)
        first_place = atomicAdd(a.to.listed, listed);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < sums::SLOTS / (LANES * TILES); i++)
        if (place[i] != PLX_NO_COMPONENT)
            list_large(a, of_block.key[i * LANES * TILES + thread], first_place + place[i]);
}

/* Grid of border_kernel. */
static int join_borders(struct plx_gpu *gpu, const plx_find_args &args, bool eight)
{
    const int width = args.disparity.width, height = args.disparity.height;
    const unsigned rows = plx_blocks((height - 1) / PLX_TILE * width, BLOCK);
    const unsigned columns = plx_blocks((width - 1) / PLX_TILE * height, BLOCK), all = rows + columns;

    return PLX_LAUNCH_NEXT(gpu, eight ? border_kernel<true> : border_kernel<false>, all > 0 ? all : 1, BLOCK, args, rows);
}

int plx_gpu_components_find(struct plx_gpu *gpu, const struct plx_image *mask, const struct plx_image *disparity, int max_step,
                            uint32_t min_area, bool eight)
{
    plx_find_args args = {{NULL, 0, 0, 0},
                          plx_view_of<const uint16_t>(disparity),
                          *gpu->components,
                          max_step < 0xFFFF ? max_step : 0xFFFF,
                          min_area};
    if (mask)
        args.mask = plx_view_of<const uint8_t>(mask);

    int result = plx_gpu_components_tile(gpu, &args, eight);
    if (result == 0)
        result = join_borders(gpu, args, eight);
    if (result < 0)
        return result;
    const dim3 tiles = plx_grid(disparity->width, disparity->height, dim3(PLX_TILE, PLX_TILE));
    return PLX_LAUNCH_NEXT(gpu, area_kernel, plx_blocks((int)(tiles.x * tiles.y), TILES), dim3(LANES, TILES), args, tiles.x,
                           tiles.x * tiles.y);
}

int plx_gpu_components_create(struct plx_gpu *gpu)
{
    const dim3 tiles = plx_grid(gpu->limits.width, gpu->limits.height, dim3(PLX_TILE, PLX_TILE));
    const size_t all_tiles = (size_t)tiles.x * tiles.y, pixels = (size_t)gpu->limits.width * (size_t)gpu->limits.height;
    struct plx_gpu_components *c = gpu->components = (struct plx_gpu_components *)calloc(1, sizeof *c);
    if (!c)
        return PLX_ERR_NOMEM;

    const struct {
        void **data;
        size_t count, bytes; /* of each */
    } arrays[] = {{(void **)&c->parent, pixels, sizeof *c->parent},
                  {(void **)&c->at, pixels, sizeof *c->at},
                  {(void **)&c->parts, all_tiles * PLX_TILE_PIXELS, sizeof *c->parts},
                  {(void **)&c->of_tile, all_tiles, sizeof *c->of_tile},
                  {(void **)&c->large, (pixels + 31) / 32, sizeof *c->large},
                  {(void **)&c->listed, 1, sizeof *c->listed},
                  {(void **)&c->list, PLX_FEW, sizeof *c->list},
                  {(void **)&c->order[1], pixels, sizeof *c->order[1]},
                  {(void **)&c->others, 1, sizeof *c->others},
                  {(void **)&c->areas, (PLX_ORDER_BLOCKS + 1) * PLX_ORDER_AREAS, sizeof *c->areas}};
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof arrays / sizeof arrays[0]; i++)
        result = plx_gpu_alloc_local(&gpu->base, arrays[i].count * arrays[i].bytes, arrays[i].data);
    c->order[0] = c->parts;
    return result;
}

void plx_gpu_components_destroy(struct plx_gpu *gpu)
{
    struct plx_gpu_components *c = gpu->components;
    if (!c)
        return;
    void *const arrays[] = {c->parent, c->at,   c->parts,    c->of_tile, c->large,
                            c->listed, c->list, c->order[1], c->others,  c->areas};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        plx_gpu_free(&gpu->base, arrays[i]);
    free(c);
    gpu->components = NULL;
}
