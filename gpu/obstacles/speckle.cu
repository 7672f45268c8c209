/* SPDX-License-Identifier: Apache-2.0 */
/* Stage speckle: small patches of disparity that stand apart from what surrounds them are invalid. */
#include "gpu/device/launch.cuh"
#include "gpu/obstacles/components.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8

struct speckle_args {
    plx_view<const uint16_t> src;
    plx_view<uint16_t> dst;
    const uint32_t *parent;
    const struct plx_component *component;
    int64_t max_size;
};

/* Grid: a thread a pixel. Reads 6 bytes a pixel and its roots from cache, writes 2. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) remove_kernel(speckle_args a)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;

    const bool inside = x < a.src.width && y < a.src.height;
    const uint16_t disparity = inside ? a.src.row(y)[x] : (uint16_t)PLX_DISPARITY_INVALID;
    plx_grid_wait_and_trigger();
    if (!inside)
        return;
    const uint32_t i = (uint32_t)y * a.src.width + x;
    const bool keep = a.parent[i] == PLX_NO_COMPONENT || a.component[plx_root(a.parent, i)].area >= a.max_size;
    a.dst.row(y)[x] = keep ? disparity : (uint16_t)PLX_DISPARITY_INVALID;
}

int plx_gpu_speckle(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                    const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(src->width, src->height, block);

    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_same_size(src, dst) || speckle->max_step < 0)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src))
        return PLX_ERR_RANGE;

    const int result = plx_gpu_components_find(gpu, NULL, src, speckle->max_step, 0, false);
    if (result < 0)
        return result;
    const struct speckle_args args = {plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst), gpu->components->parent,
                                      gpu->components->component, speckle->max_size};
    return PLX_LAUNCH_DEPENDENT(gpu, remove_kernel, grid, block, args);
}
