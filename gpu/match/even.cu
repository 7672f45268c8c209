/* SPDX-License-Identifier: Apache-2.0 */
/* Stages even and agree: the local mean of nearly equal disparities, and what strict and dense disparity confirm. */
#include "gpu/device/launch.cuh"

#define WARP 32  /* threads of a block side by side */
#define EACH 4   /* pixels of a thread, side by side */
#define ROWS 8   /* of a block */
#define REACH 3  /* of the window */
#define MARGIN 4 /* columns before and after a tile: REACH, rounded up to what a thread reads at once */
#define TILE_X (WARP * EACH + 2 * MARGIN)
#define TILE_Y (ROWS + 2 * REACH)

/* Rounds SUM / N to the nearest integer, half up: the quotient with a half added to the numerator stays so far from integers
 * that its error does not matter. SUM: of N numbers 0..80, N <= 49. */
static __device__ __forceinline__ int mean(unsigned sum, unsigned n)
{
    return (int)__fdividef((float)(2 * sum + n) + 0.5f, (float)(2 * n));
}

/* Grid: a block 128 x 8 pixels, a thread four of a row. Reads 2 bytes a pixel (3.6 with the halo), writes 2. Invalid differs
 * from every disparity by more than the largest step. */
static __global__ void __launch_bounds__(WARP *ROWS)
    even_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst, bool aligned)
{
    __shared__ __align__(8) uint16_t tile[TILE_Y][TILE_X];
    const int x0 = blockIdx.x * WARP * EACH, y0 = blockIdx.y * ROWS, x = x0 + threadIdx.x * EACH, y = y0 + threadIdx.y;
    unsigned base[EACH], found[EACH] = {}; /* a pixel's own disparity less the largest step; n << 16 | sum */

    plx_grid_wait_and_trigger();
    for (int i = threadIdx.y * WARP + threadIdx.x; i < TILE_X * TILE_Y; i += WARP * ROWS)
        tile[i / TILE_X][i % TILE_X] = src.row(
            plx_clamp(y0 + i / TILE_X - REACH, 0, src.height - 1))[plx_clamp(x0 + i % TILE_X - MARGIN, 0, src.width - 1)];
    __syncthreads();
    if (x >= src.width || y >= src.height)
        return;
    const uint16_t *own = &tile[threadIdx.y + REACH][threadIdx.x * EACH + MARGIN];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        base[i] = own[i] - PLX_EVEN_STEP;
#pragma unroll
    for (int dy = 0; dy <= 2 * REACH; dy++) {
        unsigned row[EACH + 2 * MARGIN];
#pragma unroll
        for (int i = 0; i < EACH + 2 * MARGIN; i += 4) {
            const uint2 four = *(const uint2 *)&tile[threadIdx.y + dy][threadIdx.x * EACH + i];
            row[i] = four.x & 0xFFFF, row[i + 1] = four.x >> 16, row[i + 2] = four.y & 0xFFFF, row[i + 3] = four.y >> 16;
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
#pragma unroll
            for (int k = MARGIN - REACH; k <= MARGIN + REACH; k++) {
                const unsigned step = row[i + k] - base[i];
                if (step <= 2 * PLX_EVEN_STEP)
                    found[i] += step + 0x10000;
            }
        }
    }
    plx_vector<uint16_t, EACH> result;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        result.at[i] = (uint16_t)(own[i] == PLX_DISPARITY_INVALID ? PLX_DISPARITY_INVALID
                                                                  : base[i] + mean(found[i] & 0xFFFF, found[i] >> 16));
    plx_store(result, dst.row(y) + x, src.width - x, aligned);
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
                                      plx_view_of<uint16_t>(dst), plx_rows_aligned(dst, EACH * sizeof(uint16_t)));
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
