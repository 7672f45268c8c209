/* SPDX-License-Identifier: Apache-2.0 */
/* Image operations: two images into one, inversion, threshold, sum, morphology, and template matching. */
#include "gpu/device/access.cuh"
#include "gpu/device/launch.cuh"
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
    if (!plx_images_ok(PLX_U8, a, b, dst) || !plx_same_sizes(a, b, dst))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, a))
        return PLX_ERR_RANGE;

    const struct pixel_args args = {plx_view_of<const uint8_t>(a), plx_view_of<const uint8_t>(b), plx_view_of<uint8_t>(dst),
                                    number,
                                    plx_rows_aligned(a, EACH) && plx_rows_aligned(b, EACH) && plx_rows_aligned(dst, EACH)};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(a->width, a->height, dim3(BLOCK_X * EACH, BLOCK_Y));
    return PLX_LAUNCH(gpu, kernel[op], grid, block, args);
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
    return PLX_LAUNCH(gpu, sum_kernel, grid, block, plx_view_of<const uint8_t>(src), plx_rows_aligned(src, EACH), gpu->totals,
                      ret_sum);
}

/* --- morphology by a rectangle ----------------------------------------------------------------------------------------- */

/* Rows first, then columns, four pixels a register. An erosion is the complement of the complement's dilation, so that only a
 * maximum is needed. Pixels outside the image are ignored, which is the same as clamping to the edge. One kernel does both
 * passes of an opening or closing: the first also on the halo of the second. */
#define TILE_X 112 /* with the halo of a window up to 17 wide, BLOCK_X words */
#define TILE_Y 16
#define PASSES 2
#define HALO_Y (PASSES * (PLX_MAX_WINDOW - 1))
#define MARGIN 32 /* columns before and after the tile: PASSES * PLX_MAX_WINDOW / 2, in whole pieces */
#define BYTES_X (TILE_X + 2 * MARGIN)
#define PIECES (BYTES_X / PLX_VECTOR_BYTES)

struct morphology_args {
    plx_view<const uint8_t> src;
    plx_view<uint8_t> dst;
    int width, height; /* size of the rectangle */
    int passes;
    uint32_t complement; /* value in the first pass: ~0 to erode, 0 to dilate; the second pass has the other */
    bool src_aligned, dst_aligned;
};

typedef uint32_t word_tile[TILE_Y + HALO_Y][BYTES_X / 4];

/* The output of one pass: the tile, and the halo that the passes after it need. */
struct part {
    int rows, x, end; /* words from x to end - 1 */
};

static __device__ __forceinline__ part part_of(const struct morphology_args &a, int pass)
{
    const int later = a.passes - 1 - pass, side = later * (a.width / 2);
    return {TILE_Y + later * (a.height - 1), (MARGIN - side) / 4, (MARGIN + TILE_X + side + 3) / 4};
}

static __device__ void load_tile(const struct morphology_args &a, int x0, int y0, word_tile &ret_tile)
{
    const int skipped = (MARGIN - a.passes * (a.width / 2)) / PLX_VECTOR_BYTES, pieces = PIECES - 2 * skipped;
    const int rows = TILE_Y + a.passes * (a.height - 1), top = y0 - a.passes * (a.height / 2);

    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < rows * pieces; i += BLOCK_X * BLOCK_Y) {
        const int y = i / pieces, x = (skipped + i % pieces) * PLX_VECTOR_BYTES;
        plx_load_16_pixels(a.src.row(plx_clamp(top + y, 0, a.src.height - 1)), a.src.width, x0 - MARGIN + x, a.src_aligned,
                           (uint8_t *)ret_tile[y] + x);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

/* Rows of the dilation: the maximum over the window's width, of pixels or of their complements. */
static __device__ void dilate_rows(const struct morphology_args &a, const part &part, uint32_t complement,
                                   const word_tile &tile, word_tile &ret_highest)
{
    for (int y = threadIdx.y; y < part.rows + a.height - 1; y += BLOCK_Y) {
        for (int x = part.x + threadIdx.x; x < part.end; x += BLOCK_X) {
            uint32_t highest = 0;
            for (int tap = 0, byte = 4 * x - a.width / 2; tap < a.width; tap++, byte++) {
                const uint32_t *from = &tile[y][byte / 4];
                highest = __vmaxu4(highest, __funnelshift_r(from[0], from[1], byte % 4 * 8) ^ complement);
            }
            ret_highest[y][x] = highest;
        }
    }
}

/* A bit for each bit of the word at (X, Y) that lies in the image. */
static __device__ __forceinline__ uint32_t inside(const struct morphology_args &a, int x, int y)
{
    uint32_t bits = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        bits |= y >= 0 && y < a.dst.height && x + i >= 0 && x + i < a.dst.width ? 0xFFu << 8 * i : 0;
    return bits;
}

/* Grid: tiles of 112 x 16 pixels. Reads 1 byte a pixel and its halo, writes 1; the windows come from shared memory. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) morphology_kernel(morphology_args a)
{
    __shared__ __align__(16) word_tile tile, highest;
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y;

    load_tile(a, x0, y0, tile);
    __syncthreads();
    for (int pass = 0; pass < a.passes; pass++) {
        const bool last = pass == a.passes - 1;
        const part part = part_of(a, pass);
        const int top = y0 - (last ? 0 : a.height / 2);
        const uint32_t complement = pass == 0 ? a.complement : ~a.complement;

        dilate_rows(a, part, complement, tile, highest);
        __syncthreads();
        for (int y = threadIdx.y; y < part.rows; y += BLOCK_Y) {
            for (int x = part.x + threadIdx.x; x < part.end; x += BLOCK_X) {
                const int image_x = x0 - MARGIN + 4 * x, image_y = top + y;
                uint32_t most = 0;
                for (int tap = 0; tap < a.height; tap++)
                    most = __vmaxu4(most, highest[y + tap][x]);
                most ^= complement;
                if (!last) {
                    const uint32_t in = inside(a, image_x, image_y);
                    tile[y][x] = (most & in) | (~complement & ~in); /* nothing to the next pass */
                } else if (image_y < a.dst.height) {
                    plx_store(*(const plx_vector<uint8_t, 4> *)&most, a.dst.row(image_y) + image_x, a.dst.width - image_x,
                              a.dst_aligned);
                }
            }
        }
        __syncthreads();
    }
}

int plx_gpu_morphology(struct plx_stages *self, enum plx_morphology op, const struct plx_image *src, int width, int height,
                       const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !plx_same_size(src, dst) || !plx_window_ok(width) ||
        !plx_window_ok(height) || (unsigned)op > PLX_CLOSE)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src))
        return PLX_ERR_RANGE;

    const struct morphology_args args = {plx_view_of<const uint8_t>(src),
                                         plx_view_of<uint8_t>(dst),
                                         width,
                                         height,
                                         op == PLX_OPEN || op == PLX_CLOSE ? 2 : 1,
                                         op == PLX_ERODE || op == PLX_OPEN ? ~0u : 0,
                                         plx_rows_aligned(src, PLX_VECTOR_BYTES),
                                         plx_rows_aligned(dst, 4)};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(dst->width, dst->height, dim3(TILE_X, TILE_Y));
    return PLX_LAUNCH(gpu, morphology_kernel, grid, block, args);
}

/* --- template matching ------------------------------------------------------------------------------------------------- */

/* By normalized cross-correlation of the deviations from the mean (Lewis, Fast Normalized Cross-Correlation, 1995); the formula
 * and its order of operations are in docs/stages.md. */

#define WARP 32
#define WARPS 8 /* warps of a block, a place each */
#define MAX_BLOCKS 4096
#define MAX_PATCH 65536 /* pixels: sums of products stay below 2^32 */

/* Sums over a window w of the image and the patch t, and over their products. */
struct sums {
    uint32_t w, t, ww, tt, wt;
};

/* Sums over the patch and the window at (x0, y0); a thread takes every 32nd pixel in raster order. */
static __device__ struct sums sums_at(const plx_view<const uint8_t> &image, const plx_view<const uint8_t> &patch, int x0,
                                      int y0)
{
    struct sums s = {0, 0, 0, 0, 0};

    for (int x = threadIdx.x, y = 0;; x += WARP) {
        for (; x >= patch.width; x -= patch.width)
            y++;
        if (y >= patch.height)
            break;
        const uint32_t w = image.row(y0 + y)[x0 + x], t = patch.row(y)[x];
        s.w += w, s.t += t, s.ww += w * w, s.tt += t * t, s.wt += w * t;
    }
    return {plx_warp_sum(s.w), plx_warp_sum(s.t), plx_warp_sum(s.ww), plx_warp_sum(s.tt), plx_warp_sum(s.wt)};
}

static __device__ int score_of(const struct sums &s, int64_t pixels)
{
    const int64_t covariance = pixels * s.wt - (int64_t)s.w * s.t;
    const int64_t window = pixels * s.ww - (int64_t)s.w * s.w, patch = pixels * s.tt - (int64_t)s.t * s.t;

    if (window == 0 || patch == 0)
        return 0;
    const double root = __dsqrt_rn(__dmul_rn((double)window, (double)patch));
    const int64_t score = __double2ll_rn(__dmul_rn(__ddiv_rn((double)covariance, root), 32768.0));
    return (int)min(max(score, (int64_t)INT16_MIN), (int64_t)INT16_MAX);
}

/* Orders places: a higher score first, then the smaller y, then the smaller x. Never 0. */
static __device__ unsigned long long make_key(int score, int x, int y)
{
    return (unsigned long long)(score + 32768) << 32 | (UINT32_MAX - ((uint32_t)y * PLX_MAX_SIDE + (uint32_t)x));
}

static __device__ struct plx_template_match read_key(unsigned long long key)
{
    const uint32_t place = UINT32_MAX - (uint32_t)key;
    return {(int32_t)(place % PLX_MAX_SIDE), (int32_t)(place / PLX_MAX_SIDE), (int32_t)(key >> 32) - 32768};
}

/* Grid: blocks of 8 warps walk over the places in raster order, a warp a place. Reads the patch twice for each, from L1. */
static __global__ void __launch_bounds__(WARP *WARPS)
    match_template_kernel(plx_view<const uint8_t> image, plx_view<const uint8_t> patch, struct plx_gpu_accumulators *totals,
                          struct plx_template_match *ret_best)
{
    const int places_x = image.width - patch.width + 1, places = places_x * (image.height - patch.height + 1);
    unsigned long long best = 0;

    for (int place = blockIdx.x * WARPS + threadIdx.y; place < places; place += gridDim.x * WARPS) {
        const int x = place % places_x, y = place / places_x;
        best = max(best, make_key(score_of(sums_at(image, patch, x, y), (int64_t)patch.width * patch.height), x, y));
    }
    if (threadIdx.x == 0 && best > 0)
        atomicMax(&totals->best, best);
    if (plx_is_last_block(&totals->best_blocks, gridDim.x) && threadIdx.x == 0 && threadIdx.y == 0)
        *ret_best = read_key(atomicExch(&totals->best, 0));
}

int plx_gpu_match_template(struct plx_stages *self, const struct plx_image *image, const struct plx_image *patch,
                           struct plx_template_match *ret_best)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(image, PLX_U8) || !plx_image_ok(patch, PLX_U8) || !ret_best || patch->width > image->width ||
        patch->height > image->height)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, image) || (int64_t)patch->width * patch->height > MAX_PATCH)
        return PLX_ERR_RANGE;

    const int places = (image->width - patch->width + 1) * (image->height - patch->height + 1);
    const unsigned wanted = plx_div_ceil(places, WARPS), blocks = wanted > MAX_BLOCKS ? MAX_BLOCKS : wanted;
    plx_view<const uint8_t> whole = plx_view_of<const uint8_t>(image), part = plx_view_of<const uint8_t>(patch);
    void *args[] = {&whole, &part, &gpu->totals, &ret_best};
    int result = plx_gpu_use_side(gpu, true);
    if (result == 0)
        result = plx_gpu_launch_changing(gpu, (void *)match_template_kernel, dim3(blocks), dim3(WARP, WARPS), args);
    return plx_gpu_use_main(gpu, result);
}
