/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions: sums over the largest components. Three passes over the labels, each a scatter into counters of the regions:
 * area, box and a histogram of the disparities' high bytes; then of the low bytes within the three high bytes that hold the
 * percentiles (a radix selection); then the face, by column and by row.
 */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define BYTE 256
#define PERCENTILES 3

static const uint32_t percent[PERCENTILES] = {5, 50, 95};

/* Counters of one region. */
struct tally {
    uint32_t high[BYTE];             /* pixels by high byte of the disparity */
    uint32_t low[PERCENTILES][BYTE]; /* of those with the percentile's high byte, pixels by low byte */
    uint32_t rank[PERCENTILES];      /* of the percentile among those */
    uint32_t value[PERCENTILES];     /* its high byte, and in the end all of it */
};

struct plx_regions_scratch {
    int width, height;
    struct tally *tally;   /* [PLX_MAX_OBSTACLES] */
    uint32_t *column_face; /* [PLX_MAX_OBSTACLES][width] pixels of the face */
    uint32_t *row_face;    /* [PLX_MAX_OBSTACLES][height] */
};

int plx_regions_scratch_create(int width, int height, struct plx_regions_scratch **ret_scratch)
{
    struct plx_regions_scratch *s = calloc(1, sizeof *s);
    if (!s)
        return PLX_ERR_NOMEM;
    s->width = width;
    s->height = height;
    s->tally = malloc(PLX_MAX_OBSTACLES * sizeof *s->tally);
    s->column_face = malloc(PLX_MAX_OBSTACLES * (size_t)width * sizeof *s->column_face);
    s->row_face = malloc(PLX_MAX_OBSTACLES * (size_t)height * sizeof *s->row_face);
    if (!s->tally || !s->column_face || !s->row_face) {
        plx_regions_scratch_destroy(s);
        return PLX_ERR_NOMEM;
    }
    *ret_scratch = s;
    return 0;
}

void plx_regions_scratch_destroy(struct plx_regions_scratch *scratch)
{
    if (!scratch)
        return;
    free(scratch->tally);
    free(scratch->column_face);
    free(scratch->row_face);
    free(scratch);
}

/* The images, and what is known of their regions so far. */
struct job {
    const struct plx_image *labels, *disparity;
    struct plx_region *region;
    struct plx_regions_scratch *scratch;
    uint32_t count; /* published regions */
};

/* End of the run of columns that begins at X with the same label. */
static int run_end(const uint32_t *label, int x, int width)
{
    const uint32_t value = label[x];
    while (++x < width && label[x] == value)
        ;
    return x;
}

static void publish_row(const uint32_t *label, int width, uint16_t *published)
{
    for (int x = 0; x < width; x++)
        published[x] = (uint16_t)(label[x] <= PLX_MAX_OBSTACLES ? label[x] : 0xFFFF);
}

static void add_run(struct plx_region *region, int x0, int x1, int y, int width)
{
    const uint32_t n = (uint32_t)(x1 - x0);
    if (region->area == 0) {
        region->first = (uint32_t)y * (uint32_t)width + (uint32_t)x0;
        region->x0 = x0;
        region->x1 = x1 - 1;
        region->y0 = y;
    }
    region->area += n;
    region->x0 = x0 < region->x0 ? x0 : region->x0;
    region->x1 = x1 - 1 > region->x1 ? x1 - 1 : region->x1;
    region->y1 = y;
    region->sum_x += (uint64_t)(x0 + x1 - 1) * n / 2;
    region->sum_y += (uint64_t)y * n;
}

static void count_high_run(struct job *job, uint32_t i, const uint16_t *disparity, int x0, int x1, int y)
{
    uint32_t *high = job->scratch->tally[i].high;
    add_run(&job->region[i], x0, x1, y, job->labels->width);
    for (int x = x0; x < x1; x++)
        high[disparity[x] >> 8]++;
}

static void count_low_run(struct job *job, uint32_t i, const uint16_t *disparity, int x0, int x1, int y)
{
    (void)y;
    struct tally *tally = &job->scratch->tally[i];
    for (int x = x0; x < x1; x++)
        for (int k = 0; k < PERCENTILES; k++)
            tally->low[k][disparity[x] & 255] += (uint32_t)(disparity[x] >> 8) == tally->value[k];
}

static void count_face_run(struct job *job, uint32_t i, const uint16_t *disparity, int x0, int x1, int y)
{
    struct plx_region *region = &job->region[i];
    uint32_t *column = job->scratch->column_face + (size_t)i * (size_t)job->scratch->width;
    uint32_t *row = job->scratch->row_face + (size_t)i * (size_t)job->scratch->height;
    for (int x = x0; x < x1; x++) {
        if (abs((int)disparity[x] - (int)region->median) > PLX_FACE_DEPTH)
            continue;
        region->face_area++;
        region->face_sum += disparity[x];
        column[x]++;
        row[y]++;
    }
}

/* Calls VISIT for each run of each published region, in raster order. */
static void for_each_run(struct job *job,
                         void (*visit)(struct job *job, uint32_t i, const uint16_t *disparity, int x0, int x1, int y))
{
    const int width = job->labels->width;
    for (int y = 0; y < job->labels->height; y++) {
        const uint32_t *label = plx_row(job->labels, y);
        const uint16_t *disparity = plx_row(job->disparity, y);
        for (int x = 0; x < width;) {
            const int end = run_end(label, x, width);
            if (label[x] - 1 < job->count)
                visit(job, label[x] - 1, disparity, x, end, y);
            x = end;
        }
    }
}

/* Index of the counter that holds the element of *RANK, which becomes its rank among that counter's. */
static uint32_t select_rank(const uint32_t counter[BYTE], uint32_t *rank)
{
    uint32_t i = 0;
    while (i < BYTE - 1 && *rank >= counter[i])
        *rank -= counter[i++];
    return i;
}

static void select_high(struct job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        struct tally *tally = &job->scratch->tally[i];
        const uint32_t area = job->region[i].area;
        for (int k = 0; k < PERCENTILES; k++) {
            tally->rank[k] = (uint32_t)((uint64_t)(area > 0 ? area - 1 : 0) * percent[k] / 100);
            tally->value[k] = select_rank(tally->high, &tally->rank[k]);
        }
    }
}

static void select_low(struct job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        struct tally *tally = &job->scratch->tally[i];
        for (int k = 0; k < PERCENTILES; k++)
            tally->value[k] = tally->value[k] << 8 | select_rank(tally->low[k], &tally->rank[k]);
        job->region[i].p05 = tally->value[0];
        job->region[i].median = tally->value[1];
        job->region[i].p95 = tally->value[2];
    }
}

/* First and last of COUNTER[first..last] that hold at least half as much as the fullest. */
static void face_side(const uint32_t *counter, int first, int last, int32_t *ret_first, int32_t *ret_last)
{
    uint32_t most = 0;
    for (int i = first; i <= last; i++)
        most = counter[i] > most ? counter[i] : most;
    while (first < last && counter[first] * 2 < most)
        first++;
    while (last > first && counter[last] * 2 < most)
        last--;
    *ret_first = first;
    *ret_last = last;
}

static void measure_faces(struct job *job)
{
    const struct plx_regions_scratch *s = job->scratch;
    for (uint32_t i = 0; i < job->count; i++) {
        struct plx_region *r = &job->region[i];
        face_side(s->column_face + (size_t)i * (size_t)s->width, r->x0, r->x1, &r->face_x0, &r->face_x1);
        face_side(s->row_face + (size_t)i * (size_t)s->height, r->y0, r->y1, &r->face_y0, &r->face_y1);
    }
}

int plx_cpu_regions(struct plx_stages *self, const struct plx_image *labels, const struct plx_image *disparity,
                    const uint32_t *count, struct plx_region *ret_regions, const struct plx_image *ret_published)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct plx_regions_scratch *s = cpu->regions;

    if (!plx_image_ok(labels, PLX_U32) || !plx_image_ok(disparity, PLX_U16) || !plx_image_ok(ret_published, PLX_U16) ||
        !plx_same_size(labels, disparity) || !plx_same_size(labels, ret_published))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, labels))
        return PLX_ERR_RANGE;

    struct job job = {labels, disparity, ret_regions, s, *count < PLX_MAX_OBSTACLES ? *count : PLX_MAX_OBSTACLES};
    memset(s->tally, 0, job.count * sizeof *s->tally);
    memset(s->column_face, 0, job.count * (size_t)s->width * sizeof *s->column_face);
    memset(s->row_face, 0, job.count * (size_t)s->height * sizeof *s->row_face);
    memset(ret_regions, 0, PLX_MAX_OBSTACLES * sizeof *ret_regions);
    for (uint32_t i = 0; i < job.count; i++)
        ret_regions[i].label = i + 1;

    for (int y = 0; y < labels->height; y++)
        publish_row(plx_row(labels, y), labels->width, plx_row(ret_published, y));
    for_each_run(&job, count_high_run);
    select_high(&job);
    for_each_run(&job, count_low_run);
    select_low(&job);
    for_each_run(&job, count_face_run);
    measure_faces(&job);
    return 0;
}
