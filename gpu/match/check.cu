/* SPDX-License-Identifier: Apache-2.0 */
/* Stage check: left-right consistency. */
#include "gpu/device/device.cuh"
#include "gpu/device/launch.cuh"

#define BLOCK_X 32
#define BLOCK_Y 4
#define EACH 4 /* pixels of a thread in a row */

struct check_args {
    plx_view<const uint16_t> left, right;
    plx_view<const uint8_t> grey;
    plx_view<uint16_t> disparity;
    int rounding, allowed;
    bool frame, aligned, grey_aligned;
};

/* What is left of VALUE at column X of a row, whose right view is RIGHT. With an invalid outermost FRAME the right view's frame
 * counts as disparity 0, as in libSGM. */
static __device__ __forceinline__ uint16_t check(const check_args &a, const uint16_t *right, int x, int value, int grey)
{
    const int d = (value + a.rounding) / PLX_DISPARITY_ONE, partner = x - d;
    bool keep = value != PLX_DISPARITY_INVALID && grey != 0;

    if (keep && a.allowed >= 0 && partner >= 0)
        keep = abs((partner == 0 && a.frame ? 0 : right[partner]) - d) <= a.allowed;
    if (a.frame && (x == 0 || x == a.left.width - 1))
        keep = false;
    return (uint16_t)(keep ? value : PLX_DISPARITY_INVALID);
}

/* Grid: a thread four pixels of a row. Reads 5 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) check_kernel(const __grid_constant__ check_args a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int count = a.left.width - x;

    plx_grid_wait_and_trigger();
    if (count <= 0 || y >= a.left.height)
        return;
    plx_vector<uint16_t, EACH> value = plx_load<EACH>(a.left.row(y) + x, count, a.aligned);
    const plx_vector<uint8_t, EACH> grey = plx_load<EACH>(a.grey.row(y) + x, count, a.grey_aligned);
    const uint16_t *right = a.right.row(y);
    const bool none = a.frame && (y == 0 || y == a.left.height - 1);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        value.at[i] = check(a, right, x + i, value.at[i], none ? 0 : grey.at[i]);
    plx_store(value, a.disparity.row(y) + x, count, a.aligned);
}

int plx_gpu_left_right_check(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                             const struct plx_image *left_grey, const struct plx_match *match,
                             const struct plx_image *ret_disparity)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(left, PLX_U16) || !plx_image_ok(right, PLX_U16) || !plx_image_ok(left_grey, PLX_U8) ||
        !plx_image_ok(ret_disparity, PLX_U16) || !plx_same_size(left, right) || !plx_same_size(left, left_grey) ||
        !plx_same_size(left, ret_disparity))
        return PLX_ERR_ARG;

    const size_t bytes = EACH * sizeof(uint16_t);
    const struct check_args args = {plx_view_of<const uint16_t>(left),
                                    plx_view_of<const uint16_t>(right),
                                    plx_view_of<const uint8_t>(left_grey),
                                    plx_view_of<uint16_t>(ret_disparity),
                                    match->lr_round ? PLX_DISPARITY_ONE / 2 : 0,
                                    match->lr_max_diff,
                                    match->invalid_border,
                                    plx_rows_aligned(left, bytes) && plx_rows_aligned(ret_disparity, bytes),
                                    plx_rows_aligned(left_grey, EACH)};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(left->width, left->height, dim3(BLOCK_X * EACH, BLOCK_Y));
    return PLX_LAUNCH_DEPENDENT(gpu, check_kernel, grid, block, args);
}
