/* SPDX-License-Identifier: Apache-2.0 */
/* Stage confidence: how many winners around agree, how sharp the minimum is, and the left-right check. */
#include "gpu/device.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
#define REACH 4 /* pixels, in all directions; every second one is a sample */

struct confidence_args {
    plx_view<const uint16_t> raw, s1, s2, checked;
    plx_view<uint8_t> confidence;
    int s1_scale; /* so that four paths count as eight */
};

/* Grid: a thread a pixel. Reads 8 bytes a pixel, the samples around from L1, and writes 1. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) confidence_kernel(confidence_args a)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int width = a.raw.width, height = a.raw.height;

    if (x >= width || y >= height)
        return;
    const int d = a.raw.row(y)[x], s1 = a.s1.row(y)[x], s2 = a.s2.row(y)[x];
    int agree = 0;
#pragma unroll
    for (int dy = -REACH; dy <= REACH; dy += 2) {
        const uint16_t *row = a.raw.row(plx_clamp(y + dy, 0, height - 1));
#pragma unroll
        for (int dx = -REACH; dx <= REACH; dx += 2)
            agree += abs(row[plx_clamp(x + dx, 0, width - 1)] - d) <= 1;
    }
    const int peak = s2 > 0 ? (s2 - s1) * 256 / s2 : 0, holds = a.checked.row(y)[x] != PLX_DISPARITY_INVALID;
    const int value = (4 * agree + peak / 4 + 16 * holds) * 256 / (s1 * a.s1_scale + 128);
    a.confidence.row(y)[x] = (uint8_t)min(value, 255);
}

int plx_gpu_confidence(struct plx_stages *self, const struct plx_winners *winners, const struct plx_image *checked,
                       const struct plx_match *match, const struct plx_image *ret_confidence)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(&winners->raw, PLX_U16) || !plx_image_ok(&winners->s1, PLX_U16) || !plx_image_ok(&winners->s2, PLX_U16) ||
        !plx_image_ok(checked, PLX_U16) || !plx_image_ok(ret_confidence, PLX_U8) || !plx_same_size(checked, &winners->raw) ||
        !plx_same_size(checked, &winners->s1) || !plx_same_size(checked, &winners->s2) ||
        !plx_same_size(checked, ret_confidence))
        return PLX_ERR_ARG;

    const struct confidence_args args = {plx_view_of<const uint16_t>(&winners->raw), plx_view_of<const uint16_t>(&winners->s1),
                                         plx_view_of<const uint16_t>(&winners->s2),  plx_view_of<const uint16_t>(checked),
                                         plx_view_of<uint8_t>(ret_confidence),       match->paths == 4 ? 2 : 1};
    const dim3 block(BLOCK_X, BLOCK_Y);
    confidence_kernel<<<plx_grid(checked->width, checked->height, block), block, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, confidence_kernel);
}
