/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage filter: separable, as two products with banded matrices of weights on the matrix units, whose 8-bit integers are exact:
 * weights and the 8.8 numbers between rows and columns are split into two bytes each. What the first product leaves in a
 * thread's registers is what the second wants there, so nothing but the tile itself goes through shared memory.
 */
extern "C" {
#include "core/filter.h"
}
#include "gpu/tile.cuh"

#define WARPS 8  /* of a block, a strip of columns each */
#define STRIP 16 /* columns */
#define STEP 16  /* rows that are made at once */
#define TILE_X (WARPS * STRIP)
#define TILE_Y 64
#define MARGIN PLX_PIECE /* columns before the tile */
#define DEPTH 32         /* of one matrix product */
#define PITCH 208        /* of the tile in shared memory: few bank conflicts */

struct axis {
    uint8_t low[PLX_MAX_WINDOW], high[PLX_MAX_WINDOW]; /* weight = low + (high << shift) */
    int size, shift;
};

struct filter_args {
    plx_view<const uint8_t> src;
    plx_view<uint8_t> dst;
    struct axis x, y;
    bool src_aligned, dst_aligned;
};

/* A matrix of 16 x 32 bytes as the 32 threads of a warp hold it; in thread l, with g = l / 4 and t = l % 4, word 0 is row g,
 * columns 4t to 4t + 3; word 1 row g + 8; words 2 and 3 the same with columns 16 higher. */
struct matrix {
    uint32_t word[4];
};

/* Rows of the 8.8 numbers: in thread l those of rows 4t to 4t + 3 of STEP, of columns column_of(g) and column_of(g + 8). */
struct rows {
    uint32_t low[2], high[2]; /* a byte a row */
};

/* The result's columns are permuted, so that a thread ends up with four neighbours. */
static __device__ __forceinline__ int column_of(int m)
{
    return m % 8 / 2 * 4 + m / 8 * 2 + m % 2;
}

/* SUM [16][8] += A [16][32] B [32][8]; of B, thread l holds rows 4t to 4t + 3 (B0) and 16 more (B1) of column g, of SUM columns
 * 2t and 2t + 1 of row g, then of row g + 8. */
static __device__ __forceinline__ void multiply_add(const struct matrix &a, uint32_t b0, uint32_t b1, int (&sum)[4])
{
#if PLX_ARCH >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1));
#else
    const int row = threadIdx.x / 4 * 4, columns = threadIdx.x % 4 * 8; /* lanes that hold the row, and the two columns */
#    pragma unroll
    for (int half = 0; half < 2; half++) {
        const uint32_t b = half ? b1 : b0;
#    pragma unroll 1
        for (int i = 0; i < 4; i++) { /* unrolled, it would take more registers than there are */
            const uint32_t upper = __shfl_sync(PLX_ALL_LANES, a.word[2 * half], row + i);
            const uint32_t lower = __shfl_sync(PLX_ALL_LANES, a.word[2 * half + 1], row + i);
            const uint32_t left = __shfl_sync(PLX_ALL_LANES, b, columns + i);
            const uint32_t right = __shfl_sync(PLX_ALL_LANES, b, columns + 4 + i);
            sum[0] = (int)__dp4a(upper, left, (uint32_t)sum[0]);
            sum[1] = (int)__dp4a(upper, right, (uint32_t)sum[1]);
            sum[2] = (int)__dp4a(lower, left, (uint32_t)sum[2]);
            sum[3] = (int)__dp4a(lower, right, (uint32_t)sum[3]);
        }
    }
#endif
}

/* Four weights from FIRST on; those outside are 0. */
static __device__ __forceinline__ uint32_t weights(const uint8_t *weight, int size, int first)
{
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        word |= (unsigned)(first + i) < (unsigned)size ? (uint32_t)weight[first + i] << 8 * i : 0;
    return word;
}

/* The bands of KX products of rows, then of KY of columns, each with the low bytes of the weights, then with the high ones: in
 * a band, at depth k of a row is weight k - the row's place. SKIPPED: columns before the first weight. All warps use the same.
 */
template <int KX, int KY>
static __device__ void make_bands(const struct filter_args &a, int skipped, uint32_t (&words)[8 * (KX + KY)][32])
{
    for (int i = threadIdx.y; i < 8 * (KX + KY); i += WARPS) {
        const bool rows = i < 8 * KX, high = i / 4 % 2;
        const int row = threadIdx.x / 4 + i % 2 * 8, k = i / 8 - (rows ? 0 : KX);
        const int depth = k * DEPTH + threadIdx.x % 4 * 4 + i / 2 % 2 * 16;
        const struct axis &axis = rows ? a.x : a.y;
        words[i][threadIdx.x] =
            weights(high ? axis.high : axis.low, axis.size, depth - (rows ? column_of(row) + skipped : row));
    }
}

static __device__ __forceinline__ struct matrix get_band(const uint32_t (*words)[32])
{
    const int lane = threadIdx.x;
    return {words[0][lane], words[1][lane], words[2][lane], words[3][lane]};
}

/* Tile of ROWS x COLUMNS source pixels from (X0, Y0) on, coordinates clamped; there after __pipeline_wait_prior(0). */
template <int ROWS, int COLUMNS>
static __device__ void load_tile(const struct filter_args &a, int x0, int y0, uint8_t (&tile)[ROWS][PITCH])
{
    const int pieces = COLUMNS / PLX_PIECE;

    for (int i = threadIdx.y * 32 + threadIdx.x; i < ROWS * pieces; i += WARPS * 32) {
        const int y = i / pieces, x = i % pieces * PLX_PIECE;
        plx_load_piece(a.src.row(plx_clamp(y0 + y, 0, a.src.height - 1)), a.src.width, x0 + x, a.src_aligned, &tile[y][x]);
    }
    __pipeline_commit();
}

/* The 8.8 numbers of STEP rows of the tile, from TILE on. */
template <int KX>
static __device__ __forceinline__ struct rows filter_rows(const uint8_t *tile, const struct matrix (&low)[KX],
                                                          const struct matrix (&high)[KX], int shift)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    uint32_t sum[2][4]; /* of rows 4t and 4t + 1, of 4t + 2 and 4t + 3 */

#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        const uint32_t *word = (const uint32_t *)(tile + (g / 2 * 4 + pair * 2 + g % 2) * PITCH) + t;
        int low_sum[4] = {1 << 7, 1 << 7, 1 << 7, 1 << 7}, high_sum[4] = {0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < KX; k++) {
            multiply_add(low[k], word[k * 8], word[k * 8 + 4], low_sum);
            multiply_add(high[k], word[k * 8], word[k * 8 + 4], high_sum);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[pair][i] = (uint32_t)low_sum[i] + ((uint32_t)high_sum[i] << shift);
    }
    struct rows rows;
#pragma unroll
    for (int half = 0; half < 2; half++) { /* of each sum bits 8 to 23 */
        const uint32_t first = __byte_perm(sum[0][2 * half], sum[0][2 * half + 1], 0x6521);
        const uint32_t second = __byte_perm(sum[1][2 * half], sum[1][2 * half + 1], 0x6521);
        rows.low[half] = __byte_perm(first, second, 0x6420);
        rows.high[half] = __byte_perm(first, second, 0x7531);
    }
    return rows;
}

/* Four neighbouring pixels of rows g and g + 8 of the STEP that begins where WINDOW does. */
template <int KY>
static __device__ __forceinline__ void filter_columns(const struct rows (&window)[KY + 1], const struct matrix (&low)[KY],
                                                      const struct matrix (&high)[KY], int shift, uint32_t (&ret_pixels)[2])
{
    uint32_t sum[2][4];

#pragma unroll
    for (int half = 0; half < 2; half++) {
        int lowest[4] = {1 << 23, 1 << 23, 1 << 23, 1 << 23}, middle[4] = {0, 0, 0, 0}, highest[4] = {0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < KY; k++) {
            const bool whole = 2 * k + 1 < KY + 1; /* the window's last step has no second half */
            const uint32_t low0 = window[2 * k].low[half], low1 = whole ? window[2 * k + whole].low[half] : 0;
            const uint32_t high0 = window[2 * k].high[half], high1 = whole ? window[2 * k + whole].high[half] : 0;
            multiply_add(low[k], low0, low1, lowest);
            multiply_add(low[k], high0, high1, middle);
            multiply_add(high[k], low0, low1, middle);
            multiply_add(high[k], high0, high1, highest);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) /* where the shift is 9, the low weights are 0 */
            sum[half][i] = (uint32_t)lowest[i] + ((uint32_t)middle[i] << shift) + ((uint32_t)highest[i] << (shift + 8));
    }
#pragma unroll
    for (int i = 0; i < 2; i++) /* the highest byte of each sum */
        ret_pixels[i] = __byte_perm(__byte_perm(sum[0][2 * i], sum[0][2 * i + 1], 0x0073),
                                    __byte_perm(sum[1][2 * i], sum[1][2 * i + 1], 0x0073), 0x5410);
}

static __device__ __forceinline__ void store(const struct filter_args &a, int x, int y, uint32_t pixels)
{
    if (y >= a.dst.height)
        return;
    plx_vector<uint8_t, 4> vector;
#pragma unroll
    for (int i = 0; i < 4; i++)
        vector.at[i] = (uint8_t)(pixels >> 8 * i);
    plx_store(vector, a.dst.row(y) + x, a.dst.width - x, a.dst_aligned);
}

/* Grid: tiles of 128 x 64 pixels, a warp a strip of 16 columns, which it descends in steps of 16 rows. KX, KY: products by
 * which a window is deep enough, 2 from 19 pixels on. Reads 1 byte a pixel (1.6 with the halo), writes 1. */
template <int KX, int KY> static __global__ void __launch_bounds__(WARPS * 32, KX + KY > 2 ? 2 : 4) filter_kernel(filter_args a)
{
    __shared__ __align__(PLX_PIECE) uint8_t tile[TILE_Y + KY * STEP][PITCH];
    __shared__ uint32_t bands[8 * (KX + KY)][32];
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y, g = threadIdx.x / 4, t = threadIdx.x % 4;
    const int before = (a.x.size / 2 + 3) / 4 * 4, skipped = before - a.x.size / 2; /* columns before the strip, a whole word */
    const uint8_t *strip = &tile[0][MARGIN - before + threadIdx.y * STRIP];
    struct matrix x_low[KX], x_high[KX], y_low[KY], y_high[KY];
    struct rows window[KY + 1];

    load_tile<TILE_Y + KY * STEP, TILE_X + 2 * MARGIN * KX>(a, x0 - MARGIN, y0 - a.y.size / 2, tile);
    make_bands<KX, KY>(a, skipped, bands);
    __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < KX; k++) {
        x_low[k] = get_band(&bands[8 * k]);
        x_high[k] = get_band(&bands[8 * k + 4]);
    }
#pragma unroll
    for (int k = 0; k < KY; k++) {
        y_low[k] = get_band(&bands[8 * (KX + k)]);
        y_high[k] = get_band(&bands[8 * (KX + k) + 4]);
    }

#pragma unroll
    for (int i = 0; i < KY; i++)
        window[i + 1] = filter_rows<KX>(strip + i * STEP * PITCH, x_low, x_high, a.x.shift);
#pragma unroll
    for (int y = 0; y < TILE_Y; y += STEP) {
        uint32_t pixels[2];
#pragma unroll
        for (int i = 0; i < KY; i++)
            window[i] = window[i + 1];
        window[KY] = filter_rows<KX>(strip + (y + KY * STEP) * PITCH, x_low, x_high, a.x.shift);
        filter_columns<KY>(window, y_low, y_high, a.y.shift, pixels);
        store(a, x0 + threadIdx.y * STRIP + 4 * t, y0 + y + g, pixels[0]);
        store(a, x0 + threadIdx.y * STRIP + 4 * t, y0 + y + g + 8, pixels[1]);
    }
}

/* Weights in two bytes. Where one is 65,536, all others are 0: then the higher byte counts for twice as much. */
static struct axis split(const uint32_t *weight, int size)
{
    struct axis axis = {};

    axis.size = size;
    axis.shift = 8;
    for (int i = 0; i < size; i++)
        axis.shift = weight[i] == 65536 ? 9 : axis.shift;
    for (int i = 0; i < size; i++) {
        axis.high[i] = (uint8_t)(weight[i] >> axis.shift);
        axis.low[i] = (uint8_t)(weight[i] - ((uint32_t)axis.high[i] << axis.shift));
    }
    return axis;
}

/* Matrix products that hold the window of SIZE, WASTED places and one step of outputs. */
static bool needs_two(int size, int wasted)
{
    return STEP - 1 + size + wasted > DEPTH;
}

int plx_gpu_filter(struct plx_stages *self, const struct plx_image *src, const struct plx_filter *filter,
                   const struct plx_image *dst)
{
    static void (*const kernel[2][2])(struct filter_args) = {{filter_kernel<1, 1>, filter_kernel<1, 2>},
                                                             {filter_kernel<2, 1>, filter_kernel<2, 2>}};
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !plx_same_size(src, dst) || !plx_filter_ok(filter))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src))
        return PLX_ERR_RANGE;

    const struct filter_args args = {plx_view_of<const uint8_t>(src),         plx_view_of<uint8_t>(dst),
                                     split(filter->weight_x, filter->size_x), split(filter->weight_y, filter->size_y),
                                     plx_rows_aligned(src, PLX_PIECE),        plx_rows_aligned(dst, 4)};
    const int radius = filter->size_x / 2;
    const bool two_x = needs_two(filter->size_x, (4 - radius % 4) % 4), two_y = needs_two(filter->size_y, 0);
    const dim3 grid = plx_grid(src->width, src->height, dim3(TILE_X, TILE_Y));
    kernel[two_x][two_y]<<<grid, dim3(32, WARPS), 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, filter_kernel);
}
