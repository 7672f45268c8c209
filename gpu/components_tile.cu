/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connected components within tiles, by union-find in shared memory. Rows are joined as runs; links that follow from others are
 * left out (Playne and Hawick 2018 describe both). A warp has all links of its rows as bits: it hangs each run below the first
 * that it touches in the row above without looking for roots, and joins what else is linked 32 links at a time.
 */
#include "gpu/components.cuh"
#include "gpu/follow.cuh"

#define ROWS 4 /* of a warp, one below the other */
#define WARPS (PLX_TILE / ROWS)
#define LINKS 3 /* of a pixel with the row above: up, up left, up right */

/* A warp's rows, and before them the one above, a pixel a lane. */
struct rows {
    int disparity[ROWS + 1], left[ROWS + 1]; /* the pixel's and its left neighbour's */
    uint32_t in[ROWS + 1];                   /* bits */
    uint32_t starts[ROWS + 1];               /* bits: a run of linked pixels starts here */
};

static __device__ __forceinline__ uint32_t bits_before()
{
    return (1u << threadIdx.x) - 1;
}

/* Bits of the lanes whose disparities differ by no more than STEP. */
static __device__ __forceinline__ uint32_t near(int a, int b, int step)
{
    return __ballot_sync(~0u, (uint32_t)(a - b + step) <= (uint32_t)(2 * step));
}

/* False if no pixel of the warp's own rows is in: then there is nothing else to be known. */
static __device__ __forceinline__ bool read_rows(const plx_find_args &a, rows &r)
{
    const int x = blockIdx.x * PLX_TILE + threadIdx.x, top = blockIdx.y * PLX_TILE + threadIdx.y * ROWS;
    const char *disparity = (const char *)(a.disparity.row(top) + x), *mask = (const char *)(a.mask.row(top) + x);
    bool out[ROWS + 1];

#pragma unroll
    for (int k = 0; k <= ROWS; k++) {
        const bool inside = x < a.disparity.width && top + k - 1 < a.disparity.height && (k > 0 || threadIdx.y > 0);
        const ptrdiff_t down = k - 1;
        r.disparity[k] = inside ? *(const uint16_t *)(disparity + down * (ptrdiff_t)a.disparity.pitch) : PLX_DISPARITY_INVALID;
        out[k] = inside && a.mask.data && mask[down * (ptrdiff_t)a.mask.pitch] == 0;
    }
    uint32_t any = 0;
#pragma unroll
    for (int k = 0; k <= ROWS; k++) {
        r.in[k] = __ballot_sync(~0u, r.disparity[k] != PLX_DISPARITY_INVALID && !out[k]);
        any |= k > 0 ? r.in[k] : 0;
    }
    if (any == 0)
        return false;
#pragma unroll
    for (int k = 0; k <= ROWS; k++) {
        r.left[k] = __shfl_up_sync(~0u, r.disparity[k], 1);
        r.starts[k] = ~(near(r.disparity[k], r.left[k], a.max_step) & r.in[k] & r.in[k] << 1);
    }
    return true;
}

/* Bits of the links with the row above that are to be joined: straight up, up left, up right. */
struct links {
    uint32_t up, left, right;
};

/* Those of row K. Straight up is left out where the pixels to the left of both say the same, a diagonal where a way round by
 * straight links does. */
template <bool EIGHT> static __device__ __forceinline__ links links_above(const rows &r, int k, int max_step)
{
    const uint32_t row = ~r.starts[k], above = ~r.starts[k - 1]; /* linked with the pixel to the left */
    const uint32_t up = near(r.disparity[k], r.disparity[k - 1], max_step) & r.in[k] & r.in[k - 1];
    links result = {up & ~(row & above & up << 1), 0, 0};

    if (EIGHT) {
        const int over_right = __shfl_down_sync(~0u, r.disparity[k - 1], 1);
        const uint32_t left = near(r.disparity[k], r.left[k - 1], max_step) & r.in[k] & r.in[k - 1] << 1;
        const uint32_t right = near(r.disparity[k], over_right, max_step) & r.in[k] & r.in[k - 1] >> 1;
        result.left = left & ~(up & above) & ~(row & up << 1);
        result.right = right & ~(up & above >> 1) & ~(row >> 1 & up >> 1);
    }
    return result;
}

/* Appends A and B of the lanes whose bits are set to a list of COUNT, two places in the tile each. */
static __device__ __forceinline__ void list_joins(uint32_t bits, uint32_t a, uint32_t b, uint32_t *joins, uint32_t &count)
{
    if (bits == 0)
        return;
    if (bits >> threadIdx.x & 1)
        joins[count + __popc(bits & bits_before())] = a | b << 16;
    count += __popc(bits);
}

/* Hangs each run of row K below one that it is linked with in the row above, whose roots are OVER; lists the other links. HERE:
 * where the pixel's run starts. Returns the run's root. */
template <bool EIGHT>
static __device__ __forceinline__ uint32_t hang_row(const rows &r, int k, int max_step, uint32_t here, uint32_t over,
                                                    uint32_t *joins, uint32_t &count)
{
    const links link = links_above<EIGHT>(r, k, max_step);
    const uint32_t next = r.starts[k] & ~(bits_before() << 1 | 1); /* starts of later runs */
    const uint32_t run = ((next & -next) - 1) & ~0u << here % PLX_TILE;
    const uint32_t linked = (link.up | link.left | link.right) & run, first = linked ? __ffs(linked) - 1 : 0;
    const int aside = link.up >> first & 1 ? 0 : link.left >> first & 1 ? -1 : 1;
    const uint32_t above = __shfl_sync(~0u, over, first + aside), root = linked ? above : here;
    const uint32_t hung = __ballot_sync(~0u, linked && first == threadIdx.x);

    list_joins(link.up & ~hung, root, over, joins, count);
    if (EIGHT) {
        list_joins(link.left & ~(hung & ~link.up), root, __shfl_up_sync(~0u, over, 1), joins, count);
        list_joins(link.right & ~(hung & ~link.up & ~link.left), root, __shfl_down_sync(~0u, over, 1), joins, count);
    }
    return root;
}

static __device__ __forceinline__ void join_all(uint32_t *parent, const uint32_t *joins, uint32_t count)
{
    for (uint32_t i = threadIdx.x; i < count; i += PLX_TILE)
        plx_join(parent, joins[i] & 0xFFFF, joins[i] >> 16);
}

/* From the roots of the warp's runs to those of the tile's. */
static __device__ __forceinline__ void find_roots(const volatile uint32_t *parent, uint32_t (&root)[ROWS])
{
    bool moved;
    do {
        moved = false;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const uint32_t up = parent[root[k]];
            moved = moved || up != root[k];
            root[k] = up;
        }
    } while (moved);
}

static __device__ __forceinline__ uint32_t run_length(uint32_t starts)
{
    const uint32_t next = threadIdx.x < PLX_TILE - 1 ? starts & (~0u << (threadIdx.x + 1)) : 0;
    return (next ? __ffs(next) - 1 : PLX_TILE) - threadIdx.x;
}

/* Raster index of a place in the tile. */
static __device__ __forceinline__ uint32_t raster(const plx_find_args &a, uint32_t place)
{
    return (blockIdx.y * PLX_TILE + place / PLX_TILE) * a.disparity.width + blockIdx.x * PLX_TILE + place % PLX_TILE;
}

/* Joins the warp's rows, and lists what they are linked with in the row above; returns how much. ROOT: of the pixels' runs. */
template <bool EIGHT>
static __device__ __forceinline__ uint32_t join_rows(const rows &r, int max_step, uint32_t *parent, uint32_t *area,
                                                     uint32_t *joins, uint32_t (&root)[ROWS])
{
    const uint32_t first = threadIdx.y * ROWS * PLX_TILE + threadIdx.x, over = first - PLX_TILE;
    uint32_t count = 0;

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const uint32_t row = (threadIdx.y * ROWS + k) * PLX_TILE;
        const uint32_t here = row + 31 - __clz(r.starts[k + 1] & (bits_before() << 1 | 1)); /* where the pixel's run starts */
        root[k] = k == 0 ? here : hang_row<EIGHT>(r, k + 1, max_step, here, root[k - 1], joins, count);
        parent[row + threadIdx.x] = root[k];
        area[row + threadIdx.x] = 0;
    }
    __syncwarp();
    join_all(parent, joins, count);
    __syncwarp();
    const links link = links_above<EIGHT>(r, 1, max_step); /* none in the tile's first row */
    count = 0;
    list_joins(link.up, root[0], over, joins, count);
    list_joins(link.left, root[0], over - 1, joins, count);
    list_joins(link.right, root[0], over + 1, joins, count);
    return count;
}

/* Adds the warp's pixels to the area of one of its parts, most likely the largest: to add its runs one by one would keep all
 * waiting for that counter. Returns that part's root. */
static __device__ __forceinline__ uint32_t count_first_part(const rows &r, const uint32_t (&root)[ROWS], uint32_t *area)
{
    uint32_t own = PLX_NO_COMPONENT, count = 0;

#pragma unroll
    for (int k = 0; k < ROWS; k++)
        own = r.in[k + 1] >> threadIdx.x & 1 ? root[k] : own;
    const uint32_t one = __shfl_sync(~0u, own, __ffs(__ballot_sync(~0u, own != PLX_NO_COMPONENT)) - 1);
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        count += __popc(__ballot_sync(~0u, root[k] == one) & r.in[k + 1]);
    if (threadIdx.x == 0)
        atomicAdd(&area[one], count);
    return one;
}

/* Adds the warp's runs to the areas of their ROOTs; RET_IS_ROOT: bits of the pixels that are such. Returns the warp's place
 * among the PARTS of the tile. Only where the warp has pixels. */
static __device__ __forceinline__ uint32_t count_parts(const rows &r, const uint32_t (&root)[ROWS], uint32_t *area,
                                                       uint32_t *parts, uint32_t (&ret_is_root)[ROWS])
{
    const uint32_t counted = count_first_part(r, root, area);
    uint32_t mine = 0, place = 0;

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const bool in = r.in[k + 1] >> threadIdx.x & 1;
        if (in && r.starts[k + 1] >> threadIdx.x & 1 && root[k] != counted)
            atomicAdd(&area[root[k]], run_length(r.starts[k + 1]));
        ret_is_root[k] = __ballot_sync(~0u, in && root[k] == (threadIdx.y * ROWS + k) * PLX_TILE + threadIdx.x);
        mine += __popc(ret_is_root[k]);
    }
    if (threadIdx.x == 0 && mine > 0)
        place = atomicAdd(parts, mine);
    return __shfl_sync(~0u, place, 0);
}

/* Grid: a block a tile, a warp four rows, a thread four pixels of a column. Reads 3 bytes a pixel, writes 4 and 12 a part. */
template <bool EIGHT> static __global__ void __launch_bounds__(PLX_TILE *WARPS) tile_kernel(plx_find_args a)
{
    __shared__ uint32_t parent[PLX_TILE_PIXELS], area[PLX_TILE_PIXELS];
    __shared__ uint32_t joins[WARPS][(ROWS - 1) * LINKS * PLX_TILE];
    __shared__ uint32_t parts;
    const uint32_t lane = threadIdx.x, warp = threadIdx.y, tile = blockIdx.y * gridDim.x + blockIdx.x;
    uint32_t root[ROWS] = {0}, is_root[ROWS] = {0}, place = 0;
    rows r;

    plx_lead();
    if (lane == 0 && warp == 0) {
        parts = 0;
        if (tile == 0)
            *a.to.listed = 0;
    }
    if (warp == 0 && tile * PLX_TILE + lane < ((uint32_t)(a.disparity.width * a.disparity.height) + 31) / 32)
        a.to.large[tile * PLX_TILE + lane] = 0;
    const bool any = read_rows(a, r);
    const uint32_t count = any ? join_rows<EIGHT>(r, a.max_step, parent, area, joins[warp], root) : 0;
    __syncthreads();
    join_all(parent, joins[warp], count);
    __syncthreads();
    if (any) {
        find_roots(parent, root);
        place = count_parts(r, root, area, &parts, is_root);
    }
    __syncthreads();

    if (lane == 0 && warp == 0)
        a.to.of_tile[tile] = parts;
    const int x = blockIdx.x * PLX_TILE + lane, top = blockIdx.y * PLX_TILE + warp * ROWS;
    uint32_t index = (uint32_t)top * a.disparity.width + x, *part = a.to.parts + tile * PLX_TILE_PIXELS + place;
#pragma unroll
    for (int k = 0; k < ROWS; k++, index += a.disparity.width) {
        if (x < a.disparity.width && top + k < a.disparity.height)
            a.to.parent[index] = r.in[k + 1] >> lane & 1 ? raster(a, root[k]) : PLX_NO_COMPONENT;
        if (is_root[k] >> lane & 1) {
            part[__popc(is_root[k] & bits_before())] = root[k] | area[root[k]] * PLX_TILE_PIXELS;
            a.to.area[index] = a.to.number[index] = 0;
        }
        part += __popc(is_root[k]);
    }
}

int plx_gpu_components_tile(struct plx_gpu *gpu, const struct plx_find_args *args, bool eight)
{
    const dim3 grid = plx_grid(args->disparity.width, args->disparity.height, dim3(PLX_TILE, PLX_TILE)), block(PLX_TILE, WARPS);

    if (eight)
        tile_kernel<true><<<grid, block, 0, gpu->stream>>>(*args);
    else
        tile_kernel<false><<<grid, block, 0, gpu->stream>>>(*args);
    return PLX_LAUNCHED(gpu, tile_kernel);
}
