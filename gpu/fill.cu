/* SPDX-License-Identifier: Apache-2.0 */
/* Stage fill: what is invalid takes the value of the farther of the two surfaces beside it in the row. */
#include "gpu/device.cuh"

#define WARP 32
#define WARPS 4 /* of a block, a row each */
#define ALL 0xFFFFFFFFu

/* VALUE of the nearest lane at or after this one that is valid, or AFTER. */
static __device__ __forceinline__ int next_valid(int value, unsigned valid, int lane, int after)
{
    const unsigned at_or_after = valid >> lane;
    const int near = __shfl_sync(ALL, value, at_or_after ? lane + __ffs((int)at_or_after) - 1 : lane);
    return at_or_after ? near : after;
}

/* VALUE of the nearest lane at or before this one that is valid, or BEFORE. */
static __device__ __forceinline__ int last_valid(int value, unsigned valid, int lane, int before)
{
    const unsigned at_or_before = valid & (ALL >> (WARP - 1 - lane));
    const int near = __shfl_sync(ALL, value, at_or_before ? WARP - 1 - __clz((int)at_or_before) : lane);
    return at_or_before ? near : before;
}

/* Grid: a warp a row, which it crosses twice: backwards for the next valid value of each pixel, left in DST, then forwards for
 * the last one. Reads 6 bytes a pixel, writes 5. Invalid is larger than any value. */
static __global__ void __launch_bounds__(WARP *WARPS)
    fill_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst, plx_view<uint8_t> filled)
{
    const int lane = threadIdx.x, y = blockIdx.x * WARPS + threadIdx.y, width = src.width;
    if (y >= src.height)
        return;
    const uint16_t *from = src.row(y);
    uint16_t *to = dst.row(y);
    uint8_t *mark = filled.row(y);

    int after = PLX_DISPARITY_INVALID;
    for (int x0 = (width - 1) / WARP * WARP; x0 >= 0; x0 -= WARP) {
        const int x = x0 + lane, value = x < width ? from[x] : PLX_DISPARITY_INVALID;
        const int next = next_valid(value, __ballot_sync(ALL, value != PLX_DISPARITY_INVALID), lane, after);
        if (x < width)
            to[x] = (uint16_t)next;
        after = __shfl_sync(ALL, next, 0);
    }
    int before = PLX_DISPARITY_INVALID;
    for (int x0 = 0; x0 < width; x0 += WARP) {
        const int x = x0 + lane, value = x < width ? from[x] : PLX_DISPARITY_INVALID;
        const int last = last_valid(value, __ballot_sync(ALL, value != PLX_DISPARITY_INVALID), lane, before);
        if (x < width) {
            const int result = min((int)to[x], last); /* both are the value itself where it is valid */
            to[x] = (uint16_t)result;
            mark[x] = value != result;
        }
        before = __shfl_sync(ALL, last, WARP - 1);
    }
}

int plx_gpu_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                 const struct plx_image *ret_filled)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_image_ok(ret_filled, PLX_U8) ||
        !plx_same_size(src, dst) || !plx_same_size(src, ret_filled))
        return PLX_ERR_ARG;

    fill_kernel<<<plx_blocks(src->height, WARPS), dim3(WARP, WARPS), 0, gpu->stream>>>(
        plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst), plx_view_of<uint8_t>(ret_filled));
    return PLX_LAUNCHED(gpu, fill_kernel);
}
