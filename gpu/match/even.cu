/* SPDX-License-Identifier: Apache-2.0 */
/* Stages even and agree: the local mean of nearly equal disparities, and what strict and dense disparity confirm. */
#include <cuda_fp16.h>

#include "gpu/device/access.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/packed.cuh"

#define WARP 32  /* threads of a block side by side */
#define EACH 4   /* pixels of a thread, side by side */
#define ROWS 8   /* of a block */
#define REACH 3  /* of the window */
#define MARGIN 4 /* columns before and after a tile: REACH, rounded up to what a thread reads at once */
#define TILE_X (WARP * EACH + 2 * MARGIN)
#define TILE_Y (ROWS + 2 * REACH)

#define WORDS ((EACH + 2 * MARGIN) / 2) /* of a row of the tile that a thread reads, two pixels each */
#define PAIRS (EACH / 2)

/* A neighbour less the pixel itself is added to the bits of OWN, a half float around which the last bit is 1. So what is near
 * is an exact number, and all others, which are farther away, at least a number: OWN + BEYOND is one. */
#define OWN 1536
#define OWN_BITS 0x6600u
#define BEYOND 0x1500 /* stands for invalid; a disparity is at least 2 PLX_EVEN_STEP less */

/* Of two pixels, side by side in the halves: how many neighbours are near, and the sum of their steps from the pixel's own
 * disparity, at most 49 * PLX_EVEN_STEP = 1960: both exact. */
struct near_pair {
    uint32_t to_own; /* what turns a neighbour into a step */
    __half2 count, sum;

    __device__ __forceinline__ void start(uint32_t own)
    {
        to_own = plx_broadcast2(OWN_BITS) - own;
        count = sum = __float2half2_rn(0);
    }

    __device__ __forceinline__ void add(uint32_t neighbours)
    {
        const uint32_t bits = neighbours + to_own;
        const __half2 step = __hsub2(*(const __half2 *)&bits, __float2half2_rn(OWN));
        const __half2 is_near = __hadd2_sat(__hneg2(__habs2(step)), __float2half2_rn(PLX_EVEN_STEP + 1));
        count = __hadd2(count, is_near);
        sum = __hfma2(is_near, step, sum);
    }

    /* The mean step, rounded to the nearest integer, half up: the quotient with a half added to the numerator stays so far from
     * integers that its error does not matter. It is positive, as PLX_EVEN_STEP is added. */
    static __device__ __forceinline__ int mean(float sum, float n)
    {
        return (int)__fdividef(2 * sum + (2 * PLX_EVEN_STEP + 1) * n + 0.5f, 2 * n) - PLX_EVEN_STEP;
    }
};

/* Adds to FOUND what a row of the tile says of a thread's pixels. */
static __device__ __forceinline__ void add_row(const uint32_t row[WORDS], near_pair found[PAIRS])
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

/* Grid: a block 128 x 8 pixels, a thread four of a row. Reads 2 bytes a pixel (3.6 with the halo), writes 2. */
static __global__ void __launch_bounds__(WARP *ROWS)
    even_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst, bool src_aligned, bool dst_aligned)
{
    __shared__ uint2 tile[TILE_Y][TILE_X / EACH];
    const int x0 = blockIdx.x * WARP * EACH, y0 = blockIdx.y * ROWS, x = x0 + threadIdx.x * EACH, y = y0 + threadIdx.y;

    plx_grid_wait_and_trigger();
    for (int i = threadIdx.y * WARP + threadIdx.x; i < TILE_X / EACH * TILE_Y; i += WARP * ROWS) {
        const int column = i % (TILE_X / EACH), row = i / (TILE_X / EACH);
        const uint2 four = plx_load_4_pixels(src, x0 - MARGIN + column * EACH, y0 - REACH + row, src_aligned);
        tile[row][column] = make_uint2(plx_min2(four.x, plx_broadcast2(BEYOND)), plx_min2(four.y, plx_broadcast2(BEYOND)));
    }
    __syncthreads();
    if (x >= src.width || y >= src.height)
        return;
    const uint2 here = tile[threadIdx.y + REACH][threadIdx.x + MARGIN / EACH];
    const uint32_t own[PAIRS] = {here.x, here.y};
    near_pair found[PAIRS];
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++)
        found[pair].start(own[pair]);
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
    plx_vector<uint16_t, EACH> result;
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) {
        const float2 count = __half22float2(found[pair].count), sum = __half22float2(found[pair].sum);
        const int low = own[pair] & 0xFFFF, high = own[pair] >> 16;
        result.at[2 * pair] = (uint16_t)(low == BEYOND ? PLX_DISPARITY_INVALID : low + near_pair::mean(sum.x, count.x));
        result.at[2 * pair + 1] = (uint16_t)(high == BEYOND ? PLX_DISPARITY_INVALID : high + near_pair::mean(sum.y, count.y));
    }
    plx_store(result, dst.row(y) + x, src.width - x, dst_aligned);
}

int plx_gpu_even(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_images_ok(PLX_U16, src, dst) || !plx_same_size(src, dst))
        return PLX_ERR_ARG;

    const dim3 grid = plx_grid(src->width, src->height, dim3(WARP * EACH, ROWS));
    int result = plx_gpu_use_side(gpu, false);
    if (result == 0)
        result = PLX_LAUNCH_DEPENDENT(gpu, even_kernel, grid, dim3(WARP, ROWS), plx_view_of<const uint16_t>(src),
                                      plx_view_of<uint16_t>(dst), plx_rows_aligned(src, EACH * sizeof(uint16_t)),
                                      plx_rows_aligned(dst, EACH * sizeof(uint16_t)));
    return plx_gpu_use_main(gpu, result);
}

/* --- agree --------------------------------------------------------------------------------------------------------------- */

struct agree_args {
    plx_view<const uint16_t> strict, dense, raw;
    plx_view<const uint8_t> grey;
    plx_view<uint16_t> dst;
    bool aligned, grey_aligned;
};

static __device__ __forceinline__ uint16_t agree(int strict, int dense, int raw, int grey)
{
    const bool was_invalid = strict == PLX_DISPARITY_INVALID;
    const int step = abs((was_invalid ? PLX_DISPARITY_ONE * raw : strict) - dense);
    const bool confirmed = step <= (was_invalid ? PLX_AGREE_RAW_STEP : PLX_AGREE_STEP);

    return (uint16_t)(!confirmed || dense == PLX_DISPARITY_INVALID || grey == 0 ? PLX_DISPARITY_INVALID
                      : was_invalid                                             ? dense
                                                                                : strict);
}

/* Grid: a thread four pixels of a row. Reads 7 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(WARP *ROWS) agree_kernel(const __grid_constant__ agree_args a)
{
    const int x = (blockIdx.x * WARP + threadIdx.x) * EACH, y = blockIdx.y * ROWS + threadIdx.y, count = a.strict.width - x;

    if (count <= 0 || y >= a.strict.height)
        return;
    plx_vector<uint16_t, EACH> value = plx_load<EACH>(a.strict.row(y) + x, count, a.aligned);
    const plx_vector<uint16_t, EACH> dense = plx_load<EACH>(a.dense.row(y) + x, count, a.aligned);
    const plx_vector<uint16_t, EACH> raw = plx_load<EACH>(a.raw.row(y) + x, count, a.aligned);
    const plx_vector<uint8_t, EACH> grey = plx_load<EACH>(a.grey.row(y) + x, count, a.grey_aligned);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        value.at[i] = agree(value.at[i], dense.at[i], raw.at[i], grey.at[i]);
    plx_store(value, a.dst.row(y) + x, count, a.aligned);
}

int plx_gpu_agree(struct plx_stages *self, const struct plx_image *strict, const struct plx_image *dense,
                  const struct plx_image *raw, const struct plx_image *left_grey, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_images_ok(PLX_U16, strict, dense, raw, dst) || !plx_image_ok(left_grey, PLX_U8) ||
        !plx_same_sizes(strict, dense, raw, left_grey, dst))
        return PLX_ERR_ARG;

    const size_t bytes = EACH * sizeof(uint16_t);
    const struct agree_args args = {plx_view_of<const uint16_t>(strict),
                                    plx_view_of<const uint16_t>(dense),
                                    plx_view_of<const uint16_t>(raw),
                                    plx_view_of<const uint8_t>(left_grey),
                                    plx_view_of<uint16_t>(dst),
                                    plx_rows_aligned(strict, bytes) && plx_rows_aligned(dense, bytes) &&
                                        plx_rows_aligned(raw, bytes) && plx_rows_aligned(dst, bytes),
                                    plx_rows_aligned(left_grey, EACH)};
    int result = plx_gpu_use_side(gpu, false);
    if (result == 0)
        result = PLX_LAUNCH(gpu, agree_kernel, plx_grid(strict->width, strict->height, dim3(WARP * EACH, ROWS)),
                            dim3(WARP, ROWS), args);
    return plx_gpu_use_main(gpu, result);
}
