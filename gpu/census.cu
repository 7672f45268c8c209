/* SPDX-License-Identifier: Apache-2.0 */
/* Stage census: smoothing, census words and gradient of one image in one pass. */
#include "gpu/device.cuh"

#define TILE_X 64 /* pixels of a block; a thread makes two, BLOCK_X apart */
#define TILE_Y 8
#define BLOCK_X (TILE_X / 2)
#define RADIUS_X 4 /* of the largest window */
#define RADIUS_Y 3
#define HALO_X (RADIUS_X + 1) /* smoothing looks one further */
#define HALO_Y (RADIUS_Y + 1)
#define SHARED_X (TILE_X + 2 * HALO_X)
#define SHARED_Y (TILE_Y + 2 * HALO_Y)

struct census_args {
    plx_view<const uint8_t> grey;
    plx_view<void> census;
    plx_view<uint8_t> gradient; /* data NULL: none */
    bool smooth, zero_border;
};

/* Window and form of one kind. Samples are taken in raster order, the first into the highest bit. */
template <enum plx_census_kind KIND> struct form {
    static constexpr int rx = KIND == PLX_CENSUS_SYMMETRIC_7X5 ? 3 : 4;
    static constexpr int ry = KIND == PLX_CENSUS_SYMMETRIC_7X5 ? 2 : 3;
    static constexpr bool symmetric = KIND == PLX_CENSUS_SYMMETRIC_7X5 || KIND == PLX_CENSUS_SYMMETRIC_9X7;

    static __device__ constexpr bool sampled(int dx, int dy)
    {
        if (symmetric)
            return dy < 0 || (dy == 0 && dx < 0);
        return (dx != 0 || dy != 0) && (KIND != PLX_CENSUS_CHECKER_9X7 || (dx + dy) % 2 == 0);
    }
};

/* A word, its upper bits alone in the first half of samples where it has more than 32. */
template <enum plx_census_kind KIND> struct word {
    typedef uint32_t type;
    static constexpr int upper = 0;
};
template <> struct word<PLX_CENSUS_FULL_9X7> {
    typedef uint64_t type;
    static constexpr int upper = 30;
};

typedef uint8_t tile[SHARED_Y][SHARED_X];

/* The block's pixels and their surroundings, coordinates clamped. */
static __device__ void load_tile(const struct census_args &a, int x0, int y0, tile &grey)
{
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < SHARED_X * SHARED_Y; i += BLOCK_X * TILE_Y) {
        const int y = i / SHARED_X, x = i % SHARED_X;
        const uint8_t *row = a.grey.row(plx_clamp(y0 + y - HALO_Y, 0, a.grey.height - 1));
        grey[y][x] = row[plx_clamp(x0 + x - HALO_X, 0, a.grey.width - 1)];
    }
}

/* G of the tile but its outermost frame. Outside the image G is that of the nearest pixel inside, not a mean of clamped
 * pixels: so the mean is taken at the clamped place. */
static __device__ void smooth_tile(const struct census_args &a, int x0, int y0, const tile &grey, tile &smooth)
{
    const int inner_x = SHARED_X - 2, inner_y = SHARED_Y - 2;
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < inner_x * inner_y; i += BLOCK_X * TILE_Y) {
        const int ty = 1 + i / inner_x, tx = 1 + i % inner_x;
        const int x = plx_clamp(x0 + tx - HALO_X, 0, a.grey.width - 1) - x0 + HALO_X;
        const int y = plx_clamp(y0 + ty - HALO_Y, 0, a.grey.height - 1) - y0 + HALO_Y;
        smooth[ty][tx] =
            (uint8_t)((4 * grey[y][x] + grey[y - 1][x] + grey[y + 1][x] + grey[y][x + 1] + grey[y][x - 1] + 4) >> 3);
    }
}

/* Two pixels in the halves of a word, BLOCK_X apart: one subtraction compares both. */
typedef uint32_t pairs[SHARED_Y][SHARED_X - BLOCK_X];

static __device__ void pair_tile(const tile &g, pairs &ret_pairs)
{
    const int width = SHARED_X - BLOCK_X;
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < width * SHARED_Y; i += BLOCK_X * TILE_Y)
        ret_pairs[i / width][i % width] = g[i / width][i % width] | (uint32_t)g[i / width][i % width + BLOCK_X] << 16;
}

/* The census words of the two pixels at (X, Y) of the tile. */
template <enum plx_census_kind KIND>
static __device__ __forceinline__ void census_words(const pairs &p, int x, int y, typename word<KIND>::type ret_words[2])
{
    typedef form<KIND> f;
    uint32_t low[2] = {0, 0}, high[2] = {0, 0}; /* complements */
    int samples = 0;
#pragma unroll
    for (int dy = -f::ry; dy <= f::ry; dy++) {
#pragma unroll
        for (int dx = -f::rx; dx <= f::rx; dx++) {
            if (!f::sampled(dx, dy))
                continue;
            const uint32_t other = f::symmetric ? p[y - dy][x - dx] : p[y][x];
            const uint32_t not_larger = other + 0x80008000u - p[y + dy][x + dx]; /* in the uppermost bit of each half */
            uint32_t *bits = samples++ < word<KIND>::upper ? high : low;
            bits[0] = __funnelshift_l(not_larger << 16, bits[0], 1);
            bits[1] = __funnelshift_l(not_larger, bits[1], 1);
        }
    }
    const uint64_t mask = ~0ull >> (64 - samples);
#pragma unroll
    for (int i = 0; i < 2; i++)
        ret_words[i] = (typename word<KIND>::type)(~((uint64_t)high[i] << 32 | low[i]) & mask);
}

static __device__ uint8_t gradient_at(const tile &g, int x, int y)
{
    const int sum = 2 * (g[y][x + 1] - g[y][x - 1]) + g[y - 1][x + 1] - g[y - 1][x - 1] + g[y + 1][x + 1] - g[y + 1][x - 1];
    return (uint8_t)plx_clamp(128 + (sum >> 1), 0, 255);
}

/* Grid: tiles of 64 x 8 pixels. Reads each pixel once (2.3 with the halo), writes 4 or 8 bytes, and 1 of gradient. */
template <enum plx_census_kind KIND> static __global__ void __launch_bounds__(BLOCK_X *TILE_Y) census_kernel(census_args a)
{
    typedef form<KIND> f;
    typedef typename word<KIND>::type word_type;
    __shared__ tile grey, smooth;
    __shared__ pairs pair;
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y, y = y0 + threadIdx.y;
    word_type words[2];

    load_tile(a, x0, y0, grey);
    __syncthreads();
    if (a.smooth) {
        smooth_tile(a, x0, y0, grey, smooth);
        __syncthreads();
    }
    const tile &g = a.smooth ? smooth : grey;
    pair_tile(g, pair);
    __syncthreads();
    if (y >= a.grey.height)
        return;
    census_words<KIND>(pair, threadIdx.x + HALO_X, threadIdx.y + HALO_Y, words);
    word_type *row = (word_type *)((char *)a.census.data + (size_t)y * a.census.pitch);
    for (int i = 0; i < 2; i++) {
        const int tx = threadIdx.x + i * BLOCK_X, x = x0 + tx;
        if (x >= a.grey.width)
            return;
        const bool outside = x < f::rx || x >= a.grey.width - f::rx || y < f::ry || y >= a.grey.height - f::ry;
        row[x] = a.zero_border && outside ? 0 : words[i];
        if (a.gradient.data)
            a.gradient.row(y)[x] = gradient_at(g, tx + HALO_X, threadIdx.y + HALO_Y);
    }
}

int plx_gpu_census(struct plx_stages *self, const struct plx_image *grey, const struct plx_match *match,
                   const struct plx_features *ret_features)
{
    static void (*const kernel[])(struct census_args) = {
        census_kernel<PLX_CENSUS_SYMMETRIC_9X7>, census_kernel<PLX_CENSUS_SYMMETRIC_7X5>, census_kernel<PLX_CENSUS_FULL_9X7>,
        census_kernel<PLX_CENSUS_CHECKER_9X7>}; /* in the order of plx_census_kind */
    struct plx_gpu *gpu = plx_gpu(self);
    const bool gradient = match->gradient_cap > 0;

    const int result = plx_census_check(grey, match, ret_features);
    if (result < 0)
        return result;
    if (!plx_gpu_holds(gpu, grey))
        return PLX_ERR_RANGE;

    struct census_args args = {plx_view_of<const uint8_t>(grey), plx_view_of<void>(&ret_features->census),
                               gradient ? plx_view_of<uint8_t>(&ret_features->gradient) : plx_view<uint8_t>(), match->smooth,
                               match->census_zero_border};
    const dim3 block(BLOCK_X, TILE_Y);
    kernel[match->census]<<<plx_grid(grey->width, grey->height, dim3(TILE_X, TILE_Y)), block, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, census_kernel);
}
