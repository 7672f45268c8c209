/* SPDX-License-Identifier: Apache-2.0 */
/* Stage fill: what is invalid takes the value of the farther of the two surfaces beside it in the row. */
#include "gpu/device/device.cuh"
#include "gpu/internal.h"

#define WARP 32
#define WARPS 4 /* of a block, a row each */
#define EACH 4  /* pixels of a thread, side by side */
#define PIECE (WARP * EACH)

/* The pixels of a thread in a piece of a row; what lies beyond the row is invalid. */
struct pixels {
    plx_vector<uint16_t, EACH> at;

    __device__ __forceinline__ pixels(const uint16_t *row, int x, int width, bool aligned)
        : at(plx_load<EACH>(row + x, width - x, aligned))
    {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (x + i >= width)
                at.at[i] = PLX_DISPARITY_INVALID;
    }

    /* The valid one that is first in the order given by FROM, 0 or EACH - 1, or what is invalid. */
    __device__ __forceinline__ uint16_t first(int from) const
    {
        uint16_t value = PLX_DISPARITY_INVALID;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            value = value == PLX_DISPARITY_INVALID ? at.at[abs(from - i)] : value;
        return value;
    }
};

/*
 * Grid: a warp a row, which it crosses twice, 128 pixels at a time: backwards for the next valid value of each pixel, left in
 * DST, then forwards for the last one. Reads 6 bytes a pixel, most from L1, and writes 5. Invalid is larger than any value.
 */
static __global__ void __launch_bounds__(WARP *WARPS) fill_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst,
                                                                  plx_view<uint8_t> filled, bool aligned, bool filled_aligned)
{
    const int y = blockIdx.x * WARPS + threadIdx.y, width = src.width, lane = threadIdx.x;
    if (y >= src.height)
        return;
    const uint16_t *from = src.row(y);
    uint16_t *to = dst.row(y);

    unsigned carry = PLX_DISPARITY_INVALID; /* the first valid value behind the piece */
    PLX_UNROLL(2)
    for (int x0 = (width - 1) / PIECE * PIECE; x0 >= 0; x0 -= PIECE) {
        const int x = x0 + lane * EACH;
        pixels piece(from, min(x, width), width, aligned);
        const unsigned own = piece.first(0), valid = __ballot_sync(PLX_ALL_LANES, own != PLX_DISPARITY_INVALID);
        const unsigned later = valid & ~(PLX_ALL_LANES >> (WARP - 1 - lane)); /* lanes behind this one */
        const unsigned found = __shfl_sync(PLX_ALL_LANES, own, __ffs((int)later) - 1);
        unsigned next = later ? found : carry;
#pragma unroll
        for (int i = EACH - 1; i >= 0; i--)
            piece.at.at[i] = (uint16_t)(next = piece.at.at[i] == PLX_DISPARITY_INVALID ? next : piece.at.at[i]);
        plx_store(piece.at, to + x, width - x, aligned);
        const unsigned ahead = __shfl_sync(PLX_ALL_LANES, own, __ffs((int)valid) - 1);
        carry = valid ? ahead : carry;
    }
    carry = PLX_DISPARITY_INVALID;
    PLX_UNROLL(2)
    for (int x0 = 0; x0 < width; x0 += PIECE) {
        const int x = x0 + lane * EACH;
        const pixels piece(from, min(x, width), width, aligned);
        plx_vector<uint16_t, EACH> result = plx_load<EACH>((const uint16_t *)to + min(x, width), width - x, aligned);
        plx_vector<uint8_t, EACH> is_filled;
        const unsigned own = piece.first(EACH - 1), valid = __ballot_sync(PLX_ALL_LANES, own != PLX_DISPARITY_INVALID);
        const unsigned earlier = valid & ((1u << lane) - 1);
        const unsigned found = __shfl_sync(PLX_ALL_LANES, own, WARP - 1 - __clz((int)earlier));
        unsigned last = earlier ? found : carry;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            last = piece.at.at[i] == PLX_DISPARITY_INVALID ? last : piece.at.at[i];
            result.at[i] = (uint16_t)min((unsigned)result.at[i], last); /* both itself where it is valid */
            is_filled.at[i] = piece.at.at[i] != result.at[i];
        }
        plx_store(result, to + x, width - x, aligned);
        plx_store(is_filled, filled.row(y) + x, width - x, filled_aligned);
        const unsigned behind = __shfl_sync(PLX_ALL_LANES, own, WARP - 1 - __clz((int)valid));
        carry = valid ? behind : carry;
    }
}

int plx_gpu_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                 const struct plx_image *ret_filled)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_image_ok(ret_filled, PLX_U8) ||
        !plx_same_size(src, dst) || !plx_same_size(src, ret_filled))
        return PLX_ERR_ARG;

    const size_t bytes = EACH * sizeof(uint16_t);
    fill_kernel<<<plx_div_ceil(src->height, WARPS), dim3(WARP, WARPS), 0, gpu->stream>>>(
        plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst), plx_view_of<uint8_t>(ret_filled),
        plx_rows_aligned(src, bytes) && plx_rows_aligned(dst, bytes), plx_rows_aligned(ret_filled, EACH));
    return PLX_LAUNCHED(gpu, fill_kernel);
}
