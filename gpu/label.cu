/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage label: the components that are large enough, numbered by area, the largest first, then by first pixel. One kernel
 * lists the roots in raster order and sorts them, with barriers across its grid, so that the number of components never leaves
 * the device: a few by counting who comes before, many by a stable radix sort.
 */
#include "gpu/components.cuh"
#include "gpu/cooperate.cuh"

#define ORDER_THREADS 512
#define WARPS (ORDER_THREADS / 32)
#define DIGIT_BITS 8
#define FEW 2048 /* components: all areas fit into shared memory */
#define BLOCK_X 32
#define BLOCK_Y 8

struct order_args {
    uint32_t *area, *roots, *order[2], *digits, *listed;
    uint32_t words, min_area; /* of roots */
    uint32_t *ret_count;
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

/* Counts the block's roots and drops the small ones. */
static __device__ void count_roots(const order_args &a)
{
    __shared__ uint32_t total, largest;
    const share mine = share_of(a.words);
    uint32_t count = 0, most = 0;

    if (threadIdx.x == 0)
        total = largest = 0;
    __syncthreads();
    for (uint32_t i = mine.begin + threadIdx.x; i < mine.end; i += ORDER_THREADS) {
        uint32_t large = 0;
        for (uint32_t open = a.roots[i]; open != 0; open &= open - 1) {
            const uint32_t bit = __ffs(open) - 1, area = a.area[i * 32 + bit];
            if (area >= a.min_area)
                large |= 1u << bit;
            else
                a.area[i * 32 + bit] = 0;
            most = max(most, area);
        }
        a.roots[i] = large;
        count += __popc(large);
    }
    if (count > 0) {
        atomicAdd(&total, count);
        atomicMax(&largest, most);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        a.listed[blockIdx.x] = total;
        a.listed[PLX_ORDER_BLOCKS + blockIdx.x] = largest;
    }
}

/* Of all blocks: roots of the blocks before this one, of all, and the largest area. */
struct totals {
    uint32_t before, count, largest;
};

static __device__ totals total_of(const order_args &a)
{
    totals result = {0, 0, 0};
    for (uint32_t i = 0; i < gridDim.x; i++) {
        const uint32_t count = a.listed[i];
        result.before += i < blockIdx.x ? count : 0;
        result.count += count;
        result.largest = max(result.largest, a.listed[PLX_ORDER_BLOCKS + i]);
    }
    return result;
}

/* Writes the block's roots to order[0] and, if there are few, their areas to order[1], from place BEFORE on. */
static __device__ void list_roots(const order_args &a, uint32_t before, bool few)
{
    __shared__ uint32_t in_warp[2][WARPS]; /* by turns, so that one barrier is enough */
    const share mine = share_of(a.words);
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (uint32_t from = mine.begin, turn = 0; from < mine.end; from += ORDER_THREADS, turn ^= 1) {
        const uint32_t i = from + threadIdx.x, roots = i < mine.end ? a.roots[i] : 0;
        uint32_t up_to = __popc(roots); /* roots of this lane and those before */
        for (uint32_t step = 1; step < 32; step *= 2) {
            const uint32_t earlier = __shfl_up_sync(~0u, up_to, step);
            up_to += lane >= step ? earlier : 0;
        }
        if (lane == 31)
            in_warp[turn][warp] = up_to;
        __syncthreads();
        uint32_t place = before + up_to - __popc(roots);
        for (uint32_t w = 0; w < WARPS; w++) {
            place += w < warp ? in_warp[turn][w] : 0;
            before += in_warp[turn][w];
        }
        for (uint32_t open = roots; open != 0; open &= open - 1, place++) {
            const uint32_t root = i * 32 + __ffs(open) - 1;
            a.order[0][place] = root;
            if (few)
                a.order[1][place] = a.area[root];
        }
    }
}

/* Numbers COUNT <= FEW roots: a warp counts who comes before its root. */
static __device__ void number_few(const order_args &a, uint32_t count)
{
    __shared__ uint32_t area[FEW];
    const uint32_t lane = threadIdx.x % 32;

    for (uint32_t i = threadIdx.x; i < count; i += ORDER_THREADS)
        area[i] = a.order[1][i];
    __syncthreads();
    for (uint32_t i = blockIdx.x * WARPS + threadIdx.x / 32; i < count; i += gridDim.x * WARPS) {
        uint32_t before = 0;
        for (uint32_t k = lane; k < count; k += 32)
            before += area[k] > area[i] || (area[k] == area[i] && k < i);
        for (int step = 16; step > 0; step /= 2)
            before += __shfl_xor_sync(~0u, before, step);
        if (lane == 0)
            a.area[a.order[0][i]] = before + 1;
    }
}

static __device__ __forceinline__ uint32_t digit_of(const order_args &a, uint32_t root, int shift)
{
    return a.area[root] >> shift & (PLX_ORDER_DIGITS - 1);
}

/* Counts the digits of the block's share of the list. */
static __device__ void count_digits(const order_args &a, const uint32_t *from, uint32_t count, int shift)
{
    __shared__ uint32_t digits[PLX_ORDER_DIGITS];
    const share mine = share_of(count);

    if (threadIdx.x < PLX_ORDER_DIGITS)
        digits[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = mine.begin + threadIdx.x; i < mine.end; i += ORDER_THREADS)
        atomicAdd(&digits[digit_of(a, from[i], shift)], 1);
    __syncthreads();
    if (threadIdx.x < PLX_ORDER_DIGITS)
        a.digits[threadIdx.x * PLX_ORDER_BLOCKS + blockIdx.x] = digits[threadIdx.x];
}

/* Where the block's roots of each digit begin: after all larger digits, and the same digit of earlier blocks. */
static __device__ void find_places(const order_args &a, uint32_t place[PLX_ORDER_DIGITS])
{
    __shared__ uint32_t above[PLX_ORDER_DIGITS]; /* roots of larger digits or this one */
    const uint32_t digit = threadIdx.x;
    uint32_t total = 0, before = 0;

    for (uint32_t i = 0; digit < PLX_ORDER_DIGITS && i < gridDim.x; i++) {
        const uint32_t count = a.digits[digit * PLX_ORDER_BLOCKS + i];
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

/* Moves the block's share of the list to its places by digit, and keeps the order of equal ones. */
static __device__ void move(const order_args &a, const uint32_t *from, uint32_t *to, uint32_t count, int shift)
{
    __shared__ uint32_t place[PLX_ORDER_DIGITS], in_warp[WARPS][PLX_ORDER_DIGITS];
    const share mine = share_of(count);
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    find_places(a, place);
    for (uint32_t begin = mine.begin; begin < mine.end; begin += ORDER_THREADS) {
        for (uint32_t i = threadIdx.x; i < WARPS * PLX_ORDER_DIGITS; i += ORDER_THREADS)
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
        if (i < mine.end)
            to[in_warp[warp][digit] + earlier] = root;
        __syncthreads();
    }
}

/* Grid: up to 32 blocks that run at once (cooperative). Reads a bit a pixel and the areas of roots, and writes the number
 * of each root in place of its area. A pass of the radix sort reads and writes 12 bytes a component. */
static __global__ void __launch_bounds__(ORDER_THREADS) order_kernel(order_args a)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();

    count_roots(a);
    grid.sync();
    const totals all = total_of(a);
    const bool few = all.count <= FEW;
    list_roots(a, all.before, few);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *a.ret_count = all.count;
    grid.sync();
    if (few) {
        number_few(a, all.count);
        return;
    }

    uint32_t *from = a.order[0], *to = a.order[1];
    for (int shift = 0; shift < 32 && all.largest >> shift > 0; shift += DIGIT_BITS) {
        count_digits(a, from, all.count, shift);
        grid.sync();
        move(a, from, to, all.count, shift);
        grid.sync();
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    for (uint32_t i = blockIdx.x * ORDER_THREADS + threadIdx.x; i < all.count; i += gridDim.x * ORDER_THREADS)
        a.area[from[i]] = i + 1;
}

/* Grid: a thread a pixel. Reads 4 bytes a pixel and its roots from cache, writes 4. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    number_kernel(const uint32_t *parent, const uint32_t *number, plx_view<uint32_t> labels)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;

    if (x >= labels.width || y >= labels.height)
        return;
    const uint32_t i = (uint32_t)y * labels.width + x;
    labels.row(y)[x] = parent[i] == PLX_NO_COMPONENT ? 0 : number[plx_root(parent, i)];
}

static int order(struct plx_gpu *gpu, uint32_t pixels, int min_area, uint32_t *ret_count)
{
    const struct plx_gpu_components *c = gpu->components;
    const order_args args = {c->area,
                             c->roots,
                             {c->order[0], c->order[1]},
                             c->digits,
                             c->listed,
                             (pixels + 31) / 32,
                             min_area > 1 ? (uint32_t)min_area : 1,
                             ret_count};
    return plx_launch_together(gpu, order_kernel, PLX_ORDER_BLOCKS, ORDER_THREADS, args);
}

int plx_gpu_label(struct plx_stages *self, const struct plx_image *mask, const struct plx_image *disparity,
                  const struct plx_label_params *params, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(mask->width, mask->height, block);

    if (!plx_image_ok(mask, PLX_U8) || !plx_image_ok(disparity, PLX_U16) || !plx_image_ok(ret_labels, PLX_U32) ||
        !plx_same_size(mask, disparity) || !plx_same_size(mask, ret_labels) || params->max_step < 0)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, mask))
        return PLX_ERR_RANGE;

    int result = plx_gpu_components_find(gpu, mask, disparity, params->max_step, true);
    if (result == 0)
        result = order(gpu, (uint32_t)(mask->width * mask->height), params->min_area, ret_count);
    if (result < 0)
        return result;
    number_kernel<<<grid, block, 0, gpu->stream>>>(gpu->components->parent, gpu->components->area,
                                                   plx_view_of<uint32_t>(ret_labels));
    return PLX_LAUNCHED(gpu, number_kernel);
}
