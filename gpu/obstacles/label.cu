/* SPDX-License-Identifier: Apache-2.0 */
/* What connected components are for. Stage speckle: small ones become invalid. Stage label: large ones are numbered by area,
 * the largest first, then by first pixel. One kernel numbers them, so that their count never leaves the device. A few are
 * ranked by comparing all with all; of many, those with a small area by counting areas in raster order (a stable counting
 * sort), the others like a few. */
#include <cooperative_groups.h>

#include "core/ground/obstacles.h"
#include "gpu/device/launch.cuh"
#include "gpu/device/reduce.cuh"
#include "gpu/obstacles/components.cuh"

#define THREADS PLX_SMALL_AREA /* a thread an area */
#define WARPS (THREADS / 32)
#define BLOCK_X 32
#define BLOCK_Y 8
#define ROWS 4 /* rows of a thread, every BLOCK_Y-th one */

struct order_args {
    struct plx_gpu_components components;
    uint32_t words; /* length of components.large */
};

/* The component with the larger rank comes first. */
static __device__ __forceinline__ unsigned long long rank_of(const struct plx_gpu_components &c, uint32_t root)
{
    return (unsigned long long)c.component[root].area << 32 | ~root;
}

/* Labels the components with these COUNT ROOTS from 1 on; a warp counts the components that come before its own. */
static __device__ void label_by_rank(const struct plx_gpu_components &c, const uint32_t *roots, uint32_t count)
{
    __shared__ unsigned long long rank[PLX_FEW_COMPONENTS];
    const uint32_t lane = threadIdx.x % 32, warps = gridDim.x * WARPS;

    for (uint32_t first = blockIdx.x * WARPS; first < count; first += warps) {
        const uint32_t i = first + threadIdx.x / 32;
        const unsigned long long own = i < count ? rank_of(c, roots[i]) : ~0ull;
        uint32_t before = 0;
        for (uint32_t from = 0; from < count; from += PLX_FEW_COMPONENTS) {
            const uint32_t chunk = min(count - from, PLX_FEW_COMPONENTS);
            __syncthreads();
            for (uint32_t k = threadIdx.x; k < chunk; k += THREADS)
                rank[k] = rank_of(c, roots[from + k]);
            __syncthreads();
            for (uint32_t k = lane; k < chunk; k += 32)
                before += rank[k] > own;
        }
        before = plx_warp_sum(before);
        if (lane == 0 && i < count)
            c.component[roots[i]].label = before + 1;
    }
}

/* Calls VISIT(root, area) for each word of the warp's share of C.large, in raster order: a lane has a pixel, whose area is 0 if
 * it is not the root of a large component. The whole warp calls it. */
template <class Visit>
static __device__ __forceinline__ void for_each_word(const struct plx_gpu_components &c, uint32_t words, const Visit &visit)
{
    const uint32_t each = (words + gridDim.x * WARPS - 1) / (gridDim.x * WARPS);
    const uint32_t first = (blockIdx.x * WARPS + threadIdx.x / 32) * each, lane = threadIdx.x % 32;

    for (uint32_t i = first; i < min(first + each, words); i++) {
        const uint32_t word = c.large[i], root = i * 32 + lane;
        if (word != 0)
            visit(root, word >> lane & 1 ? c.component[root].area : 0);
    }
}

/* From each warp's count of small components by area to their place among all: behind MANY others, larger areas, and the same
 * area in earlier blocks and warps. A thread has an area. */
static __device__ void find_places(const struct plx_gpu_components &c, uint32_t many, uint32_t (&small)[WARPS][PLX_SMALL_AREA])
{
    __shared__ uint32_t warp_sum[WARPS];
    const uint32_t area = PLX_SMALL_AREA - 1 - threadIdx.x, warp = threadIdx.x / 32;
    uint32_t all = 0, earlier = 0;

    for (uint32_t block = 0; block < gridDim.x; block++) {
        const uint32_t count = c.areas[block * PLX_SMALL_AREA + area];
        all += count;
        earlier += block < blockIdx.x ? count : 0;
    }
    const uint32_t up_to = plx_warp_prefix_sum(all);
    if (threadIdx.x % 32 == 31)
        warp_sum[warp] = up_to;
    __syncthreads();
    uint32_t place = many + up_to - all + earlier;
    for (uint32_t w = 0; w < warp; w++)
        place += warp_sum[w];
    for (uint32_t w = 0; w < WARPS; w++) {
        const uint32_t count = small[w][area];
        small[w][area] = place;
        place += count;
    }
    __syncthreads();
}

/* Grid: up to 128 blocks that run at once (cooperative). Of a few components reads 12 bytes each and writes 4; of many a bit a
 * pixel, 16 bytes each, and 2 KB a block. */
static __global__ void __launch_bounds__(THREADS, 2) order_kernel(order_args a)
{
    __shared__ uint32_t small[WARPS][PLX_SMALL_AREA]; /* a warp's components by area, then the next one's place */
    const struct plx_gpu_components &c = a.components;
    const uint32_t lane = threadIdx.x % 32;
    uint32_t *const own = small[threadIdx.x / 32];

    plx_grid_wait();
    const uint32_t count = *c.large_count;
    if (count <= PLX_FEW_COMPONENTS) { /* else the next kernel's blocks would take places for long */
        plx_trigger_dependents();
        label_by_rank(c, c.few, count);
        return;
    }
    for (uint32_t w = 0; w < WARPS; w++)
        small[w][threadIdx.x] = 0;
    __syncthreads();
    for_each_word(c, a.words, [&](uint32_t root, uint32_t area) {
        if (area >= PLX_SMALL_AREA)
            c.many[atomicAdd(c.many_count, 1)] = root;
        else if (area > 0)
            atomicAdd(&own[area], 1);
    });
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t w = 0; w < WARPS; w++)
        sum += small[w][threadIdx.x];
    c.areas[blockIdx.x * PLX_SMALL_AREA + threadIdx.x] = sum;
    cooperative_groups::this_grid().sync();
    const uint32_t many = *c.many_count;
    label_by_rank(c, c.many, many);
    find_places(c, many, small);
    for_each_word(c, a.words, [&](uint32_t root, uint32_t area) {
        const bool is_small = area > 0 && area < PLX_SMALL_AREA;
        const uint32_t same = __match_any_sync(PLX_ALL_LANES, is_small ? area : 0), earlier = __popc(same & ((1u << lane) - 1));
        if (is_small)
            c.component[root].label = own[area] + earlier + 1;
        __syncwarp();
        if (is_small && earlier == 0)
            own[area] += __popc(same);
        __syncwarp();
    });
}

/* Grid: a block 32 x 32 pixels, a thread 4 of them. Reads 4 bytes a pixel and its roots from cache, writes 4. COUNT may be in
 * the CPU's memory; only this kernel writes it, so that the others do not wait for it. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    label_kernel(struct plx_gpu_components c, plx_view<uint32_t> labels, uint32_t *ret_count)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = blockIdx.y * BLOCK_Y * ROWS + threadIdx.y;
    uint32_t at[ROWS]; /* a step for all pixels at a time, so that the reads overlap: parent, root, label */

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const bool inside = x < labels.width && top + k * BLOCK_Y < labels.height;
        at[k] = inside ? c.parent[(uint32_t)(top + k * BLOCK_Y) * labels.width + x] : PLX_NO_COMPONENT;
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        at[k] = at[k] != PLX_NO_COMPONENT ? c.parent[at[k]] : PLX_NO_COMPONENT;
    if (x == 0 && top == 0)
        *ret_count = *c.large_count;
    plx_grid_wait_and_trigger();
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        at[k] = at[k] != PLX_NO_COMPONENT ? c.component[at[k]].label : 0;
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (x < labels.width && top + k * BLOCK_Y < labels.height)
            labels.row(top + k * BLOCK_Y)[x] = at[k];
}

int plx_gpu_label(struct plx_stages *self, const struct plx_image *mask, const struct plx_image *disparity,
                  const struct plx_label_params *params, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(mask->width, mask->height, dim3(BLOCK_X, BLOCK_Y * ROWS));

    if (!plx_image_ok(mask, PLX_U8) || !plx_image_ok(disparity, PLX_U16) || !plx_image_ok(ret_labels, PLX_U32) ||
        !plx_same_size(mask, disparity) || !plx_same_size(mask, ret_labels) || params->max_step < 0)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, mask))
        return PLX_ERR_RANGE;

    int result = plx_gpu_components_find(gpu, mask, disparity, params->max_step,
                                         params->min_area > 1 ? (uint32_t)params->min_area : 1, true);
    if (result < 0)
        return result;
    const order_args order = {*gpu->components, (uint32_t)(mask->width * mask->height + 31) / 32};
    result = plx_launch_cooperative(gpu, PLX_DEPENDENT, order_kernel, PLX_ORDER_MAX_BLOCKS, THREADS, 0, order);
    if (result < 0)
        return result;
    return PLX_LAUNCH_DEPENDENT(gpu, label_kernel, grid, block, *gpu->components, plx_view_of<uint32_t>(ret_labels), ret_count);
}

/* --- speckle --------------------------------------------------------------------------------------------------------- */

struct speckle_args {
    plx_view<const uint16_t> src;
    plx_view<uint16_t> dst;
    const uint32_t *parent;
    const struct plx_component *component;
    int64_t max_size;
};

/* Grid: a thread a pixel. Reads 6 bytes a pixel and its roots from cache, writes 2. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) remove_kernel(speckle_args a)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;

    const bool inside = x < a.src.width && y < a.src.height;
    const uint16_t disparity = inside ? a.src.row(y)[x] : (uint16_t)PLX_DISPARITY_INVALID;
    plx_grid_wait_and_trigger();
    if (!inside)
        return;
    const uint32_t i = (uint32_t)y * a.src.width + x;
    const bool keep = a.parent[i] == PLX_NO_COMPONENT || a.component[plx_root(a.parent, i)].area >= a.max_size;
    a.dst.row(y)[x] = keep ? disparity : (uint16_t)PLX_DISPARITY_INVALID;
}

int plx_gpu_speckle(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                    const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(src->width, src->height, block);

    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_same_size(src, dst) || speckle->max_step < 0)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src))
        return PLX_ERR_RANGE;

    gpu->streams.one_stream = true; /* the stages beside would use the same scratch memory */
    const int result = plx_gpu_components_find(gpu, NULL, src, speckle->max_step, 0, false);
    if (result < 0)
        return result;
    const struct speckle_args args = {plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst), gpu->components->parent,
                                      gpu->components->component, speckle->max_size};
    return PLX_LAUNCH_DEPENDENT(gpu, remove_kernel, grid, block, args);
}
