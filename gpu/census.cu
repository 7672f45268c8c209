/* SPDX-License-Identifier: Apache-2.0 */
/* Stage census: smoothing, census words and gradient of one image in one pass. */
#include "gpu/census_word.cuh"

#define FEW_ROWS 2   /* of a thread, where blocks are few: 8 warps share a tile */
#define MANY_ROWS 4  /* where they fill the GPU more than twice: 4 warps, which load less around their rows */
#define MANY_TILES 8 /* for each multiprocessor, from which they do */

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

/* How many of a thread's rows are made together, sharing what they read, and how many blocks a multiprocessor is to hold. Rows
 * of the largest symmetric window, one by one, leave registers for twice as many blocks and are a quarter of the code, which
 * pays where blocks are many; the checker's, of fewer samples, would only read more. Words of 64 bits leave no choice; before
 * compute capability 8.0 the registers do not suffice. */
template <enum plx_census_kind KIND, int ROWS> struct pace {
    static constexpr bool one_by_one = KIND == PLX_CENSUS_SYMMETRIC_9X7 && ROWS == MANY_ROWS && PLX_ARCH >= 800;
    static constexpr int together = one_by_one || form<KIND>::words > 1 ? 1 : ROWS, blocks = one_by_one ? 2 * ROWS : ROWS;
};

/* Grid: tiles of 256 x 16 pixels, a thread ROWS; 512 threads a multiprocessor, or 1024. Reads 1 byte a pixel (1.7 with the
 * halo), writes 4 or 8, and 1 of gradient. */
template <enum plx_census_kind KIND, int ROWS>
static __global__ void __launch_bounds__(32 * TILE_Y / ROWS, (pace<KIND, ROWS>::blocks)) census_kernel(census_args a)
{
    constexpr int rows_at_once = pace<KIND, ROWS>::together;
    __shared__ __align__(16) byte_tile bytes;
    __shared__ __align__(16) pair_tile pairs;
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y;
    const int x = threadIdx.x % 32 * COLUMNS, y = threadIdx.x / 32 * ROWS; /* of the thread's first pixel in the tile */
    const bool border = x0 == 0 || x0 + TILE_X + RADIUS_X > a.grey.width || y0 == 0 || y0 + TILE_Y + RADIUS_Y > a.grey.height;

    load_bytes<TILE_Y / ROWS>(a, x0, y0, bytes);
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
