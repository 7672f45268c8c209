/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages over a separable window: filter, erosion and dilation. They go tile by tile, so that the rows in a window stay in the
 * first-level cache.
 */
#include <parallax/error.h>

#include "core/pipeline/stages.h"
#include "cpu/internal.h"

#define TILE 256     /* columns */
#define RING_ROWS 32 /* rows kept: row y lies in ring[y & 31] */
#define TILE_LINE (TILE + PLX_MAX_WINDOW - 1)

/* LINE gets COUNT pixels of row Y of SRC from column X on; coordinates outside are clamped to the edge. */
static void clamped_line(const struct plx_image *src, int x, int y, int count, uint8_t *line)
{
    const uint8_t *row = plx_row(src, y < 0 ? 0 : y >= src->height ? src->height - 1 : y);
    int last = src->width - 1;
    for (int i = 0; i < count; i++)
        line[i] = row[x + i < 0 ? 0 : x + i > last ? last : x + i];
}

/*
 * Separable filter. Rows first: h = (sum of weight * pixel + 2^7) >> 8, an 8.8 number in 16 bits; then columns:
 * (sum of weight * h + 2^23) >> 24. With weights that sum to 2^16 neither sum leaves 32 bits.
 */
struct filter_job {
    const struct plx_image *src, *dst;
    const struct plx_filter *filter;
};

static void filter_row(const struct filter_job *job, int x, int y, int count, uint16_t *out)
{
    const struct plx_filter *filter = job->filter;
    uint8_t line[TILE_LINE] = {0};
    uint32_t sum[TILE];
    clamped_line(job->src, x - filter->size_x / 2, y, count + filter->size_x - 1, line);
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

static void filter_columns(const struct plx_filter *filter, uint16_t ring[RING_ROWS][TILE], int y, int count, uint8_t *out)
{
    uint32_t sum[TILE];
    for (int i = 0; i < count; i++)
        sum[i] = 1u << 23;
    for (int tap = 0; tap < filter->size_y; tap++) {
        uint32_t weight = filter->weight_y[tap];
        const uint16_t *row = ring[(y - filter->size_y / 2 + tap) & (RING_ROWS - 1)];
        for (int i = 0; i < count; i++)
            sum[i] += weight * row[i];
    }
    for (int i = 0; i < count; i++)
        out[i] = (uint8_t)(sum[i] >> 24);
}

static void filter_band(void *argument, int first, int last)
{
    const struct filter_job *job = argument;
    int radius = job->filter->size_y / 2;
    uint16_t ring[RING_ROWS][TILE];

    for (int x = 0; x < job->dst->width; x += TILE) {
        int count = job->dst->width - x < TILE ? job->dst->width - x : TILE;
        for (int y = first - radius; y < last + radius; y++) {
            filter_row(job, x, y, count, ring[y & (RING_ROWS - 1)]);
            if (y - radius >= first)
                filter_columns(job->filter, ring, y - radius, count, (uint8_t *)plx_row(job->dst, y - radius) + x);
        }
    }
}

int plx_cpu_filter(struct plx_stages *self, const struct plx_image *src, const struct plx_filter *filter,
                   const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = plx_filter_ok(filter) ? PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U8}, {dst, PLX_U8}) : PLX_ERR_ARG;
    if (result < 0)
        return result;

    struct filter_job job = {src, dst, filter};
    plx_pool_run_bands(cpu->pool, dst->height, filter_band, &job);
    return 0;
}

/*
 * Erosion and dilation by a rectangle, rows first, then columns. An erosion is the complement of the complement's dilation,
 * so that only a maximum is needed. What lies outside counts as nothing, which is the same as clamping to the edge.
 */
struct morphology_job {
    const struct plx_image *src, *dst;
    int width, height;  /* size of the rectangle */
    uint8_t complement; /* 0xFF to erode, 0 to dilate */
};

static void raise_to(uint8_t *out, const uint8_t *in, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = in[i] > out[i] ? in[i] : out[i];
}

static void dilate_row(const struct morphology_job *job, int x, int y, int count, uint8_t *out)
{
    uint8_t line[TILE_LINE] = {0};
    int length = count + job->width - 1;
    clamped_line(job->src, x - job->width / 2, y, length, line);
    for (int i = 0; i < length; i++)
        line[i] ^= job->complement;
    for (int i = 0; i < count; i++)
        out[i] = line[i];
    for (int tap = 1; tap < job->width; tap++)
        raise_to(out, line + tap, count);
}

static void dilate_columns(const struct morphology_job *job, uint8_t ring[RING_ROWS][TILE], int y, int count, uint8_t *out)
{
    uint8_t highest[TILE] = {0};
    for (int tap = 0; tap < job->height; tap++)
        raise_to(highest, ring[(y - job->height / 2 + tap) & (RING_ROWS - 1)], count);
    for (int i = 0; i < count; i++)
        out[i] = highest[i] ^ job->complement;
}

static void morphology_band(void *argument, int first, int last)
{
    const struct morphology_job *job = argument;
    int radius = job->height / 2;
    uint8_t ring[RING_ROWS][TILE];

    for (int x = 0; x < job->dst->width; x += TILE) {
        int count = job->dst->width - x < TILE ? job->dst->width - x : TILE;
        for (int y = first - radius; y < last + radius; y++) {
            dilate_row(job, x, y, count, ring[y & (RING_ROWS - 1)]);
            if (y - radius >= first)
                dilate_columns(job, ring, y - radius, count, (uint8_t *)plx_row(job->dst, y - radius) + x);
        }
    }
}

static void erode_or_dilate(struct plx_cpu *cpu, enum plx_morphology op, const struct plx_image *src, int width, int height,
                            const struct plx_image *dst)
{
    struct morphology_job job = {src, dst, width, height, op == PLX_ERODE ? 0xFF : 0};
    plx_pool_run_bands(cpu->pool, dst->height, morphology_band, &job);
}

int plx_cpu_morphology(struct plx_stages *self, enum plx_morphology op, const struct plx_image *src, int width, int height,
                       const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_window_ok(width) || !plx_window_ok(height) || (unsigned)op > PLX_CLOSE)
        return PLX_ERR_ARG;
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U8}, {dst, PLX_U8});
    if (result < 0)
        return result;

    if (op == PLX_ERODE || op == PLX_DILATE) {
        erode_or_dilate(cpu, op, src, width, height, dst);
    } else {
        struct plx_image between = {cpu->between, src->width, src->height, (size_t)src->width, PLX_U8};
        erode_or_dilate(cpu, op == PLX_OPEN ? PLX_ERODE : PLX_DILATE, src, width, height, &between);
        erode_or_dilate(cpu, op == PLX_OPEN ? PLX_DILATE : PLX_ERODE, &between, width, height, dst);
    }
    return 0;
}
