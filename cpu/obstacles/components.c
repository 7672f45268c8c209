/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connected components of an image, and the stages made of them: speckle and label. Union-find over runs, row by row: find the
 * runs of a row, then merge each run with the linked runs of the row above. Two runs are compared only up to the first linked
 * pair of pixels, so unless the image is noise the cost is that of reading it. Path halving keeps noise near linear too.
 */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "core/ground/obstacles.h"
#include "cpu/internal.h"
#include "cpu/obstacles/union_find.h"

#define DIGIT_BITS 9
#define DIGITS (1u << DIGIT_BITS)
#define AREA_BITS 27 /* PLX_MAX_SIDE squared needs 26 and one */

struct run {
    uint16_t x0, x1; /* columns x0 .. x1 - 1 */
};

/* Runs are numbered in raster order; the root of a component is its first run, so it begins with the component's first pixel.
 */
struct plx_components {
    uint32_t *row;      /* [height + 1] first run of each row */
    struct run *run;    /* [row[height]] */
    uint32_t *root;     /* root of each run */
    uint32_t *area;     /* area of each root, pixels; 0 for other runs */
    uint32_t *order[2]; /* scratch of sorting, as many as there can be runs */
};

int plx_components_create(const struct plx_limits *limits, struct plx_components **ret_components)
{
    const size_t height = (size_t)limits->height, runs = (size_t)limits->width * height;
    struct plx_components *c = calloc(1, sizeof *c);
    if (!c)
        return PLX_ERR_NOMEM;
    c->row = malloc((height + 1) * sizeof *c->row);
    c->run = malloc(runs * sizeof *c->run);
    c->root = malloc(runs * sizeof *c->root);
    c->area = malloc(runs * sizeof *c->area);
    c->order[0] = malloc(runs * sizeof *c->order[0]);
    c->order[1] = malloc(runs * sizeof *c->order[1]);
    if (!c->row || !c->run || !c->root || !c->area || !c->order[0] || !c->order[1]) {
        plx_components_destroy(c);
        return PLX_ERR_NOMEM;
    }
    *ret_components = c;
    return 0;
}

void plx_components_destroy(struct plx_components *components)
{
    if (!components)
        return;
    free(components->row);
    free(components->run);
    free(components->root);
    free(components->area);
    free(components->order[0]);
    free(components->order[1]);
    free(components);
}

static bool linked(uint16_t a, uint16_t b, int max_step)
{
    return abs((int)a - (int)b) <= max_step;
}

/* First column at or after X that is not masked out; eight at a time. */
static int skip_masked(const uint8_t *mask, int x, int width)
{
    uint64_t eight;
    for (; x + 8 <= width; x += 8) {
        memcpy(&eight, mask + x, sizeof eight);
        if (eight != 0)
            break;
    }
    while (x < width && mask[x] == 0)
        x++;
    return x;
}

/* Finds the runs of a row: pixels linked with their left neighbour. Returns how many. MASK may be NULL. */
static uint32_t find_runs(const uint8_t *mask, const uint16_t *disparity, int width, int max_step, struct run *run)
{
    uint32_t count = 0;
    int x = 0;

    for (;;) {
        if (mask)
            x = skip_masked(mask, x, width);
        while (x < width && disparity[x] == PLX_DISPARITY_INVALID && (!mask || mask[x] != 0))
            x++;
        if (x >= width)
            return count;
        if (mask && mask[x] == 0)
            continue;
        const int start = x++;
        while (x < width && disparity[x] != PLX_DISPARITY_INVALID && (!mask || mask[x] != 0) &&
               linked(disparity[x], disparity[x - 1], max_step))
            x++;
        run[count++] = (struct run){(uint16_t)start, (uint16_t)x};
    }
}

/* True if a pixel of run A in ROW_A is linked with a pixel of run B in ROW_B, up to REACH columns aside. */
static bool runs_linked(struct run a, const uint16_t *row_a, struct run b, const uint16_t *row_b, int reach, int max_step)
{
    for (int dx = -reach; dx <= reach; dx++) {
        const int from = b.x0 - dx > a.x0 ? b.x0 - dx : a.x0;
        const int to = b.x1 - dx < a.x1 ? b.x1 - dx : a.x1;
        for (int x = from; x < to; x++)
            if (linked(row_a[x], row_b[x + dx], max_step))
                return true;
    }
    return false;
}

/* Merges the runs [begin, end) of a row with those of the row above, [above, begin). */
static void merge_rows(struct plx_components *c, uint32_t above, uint32_t begin, uint32_t end, const uint16_t *row,
                       const uint16_t *row_above, int reach, int max_step)
{
    for (uint32_t i = begin; i < end; i++) {
        while (above < begin && c->run[above].x1 + reach <= c->run[i].x0)
            above++;
        for (uint32_t k = above; k < begin && c->run[k].x0 < c->run[i].x1 + reach; k++)
            if (c->root[k] != c->root[i] && runs_linked(c->run[i], row, c->run[k], row_above, reach, max_step))
                plx_union_merge(c->root, k, i);
    }
}

/* Finds the components of the pixels that have a disparity and, if MASK is not NULL, a mask that is not 0. Neighbours belong
 * together if their disparities differ by no more than MAX_STEP. REACH: 0 for 4 neighbours, 1 for 8. */
static void find_components(struct plx_components *c, const struct plx_image *mask, const struct plx_image *disparity,
                            int max_step, int reach)
{
    c->row[0] = 0;
    for (int y = 0; y < disparity->height; y++) {
        const uint16_t *row = plx_row(disparity, y);
        const uint32_t begin = c->row[y];
        const uint32_t end = begin + find_runs(mask ? plx_row(mask, y) : NULL, row, disparity->width, max_step, c->run + begin);
        c->row[y + 1] = end;
        for (uint32_t i = begin; i < end; i++)
            c->root[i] = i;
        if (y > 0)
            merge_rows(c, c->row[y - 1], begin, end, row, plx_row(disparity, y - 1), reach, max_step);
    }

    const uint32_t runs = c->row[disparity->height];
    memset(c->area, 0, runs * sizeof *c->area);
    for (uint32_t i = 0; i < runs; i++) {
        c->root[i] = c->root[c->root[i]]; /* roots come first, so the one above is final */
        c->area[c->root[i]] += (uint32_t)(c->run[i].x1 - c->run[i].x0);
    }
}

/* Stage speckle: small patches of disparity that differ from their surroundings become invalid. */
int plx_cpu_speckle(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                    const struct plx_image *dst)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct plx_components *c = cpu->components;

    const int result = speckle->max_step < 0 ? PLX_ERR_ARG : PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U16}, {dst, PLX_U16});
    if (result < 0)
        return result;

    find_components(c, NULL, src, speckle->max_step, 0);
    for (int y = 0; y < src->height; y++) {
        uint16_t *row = plx_row(dst, y);
        memcpy(row, plx_row(src, y), (size_t)src->width * sizeof *row);
        for (uint32_t i = c->row[y]; i < c->row[y + 1]; i++) {
            const struct run run = c->run[i];
            if ((int64_t)c->area[c->root[i]] < speckle->max_size)
                memset(row + run.x0, 0xFF, (size_t)(run.x1 - run.x0) * sizeof *row);
        }
    }
    return 0;
}

/* Lists the roots of at least MIN_AREA pixels in raster order; returns how many. */
static uint32_t list_roots(const struct plx_components *c, uint32_t runs, int min_area, uint32_t *order)
{
    const uint32_t least = min_area > 1 ? (uint32_t)min_area : 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < runs; i++)
        if (c->area[i] >= least)
            order[count++] = i;
    return count;
}

/* Sorts by one digit of the area, descending and stable. False, and nothing done, if all have the same digit. */
static bool sort_by_digit(const uint32_t *area, const uint32_t *from, uint32_t *to, uint32_t count, int shift)
{
    uint32_t place[DIGITS] = {0}, before = 0;
    for (uint32_t i = 0; i < count; i++)
        place[area[from[i]] >> shift & (DIGITS - 1)]++;
    for (int digit = DIGITS - 1; digit >= 0; digit--) {
        const uint32_t n = place[digit];
        if (n == count)
            return false;
        place[digit] = before;
        before += n;
    }
    for (uint32_t i = 0; i < count; i++)
        to[place[area[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

/* Radix sort; returns the sorted one of the two lists. */
static const uint32_t *sort_by_area(struct plx_components *c, uint32_t count)
{
    uint32_t *from = c->order[0], *to = c->order[1];
    for (int shift = 0; shift < AREA_BITS && count > 1; shift += DIGIT_BITS) {
        if (!sort_by_digit(c->area, from, to, count, shift))
            continue;
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

static void write_labels(const struct plx_components *c, const uint32_t *label_of_root, const struct plx_image *ret_labels)
{
    for (int y = 0; y < ret_labels->height; y++) {
        uint32_t *label = plx_row(ret_labels, y);
        memset(label, 0, (size_t)ret_labels->width * sizeof *label);
        for (uint32_t i = c->row[y]; i < c->row[y + 1]; i++) {
            const struct run run = c->run[i];
            const uint32_t value = label_of_root[c->root[i]];
            for (int x = run.x0; x < run.x1; x++)
                label[x] = value;
        }
    }
}

/* Stage label: the components that are large enough, numbered by area, the largest first, then by first pixel. */
int plx_cpu_label(struct plx_stages *self, const struct plx_image *mask, const struct plx_image *disparity,
                  const struct plx_label_params *params, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct plx_components *c = cpu->components;

    if (params->max_step < 0)
        return PLX_ERR_ARG;
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {mask, PLX_U8}, {disparity, PLX_U16}, {ret_labels, PLX_U32});
    if (result < 0)
        return result;

    find_components(c, mask, disparity, params->max_step, 1);
    const uint32_t runs = c->row[mask->height];
    const uint32_t count = list_roots(c, runs, params->min_area, c->order[0]);
    const uint32_t *order = sort_by_area(c, count);

    uint32_t *label_of_root = c->area; /* takes the place of the areas, which are not needed any more */
    memset(label_of_root, 0, runs * sizeof *label_of_root);
    for (uint32_t i = 0; i < count; i++)
        label_of_root[order[i]] = i + 1;
    write_labels(c, label_of_root, ret_labels);
    *ret_count = count;
    return 0;
}
