/* SPDX-License-Identifier: Apache-2.0 */
/* Texture that repeats along the rows. */
#include "gpu/device/access.cuh"
#include "gpu/device/launch.cuh"

#define CELL PLX_REPEAT_CELL
#define WINDOW PLX_REPEAT_WINDOW
#define MOST PLX_REPEAT_MAX_SHIFT
#define BEFORE (MOST / CELL) /* cells that a window marks before its own */
#define THREADS 256
#define OUT 64                              /* cells that a block writes */
#define WINDOWS (WINDOW - 1 + OUT + BEFORE) /* that may mark one of them */
#define CELLS (WINDOWS + WINDOW - 1)
#define WORDS ((MOST + CELLS * CELL) / 4 + 1) /* words of a row: shifted words are read from two */

static_assert(CELL == 8, "a cell's row is two words");
static_assert(MOST % CELL == 0, "the pixels before the first cell are whole cells");

struct repeats_args {
    plx_view<const uint8_t> src;
    plx_view<uint8_t> dst;
};

struct repeats_shared {
    uint32_t pixels[CELL][WORDS]; /* from MOST columns before the first cell on */
    uint16_t sum[MOST][CELLS];    /* differences between a pixel and the one so many columns, and one, to its left */
    uint32_t repeats[OUT];
};

/* The pixels of the block's strip, 0 outside the image. */
static __device__ void load_pixels(const repeats_args &a, repeats_shared &s, int first, int y, int rows)
{
    for (int i = threadIdx.x; i < CELL * WORDS; i += THREADS) {
        const int r = i / WORDS, w = i % WORDS, x = first * CELL - MOST + 4 * w;
        uint32_t word = 0;
        for (int b = 0; b < 4 && r < rows; b++)
            if (x + b >= 0 && x + b < a.src.width)
                word |= (uint32_t)a.src.row(y + r)[x + b] << 8 * b;
        s.pixels[r][w] = word;
    }
}

/* Rows that are not there are 0 everywhere, and differ by nothing. */
static __device__ void sum_cells(repeats_shared &s)
{
    for (int i = threadIdx.x; i < MOST * CELLS; i += THREADS) {
        const int shift = i / CELLS + 1, c = i % CELLS, at = MOST + c * CELL, from = at - shift;
        uint32_t sum = 0;
#pragma unroll
        for (int r = 0; r < CELL; r++)
#pragma unroll
            for (int w = 0; w < CELL / 4; w++) {
                const uint32_t *there = &s.pixels[r][from / 4 + w];
                sum += __vsadu4(s.pixels[r][at / 4 + w], __funnelshift_r(there[0], there[1], from % 4 * 8));
            }
        s.sum[shift - 1][c] = (uint16_t)sum;
    }
}

/* Marks the cells of window I of the block, which begins at cell FIRST, and of what it equals. OUT_FIRST: the first of repeats.
 */
static __device__ void mark(repeats_shared &s, int i, int first, int out_first, int rows)
{
    const int x = (first + i) * CELL, last = min(x, MOST);
    uint32_t most = 0;

    for (int shift = 1; shift <= last; shift++) {
        uint32_t sum = 0;
#pragma unroll
        for (int c = 0; c < WINDOW; c++)
            sum += s.sum[shift - 1][i + c];
        if (shift >= PLX_REPEAT_MIN_SHIFT && most > (uint32_t)(PLX_REPEAT_CONTRAST * WINDOW * CELL * rows) &&
            PLX_REPEAT_RATIO * sum < most)
            for (int c = max((x - shift) / CELL - out_first, 0); c < min(first + i + WINDOW - out_first, OUT); c++)
                atomicOr(&s.repeats[c], 1);
        most = max(most, sum);
    }
}

/* Grid: a block 64 cells of a strip of 8 rows. Reads 1.3 bytes a pixel, writes 1. */
static __global__ void __launch_bounds__(THREADS) repeats_kernel(const __grid_constant__ repeats_args a)
{
    __shared__ repeats_shared s;
    const int out_first = blockIdx.x * OUT, first = out_first - (WINDOW - 1), y = blockIdx.y * CELL;
    const int rows = min(CELL, a.src.height - y);

    plx_grid_wait_and_trigger();
    for (int i = threadIdx.x; i < OUT; i += THREADS)
        s.repeats[i] = 0;
    load_pixels(a, s, first, y, rows);
    __syncthreads();
    sum_cells(s);
    __syncthreads();
    for (int i = threadIdx.x; i < WINDOWS; i += THREADS)
        if (first + i >= 0 && first + i + WINDOW <= a.src.width / CELL)
            mark(s, i, first, out_first, rows);
    __syncthreads();
    for (int i = threadIdx.x; i < OUT * CELL; i += THREADS) {
        const int x = out_first * CELL + i;
        for (int r = 0; r < rows && x < a.src.width; r++)
            a.dst.row(y + r)[x] = s.repeats[i / CELL] ? 0 : a.src.row(y + r)[x];
    }
}

int plx_gpu_repeats(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !plx_same_sizes(src, dst))
        return PLX_ERR_ARG;

    const struct repeats_args args = {plx_view_of<const uint8_t>(src), plx_view_of<uint8_t>(dst)};
    const dim3 grid((src->width + OUT * CELL - 1) / (OUT * CELL), (src->height + CELL - 1) / CELL);
    return PLX_LAUNCH_DEPENDENT(gpu, repeats_kernel, grid, dim3(THREADS), args);
}
