/* SPDX-License-Identifier: Apache-2.0 */
/* Stage census: smoothing, census words and gradient of one image in one pass. */
#include <cuda_fp16.h>

#include <type_traits>

#include "gpu/device/launch.cuh"
#include "gpu/match/census_tile.cuh"

#define HIGH 16      /* rows of a tile */
#define LOW 8        /* where high ones are few */
#define MANY_TILES 8 /* for each multiprocessor */
#define RESIDENT 7   /* blocks of a multiprocessor, at most */

/* Window and form of one kind. Samples are taken in raster order, the first into the highest bit. */
template <enum plx_census_kind KIND> struct form {
    static constexpr int rx = KIND == PLX_CENSUS_SYMMETRIC_5X5 ? 2 : 4;
    static constexpr int ry = KIND == PLX_CENSUS_SYMMETRIC_5X5 ? 2 : 3;
    static constexpr bool symmetric = KIND == PLX_CENSUS_SYMMETRIC_5X5 || KIND == PLX_CENSUS_SYMMETRIC_9X7;
    static constexpr int bits = KIND == PLX_CENSUS_SYMMETRIC_5X5   ? 12
                                : KIND == PLX_CENSUS_SYMMETRIC_9X7 ? 31
                                : KIND == PLX_CENSUS_FULL_9X7      ? 62
                                                                   : 30;
    static constexpr int words = KIND == PLX_CENSUS_FULL_9X7 ? 2 : 1; /* words of 32 bits */

    static __device__ constexpr bool sampled(int dx, int dy)
    {
        if (symmetric)
            return dy < 0 || (dy == 0 && dx < 0);
        return (dx != 0 || dy != 0) && (KIND != PLX_CENSUS_CHECKER_9X7 || (dx + dy) % 2 == 0);
    }
};

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

/* The rows of pairs of a window, each read at its first use. */
template <int COUNT> struct lines {
    const uint32_t *from; /* uppermost row */
    line read[COUNT];
    bool done[COUNT]; /* known when compiled */

    __device__ __forceinline__ explicit lines(const uint32_t *from) : from(from)
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            done[i] = false;
    }

    __device__ __forceinline__ const line &at(int i)
    {
        if (!done[i])
            read[i] = line(from + i * PAIRS_X);
        done[i] = true;
        return read[i];
    }
};

/* The first minus the second of both halves, no less than 0 and no more than 1. */
static __device__ __forceinline__ uint32_t larger(uint32_t first, uint32_t second)
{
    return plx_bits_of(__hsub2_sat(plx_as_half2(first), plx_as_half2(second)));
}

/* 2 * bits + bit, of both halves */
static __device__ __forceinline__ uint32_t append(uint32_t bits, uint32_t bit)
{
    return plx_bits_of(__hfma2(plx_as_half2(bits), plx_as_half2(0x40004000u), plx_as_half2(bit)));
}

/* Words of a row of a thread's columns while bits are collected, highest first: eight bits a pair, a ninth stays with them. */
template <enum plx_census_kind KIND> struct row_words {
    typedef form<KIND> f;
    static constexpr int parts = (f::bits + 6) / 8;
    uint32_t part[parts][COLUMNS];

    static __device__ __forceinline__ constexpr int part_of(int bit)
    {
        return bit / 8 < parts ? bit / 8 : parts - 1;
    }

    __device__ __forceinline__ row_words()
    {
#pragma unroll
        for (int p = 0; p < parts; p++) {
            const int bits = p < parts - 1 ? 8 : f::bits - 8 * p;
#pragma unroll
            for (int i = 0; i < COLUMNS; i++) /* what doubles to 1024 meanwhile */
                part[p][i] = EMPTY - (uint32_t)bits * 0x04000400u;
        }
    }

    /* Finishes one column in both halves of the tile. */
    __device__ __forceinline__ void finish(int column, uint32_t (&ret_first)[f::words], uint32_t (&ret_second)[f::words]) const
    {
        if constexpr (parts == 2) {
            const uint32_t mask = (1u << f::bits % 32) - 1;
            ret_first[0] = __byte_perm(part[0][column], part[1][column], 0x5540) & mask;
            ret_second[0] = __byte_perm(part[0][column], part[1][column], 0x7762) & mask;
        } else {
#pragma unroll
            for (int word = 0; word < f::words; word++) {
                const uint32_t low = __byte_perm(part[4 * word][column], part[4 * word + 1][column], 0x6240);
                const uint32_t high = __byte_perm(part[4 * word + 2][column], part[4 * word + 3][column], 0x6240);
                ret_first[word] = __byte_perm(low, high, 0x5410);
                ret_second[word] = __byte_perm(low, high, 0x7632);
            }
        }
    }
};

/* Collects the words of ROWS rows, which share what they read; WINDOW: from the uppermost row of the first's window on. */
template <enum plx_census_kind KIND, int ROWS>
static __device__ __forceinline__ void collect(lines<2 * form<KIND>::ry + ROWS> &window, row_words<KIND> (&words)[ROWS])
{
    typedef form<KIND> f;
    int left[ROWS]; /* bits */

#pragma unroll
    for (int row = 0; row < ROWS; row++)
        left[row] = f::bits;
#pragma unroll
    for (int dy = -f::ry; dy <= f::ry; dy++) {
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
#pragma unroll
            for (int dx = -f::rx; dx <= f::rx; dx++) {
                if (!f::sampled(dx, dy))
                    continue;
                const line &sample = window.at(f::ry + row + dy), &other = window.at(f::ry + row - (f::symmetric ? dy : 0));
                uint32_t(&part)[COLUMNS] = words[row].part[row_words<KIND>::part_of(--left[row])];
#pragma unroll
                for (int i = RADIUS_X; i < RADIUS_X + COLUMNS; i++)
                    part[i - RADIUS_X] =
                        append(part[i - RADIUS_X], larger(sample.at[i + dx], other.at[i - (f::symmetric ? dx : 0)]));
            }
        }
    }
}

/* 1024 + 128 + half of MORE less LESS, cut off to 1024 and a byte, in both halves. */
static __device__ __forceinline__ uint32_t gradient(uint32_t more, uint32_t less)
{
    const uint32_t shifted = (more - less + 2 * plx_broadcast2(1024 + 128)) >> 1 & 0x0FFF0FFFu;
    return plx_min2(plx_max2(shifted, plx_broadcast2(1024)), plx_broadcast2(1024 + 255));
}

/* Gradients of the thread's columns in row CENTRE, horizontal and vertical, a byte each, in both halves. All sums are of
 * integers of 16 bits, of which the 1024s cancel. */
static __device__ __forceinline__ void gradients(const line &north, const line &centre, const line &south,
                                                 uint2 (&ret_gradients)[2])
{
    uint32_t sum[COLUMNS + 2], g[COLUMNS];

#pragma unroll
    for (int i = 0; i < COLUMNS + 2; i++) {
        const int x = RADIUS_X - 1 + i;
        sum[i] = plx_mad(centre.at[x], 2, north.at[x]) + south.at[x];
    }
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const int x = RADIUS_X + i;
        const uint32_t above = plx_mad(north.at[x], 2, north.at[x - 1]) + north.at[x + 1];
        const uint32_t below = plx_mad(south.at[x], 2, south.at[x - 1]) + south.at[x + 1];
        g[i] = __byte_perm(gradient(sum[i + 2], sum[i]), gradient(below, above), 0x6240);
    }
    ret_gradients[0] = make_uint2(__byte_perm(g[0], g[1], 0x5410), __byte_perm(g[2], g[3], 0x5410));
    ret_gradients[1] = make_uint2(__byte_perm(g[0], g[1], 0x7632), __byte_perm(g[2], g[3], 0x7632));
}

/* What a thread makes of its columns of a row, in both halves of the tile. */
template <enum plx_census_kind KIND> struct row_features {
    typedef form<KIND> f;
    typedef std::conditional_t<f::words == 2, uint64_t, uint32_t> word;
    plx_vector<word, COLUMNS> words[2];
    uint2 gradient[2];

    __device__ __forceinline__ void finish(const row_words<KIND> &collected)
    {
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            uint32_t parts[2][f::words];
            collected.finish(i, parts[0], parts[1]);
#pragma unroll
            for (int half = 0; half < 2; half++)
                words[half].at[i] =
                    f::words == 2 ? (word)((uint64_t)parts[half][f::words - 1] << 32 | parts[half][0]) : parts[half][0];
        }
    }

    /* Writes all to row Y from column X on, where it is aligned. */
    __device__ __forceinline__ void store(const struct census_args &a, int x, int y) const
    {
        word *to = (word *)((char *)a.census.data + (size_t)y * a.census.pitch) + x;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            *(plx_vector<word, COLUMNS> *)(to + half * HALF) = words[half];
            if (a.gradient.data)
                *(uint2 *)(a.gradient.row(y) + x + half * HALF) = gradient[half];
        }
    }

    /* Writes what is within the image, and 0 instead of words at its BORDER. */
    __device__ __forceinline__ void store_at_edge(const struct census_args &a, int x, int y, bool border) const
    {
        const bool row_outside = y < f::ry || y >= a.grey.height - f::ry;

        if (y >= a.grey.height)
            return;
#pragma unroll
        for (int half = 0; half < 2; half++, x += HALF) {
            plx_vector<word, COLUMNS> vector = words[half];
#pragma unroll
            for (int i = 0; i < COLUMNS; i++)
                if (border && (row_outside || x + i < f::rx || x + i >= a.grey.width - f::rx))
                    vector.at[i] = 0;
            plx_store(vector, (word *)((char *)a.census.data + (size_t)y * a.census.pitch) + x, a.grey.width - x,
                      a.census_aligned);
            if (a.gradient.data)
                plx_store(*(const plx_vector<uint16_t, COLUMNS> *)&gradient[half], a.gradient.row(y) + x, a.grey.width - x,
                          a.gradient_aligned);
        }
    }
};

/* The thread's columns of ROWS rows; MIDDLE: the pairs of the first, RADIUS_X columns before. */
template <enum plx_census_kind KIND, int ROWS>
static __device__ __forceinline__ void make_rows(const uint32_t *middle, row_features<KIND> (&ret_rows)[ROWS])
{
    constexpr int ry = form<KIND>::ry;
    lines<2 * ry + ROWS> window(middle - ry * PAIRS_X);
    row_words<KIND> words[ROWS];

    collect<KIND, ROWS>(window, words);
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        gradients(window.at(ry + row - 1), window.at(ry + row), window.at(ry + row + 1), ret_rows[row].gradient);
        ret_rows[row].finish(words[row]);
    }
}

/* Rows that a thread makes at once, and blocks of a multiprocessor: as many as registers allow without spills. */
template <enum plx_census_kind KIND> struct occupancy {
    static constexpr int at_once = form<KIND>::words > 1 ? 1 : 2;
    static constexpr int hopper = form<KIND>::rx == 4 ? 6 : 7;
    static constexpr int symmetric = PLX_ARCH == 900 ? hopper : PLX_ARCH >= 800 ? 5 : 4;
    static constexpr int blocks = form<KIND>::symmetric ? symmetric : 4;
};

/* Grid: tiles of 256 x HEIGHT pixels; 512 to 896 threads a multiprocessor. Reads 1 byte a pixel (1.7 with the halo of a high
 * tile), writes 4 or 8, and 2 of gradients. */
template <enum plx_census_kind KIND, int HEIGHT>
static __global__ void __launch_bounds__(32 * WARPS, (occupancy<KIND>::blocks)) census_kernel(census_args a)
{
    constexpr int at_once = occupancy<KIND>::at_once, ry = form<KIND>::ry, each = HEIGHT / WARPS;
    __shared__ __align__(16) typename tile_of<ry, HEIGHT>::bytes bytes;
    __shared__ __align__(16) typename tile_of<ry, HEIGHT>::pairs pairs;
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * HEIGHT;
    const int x = threadIdx.x % 32 * COLUMNS, y = threadIdx.x / 32 * each; /* the thread's first pixel in the tile */
    const bool border = x0 == 0 || x0 + TILE_X + RADIUS_X > a.grey.width || y0 == 0 || y0 + HEIGHT + ry > a.grey.height;
    const bool plain = x0 + TILE_X <= a.grey.width && y0 + HEIGHT <= a.grey.height && a.census_aligned && a.gradient_aligned &&
                       !(border && a.zero_border);

    if ((int)blockIdx.y < a.ahead) /* whose pixels no other block has prefetched */
        plx_prefetch_tile<TILE_X, HEIGHT>(a.grey, x0, y0, (int)threadIdx.x);
    plx_grid_wait_and_trigger();
    load_bytes<ry, HEIGHT>(a, x0, y0, bytes);
    __pipeline_commit();
    plx_prefetch_tile<TILE_X, HEIGHT>(a.grey, x0, y0 + a.ahead * HEIGHT, (int)threadIdx.x);
    __pipeline_wait_prior(0);
    __syncthreads();
    make_tile<ry, HEIGHT>(a, x0, y0, border, bytes, pairs);
#pragma unroll 1
    for (int i = 0; i < each; i += at_once) {
        row_features<KIND> rows[at_once];
        make_rows(&pairs[y + i + ry][x], rows);
#pragma unroll
        for (int row = 0; row < at_once; row++) {
            if (plain)
                rows[row].store(a, x0 + x, y0 + y + i + row);
            else
                rows[row].store_at_edge(a, x0 + x, y0 + y + i + row, border && a.zero_border);
        }
    }
}

template <enum plx_census_kind KIND> static int launch(struct plx_gpu *gpu, struct census_args *args)
{
    const dim3 high = plx_grid(args->grey.width, args->grey.height, dim3(TILE_X, HIGH));
    const dim3 low = plx_grid(args->grey.width, args->grey.height, dim3(TILE_X, LOW));

    args->ahead = gpu->multiprocessors * RESIDENT / (int)high.x + 1;
    if (high.x * high.y <= (unsigned)gpu->multiprocessors * MANY_TILES)
        return PLX_LAUNCH_DEPENDENT(gpu, (census_kernel<KIND, LOW>), low, 32 * WARPS, *args);
    return PLX_LAUNCH_DEPENDENT(gpu, (census_kernel<KIND, HIGH>), high, 32 * WARPS, *args);
}

int plx_gpu_census(struct plx_stages *self, const struct plx_image *grey, const struct plx_match *match,
                   const struct plx_features *ret_features)
{
    static int (*const launches[])(struct plx_gpu *, struct census_args *) = {
        launch<PLX_CENSUS_SYMMETRIC_9X7>, launch<PLX_CENSUS_SYMMETRIC_5X5>, launch<PLX_CENSUS_FULL_9X7>,
        launch<PLX_CENSUS_CHECKER_9X7>}; /* in the order of plx_census_kind */
    struct plx_gpu *gpu = plx_gpu(self);
    const bool gradient = match->gradient_cap > 0;

    const int result = plx_census_check(grey, match, ret_features);
    if (result < 0)
        return result;
    if (!plx_gpu_holds(gpu, grey))
        return PLX_ERR_RANGE;

    struct census_args args = {plx_view_of<const uint8_t>(grey),
                               plx_view_of<void>(&ret_features->census),
                               gradient ? plx_view_of<uint16_t>(&ret_features->gradient) : plx_view<uint16_t>(),
                               0,
                               match->smooth,
                               match->census_zero_border,
                               plx_rows_aligned(grey, PLX_VECTOR_BYTES),
                               plx_rows_aligned(&ret_features->census, COLUMNS * (size_t)ret_features->census.type),
                               !gradient || plx_rows_aligned(&ret_features->gradient, COLUMNS * sizeof(uint16_t))};
    return launches[match->census](gpu, &args);
}
