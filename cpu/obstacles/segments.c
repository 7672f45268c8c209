/* SPDX-License-Identifier: Apache-2.0 */
/* Stage segments: obstacles made of stixels. Links stixels, lets each pixel find its stixel, numbers the segments by what they
 * hold, and writes the numbers. The arithmetic is core/ground/segments.h. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/ground/segments.h"
#include "cpu/internal.h"
#include "cpu/obstacles/union_find.h"

#define STRIPE 16 /* columns of stixels that a thread takes at a time */

/* By number of the stixel; a segment's at its name. */
struct plx_segments_scratch {
    uint32_t *parent;                  /* on the way to the name of its segment */
    uint32_t *area;                    /* pixels */
    uint32_t *number;                  /* at its name: number of a segment, 0 if it has gone */
    uint32_t *linked;                  /* name of its segment before narrow ones join */
    struct plx_segment_extent *extent; /* at that name */
    uint64_t *order;                   /* segments that stay: ~area << 32 | name */
};

int plx_segments_scratch_create(const struct plx_limits *limits, struct plx_segments_scratch **ret_scratch)
{
    const size_t count = (size_t)plx_stixels_of(limits->width);
    struct plx_segments_scratch *s = calloc(1, sizeof *s);
    if (!s)
        return PLX_ERR_NOMEM;
    s->parent = malloc(count * sizeof *s->parent);
    s->area = malloc(count * sizeof *s->area);
    s->number = malloc(count * sizeof *s->number);
    s->linked = malloc(count * sizeof *s->linked);
    s->extent = malloc(count * sizeof *s->extent);
    s->order = malloc(count * sizeof *s->order);
    if (!s->parent || !s->area || !s->number || !s->linked || !s->extent || !s->order) {
        plx_segments_scratch_destroy(s);
        return PLX_ERR_NOMEM;
    }
    *ret_scratch = s;
    return 0;
}

void plx_segments_scratch_destroy(struct plx_segments_scratch *scratch)
{
    if (!scratch)
        return;
    free(scratch->parent);
    free(scratch->area);
    free(scratch->number);
    free(scratch->linked);
    free(scratch->extent);
    free(scratch->order);
    free(scratch);
}

struct job {
    const struct plx_image *disparity, *stixels, *labels;
    const struct plx_ground *ground;
    const struct plx_segments_params *params;
    const struct plx_predictions *predictions;
    struct plx_segments_scratch *scratch;
    int columns;
};

/* Links stixel I of column X to later ones of it and to all of the NEXT column, NULL behind the last. */
static void link_stixel(const struct job *job, const struct plx_stixel *column, const struct plx_stixel *next, int x, int i)
{
    uint32_t *parent = job->scratch->parent;
    const uint32_t first = (uint32_t)x * PLX_COLUMN_STIXELS;
    const int64_t scale = job->params->depth_scale;

    for (int k = i + 1; k < PLX_COLUMN_STIXELS; k++)
        if (plx_stixels_link(scale, &column[i], &column[k], true))
            plx_union_merge(parent, first + (uint32_t)i, first + (uint32_t)k);
    for (int k = 0; next && k < PLX_COLUMN_STIXELS; k++)
        if (plx_stixels_link(scale, &column[i], &next[k], false) ||
            plx_stixels_continue(scale, job->predictions, &column[i], &next[k], x))
            plx_union_merge(parent, first + (uint32_t)i, first + PLX_COLUMN_STIXELS + (uint32_t)k);
}

static void link_stixels(const struct job *job)
{
    const uint32_t count = (uint32_t)job->columns * PLX_COLUMN_STIXELS;
    uint32_t *parent = job->scratch->parent;

    for (uint32_t i = 0; i < count; i++)
        parent[i] = i;
    for (int x = 0; x < job->columns; x++) {
        const struct plx_stixel *column = plx_row(job->stixels, x);
        const struct plx_stixel *next = x + 1 < job->columns ? plx_row(job->stixels, x + 1) : NULL;
        for (int i = 0; i < PLX_COLUMN_STIXELS && column[i].disparity > 0; i++)
            link_stixel(job, column, next, x, i);
    }
    for (uint32_t i = 0; i < count; i++)
        job->scratch->linked[i] = parent[i] = plx_union_find(parent, i);
}

/* Writes into LABEL, for the pixels of row Y in column X that no earlier stixel holds, the number of stixel I from 1. */
static void find_row(const struct job *job, const struct plx_stixel *stixel, int x, int i, int y)
{
    const int begin = PLX_CELL_WIDTH * x, width = job->disparity->width;
    const int end = begin + PLX_CELL_WIDTH < width ? begin + PLX_CELL_WIDTH : width;
    const uint32_t number = (uint32_t)(x * PLX_COLUMN_STIXELS + i);
    const uint16_t *disparity = plx_row(job->disparity, y);
    uint32_t *label = plx_row(job->labels, y);

    for (int u = begin; u < end; u++)
        if (label[u] == 0 && plx_stixel_holds(stixel, job->ground, job->params, u, y, disparity[u])) {
            label[u] = number + 1;
            job->scratch->area[number]++;
        }
}

static void find_stripe(void *argument, int stripe)
{
    const struct job *job = argument;
    const int begin = stripe * STRIPE, end = begin + STRIPE < job->columns ? begin + STRIPE : job->columns;
    const int from = begin * PLX_CELL_WIDTH, width = job->labels->width, height = job->labels->height;
    const int to = end * PLX_CELL_WIDTH < width ? end * PLX_CELL_WIDTH : width;

    for (int y = 0; y < height; y++)
        memset((uint32_t *)plx_row(job->labels, y) + from, 0, (size_t)(to - from) * sizeof(uint32_t));
    for (int x = begin; x < end; x++) {
        const struct plx_stixel *column = plx_row(job->stixels, x);
        for (int i = 0; i < PLX_COLUMN_STIXELS && column[i].disparity > 0; i++)
            for (int y = column[i].y0; y <= column[i].y1 && y < height; y++)
                find_row(job, &column[i], x, i, y);
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Columns and pixels of each segment. */
static void measure_extents(const struct job *job, uint32_t count)
{
    const struct plx_segments_scratch *s = job->scratch;

    for (uint32_t i = 0; i < count; i++)
        s->extent[i] = (struct plx_segment_extent){UINT32_MAX, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        struct plx_segment_extent *extent = &s->extent[s->linked[i]];
        const uint32_t x = i / PLX_COLUMN_STIXELS;
        extent->first = x < extent->first ? x : extent->first;
        extent->last = x; /* columns come in order */
        extent->area += s->area[i];
    }
}

/* Joins narrow segments to those beside them, by pairs of stixels of column X and the next. */
static void join_column(const struct job *job, uint32_t x)
{
    const struct plx_segments_scratch *s = job->scratch;
    const struct plx_stixel *column = plx_row(job->stixels, (int)x), *next = plx_row(job->stixels, (int)x + 1);

    for (uint32_t i = 0; i < PLX_COLUMN_STIXELS && column[i].disparity > 0; i++)
        for (uint32_t k = 0; k < PLX_COLUMN_STIXELS && next[k].disparity > 0; k++) {
            const uint32_t a = s->linked[x * PLX_COLUMN_STIXELS + i], b = s->linked[(x + 1) * PLX_COLUMN_STIXELS + k];
            if (a != b && plx_segments_may_join(&s->extent[a], &s->extent[b], (uint32_t)job->params->min_area) &&
                plx_stixels_join(job->params->depth_scale, &column[i], &next[k]))
                plx_union_merge(s->parent, a, b);
        }
}

/* Numbers the segments, and returns how many there are. */
static uint32_t number_segments(const struct job *job)
{
    const struct plx_segments_scratch *s = job->scratch;
    const uint32_t count = (uint32_t)job->columns * PLX_COLUMN_STIXELS;
    uint32_t segments = 0;

    measure_extents(job, count);
    for (int x = 0; x + 1 < job->columns; x++)
        join_column(job, (uint32_t)x);
    for (uint32_t i = 0; i < count; i++)
        s->area[i] = s->number[i] = 0;
    for (uint32_t i = 0; i < count; i++) {
        s->parent[i] = plx_union_find(s->parent, i);
        if (s->linked[i] == i)
            s->area[s->parent[i]] += s->extent[i].area;
    }
    for (uint32_t i = 0; i < count; i++)
        if (s->parent[i] == i && s->area[i] >= (uint32_t)job->params->min_area)
            s->order[segments++] = (uint64_t)~s->area[i] << 32 | i;
    qsort(s->order, segments, sizeof *s->order, ascending);
    for (uint32_t i = 0; i < segments; i++)
        s->number[(uint32_t)s->order[i]] = i + 1;
    for (uint32_t i = 0; i < count; i++) {
        struct plx_stixel *stixel =
            (struct plx_stixel *)plx_row(job->stixels, (int)i / PLX_COLUMN_STIXELS) + i % PLX_COLUMN_STIXELS;
        s->number[i] = s->number[s->parent[i]];
        stixel->label = plx_stixel_segment(s->number[i]);
    }
    return segments;
}

static void write_numbers(void *argument, int y)
{
    const struct job *job = argument;
    const int width = job->labels->width;
    uint32_t *label = plx_row(job->labels, y);

    for (int x = 0; x < width; x++) {
        while (x + 3 < width && (label[x] | label[x + 1] | label[x + 2] | label[x + 3]) == 0) /* most pixels have none */
            x += 4;
        if (x < width && label[x] > 0)
            label[x] = job->scratch->number[label[x] - 1];
    }
}

int plx_cpu_segments(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                     const struct plx_segments_params *params, const struct plx_predictions *predictions,
                     const struct plx_image *stixels, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct job job = {disparity, stixels, ret_labels, ground, params, predictions, cpu->segments, stixels->height};

    if (!plx_segments_ok(disparity, params, stixels, ret_labels))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, disparity))
        return PLX_ERR_RANGE;
    link_stixels(&job);
    memset(cpu->segments->area, 0, (size_t)plx_stixels_of(disparity->width) * sizeof *cpu->segments->area);
    plx_pool_run(cpu->pool, (job.columns + STRIPE - 1) / STRIPE, find_stripe, &job);
    *ret_count = number_segments(&job);
    plx_pool_run_rows(cpu->pool, disparity->height, write_numbers, &job);
    return 0;
}
