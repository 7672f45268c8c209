/* SPDX-License-Identifier: Apache-2.0 */
/* Stage temporal: disparity blended with that of the frame before. */
#include "gpu/device/device.cuh"
#include "gpu/internal.h"

#define BLOCK_X 32
#define BLOCK_Y 4
#define EACH 8 /* neighbouring pixels of a thread */

struct temporal_args {
    plx_view<const uint16_t> src;
    plx_view<uint16_t> history, dst;
    int max_step, weight;
    bool aligned;
};

static __device__ __forceinline__ uint16_t blend(int now, int old, int max_step, int weight)
{
    const bool both = now != PLX_DISPARITY_INVALID && old != PLX_DISPARITY_INVALID;
    const bool near = max_step > 0 && abs(now - old) <= max_step;
    return (uint16_t)(both && near ? (weight * now + (256 - weight) * old + 128) >> 8 : now);
}

/* Grid: a thread 8 pixels of a row. Reads and writes 4 bytes a pixel, 16 at a time. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) temporal_kernel(temporal_args a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int count = a.src.width - x;

    if (count <= 0 || y >= a.src.height)
        return;
    plx_vector<uint16_t, EACH> value = plx_load<EACH>(a.src.row(y) + x, count, a.aligned);
    const plx_vector<uint16_t, EACH> old = plx_load<EACH>((const uint16_t *)a.history.row(y) + x, count, a.aligned);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        value.at[i] = blend(value.at[i], old.at[i], a.max_step, a.weight);
    plx_store(value, a.history.row(y) + x, count, a.aligned);
    plx_store(value, a.dst.row(y) + x, count, a.aligned);
}

int plx_gpu_temporal(struct plx_stages *self, const struct plx_image *src, const struct plx_temporal *temporal,
                     const struct plx_image *history, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(history, PLX_U16) || !plx_image_ok(dst, PLX_U16) ||
        !plx_same_size(src, history) || !plx_same_size(src, dst) || !temporal || temporal->max_step < 0 ||
        temporal->weight < 1 || temporal->weight > 256)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src))
        return PLX_ERR_RANGE;

    const size_t bytes = EACH * sizeof(uint16_t);
    const struct temporal_args args = {plx_view_of<const uint16_t>(src),
                                       plx_view_of<uint16_t>(history),
                                       plx_view_of<uint16_t>(dst),
                                       temporal->max_step,
                                       temporal->weight,
                                       plx_rows_aligned(src, bytes) && plx_rows_aligned(history, bytes) &&
                                           plx_rows_aligned(dst, bytes)};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(src->width, src->height, dim3(BLOCK_X * EACH, BLOCK_Y));
    temporal_kernel<<<grid, block, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, temporal_kernel);
}
