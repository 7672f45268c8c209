/* SPDX-License-Identifier: Apache-2.0 */
/* Refinement of disparities: the left-right check, the fill of what is invalid, and the confidence. */
#include <string.h>

#include <cuda_fp16.h>

#include "gpu/device/access.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/packed.cuh"

#define WARP 32 /* threads of a block side by side */
#define EACH 4  /* pixels of a thread, side by side */

/* --- left-right check ------------------------------------------------------------------------------------------------ */

#define CHECK_Y 4 /* rows of a block */

struct check_args {
    plx_view<const uint16_t> left, right;
    plx_view<const uint8_t> grey;
    plx_view<uint16_t> disparity;
    int rounding, allowed;
    bool frame, aligned, grey_aligned;
};

/* VALUE at column X of a row, or invalid. With an invalid outermost FRAME the right view's frame counts as disparity 0, as in
 * libSGM. */
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
static __global__ void __launch_bounds__(WARP *CHECK_Y) check_kernel(const __grid_constant__ check_args a)
{
    const int x = (blockIdx.x * WARP + threadIdx.x) * EACH, y = blockIdx.y * CHECK_Y + threadIdx.y;
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

int plx_gpu_check(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                  const struct plx_image *left_grey, const struct plx_match *match, const struct plx_image *ret_disparity)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_images_ok(PLX_U16, left, right, ret_disparity) || !plx_image_ok(left_grey, PLX_U8) ||
        !plx_same_sizes(left, right, left_grey, ret_disparity))
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
    const dim3 grid = plx_grid(left->width, left->height, dim3(WARP * EACH, CHECK_Y));
    int result = plx_gpu_use_side(gpu, false);
    if (result == 0)
        result = PLX_LAUNCH_DEPENDENT(gpu, check_kernel, grid, dim3(WARP, CHECK_Y), args);
    return plx_gpu_use_main(gpu, result);
}

/* --- fill: an invalid pixel takes the value of the farther of the two surfaces beside it in the row --------------------- */

#define WARPS 4 /* warps of a block, a row each */
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

    /* The first valid one in the order given by FROM, 0 or EACH - 1, or invalid. */
    __device__ __forceinline__ uint16_t first(int from) const
    {
        uint16_t value = PLX_DISPARITY_INVALID;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            value = value == PLX_DISPARITY_INVALID ? at.at[abs(from - i)] : value;
        return value;
    }
};

/* Grid: a warp a row, which it crosses twice, 128 pixels at a time: backwards for the next valid value of each pixel, left in
 * DST, then forwards for the last one. Reads 6 bytes a pixel, most from L1, and writes 5. Invalid is larger than any value. */
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
        const unsigned later = valid & ~(PLX_ALL_LANES >> (WARP - 1 - lane)); /* threads behind this one */
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
    if (!plx_images_ok(PLX_U16, src, dst) || !plx_image_ok(ret_filled, PLX_U8) || !plx_same_sizes(src, dst, ret_filled))
        return PLX_ERR_ARG;

    const size_t bytes = EACH * sizeof(uint16_t);
    int result = plx_gpu_use_side(gpu, false);
    if (result == 0)
        result = PLX_LAUNCH(gpu, fill_kernel, plx_div_ceil(src->height, WARPS), dim3(WARP, WARPS),
                            plx_view_of<const uint16_t>(src), plx_view_of<uint16_t>(dst), plx_view_of<uint8_t>(ret_filled),
                            plx_rows_aligned(src, bytes) && plx_rows_aligned(dst, bytes), plx_rows_aligned(ret_filled, EACH));
    return plx_gpu_use_main(gpu, result);
}

/* --- confidence: how many neighbours have a similar candidate, how sharp the minimum is, and the left-right check ------- */

#define CONFIDENCE_Y 8                         /* rows of a block */
#define REACH 4                                /* pixels, in all directions; every second one is a sample */
#define TILE_X ((WARP * EACH + 2 * REACH) / 2) /* pairs */
#define TILE_Y (CONFIDENCE_Y + 2 * REACH)
#define NUMBER 0x6400u /* 1024: a disparity added to its bits is added to the number */

struct confidence_args {
    plx_view<const uint16_t> raw, s1, s2, checked, disparity;
    plx_view<const uint8_t> grey;
    plx_view<uint8_t> confidence;
    float s1_scale; /* so that four paths count as eight */
    bool raw_aligned, aligned, bytes_aligned;
    uint8_t probability[PLX_CONFIDENCES]; /* by score */
};

/* A / B rounded down, for 0 <= A < 2^21, B > 0: with a half added, A / B stays so far from integers that the errors of the
 * reciprocal and of the product do not matter. */
static __device__ __forceinline__ int quotient(float a, float b)
{
    const float inverse = plx_reciprocal(b);
    return (int)((a + 0.5f) * inverse);
}

/* How many of the 25 samples are at most 1 away from each of four pixels, as two pairs of numbers of 16 bits in floating point,
 * which are exact: 2 - |difference|, cut off below 0 and above 1, is 1 or 0. */
static __device__ __forceinline__ void count(const uint32_t (*tile)[TILE_X], __half2 ret_agree[2])
{
    const __half2 two = __float2half2_rn(2.0f);
    const __half2 *here = (const __half2 *)tile[REACH] + REACH / 2;
    const __half2 d[2] = {here[0], here[1]};

    ret_agree[0] = ret_agree[1] = __float2half2_rn(1024.0f);
#pragma unroll
    for (int dy = 0; dy <= 2 * REACH; dy += 2) {
        __half2 row[REACH + 2];
#pragma unroll
        for (int i = 0; i < REACH + 2; i += 2) {
            const uint2 four = *(const uint2 *)(tile[dy] + i);
            row[i] = plx_as_half2(four.x), row[i + 1] = plx_as_half2(four.y);
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int k = 0; k <= REACH; k++)
                ret_agree[i] = __hadd2(ret_agree[i], __hadd2_sat(__hneg2(__habs2(__hsub2(row[i + k], d[i]))), two));
    }
}

/* Grid: a thread four pixels of a row, a block 128 x 8. Reads 11 bytes a pixel (13 with the halo) and writes 1. */
static __global__ void __launch_bounds__(WARP *CONFIDENCE_Y) confidence_kernel(const __grid_constant__ confidence_args a)
{
    __shared__ __align__(8) uint32_t tile[TILE_Y][TILE_X];
    __shared__ uint8_t probability[PLX_CONFIDENCES]; /* lanes look up different scores */
    const int width = a.raw.width, thread = threadIdx.y * WARP + threadIdx.x;
    const int x0 = blockIdx.x * WARP * EACH, y0 = blockIdx.y * CONFIDENCE_Y, x = x0 + threadIdx.x * EACH, y = y0 + threadIdx.y;
    __half2 agree[EACH / 2];

    for (int i = thread; i < TILE_X / 2 * TILE_Y; i += WARP * CONFIDENCE_Y) {
        const int column = i % (TILE_X / 2), row = i / (TILE_X / 2);
        const uint2 four = plx_load_4_pixels(a.raw, x0 - REACH + column * EACH, y0 - REACH + row, a.raw_aligned);
        *(uint2 *)&tile[row][2 * column] = make_uint2(four.x + plx_broadcast2(NUMBER), four.y + plx_broadcast2(NUMBER));
    }
    for (int i = thread; i < PLX_CONFIDENCES; i += WARP * CONFIDENCE_Y)
        probability[i] = a.probability[i];
    __syncthreads();
    if (x >= width || y >= a.raw.height)
        return;
    const plx_vector<uint16_t, EACH> s1 = plx_load<EACH>(a.s1.row(y) + x, width - x, a.aligned);
    const plx_vector<uint16_t, EACH> s2 = plx_load<EACH>(a.s2.row(y) + x, width - x, a.aligned);
    const plx_vector<uint16_t, EACH> checked = plx_load<EACH>(a.checked.row(y) + x, width - x, a.aligned);
    const plx_vector<uint16_t, EACH> disparity = plx_load<EACH>(a.disparity.row(y) + x, width - x, a.aligned);
    const plx_vector<uint8_t, EACH> grey = plx_load<EACH>(a.grey.row(y) + x, width - x, a.bytes_aligned);
    plx_vector<uint8_t, EACH> confidence;

    count((const uint32_t(*)[TILE_X])(tile[threadIdx.y] + threadIdx.x * (EACH / 2)), agree);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int agreeing = ((const uint16_t *)agree)[i] - (int)NUMBER, holds = checked.at[i] != PLX_DISPARITY_INVALID;
        const float least = s1.at[i], second = s2.at[i];
        /* a quarter of the peak, 64 (second - least) / second rounded down, by the complement rounded up */
        const int peak = s2.at[i] > 0 ? 64 - quotient(64 * least + second - 1, second) : 0;
        const int sum = 4 * agreeing + peak + 16 * holds;
        const int score = min(quotient((float)(256 * sum), least * a.s1_scale + 128), 255);
        const bool known = disparity.at[i] != PLX_DISPARITY_INVALID && grey.at[i] != 0 && s2.at[i] > s1.at[i];
        confidence.at[i] = known ? probability[score] : 0;
    }
    plx_store(confidence, a.confidence.row(y) + x, width - x, a.bytes_aligned);
}

int plx_gpu_confidence(struct plx_stages *self, const struct plx_candidates *candidates, const struct plx_image *checked,
                       const struct plx_image *disparity, const struct plx_image *left_grey, const struct plx_match *match,
                       const struct plx_image *ret_confidence)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_images_ok(PLX_U16, &candidates->raw, &candidates->s1, &candidates->s2, checked, disparity) ||
        !plx_images_ok(PLX_U8, left_grey, ret_confidence) ||
        !plx_same_sizes(checked, &candidates->raw, &candidates->s1, &candidates->s2, disparity, left_grey, ret_confidence))
        return PLX_ERR_ARG;

    const size_t bytes = EACH * sizeof(uint16_t);
    struct confidence_args args = {plx_view_of<const uint16_t>(&candidates->raw),
                                   plx_view_of<const uint16_t>(&candidates->s1),
                                   plx_view_of<const uint16_t>(&candidates->s2),
                                   plx_view_of<const uint16_t>(checked),
                                   plx_view_of<const uint16_t>(disparity),
                                   plx_view_of<const uint8_t>(left_grey),
                                   plx_view_of<uint8_t>(ret_confidence),
                                   match->paths == 4 ? 2.0f : 1.0f,
                                   plx_rows_aligned(&candidates->raw, bytes),
                                   plx_rows_aligned(&candidates->s1, bytes) && plx_rows_aligned(&candidates->s2, bytes) &&
                                       plx_rows_aligned(checked, bytes) && plx_rows_aligned(disparity, bytes),
                                   plx_rows_aligned(left_grey, EACH) && plx_rows_aligned(ret_confidence, EACH),
                                   {}};
    memcpy(args.probability, plx_confidence_probability(match), sizeof args.probability);
    const dim3 grid = plx_grid(checked->width, checked->height, dim3(WARP * EACH, CONFIDENCE_Y));
    int result = plx_gpu_use_side(gpu, false);
    if (result == 0)
        result = PLX_LAUNCH(gpu, confidence_kernel, grid, dim3(WARP, CONFIDENCE_Y), args);
    return plx_gpu_use_main(gpu, result);
}
