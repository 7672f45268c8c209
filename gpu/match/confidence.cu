/* SPDX-License-Identifier: Apache-2.0 */
/* Stage confidence: how many neighbours have a similar winner, how sharp the minimum is, and the left-right check. */
#include <cuda_fp16.h>

#include "gpu/device/device.cuh"
#include "gpu/internal.h"

#define BLOCK_X 32
#define BLOCK_Y 8
#define EACH 4                                    /* pixels of a thread, side by side */
#define REACH 4                                   /* pixels, in all directions; every second one is a sample */
#define TILE_X ((BLOCK_X * EACH + 2 * REACH) / 2) /* pairs */
#define TILE_Y (BLOCK_Y + 2 * REACH)
#define NUMBER 0x6400u /* 1024: a disparity added to its bits is added to the number */

struct confidence_args {
    plx_view<const uint16_t> raw, s1, s2, checked;
    plx_view<uint8_t> confidence;
    int s1_scale; /* so that four paths count as eight */
    bool aligned, confidence_aligned;
};

/* A / B towards 0, for numbers below 2^24, B > 0. */
static __device__ __forceinline__ int quotient(int a, int b)
{
    const int size = abs(a);
    int result = (int)__fdividef((float)size, (float)b); /* at most one off */
    const int rest = size - result * b;

    result += (rest >= b) - (rest < 0);
    return a < 0 ? -result : result;
}

/*
 * How many of the 25 samples are at most 1 away from each of four pixels, as two pairs of numbers of 16 bits in floating point,
 * which are exact: 2 - |difference|, cut off below 0 and above 1, is 1 or 0.
 */
static __device__ __forceinline__ void count(const uint32_t (*tile)[TILE_X], __half2 ret_agree[2])
{
    const __half2 two = __float2half2_rn(2.0f);
    const __half2 *here = (const __half2 *)tile[REACH] + REACH / 2;
    const __half2 d[2] = {here[0], here[1]};

    ret_agree[0] = ret_agree[1] = __float2half2_rn(1024.0f);
#pragma unroll
    for (int dy = 0; dy <= 2 * REACH; dy += 2) {
        __half2 row[REACH + 2];
#pragma unroll
        for (int i = 0; i < REACH + 2; i += 2) {
            const uint2 four = *(const uint2 *)(tile[dy] + i);
            row[i] = *(const __half2 *)&four.x, row[i + 1] = *(const __half2 *)&four.y;
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int k = 0; k <= REACH; k++)
                ret_agree[i] = __hadd2(ret_agree[i], __hadd2_sat(__hneg2(__habs2(__hsub2(row[i + k], d[i]))), two));
    }
}

/* Grid: a thread four pixels of a row, a block 128 x 8. Reads 8 bytes a pixel (10 with the halo) and writes 1. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) confidence_kernel(const __grid_constant__ confidence_args a)
{
    __shared__ __align__(8) uint32_t tile[TILE_Y][TILE_X];
    const int width = a.raw.width, height = a.raw.height, thread = threadIdx.y * BLOCK_X + threadIdx.x;
    const int x0 = blockIdx.x * BLOCK_X * EACH, y0 = blockIdx.y * BLOCK_Y, x = x0 + threadIdx.x * EACH, y = y0 + threadIdx.y;
    __half2 agree[EACH / 2];

    for (int i = thread; i < TILE_X * TILE_Y; i += BLOCK_X * BLOCK_Y) {
        const uint16_t *row = a.raw.row(plx_clamp(y0 + i / TILE_X - REACH, 0, height - 1));
        const int at = x0 + i % TILE_X * 2 - REACH;
        const uint32_t first = row[plx_clamp(at, 0, width - 1)], second = row[plx_clamp(at + 1, 0, width - 1)];
        tile[i / TILE_X][i % TILE_X] = (second << 16 | first) + (NUMBER << 16 | NUMBER);
    }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    const plx_vector<uint16_t, EACH> s1 = plx_load<EACH>(a.s1.row(y) + x, width - x, a.aligned);
    const plx_vector<uint16_t, EACH> s2 = plx_load<EACH>(a.s2.row(y) + x, width - x, a.aligned);
    const plx_vector<uint16_t, EACH> checked = plx_load<EACH>(a.checked.row(y) + x, width - x, a.aligned);
    plx_vector<uint8_t, EACH> confidence;

    count((const uint32_t(*)[TILE_X])(tile[threadIdx.y] + threadIdx.x * (EACH / 2)), agree);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int agreeing = ((const uint16_t *)agree)[i] - (int)NUMBER, holds = checked.at[i] != PLX_DISPARITY_INVALID;
        const int peak = s2.at[i] > 0 ? quotient((s2.at[i] - s1.at[i]) * 256, s2.at[i]) : 0;
        const int value = quotient((4 * agreeing + peak / 4 + 16 * holds) * 256, s1.at[i] * a.s1_scale + 128);
        confidence.at[i] = (uint8_t)min(value, 255);
    }
    plx_store(confidence, a.confidence.row(y) + x, width - x, a.confidence_aligned);
}

int plx_gpu_confidence(struct plx_stages *self, const struct plx_candidates *candidates, const struct plx_image *checked,
                       const struct plx_match *match, const struct plx_image *ret_confidence)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(&candidates->raw, PLX_U16) || !plx_image_ok(&candidates->s1, PLX_U16) ||
        !plx_image_ok(&candidates->s2, PLX_U16) || !plx_image_ok(checked, PLX_U16) || !plx_image_ok(ret_confidence, PLX_U8) ||
        !plx_same_size(checked, &candidates->raw) || !plx_same_size(checked, &candidates->s1) ||
        !plx_same_size(checked, &candidates->s2) || !plx_same_size(checked, ret_confidence))
        return PLX_ERR_ARG;

    const size_t bytes = EACH * sizeof(uint16_t);
    const struct confidence_args args = {plx_view_of<const uint16_t>(&candidates->raw),
                                         plx_view_of<const uint16_t>(&candidates->s1),
                                         plx_view_of<const uint16_t>(&candidates->s2),
                                         plx_view_of<const uint16_t>(checked),
                                         plx_view_of<uint8_t>(ret_confidence),
                                         match->paths == 4 ? 2 : 1,
                                         plx_rows_aligned(&candidates->s1, bytes) && plx_rows_aligned(&candidates->s2, bytes) &&
                                             plx_rows_aligned(checked, bytes),
                                         plx_rows_aligned(ret_confidence, EACH)};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(checked->width, checked->height, dim3(BLOCK_X * EACH, BLOCK_Y));
    confidence_kernel<<<grid, block, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, confidence_kernel);
}
