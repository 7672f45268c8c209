/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erosion and dilation by a rectangle, rows first, then columns, four pixels a register. An erosion is the complement of the
 * complement's dilation, so that only a maximum is needed. Pixels outside the image are ignored, which is the same as
 * clamping to the edge. One kernel does both passes of an opening or closing: the first also on the halo of the second.
 */
#include "gpu/device/access.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
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
    int width, height; /* of the rectangle */
    int passes;
    uint32_t complement; /* of the first pass: ~0 to erode, 0 to dilate; the second is the other */
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
