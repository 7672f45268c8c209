/* SPDX-License-Identifier: Apache-2.0 */
/* Stage mask: what is in range and stands above the ground. */
#include "gpu/device/device.cuh"
#include "gpu/internal.h"

#include "core/ground.h"

#define BLOCK_X 32
#define BLOCK_Y 8

/* Grid: a thread a pixel. Reads 2 bytes a pixel, writes 1. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    mask_kernel(plx_view<const uint16_t> disparity, const struct plx_ground *ground, struct plx_mask_params params,
                plx_view<uint8_t> mask)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;

    if (x < mask.width && y < mask.height)
        mask.row(y)[x] = plx_is_obstacle(ground, &params, x, y, disparity.row(y)[x]) ? 255 : 0;
}

int plx_gpu_mask(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                 const struct plx_mask_params *params, const struct plx_image *ret_mask)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(disparity->width, disparity->height, block);

    if (!plx_image_ok(disparity, PLX_U16) || !plx_image_ok(ret_mask, PLX_U8) || !plx_same_size(disparity, ret_mask))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, disparity))
        return PLX_ERR_RANGE;
    mask_kernel<<<grid, block, 0, gpu->stream>>>(plx_view_of<const uint16_t>(disparity), ground, *params,
                                                 plx_view_of<uint8_t>(ret_mask));
    return PLX_LAUNCHED(gpu, mask_kernel);
}
