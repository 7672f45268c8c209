/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions: sums over the largest components. Five passes over the labels, each a scatter into counters of the regions:
 * area, box and a histogram of the disparities' high bytes; then of the low bytes within the three high bytes that hold the
 * percentiles (a radix selection); then the inner box, by column and by row, and the interior; then two steps of refinement by
 * the images.
 */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/region_fit.h"
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
    int shift;                       /* first step of the refinement, 1/16 px */
    struct plx_refine_sums interior, left, right;
};

struct plx_regions_scratch {
    int width, height;
    struct tally *tally; /* [PLX_MAX_OBSTACLES] */
    uint32_t *column;    /* [PLX_MAX_OBSTACLES][width] pixels of the region in each column */
    uint32_t *row;       /* [PLX_MAX_OBSTACLES][height] */
};

int plx_regions_scratch_create(int width, int height, struct plx_regions_scratch **ret_scratch)
{
    struct plx_regions_scratch *s = calloc(1, sizeof *s);
    if (!s)
        return PLX_ERR_NOMEM;
    s->width = width;
    s->height = height;
    s->tally = malloc(PLX_MAX_OBSTACLES * sizeof *s->tally);
    s->column = malloc(PLX_MAX_OBSTACLES * (size_t)width * sizeof *s->column);
    s->row = malloc(PLX_MAX_OBSTACLES * (size_t)height * sizeof *s->row);
    if (!s->tally || !s->column || !s->row) {
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
    free(scratch->column);
    free(scratch->row);
    free(scratch);
}

/* The images, and what is known of their regions so far. */
struct job {
    const struct plx_region_input *input;
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
    add_run(&job->region[i], x0, x1, y, job->input->labels->width);
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

static void add_sums(struct plx_refine_sums *sums, const struct plx_refine_sums *more)
{
    sums->gg += more->gg;
    sums->ge += more->ge;
    sums->ggd += more->ggd;
}

static bool in_interior(const struct plx_region *region, uint16_t disparity)
{
    return abs((int)disparity - (int)region->median) <= PLX_INTERIOR_DEPTH;
}

static void count_inner_run(struct job *job, uint32_t i, const uint16_t *disparity, int x0, int x1, int y)
{
    struct plx_region *region = &job->region[i];
    uint32_t *column = job->scratch->column + (size_t)i * (size_t)job->scratch->width;
    job->scratch->row[(size_t)i * (size_t)job->scratch->height + (size_t)y] += (uint32_t)(x1 - x0);
    for (int x = x0; x < x1; x++) {
        column[x]++;
        if (in_interior(region, disparity[x])) {
            region->interior_area++;
            region->interior_sum_d += disparity[x];
            region->interior_sum_x += (uint64_t)x;
            region->interior_sum_y += (uint64_t)y;
        }
    }
}

static void refine_run(struct job *job, uint32_t i, const uint16_t *disparity, int x0, int x1, int y)
{
    const struct plx_region *region = &job->region[i];
    struct tally *tally = &job->scratch->tally[i];
    const uint8_t *left = plx_row(job->input->left, y), *right = plx_row(job->input->right, y);
    const int width = job->input->labels->width;
    for (int x = x0 + PLX_REFINE_MARGIN; x < x1 - PLX_REFINE_MARGIN; x++) {
        struct plx_refine_sums sums = {0, 0, 0};
        plx_refine_add(&sums, left, right, width, x, disparity[x], tally->shift, job->input->min_disparity);
        if (in_interior(region, disparity[x]))
            add_sums(&tally->interior, &sums);
        if (x < region->inner_x0 + PLX_REFINE_STRIP)
            add_sums(&tally->left, &sums);
        if (x > region->inner_x1 - PLX_REFINE_STRIP)
            add_sums(&tally->right, &sums);
    }
}

/* Calls VISIT for each run of each published region, in raster order. */
static void for_each_run(struct job *job,
                         void (*visit)(struct job *job, uint32_t i, const uint16_t *disparity, int x0, int x1, int y))
{
    const int width = job->input->labels->width;
    for (int y = 0; y < job->input->labels->height; y++) {
        const uint32_t *label = plx_row(job->input->labels, y);
        const uint16_t *disparity = plx_row(job->input->disparity, y);
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
static void inner_side(const uint32_t *counter, int first, int last, int32_t *ret_first, int32_t *ret_last)
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

static void find_inner_boxes(struct job *job)
{
    const struct plx_regions_scratch *s = job->scratch;
    for (uint32_t i = 0; i < job->count; i++) {
        struct plx_region *r = &job->region[i];
        inner_side(s->column + (size_t)i * (size_t)s->width, r->x0, r->x1, &r->inner_x0, &r->inner_x1);
        inner_side(s->row + (size_t)i * (size_t)s->height, r->y0, r->y1, &r->inner_y0, &r->inner_y1);
    }
}

static void take_step(struct job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        struct tally *tally = &job->scratch->tally[i];
        tally->shift = plx_refine_step(&tally->interior);
        tally->interior = tally->left = tally->right = (struct plx_refine_sums){0, 0, 0};
    }
}

static struct plx_refined refined(const struct plx_refine_sums *sums)
{
    return (struct plx_refined){sums->gg, sums->ggd - 2 * sums->ge};
}

static void refine(struct job *job)
{
    for_each_run(job, refine_run);
    take_step(job);
    for_each_run(job, refine_run);
    for (uint32_t i = 0; i < job->count; i++) {
        const struct tally *tally = &job->scratch->tally[i];
        job->region[i].interior = refined(&tally->interior);
        job->region[i].left = refined(&tally->left);
        job->region[i].right = refined(&tally->right);
    }
}

static bool input_ok(const struct plx_region_input *in, const struct plx_image *published)
{
    return plx_image_ok(in->labels, PLX_U32) && plx_image_ok(in->disparity, PLX_U16) && plx_image_ok(in->left, PLX_U8) &&
           plx_image_ok(in->right, PLX_U8) && plx_image_ok(published, PLX_U16) && plx_same_size(in->labels, in->disparity) &&
           plx_same_size(in->labels, in->left) && plx_same_size(in->labels, in->right) && plx_same_size(in->labels, published);
}

int plx_cpu_regions(struct plx_stages *self, const struct plx_region_input *input, const uint32_t *count,
                    struct plx_region *ret_regions, const struct plx_image *ret_published)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct plx_regions_scratch *s = cpu->regions;

    if (!input_ok(input, ret_published))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, input->labels))
        return PLX_ERR_RANGE;

    struct job job = {input, ret_regions, s, *count < PLX_MAX_OBSTACLES ? *count : PLX_MAX_OBSTACLES};
    memset(s->tally, 0, job.count * sizeof *s->tally);
    memset(s->column, 0, job.count * (size_t)s->width * sizeof *s->column);
    memset(s->row, 0, job.count * (size_t)s->height * sizeof *s->row);
    memset(ret_regions, 0, PLX_MAX_OBSTACLES * sizeof *ret_regions);
    for (uint32_t i = 0; i < job.count; i++)
        ret_regions[i].label = i + 1;

    for (int y = 0; y < input->labels->height; y++)
        publish_row(plx_row(input->labels, y), input->labels->width, plx_row(ret_published, y));
    for_each_run(&job, count_high_run);
    select_high(&job);
    for_each_run(&job, count_low_run);
    select_low(&job);
    for_each_run(&job, count_inner_run);
    find_inner_boxes(&job);
    refine(&job);
    return 0;
}
