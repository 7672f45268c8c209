/* SPDX-License-Identifier: Apache-2.0 */
/* Stage census: smoothing, census words and gradient of one image in one pass. */
#include "gpu/packed.cuh"
#include "gpu/tile.cuh"

/*
 * Two pixels, HALF columns apart, lie in the halves of a register as floating-point numbers of 16 bits, 1024 + brightness, in
 * which their difference is exact. Cut off below 0 and above 1 it is the bit wanted; ten bits are collected as 2 * bits + bit,
 * exact too, and then are the mantissa. So a bit of two pixels takes two instructions, at the full rate of the GPU.
 */
#define COLUMNS 4 /* of a thread, in each half of the tile */
#define HALF (32 * COLUMNS)
#define TILE_X (2 * HALF)
#define TILE_Y 16
#define FEW_ROWS 2   /* of a thread, where blocks are few: 8 warps share a tile */
#define MANY_ROWS 4  /* where they fill the GPU more than twice: 4 warps, which load less around their rows */
#define MANY_TILES 8 /* for each multiprocessor: twice the blocks that it holds */
#define RADIUS_X 4   /* of the largest window */
#define RADIUS_Y 3
#define BYTES_X (TILE_X + 2 * PLX_PIECE) /* of the tile and its surroundings, as read */
#define BYTES_Y (TILE_Y + 2 * RADIUS_Y + 2)
#define PAIRS_X (HALF + 2 * RADIUS_X)
#define PAIRS_Y (TILE_Y + 2 * RADIUS_Y)
#define BYTE_OF_PAIR (PLX_PIECE - RADIUS_X) /* column of the bytes at that of the pairs */
#define EMPTY 0x64006400u                   /* 1024 in both halves */

struct census_args {
    plx_view<const uint8_t> grey;
    plx_view<void> census;
    plx_view<uint8_t> gradient; /* data NULL: none */
    bool smooth, zero_border, grey_aligned, census_aligned, gradient_aligned;
};

/* Window and form of one kind. Samples are taken in raster order, the first into the highest bit. */
template <enum plx_census_kind KIND> struct form {
    static constexpr int rx = KIND == PLX_CENSUS_SYMMETRIC_7X5 ? 3 : 4;
    static constexpr int ry = KIND == PLX_CENSUS_SYMMETRIC_7X5 ? 2 : 3;
    static constexpr bool symmetric = KIND == PLX_CENSUS_SYMMETRIC_7X5 || KIND == PLX_CENSUS_SYMMETRIC_9X7;
    static constexpr int bits = KIND == PLX_CENSUS_SYMMETRIC_7X5   ? 17
                                : KIND == PLX_CENSUS_SYMMETRIC_9X7 ? 31
                                : KIND == PLX_CENSUS_FULL_9X7      ? 62
                                                                   : 30;
    static constexpr int words = KIND == PLX_CENSUS_FULL_9X7 ? 2 : 1; /* of 32 bits */

    static __device__ constexpr bool sampled(int dx, int dy)
    {
        if (symmetric)
            return dy < 0 || (dy == 0 && dx < 0);
        return (dx != 0 || dy != 0) && (KIND != PLX_CENSUS_CHECKER_9X7 || (dx + dy) % 2 == 0);
    }
};

/* A census word. */
template <int WORDS> struct word_of {
    typedef uint32_t type;
};
template <> struct word_of<2> {
    typedef uint64_t type;
};

typedef uint8_t byte_tile[BYTES_Y][BYTES_X];
typedef uint32_t pair_tile[PAIRS_Y][PAIRS_X];

/* A row of pairs around a thread's columns. */
struct line {
    uint32_t at[COLUMNS + 2 * RADIUS_X];

    __device__ __forceinline__ line()
    {
    }
    __device__ __forceinline__ explicit line(const uint32_t *from)
    {
#pragma unroll
        for (int i = 0; i < COLUMNS + 2 * RADIUS_X; i += 4) {
            const uint4 four = *(const uint4 *)(from + i);
            at[i] = four.x, at[i + 1] = four.y, at[i + 2] = four.z, at[i + 3] = four.w;
        }
    }
};

/* The pixels around the tile at (X0, Y0); a row by a warp. */
static __device__ __forceinline__ void load_bytes(const struct census_args &a, int x0, int y0, byte_tile &bytes)
{
    const int tx = threadIdx.x % 32 * PLX_PIECE, x = x0 + tx - PLX_PIECE;

    if (tx >= BYTES_X || x > a.grey.width + RADIUS_X)
        return;
#pragma unroll 1
    for (int ty = threadIdx.x / 32; ty < BYTES_Y; ty += (int)blockDim.x / 32)
        plx_load_piece(a.grey.row(plx_clamp(y0 + ty - RADIUS_Y - 1, 0, a.grey.height - 1)), a.grey.width, x, a.grey_aligned,
                       &bytes[ty][tx]);
}

/* Byte I of both words, in the halves of a register. */
static __device__ __forceinline__ uint32_t pair_of(uint32_t first, uint32_t second, int i)
{
    return plx_even_bytes(__byte_perm(first, second, (unsigned)(i | (4 + i) << 8)));
}

/* Pairs of COLUMNS columns from FROM on, smoothed or not. */
static __device__ __forceinline__ uint4 make_pairs(const uint8_t *from, bool smooth)
{
    uint32_t c[COLUMNS + 2];

#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        c[1 + i] = pair_of(*(const uint32_t *)from, *(const uint32_t *)(from + HALF), i);
    if (!smooth)
        return make_uint4(c[1] | EMPTY, c[2] | EMPTY, c[3] | EMPTY, c[4] | EMPTY);

    uint32_t g[COLUMNS];
    const uint8_t *north = from - BYTES_X, *south = from + BYTES_X;
    c[0] = pair_of(*(const uint32_t *)(from - 4), *(const uint32_t *)(from + HALF - 4), 3);
    c[5] = pair_of(*(const uint32_t *)(from + 4), *(const uint32_t *)(from + HALF + 4), 0);
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const uint32_t n = pair_of(*(const uint32_t *)north, *(const uint32_t *)(north + HALF), i);
        const uint32_t s = pair_of(*(const uint32_t *)south, *(const uint32_t *)(south + HALF), i);
        g[i] = plx_even_bytes((plx_mad(c[1 + i], 4, 0x00040004) + n + s + c[i] + c[i + 2]) >> 3) | EMPTY;
    }
    return make_uint4(g[0], g[1], g[2], g[3]);
}

/* Outside the image G is that of the nearest pixel inside, not a mean of clamped pixels: first along rows, then down columns.
 */
static __device__ void clamp_pairs(const struct census_args &a, int x0, int y0, pair_tile &pairs)
{
    const int width = a.grey.width, height = a.grey.height, top = y0 - RADIUS_Y; /* of the pairs */

    for (int i = threadIdx.x; i < PAIRS_Y * 4 * RADIUS_X; i += (int)blockDim.x) {
        const int ty = i / (4 * RADIUS_X), half = i / RADIUS_X % 2, left = x0 + half * HALF - RADIUS_X;
        const bool right = i / (2 * RADIUS_X) % 2;
        const int tx = (right ? width : -RADIUS_X) + i % RADIUS_X - left, inside = (right ? width - 1 : 0) - left;
        if (tx >= 0 && tx < PAIRS_X && inside >= 0 && inside < PAIRS_X)
            ((uint16_t *)&pairs[ty][tx])[half] = ((const uint16_t *)&pairs[ty][inside])[half];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * RADIUS_Y * PAIRS_X; i += (int)blockDim.x) {
        const int tx = i % PAIRS_X, row = i / PAIRS_X; /* of those above, then of those below */
        const bool below = row >= RADIUS_Y;
        const int ty = row - RADIUS_Y + (below ? height : 0) - top, inside = (below ? height - 1 : 0) - top;
        if (ty >= 0 && ty < PAIRS_Y && inside >= 0 && inside < PAIRS_Y)
            pairs[ty][tx] = pairs[inside][tx];
    }
}

/* The first minus the second of both halves, no less than 0 and no more than 1. */
static __device__ __forceinline__ uint32_t larger(uint32_t first, uint32_t second)
{
    uint32_t bit;
    asm("sub.sat.f16x2 %0, %1, %2;" : "=r"(bit) : "r"(first), "r"(second));
    return bit;
}

/* 2 * bits + bit, of both halves */
static __device__ __forceinline__ uint32_t append(uint32_t bits, uint32_t bit)
{
    uint32_t longer;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(longer) : "r"(bits), "r"(0x40004000u), "r"(bit));
    return longer;
}

/* The upper and the lower half of a census word are collected in ten bits and, above, up to six. */
enum { PART_LOW, PART_LOW_6, PART_HIGH, PART_HIGH_6, PARTS };

static __device__ constexpr int part_of(int bit)
{
    return bit < 10 ? PART_LOW : bit < 16 ? PART_LOW_6 : bit < 26 ? PART_HIGH : PART_HIGH_6;
}

/* What doubles to 1024 while bits are appended until the word has BITS. */
static __device__ constexpr uint32_t empty_part(int part, int bits)
{
    const int begin = part == PART_LOW ? 0 : part == PART_LOW_6 ? 10 : part == PART_HIGH ? 16 : 26;
    const int most = part % 2 == 0 ? 10 : 6, count = bits - begin < most ? bits - begin : most;
    return EMPTY - (uint32_t)(count > 0 ? count : 0) * 0x04000400u;
}

/* Of both halves the ten bits of PART and, above, six of MORE. */
static __device__ __forceinline__ uint32_t join(uint32_t part, uint32_t more)
{
    return (part & 0x03FF03FFu) | (plx_mad(more, 1 << 10, 0) & 0xFC00FC00u);
}

/* Words of column I of the thread in both halves of the tile; WINDOW: from the uppermost row of the window on. */
template <enum plx_census_kind KIND>
static __device__ __forceinline__ void census_words(const line *window, int i,
                                                    uint32_t (&ret_words)[2][COLUMNS][form<KIND>::words])
{
    typedef form<KIND> f;
    const int x = RADIUS_X + i, y = f::ry;
    uint32_t parts[f::words][PARTS];
    int bit = f::bits;

#pragma unroll
    for (int word = 0; word < f::words; word++)
#pragma unroll
        for (int part = 0; part < PARTS; part++)
            parts[word][part] = empty_part(part, f::bits - word * 32);
#pragma unroll
    for (int dy = -f::ry; dy <= f::ry; dy++) {
#pragma unroll
        for (int dx = -f::rx; dx <= f::rx; dx++) {
            if (!f::sampled(dx, dy))
                continue;
            const uint32_t other = f::symmetric ? window[y - dy].at[x - dx] : window[y].at[x];
            bit--;
            uint32_t *part = &parts[bit / 32][part_of(bit % 32)];
            *part = append(*part, larger(window[y + dy].at[x + dx], other));
        }
    }
#pragma unroll
    for (int word = 0; word < f::words; word++) {
        const uint32_t low = join(parts[word][PART_LOW], parts[word][PART_LOW_6]);
        const uint32_t high = join(parts[word][PART_HIGH], parts[word][PART_HIGH_6]);
        ret_words[0][i][word] = __byte_perm(low, high, 0x5410);
        ret_words[1][i][word] = __byte_perm(low, high, 0x7632);
    }
}

/* Gradients of the thread's columns in row MIDDLE, a byte each, in both halves. All sums are of integers of 16 bits, of which
 * the 1024s cancel. */
static __device__ __forceinline__ void gradients(const line *middle, uint32_t (&ret_gradients)[2])
{
    uint32_t sum[COLUMNS + 2], g[COLUMNS];

#pragma unroll
    for (int i = 0; i < COLUMNS + 2; i++) {
        const int x = RADIUS_X - 1 + i;
        sum[i] = plx_mad(middle[0].at[x], 2, middle[-1].at[x]) + middle[1].at[x];
    }
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) { /* 1024 + the gradient, whose lower byte remains */
        const uint32_t shifted = (sum[i + 2] - sum[i] + 2 * plx_both(1024 + 128)) >> 1 & 0x0FFF0FFFu;
        g[i] = plx_min2(plx_max2(shifted, plx_both(1024)), plx_both(1024 + 255));
    }
    const uint32_t first = __byte_perm(g[0], g[1], 0x6240), second = __byte_perm(g[2], g[3], 0x6240);
    ret_gradients[0] = __byte_perm(first, second, 0x5410);
    ret_gradients[1] = __byte_perm(first, second, 0x7632);
}

/* Writes the thread's words of one half of row Y. */
template <enum plx_census_kind KIND>
static __device__ __forceinline__ void store_words(const struct census_args &a, int x, int y, bool border,
                                                   const uint32_t (&words)[COLUMNS][form<KIND>::words])
{
    typedef form<KIND> f;
    typedef typename word_of<f::words>::type word_type;
    plx_vector<word_type, COLUMNS> vector;
    const bool row_outside = y < f::ry || y >= a.grey.height - f::ry;

#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const bool outside = row_outside || x + i < f::rx || x + i >= a.grey.width - f::rx;
        const word_type word = f::words == 2 ? (word_type)((uint64_t)words[i][f::words - 1] << 32 | words[i][0]) : words[i][0];
        vector.at[i] = border && outside ? 0 : word;
    }
    word_type *row = (word_type *)((char *)a.census.data + (size_t)y * a.census.pitch);
    plx_store(vector, row + x, a.grey.width - x, a.census_aligned);
}

/* Words and gradients of the thread's columns in row Y, whose pairs, RADIUS_X columns before, are MIDDLE. */
template <enum plx_census_kind KIND>
static __device__ __forceinline__ void make_row(const struct census_args &a, const uint32_t *middle, int x, int y, bool border)
{
    typedef form<KIND> f;
    uint32_t words[2][COLUMNS][f::words], gradient[2];
    line window[2 * f::ry + 1];

#pragma unroll
    for (int i = 0; i < 2 * f::ry + 1; i++)
        window[i] = line(middle + (i - f::ry) * PAIRS_X);
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        census_words<KIND>(window, i, words);
    if (a.gradient.data)
        gradients(window + f::ry, gradient);
    if (y >= a.grey.height)
        return;
#pragma unroll
    for (int half = 0; half < 2; half++, x += HALF) {
        store_words<KIND>(a, x, y, border, words[half]);
        if (a.gradient.data)
            plx_store(*(const plx_vector<uint8_t, COLUMNS> *)&gradient[half], a.gradient.row(y) + x, a.grey.width - x,
                      a.gradient_aligned);
    }
}

/* Pairs of the tile at (X0, Y0) from its bytes. */
static __device__ __forceinline__ void make_tile(const struct census_args &a, int x0, int y0, bool border,
                                                 const byte_tile &bytes, pair_tile &pairs)
{
    const int pieces = PAIRS_X / COLUMNS;

    for (int i = threadIdx.x; i < pieces * PAIRS_Y; i += (int)blockDim.x) {
        const int ty = i / pieces, tx = i % pieces * COLUMNS;
        *(uint4 *)&pairs[ty][tx] = make_pairs(&bytes[ty + 1][tx + BYTE_OF_PAIR], a.smooth);
    }
    __syncthreads();
    if (a.smooth && border) {
        clamp_pairs(a, x0, y0, pairs);
        __syncthreads();
    }
}

/* Grid: tiles of 256 x 16 pixels, a thread ROWS; 512 threads a multiprocessor. Reads 1 byte a pixel (1.7 with the halo), writes
 * 4 or 8, and 1 of gradient. */
template <enum plx_census_kind KIND, int ROWS>
static __global__ void __launch_bounds__(32 * TILE_Y / ROWS, ROWS) census_kernel(census_args a)
{
    constexpr int rows_at_once = form<KIND>::words == 1 ? ROWS : 1; /* as registers allow */
    __shared__ __align__(16) byte_tile bytes;
    __shared__ __align__(16) pair_tile pairs;
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y;
    const int x = threadIdx.x % 32 * COLUMNS, y = threadIdx.x / 32 * ROWS; /* of the thread's first pixel in the tile */
    const bool border = x0 == 0 || x0 + TILE_X + RADIUS_X > a.grey.width || y0 == 0 || y0 + TILE_Y + RADIUS_Y > a.grey.height;

    load_bytes(a, x0, y0, bytes);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    make_tile(a, x0, y0, border, bytes, pairs);
#pragma unroll rows_at_once
    for (int i = 0; i < ROWS; i++)
        make_row<KIND>(a, &pairs[y + i + RADIUS_Y][x], x0 + x, y0 + y + i, border && a.zero_border);
}

template <enum plx_census_kind KIND> static void launch(struct plx_gpu *gpu, const struct census_args &args)
{
    const dim3 grid = plx_grid(args.grey.width, args.grey.height, dim3(TILE_X, TILE_Y));
    if (grid.x * grid.y <= (unsigned)gpu->multiprocessors * MANY_TILES)
        census_kernel<KIND, FEW_ROWS><<<grid, 32 * TILE_Y / FEW_ROWS, 0, gpu->stream>>>(args);
    else
        census_kernel<KIND, MANY_ROWS><<<grid, 32 * TILE_Y / MANY_ROWS, 0, gpu->stream>>>(args);
}

int plx_gpu_census(struct plx_stages *self, const struct plx_image *grey, const struct plx_match *match,
                   const struct plx_features *ret_features)
{
    static void (*const launches[])(struct plx_gpu *, const struct census_args &) = {
        launch<PLX_CENSUS_SYMMETRIC_9X7>, launch<PLX_CENSUS_SYMMETRIC_7X5>, launch<PLX_CENSUS_FULL_9X7>,
        launch<PLX_CENSUS_CHECKER_9X7>}; /* in the order of plx_census_kind */
    struct plx_gpu *gpu = plx_gpu(self);
    const bool gradient = match->gradient_cap > 0;

    const int result = plx_census_check(grey, match, ret_features);
    if (result < 0)
        return result;
    if (!plx_gpu_holds(gpu, grey))
        return PLX_ERR_RANGE;

    const struct census_args args = {plx_view_of<const uint8_t>(grey),
                                     plx_view_of<void>(&ret_features->census),
                                     gradient ? plx_view_of<uint8_t>(&ret_features->gradient) : plx_view<uint8_t>(),
                                     match->smooth,
                                     match->census_zero_border,
                                     plx_rows_aligned(grey, PLX_PIECE),
                                     plx_rows_aligned(&ret_features->census, COLUMNS * (size_t)ret_features->census.type),
                                     gradient && plx_rows_aligned(&ret_features->gradient, COLUMNS)};
    launches[match->census](gpu, args);
    return PLX_LAUNCHED(gpu, census_kernel);
}
