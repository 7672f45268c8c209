/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components that are large enough, numbered by area, the largest first, then by first pixel. One kernel sorts the roots, so
 * that the number of components never leaves the device: few by counting who comes before; many in raster order by a stable
 * radix sort, with barriers across its grid.
 */
#include "gpu/components.cuh"
#include "gpu/cooperate.cuh"
#include "gpu/follow.cuh"
#include "gpu/warp.cuh"

#define THREADS 512
#define WARPS (THREADS / 32)
#define DIGIT_BITS 8

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

static __device__ __forceinline__ uint32_t digit_of(const order_args &a, uint32_t root, int shift)
{
    return a.at.area[root] >> shift & (PLX_ORDER_DIGITS - 1);
}

/* Counts the block's roots, and the first digits of their areas. */
static __device__ void count_roots(const order_args &a)
{
    __shared__ uint32_t total, largest, digits[PLX_ORDER_DIGITS];
    const share mine = share_of(a.words);
    uint32_t count = 0, most = 0;

    if (threadIdx.x == 0)
        total = largest = 0;
    if (threadIdx.x < PLX_ORDER_DIGITS)
        digits[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = mine.begin + threadIdx.x; i < mine.end; i += THREADS) {
        const uint32_t roots = a.at.large[i];
        for (uint32_t open = roots; open != 0; open &= open - 1) {
            const uint32_t area = a.at.area[i * 32 + __ffs(open) - 1];
            most = max(most, area);
            atomicAdd(&digits[area & (PLX_ORDER_DIGITS - 1)], 1);
        }
        count += __popc(roots);
    }
    if (count > 0) {
        atomicAdd(&total, count);
        atomicMax(&largest, most);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        a.at.in_blocks[blockIdx.x] = total;
        a.at.in_blocks[PLX_ORDER_BLOCKS + blockIdx.x] = largest;
    }
    if (threadIdx.x < PLX_ORDER_DIGITS)
        a.at.digits[blockIdx.x * PLX_ORDER_DIGITS + threadIdx.x] = digits[threadIdx.x];
}

/* Where the block's roots are in the list, and the largest area of all. */
struct totals {
    share mine;
    uint32_t largest;
};

static __device__ totals total_of(const order_args &a)
{
    __shared__ uint32_t before, largest;

    if (threadIdx.x == 0)
        before = largest = 0;
    __syncthreads();
    if (threadIdx.x < gridDim.x) {
        if (threadIdx.x < blockIdx.x)
            atomicAdd(&before, a.at.in_blocks[threadIdx.x]);
        atomicMax(&largest, a.at.in_blocks[PLX_ORDER_BLOCKS + threadIdx.x]);
    }
    __syncthreads();
    return {{before, before + a.at.in_blocks[blockIdx.x]}, largest};
}

/* Writes the block's roots to order[0] from place BEFORE on. */
static __device__ void list_roots(const order_args &a, uint32_t before)
{
    __shared__ uint32_t in_warp[2][WARPS]; /* by turns, so that one barrier is enough */
    const share mine = share_of(a.words);
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (uint32_t from = mine.begin, turn = 0; from < mine.end; from += THREADS, turn ^= 1) {
        const uint32_t i = from + threadIdx.x, roots = i < mine.end ? a.at.large[i] : 0;
        const uint32_t up_to = plx_warp_sum_up_to(__popc(roots)); /* roots of this lane and those before */
        if (lane == 31)
            in_warp[turn][warp] = up_to;
        __syncthreads();
        uint32_t place = before + up_to - __popc(roots);
        for (uint32_t w = 0; w < WARPS; w++) {
            place += w < warp ? in_warp[turn][w] : 0;
            before += in_warp[turn][w];
        }
        for (uint32_t open = roots; open != 0; open &= open - 1, place++)
            a.at.order[0][place] = i * 32 + __ffs(open) - 1;
    }
}

/* Numbers COUNT <= PLX_FEW roots: a warp counts who comes before its root. */
static __device__ void number_few(const order_args &a, uint32_t count)
{
    __shared__ unsigned long long place[PLX_FEW]; /* who has the larger one comes first */
    const uint32_t lane = threadIdx.x % 32;

    for (uint32_t i = threadIdx.x; i < count; i += THREADS) {
        const uint32_t root = a.at.list[i];
        place[i] = (unsigned long long)a.at.area[root] << 32 | ~root;
    }
    __syncthreads();
    for (uint32_t i = blockIdx.x * WARPS + threadIdx.x / 32; i < count; i += gridDim.x * WARPS) {
        const unsigned long long mine = place[i];
        uint32_t before = 0;
        for (uint32_t k = lane; k < count; k += 32)
            before += place[k] > mine;
        before = plx_warp_sum(before);
        if (lane == 0)
            a.at.number[~(uint32_t)mine] = before + 1;
    }
}

/* Counts the digits of the block's share of the list. */
static __device__ void count_digits(const order_args &a, const uint32_t *from, share mine, int shift)
{
    __shared__ uint32_t digits[PLX_ORDER_DIGITS];

    if (threadIdx.x < PLX_ORDER_DIGITS)
        digits[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = mine.begin + threadIdx.x; i < mine.end; i += THREADS)
        atomicAdd(&digits[digit_of(a, from[i], shift)], 1);
    __syncthreads();
    if (threadIdx.x < PLX_ORDER_DIGITS)
        a.at.digits[blockIdx.x * PLX_ORDER_DIGITS + threadIdx.x] = digits[threadIdx.x];
}

/* Where the block's roots of each digit begin: after all larger digits, and the same digit of earlier blocks. */
static __device__ void find_places(const order_args &a, uint32_t place[PLX_ORDER_DIGITS])
{
    __shared__ uint32_t above[PLX_ORDER_DIGITS]; /* roots of larger digits or this one */
    const uint32_t digit = threadIdx.x;
    uint32_t total = 0, before = 0;

#pragma unroll 8
    for (uint32_t i = 0; i < gridDim.x; i++) {
        const uint32_t count = digit < PLX_ORDER_DIGITS ? a.at.digits[i * PLX_ORDER_DIGITS + digit] : 0;
        before += i < blockIdx.x ? count : 0;
        total += count;
    }
    if (digit < PLX_ORDER_DIGITS)
        above[digit] = total;
    for (uint32_t step = 1; step < PLX_ORDER_DIGITS; step *= 2) {
        __syncthreads();
        const uint32_t more = digit + step < PLX_ORDER_DIGITS ? above[digit + step] : 0;
        __syncthreads();
        if (digit < PLX_ORDER_DIGITS)
            above[digit] += more;
    }
    if (digit < PLX_ORDER_DIGITS)
        place[digit] = above[digit] - total + before;
    __syncthreads();
}

/* Moves the block's share of the list to its places by digit, and keeps the order of equal ones; or numbers it by them if TO is
 * NULL. */
static __device__ void move(const order_args &a, const uint32_t *from, uint32_t *to, share mine, int shift)
{
    __shared__ uint32_t place[PLX_ORDER_DIGITS], in_warp[WARPS][PLX_ORDER_DIGITS];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    find_places(a, place);
    for (uint32_t begin = mine.begin; begin < mine.end; begin += THREADS) {
        for (uint32_t i = threadIdx.x; i < WARPS * PLX_ORDER_DIGITS; i += THREADS)
            in_warp[i / PLX_ORDER_DIGITS][i % PLX_ORDER_DIGITS] = 0;
        __syncthreads();

        const uint32_t i = begin + threadIdx.x, root = i < mine.end ? from[i] : 0;
        const uint32_t digit = i < mine.end ? digit_of(a, root, shift) : PLX_ORDER_DIGITS;
        const uint32_t same = __match_any_sync(~0u, digit), earlier = __popc(same & ((1u << lane) - 1));
        if (i < mine.end && earlier == 0)
            in_warp[warp][digit] = __popc(same);
        __syncthreads();

        if (threadIdx.x < PLX_ORDER_DIGITS) { /* from counts to places */
            uint32_t next = place[threadIdx.x];
            for (uint32_t w = 0; w < WARPS; w++) {
                const uint32_t n = in_warp[w][threadIdx.x];
                in_warp[w][threadIdx.x] = next;
                next += n;
            }
            place[threadIdx.x] = next;
        }
        __syncthreads();
        if (i < mine.end && to)
            to[in_warp[warp][digit] + earlier] = root;
        else if (i < mine.end)
            a.at.number[root] = in_warp[warp][digit] + earlier + 1;
        __syncthreads();
    }
}

/* Grid: up to 128 blocks that run at once (cooperative). Of few components reads 8 bytes each and writes 4; of many a bit a
 * pixel, and a pass of the radix sort reads and writes 12 bytes each. */
static __global__ void __launch_bounds__(THREADS, 2) order_kernel(order_args a)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();

    plx_wait();
    const uint32_t count = *a.at.listed;
    if (count <= PLX_FEW) { /* else the next kernel's blocks would be in the way for long */
        plx_lead();
        number_few(a, count);
        return;
    }
    count_roots(a);
    grid.sync();
    const totals all = total_of(a);
    share mine = all.mine;
    list_roots(a, mine.begin);
    __syncthreads();
    uint32_t *from = a.at.order[0], *to = a.at.order[1];
    for (int shift = 0;;) {
        const bool last = all.largest >> shift < PLX_ORDER_DIGITS;
        move(a, from, last ? NULL : to, mine, shift);
        if (last)
            return;
        grid.sync();
        shift += DIGIT_BITS;
        mine = share_of(count);
        count_digits(a, to, mine, shift);
        grid.sync();
        uint32_t *const sorted = to;
        to = from;
        from = sorted;
    }
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
