/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of disparity: the medians over a window with clamped coordinates, and the blend with the frame before. */
#include "gpu/device/access.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/packed.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
#define BEYOND 0x4000u /* a disparity is less */
#define BEYOND_2 (BEYOND << 16 | BEYOND)

/* Two pixels at once, side by side in the halves of a register. */
static __device__ __forceinline__ void order_2(uint32_t &a, uint32_t &b)
{
    const uint32_t least = plx_min2(a, b);
    b = plx_max2(a, b);
    a = least;
}

/* Sorts three. Each half stays below 2^16: carries cancel. */
static __device__ __forceinline__ void order_3(uint32_t &a, uint32_t &b, uint32_t &c)
{
    const uint32_t sum = a + b + c, least = plx_min3(a, b, c), most = plx_max3(a, b, c);
    b = sum - least - most;
    a = least;
    c = most;
}

static __device__ __forceinline__ uint32_t median_of_3(uint32_t a, uint32_t b, uint32_t c)
{
    return a + b + c - plx_min3(a, b, c) - plx_max3(a, b, c);
}

/* The last of a pair and the first of the next one. */
static __device__ __forceinline__ uint32_t between(uint32_t left, uint32_t right)
{
    return __byte_perm(left, right, 0x5432);
}

#define EACH 4 /* pixels of a thread in a row */

/* The pixels from X - 2 to X + 5 of a row as four pairs, of which the first half and the last are of no meaning. */
static __device__ __forceinline__ void load_pairs(const uint16_t *row, int width, int x, bool aligned, uint32_t ret_pairs[4])
{
    if (aligned && x + EACH <= width) {
        const uint2 here = *(const uint2 *)(row + x);
        ret_pairs[1] = here.x, ret_pairs[2] = here.y;
    } else {
        ret_pairs[1] = row[x] | (uint32_t)row[min(x + 1, width - 1)] << 16;
        ret_pairs[2] = row[min(x + 2, width - 1)] | (uint32_t)row[min(x + 3, width - 1)] << 16;
    }
    ret_pairs[0] = (uint32_t)row[max(x - 1, 0)] << 16;
    ret_pairs[3] = row[min(x + EACH, width - 1)];
#pragma unroll
    for (int i = 0; PLX_PACKED_HALF2 && i < 4; i++) /* what is invalid would not be a number */
        ret_pairs[i] = plx_min2(ret_pairs[i], BEYOND_2);
}

static __device__ __forceinline__ uint16_t disparity_of(uint32_t value)
{
    return (uint16_t)(PLX_PACKED_HALF2 && value == BEYOND ? PLX_DISPARITY_INVALID : value);
}

/* Grid: a thread four pixels of a row. The median of nine is that of the largest of the least, the middle of the middle and the
 * least of the largest of three sorted columns (Paeth, Median finding on a 3x3 grid, 1990); columns are sorted once for all
 * four. Reads and writes 2 bytes a pixel; the rows around come from L1. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    median_3x3_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst, bool aligned)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    uint32_t low[4], middle[4], high[4];

    plx_grid_wait_and_trigger();
    if (x >= src.width || y >= src.height)
        return;
    load_pairs(src.row(max(y - 1, 0)), src.width, x, aligned, low);
    load_pairs(src.row(y), src.width, x, aligned, middle);
    load_pairs(src.row(min(y + 1, src.height - 1)), src.width, x, aligned, high);
#pragma unroll
    for (int i = 0; i < 4; i++)
        order_3(low[i], middle[i], high[i]);
    plx_vector<uint16_t, EACH> result;
#pragma unroll
    for (int i = 1; i <= 2; i++) {
        const uint32_t least = plx_max3(between(low[i - 1], low[i]), low[i], between(low[i], low[i + 1]));
        const uint32_t most = plx_min3(between(high[i - 1], high[i]), high[i], between(high[i], high[i + 1]));
        const uint32_t mid = median_of_3(between(middle[i - 1], middle[i]), middle[i], between(middle[i], middle[i + 1]));
        const uint32_t median = median_of_3(least, mid, most);
        result.at[2 * i - 2] = disparity_of(median & 0xFFFF);
        result.at[2 * i - 1] = disparity_of(median >> 16);
    }
    plx_store(result, dst.row(y) + x, src.width - x, aligned);
}

/* 5x5: element n / 2 of the n valid pixels is the median of all 25 if of the invalid ones every second is taken for smaller
 * than all, the first of them for larger: it then has 12 before it. A thread makes two pairs one above the other, whose windows
 * have 20 pixels in common.
 *
 * Minima and maxima of integers come at half the rate of additions of half floats. Values up to 0x800, taken for the bits of
 * half floats, are multiples of 2^-24, whose sums and differences within 0x800 are exact. So where all disparities of a block
 * are less (NARROW, 0x800 is the largest value), every second exchange uses additions, and both pipes are busy alike. */
#define RADIUS 2
#define MARGIN 4 /* columns before and after a tile: RADIUS, rounded up to what a thread reads at once */
#define TILE_X (2 * BLOCK_X + 2 * MARGIN)
#define ROWS 2 /* rows of a thread */
#define COMMON 20
#define TILE_Y (ROWS * BLOCK_Y + 2 * RADIUS)
#define INVALID_2 0x48004800u /* in the tile: BEYOND + 0x800, which either way makes its own of; 8 as a half float */
#define NARROW_2 0x08000800u

/* As order_2: what A has more than B moves to B. */
static __device__ __forceinline__ void order_narrow(uint32_t &a, uint32_t &b)
{
    const __half2 more = __hsub2_sat(plx_as_half2(a), plx_as_half2(b));
    a = plx_bits_of(__hsub2(plx_as_half2(a), more));
    b = plx_bits_of(__hadd2(plx_as_half2(b), more));
}

/* Exchange number INDEX of a row of exchanges. Before 8.0 a minimum of integers takes several instructions. */
template <bool NARROW> static __device__ __forceinline__ void order(uint32_t &a, uint32_t &b, int index)
{
    if (NARROW && (index % 2 == 0 || PLX_ARCH < 800))
        order_narrow(a, b);
    else
        order_2(a, b);
}

/* Moves the least of K candidates to V[0] and the largest to V[K - 1]. The last exchange of a row is one of integers: where
 * only one of its results is used, that is one instruction instead of two. */
template <bool NARROW, int K> static __device__ __forceinline__ void part(uint32_t *v)
{
#pragma unroll
    for (int i = 0; i < K / 2; i++)
        order<NARROW>(v[i], v[K - 1 - i], i);
#pragma unroll
    for (int i = 1; i < (K + 1) / 2; i++)
        order<NARROW>(v[0], v[i], (K + 1) / 2 - i);
#pragma unroll
    for (int i = K / 2; i < K - 1; i++)
        order<NARROW>(v[i], v[K - 1], K - 1 - i);
}

/* Forgetful selection: neither the least nor the largest of K candidates is the median. The NEXT value replaces the least, the
 * largest is dropped, and so on until LEFT are left. */
template <bool NARROW, int K, int LEFT> static __device__ __forceinline__ void select(uint32_t *v, const uint32_t *next)
{
    if constexpr (K > LEFT) {
        part<NARROW, K>(v);
        v[0] = *next;
        select<NARROW, K - 1, LEFT>(v, next + 1);
    }
}

/* Invalid pixels of a window so far, in each half: UNIT for each, and a mask of the bits that the next one loses. */
template <bool NARROW> struct window {
    static constexpr float UNIT = NARROW ? 8 : 2; /* INVALID_2 and BEYOND_2 as numbers */
    uint32_t lost = NARROW ? BEYOND_2 : 0;        /* a narrow block has no use for BEYOND */
    __half2 invalid = __float2half2_rn(0);

    /* Narrow disparities, up to 2^-13, vanish in the sum beside 8. */
    __device__ __forceinline__ void take(uint32_t *v, int count)
    {
#pragma unroll
        for (int i = 0; i < count; i++) {
            const uint32_t beyond = v[i] & (NARROW ? NARROW_2 : BEYOND_2);
            invalid = __hadd2(invalid, plx_as_half2(NARROW ? v[i] : beyond));
            v[i] &= ~lost;
            lost ^= beyond;
        }
    }

    /* All ones where more than 12 pixels are invalid and CENTRE, as in the tile, is one of them: 8 * 32 exceeds any sum. */
    __device__ __forceinline__ uint32_t rejects(uint32_t centre) const
    {
        const __half2 sum = __hfma2(plx_as_half2(centre), __float2half2_rn(32), invalid);
        return __hgt2_mask(sum, __float2half2_rn(8 * 32 + 12.5f * UNIT));
    }
};

/* Five pairs of ROW about a thread's own. */
template <bool NARROW> static __device__ __forceinline__ void load_five(const uint32_t *row, uint32_t ret_pairs[5])
{
    const uint32_t *pairs = row + threadIdx.x + (MARGIN - RADIUS) / 2;
    uint32_t left = pairs[0], here = pairs[1], right = pairs[2];
    if (!NARROW)
        left = plx_min2(left, BEYOND_2), here = plx_min2(here, BEYOND_2), right = plx_min2(right, BEYOND_2);
    ret_pairs[0] = left, ret_pairs[1] = between(left, here), ret_pairs[2] = here;
    ret_pairs[3] = between(here, right), ret_pairs[4] = right;
}

/* The medians of a pair: CENTRE as in the tile, window W after the common pixels, of which the six in the middle are left, and
 * the five of its OWN row. */
template <bool NARROW>
static __device__ __forceinline__ plx_vector<uint16_t, 2> finish_5x5(uint32_t centre, window<NARROW> w,
                                                                     const uint32_t middle[6], uint32_t own[5])
{
    uint32_t v[7];

    w.take(own, 5);
#pragma unroll
    for (int i = 0; i < 6; i++)
        v[i] = middle[i];
    v[6] = own[0];
    select<NARROW, 7, 3>(v, own + 1);
    part<NARROW, 3>(v);
    const uint32_t median = v[1] | w.rejects(centre);
    return {(uint16_t)median, (uint16_t)(median >> 16)};
}

typedef uint32_t tile_5x5[TILE_Y][TILE_X / 2]; /* pairs */

/* Both pairs of a thread, the first of its pixels at X, Y. */
template <bool NARROW>
static __device__ __forceinline__ void median_5x5(const tile_5x5 &tile, const plx_view<uint16_t> &dst, int x, int y,
                                                  bool aligned)
{
    const int row = ROWS * threadIdx.y, count = dst.width - x;
    const uint32_t *centre = &tile[row + RADIUS][threadIdx.x + MARGIN / 2];
    uint32_t v[COMMON], above[5], below[5];
    window<NARROW> w;

#pragma unroll
    for (int i = 0; i < COMMON / 5; i++)
        load_five<NARROW>(tile[row + 1 + i], v + 5 * i);
    load_five<NARROW>(tile[row], above);
    load_five<NARROW>(tile[row + 5], below);
    w.take(v, COMMON);
    select<NARROW, 14, 8>(v, v + 14);
    part<NARROW, 8>(v);
    plx_store(finish_5x5<NARROW>(centre[0], w, v + 1, above), dst.row(y) + x, count, aligned);
    if (y + 1 < dst.height)
        plx_store(finish_5x5<NARROW>(centre[TILE_X / 2], w, v + 1, below), dst.row(y + 1) + x, count, aligned);
}

/* Grid: blocks of 64 x 16 pixels. Reads 2 bytes a pixel (2.7 with the halo), writes 2. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    median_valid_5x5_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst, bool src_aligned, bool dst_aligned)
{
    __shared__ __align__(8) tile_5x5 tile;
    const int x0 = blockIdx.x * 2 * BLOCK_X, y0 = blockIdx.y * ROWS * BLOCK_Y;
    const int x = x0 + 2 * threadIdx.x, y = y0 + ROWS * threadIdx.y;
    uint32_t valid = 0;

    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < TILE_X / EACH * TILE_Y; i += BLOCK_X * BLOCK_Y) {
        const int column = i % (TILE_X / EACH) * EACH, tile_row = i / (TILE_X / EACH);
        const uint2 four = plx_load_4_pixels(src, x0 - MARGIN + column, y0 - RADIUS + tile_row, src_aligned);
        valid |= plx_valid_bits(four);
        *(uint2 *)&tile[tile_row][column / 2] = make_uint2(plx_min2(four.x, INVALID_2), plx_min2(four.y, INVALID_2));
    }
    const bool wide = __syncthreads_or(plx_exceeds_half(valid));
    if (x >= src.width || y >= src.height)
        return;
    if (wide)
        median_5x5<false>(tile, dst, x, y, dst_aligned);
    else
        median_5x5<true>(tile, dst, x, y, dst_aligned);
}

static int launch_median(struct plx_gpu *gpu, const struct plx_image *src, enum plx_median kind, const struct plx_image *dst)
{
    const dim3 block(BLOCK_X, BLOCK_Y), fours = plx_grid(src->width, src->height, dim3(BLOCK_X * EACH, BLOCK_Y));
    const dim3 pairs = plx_grid(src->width, src->height, dim3(2 * BLOCK_X, ROWS * BLOCK_Y));
    const plx_view<const uint16_t> from = plx_view_of<const uint16_t>(src);
    const plx_view<uint16_t> to = plx_view_of<uint16_t>(dst);
    const size_t bytes = EACH * sizeof(uint16_t);

    switch (kind) {
    case PLX_MEDIAN_NONE:
        return PLX_CUDA(gpu, cudaMemcpy2DAsync(dst->data, dst->pitch, src->data, src->pitch, (size_t)src->width * PLX_U16,
                                               (size_t)src->height, cudaMemcpyDefault, gpu->stream));
    case PLX_MEDIAN_3X3:
        return PLX_LAUNCH_DEPENDENT(gpu, median_3x3_kernel, fours, block, from, to,
                                    plx_rows_aligned(src, bytes) && plx_rows_aligned(dst, bytes));
    case PLX_MEDIAN_VALID_5X5:
        return PLX_LAUNCH(gpu, median_valid_5x5_kernel, pairs, block, from, to, plx_rows_aligned(src, bytes),
                          plx_rows_aligned(dst, 2 * sizeof(uint16_t)));
    }
    return PLX_ERR_ARG;
}

int plx_gpu_median(struct plx_stages *self, const struct plx_image *src, enum plx_median kind, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_same_size(src, dst))
        return PLX_ERR_ARG;

    const int result = plx_gpu_use_side(gpu, false);
    return plx_gpu_use_main(gpu, result < 0 ? result : launch_median(gpu, src, kind, dst));
}

/* --- temporal: disparity blended with that of the frame before ---------------------------------------------------------- */

#define BLEND_Y 4 /* rows of a block */
#define BLENDED 8 /* neighbouring pixels of a thread */

struct temporal_args {
    plx_view<const uint16_t> src;
    plx_view<uint16_t> history, dst;
    int max_step, weight;
    bool aligned;
};

static __device__ __forceinline__ uint16_t blend(int now, int old, int max_step, int weight)
{
    const bool both = now != PLX_DISPARITY_INVALID && old != PLX_DISPARITY_INVALID;
    const bool near = max_step > 0 && abs(now - old) <= max_step;
    return (uint16_t)(both && near ? (weight * now + (256 - weight) * old + 128) >> 8 : now);
}

/* Grid: a thread 8 pixels of a row. Reads and writes 4 bytes a pixel, 16 at a time. */
static __global__ void __launch_bounds__(BLOCK_X *BLEND_Y) temporal_kernel(temporal_args a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * BLENDED, y = blockIdx.y * BLEND_Y + threadIdx.y;
    const int count = a.src.width - x;

    if (count <= 0 || y >= a.src.height)
        return;
    plx_vector<uint16_t, BLENDED> value = plx_load<BLENDED>(a.src.row(y) + x, count, a.aligned);
    const plx_vector<uint16_t, BLENDED> old = plx_load<BLENDED>((const uint16_t *)a.history.row(y) + x, count, a.aligned);
#pragma unroll
    for (int i = 0; i < BLENDED; i++)
        value.at[i] = blend(value.at[i], old.at[i], a.max_step, a.weight);
    plx_store(value, a.history.row(y) + x, count, a.aligned);
    plx_store(value, a.dst.row(y) + x, count, a.aligned);
}

int plx_gpu_temporal(struct plx_stages *self, const struct plx_image *src, const struct plx_temporal *temporal,
                     const struct plx_image *history, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_images_ok(PLX_U16, src, history, dst) || !plx_same_sizes(src, history, dst) || !temporal ||
        temporal->max_step < 0 || temporal->weight < 1 || temporal->weight > 256)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src))
        return PLX_ERR_RANGE;

    const size_t bytes = BLENDED * sizeof(uint16_t);
    const struct temporal_args args = {plx_view_of<const uint16_t>(src),
                                       plx_view_of<uint16_t>(history),
                                       plx_view_of<uint16_t>(dst),
                                       temporal->max_step,
                                       temporal->weight,
                                       plx_rows_aligned(src, bytes) && plx_rows_aligned(history, bytes) &&
                                           plx_rows_aligned(dst, bytes)};
    const dim3 block(BLOCK_X, BLEND_Y), grid = plx_grid(src->width, src->height, dim3(BLOCK_X * BLENDED, BLEND_Y));
    return PLX_LAUNCH(gpu, temporal_kernel, grid, block, args);
}
