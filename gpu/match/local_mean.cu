/* SPDX-License-Identifier: Apache-2.0 */
/* Stages local_mean and cross_validate: the local mean of nearly equal disparities, and what strict and dense disparity
 * confirm. */
#include "gpu/device/access.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/packed.cuh"

#define WARP 32  /* threads of a block side by side */
#define EACH 4   /* pixels of a thread, side by side */
#define ROWS 8   /* rows of a block */
#define REACH 3  /* reach of the window */
#define MARGIN 4 /* columns before and after a tile: REACH, rounded up to what a thread reads at once */
#define TILE_X (WARP * EACH + 2 * MARGIN)
#define TILE_Y (ROWS + 2 * REACH)

#define WORDS ((EACH + 2 * MARGIN) / 2) /* words of a tile's row that a thread reads, two pixels each */
#define PAIRS (EACH / 2)

/* A step from a pixel to a neighbour is exact where both are half floats up to 2047: so they are in a NARROW block, whose
 * disparities are all less than 2048. In other blocks the neighbour less the pixel itself is added to the bits of OWN, a half
 * float around which the last bit is 1. So what is near is an exact number, and all others, which are farther away, at least a
 * number: OWN + BEYOND is one. */
#define OWN 1536
#define OWN_BITS 0x6600u
#define BEYOND 0x1500 /* stands for invalid, as a half float for 20480; a disparity is at least 2 PLX_LOCAL_MEAN_STEP less */
#define ONE_BITS 0x3C00u

typedef uint2 tile_even[TILE_Y][TILE_X / EACH];

/* Disparities below 2048 as half floats: their bits are those of the number * 2^-24. */
static __device__ __forceinline__ uint32_t to_numbers(uint32_t pair)
{
    const __half2 root = __float2half2_rn(4096);
    return plx_bits_of(__hmul2(__hmul2(plx_as_half2(pair), root), root));
}

/* For two pixels, side by side in the halves: how many neighbours are near, and the sum of their steps from the pixel's own
 * disparity, at most 49 * PLX_LOCAL_MEAN_STEP = 1960: an exact half float. The count is a sum of bits, as the integer pipe has
 * time and adds two at once. */
template <bool NARROW> struct near_pair {
    uint32_t own; /* the pixels; not narrow: what turns a neighbour into a step */
    uint32_t count;
    __half2 sum;

    __device__ __forceinline__ void start(uint32_t pair)
    {
        own = NARROW ? pair : plx_broadcast2(OWN_BITS) - pair;
        count = 0;
        sum = __float2half2_rn(0);
    }

    __device__ __forceinline__ void add(uint32_t neighbours)
    {
        const __half2 step = NARROW ? __hsub2(plx_as_half2(neighbours), plx_as_half2(own))
                                    : __hsub2(plx_as_half2(neighbours + own), __float2half2_rn(OWN));
        const __half2 is_near = __hadd2_sat(__hneg2(__habs2(step)), __float2half2_rn(PLX_LOCAL_MEAN_STEP + 1));
        count += plx_bits_of(is_near);
        sum = __hfma2(is_near, step, sum);
    }

    /* Counts are below 64: a half is ONE_BITS, 15 << 10, as often modulo 2^16, and 47 * 15 is 1 modulo 64. */
    __device__ __forceinline__ void counts(int ret_counts[2]) const
    {
        ret_counts[0] = (count >> 10) * 47 & 63;
        ret_counts[1] = ((count - ret_counts[0] * ONE_BITS) >> 26) * 47 & 63;
    }
};

/* The mean step, rounded to the nearest integer, half up: the quotient with a quarter added to the numerator stays so far from
 * integers that its error does not matter. It is positive, as PLX_LOCAL_MEAN_STEP is added. */
static __device__ __forceinline__ int mean(float sum, int count)
{
    const float n = (float)count, inverse = plx_reciprocal(n);
    return (int)(__fmaf_rn(n, PLX_LOCAL_MEAN_STEP + 0.5f, sum + 0.25f) * inverse) - PLX_LOCAL_MEAN_STEP;
}

/* Adds to FOUND what a row of the tile says of a thread's pixels. */
template <bool NARROW> static __device__ __forceinline__ void add_row(const uint32_t row[WORDS], near_pair<NARROW> found[PAIRS])
{
    uint32_t at[2 * WORDS - 1]; /* the words, and between each two the halves that they have side by side */
#pragma unroll
    for (int i = 0; i < 2 * WORDS - 1; i++)
        at[i] = i % 2 == 0 ? row[i / 2] : __byte_perm(row[i / 2], row[i / 2 + 1], 0x5432);
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++)
#pragma unroll
        for (int k = 2 * pair + MARGIN - REACH; k <= 2 * pair + MARGIN + REACH; k++)
            found[pair].add(at[k]);
}

/* The mean steps of a thread's pixels. TILE: numbers where NARROW, else disparities. */
template <bool NARROW> static __device__ __forceinline__ void mean_steps(const tile_even &tile, int ret_steps[EACH])
{
    const uint2 here = tile[threadIdx.y + REACH][threadIdx.x + MARGIN / EACH];
    near_pair<NARROW> found[PAIRS];

    found[0].start(here.x);
    found[1].start(here.y);
#pragma unroll
    for (int dy = 0; dy <= 2 * REACH; dy++) {
        uint32_t row[WORDS];
#pragma unroll
        for (int i = 0; i < WORDS; i += PAIRS) {
            const uint2 four = tile[threadIdx.y + dy][threadIdx.x + i / PAIRS];
            row[i] = four.x, row[i + 1] = four.y;
        }
        add_row(row, found);
    }
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) {
        const float2 sum = __half22float2(found[pair].sum);
        int counts[2];
        found[pair].counts(counts);
        ret_steps[2 * pair] = mean(sum.x, counts[0]);
        ret_steps[2 * pair + 1] = mean(sum.y, counts[1]);
    }
}

/* Grid: a block 128 x 8 pixels, a thread four of a row. Reads 2 bytes a pixel (3.6 with the halo), writes 2. */
static __global__ void __launch_bounds__(WARP *ROWS)
    local_mean_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst, bool src_aligned, bool dst_aligned)
{
    __shared__ tile_even tile, numbers;
    const int x0 = blockIdx.x * WARP * EACH, y0 = blockIdx.y * ROWS, x = x0 + threadIdx.x * EACH, y = y0 + threadIdx.y;
    uint32_t valid = 0;

    plx_grid_wait_and_trigger();
    for (int i = threadIdx.y * WARP + threadIdx.x; i < TILE_X / EACH * TILE_Y; i += WARP * ROWS) {
        const int column = i % (TILE_X / EACH), row = i / (TILE_X / EACH);
        const uint2 four = plx_load_4_pixels(src, x0 - MARGIN + column * EACH, y0 - REACH + row, src_aligned);
        const uint32_t low = plx_min2(four.x, plx_broadcast2(BEYOND)), high = plx_min2(four.y, plx_broadcast2(BEYOND));
        valid |= plx_valid_bits(four);
        tile[row][column] = make_uint2(low, high);
        numbers[row][column] = make_uint2(to_numbers(low), to_numbers(high));
    }
    const bool wide = __syncthreads_or(plx_exceeds_half(valid));
    if (x >= src.width || y >= src.height)
        return;
    int steps[EACH];
    if (wide)
        mean_steps<false>(tile, steps);
    else
        mean_steps<true>(numbers, steps);
    const uint2 here = tile[threadIdx.y + REACH][threadIdx.x + MARGIN / EACH];
    plx_vector<uint16_t, EACH> result;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int own = (i < 2 ? here.x : here.y) >> 16 * (i % 2) & 0xFFFF;
        result.at[i] = (uint16_t)(own == BEYOND ? PLX_DISPARITY_INVALID : own + steps[i]);
    }
    plx_store(result, dst.row(y) + x, src.width - x, dst_aligned);
}

int plx_gpu_local_mean(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_images_ok(PLX_U16, src, dst) || !plx_same_size(src, dst))
        return PLX_ERR_ARG;

    const dim3 grid = plx_grid(src->width, src->height, dim3(WARP * EACH, ROWS));
    int result = plx_gpu_use_side(gpu, false);
    if (result == 0)
        result = PLX_LAUNCH_DEPENDENT(gpu, local_mean_kernel, grid, dim3(WARP, ROWS), plx_view_of<const uint16_t>(src),
                                      plx_view_of<uint16_t>(dst), plx_rows_aligned(src, EACH * sizeof(uint16_t)),
                                      plx_rows_aligned(dst, EACH * sizeof(uint16_t)));
    return plx_gpu_use_main(gpu, result);
}

/* --- cross_validate
 * --------------------------------------------------------------------------------------------------------------- */

struct cross_validate_args {
    plx_view<const uint16_t> strict, dense, raw;
    plx_view<const uint8_t> grey;
    plx_view<uint16_t> dst;
    bool aligned, grey_aligned;
};

/* An invalid dense disparity is far from all others. */
static __device__ __forceinline__ uint16_t agree(int strict, int dense, int raw, int grey)
{
    const bool is_lost = strict == PLX_DISPARITY_INVALID;
    const int candidate = is_lost ? PLX_DISPARITY_ONE * raw : strict,
              limit = is_lost ? PLX_CROSS_VALIDATE_RAW_STEP : PLX_CROSS_VALIDATE_STEP;
    const bool confirmed = (unsigned)(candidate - dense + limit) <= 2u * (unsigned)limit && grey != 0;

    return (uint16_t)(confirmed ? is_lost ? dense : strict : PLX_DISPARITY_INVALID);
}

#define AGREE_EACH 8 /* pixels of a thread, side by side */

/* Grid: a thread eight pixels of a row. Reads 7 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(WARP *ROWS) cross_validate_kernel(const __grid_constant__ cross_validate_args a)
{
    const int x = (blockIdx.x * WARP + threadIdx.x) * AGREE_EACH, y = blockIdx.y * ROWS + threadIdx.y,
              count = a.strict.width - x;

    if (count <= 0 || y >= a.strict.height)
        return;
    plx_vector<uint16_t, AGREE_EACH> value = plx_load<AGREE_EACH>(a.strict.row(y) + x, count, a.aligned);
    const plx_vector<uint16_t, AGREE_EACH> dense = plx_load<AGREE_EACH>(a.dense.row(y) + x, count, a.aligned);
    const plx_vector<uint16_t, AGREE_EACH> raw = plx_load<AGREE_EACH>(a.raw.row(y) + x, count, a.aligned);
    const plx_vector<uint8_t, AGREE_EACH> grey = plx_load<AGREE_EACH>(a.grey.row(y) + x, count, a.grey_aligned);
#pragma unroll
    for (int i = 0; i < AGREE_EACH; i++)
        value.at[i] = agree(value.at[i], dense.at[i], raw.at[i], grey.at[i]);
    plx_store(value, a.dst.row(y) + x, count, a.aligned);
}

int plx_gpu_cross_validate(struct plx_stages *self, const struct plx_image *strict, const struct plx_image *dense,
                           const struct plx_image *raw, const struct plx_image *left_grey, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_images_ok(PLX_U16, strict, dense, raw, dst) || !plx_image_ok(left_grey, PLX_U8) ||
        !plx_same_sizes(strict, dense, raw, left_grey, dst))
        return PLX_ERR_ARG;

    const size_t bytes = AGREE_EACH * sizeof(uint16_t);
    const struct cross_validate_args args = {plx_view_of<const uint16_t>(strict),
                                             plx_view_of<const uint16_t>(dense),
                                             plx_view_of<const uint16_t>(raw),
                                             plx_view_of<const uint8_t>(left_grey),
                                             plx_view_of<uint16_t>(dst),
                                             plx_rows_aligned(strict, bytes) && plx_rows_aligned(dense, bytes) &&
                                                 plx_rows_aligned(raw, bytes) && plx_rows_aligned(dst, bytes),
                                             plx_rows_aligned(left_grey, AGREE_EACH)};
    int result = plx_gpu_use_side(gpu, false);
    if (result == 0)
        result = PLX_LAUNCH(gpu, cross_validate_kernel, plx_grid(strict->width, strict->height, dim3(WARP * AGREE_EACH, ROWS)),
                            dim3(WARP, ROWS), args);
    return plx_gpu_use_main(gpu, result);
}
