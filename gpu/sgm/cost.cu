/* SPDX-License-Identifier: Apache-2.0 */
/* What aggregation reads. cost_kernel: C(p, d), the Hamming distance of census words plus the capped differences of gradients.
 * penalty_kernel: P2 of every step. words_kernel: census and gradients of a pixel in one word. */
#include "gpu/device/launch.cuh"
#include "gpu/sgm/sgm.cuh"

#define THREADS 128
#define PIXELS 8 /* pixels of a thread at once, side by side */
#define SPAN 256 /* pixels of a block */

#define PENALTY_X 32
#define PENALTY_Y 8
#define PENALTY_ROWS 4 /* rows of a thread */

#define WORDS_X 64
#define WORDS_Y 4

struct cost_args {
    plx_view<const void> left_census, right_census;
    plx_view<const uint16_t> left_gradient, right_gradient;
    uint4 *cost;
    int min_disparity;
    plx_cost_constants constants;
};

/* What a block needs in shared memory, prepared once for all threads; aligned for loads of vectors. */
template <class F, int D> struct cost_tile {
    static constexpr int CHUNKS = D / 16, PARTNERS = SPAN + D / 2;
    alignas(16) typename F::pixel own[SPAN];
    alignas(16) typename F::partners partners[PARTNERS + PARTNERS / PIXELS];

    /* Index of partners I: threads that read from multiples of PIXELS on start in different banks. */
    static __device__ __forceinline__ unsigned skewed(unsigned i)
    {
        return i + i / PIXELS;
    }

    /* From column X of the left view, and in the right view from column FIRST. */
    __device__ __forceinline__ void fill(const cost_args &a, int x, int first, int y)
    {
#pragma unroll
        for (int start = 0; start < PARTNERS; start += THREADS) {
            const int i = start + threadIdx.x, q = first + i;
            if (start + THREADS <= PARTNERS || i < PARTNERS)
                partners[skewed(i)] = typename F::partners(F::load(a.right_census, a.right_gradient, q, y),
                                                           F::load(a.right_census, a.right_gradient, q - D / 2, y));
        }
#pragma unroll
        for (int start = 0; start < SPAN; start += THREADS) {
            const int i = start + threadIdx.x;
            own[i] = typename F::pixel(F::load(a.left_census, a.left_gradient, x + i, y));
        }
    }

    /* Writes chunk G of pixels PIXEL to PIXEL + 7, but at most of COUNT pixels, to OUT. */
    __device__ __forceinline__ void write_costs(const plx_cost_constants &constants, int pixel, int g, int count,
                                                uint4 *out) const
    {
        /* at[8 + k - i] are the partners of pixel k at disparities 8 g + i and D / 2 more; i = 0..7, so at[0] are none */
        const typename F::partners *from = partners + skewed(D / 2 + pixel - 8 * g - PIXELS);
        typename F::partners at[2 * PIXELS];
#pragma unroll
        for (int i = 1; i < 2 * PIXELS; i++)
            at[i] = from[skewed(i)];
#pragma unroll
        for (int k = 0; k < PIXELS; k++) {
            if (k >= count)
                return;
            const typename F::pixel l = own[pixel + k];
            uint32_t word[4];
#pragma unroll
            for (int w = 0; w < 4; w++)
                word[w] = F::costs(l, at[PIXELS + k - 2 * w], at[PIXELS + k - 2 * w - 1], constants);
            out[k * CHUNKS] = make_uint4(word[0], word[1], word[2], word[3]);
        }
    }
};

/* Grid: a block makes 256 pixels of a row; a thread D / 64 times one chunk (16 disparities) of eight pixels, which need 15
 * partners in each half of the range: they overlap along the diagonal, so every partner is read once for up to eight costs.
 * Reads the features, those of the right view twice (and D words a block of halo), writes D bytes a pixel. */
template <class F, int D> static __global__ void __launch_bounds__(THREADS) cost_kernel(const __grid_constant__ cost_args a)
{
    typedef cost_tile<F, D> tile;
    __shared__ tile s;
    const int y = blockIdx.y, block_x = blockIdx.x * SPAN, width = a.left_census.width;
    const int g = threadIdx.x % tile::CHUNKS;

    plx_grid_wait_and_trigger();
    s.fill(a, block_x, block_x - a.min_disparity - D / 2, y);
    __syncthreads();
    /* threadIdx.y is 0: a number that the compiler knew to be the same in all threads it would copy at each use */
    plx_cost_constants constants = a.constants;
    constants.counts += threadIdx.y, constants.counts_16 += threadIdx.y;
    uint4 *row = a.cost + (size_t)y * width * tile::CHUNKS + g;
#pragma unroll 1
    for (int pixel = threadIdx.x / tile::CHUNKS * PIXELS; pixel < SPAN; pixel += THREADS / tile::CHUNKS * PIXELS) {
        const int x = block_x + pixel;
        s.write_costs(constants, pixel, g, width - x, row + x * tile::CHUNKS);
    }
}

template <class F> static int launch(const struct plx_sgm_job *job, const struct cost_args &args)
{
    return plx_with_disparities(job->match, [&](auto d) {
        const dim3 grid(plx_div_ceil(job->width, SPAN), (unsigned)job->height);
        return PLX_LAUNCH_DEPENDENT(job->gpu, (cost_kernel<F, d>), grid, THREADS, args);
    });
}

int plx_sgm_cost(const struct plx_sgm_job *job)
{
    const struct plx_match *match = job->match;
    const bool gradient = match->gradient_cap > 0, is_wide = match->census == PLX_CENSUS_FULL_9X7;
    const struct cost_args args = {plx_view_of<const void>(&job->left->census),
                                   plx_view_of<const void>(&job->right->census),
                                   gradient ? plx_view_of<const uint16_t>(&job->left->gradient) : plx_view<const uint16_t>(),
                                   gradient ? plx_view_of<const uint16_t>(&job->right->gradient) : plx_view<const uint16_t>(),
                                   job->gpu->sgm->cost,
                                   match->min_disparity,
                                   plx_cost_constants_of(match)};

    if (is_wide)
        return gradient ? launch<census_and_gradients<wide_census>>(job, args) : launch<wide_census>(job, args);
    if (!gradient)
        return launch<census_by_nibbles>(job, args);
    return plx_census_bits(match->census) <= 12 ? launch<short_census_and_gradients>(job, args)
                                                : launch<census_and_gradients<census_only>>(job, args);
}

/* --- P2 of every step, where it depends on the image ---------------------------------------------------------------- */

struct penalty_args {
    plx_view<const uint8_t> grey;
    uint32_t *penalty, *penalty_upwards;
    uint32_t p2[PLX_P2_STEPS / 4]; /* a byte of each step */
};

/* P2 of the steps between a pixel of brightness HERE and its neighbours, one byte for each orientation. */
static __device__ __forceinline__ uint32_t p2_of(const uint8_t *p2, int here, int row, int column, int falling, int rising)
{
    return (uint32_t)p2[abs(here - row)] << 8 * PLX_HORIZONTAL | (uint32_t)p2[abs(here - column)] << 8 * PLX_VERTICAL |
           (uint32_t)p2[abs(here - falling)] << 8 * PLX_FALLING | (uint32_t)p2[abs(here - rising)] << 8 * PLX_RISING;
}

/* Grid: a thread four pixels of a column. Reads a byte a pixel (six columns of three from L1), writes four or eight. Where
 * there is no step the byte is of no meaning. */
static __global__ void __launch_bounds__(PENALTY_X *PENALTY_Y) penalty_kernel(const __grid_constant__ penalty_args a)
{
    __shared__ uint32_t words[PLX_P2_STEPS / 4];
    const uint8_t *p2 = (const uint8_t *)words;
    const int x = blockIdx.x * PENALTY_X + threadIdx.x, y = (blockIdx.y * PENALTY_Y + threadIdx.y) * PENALTY_ROWS;
    const int width = a.grey.width, height = a.grey.height, left = max(x - 1, 0), right = min(x + 1, width - 1);
    int pixel[PENALTY_ROWS + 2][3];

    if (threadIdx.y < 2)
        words[threadIdx.y * PENALTY_X + threadIdx.x] = a.p2[threadIdx.y * PENALTY_X + threadIdx.x];
    __syncthreads();
    if (x >= width || y >= height)
        return;
#pragma unroll
    for (int i = 0; i < PENALTY_ROWS + 2; i++) {
        const uint8_t *row = a.grey.row(plx_clamp(y + i - 1, 0, height - 1));
        pixel[i][0] = row[left], pixel[i][1] = row[x], pixel[i][2] = row[right];
    }
#pragma unroll
    for (int i = 1; i <= PENALTY_ROWS && y + i <= height; i++) {
        const size_t at = (size_t)(y + i - 1) * width + x;
        const int here = pixel[i][1];
        a.penalty[at] = p2_of(p2, here, pixel[i][0], pixel[i - 1][1], pixel[i - 1][0], pixel[i - 1][2]);
        if (a.penalty_upwards)
            a.penalty_upwards[at] = p2_of(p2, here, pixel[i][2], pixel[i + 1][1], pixel[i + 1][2], pixel[i + 1][0]);
    }
}

int plx_sgm_penalty(const struct plx_sgm_job *job, bool both_sweeps)
{
    struct penalty_args args = {plx_view_of<const uint8_t>(job->grey),
                                job->gpu->sgm->penalty,
                                both_sweeps ? job->gpu->sgm->penalty_upwards : NULL,
                                {0}};
    const dim3 block(PENALTY_X, PENALTY_Y), grid = plx_grid(job->width, job->height, dim3(PENALTY_X, PENALTY_Y * PENALTY_ROWS));

    plx_match_p2(job->match, (uint8_t *)args.p2);
    return PLX_LAUNCH(job->gpu, penalty_kernel, grid, block, args);
}

/* --- feature words, which the sweeps read instead of costs -------------------------------------------------------------- */

/* Grid: a thread a pixel. Reads 6 bytes, writes 4. */
static __global__ void __launch_bounds__(WORDS_X *WORDS_Y)
    words_kernel(plx_view<const uint32_t> census, plx_view<const uint16_t> gradient, uint32_t *words)
{
    const int x = blockIdx.x * WORDS_X + threadIdx.x, y = blockIdx.y * WORDS_Y + threadIdx.y;
    if (x < census.width && y < census.height)
        words[(size_t)y * census.width + x] = plx_spread_census(census.row(y)[x]) | (uint32_t)gradient.row(y)[x] << 16;
}

int plx_sgm_feature_words(const struct plx_sgm_job *job)
{
    const struct plx_features *const features[] = {job->left, job->right};
    const dim3 block(WORDS_X, WORDS_Y), grid = plx_grid(job->width, job->height, block);
    int result = 0;

    for (int eye = 0; eye < 2 && result == 0; eye++)
        result = PLX_LAUNCH(job->gpu, words_kernel, grid, block, plx_view_of<const uint32_t>(&features[eye]->census),
                            plx_view_of<const uint16_t>(&features[eye]->gradient), job->gpu->sgm->words[eye]);
    return result;
}
