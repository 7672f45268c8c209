/* SPDX-License-Identifier: Apache-2.0 */
/* Stage filter: separable, as two products with banded matrices of weights on the matrix units, whose 8-bit integers are exact:
 * weights and the 8.8 numbers between rows and columns are split into two bytes each. A thread's results of the first product
 * are its operands of the second, so only the tile itself uses shared memory. */
extern "C" {
#include "core/pipeline/stages.h"
}
#include "gpu/device/access.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/image/banded.cuh"

#define WARPS 8  /* warps of a block, a strip of columns each */
#define STRIP 16 /* columns */
#define STEP 16  /* rows that are filtered at once */
#define TILE_X (WARPS * STRIP)
#define LOW 64                  /* rows of a tile */
#define HIGH 96                 /* instead, if low tiles are many and a multiprocessor holds PER_SM of the high ones */
#define HIGH_BYTES 40960        /* shared memory */
#define MANY_TILES 7            /* for each multiprocessor */
#define PER_SM 4                /* blocks that a multiprocessor is meant to hold */
#define MARGIN PLX_VECTOR_BYTES /* columns before the tile */
#define PITCH_OUT 144           /* pitch of the result in shared memory: no bank conflicts */

/* Bytes from a row to the next of the source tile in shared memory: few bank conflicts. */
template <int KX> static constexpr int pitch = KX > 1 ? 208 : 176;

struct filter_args {
    plx_view<const uint8_t> src;
    plx_view<uint8_t> dst;
    struct axis x, y;
    int size_x, size_y, factor_x, factor_y;
    int ahead; /* rows down to the tile of the block that will run in the place of this one */
    bool src_aligned, dst_aligned;
};

/* The 8.8 numbers of STEP rows: thread l has rows 4t to 4t + 3 of columns column_of(g) and column_of(g + 8), with g = l / 4 and
 * t = l % 4 as in struct matrix. */
struct rows {
    uint32_t low[2], high[2]; /* a byte a row */
};

/* The result's columns are permuted, so that a thread ends up with four neighbours. */
static __device__ __forceinline__ int column_of(int m)
{
    return m % 8 / 2 * 4 + m / 8 * 2 + m % 2;
}

/* Copies an axis to shared memory, where each lane reads at its own place, by the threads from FIRST on. */
static __device__ __forceinline__ void load_axis(const struct axis &from, int first, struct axis &ret_axis)
{
    const int i = (int)(threadIdx.y * 32 + threadIdx.x) - first;
    if (i >= 0 && i < (int)(sizeof from / sizeof(uint4)))
        ((uint4 *)&ret_axis)[i] = ((const uint4 *)&from)[i];
}

static __device__ __forceinline__ void load_axes(const struct filter_args &a, struct axis &ret_x, struct axis &ret_y)
{
    load_axis(a.x, 0, ret_x);
    load_axis(a.y, WARPS * 16, ret_y);
}

/* Starts to copy ROWS x COLUMNS source pixels from (X0, Y0) on, coordinates clamped, a row by half a warp; complete after
 * __pipeline_wait_prior(0). */
template <int COLUMNS, int ROWS, int PITCH>
static __device__ void load_tile(const struct filter_args &a, int x0, int y0, uint8_t (&tile)[ROWS][PITCH])
{
    const int x = threadIdx.x % 16 * PLX_VECTOR_BYTES, y = threadIdx.y * 2 + threadIdx.x / 16;

    if (x < COLUMNS)
        plx_load_tile_strip<ROWS, 2 * WARPS, PITCH>(a.src, x0 + x, y0, a.src_aligned, y, &tile[0][x]);
    __pipeline_commit();
}

static __device__ __forceinline__ void scale(int (&sum)[4], int factor, int bias)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum[i] = (int)((uint32_t)sum[i] * (uint32_t)factor + (uint32_t)bias);
}

/* The 8.8 numbers of STEP rows of the tile, from TILE on. */
template <int KX>
static __device__ __forceinline__ struct rows filter_rows(const uint8_t *tile, const struct matrix (&low)[KX],
                                                          const struct matrix (&high)[KX], int factor)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    int sum[2][4] = {}; /* rows 4t and 4t + 1, then 4t + 2 and 4t + 3 */

#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        const uint8_t *row = tile + (g / 2 * 4 + pair * 2 + g % 2) * pitch<KX>;
        const uint32_t *word = (const uint32_t *)row + t;
#pragma unroll
        for (int k = 0; k < KX; k++)
            multiply_add(high[k], word[k * 8], word[k * 8 + 4], sum[pair]);
        scale(sum[pair], factor, 1 << 7);
#pragma unroll
        for (int k = 0; k < KX; k++)
            multiply_add(low[k], word[k * 8], word[k * 8 + 4], sum[pair]);
    }
    struct rows rows;
#pragma unroll
    for (int half = 0; half < 2; half++) { /* keeps bits 8 to 23 of each sum */
        const uint32_t first = __byte_perm((uint32_t)sum[0][2 * half], (uint32_t)sum[0][2 * half + 1], 0x6521);
        const uint32_t second = __byte_perm((uint32_t)sum[1][2 * half], (uint32_t)sum[1][2 * half + 1], 0x6521);
        rows.low[half] = __byte_perm(first, second, 0x6420);
        rows.high[half] = __byte_perm(first, second, 0x7531);
    }
    return rows;
}

/* SUM += A times a byte, low or high, of the numbers of WINDOW. */
template <int KY>
static __device__ __forceinline__ void multiply_window(const struct matrix (&a)[KY], const struct rows (&window)[KY + 1],
                                                       uint32_t (rows::*byte)[2], int half, int (&sum)[4])
{
#pragma unroll
    for (int k = 0; k < KY; k++) {
        const bool whole = 2 * k + 1 < KY + 1; /* the window's last step has no second half */
        multiply_add(a[k], (window[2 * k].*byte)[half], whole ? (window[2 * k + whole].*byte)[half] : 0, sum);
    }
}

/* Four neighbouring pixels of rows g and g + 8 of the STEP that begins where WINDOW does. */
template <int KY>
static __device__ __forceinline__ void filter_columns(const struct rows (&window)[KY + 1], const struct matrix (&low)[KY],
                                                      const struct matrix (&high)[KY], int factor, uint32_t (&ret_pixels)[2])
{
    int sum[2][4] = {};

#pragma unroll
    for (int half = 0; half < 2; half++) {
        multiply_window(high, window, &rows::high, half, sum[half]);
        scale(sum[half], 256, 0);
        multiply_window(high, window, &rows::low, half, sum[half]);
        multiply_window(low, window, &rows::high, half, sum[half]); /* 0 where the factor is not 256 */
        scale(sum[half], factor, 1 << 23);
        multiply_window(low, window, &rows::low, half, sum[half]);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) /* the highest byte of each sum */
        ret_pixels[i] = __byte_perm(__byte_perm((uint32_t)sum[0][2 * i], (uint32_t)sum[0][2 * i + 1], 0x0073),
                                    __byte_perm((uint32_t)sum[1][2 * i], (uint32_t)sum[1][2 * i + 1], 0x0073), 0x5410);
}

/* Writes the result of all warps to (X0, Y0), whole rows at once. */
template <int HEIGHT>
static __device__ __forceinline__ void store_tile(const struct filter_args &a, int x0, int y0,
                                                  const uint8_t (&tile)[HEIGHT][PITCH_OUT])
{
    const int pieces = TILE_X / PLX_VECTOR_BYTES, x = threadIdx.x % pieces * PLX_VECTOR_BYTES;

    static_assert(HEIGHT * pieces % (WARPS * 32) == 0, "all rows are written");
#pragma unroll
    for (int n = 0; n < HEIGHT * pieces / (WARPS * 32); n++) {
        const int y = (threadIdx.y * 32 + threadIdx.x) / pieces + n * (WARPS * 32 / pieces);
        if (y0 + y < a.dst.height)
            plx_store(*(const plx_vector<uint8_t, PLX_VECTOR_BYTES> *)&tile[y][x], a.dst.row(y0 + y) + x0 + x,
                      a.dst.width - x0 - x, a.dst_aligned);
    }
}

/* Filters the warp's strip of the tile in shared memory, in steps from top to bottom. */
template <int KX, int KY, int HEIGHT>
static __device__ __forceinline__ void filter_strip(const struct filter_args &a, const uint8_t *strip,
                                                    const struct bands<KX> &x, const struct bands<KY> &y,
                                                    uint8_t (&ret_result)[HEIGHT][PITCH_OUT])
{
    const int row = threadIdx.x / 4, column = threadIdx.y * STRIP + threadIdx.x % 4 * 4;
    struct rows window[KY + 1];

#pragma unroll
    for (int i = 0; i < KY; i++)
        window[i + 1] = filter_rows<KX>(strip + i * STEP * pitch<KX>, x.low, x.high, a.factor_x);
#pragma unroll
    for (int from = 0; from < HEIGHT; from += STEP) {
        uint32_t pixels[2];
#pragma unroll
        for (int i = 0; i < KY; i++)
            window[i] = window[i + 1];
        window[KY] = filter_rows<KX>(strip + (from + KY * STEP) * pitch<KX>, x.low, x.high, a.factor_x);
        filter_columns<KY>(window, y.low, y.high, a.factor_y, pixels);
        *(uint32_t *)&ret_result[from + row][column] = pixels[0];
        *(uint32_t *)&ret_result[from + row + 8][column] = pixels[1];
    }
}

/* Blocks of a multiprocessor: one less where registers allow no more. */
template <int KX, int KY> static constexpr int per_sm = KX + KY > 2 || PLX_ARCH < 800 ? PER_SM - 1 : PER_SM;

/* Grid: tiles of 128 x HEIGHT pixels, a warp a strip of 16 columns. KX, KY: products by which a window is deep enough, 2 from
 * 19 pixels on. Reads 1.6 bytes a pixel with the halo of a low tile, writes 1. */
template <int KX, int KY, int HEIGHT>
static __global__ void __launch_bounds__(WARPS * 32, (per_sm<KX, KY>)) filter_kernel(filter_args a)
{
    __shared__ __align__(PLX_VECTOR_BYTES) uint8_t tile[HEIGHT + KY * STEP][pitch<KX>];
    __shared__ __align__(PLX_VECTOR_BYTES) uint8_t result[HEIGHT][PITCH_OUT];
    __shared__ struct axis axis_x, axis_y;
    constexpr bool few = HEIGHT == LOW; /* blocks, so that all may run at once */
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * HEIGHT, g = threadIdx.x / 4;
    const int before = (a.size_x / 2 + 3) / 4 * 4, skipped = before - a.size_x / 2; /* columns before the strip, a whole word */

    plx_prefetch_tile<TILE_X, HEIGHT>(a.src, x0, y0, (int)(threadIdx.y * 32 + threadIdx.x));
    plx_grid_wait();
    if (!few)
        plx_trigger_dependents();
    load_tile<TILE_X + 2 * MARGIN * KX>(a, x0 - MARGIN, y0 - a.size_y / 2, tile);
    plx_prefetch_tile<TILE_X, HEIGHT>(a.src, x0, y0 + a.ahead, (int)(threadIdx.y * 32 + threadIdx.x));
    load_axes(a, axis_x, axis_y);
    __pipeline_wait_prior(0);
    __syncthreads();
    const struct bands<KX> x(axis_x, column_of(g) + skipped, column_of(g + 8) + skipped);
    const struct bands<KY> y(axis_y, g, g + 8);
    filter_strip<KX, KY, HEIGHT>(a, &tile[0][MARGIN - before + threadIdx.y * STRIP], x, y, result);
    __syncthreads();
    store_tile(a, x0, y0, result);
    if (few)
        plx_trigger_dependents();
}

/* Matrix products that hold the window of SIZE, WASTED places and one step of outputs. */
static bool needs_two(int size, int wasted)
{
    return STEP - 1 + size + wasted > DEPTH;
}

/* True if the tiles of IMAGE are high. */
static bool takes_high_tiles(const struct plx_gpu *gpu, const struct plx_image *image)
{
    const dim3 low = plx_grid(image->width, image->height, dim3(TILE_X, LOW));

    return low.x * low.y > (unsigned)gpu->multiprocessors * MANY_TILES && gpu->shared_bytes >= PER_SM * HIGH_BYTES;
}

int plx_gpu_filter(struct plx_stages *self, const struct plx_image *src, const struct plx_filter *filter,
                   const struct plx_image *dst)
{
    static void (*const kernel[2][2][2])(struct filter_args) = {
        {{filter_kernel<1, 1, LOW>, filter_kernel<1, 2, LOW>}, {filter_kernel<2, 1, LOW>, filter_kernel<2, 2, LOW>}},
        {{filter_kernel<1, 1, HIGH>, filter_kernel<1, 2, HIGH>}, {filter_kernel<2, 1, HIGH>, filter_kernel<2, 2, HIGH>}}};
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !plx_same_size(src, dst) || !plx_filter_ok(filter))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src))
        return PLX_ERR_RANGE;

    struct filter_args args = {};
    args.src = plx_view_of<const uint8_t>(src);
    args.dst = plx_view_of<uint8_t>(dst);
    args.size_x = filter->size_x;
    args.size_y = filter->size_y;
    args.factor_x = split(filter->weight_x, filter->size_x, &args.x);
    args.factor_y = split(filter->weight_y, filter->size_y, &args.y);
    args.src_aligned = plx_rows_aligned(src, PLX_VECTOR_BYTES);
    args.dst_aligned = plx_rows_aligned(dst, PLX_VECTOR_BYTES);
    const int radius = filter->size_x / 2;
    const bool two_x = needs_two(filter->size_x, (4 - radius % 4) % 4), two_y = needs_two(filter->size_y, 0);
    const bool is_high = takes_high_tiles(gpu, src);
    const int height = is_high ? HIGH : LOW;
    const dim3 grid = plx_grid(src->width, src->height, dim3(TILE_X, (unsigned)height)), block(32, WARPS);
    args.ahead = (gpu->multiprocessors * PER_SM / (int)grid.x + 1) * height;
    return PLX_LAUNCH_DEPENDENT(gpu, kernel[is_high][two_x][two_y], grid, block, args);
}
