/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces that face the camera: pixels take a step of their disparity towards what the pictures say. */
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

struct facing_job {
    const struct plx_kernels *kernels;
    const struct plx_image *src, *left, *right, *dst;
    int min_disparity;
};

/* Columns that go through the kernels together, row by row. */
struct strip {
    const struct facing_job *job;
    int x, count;                                  /* the first column, and how many */
    struct plx_facing_sums row[PLX_FACING_WINDOW]; /* what each of the newest rows adds */
    struct plx_facing_sums sums;                   /* of these rows, for each column */
};

/* The part of [FROM, FROM + COUNT) that lies within a row of WIDTH: its first column, and its length, maybe 0. */
static int within(int width, int from, int count, int *ret_length)
{
    const int first = from < 0 ? 0 : from, end = from + count < width ? from + count : width;
    *ret_length = end > first ? end - first : 0;
    return first;
}

/* Adds row Y, which may lie outside the image, to the sums, and takes the oldest one out. */
static void add_row(struct strip *strip, int y)
{
    const struct facing_job *job = strip->job;
    const int from = strip->x - PLX_FACING_REACH, count = strip->count + 2 * PLX_FACING_REACH, width = job->src->width;
    uint16_t disparity[PLX_FACING_COLUMNS];
    uint8_t left[PLX_FACING_COLUMNS + 2] = {0}; /* from one column before on */
    struct plx_facing_row row = {.x = from,
                                 .width = width,
                                 .min_disparity = job->min_disparity,
                                 .disparity = disparity,
                                 .left = left + 1,
                                 .right = plx_row(job->right, 0)};
    int length, first = within(width, from, count, &length);

    memset(disparity, 0xFF, sizeof disparity); /* invalid */
    if (y >= 0 && y < job->src->height) {
        memcpy(disparity + (first - from), (const uint16_t *)plx_row(job->src, y) + first, (size_t)length * sizeof *disparity);
        first = within(width, from - 1, count + 2, &length);
        memcpy(left + (first - from + 1), (const uint8_t *)plx_row(job->left, y) + first, (size_t)length);
        row.right = plx_row(job->right, y);
    }
    job->kernels->facing_sums(&row, count, &strip->row[(y + PLX_FACING_WINDOW) % PLX_FACING_WINDOW], &strip->sums);
}

/* COUNT pixels of row Y of SRC from column FROM on, coordinates clamped. */
static void clamped_part(const struct plx_image *src, int y, int from, int count, uint16_t *ret_part)
{
    const int bottom = src->height - 1, last = src->width - 1;
    const uint16_t *row = plx_row(src, y < 0 ? 0 : y > bottom ? bottom : y);
    int length;
    const int first = within(src->width, from, count, &length);

    memcpy(ret_part + (first - from), row + first, (size_t)length * sizeof *row);
    for (int i = 0; i < first - from; i++)
        ret_part[i] = row[0];
    for (int i = first - from + length; i < count; i++)
        ret_part[i] = row[last];
}

static void step_row(const struct strip *strip, int y)
{
    const struct plx_image *src = strip->job->src;
    uint16_t part[3][PLX_FACING_COLUMNS + 2 * PLX_FACING_FAR];
    const uint16_t *rows[3];

    for (int i = 0; i < 3; i++) {
        clamped_part(src, y + (i - 1) * PLX_FACING_FAR, strip->x - PLX_FACING_FAR, strip->count + 2 * PLX_FACING_FAR, part[i]);
        rows[i] = part[i] + PLX_FACING_FAR;
    }
    strip->job->kernels->facing(rows, &strip->sums, strip->count, (uint16_t *)plx_row(strip->job->dst, y) + strip->x);
}

static void facing_band(void *argument, int first, int last)
{
    const struct facing_job *job = argument;
    const int width = job->src->width;

    for (int x = 0; x < width; x += PLX_FACING_STRIP) {
        struct strip strip = {.job = job, .x = x, .count = width - x < PLX_FACING_STRIP ? width - x : PLX_FACING_STRIP};
        for (int y = first - PLX_FACING_REACH; y < last + PLX_FACING_REACH; y++) {
            add_row(&strip, y);
            if (y - PLX_FACING_REACH >= first)
                step_row(&strip, y - PLX_FACING_REACH);
        }
    }
}

int plx_cpu_facing(struct plx_stages *self, const struct plx_image *src, const struct plx_image *left,
                   const struct plx_image *right, const struct plx_match *match, const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U16}, {left, PLX_U8}, {right, PLX_U8}, {dst, PLX_U16});
    if (result < 0)
        return result;

    struct facing_job job = {cpu->kernels, src, left, right, dst, match->min_disparity};
    plx_pool_run_bands(cpu->pool, src->height, facing_band, &job);
    return 0;
}
