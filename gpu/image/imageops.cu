/* SPDX-License-Identifier: Apache-2.0 */
/* Image operations pixel by pixel: two images into one, inversion, threshold, and the sum. */
#include "gpu/device/device.cuh"
#include "gpu/device/reduce.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
#define EACH 16     /* neighbouring pixels of a thread */
#define SUM_ROWS 16 /* rows of a block of the sum */

/* What a kernel does to a pixel; the binary operations keep the numbers of plx_binary_op. */
enum pixel_op { INVERT = PLX_OP_XOR + 1, THRESHOLD };

struct pixel_args {
    plx_view<const uint8_t> a, b; /* b is a again where there is one image */
    plx_view<uint8_t> dst;
    int number;
    bool aligned;
};

template <int OP> static __device__ __forceinline__ int apply(int p, int q, int number)
{
    switch (OP) {
    case PLX_OP_ABSDIFF:
        return abs(p - q);
    case PLX_OP_ADD:
        return min(p + q, 255);
    case PLX_OP_SUB:
        return max(p - q, 0);
    case PLX_OP_MIN:
        return min(p, q);
    case PLX_OP_MAX:
        return max(p, q);
    case PLX_OP_AND:
        return p & q;
    case PLX_OP_OR:
        return p | q;
    case PLX_OP_XOR:
        return p ^ q;
    case INVERT:
        return 255 - p;
    default:
        return p > number ? 255 : 0;
    }
}

/* Grid: a thread 16 pixels of a row. Reads 1 byte a pixel and image, writes 1, 16 at a time. */
template <int OP> static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) pixel_kernel(pixel_args a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int count = a.a.width - x;

    if (count <= 0 || y >= a.a.height)
        return;
    plx_vector<uint8_t, EACH> value = plx_load<EACH>(a.a.row(y) + x, count, a.aligned), other = value;
    if (OP <= PLX_OP_XOR)
        other = plx_load<EACH>(a.b.row(y) + x, count, a.aligned);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        value.at[i] = (uint8_t)apply<OP>(value.at[i], other.at[i], a.number);
    plx_store(value, a.dst.row(y) + x, count, a.aligned);
}

static int run(struct plx_stages *self, int op, const struct plx_image *a, const struct plx_image *b, int number,
               const struct plx_image *dst)
{
    static void (*const kernel[])(struct pixel_args) = {
        pixel_kernel<PLX_OP_ABSDIFF>, pixel_kernel<PLX_OP_ADD>, pixel_kernel<PLX_OP_SUB>, pixel_kernel<PLX_OP_MIN>,
        pixel_kernel<PLX_OP_MAX>,     pixel_kernel<PLX_OP_AND>, pixel_kernel<PLX_OP_OR>,  pixel_kernel<PLX_OP_XOR>,
        pixel_kernel<INVERT>,         pixel_kernel<THRESHOLD>}; /* in the order of their numbers */
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(a, PLX_U8) || !plx_image_ok(b, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !plx_same_size(a, b) ||
        !plx_same_size(a, dst))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, a))
        return PLX_ERR_RANGE;

    const struct pixel_args args = {plx_view_of<const uint8_t>(a), plx_view_of<const uint8_t>(b), plx_view_of<uint8_t>(dst),
                                    number,
                                    plx_rows_aligned(a, EACH) && plx_rows_aligned(b, EACH) && plx_rows_aligned(dst, EACH)};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(a->width, a->height, dim3(BLOCK_X * EACH, BLOCK_Y));
    kernel[op]<<<grid, block, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, pixel_kernel);
}

int plx_gpu_binary(struct plx_stages *self, enum plx_binary_op op, const struct plx_image *a, const struct plx_image *b,
                   const struct plx_image *dst)
{
    return (unsigned)op > PLX_OP_XOR ? PLX_ERR_ARG : run(self, op, a, b, 0, dst);
}

int plx_gpu_invert(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst)
{
    return run(self, INVERT, src, src, 0, dst);
}

int plx_gpu_threshold(struct plx_stages *self, const struct plx_image *src, int threshold, const struct plx_image *dst)
{
    return run(self, THRESHOLD, src, src, threshold, dst);
}

/* Grid: a block 512 x 16 pixels, a thread 16 pixels of every eighth row. Reads 1 byte a pixel, 16 at a time. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    sum_kernel(plx_view<const uint8_t> src, bool aligned, struct plx_gpu_accumulators *totals, uint64_t *ret_sum)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y0 = blockIdx.y * SUM_ROWS + threadIdx.y;
    uint32_t sum = 0;

    for (int y = y0; y < min(y0 + SUM_ROWS, src.height) && x < src.width; y += BLOCK_Y) {
        const plx_vector<uint8_t, EACH> value = plx_load<EACH>(src.row(y) + x, src.width - x, aligned);
#pragma unroll
        for (int i = 0; i < EACH; i++)
            sum += value.at[i];
    }
    plx_grid_sum(sum, totals, ret_sum);
}

int plx_gpu_sum(struct plx_stages *self, const struct plx_image *src, uint64_t *ret_sum)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U8) || !ret_sum)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src))
        return PLX_ERR_RANGE;

    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(src->width, src->height, dim3(BLOCK_X * EACH, SUM_ROWS));
    sum_kernel<<<grid, block, 0, gpu->stream>>>(plx_view_of<const uint8_t>(src), plx_rows_aligned(src, EACH), gpu->totals,
                                                ret_sum);
    return PLX_LAUNCHED(gpu, sum_kernel);
}
