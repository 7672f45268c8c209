/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/segments.h"

#include <stdbool.h>
#include <stdlib.h>

#include "oracle/allocate.h"

static struct plx_stixel *stixel_of(const struct plx_image *stixels, int number)
{
    return (struct plx_stixel *)plx_row(stixels, number / 8) + number % 8;
}

/* 300 mm, or 2 % of the larger disparity. */
static bool depths_agree(int64_t scale, int a, int b)
{
    const int64_t step = abs(a - b), one = a, other = b;
    return step * scale <= 300 * one * other || 100 * step <= 2 * (one > other ? one : other);
}

/* 700 mm, or 8/16 px up to 1500 mm. */
static bool depths_join(int64_t scale, int a, int b)
{
    const int64_t step = abs(a - b);
    return step * scale <= 700 * (int64_t)a * b || (step <= 8 && step * scale <= 1500 * (int64_t)a * b);
}

/* The middle of the stixel's column, half of its rows and its disparity lie within the box. */
static bool box_contains(const struct plx_predicted_box *box, const struct plx_stixel *s, int column)
{
    int rows = 0;

    for (int y = s->y0; y <= s->y1; y++)
        rows += y >= box->top && y <= box->bottom;
    return 4 * column + 2 >= box->left && 4 * column + 2 <= box->right && rows > 0 && 2 * rows >= s->y1 - s->y0 + 1 &&
           s->disparity >= box->far_disparity && s->disparity <= box->near_disparity;
}

/* One predicted box contains both of neighbouring columns, and they join or are within 5 % of the larger disparity. */
static bool predicted(const struct plx_image *stixels, int64_t scale, const struct plx_predictions *predictions, int a, int b)
{
    const struct plx_stixel *p = stixel_of(stixels, a), *q = stixel_of(stixels, b);
    const int larger = p->disparity > q->disparity ? p->disparity : q->disparity;

    if (!depths_join(scale, p->disparity, q->disparity) && 100 * abs(p->disparity - q->disparity) > 5 * larger)
        return false;
    for (int i = 0; i < predictions->count; i++)
        if (box_contains(&predictions->box[i], p, a / 8) && box_contains(&predictions->box[i], q, b / 8))
            return true;
    return false;
}

static bool linked(const struct plx_image *stixels, int64_t scale, const struct plx_predictions *predictions, int a, int b)
{
    const struct plx_stixel *p = stixel_of(stixels, a), *q = stixel_of(stixels, b);
    const int columns = abs(a / 8 - b / 8);

    if (p->disparity == 0 || q->disparity == 0 || columns > 1 || a == b)
        return false;
    const int common = (p->y1 < q->y1 ? p->y1 : q->y1) - (p->y0 > q->y0 ? p->y0 : q->y0) + 1;
    if (columns == 0)
        return 1 - common <= 4 && depths_agree(scale, p->disparity, q->disparity);
    return common >= 8 && (depths_agree(scale, p->disparity, q->disparity) || predicted(stixels, scale, predictions, a, b));
}

/* Gives all connected stixels their smallest number. */
static void name_stixels(const struct plx_image *stixels, int64_t scale, const struct plx_predictions *predictions, int *name)
{
    const int count = 8 * stixels->height;
    bool changed = true;

    for (int i = 0; i < count; i++)
        name[i] = i;
    while (changed) {
        changed = false;
        for (int a = 0; a < count; a++)
            for (int b = a - a % 8; b < a - a % 8 + 16 && b < count; b++)
                if (linked(stixels, scale, predictions, a, b) && name[a] != name[b]) {
                    name[a] = name[b] = name[a] < name[b] ? name[a] : name[b];
                    changed = true;
                }
    }
}

/* Gives a narrow segment and the segments beside it one name, the smallest; AREA: pixels by name, of the names as they are. */
static void join_narrow(const struct plx_image *stixels, int64_t scale, const int *area, int min_area, int *name)
{
    const int count = 8 * stixels->height;
    int *was = oracle_allocate((size_t)count, sizeof *was), *first = oracle_allocate((size_t)count, sizeof *first),
        *last = oracle_allocate((size_t)count, sizeof *last);
    bool changed = true;

    for (int i = 0; i < count; i++) {
        was[i] = name[i];
        first[i] = count;
    }
    for (int i = 0; i < count; i++) {
        first[was[i]] = i / 8 < first[was[i]] ? i / 8 : first[was[i]];
        last[was[i]] = i / 8 > last[was[i]] ? i / 8 : last[was[i]];
    }
    while (changed) {
        changed = false;
        for (int a = 0; a < count; a++)
            for (int b = a - a % 8 + 8; b < a - a % 8 + 16 && b < count; b++) {
                const struct plx_stixel *p = stixel_of(stixels, a), *q = stixel_of(stixels, b);
                const int end = p->y1 < q->y1 ? p->y1 : q->y1, begin = p->y0 > q->y0 ? p->y0 : q->y0;
                const int u = was[a], v = was[b];
                if (p->disparity > 0 && q->disparity > 0 && u != v && (last[u] - first[u] < 4 || last[v] - first[v] < 4) &&
                    area[u] >= min_area && area[v] >= min_area && end - begin + 1 >= 8 &&
                    depths_join(scale, p->disparity, q->disparity) && name[u] != name[v]) {
                    name[u] = name[v] = name[u] < name[v] ? name[u] : name[v];
                    changed = true;
                }
            }
    }
    for (int i = 0; i < count; i++)
        name[i] = name[was[i]];
    free(was);
    free(first);
    free(last);
}

static int64_t floor_divide(int64_t value, int64_t by)
{
    return value >= 0 ? value / by : -((-value + by - 1) / by);
}

/* The first stixel that pixel (x, y) lies on, -1 if none. */
static int stixel_at(const struct plx_image *disparity, const struct plx_ground *ground,
                     const struct plx_segments_params *params, const struct plx_image *stixels, int x, int y)
{
    const int d = ((const uint16_t *)plx_row(disparity, y))[x], p = d - params->infinity;
    int64_t g = floor_divide(ground->a * x + ground->b * y + ground->c, 65536) - params->infinity;

    g = g > 16383 ? 16383 : g < -16383 ? -16383 : g;
    const int64_t height = ground->camera_height_um * (p - g); /* times p */
    if (d == 0xFFFF || p < 1 ||
        (ground->valid && (height > (int64_t)p * params->max_height_um || height < (int64_t)p * params->min_height_um)))
        return -1;
    for (int i = 8 * (x / 4); i < 8 * (x / 4) + 8; i++) {
        const struct plx_stixel *s = stixel_of(stixels, i);
        const int step = abs(p - s->disparity);
        if (s->disparity > 0 && y >= s->y0 && y <= s->y1 && step <= 12 + s->disparity / 16 &&
            (step <= 2 || step * params->depth_scale <= 1250 * (int64_t)p * s->disparity))
            return i;
    }
    return -1;
}

void oracle_segments(const struct plx_image *disparity, const struct plx_ground *ground,
                     const struct plx_segments_params *params, const struct plx_predictions *predictions,
                     const struct plx_image *stixels, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    const int count = 8 * stixels->height;
    int *name = oracle_allocate((size_t)count, sizeof *name), *area = oracle_allocate((size_t)count, sizeof *area),
        *number = oracle_allocate((size_t)count, sizeof *number);
    uint32_t segments = 0;

    name_stixels(stixels, params->depth_scale, predictions, name);
    for (int y = 0; y < disparity->height; y++)
        for (int x = 0; x < disparity->width; x++) {
            const int stixel = stixel_at(disparity, ground, params, stixels, x, y);
            if (stixel >= 0)
                area[name[stixel]]++;
        }
    join_narrow(stixels, params->depth_scale, area, params->min_area, name);
    for (int i = 0; i < count; i++)
        if (name[i] != i && area[i] > 0) {
            area[name[i]] += area[i];
            area[i] = 0;
        }
    for (;;) {
        int largest = -1;
        for (int i = 0; i < count; i++)
            if (name[i] == i && number[i] == 0 && area[i] >= params->min_area && (largest < 0 || area[i] > area[largest]))
                largest = i;
        if (largest < 0)
            break;
        number[largest] = (int)++segments;
    }
    for (int y = 0; y < disparity->height; y++)
        for (int x = 0; x < disparity->width; x++) {
            const int stixel = stixel_at(disparity, ground, params, stixels, x, y);
            ((uint32_t *)plx_row(ret_labels, y))[x] = stixel < 0 ? 0 : (uint32_t)number[name[stixel]];
        }
    for (int i = 0; i < count; i++)
        stixel_of(stixels, i)->label = (uint16_t)(number[name[i]] <= 256 ? number[name[i]] : 65535);
    *ret_count = segments;
    free(name);
    free(area);
    free(number);
}
