/* SPDX-License-Identifier: Apache-2.0 */
/* Stages even and agree: the local mean of nearly equal disparities, and what strict and dense disparity confirm. */
#include "gpu/device/launch.cuh"
#include "gpu/device/packed.cuh"

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

#define WINDOW ((2 * REACH + 1) * (2 * REACH + 1))
#define WORDS ((EACH + 2 * MARGIN) / 2) /* of a row of the tile that a thread reads, two pixels each */
#define BEYOND 0x4000                   /* a disparity is less; stands for invalid, and is far from all of them */
#define NEAR (2 * PLX_EVEN_STEP) /* the largest step from BASE, a pixel's own disparity less PLX_EVEN_STEP, that counts */

/* Pixel I of words of two pixels each. */
static __device__ __forceinline__ uint32_t pixel_of(const uint32_t *words, int i)
{
    return words[i / 2] >> i % 2 * 16 & 0xFFFF;
}

/* Adds to FOUND what a row of the tile says of a thread's pixels, OWN. */
#if PLX_PACKED_HALF2
/* For each pixel N << 16 | SUM, of N steps that count. */
static __device__ __forceinline__ void add_row(const uint32_t row[WORDS], const uint32_t *own, uint32_t found[EACH])
{
    uint32_t pixel[2 * WORDS];
#    pragma unroll
    for (int i = 0; i < 2 * WORDS; i++)
        pixel[i] = pixel_of(row, i);
#    pragma unroll
    for (int i = 0; i < EACH; i++) {
        const uint32_t base = pixel_of(own, i) - PLX_EVEN_STEP;
#    pragma unroll
        for (int k = i + MARGIN - REACH; k <= i + MARGIN + REACH; k++)
            if (pixel[k] - base <= NEAR)
                found[i] += pixel[k] - base + 0x10000;
    }
}

static __device__ __forceinline__ uint16_t even_of(uint32_t own, const uint32_t found[EACH], int i)
{
    return (uint16_t)(own - PLX_EVEN_STEP + mean(found[i] & 0xFFFF, found[i] >> 16));
}
#else
/* For each pair, in the halves of two words, the sums of steps of at most NEAR + 1 and of at most NEAR each: the first is
 * larger by the number of those that do not count. */
static __device__ __forceinline__ void add_row(const uint32_t row[WORDS], const uint32_t *own, uint32_t found[EACH])
{
    uint32_t at[2 * WORDS - 1]; /* the words, and between each two the halves that they have side by side */
#    pragma unroll
    for (int i = 0; i < 2 * WORDS - 1; i++)
        at[i] = i % 2 == 0 ? row[i / 2] : __byte_perm(row[i / 2], row[i / 2 + 1], 0x5432);
#    pragma unroll
    for (int pair = 0; pair < EACH / 2; pair++) {
        const uint32_t minus_base = __vsub2(plx_broadcast2(PLX_EVEN_STEP), own[pair]);
#    pragma unroll
        for (int k = 2 * pair + MARGIN - REACH; k <= 2 * pair + MARGIN + REACH; k++) {
            found[2 * pair] += plx_add_min(at[k], minus_base, plx_broadcast2(NEAR + 1));
            found[2 * pair + 1] += plx_add_min(at[k], minus_base, plx_broadcast2(NEAR));
        }
    }
}

static __device__ __forceinline__ uint16_t even_of(uint32_t own, const uint32_t found[EACH], int i)
{
    const int shift = i % 2 * 16;
    const uint32_t more = found[i / 2 * 2] >> shift & 0xFFFF, least = found[i / 2 * 2 + 1] >> shift & 0xFFFF,
                   far = more - least;
    return (uint16_t)(own - PLX_EVEN_STEP + mean(least - NEAR * far, WINDOW - far));
}
#endif

/* Grid: a block 128 x 8 pixels, a thread four of a row. Reads 2 bytes a pixel (3.6 with the halo), writes 2. */
static __global__ void __launch_bounds__(WARP *ROWS)
    even_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst, bool aligned)
{
    __shared__ __align__(8) uint16_t tile[TILE_Y][TILE_X];
    const int x0 = blockIdx.x * WARP * EACH, y0 = blockIdx.y * ROWS, x = x0 + threadIdx.x * EACH, y = y0 + threadIdx.y;

    plx_grid_wait_and_trigger();
    for (int i = threadIdx.y * WARP + threadIdx.x; i < TILE_X * TILE_Y; i += WARP * ROWS)
        tile[i / TILE_X][i % TILE_X] =
            (uint16_t)min((int)src.row(plx_clamp(y0 + i / TILE_X - REACH, 0,
                                                 src.height - 1))[plx_clamp(x0 + i % TILE_X - MARGIN, 0, src.width - 1)],
                          BEYOND);
    __syncthreads();
    if (x >= src.width || y >= src.height)
        return;
    const uint32_t *own = (const uint32_t *)&tile[threadIdx.y + REACH][threadIdx.x * EACH + MARGIN];
    uint32_t found[EACH] = {};
#pragma unroll
    for (int dy = 0; dy <= 2 * REACH; dy++) {
        uint32_t row[WORDS];
#pragma unroll
        for (int i = 0; i < WORDS; i += 2) {
            const uint2 four = *(const uint2 *)&tile[threadIdx.y + dy][threadIdx.x * EACH + 2 * i];
            row[i] = four.x, row[i + 1] = four.y;
        }
        add_row(row, own, found);
    }
    plx_vector<uint16_t, EACH> result;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const uint32_t pixel = pixel_of(own, i);
        result.at[i] = pixel == BEYOND ? (uint16_t)PLX_DISPARITY_INVALID : even_of(pixel, found, i);
    }
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
