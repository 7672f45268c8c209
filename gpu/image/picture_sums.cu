/* SPDX-License-Identifier: Apache-2.0 */
/* Stages checksum and sharpness: sums over pictures, for the checks of pictures; the arithmetic is
 * core/checks/picture_sums.h. Both run beside other stages. */
#include "core/checks/picture_sums.h"

#include "gpu/device/launch.cuh"
#include "gpu/device/reduce.cuh"

#define CHECKSUM_THREADS 128
#define SHARPNESS_THREADS 256
#define WORD 4 /* bytes */

struct checksum_args {
    struct plx_checksum_tiles tiles;
    uint64_t *ret_sum;
};

/* Grid: a block a tile, whose threads take the words of the tile's rows in turn. Reads up to 16 rows of each tile, 128 of the
 * eye; writes 8 bytes a tile. */
static __global__ void __launch_bounds__(CHECKSUM_THREADS) checksum_kernel(const __grid_constant__ checksum_args a)
{
    const int tile_x = blockIdx.x, tile_y = blockIdx.y, step = plx_checksum_step(&a.tiles, tile_y);
    const int top = a.tiles.top[tile_y], rows = (a.tiles.top[tile_y + 1] - top + step - 1) / step;
    const int begin = a.tiles.begin[tile_x], bytes = a.tiles.end[tile_x] - begin, words = (bytes + WORD - 1) / WORD;
    unsigned long long sum = 0;

    for (int n = threadIdx.x; n < rows * words; n += CHECKSUM_THREADS) {
        const int row = n / words, i = n % words;
        const uint8_t *from = a.tiles.data + (size_t)(top + row * step) * a.tiles.pitch + begin + WORD * i;
        const plx_vector<uint8_t, WORD> part = plx_load<WORD>(from, bytes - WORD * i, (uintptr_t)from % WORD == 0);
        const uint32_t word = part.at[0] | (uint32_t)part.at[1] << 8 | (uint32_t)part.at[2] << 16 | (uint32_t)part.at[3] << 24;
        sum += plx_checksum_word(word, row, i);
    }
    sum = plx_block_sum(sum);
    if (threadIdx.x == 0)
        a.ret_sum[tile_y * PLX_HISTOGRAM_TILES + tile_x] = sum;
}

static int launch_checksum(struct plx_gpu *gpu, const struct plx_raw *raw, const struct plx_image *ret_sums)
{
    struct checksum_args args = {plx_checksum_tiles_make(raw), (uint64_t *)ret_sums->data};
    void *all[] = {&args};

    return plx_gpu_launch_changing(gpu, (void *)checksum_kernel, dim3(PLX_HISTOGRAM_TILES, PLX_HISTOGRAM_TILES),
                                   dim3(CHECKSUM_THREADS), all);
}

int plx_gpu_checksum(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *ret_sums)
{
    struct plx_gpu *gpu = plx_gpu(self);

    if (!plx_checksum_ok(ret_sums))
        return PLX_ERR_ARG;
    int result = plx_raw_check(raw, NULL);
    if (result < 0)
        return result;
    if (raw->eye_width > gpu->limits.width || raw->height > gpu->limits.height)
        return PLX_ERR_RANGE;
    result = plx_gpu_use_side(gpu, true);
    return plx_gpu_use_main(gpu, result < 0 ? result : launch_checksum(gpu, raw, ret_sums));
}

struct sharpness_args {
    plx_view<const uint8_t> grey;
    plx_view<uint32_t> ret_steps;
};

/* Grid: a block a row that is read, of 16 one. Reads a 16th of the image, steps from L1, and writes 8 bytes a row. */
static __global__ void __launch_bounds__(SHARPNESS_THREADS) sharpness_kernel(const __grid_constant__ sharpness_args a)
{
    const int y = blockIdx.x * PLX_SHARPNESS_ROWS + PLX_SHARPNESS_ROWS / 2;
    const int count = y < a.grey.height ? a.grey.width - PLX_SHARPNESS_FAR : 0;
    const uint8_t *row = a.grey.row(y);
    uint32_t near = 0, far = 0;

    for (int x = threadIdx.x; x < count; x += SHARPNESS_THREADS) {
        const int here = row[x];
        near += (uint32_t)abs(row[x + PLX_SHARPNESS_NEAR] - here);
        far += (uint32_t)abs(row[x + PLX_SHARPNESS_FAR] - here);
    }
    const unsigned long long both = plx_block_sum((unsigned long long)far << 32 | near); /* 255 * 8192 fit half of it */
    if (threadIdx.x == 0) {
        a.ret_steps.row(0)[blockIdx.x] = (uint32_t)both;
        a.ret_steps.row(1)[blockIdx.x] = (uint32_t)(both >> 32);
    }
}

static int launch_sharpness(struct plx_gpu *gpu, const struct plx_image *grey, const struct plx_image *ret_steps)
{
    const sharpness_args args = {plx_view_of<const uint8_t>(grey), plx_view_of<uint32_t>(ret_steps)};
    return PLX_LAUNCH(gpu, sharpness_kernel, dim3((unsigned)ret_steps->width), dim3(SHARPNESS_THREADS), args);
}

int plx_gpu_sharpness(struct plx_stages *self, const struct plx_image *grey, const struct plx_image *ret_steps)
{
    struct plx_gpu *gpu = plx_gpu(self);

    if (!plx_sharpness_ok(grey, ret_steps))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, grey))
        return PLX_ERR_RANGE;
    const int result = plx_gpu_use_side(gpu, true);
    return plx_gpu_use_main(gpu, result < 0 ? result : launch_sharpness(gpu, grey, ret_steps));
}
