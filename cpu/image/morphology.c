/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erosion and dilation by a rectangle, rows first, then columns. An erosion is the complement of the complement's dilation,
 * so that only a maximum is needed. What lies outside counts as nothing, which is the same as clamping to the edge.
 */
#include <parallax/error.h>

#include "cpu/internal.h"
#include "cpu/runtime/tile.h"

struct morphology_job {
    const struct plx_image *src, *dst;
    int width, height;  /* of the rectangle */
    uint8_t complement; /* 0xFF to erode, 0 to dilate */
    int bands;
};

static void raise_to(uint8_t *out, const uint8_t *in, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = in[i] > out[i] ? in[i] : out[i];
}

static void dilate_row(const struct morphology_job *job, int x, int y, int count, uint8_t *out)
{
    uint8_t line[PLX_TILE_LINE] = {0};
    int length = count + job->width - 1;
    plx_clamped_line(job->src, x - job->width / 2, y, length, line);
    for (int i = 0; i < length; i++)
        line[i] ^= job->complement;
    for (int i = 0; i < count; i++)
        out[i] = line[i];
    for (int tap = 1; tap < job->width; tap++)
        raise_to(out, line + tap, count);
}

static void dilate_columns(const struct morphology_job *job, uint8_t ring[PLX_WINDOW_RING][PLX_TILE], int y, int count,
                           uint8_t *out)
{
    uint8_t highest[PLX_TILE] = {0};
    for (int tap = 0; tap < job->height; tap++)
        raise_to(highest, ring[(y - job->height / 2 + tap) & (PLX_WINDOW_RING - 1)], count);
    for (int i = 0; i < count; i++)
        out[i] = highest[i] ^ job->complement;
}

static void morphology_band(void *argument, int index)
{
    const struct morphology_job *job = argument;
    struct plx_band band = plx_band(index, job->bands, job->dst->height);
    int radius = job->height / 2;
    uint8_t ring[PLX_WINDOW_RING][PLX_TILE];

    for (int x = 0; x < job->dst->width; x += PLX_TILE) {
        int count = job->dst->width - x < PLX_TILE ? job->dst->width - x : PLX_TILE;
        for (int y = band.first - radius; y < band.last + radius; y++) {
            dilate_row(job, x, y, count, ring[y & (PLX_WINDOW_RING - 1)]);
            if (y - radius >= band.first)
                dilate_columns(job, ring, y - radius, count, (uint8_t *)plx_row(job->dst, y - radius) + x);
        }
    }
}

static void run(struct plx_cpu *cpu, enum plx_morphology op, const struct plx_image *src, int width, int height,
                const struct plx_image *dst)
{
    struct morphology_job job = {src, dst, width, height, op == PLX_ERODE ? 0xFF : 0, plx_band_count(cpu, dst->height)};
    plx_pool_run(cpu->pool, job.bands, morphology_band, &job);
}

int plx_cpu_morphology(struct plx_stages *self, enum plx_morphology op, const struct plx_image *src, int width, int height,
                       const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !plx_same_size(src, dst) || !plx_window_ok(width) ||
        !plx_window_ok(height) || (unsigned)op > PLX_CLOSE)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src))
        return PLX_ERR_RANGE;

    if (op == PLX_ERODE || op == PLX_DILATE) {
        run(cpu, op, src, width, height, dst);
    } else {
        struct plx_image between = {cpu->between, src->width, src->height, (size_t)src->width, PLX_U8};
        run(cpu, op == PLX_OPEN ? PLX_ERODE : PLX_DILATE, src, width, height, &between);
        run(cpu, op == PLX_OPEN ? PLX_DILATE : PLX_ERODE, &between, width, height, dst);
    }
    return 0;
}
