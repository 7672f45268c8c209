/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions: sums over the largest components. Their runs are visited five times, each time a scatter into counters of the
 * regions: area, box and a histogram of the disparities' high bytes; then of the low bytes within the three high bytes that
 * hold the percentiles (a radix selection); then the inner box, by column and by row, and the interior; then two steps of
 * refinement by the images.
 */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/ground/obstacles.h"
#include "cpu/internal.h"

#define BYTE 256
#define WORD 8 /* bytes that are searched at once for the begin of a run */
#define PERCENTILES 3

static const uint32_t percent[PERCENTILES] = {5, 50, 95};

/* Counters and sums of one region. */
struct counters {
    uint32_t high[BYTE];             /* pixels by high byte of the disparity */
    uint32_t low[PERCENTILES][BYTE]; /* pixels with the percentile's high byte, by low byte */
    uint32_t rank[PERCENTILES];      /* rank of the percentile among them */
    uint32_t value[PERCENTILES];     /* its high byte, and in the end all of it */
    int shift;                       /* first step of the refinement, 1/16 px */
    struct plx_refine_sums interior, left, right;
};

struct plx_regions_scratch {
    int width, height;
    struct counters *counters; /* [PLX_MAX_OBSTACLES] */
    uint32_t *column;          /* [PLX_MAX_OBSTACLES][width] pixels of the region in each column */
    uint32_t *row;             /* [PLX_MAX_OBSTACLES][height] */
    uint8_t *begins;           /* [height][width + 1 + WORD] 1 where a run begins, and behind the last one of a row */
};

int plx_regions_scratch_create(const struct plx_limits *limits, struct plx_regions_scratch **ret_scratch)
{
    const int width = limits->width, height = limits->height;
    struct plx_regions_scratch *s = calloc(1, sizeof *s);
    if (!s)
        return PLX_ERR_NOMEM;
    s->width = width;
    s->height = height;
    s->counters = malloc(PLX_MAX_OBSTACLES * sizeof *s->counters);
    s->column = malloc(PLX_MAX_OBSTACLES * (size_t)width * sizeof *s->column);
    s->row = malloc(PLX_MAX_OBSTACLES * (size_t)height * sizeof *s->row);
    s->begins = calloc((size_t)height, (size_t)width + 1 + WORD);
    if (!s->counters || !s->column || !s->row || !s->begins) {
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
    free(scratch->counters);
    free(scratch->column);
    free(scratch->row);
    free(scratch->begins);
    free(scratch);
}

/* The images, and what is known of their regions so far. */
struct job {
    const struct plx_region_input *input;
    struct plx_region *region;
    struct plx_regions_scratch *scratch;
    uint32_t count; /* regions with a record */
};

/* Pixels of one region: columns x0 .. x1 - 1 of row y. */
struct run {
    uint32_t region;
    int x0, x1, y;
    const uint16_t *disparity; /* disparities of the row */
};

static uint8_t *begins_of(const struct plx_regions_scratch *scratch, int y)
{
    return scratch->begins + (size_t)y * ((size_t)scratch->width + 1 + WORD);
}

static void mark_begins(const uint32_t *restrict label, int width, uint8_t *restrict begins)
{
    begins[0] = 1;
    for (int x = 1; x < width; x++)
        begins[x] = label[x] != label[x - 1];
    begins[width] = 1;
}

/* Where the run of columns ends that X is of. */
static int run_end(const uint8_t *begins, int x)
{
    uint64_t word;
    for (x++; memcpy(&word, begins + x, WORD), word == 0;)
        x += WORD;
    while (begins[x] == 0)
        x++;
    return x;
}

static void publish_row(const uint32_t *restrict label, int width, uint16_t *restrict published)
{
    for (int x = 0; x < width; x++)
        published[x] = (uint16_t)(label[x] <= PLX_MAX_OBSTACLES ? label[x] : 0xFFFF);
}

static void add_box(struct plx_region *region, struct run run, int width)
{
    const uint32_t n = (uint32_t)(run.x1 - run.x0);
    if (region->area == 0) {
        region->first = (uint32_t)run.y * (uint32_t)width + (uint32_t)run.x0;
        region->x0 = run.x0;
        region->y0 = run.y;
    }
    region->area += n;
    region->x0 = run.x0 < region->x0 ? run.x0 : region->x0;
    region->x1 = run.x1 - 1 > region->x1 ? run.x1 - 1 : region->x1;
    region->y1 = run.y;
    region->sum_x += (uint64_t)(run.x0 + run.x1 - 1) * n / 2;
    region->sum_y += (uint64_t)run.y * n;
}

static void count_high_bytes(struct job *job, struct run run)
{
    uint32_t *high = job->scratch->counters[run.region].high;
    add_box(&job->region[run.region], run, job->input->labels->width);
    for (int x = run.x0; x < run.x1; x++)
        high[run.disparity[x] >> 8]++;
}

static void count_low_bytes(struct job *job, struct run run)
{
    struct counters *counters = &job->scratch->counters[run.region];
    for (int x = run.x0; x < run.x1; x++)
        for (int k = 0; k < PERCENTILES; k++)
            counters->low[k][run.disparity[x] & 255] += (uint32_t)(run.disparity[x] >> 8) == counters->value[k];
}

static bool in_interior(const struct plx_region *region, uint16_t disparity)
{
    return abs((int)disparity - (int)region->median) <= PLX_INTERIOR_DEPTH;
}

static void count_interior(struct job *job, struct run run)
{
    const struct plx_regions_scratch *s = job->scratch;
    struct plx_region *region = &job->region[run.region];
    uint32_t *column = s->column + (size_t)run.region * (size_t)s->width;
    uint32_t pixels = 0, sum_d = 0, sum_x = 0; /* 32 bits suffice for a run */
    s->row[(size_t)run.region * (size_t)s->height + (size_t)run.y] += (uint32_t)(run.x1 - run.x0);
    for (int x = run.x0; x < run.x1; x++)
        column[x]++;
    for (int x = run.x0; x < run.x1; x++) {
        const uint32_t inside = in_interior(region, run.disparity[x]) ? 0xFFFFFFFF : 0;
        pixels += inside & 1;
        sum_d += inside & run.disparity[x];
        sum_x += inside & (uint32_t)x;
    }
    region->interior_area += pixels;
    region->interior_sum_d += sum_d;
    region->interior_sum_x += sum_x;
    region->interior_sum_y += (uint64_t)pixels * (uint64_t)run.y;
}
_Static_assert((uint64_t)PLX_MAX_SIDE *UINT16_MAX <= UINT32_MAX, "sums of a run");

static void add_sums(struct plx_refine_sums *sums, const struct plx_refine_sums *more)
{
    sums->gg += more->gg;
    sums->ge += more->ge;
    sums->ggd += more->ggd;
}

static void refine_run(struct job *job, struct run run)
{
    const struct plx_region *region = &job->region[run.region];
    struct counters *counters = &job->scratch->counters[run.region];
    const uint8_t *left = plx_row(job->input->left, run.y), *right = plx_row(job->input->right, run.y);
    const int width = job->input->labels->width;
    struct plx_refine_sums interior = {0, 0, 0}, near_left = {0, 0, 0}, near_right = {0, 0, 0};
    for (int x = run.x0 + PLX_REFINE_MARGIN; x < run.x1 - PLX_REFINE_MARGIN; x++) {
        struct plx_refine_sums sums = {0, 0, 0};
        plx_refine_add(&sums, left, right, width, x, run.disparity[x], counters->shift, job->input->min_disparity);
        if (in_interior(region, run.disparity[x]))
            add_sums(&interior, &sums);
        if (x < region->inner_x0 + PLX_REFINE_STRIP)
            add_sums(&near_left, &sums);
        if (x > region->inner_x1 - PLX_REFINE_STRIP)
            add_sums(&near_right, &sums);
    }
    add_sums(&counters->interior, &interior);
    add_sums(&counters->left, &near_left);
    add_sums(&counters->right, &near_right);
}

/* Calls VISIT for each run of the regions with a record, in raster order. */
static void for_each_run(struct job *job, void (*visit)(struct job *job, struct run run))
{
    const int width = job->input->labels->width;
    for (int y = 0; y < job->input->labels->height; y++) {
        const uint32_t *label = plx_row(job->input->labels, y);
        const uint16_t *disparity = plx_row(job->input->disparity, y);
        const uint8_t *begins = begins_of(job->scratch, y);
        for (int x = 0, end; x < width; x = end) {
            end = run_end(begins, x);
            if (label[x] - 1 < job->count)
                visit(job, (struct run){label[x] - 1, x, end, y, disparity});
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
        struct counters *counters = &job->scratch->counters[i];
        const uint32_t area = job->region[i].area;
        for (int k = 0; k < PERCENTILES; k++) {
            counters->rank[k] = (uint32_t)((uint64_t)(area > 0 ? area - 1 : 0) * percent[k] / 100);
            counters->value[k] = select_rank(counters->high, &counters->rank[k]);
        }
    }
}

static void select_low(struct job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        struct counters *counters = &job->scratch->counters[i];
        for (int k = 0; k < PERCENTILES; k++)
            counters->value[k] = counters->value[k] << 8 | select_rank(counters->low[k], &counters->rank[k]);
        job->region[i].p05 = counters->value[0];
        job->region[i].median = counters->value[1];
        job->region[i].p95 = counters->value[2];
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

static struct plx_refined refined(const struct plx_refine_sums *sums)
{
    return (struct plx_refined){sums->gg, sums->ggd - 2 * sums->ge};
}

static void refine(struct job *job)
{
    for_each_run(job, refine_run);
    for (uint32_t i = 0; i < job->count; i++) {
        struct counters *counters = &job->scratch->counters[i];
        counters->shift = plx_refine_step(&counters->interior);
        counters->interior = counters->left = counters->right = (struct plx_refine_sums){0, 0, 0};
    }
    for_each_run(job, refine_run);
    for (uint32_t i = 0; i < job->count; i++) {
        const struct counters *counters = &job->scratch->counters[i];
        job->region[i].interior = refined(&counters->interior);
        job->region[i].left = refined(&counters->left);
        job->region[i].right = refined(&counters->right);
    }
}

int plx_cpu_regions(struct plx_stages *self, const struct plx_region_input *input, const uint32_t *count,
                    struct plx_region *ret_regions, const struct plx_image *ret_published)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct plx_regions_scratch *s = cpu->regions;

    if (!plx_region_input_ok(input, ret_published))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, input->labels))
        return PLX_ERR_RANGE;

    struct job job = {input, ret_regions, s, *count < PLX_MAX_OBSTACLES ? *count : PLX_MAX_OBSTACLES};
    memset(s->counters, 0, job.count * sizeof *s->counters);
    memset(s->column, 0, job.count * (size_t)s->width * sizeof *s->column);
    memset(s->row, 0, job.count * (size_t)s->height * sizeof *s->row);
    memset(ret_regions, 0, PLX_MAX_OBSTACLES * sizeof *ret_regions);
    for (uint32_t i = 0; i < job.count; i++)
        ret_regions[i].label = i + 1;

    for (int y = 0; y < input->labels->height; y++) {
        mark_begins(plx_row(input->labels, y), input->labels->width, begins_of(s, y));
        publish_row(plx_row(input->labels, y), input->labels->width, plx_row(ret_published, y));
    }
    for_each_run(&job, count_high_bytes);
    select_high(&job);
    for_each_run(&job, count_low_bytes);
    select_low(&job);
    for_each_run(&job, count_interior);
    find_inner_boxes(&job);
    refine(&job);
    return 0;
}
