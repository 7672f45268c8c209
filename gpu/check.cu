/* SPDX-License-Identifier: Apache-2.0 */
/* Stage check: left-right consistency. */
#include "gpu/device.cuh"

#define BLOCK_X 128

struct check_args {
    plx_view<const uint16_t> left, right;
    plx_view<const uint8_t> grey;
    plx_view<uint16_t> disparity;
    int rounding, allowed;
    bool frame;
};

/* Grid: a thread a pixel, a block 128 pixels of a row. Reads 5 bytes a pixel, writes 2. With an invalid outermost frame the
 * right view's frame counts as disparity 0, as in libSGM. */
static __global__ void __launch_bounds__(BLOCK_X) check_kernel(check_args a)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y, width = a.left.width;

    if (x >= width)
        return;
    const int value = a.left.row(y)[x], d = (value + a.rounding) / PLX_DISPARITY_ONE, partner = x - d;
    bool keep = value != PLX_DISPARITY_INVALID && a.grey.row(y)[x] != 0;
    if (keep && a.allowed >= 0 && partner >= 0)
        keep = abs((partner == 0 && a.frame ? 0 : a.right.row(y)[partner]) - d) <= a.allowed;
    if (a.frame && (x == 0 || x == width - 1 || y == 0 || y == a.left.height - 1))
        keep = false;
    a.disparity.row(y)[x] = (uint16_t)(keep ? value : PLX_DISPARITY_INVALID);
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

    const struct check_args args = {plx_view_of<const uint16_t>(left),
                                    plx_view_of<const uint16_t>(right),
                                    plx_view_of<const uint8_t>(left_grey),
                                    plx_view_of<uint16_t>(ret_disparity),
                                    match->lr_round ? PLX_DISPARITY_ONE / 2 : 0,
                                    match->lr_max_diff,
                                    match->invalid_frame};
    check_kernel<<<dim3(plx_blocks(left->width, BLOCK_X), (unsigned)left->height), BLOCK_X, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, check_kernel);
}
