/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separable filter. Rows first: h = (sum of weight * pixel + 2^7) >> 8, an 8.8 number in 16 bits; then columns:
 * (sum of weight * h + 2^23) >> 24. With weights that sum to 2^16 neither sum leaves 32 bits.
 */
#include <parallax/error.h>

#include "core/stages.h"
#include "cpu/internal.h"
#include "cpu/runtime/tile.h"

struct filter_job {
    const struct plx_image *src, *dst;
    const struct plx_filter *filter;
    int bands;
};

static void filter_row(const struct filter_job *job, int x, int y, int count, uint16_t *out)
{
    const struct plx_filter *filter = job->filter;
    uint8_t line[PLX_TILE_LINE] = {0};
    uint32_t sum[PLX_TILE];
    plx_clamped_line(job->src, x - filter->size_x / 2, y, count + filter->size_x - 1, line);
    for (int i = 0; i < count; i++)
        sum[i] = 1u << 7;
    for (int tap = 0; tap < filter->size_x; tap++) {
        uint32_t weight = filter->weight_x[tap];
        for (int i = 0; i < count; i++)
            sum[i] += weight * line[tap + i];
    }
    for (int i = 0; i < count; i++)
        out[i] = (uint16_t)(sum[i] >> 8);
}

static void filter_columns(const struct plx_filter *filter, uint16_t ring[PLX_WINDOW_RING][PLX_TILE], int y, int count,
                           uint8_t *out)
{
    uint32_t sum[PLX_TILE];
    for (int i = 0; i < count; i++)
        sum[i] = 1u << 23;
    for (int tap = 0; tap < filter->size_y; tap++) {
        uint32_t weight = filter->weight_y[tap];
        const uint16_t *row = ring[(y - filter->size_y / 2 + tap) & (PLX_WINDOW_RING - 1)];
        for (int i = 0; i < count; i++)
            sum[i] += weight * row[i];
    }
    for (int i = 0; i < count; i++)
        out[i] = (uint8_t)(sum[i] >> 24);
}

static void filter_band(void *argument, int index)
{
    const struct filter_job *job = argument;
    struct plx_band band = plx_band(index, job->bands, job->dst->height);
    int radius = job->filter->size_y / 2;
    uint16_t ring[PLX_WINDOW_RING][PLX_TILE];

    for (int x = 0; x < job->dst->width; x += PLX_TILE) {
        int count = job->dst->width - x < PLX_TILE ? job->dst->width - x : PLX_TILE;
        for (int y = band.first - radius; y < band.last + radius; y++) {
            filter_row(job, x, y, count, ring[y & (PLX_WINDOW_RING - 1)]);
            if (y - radius >= band.first)
                filter_columns(job->filter, ring, y - radius, count, (uint8_t *)plx_row(job->dst, y - radius) + x);
        }
    }
}

int plx_cpu_filter(struct plx_stages *self, const struct plx_image *src, const struct plx_filter *filter,
                   const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !plx_same_size(src, dst) || !plx_filter_ok(filter))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src))
        return PLX_ERR_RANGE;

    struct filter_job job = {src, dst, filter, plx_band_count(cpu, dst->height)};
    plx_pool_run(cpu->pool, job.bands, filter_band, &job);
    return 0;
}
