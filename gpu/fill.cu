/* SPDX-License-Identifier: Apache-2.0 */
/* Stage fill: what is invalid takes the value of the farther of the two surfaces beside it in the row. */
#include "gpu/device.cuh"

#define WARP 32
#define WARPS 32
#define THREADS (WARP * WARPS) /* pixels of a row at a time */
#define ALL 0xFFFFFFFFu

/* Which pixels of a piece of a row are valid: a bit each, and a bit for every warp that has one. */
struct valid_bits {
    uint32_t *pixels; /* [WARPS], shared */
    uint32_t own, warps;

    __device__ __forceinline__ valid_bits(uint32_t *shared, bool valid) : pixels(shared)
    {
        own = __ballot_sync(ALL, valid);
        __syncthreads(); /* nobody reads those of the piece before */
        pixels[threadIdx.x / WARP] = own;
        __syncthreads();
        warps = __ballot_sync(ALL, pixels[threadIdx.x % WARP] != 0);
    }

    /* The nearest valid pixel of the piece at or after this thread's, or -1. */
    __device__ __forceinline__ int next(void) const
    {
        const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        const uint32_t here = own >> lane, later = warps & ~(ALL >> (WARP - 1 - warp));
        if (here)
            return threadIdx.x + __ffs((int)here) - 1;
        return later ? (__ffs((int)later) - 1) * WARP + __ffs((int)pixels[__ffs((int)later) - 1]) - 1 : -1;
    }

    /* The nearest at or before. */
    __device__ __forceinline__ int last(void) const
    {
        const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        const uint32_t here = own << (WARP - 1 - lane), earlier = warps & ((1u << warp) - 1);
        if (here)
            return threadIdx.x - __clz((int)here);
        const int before = WARPS - 1 - __clz((int)earlier);
        return earlier ? before * WARP + WARP - 1 - __clz((int)pixels[before]) : -1;
    }
};

/* Grid: a block a row, which it crosses twice: backwards for the next valid value of each pixel, left in DST, then forwards for
 * the last one. Reads 6 bytes a pixel, most from L1, and writes 5. Invalid is larger than any value. */
static __global__ void __launch_bounds__(THREADS)
    fill_kernel(plx_view<const uint16_t> src, plx_view<uint16_t> dst, plx_view<uint8_t> filled)
{
    __shared__ uint32_t bits[WARPS];
    const int y = blockIdx.x, width = src.width;
    const uint16_t *from = src.row(y);
    uint16_t *to = dst.row(y);

    int after = PLX_DISPARITY_INVALID; /* the first valid value behind the piece */
    for (int x0 = (width - 1) / THREADS * THREADS; x0 >= 0; x0 -= THREADS) {
        const int x = x0 + threadIdx.x;
        const valid_bits valid(bits, x < width && from[x] != PLX_DISPARITY_INVALID);
        const int next = valid.next();
        if (x < width)
            to[x] = next >= 0 ? from[x0 + next] : (uint16_t)after;
        if (valid.warps) {
            const int warp = __ffs((int)valid.warps) - 1;
            after = from[x0 + warp * WARP + __ffs((int)bits[warp]) - 1];
        }
    }
    int before = PLX_DISPARITY_INVALID;
    for (int x0 = 0; x0 < width; x0 += THREADS) {
        const int x = x0 + threadIdx.x;
        const valid_bits valid(bits, x < width && from[x] != PLX_DISPARITY_INVALID);
        const int last = valid.last();
        if (x < width) {
            const int result = min((int)to[x], last >= 0 ? (int)from[x0 + last] : before); /* both itself where it is valid */
            to[x] = (uint16_t)result;
            filled.row(y)[x] = from[x] != result;
        }
        if (valid.warps) {
            const int warp = WARPS - 1 - __clz((int)valid.warps);
            before = from[x0 + warp * WARP + WARP - 1 - __clz((int)bits[warp])];
        }
    }
}

int plx_gpu_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                 const struct plx_image *ret_filled)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_image_ok(ret_filled, PLX_U8) ||
        !plx_same_size(src, dst) || !plx_same_size(src, ret_filled))
        return PLX_ERR_ARG;

    fill_kernel<<<(unsigned)src->height, THREADS, 0, gpu->stream>>>(
        plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst), plx_view_of<uint8_t>(ret_filled));
    return PLX_LAUNCHED(gpu, fill_kernel);
}
