/* SPDX-License-Identifier: Apache-2.0 */
/* Stage median: of disparities over a window with clamped coordinates. */
#include "gpu/device.cuh"

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

/* The window of RADIUS about (x, y); lines of a warp are read as one. */
template <int RADIUS>
static __device__ __forceinline__ void window(const plx_view<const uint16_t> &src, int x, int y, uint32_t *ret_values)
{
#pragma unroll
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        const uint16_t *row = src.row(plx_clamp(y + dy, 0, src.height - 1));
#pragma unroll
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
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
    window<1>(src, x, y, v);
    dst.row(y)[x] = (uint16_t)median_of_9(v);
}

/* Sorts VALUES [2^n >= count] by Batcher's odd-even merge sort (1968); comparators beyond COUNT fall away. */
template <int COUNT> static __device__ __forceinline__ void sort(uint32_t *values)
{
#pragma unroll
    for (int p = 1; p < COUNT; p *= 2)
#pragma unroll
        for (int k = p; k >= 1; k /= 2)
#pragma unroll
            for (int j = k % p; j <= COUNT - 1 - k; j += 2 * k)
#pragma unroll
                for (int i = 0; i < k; i++)
                    if (i + j + k < COUNT && (i + j) / (2 * p) == (i + j + k) / (2 * p))
                        order(values[i + j], values[i + j + k]);
}

/* Grid: a thread a pixel; bytes as above. Element n/2 of the n valid ones: invalid ones sort to the end. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    median_valid_5x5_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    uint32_t v[25], result = PLX_DISPARITY_INVALID;
    int valid = 0;

    if (x >= src.width || y >= src.height)
        return;
    window<2>(src, x, y, v);
    const bool centre = v[12] != PLX_DISPARITY_INVALID;
#pragma unroll
    for (int i = 0; i < 25; i++)
        valid += v[i] != PLX_DISPARITY_INVALID;
    sort<25>(v);
    if (centre || valid >= 13) {
#pragma unroll
        for (int i = 0; i <= 12; i++)
            result = valid / 2 == i ? v[i] : result;
    }
    dst.row(y)[x] = (uint16_t)result;
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
        median_valid_5x5_kernel<<<grid, block, 0, gpu->stream>>>(plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst));
        return PLX_LAUNCHED(gpu, median_valid_5x5_kernel);
    }
    return PLX_ERR_ARG;
}
