/* SPDX-License-Identifier: Apache-2.0 */
/* Stage median: of disparities over a window with clamped coordinates. */
#include "gpu/device.cuh"
#include "gpu/packed.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8

static __device__ __forceinline__ void order(uint32_t &a, uint32_t &b)
{
    const uint32_t least = min(a, b);
    b = max(a, b);
    a = least;
}

/* Median of nine by 19 exchanges (Devillard, Fast median search, 1998, after Paeth 1990). */
static __device__ __forceinline__ uint32_t median_of_9(uint32_t v[9])
{
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]);
    order(v[0], v[1]), order(v[3], v[4]), order(v[6], v[7]);
    order(v[1], v[2]), order(v[4], v[5]), order(v[7], v[8]);
    order(v[0], v[3]), order(v[5], v[8]), order(v[4], v[7]);
    order(v[3], v[6]), order(v[1], v[4]), order(v[2], v[5]);
    order(v[4], v[7]), order(v[4], v[2]), order(v[6], v[4]);
    order(v[4], v[2]);
    return v[4];
}

/* The nine pixels about (x, y). */
static __device__ __forceinline__ void window(const plx_view<const uint16_t> &src, int x, int y, uint32_t *ret_values)
{
#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
        const uint16_t *row = src.row(plx_clamp(y + dy, 0, src.height - 1));
#pragma unroll
        for (int dx = -1; dx <= 1; dx++)
            *ret_values++ = row[plx_clamp(x + dx, 0, src.width - 1)];
    }
}

/* Grid: a thread a pixel. Reads and writes 2 bytes a pixel; the window comes from L1. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    median_3x3_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    uint32_t v[9];

    if (x >= src.width || y >= src.height)
        return;
    window(src, x, y, v);
    dst.row(y)[x] = (uint16_t)median_of_9(v);
}

/*
 * 5x5: two pixels at once, side by side in the halves of a register. Values are disparities, below BEYOND; an invalid one is
 * BEYOND itself. Element n / 2 of the n valid ones is the median of all 25 if of the invalid ones every second is taken for
 * smaller than all, the first of them for larger: it then has 12 before it.
 */
#define PAIRS_X 32 /* pairs of a block, side by side */
#define RADIUS 2
#define TILE_X (2 * PAIRS_X + 2 * RADIUS)
#define TILE_Y (BLOCK_Y + 2 * RADIUS)
#define BEYOND 0x4000u
#define BEYOND_2 (BEYOND << 16 | BEYOND)

static __device__ __forceinline__ void order_2(uint32_t &a, uint32_t &b)
{
    const uint32_t least = plx_min2(a, b);
    b = plx_max2(a, b);
    a = least;
}

/*
 * Forgetful selection: of K candidates the least and the largest cannot be the median, as soon as K is half of all and two
 * more. They are found, the largest is dropped, the next value takes the place of the least, and K - 1 are left.
 */
template <int K> static __device__ __forceinline__ void select(uint32_t v[25])
{
#pragma unroll
    for (int i = 0; i < K / 2; i++)
        order_2(v[i], v[K - 1 - i]);
#pragma unroll
    for (int i = 1; i < (K + 1) / 2; i++)
        order_2(v[0], v[i]);
#pragma unroll
    for (int i = K / 2; i < K - 1; i++)
        order_2(v[i], v[K - 1]);
    v[0] = v[28 - K];
    select<K - 1>(v);
}
template <> __device__ __forceinline__ void select<2>(uint32_t *)
{
}

static __device__ __forceinline__ uint32_t median_of_25(uint32_t v[25])
{
    select<14>(v);
    return v[1];
}

/* Grid: blocks of 64 x 8 pixels. Reads 2 bytes a pixel (3 with the halo), writes 2. */
static __global__ void __launch_bounds__(PAIRS_X *BLOCK_Y)
    median_valid_5x5_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst)
{
    __shared__ __align__(4) uint16_t tile[TILE_Y][TILE_X];
    const int x0 = blockIdx.x * 2 * PAIRS_X, y0 = blockIdx.y * BLOCK_Y, x = x0 + 2 * threadIdx.x, y = y0 + threadIdx.y;
    uint32_t v[25], odd = 0, invalid = 0;

    for (int i = threadIdx.y * PAIRS_X + threadIdx.x; i < TILE_X * TILE_Y; i += PAIRS_X * BLOCK_Y) {
        const uint16_t *row = src.row(plx_clamp(y0 + i / TILE_X - RADIUS, 0, src.height - 1));
        const uint16_t value = row[plx_clamp(x0 + i % TILE_X - RADIUS, 0, src.width - 1)];
        tile[i / TILE_X][i % TILE_X] = value == PLX_DISPARITY_INVALID ? BEYOND : value;
    }
    __syncthreads();
    if (x >= src.width || y >= src.height)
        return;
#pragma unroll
    for (int i = 0; i < 5; i++) {
        const uint32_t *pairs = (const uint32_t *)tile[threadIdx.y + i] + threadIdx.x;
        const uint32_t left = pairs[0], here = pairs[1], right = pairs[2];
        v[5 * i] = left;
        v[5 * i + 1] = __byte_perm(left, here, 0x5432);
        v[5 * i + 2] = here;
        v[5 * i + 3] = __byte_perm(here, right, 0x5432);
        v[5 * i + 4] = right;
    }
    const uint32_t centre = v[12];
#pragma unroll
    for (int i = 0; i < 25; i++) {
        invalid += (v[i] & BEYOND_2) / BEYOND;
        odd ^= v[i] & BEYOND_2;
        v[i] &= odd | ~BEYOND_2;
    }
    const uint32_t median = median_of_25(v);
    for (int i = 0; i < 2 && x + i < src.width; i++) {
        const uint32_t half = 16 * i;
        const bool keep = (centre >> half & 0xFFFF) != BEYOND || (invalid >> half & 0xFFFF) <= 12;
        dst.row(y)[x + i] = (uint16_t)(keep ? median >> half & 0xFFFF : PLX_DISPARITY_INVALID);
    }
}

int plx_gpu_median(struct plx_stages *self, const struct plx_image *src, enum plx_median kind, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(src->width, src->height, block);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_same_size(src, dst))
        return PLX_ERR_ARG;

    switch (kind) {
    case PLX_MEDIAN_NONE:
        return PLX_CUDA(gpu, cudaMemcpy2DAsync(dst->data, dst->pitch, src->data, src->pitch, (size_t)src->width * PLX_U16,
                                               (size_t)src->height, cudaMemcpyDefault, gpu->stream));
    case PLX_MEDIAN_3X3:
        median_3x3_kernel<<<grid, block, 0, gpu->stream>>>(plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst));
        return PLX_LAUNCHED(gpu, median_3x3_kernel);
    case PLX_MEDIAN_VALID_5X5:
        median_valid_5x5_kernel<<<plx_grid(src->width, src->height, dim3(2 * PAIRS_X, BLOCK_Y)), dim3(PAIRS_X, BLOCK_Y), 0,
                                  gpu->stream>>>(plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst));
        return PLX_LAUNCHED(gpu, median_valid_5x5_kernel);
    }
    return PLX_ERR_ARG;
}
