/* SPDX-License-Identifier: Apache-2.0 */
/* Affine resampling: the Q16 source position, rounded half up to 1/32 px, then bilinear. */
#include "gpu/image/bilinear.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8

struct affine_args {
    plx_view<const uint8_t> src;
    plx_view<uint8_t> dst;
    int32_t m[6];
};

/* Grid: a thread a pixel. Writes 1 byte a pixel; what it reads is up to the matrix. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) affine_kernel(affine_args a)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;

    if (x >= a.dst.width || y >= a.dst.height)
        return;
    const int64_t u = ((int64_t)a.m[0] * x + (int64_t)a.m[1] * y + a.m[2] + (1 << 10)) >> 11;
    const int64_t v = ((int64_t)a.m[3] * x + (int64_t)a.m[4] * y + a.m[5] + (1 << 10)) >> 11;
    const int64_t limit = (int64_t)INT16_MAX * PLX_REMAP_ONE; /* beyond it lies no image */
    unsigned value = 0;
    if (u >= -limit && u <= limit && v >= -limit && v <= limit)
        value = plx_sample(a.src, (int)(u >> 5), (int)(v >> 5), (unsigned)u % PLX_REMAP_ONE, (unsigned)v % PLX_REMAP_ONE);
    a.dst.row(y)[x] = (uint8_t)value;
}

int plx_gpu_affine(struct plx_stages *self, const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !matrix)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src) || !plx_gpu_holds(gpu, dst))
        return PLX_ERR_RANGE;

    const struct affine_args args = {plx_view_of<const uint8_t>(src),
                                     plx_view_of<uint8_t>(dst),
                                     {matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5]}};
    const dim3 block(BLOCK_X, BLOCK_Y);
    affine_kernel<<<plx_grid(dst->width, dst->height, block), block, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, affine_kernel);
}
