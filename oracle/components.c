/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/components.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/frame.h>

#include "oracle/allocate.h"

struct component {
    uint32_t first, area;
};

struct flood {
    int width, height;
    uint32_t *id; /* [height][width] 0 = background, n = component[n - 1] */
    struct component *component;
    uint32_t count;
};

static uint16_t value(const struct plx_image *image, int x, int y)
{
    return ((const uint16_t *)plx_row(image, y))[x];
}

static bool foreground(const struct plx_image *mask, const struct plx_image *disparity, int x, int y)
{
    return (!mask || ((const uint8_t *)plx_row(mask, y))[x] != 0) && value(disparity, x, y) != PLX_DISPARITY_INVALID;
}

static struct flood flood(const struct plx_image *mask, const struct plx_image *disparity, int max_step, bool diagonal)
{
    const int w = disparity->width, h = disparity->height;
    const size_t n = (size_t)w * (size_t)h;
    struct flood f = {w, h, oracle_allocate(1, n * sizeof(uint32_t)), oracle_allocate(1, n * sizeof(struct component)), 0};
    uint32_t *stack = oracle_allocate(1, n * sizeof *stack);

    for (uint32_t start = 0; start < n; start++) {
        if (f.id[start] != 0 || !foreground(mask, disparity, (int)start % w, (int)start / w))
            continue;
        struct component *component = &f.component[f.count++];
        size_t depth = 0;
        component->first = start;
        f.id[start] = f.count;
        stack[depth++] = start;
        while (depth > 0) {
            const int at = (int)stack[--depth], x = at % w, y = at / w;
            component->area++;
            for (int i = 0; i < 9; i++) {
                const int dx = i % 3 - 1, dy = i / 3 - 1, qx = x + dx, qy = y + dy;
                if ((!diagonal && dx != 0 && dy != 0) || qx < 0 || qy < 0 || qx >= w || qy >= h || f.id[qy * w + qx] != 0 ||
                    !foreground(mask, disparity, qx, qy) ||
                    abs((int)value(disparity, x, y) - (int)value(disparity, qx, qy)) > max_step)
                    continue;
                f.id[qy * w + qx] = f.count;
                stack[depth++] = (uint32_t)(qy * w + qx);
            }
        }
    }
    free(stack);
    return f;
}

static void flood_free(struct flood *f)
{
    free(f->id);
    free(f->component);
}

static int larger_first(const void *a, const void *b)
{
    const struct component *p = *(const struct component *const *)a, *q = *(const struct component *const *)b;
    if (p->area != q->area)
        return p->area > q->area ? -1 : 1;
    return p->first < q->first ? -1 : 1;
}

void oracle_label(const struct plx_image *mask, const struct plx_image *disparity, const struct plx_label_params *params,
                  const struct plx_image *ret_labels, uint32_t *ret_count)
{
    struct flood f = flood(mask, disparity, params->max_step, true);
    const struct component **order =
        oracle_allocate(1, f.count * sizeof *order); /* NOLINT(bugprone-sizeof-expression): of pointers */
    uint32_t *number = oracle_allocate(1, (f.count + 1) * sizeof *number);
    uint32_t count = 0;

    for (uint32_t i = 0; i < f.count; i++)
        if ((int64_t)f.component[i].area >= params->min_area)
            order[count++] = &f.component[i];
    qsort(order, count, sizeof *order, larger_first); /* NOLINT(bugprone-sizeof-expression): of pointers */
    for (uint32_t i = 0; i < count; i++)
        number[order[i] - f.component + 1] = i + 1;
    for (int y = 0; y < f.height; y++)
        for (int x = 0; x < f.width; x++)
            ((uint32_t *)plx_row(ret_labels, y))[x] = number[f.id[y * f.width + x]];
    *ret_count = count;
    free(number);
    free(order);
    flood_free(&f);
}

void oracle_speckle(const struct plx_image *src, int max_size, int max_step, const struct plx_image *dst)
{
    struct flood f = flood(NULL, src, max_step, false);
    for (int y = 0; y < f.height; y++)
        for (int x = 0; x < f.width; x++) {
            const uint32_t id = f.id[y * f.width + x];
            const bool keep = id != 0 && (int64_t)f.component[id - 1].area >= max_size;
            ((uint16_t *)plx_row(dst, y))[x] = keep ? value(src, x, y) : PLX_DISPARITY_INVALID;
        }
    flood_free(&f);
}

static int ascending(const void *a, const void *b)
{
    return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* The first and the last of N counters that are at least half of the largest. */
static void half_full(const int *counter, int n, int32_t *ret_first, int32_t *ret_last)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        most = counter[i] > most ? counter[i] : most;
    *ret_first = -1;
    for (int i = 0; i < n; i++) {
        if (counter[i] == 0 || counter[i] * 2 < most)
            continue;
        *ret_first = *ret_first < 0 ? i : *ret_first;
        *ret_last = i;
    }
}

static bool has_label(const struct plx_image *labels, int x, int y, uint32_t label)
{
    return x >= 0 && x < labels->width && ((const uint32_t *)plx_row(labels, y))[x] == label;
}

static uint32_t percentile(const uint16_t *sorted, uint32_t n, uint32_t percent)
{
    return sorted[(uint64_t)(n - 1) * percent / 100];
}

static void inner_box(const struct plx_image *labels, uint32_t label, struct plx_region *ret)
{
    const int w = labels->width, h = labels->height;
    int *column = oracle_allocate(1, (size_t)w * sizeof *column), *row = oracle_allocate(1, (size_t)h * sizeof *row);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const bool inside = has_label(labels, x, y, label);
            column[x] += inside;
            row[y] += inside;
        }
    half_full(column, w, &ret->inner_x0, &ret->inner_x1);
    half_full(row, h, &ret->inner_y0, &ret->inner_y1);
    free(column);
    free(row);
}

/* The part of a region whose pixels give a refined disparity. */
enum part { INTERIOR, LEFT_STRIP, RIGHT_STRIP };

static bool in_part(const struct plx_region *region, enum part part, int x, uint16_t d)
{
    return part == INTERIOR     ? abs((int)d - (int)region->median) <= 8
           : part == LEFT_STRIP ? x < region->inner_x0 + 7
                                : x > region->inner_x1 - 7;
}

/* The sums of one part with every disparity changed by SHIFT, 1/16 px; *ret_ge is the sum of g e. */
static struct plx_refined refined(const struct plx_region_input *in, const struct plx_region *region, enum part part, int shift,
                                  int64_t *ret_ge)
{
    struct plx_refined sums = {0, 0};
    *ret_ge = 0;
    for (int y = region->y0; y <= region->y1; y++)
        for (int x = region->x0; x <= region->x1; x++) {
            bool inside = x > 0 && x < in->labels->width - 1 && has_label(in->labels, x, y, region->label);
            for (int k = 1; k <= 3; k++)
                inside =
                    inside && has_label(in->labels, x - k, y, region->label) && has_label(in->labels, x + k, y, region->label);
            const uint16_t d = value(in->disparity, x, y);
            if (!inside || !in_part(region, part, x, d))
                continue;
            const int tried = d + shift, sixteenths = 16 * (x - in->min_disparity) - tried;
            if (sixteenths < 0 || sixteenths / 16 > in->labels->width - 2)
                continue;
            const uint8_t *left = plx_row(in->left, y), *right = (uint8_t *)plx_row(in->right, y) + sixteenths / 16;
            const int64_t g = left[x + 1] - left[x - 1], part_of = sixteenths % 16;
            const int64_t e = 16 * left[x] - right[0] * (16 - part_of) - right[1] * part_of;
            if (e > 640 || e < -640)
                continue;
            sums.weight += g * g;
            sums.sum += g * g * tried - 2 * g * e;
            *ret_ge += g * e;
        }
    return sums;
}

/* The first step, 1/16 px: -2 ge / weight, rounded half away from zero, limited to +-12. */
static int first_step(int64_t weight, int64_t ge)
{
    if (weight == 0)
        return 0;
    const int64_t size = ((ge < 0 ? -ge : ge) * 4 + weight) / (2 * weight), most = size < 12 ? size : 12;
    return (int)(ge > 0 ? -most : most);
}

static void region(const struct plx_region_input *in, uint32_t label, struct plx_region *ret)
{
    const int w = in->labels->width, h = in->labels->height;
    uint16_t *sorted = oracle_allocate(1, (size_t)w * (size_t)h * sizeof *sorted);
    int64_t ge;

    *ret = (struct plx_region){.label = label, .x0 = w, .y0 = h, .x1 = -1, .y1 = -1};
    for (int i = w * h - 1; i >= 0; i--) {
        const int x = i % w, y = i / w;
        if (!has_label(in->labels, x, y, label))
            continue;
        sorted[ret->area++] = value(in->disparity, x, y);
        ret->first = (uint32_t)i;
        ret->x0 = x < ret->x0 ? x : ret->x0;
        ret->y0 = y < ret->y0 ? y : ret->y0;
        ret->x1 = x > ret->x1 ? x : ret->x1;
        ret->y1 = y > ret->y1 ? y : ret->y1;
        ret->sum_x += (uint64_t)x;
        ret->sum_y += (uint64_t)y;
    }
    qsort(sorted, ret->area, sizeof *sorted, ascending);
    ret->p05 = percentile(sorted, ret->area, 5);
    ret->median = percentile(sorted, ret->area, 50);
    ret->p95 = percentile(sorted, ret->area, 95);
    free(sorted);
    for (int i = 0; i < w * h; i++) {
        const uint16_t d = value(in->disparity, i % w, i / w);
        if (!has_label(in->labels, i % w, i / w, label) || !in_part(ret, INTERIOR, 0, d))
            continue;
        ret->interior_area++;
        ret->interior_sum_d += d;
        ret->interior_sum_x += (uint64_t)(i % w);
        ret->interior_sum_y += (uint64_t)(i / w);
    }
    inner_box(in->labels, label, ret);
    ret->interior = refined(in, ret, INTERIOR, 0, &ge);
    const int shift = first_step(ret->interior.weight, ge);
    ret->interior = refined(in, ret, INTERIOR, shift, &ge);
    ret->left = refined(in, ret, LEFT_STRIP, shift, &ge);
    ret->right = refined(in, ret, RIGHT_STRIP, shift, &ge);
}

void oracle_regions(const struct plx_region_input *in, uint32_t count, struct plx_region *ret_regions,
                    const struct plx_image *ret_published)
{
    memset(ret_regions, 0, PLX_MAX_OBSTACLES * sizeof *ret_regions);
    for (uint32_t i = 0; i < count && i < PLX_MAX_OBSTACLES; i++)
        region(in, i + 1, &ret_regions[i]);
    for (int y = 0; y < in->labels->height; y++)
        for (int x = 0; x < in->labels->width; x++) {
            const uint32_t label = ((const uint32_t *)plx_row(in->labels, y))[x];
            ((uint16_t *)plx_row(ret_published, y))[x] = label <= PLX_MAX_OBSTACLES ? (uint16_t)label : 0xFFFF;
        }
}
