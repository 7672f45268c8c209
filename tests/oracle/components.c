/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/components.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/frame.h>

struct component {
    uint32_t first, area;
};

struct flood {
    int width, height;
    uint32_t *id; /* [height][width] 0 = background, n = component[n - 1] */
    struct component *component;
    uint32_t count;
};

static void *need(size_t bytes)
{
    void *data = calloc(1, bytes > 0 ? bytes : 1);
    if (!data) {
        fprintf(stderr, "no memory for an oracle\n");
        exit(1);
    }
    return data;
}

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
    struct flood f = {w, h, need(n * sizeof(uint32_t)), need(n * sizeof(struct component)), 0};
    uint32_t *stack = need(n * sizeof *stack);

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
    const struct component **order = need(f.count * sizeof *order);
    uint32_t *number = need((f.count + 1) * sizeof *number);
    uint32_t count = 0;

    for (uint32_t i = 0; i < f.count; i++)
        if ((int64_t)f.component[i].area >= params->min_area)
            order[count++] = &f.component[i];
    qsort(order, count, sizeof *order, larger_first);
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

/* First and last of N counters that hold at least half as much as the fullest. */
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

static void region(const struct plx_image *labels, const struct plx_image *disparity, uint32_t label, struct plx_region *ret)
{
    const int w = labels->width, h = labels->height;
    uint16_t *sorted = need((size_t)w * (size_t)h * sizeof *sorted);
    int *column = need((size_t)w * sizeof *column), *row = need((size_t)h * sizeof *row);

    *ret = (struct plx_region){.label = label, .x0 = w, .y0 = h, .x1 = -1, .y1 = -1};
    for (int i = w * h - 1; i >= 0; i--) {
        const int x = i % w, y = i / w;
        if (((const uint32_t *)plx_row(labels, y))[x] != label)
            continue;
        sorted[ret->area++] = value(disparity, x, y);
        ret->first = (uint32_t)i;
        ret->x0 = x < ret->x0 ? x : ret->x0;
        ret->y0 = y < ret->y0 ? y : ret->y0;
        ret->x1 = x > ret->x1 ? x : ret->x1;
        ret->y1 = y > ret->y1 ? y : ret->y1;
        ret->sum_x += (uint64_t)x;
        ret->sum_y += (uint64_t)y;
    }
    qsort(sorted, ret->area, sizeof *sorted, ascending);
    ret->p05 = sorted[(uint64_t)(ret->area - 1) * 5 / 100];
    ret->median = sorted[(ret->area - 1) / 2];
    ret->p95 = sorted[(uint64_t)(ret->area - 1) * 95 / 100];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const uint16_t d = value(disparity, x, y);
            if (((const uint32_t *)plx_row(labels, y))[x] != label || abs((int)d - (int)ret->median) > PLX_FACE_DEPTH)
                continue;
            ret->face_area++;
            ret->face_sum += d;
            column[x]++;
            row[y]++;
        }
    half_full(column, w, &ret->face_x0, &ret->face_x1);
    half_full(row, h, &ret->face_y0, &ret->face_y1);
    free(sorted);
    free(column);
    free(row);
}

void oracle_regions(const struct plx_image *labels, const struct plx_image *disparity, uint32_t count,
                    struct plx_region *ret_regions, const struct plx_image *ret_published)
{
    memset(ret_regions, 0, PLX_MAX_OBSTACLES * sizeof *ret_regions);
    for (uint32_t i = 0; i < count && i < PLX_MAX_OBSTACLES; i++)
        region(labels, disparity, i + 1, &ret_regions[i]);
    for (int y = 0; y < labels->height; y++)
        for (int x = 0; x < labels->width; x++) {
            const uint32_t label = ((const uint32_t *)plx_row(labels, y))[x];
            ((uint16_t *)plx_row(ret_published, y))[x] = label <= PLX_MAX_OBSTACLES ? (uint16_t)label : 0xFFFF;
        }
}
