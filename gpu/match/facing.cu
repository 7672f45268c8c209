/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces that face the camera: pixels take a step of their disparity towards what the pictures say. */
#include "core/pipeline/facing.h"
#include "gpu/device/device.cuh"
#include "gpu/device/launch.cuh"

#define WARP 32
#define WARPS 4 /* of a block, one below the other */
#define REACH PLX_FACING_REACH
#define ROUNDS 2                                       /* of as many rows as the window has, which a warp reads */
#define OUT_X (WARP - 2 * REACH)                       /* columns that a warp writes */
#define OUT_Y (ROUNDS * PLX_FACING_WINDOW - 2 * REACH) /* rows */

struct facing_args {
    plx_view<const uint16_t> src;
    plx_view<const uint8_t> left, right;
    plx_view<uint16_t> dst;
    int min_disparity;
};

/* What the pixel in column X of row Y adds; zeros outside the image. */
static __device__ __forceinline__ struct plx_facing facing_of(const facing_args &a, int x, int y)
{
    const int width = a.src.width;
    struct plx_facing none = {0, 0, 0, 0};

    if (x < 0 || x >= width || y < 0 || y >= a.src.height)
        return none;
    const int v = a.src.row(y)[x], partner = plx_facing_partner(width, x, v, a.min_disparity);
    if (partner < 0)
        return none;
    const uint8_t *left = a.left.row(y) + x, *right = a.right.row(y) + partner;
    return plx_facing_of(partner, left[0] - right[0], left[1] - left[-1] + right[1] - right[-1], plx_facing_part(v));
}

static __device__ __forceinline__ void add(struct plx_facing &sum, const struct plx_facing &one, int sign)
{
    sum.move += sign * one.move;
    sum.slope2 += sign * one.slope2;
    sum.slope += sign * one.slope;
    sum.pairs += sign * one.pairs;
}

/* The sum over seven lanes, of which this is the first. */
static __device__ __forceinline__ int window(int sum)
{
    const int two = sum + __shfl_down_sync(PLX_ALL_LANES, sum, 1), four = two + __shfl_down_sync(PLX_ALL_LANES, two, 2);
    return four + __shfl_down_sync(PLX_ALL_LANES, two, 4) + __shfl_down_sync(PLX_ALL_LANES, sum, 6);
}

/* Whether the pixel in column X of row Y, with the disparity V, lies on a surface that faces the camera. */
static __device__ __forceinline__ bool faces(const plx_view<const uint16_t> &src, int x, int y, int v)
{
    int same = 0, differs = 0;

#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
        const uint16_t *row = src.row(plx_clamp(y + dy * PLX_FACING_FAR, 0, src.height - 1));
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0)
                continue;
            const int e = abs(row[plx_clamp(x + dx * PLX_FACING_FAR, 0, src.width - 1)] - v); /* invalid: more than all */
            same += e <= PLX_FACING_SAME;
            differs += e > PLX_FACING_SAME && e <= PLX_FACING_OTHER;
        }
    }
    return v != PLX_DISPARITY_INVALID && differs == 0 && same >= PLX_FACING_LEAST;
}

/* Copies the pixels of a lane, in column X from row Y0 on. Returns those that face, a bit for each row. */
static __device__ __forceinline__ unsigned copy_column(const facing_args &a, int x, int y0)
{
    unsigned facing = 0;

#pragma unroll
    for (int i = 0; i < OUT_Y; i++) {
        const int y = y0 + i;
        if (y >= a.src.height)
            break;
        const uint16_t v = a.src.row(y)[x];
        facing |= (unsigned)faces(a.src, x, y, v) << i;
        a.dst.row(y)[x] = v;
    }
    return facing;
}

/* Steps of the warp's row Y, in lanes that FACE. SUM is that of the window's rows in the column that the lane adds, X the
 * middle of the window. */
static __device__ __forceinline__ void step_row(const facing_args &a, const struct plx_facing &sum, int x, int y, bool face)
{
    const struct plx_facing all = {window(sum.move), window(sum.slope2), window(sum.slope), window(sum.pairs)};

    if (!face)
        return;
    const int v = a.src.row(y)[x];
    a.dst.row(y)[x] = (uint16_t)max(v + plx_facing_step(all, v), 0);
}

/* Grid: a warp 26 x 8 pixels, a block four of them below each other. Where a pixel faces, lanes go down their columns and keep
 * the sums of the window's rows; what the oldest row added waits in registers. Reads 2 bytes a pixel, 16 of disparities from
 * the first-level cache, and where pixels face 8.6 more with the halo; writes 2. */
static __global__ void __launch_bounds__(WARP *WARPS) facing_kernel(const __grid_constant__ facing_args a)
{
    const int column = blockIdx.x * OUT_X + threadIdx.x - REACH, x = column + REACH; /* that the lane adds, and writes */
    const int y0 = (blockIdx.y * WARPS + threadIdx.y) * OUT_Y;
    struct plx_facing row[PLX_FACING_WINDOW] = {}, sum = {0, 0, 0, 0};

    plx_grid_wait_and_trigger();
    const unsigned facing = threadIdx.x < OUT_X && x < a.src.width ? copy_column(a, x, y0) : 0;
    if (!__any_sync(PLX_ALL_LANES, facing != 0))
        return;
    for (int round = 0; round < ROUNDS; round++)
#pragma unroll
        for (int i = 0; i < PLX_FACING_WINDOW; i++) {
            const int below = y0 - REACH + round * PLX_FACING_WINDOW + i, y = below - REACH;
            add(sum, row[i], -1);
            row[i] = facing_of(a, column, below);
            add(sum, row[i], 1);
            const bool face = y >= y0 && facing >> (y - y0) & 1;
            if (__any_sync(PLX_ALL_LANES, face))
                step_row(a, sum, x, y, face);
        }
}

int plx_gpu_facing(struct plx_stages *self, const struct plx_image *src, const struct plx_image *left,
                   const struct plx_image *right, const struct plx_match *match, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_images_ok(PLX_U16, src, dst) || !plx_images_ok(PLX_U8, left, right) || !plx_same_sizes(src, left, right, dst))
        return PLX_ERR_ARG;

    const struct facing_args args = {plx_view_of<const uint16_t>(src), plx_view_of<const uint8_t>(left),
                                     plx_view_of<const uint8_t>(right), plx_view_of<uint16_t>(dst), match->min_disparity};
    return PLX_LAUNCH_DEPENDENT(gpu, facing_kernel, plx_grid(src->width, src->height, dim3(OUT_X, WARPS * OUT_Y)),
                                dim3(WARP, WARPS), args);
}
