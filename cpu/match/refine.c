/* SPDX-License-Identifier: Apache-2.0 */
/* From disparity candidates to disparities: median, local mean, left-right check, agreement, fill, confidence and the filter
 * over time. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/pipeline/confidence.h"
#include "cpu/internal.h"

#define MEDIAN_ROWS 5      /* rows of the larger window */
#define CONFIDENCE_REACH 4 /* rows, up and down; every second one is a sample */
#define CONFIDENCE_ROWS (2 * CONFIDENCE_REACH + 1)

/* Row Y, clamped, of SRC (U16) into LINE [PLX_PADDED(width)], whose pixel 0 is at PLX_PAD. */
static void padded_row(const struct plx_image *src, int y, uint16_t *line)
{
    const int last = src->height - 1;
    const uint16_t *row = plx_row(src, y < 0 ? 0 : y > last ? last : y);

    memcpy(line + PLX_PAD, row, (size_t)src->width * sizeof *line);
    for (int i = 0; i < PLX_PAD; i++) {
        line[i] = row[0];
        line[PLX_PAD + src->width + i] = row[src->width - 1];
    }
}

/* Median over a window. */
struct median_job {
    const struct plx_image *src, *dst;
    void (*kernel)(const uint16_t *const *rows, int width, uint16_t *ret_row);
};

static void median_band(void *argument, int first, int last)
{
    const struct median_job *job = argument;
    const int reach = MEDIAN_ROWS / 2;
    uint16_t lines[MEDIAN_ROWS][PLX_PADDED(PLX_MAX_SIDE)];
    const uint16_t *rows[MEDIAN_ROWS];

    for (int y = first - reach; y < last + reach; y++) {
        uint16_t *line = lines[(y + MEDIAN_ROWS) % MEDIAN_ROWS];
        padded_row(job->src, y, line);
        memmove(rows, rows + 1, sizeof rows - sizeof rows[0]);
        rows[MEDIAN_ROWS - 1] = line + PLX_PAD;
        if (y - reach >= first)
            job->kernel(rows + reach, job->src->width, plx_row(job->dst, y - reach));
    }
}

static void copy_row(void *argument, int y)
{
    const struct median_job *job = argument;
    memcpy(plx_row(job->dst, y), plx_row(job->src, y), (size_t)job->src->width * sizeof(uint16_t));
}

int plx_cpu_median(struct plx_stages *self, const struct plx_image *src, enum plx_median kind, const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (kind < PLX_MEDIAN_NONE || kind > PLX_MEDIAN_VALID_5X5)
        return PLX_ERR_ARG;
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U16}, {dst, PLX_U16});
    if (result < 0)
        return result;

    struct median_job job = {src, dst, kind == PLX_MEDIAN_3X3 ? cpu->kernels->median_3x3 : cpu->kernels->median_valid_5x5};
    if (kind == PLX_MEDIAN_NONE)
        plx_pool_run_rows(cpu->pool, src->height, copy_row, &job);
    else
        plx_pool_run_bands(cpu->pool, src->height, median_band, &job);
    return 0;
}

/* Even: the mean of the valid values in a window that differ little from the pixel's own. */
#define EVEN_ROWS (2 * PLX_LOCAL_MEAN_REACH + 1)

struct local_mean_job {
    const struct plx_kernels *kernels;
    const struct plx_image *src, *dst;
};

static void local_mean_band(void *argument, int first, int last)
{
    const struct local_mean_job *job = argument;
    const int width = job->src->width;
    uint16_t lines[EVEN_ROWS][PLX_PADDED(PLX_MAX_SIDE)];
    const uint16_t *rows[EVEN_ROWS];

    for (int y = first - PLX_LOCAL_MEAN_REACH; y < last + PLX_LOCAL_MEAN_REACH; y++) {
        uint16_t *line = lines[(y + EVEN_ROWS) % EVEN_ROWS];
        padded_row(job->src, y, line);
        for (int i = 0; i < width + 2 * PLX_PAD; i++)
            line[i] = line[i] < PLX_LOCAL_MEAN_BEYOND ? line[i] : PLX_LOCAL_MEAN_BEYOND;
        memmove(rows, rows + 1, sizeof rows - sizeof rows[0]);
        rows[EVEN_ROWS - 1] = line + PLX_PAD;
        if (y - PLX_LOCAL_MEAN_REACH >= first)
            job->kernels->local_mean(rows + PLX_LOCAL_MEAN_REACH, width, plx_row(job->dst, y - PLX_LOCAL_MEAN_REACH));
    }
}

int plx_cpu_local_mean(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U16}, {dst, PLX_U16});
    if (result < 0)
        return result;

    struct local_mean_job job = {cpu->kernels, src, dst};
    plx_pool_run_bands(cpu->pool, src->height, local_mean_band, &job);
    return 0;
}

/* Agree: strict and dense disparity confirm each other. */
struct cross_validate_job {
    const struct plx_kernels *kernels;
    const struct plx_image *strict, *dense, *raw, *grey, *dst;
};

static void cross_validate_row(void *argument, int y)
{
    const struct cross_validate_job *job = argument;
    job->kernels->cross_validate(plx_row(job->strict, y), plx_row(job->dense, y), plx_row(job->raw, y), plx_row(job->grey, y),
                                 job->dst->width, plx_row(job->dst, y));
}

int plx_cpu_cross_validate(struct plx_stages *self, const struct plx_image *strict, const struct plx_image *dense,
                           const struct plx_image *raw, const struct plx_image *left_grey, const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result =
        PLX_CPU_CHECK_IMAGES(cpu, {strict, PLX_U16}, {dense, PLX_U16}, {raw, PLX_U16}, {left_grey, PLX_U8}, {dst, PLX_U16});
    if (result < 0)
        return result;

    struct cross_validate_job job = {cpu->kernels, strict, dense, raw, left_grey, dst};
    plx_pool_run_rows(cpu->pool, strict->height, cross_validate_row, &job);
    return 0;
}

/* Left-right check. */
struct check_job {
    const struct plx_kernels *kernels;
    const struct plx_image *left, *right, *grey, *disparity;
    const struct plx_match *match;
};

static void check_row(void *argument, int y)
{
    const struct check_job *job = argument;
    const int width = job->left->width, height = job->left->height;
    uint16_t *out = plx_row(job->disparity, y);

    job->kernels->check(job->match, plx_row(job->left, y), plx_row(job->right, y), plx_row(job->grey, y), width, out);
    if (job->match->invalid_border) {
        const bool is_frame = y == 0 || y == height - 1;
        out[0] = out[width - 1] = PLX_DISPARITY_INVALID;
        for (int x = 0; x < width && is_frame; x++)
            out[x] = PLX_DISPARITY_INVALID;
    }
}

int plx_cpu_check(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                  const struct plx_image *left_grey, const struct plx_match *match, const struct plx_image *ret_disparity)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result =
        PLX_CPU_CHECK_IMAGES(cpu, {left, PLX_U16}, {right, PLX_U16}, {left_grey, PLX_U8}, {ret_disparity, PLX_U16});
    if (result < 0)
        return result;

    struct check_job job = {cpu->kernels, left, right, left_grey, ret_disparity, match};
    plx_pool_run_rows(cpu->pool, left->height, check_row, &job);
    return 0;
}

/* Fill: each invalid pixel takes the smaller disparity, the background, of the two valid ends of its run in the row. */
struct fill_job {
    const struct plx_image *src, *dst, *filled;
};

/* The first of FLAGS[x..width-1] that is VALUE, else WIDTH. */
static int find_flag(const uint8_t *flags, int x, int width, int value)
{
    const uint8_t *found = memchr(flags + x, value, (size_t)(width - x));
    return found ? (int)(found - flags) : width;
}

static void mark_invalid(const uint16_t *restrict src, int width, uint8_t *restrict flags)
{
    for (int x = 0; x < width; x++)
        flags[x] = src[x] == PLX_DISPARITY_INVALID;
}

static void fill_row(void *argument, int y)
{
    const struct fill_job *job = argument;
    const int width = job->src->width;
    const uint16_t *src = plx_row(job->src, y);
    uint16_t *dst = plx_row(job->dst, y);
    uint8_t *filled = plx_row(job->filled, y);

    memcpy(dst, src, (size_t)width * sizeof *dst);
    mark_invalid(src, width, filled);
    for (int begin = 0, end; (begin = find_flag(filled, begin, width, 1)) < width; begin = end) {
        end = find_flag(filled, begin, width, 0);
        /* invalid is larger than any valid disparity */
        const uint16_t before = begin > 0 ? src[begin - 1] : PLX_DISPARITY_INVALID;
        const uint16_t after = end < width ? src[end] : PLX_DISPARITY_INVALID, value = before < after ? before : after;
        for (int x = begin; x < end; x++)
            dst[x] = value;
        if (value == PLX_DISPARITY_INVALID)
            memset(filled, 0, (size_t)width); /* all of the row is */
    }
}

int plx_cpu_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                 const struct plx_image *ret_filled)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U16}, {dst, PLX_U16}, {ret_filled, PLX_U8});
    if (result < 0)
        return result;

    struct fill_job job = {src, dst, ret_filled};
    plx_pool_run_rows(cpu->pool, src->height, fill_row, &job);
    return 0;
}

/* Confidence: how many neighbours have a similar candidate, how sharp the minimum is, and the left-right check. */
struct confidence_job {
    const struct plx_kernels *kernels;
    const struct plx_candidates *candidates;
    const struct plx_image *checked, *disparity, *grey, *confidence;
    int s1_scale;               /* so that four paths count as eight */
    const uint8_t *probability; /* by score */
};

/* Row Y, clamped, of SRC, whose values are bytes, as in padded_row. */
static void padded_bytes(const struct plx_image *src, int y, uint8_t *line)
{
    const int last = src->height - 1, width = src->width;
    const uint16_t *row = plx_row(src, y < 0 ? 0 : y > last ? last : y);

    for (int x = 0; x < width; x++)
        line[PLX_PAD + x] = (uint8_t)row[x];
    memset(line, line[PLX_PAD], PLX_PAD);
    memset(line + PLX_PAD + width, line[PLX_PAD + width - 1], PLX_PAD);
}

/* Turns the scores of row Y into probabilities: where a disparity is known, and no other one fits as well. */
static void set_probabilities(const struct confidence_job *job, int y)
{
    const uint16_t *restrict disparity = plx_row(job->disparity, y);
    const uint16_t *restrict s1 = plx_row(&job->candidates->s1, y), *restrict s2 = plx_row(&job->candidates->s2, y);
    const uint8_t *restrict grey = plx_row(job->grey, y), *restrict probability = job->probability;
    uint8_t *restrict row = plx_row(job->confidence, y);

    for (int x = 0; x < job->disparity->width; x++) {
        const bool is_known = disparity[x] != PLX_DISPARITY_INVALID && grey[x] != 0 && s2[x] > s1[x];
        row[x] = (uint8_t)(is_known ? probability[row[x]] : 0);
    }
}

static void confidence_band(void *argument, int first, int last)
{
    const struct confidence_job *job = argument;
    const struct plx_candidates *candidates = job->candidates;
    uint8_t lines[CONFIDENCE_ROWS][PLX_PADDED(PLX_MAX_SIDE)];

    for (int y = first - CONFIDENCE_REACH; y < last + CONFIDENCE_REACH; y++) {
        padded_bytes(&candidates->raw, y, lines[(y + CONFIDENCE_ROWS) % CONFIDENCE_ROWS]);
        const int middle = y - CONFIDENCE_REACH;
        if (middle < first)
            continue;
        const uint8_t *rows[CONFIDENCE_REACH + 1];
        for (int i = 0; i <= CONFIDENCE_REACH; i++)
            rows[i] = lines[(middle - CONFIDENCE_REACH + 2 * i + CONFIDENCE_ROWS) % CONFIDENCE_ROWS] + PLX_PAD;
        job->kernels->confidence(rows + CONFIDENCE_REACH / 2, plx_row(job->checked, middle), plx_row(&candidates->s1, middle),
                                 job->s1_scale, plx_row(&candidates->s2, middle), job->checked->width,
                                 plx_row(job->confidence, middle));
        set_probabilities(job, middle);
    }
}

int plx_cpu_confidence(struct plx_stages *self, const struct plx_candidates *candidates, const struct plx_image *checked,
                       const struct plx_image *disparity, const struct plx_image *left_grey, const struct plx_match *match,
                       const struct plx_image *ret_confidence)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result =
        PLX_CPU_CHECK_IMAGES(cpu, {checked, PLX_U16}, {&candidates->raw, PLX_U16}, {&candidates->s1, PLX_U16},
                             {&candidates->s2, PLX_U16}, {disparity, PLX_U16}, {left_grey, PLX_U8}, {ret_confidence, PLX_U8});
    if (result < 0)
        return result;

    struct confidence_job job = {.kernels = cpu->kernels,
                                 .candidates = candidates,
                                 .checked = checked,
                                 .disparity = disparity,
                                 .grey = left_grey,
                                 .confidence = ret_confidence,
                                 .s1_scale = match->paths == 4 ? 2 : 1,
                                 .probability = plx_confidence_probability(match)};
    plx_pool_run_bands(cpu->pool, checked->height, confidence_band, &job);
    return 0;
}

/*
 * Recursive filter over time: where old and new are valid and differ by no more than max_step, the result is
 * (weight * new + (256 - weight) * old + 128) >> 8; elsewhere it is the new value, valid or not.
 */
struct temporal_job {
    const struct plx_image *src, *history, *dst;
    const struct plx_temporal *temporal;
};

static void temporal_row(void *argument, int y)
{
    const struct temporal_job *job = argument;
    const int max_step = job->temporal->max_step, weight = job->temporal->weight;
    const uint16_t *src = plx_row(job->src, y);
    uint16_t *history = plx_row(job->history, y), *dst = plx_row(job->dst, y);

    for (int x = 0; x < job->src->width; x++) {
        int now = src[x], old = history[x], step = abs(now - old);
        bool blend = max_step > 0 && step <= max_step && now != PLX_DISPARITY_INVALID && old != PLX_DISPARITY_INVALID;
        uint16_t value = (uint16_t)(blend ? (weight * now + (256 - weight) * old + 128) >> 8 : now);
        history[x] = value;
        dst[x] = value;
    }
}

int plx_cpu_temporal(struct plx_stages *self, const struct plx_image *src, const struct plx_temporal *temporal,
                     const struct plx_image *history, const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!temporal || temporal->max_step < 0 || temporal->weight < 1 || temporal->weight > 256)
        return PLX_ERR_ARG;
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U16}, {history, PLX_U16}, {dst, PLX_U16});
    if (result < 0)
        return result;

    struct temporal_job job = {src, history, dst, temporal};
    plx_pool_run_rows(cpu->pool, src->height, temporal_row, &job);
    return 0;
}
