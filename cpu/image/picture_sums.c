/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over pictures, for the checks of pictures. */
#include "core/checks/picture_sums.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

struct checksum_job {
    struct plx_checksum_tiles tiles;
    uint64_t *ret_sum;
};

/* COUNT bytes of row ROW of a tile; the last word ends with zeros. */
static uint64_t sum_bytes(const uint8_t *bytes, int count, int row)
{
    const int words = count / 4;
    uint64_t sum = 0;
    uint32_t word;

    for (int i = 0; i < words; i++) {
        memcpy(&word, bytes + 4 * i, sizeof word);
        sum += plx_checksum_word(word, row, i);
    }
    if (count % 4 == 0)
        return sum;
    word = 0;
    memcpy(&word, bytes + 4 * words, (size_t)(count % 4));
    return sum + plx_checksum_word(word, row, words);
}

static void sum_tiles(void *argument, int tile_y)
{
    const struct checksum_job *job = argument;
    const struct plx_checksum_tiles *tiles = &job->tiles;
    const int step = plx_checksum_step(tiles, tile_y);
    uint64_t *sum = job->ret_sum + PLX_HISTOGRAM_TILES * tile_y;

    memset(sum, 0, PLX_HISTOGRAM_TILES * sizeof *sum);
    for (int y = tiles->top[tile_y], row = 0; y < tiles->top[tile_y + 1]; y += step, row++)
        for (int i = 0; i < PLX_HISTOGRAM_TILES; i++)
            sum[i] += sum_bytes(tiles->data + (size_t)y * tiles->pitch + tiles->begin[i], tiles->end[i] - tiles->begin[i], row);
}

int plx_cpu_checksum(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *ret_sums)
{
    const struct plx_cpu *cpu = plx_cpu(self);

    if (!plx_checksum_ok(ret_sums))
        return PLX_ERR_ARG;
    const int result = plx_raw_check(raw, NULL);
    if (result < 0)
        return result;
    if (raw->eye_width > cpu->limits.width || raw->height > cpu->limits.height)
        return PLX_ERR_RANGE;
    struct checksum_job job = {plx_checksum_tiles_make(raw), ret_sums->data};
    plx_pool_run(cpu->pool, PLX_HISTOGRAM_TILES, sum_tiles, &job);
    return 0;
}

struct sharpness_job {
    const struct plx_image *grey, *ret_steps;
};

static uint32_t sum_steps(const uint8_t *row, int count, int distance)
{
    uint32_t sum = 0;
    for (int x = 0; x < count; x++)
        sum += (uint32_t)abs(row[x + distance] - row[x]);
    return sum;
}

static void sum_columns(void *argument, int first, int last)
{
    const struct sharpness_job *job = argument;
    uint32_t *near = plx_row(job->ret_steps, 0), *far = plx_row(job->ret_steps, 1);

    for (int i = first; i < last; i++) {
        const int y = PLX_SHARPNESS_ROWS * i + PLX_SHARPNESS_ROWS / 2, count = job->grey->width - PLX_SHARPNESS_FAR;
        const bool exists = y < job->grey->height;
        const uint8_t *row = plx_row(job->grey, exists ? y : 0);
        near[i] = exists ? sum_steps(row, count, PLX_SHARPNESS_NEAR) : 0;
        far[i] = exists ? sum_steps(row, count, PLX_SHARPNESS_FAR) : 0;
    }
}

int plx_cpu_sharpness(struct plx_stages *self, const struct plx_image *grey, const struct plx_image *ret_steps)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct sharpness_job job = {grey, ret_steps};

    if (!plx_sharpness_ok(grey, ret_steps))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, grey))
        return PLX_ERR_RANGE;
    plx_pool_run_bands(cpu->pool, ret_steps->width, sum_columns, &job);
    return 0;
}
