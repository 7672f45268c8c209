/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connected components within tiles, by union-find in shared memory. Rows are joined as runs; links that follow from others are
 * left out (Playne and Hawick 2018 describe both). Links of pixels become bits, a word of each kind for each of the tile's
 * rows; then a lane has a row, and by arithmetic on whole words finds the one link by which each of its runs hangs below the
 * row above. What is still to be joined are a few links in a list.
 */
#include "gpu/device/follow.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/obstacles/components.cuh"

#define ROWS 4 /* of a warp, one below the other */
#define WARPS (PLX_TILE / ROWS)
#define THREADS (PLX_TILE * WARPS)
#define SHORTENED 3                      /* steps by which ways to the roots are, before links are joined */
#define BLOCKS (PLX_ARCH == 900 ? 8 : 4) /* of a multiprocessor */

/* Of a row's pixels: in; linked with the pixel to the left; near the three of the row above. */
enum row_bits { IN, RUN, UP, UP_LEFT, UP_RIGHT, KINDS };

/* Kinds of links with the row above, in the order in which runs prefer to hang. */
enum { STRAIGHT, LEFT, RIGHT, LINKS };

static_assert(WARPS >= 2 * LINKS, "one warp each for links to hang by, and for those to be joined");

struct tile {
    uint32_t parent[PLX_TILE_PIXELS], area[PLX_TILE_PIXELS];
    uint32_t bits[KINDS][PLX_TILE];
    uint32_t joins[(PLX_TILE - 1) * LINKS * PLX_TILE]; /* two places in the tile each */
    uint32_t joined, listed;                           /* how many joins and parts there are */
    uint16_t parts[PLX_TILE_PIXELS];                   /* places of their roots */
};

/* The place of the highest bit of BITS, which are not 0. */
static __device__ __forceinline__ uint32_t highest_bit(uint32_t bits)
{
    uint32_t place;
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(bits)); /* 31 - __clz(bits) is two subtractions more */
    return place;
}

/* Bits of the lanes whose disparities differ by no more than STEP. */
static __device__ __forceinline__ uint32_t near(int a, int b, int step)
{
    return __ballot_sync(~0u, (uint32_t)(a - b + step) <= (uint32_t)(2 * step));
}

/* A warp's rows, a pixel a lane. */
struct rows {
    uint32_t in[ROWS], starts[ROWS]; /* bits; a run of linked pixels starts here */
};

/* Reads the warp's rows and the one above; gives their bits to the tile. */
static __device__ __forceinline__ rows read_rows(const plx_find_args &a, tile &t)
{
    const int x = blockIdx.x * PLX_TILE + threadIdx.x, top = blockIdx.y * PLX_TILE + threadIdx.y * ROWS;
    const uint16_t *const at = a.disparity.below(a.disparity.data + x, top);
    const uint8_t *const mask = a.mask.below(a.mask.data + x, top);
    int disparity[ROWS + 1]; /* from the row above on */
    bool out[ROWS];
    uint32_t bits[KINDS][ROWS];
    rows r;

#pragma unroll
    for (int k = -1; k < ROWS; k++) {
        const bool inside = x < a.disparity.width && top + k < a.disparity.height && (k >= 0 || threadIdx.y > 0);
        disparity[k + 1] = inside ? *a.disparity.below(at, k) : PLX_DISPARITY_INVALID;
        if (k >= 0)
            out[k] = inside && a.mask.data && *a.mask.below(mask, k) == 0;
    }
    int over_left = __shfl_up_sync(~0u, disparity[0], 1);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int here = disparity[k + 1], over = disparity[k], left = __shfl_up_sync(~0u, here, 1);
        r.in[k] = __ballot_sync(~0u, here != PLX_DISPARITY_INVALID && !out[k]);
        const uint32_t run = near(here, left, a.max_step) & r.in[k] & r.in[k] << 1;
        r.starts[k] = ~run;
        bits[IN][k] = r.in[k];
        bits[RUN][k] = run;
        bits[UP][k] = near(here, over, a.max_step);
        bits[UP_LEFT][k] = near(here, over_left, a.max_step);
        bits[UP_RIGHT][k] = near(over, left, a.max_step) >> 1; /* as the pixel to the right sees it */
        over_left = left;
    }
    if (threadIdx.x == 0)
#pragma unroll
        for (int kind = 0; kind < KINDS; kind++)
            *(uint4 *)&t.bits[kind][threadIdx.y * ROWS] =
                make_uint4(bits[kind][0], bits[kind][1], bits[kind][2], bits[kind][3]);
    return r;
}

/* Of each run the first of the LINKED pixels: from what is at least 1 in each run 1 is subtracted there. */
static __device__ __forceinline__ uint32_t first_of_runs(uint32_t linked, uint32_t starts)
{
    const uint32_t ends = starts >> 1 | 1u << 31;
    return linked & ~((linked | ends) - starts);
}

/* Where in the tile the run starts that the pixel in column X of ROW is in. */
static __device__ __forceinline__ uint32_t start_of(uint32_t starts, uint32_t x, uint32_t row)
{
    return row * PLX_TILE + highest_bit(starts & ~(~1u << x));
}

/* Adds a lane's COUNT of joins to the list's; returns where they go. */
static __device__ __forceinline__ uint32_t place_of_joins(tile &t, uint32_t count)
{
    const uint32_t up_to = plx_warp_sum_up_to(count);
    const uint32_t before = threadIdx.x == 31 ? atomicAdd(&t.joined, up_to) : 0;
    return __shfl_sync(~0u, before, 31) + up_to - count;
}

/* Links of row Y with the row above. Straight up is left out where the pixels to the left of both say the same, a diagonal
 * where a way round by straight links does. */
template <bool EIGHT>
static __device__ __forceinline__ void links_above(const tile &t, uint32_t y, uint32_t run, uint32_t run_above,
                                                   uint32_t (&ret_links)[LINKS])
{
    const uint32_t in = t.bits[IN][y], above = __shfl_up_sync(~0u, in, 1), in_above = y > 0 ? above : 0;
    const uint32_t up = t.bits[UP][y] & in & in_above;

    ret_links[STRAIGHT] = up & ~(run & run_above & up << 1);
    ret_links[LEFT] = ret_links[RIGHT] = 0;
    if (EIGHT) {
        ret_links[LEFT] = t.bits[UP_LEFT][y] & in & in_above << 1 & ~(up & run_above) & ~(run & up << 1);
        ret_links[RIGHT] = t.bits[UP_RIGHT][y] & in & in_above >> 1 & ~(up & run_above >> 1) & ~(run >> 1 & up >> 1);
    }
}

/* Hangs runs below those of the row above, a lane a row, and lists what else is to be joined. A warp has the links of one kind,
 * to hang by or to be joined. */
template <bool EIGHT> static __device__ __forceinline__ void link_rows(tile &t)
{
    const uint32_t y = threadIdx.x, kind = threadIdx.y % LINKS, run = t.bits[RUN][y], run_above = __shfl_up_sync(~0u, run, 1);
    uint32_t links[LINKS];

    links_above<EIGHT>(t, y, run, run_above, links);
    const uint32_t up = links[STRAIGHT], left = links[LEFT], right = links[RIGHT];
    const uint32_t first = first_of_runs(up | left | right, ~run);
    const uint32_t own = kind == STRAIGHT ? up : kind == LEFT ? left : right;
    const uint32_t preferred = kind == STRAIGHT ? 0 : kind == LEFT ? up : up | left, hanging = first & own & ~preferred;
    const uint32_t aside = kind == STRAIGHT ? 0 : kind == LEFT ? -1 : 1;

    if (threadIdx.y < LINKS) {
        for (uint32_t open = hanging; open != 0; open &= open - 1) {
            const uint32_t x = __ffs(open) - 1;
            t.parent[start_of(~run, x, y)] = start_of(~run_above, x + aside, y - 1);
        }
    } else if (threadIdx.y < 2 * LINKS) {
        uint32_t open = own & ~hanging, place = place_of_joins(t, __popc(open));
        for (; open != 0; open &= open - 1, place++) {
            const uint32_t x = __ffs(open) - 1;
            t.joins[place] = start_of(~run, x, y) | start_of(~run_above, x + aside, y - 1) << 16;
        }
    }
}

/* From where the pixels' runs start to the roots of the tile. Shortens the ways there for others: each pixel does so for its
 * own place, though only those count where runs start; by an atomic operation, since others read them. MOST: of steps. */
template <int MOST>
static __device__ __forceinline__ void find_roots(uint32_t *parent, const rows &r, uint32_t (&ret_root)[ROWS])
{
    const volatile uint32_t *const now = parent;
    uint32_t *const own = parent + threadIdx.y * ROWS * PLX_TILE + threadIdx.x;
    bool moved;
    int steps = 0;

#pragma unroll
    for (int k = 0; k < ROWS; k++)
        ret_root[k] = now[start_of(r.starts[k], threadIdx.x, threadIdx.y * ROWS + k)];
    do {
        uint32_t up[ROWS];
        moved = false;
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            up[k] = now[ret_root[k]];
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            moved = moved || up[k] != ret_root[k];
            ret_root[k] = up[k];
        }
        moved = __any_sync(~0u, moved);
        if (moved)
#pragma unroll
            for (int k = 0; k < ROWS; k++)
                atomicMin(&own[k * PLX_TILE], up[k]);
    } while (moved && ++steps < MOST);
}

/* Adds the warp's pixels to the areas of their ROOTs, and lists the roots among them as parts of the tile. A pixel that is out
 * is its own root, and nobody else's. */
static __device__ __forceinline__ void count_parts(const rows &r, const uint32_t (&root)[ROWS], tile &t)
{
    const uint32_t first = threadIdx.y * ROWS * PLX_TILE + threadIdx.x;
    uint32_t is_root = 0;

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        atomicAdd(&t.area[root[k]], 1); /* at once for all lanes with the same root */
        is_root |= (r.in[k] >> threadIdx.x & 1) && root[k] == first + k * PLX_TILE ? 1u << k : 0;
    }
    for (; is_root != 0; is_root &= is_root - 1)
        t.parts[atomicAdd(&t.listed, 1)] = (uint16_t)(first + (__ffs(is_root) - 1) * PLX_TILE);
}

/* Raster index of a place in the tile. */
static __device__ __forceinline__ uint32_t raster(const plx_find_args &a, uint32_t place)
{
    const uint32_t width = a.disparity.width, corner = blockIdx.y * PLX_TILE * width + blockIdx.x * PLX_TILE;
    return corner + place + place / PLX_TILE * (width - PLX_TILE);
}

/* Writes the parents of the pixels, and the tile's list of parts. */
static __device__ __forceinline__ void write_tile(const plx_find_args &a, const tile &t, const rows &r,
                                                  const uint32_t (&root)[ROWS])
{
    const uint32_t lane = threadIdx.x, warp = threadIdx.y, index = blockIdx.y * gridDim.x + blockIdx.x;
    const int x = blockIdx.x * PLX_TILE + lane, top = blockIdx.y * PLX_TILE + warp * ROWS;
    uint32_t pixel = (uint32_t)top * a.disparity.width + x;

    if (lane == 0 && warp == 0)
        a.to.of_tile[index] = t.listed;
#pragma unroll
    for (int k = 0; k < ROWS; k++, pixel += a.disparity.width) {
        const uint32_t to = r.in[k] >> lane & 1 ? raster(a, root[k]) : PLX_NO_COMPONENT;
        if (x < a.disparity.width && top + k < a.disparity.height)
            a.to.parent[pixel] = to;
    }
    for (uint32_t i = warp * PLX_TILE + lane; i < t.listed; i += THREADS) {
        const uint32_t part = t.parts[i], at = raster(a, part);
        a.to.parts[index * PLX_TILE_PIXELS + i] = part | t.area[part] * PLX_TILE_PIXELS;
        a.to.at[at] = {0, 0};
    }
}

/* Grid: a block a tile, a warp four rows, a thread four pixels of a column. Reads 3 bytes a pixel, writes 4 and 12 a part. */
template <bool EIGHT> static __global__ void __launch_bounds__(THREADS, BLOCKS) tile_kernel(plx_find_args a)
{
    __shared__ __align__(16) tile t;
    const uint32_t lane = threadIdx.x, warp = threadIdx.y, thread = warp * PLX_TILE + lane;
    const uint32_t word = (blockIdx.y * gridDim.x + blockIdx.x) * PLX_TILE + thread;
    uint32_t root[ROWS] = {0};

    ((uint4 *)t.parent)[thread] = make_uint4(thread * 4, thread * 4 + 1, thread * 4 + 2, thread * 4 + 3);
    ((uint4 *)t.area)[thread] = make_uint4(0, 0, 0, 0);
    if (thread == 0)
        t.joined = t.listed = 0;
    plx_follow();
    if (word == 0)
        *a.to.listed = *a.to.others = 0;
    if (warp == 0 && word < ((uint32_t)(a.disparity.width * a.disparity.height) + 31) / 32)
        a.to.large[word] = 0;
    const rows r = read_rows(a, t);
    const bool any = (r.in[0] | r.in[1] | r.in[2] | r.in[3]) != 0;
    __syncthreads();
    link_rows<EIGHT>(t);
    __syncthreads();
    if (any)
        find_roots<SHORTENED>(t.parent, r, root); /* or near them, so that joins have short ways */
    __syncthreads();
    for (uint32_t i = thread; i < t.joined; i += THREADS)
        plx_join(t.parent, t.joins[i] & 0xFFFF, t.joins[i] >> 16);
    __syncthreads();
    if (any) {
        find_roots<PLX_TILE_PIXELS>(t.parent, r, root);
        count_parts(r, root, t);
    }
    __syncthreads();
    write_tile(a, t, r, root);
}

int plx_gpu_components_tile(struct plx_gpu *gpu, const struct plx_find_args *args, bool eight)
{
    const dim3 grid = plx_grid(args->disparity.width, args->disparity.height, dim3(PLX_TILE, PLX_TILE)), block(PLX_TILE, WARPS);

    return PLX_LAUNCH_NEXT(gpu, eight ? tile_kernel<true> : tile_kernel<false>, grid, block, *args);
}
