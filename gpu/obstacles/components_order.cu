/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components that are large enough, numbered by area, the largest first, then by first pixel. One kernel sorts the roots, so
 * that the number of components never leaves the device: few by counting who comes before; of many those of few pixels in
 * raster order by counting areas, with barriers across its grid, and the others as if they were few.
 */
#include "gpu/device/cooperate.cuh"
#include "gpu/device/follow.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/obstacles/components.cuh"

#define THREADS 512
#define WARPS (THREADS / 32)
#define EACH (PLX_ORDER_BLOCKS / 32) /* blocks of a lane */

static_assert(THREADS == PLX_ORDER_AREAS, "a thread an area");

struct order_args {
    struct plx_gpu_components at;
    uint32_t words; /* of roots */
};

/* A block's share of COUNT things in raster order. */
struct share {
    uint32_t begin, end;
};

static __device__ __forceinline__ share share_of(uint32_t count)
{
    const uint32_t each = (count + gridDim.x - 1) / gridDim.x;
    return {min(blockIdx.x * each, count), min((blockIdx.x + 1) * each, count)};
}

/* Bits of the roots of few pixels among those of word I, whose AREAS it counts; the others are listed. */
static __device__ uint32_t split_roots(const order_args &a, uint32_t i, uint32_t *areas)
{
    uint32_t small = 0;

    for (uint32_t open = a.at.large[i]; open != 0; open &= open - 1) {
        const uint32_t root = i * 32 + __ffs(open) - 1, area = a.at.at[root].area;
        if (area < PLX_ORDER_AREAS) {
            small |= open & -open;
            atomicAdd(&areas[area], 1);
        } else {
            a.at.order[1][atomicAdd(a.at.others, 1)] = root;
        }
    }
    return small;
}

/* Lists the block's share of the roots, those of few pixels as its own, from LIST on, in raster order. Returns how many these
 * are. */
static __device__ uint32_t list_roots(const order_args &a, share words, uint32_t *list)
{
    __shared__ uint32_t in_warp[2][WARPS], areas[PLX_ORDER_AREAS]; /* the first by turns, so that one barrier is enough */
    const uint32_t warp = threadIdx.x / 32;
    uint32_t count = 0;

    areas[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t from = words.begin, turn = 0; from < words.end; from += THREADS, turn ^= 1) {
        const uint32_t i = from + threadIdx.x, roots = i < words.end ? split_roots(a, i, areas) : 0;
        const uint32_t up_to = plx_warp_sum_up_to(__popc(roots));
        if (threadIdx.x % 32 == 31)
            in_warp[turn][warp] = up_to;
        __syncthreads();
        uint32_t place = count + up_to - __popc(roots);
        for (uint32_t w = 0; w < WARPS; w++) {
            place += w < warp ? in_warp[turn][w] : 0;
            count += in_warp[turn][w];
        }
        for (uint32_t open = roots; open != 0; open &= open - 1, place++)
            list[place] = i * 32 + __ffs(open) - 1;
    }
    __syncthreads();
    a.at.areas[blockIdx.x * PLX_ORDER_AREAS + threadIdx.x] = areas[threadIdx.x];
    return count;
}

/* From how many roots of each area the blocks have to how many the blocks before have; the sums go behind. A warp an area. */
static __device__ void add_blocks(const order_args &a)
{
    const uint32_t lane = threadIdx.x % 32;

    for (uint32_t area = blockIdx.x * WARPS + threadIdx.x / 32; area < PLX_ORDER_AREAS; area += gridDim.x * WARPS) {
        uint32_t *const counts = a.at.areas + lane * EACH * PLX_ORDER_AREAS + area, blocks = gridDim.x;
        uint32_t count[EACH], sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++) {
            count[k] = lane * EACH + k < blocks ? counts[k * PLX_ORDER_AREAS] : 0;
            sum += count[k];
        }
        const uint32_t up_to = plx_warp_sum_up_to(sum);
        uint32_t before = up_to - sum;
#pragma unroll
        for (uint32_t k = 0; k < EACH; k++) {
            counts[k * PLX_ORDER_AREAS] = before;
            before += count[k];
        }
        if (lane == 31)
            a.at.areas[PLX_ORDER_BLOCKS * PLX_ORDER_AREAS + area] = up_to;
    }
}

/* What a root is ordered by: who has the larger one comes first. */
static __device__ __forceinline__ unsigned long long rank_of(const order_args &a, uint32_t root)
{
    return (unsigned long long)a.at.at[root].area << 32 | ~root;
}

/* Numbers the COUNT roots of a LIST, the first of all: a warp counts who comes before its root. */
static __device__ void number_first(const order_args &a, const uint32_t *list, uint32_t count)
{
    __shared__ unsigned long long rank[PLX_FEW];
    const uint32_t lane = threadIdx.x % 32, warps = gridDim.x * WARPS;

    for (uint32_t first = 0; first < count; first += warps) {
        const uint32_t i = first + blockIdx.x * WARPS + threadIdx.x / 32;
        const unsigned long long mine = i < count ? rank_of(a, list[i]) : ~0ull;
        uint32_t before = 0;
        for (uint32_t from = 0; from < count; from += PLX_FEW) {
            const uint32_t here = min(count - from, PLX_FEW);
            __syncthreads();
            for (uint32_t k = threadIdx.x; k < here && (first == 0 || count > PLX_FEW); k += THREADS)
                rank[k] = rank_of(a, list[from + k]);
            __syncthreads();
            for (uint32_t k = lane; k < here; k += 32)
                before += rank[k] > mine;
        }
        before = plx_warp_sum(before);
        if (lane == 0 && i < count)
            a.at.at[~(uint32_t)mine].number = before + 1;
    }
}

/* Where the block's roots of each area are: after all OTHERS, those of larger areas, and the same area in earlier blocks. */
static __device__ void find_places(const order_args &a, uint32_t others, uint32_t place[PLX_ORDER_AREAS])
{
    __shared__ uint32_t in_warp[WARPS];
    const uint32_t warp = threadIdx.x / 32, area = PLX_ORDER_AREAS - 1 - threadIdx.x;
    const uint32_t total = a.at.areas[PLX_ORDER_BLOCKS * PLX_ORDER_AREAS + area];
    const uint32_t up_to = plx_warp_sum_up_to(total), before = a.at.areas[blockIdx.x * PLX_ORDER_AREAS + area];

    if (threadIdx.x % 32 == 31)
        in_warp[warp] = up_to;
    __syncthreads();
    uint32_t larger = up_to - total;
    for (uint32_t w = 0; w < warp; w++)
        larger += in_warp[w];
    place[area] = others + larger + before;
}

/* Numbers the COUNT roots of the block's LIST by area, and those of one area in order. */
static __device__ void number_small(const order_args &a, const uint32_t *list, uint32_t count, uint32_t others)
{
    __shared__ __align__(16) uint16_t in_warp[WARPS][PLX_ORDER_AREAS];
    __shared__ uint32_t place[PLX_ORDER_AREAS];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    find_places(a, others, place);
    for (uint32_t begin = 0; begin < count; begin += THREADS) {
        for (uint32_t i = threadIdx.x; i < sizeof in_warp / sizeof(uint4); i += THREADS)
            ((uint4 *)in_warp)[i] = make_uint4(0, 0, 0, 0);
        __syncthreads();
        const uint32_t i = begin + threadIdx.x, root = i < count ? list[i] : 0;
        const uint32_t area = i < count ? a.at.at[root].area : PLX_ORDER_AREAS;
        const uint32_t same = __match_any_sync(~0u, area), earlier = __popc(same & ((1u << lane) - 1));
        if (i < count && earlier == 0)
            in_warp[warp][area] = (uint16_t)__popc(same);
        __syncthreads();

        uint32_t next = 0; /* from counts to places */
        for (uint32_t w = 0; w < WARPS; w++) {
            const uint32_t n = in_warp[w][threadIdx.x];
            in_warp[w][threadIdx.x] = (uint16_t)next;
            next += n;
        }
        __syncthreads();
        if (i < count)
            a.at.at[root].number = place[area] + in_warp[warp][area] + earlier + 1;
        __syncthreads();
        place[threadIdx.x] += next;
    }
}

/* Grid: up to 128 blocks that run at once (cooperative). Of few components reads 8 bytes each and writes 4; of many a bit a
 * pixel, 12 bytes each, and 3 KB a block. */
static __global__ void __launch_bounds__(THREADS, 2) order_kernel(order_args a)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();

    plx_wait();
    const uint32_t count = *a.at.listed;
    if (count <= PLX_FEW) { /* else the next kernel's blocks would be in the way for long */
        plx_lead();
        number_first(a, a.at.list, count);
        return;
    }
    const share words = share_of(a.words);
    uint32_t *const list = a.at.order[0] + words.begin * 32;
    const uint32_t small = list_roots(a, words, list);
    grid.sync();
    const uint32_t others = *a.at.others;
    add_blocks(a);
    number_first(a, a.at.order[1], others);
    grid.sync();
    number_small(a, list, small, others);
}

/* Where there is a multiprocessor for each block it has that for itself: two of them on one, as may be where they begin among
 * the blocks of the kernel before, take half as long again to sort many. */
int plx_gpu_components_order(struct plx_gpu *gpu, int pixels)
{
    const order_args args = {*gpu->components, (uint32_t)(pixels + 31) / 32};
    const int bytes = gpu->follows && gpu->multiprocessors >= PLX_ORDER_BLOCKS ? plx_bytes_alone(gpu) : 0;

    const int result = PLX_CUDA(gpu, cudaFuncSetAttribute(order_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return result < 0 ? result : plx_launch_together(gpu, order_kernel, PLX_ORDER_BLOCKS, THREADS, args, true, (size_t)bytes);
}
