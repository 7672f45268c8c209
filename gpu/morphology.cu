/* SPDX-License-Identifier: Apache-2.0 */
/* Erosion and dilation by a rectangle, rows first, then columns. An erosion is the complement of the complement's dilation, so
 * that only a maximum is needed. What lies outside counts as nothing, which is the same as clamping to the edge. */
#include "gpu/device.cuh"

#define TILE_X 64
#define TILE_Y 32
#define BLOCK_X 32
#define BLOCK_Y 8
#define HALO (PLX_MAX_WINDOW - 1)

struct morphology_args {
    plx_view<const uint8_t> src;
    plx_view<uint8_t> dst;
    int width, height;  /* of the rectangle */
    uint8_t complement; /* 0xFF to erode, 0 to dilate */
};

/* Grid: tiles of 64 x 32 pixels. Reads 1 byte a pixel and its halo, writes 1; the window comes from shared memory. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) morphology_kernel(morphology_args a)
{
    __shared__ uint8_t tile[TILE_Y + HALO][TILE_X + HALO + 2], highest[TILE_Y + HALO][TILE_X];
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y;
    const int rows = TILE_Y + a.height - 1, columns = TILE_X + a.width - 1;

    for (int y = threadIdx.y; y < rows; y += BLOCK_Y) {
        const uint8_t *row = a.src.row(plx_clamp(y0 + y - a.height / 2, 0, a.src.height - 1));
        for (int x = threadIdx.x; x < columns; x += BLOCK_X)
            tile[y][x] = row[plx_clamp(x0 + x - a.width / 2, 0, a.src.width - 1)] ^ a.complement;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < rows; y += BLOCK_Y) {
        for (int x = threadIdx.x; x < TILE_X; x += BLOCK_X) {
            int value = 0;
            for (int tap = 0; tap < a.width; tap++)
                value = max(value, (int)tile[y][x + tap]);
            highest[y][x] = (uint8_t)value;
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE_Y && y0 + y < a.dst.height; y += BLOCK_Y) {
        for (int x = threadIdx.x; x < TILE_X && x0 + x < a.dst.width; x += BLOCK_X) {
            int value = 0;
            for (int tap = 0; tap < a.height; tap++)
                value = max(value, (int)highest[y + tap][x]);
            a.dst.row(y0 + y)[x0 + x] = (uint8_t)value ^ a.complement;
        }
    }
}

static int run(struct plx_gpu *gpu, enum plx_morphology op, const struct plx_image *src, int width, int height,
               const struct plx_image *dst)
{
    const struct morphology_args args = {plx_view_of<const uint8_t>(src), plx_view_of<uint8_t>(dst), width, height,
                                         (uint8_t)(op == PLX_ERODE ? 0xFF : 0)};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(dst->width, dst->height, dim3(TILE_X, TILE_Y));
    morphology_kernel<<<grid, block, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, morphology_kernel);
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
    if (op == PLX_ERODE || op == PLX_DILATE)
        return run(gpu, op, src, width, height, dst);

    const struct plx_image between = {gpu->between, src->width, src->height, (size_t)src->width, PLX_U8};
    const int result = run(gpu, op == PLX_OPEN ? PLX_ERODE : PLX_DILATE, src, width, height, &between);
    return result < 0 ? result : run(gpu, op == PLX_OPEN ? PLX_DILATE : PLX_ERODE, &between, width, height, dst);
}
