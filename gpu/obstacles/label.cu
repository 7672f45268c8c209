/* SPDX-License-Identifier: Apache-2.0 */
/* Stage label: each pixel of a component that is large enough gets its number. */
#include "gpu/device/follow.cuh"
#include "gpu/obstacles/components.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
#define ROWS 4 /* of a thread, BLOCK_Y apart */

/* Grid: a block 32 x 32 pixels, a thread 4 of them. Reads 4 bytes a pixel and its roots from cache, writes 4. The count, maybe
 * in the other processor's memory, is no other kernel's of the stage: it is written ahead. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    number_kernel(struct plx_gpu_components from, plx_view<uint32_t> labels, uint32_t *ret_count)
{
    const uint32_t *parent = from.parent;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = blockIdx.y * BLOCK_Y * ROWS + threadIdx.y;
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0;
    uint32_t at[ROWS]; /* by one step for all pixels at a time, whose reads then overlap */

#pragma unroll
    for (int k = 0; k < ROWS; k++) { /* the last use of most */
        const bool inside = x < labels.width && top + k * BLOCK_Y < labels.height;
        at[k] = inside ? __ldcs(&parent[(uint32_t)(top + k * BLOCK_Y) * labels.width + x]) : PLX_NO_COMPONENT;
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        at[k] = at[k] != PLX_NO_COMPONENT ? parent[at[k]] : PLX_NO_COMPONENT;
    if (first)
        *ret_count = *from.listed;
    plx_follow();
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        at[k] = at[k] != PLX_NO_COMPONENT ? from.at[at[k]].number : 0;
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (x < labels.width && top + k * BLOCK_Y < labels.height)
            labels.row(top + k * BLOCK_Y)[x] = at[k];
}

int plx_gpu_label(struct plx_stages *self, const struct plx_image *mask, const struct plx_image *disparity,
                  const struct plx_label_params *params, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(mask->width, mask->height, dim3(BLOCK_X, BLOCK_Y * ROWS));

    if (!plx_image_ok(mask, PLX_U8) || !plx_image_ok(disparity, PLX_U16) || !plx_image_ok(ret_labels, PLX_U32) ||
        !plx_same_size(mask, disparity) || !plx_same_size(mask, ret_labels) || params->max_step < 0)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, mask))
        return PLX_ERR_RANGE;

    int result = plx_gpu_components_find(gpu, mask, disparity, params->max_step,
                                         params->min_area > 1 ? (uint32_t)params->min_area : 1, true);
    if (result < 0)
        return result;
    result = plx_gpu_components_order(gpu, mask->width * mask->height);
    if (result < 0)
        return result;
    return PLX_LAUNCH_NEXT(gpu, number_kernel, grid, block, *gpu->components, plx_view_of<uint32_t>(ret_labels), ret_count);
}
