/* SPDX-License-Identifier: Apache-2.0 */
/* Union-find over runs, in one pass over the rows: find the runs of a row, then merge each run with the linked runs of the row
 * above. Two runs are compared only up to the first linked pair of pixels, so unless the image is noise the cost is that of
 * reading it. Path halving keeps noise near linear too. */
#include "cpu/obstacles/components.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

int plx_components_create(int width, int height, struct plx_components **ret_components)
{
    const size_t runs = (size_t)width * (size_t)height;
    struct plx_components *c = calloc(1, sizeof *c);
    if (!c)
        return PLX_ERR_NOMEM;
    c->row = malloc(((size_t)height + 1) * sizeof *c->row);
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
static uint32_t find_runs(const uint8_t *mask, const uint16_t *disparity, int width, int max_step, struct plx_run *run)
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
        run[count++] = (struct plx_run){(uint16_t)start, (uint16_t)x};
    }
}

static uint32_t find(uint32_t *root, uint32_t i)
{
    while (root[i] != i)
        i = root[i] = root[root[i]];
    return i;
}

static void merge(uint32_t *root, uint32_t a, uint32_t b)
{
    a = find(root, a);
    b = find(root, b);
    if (a < b)
        root[b] = a;
    else
        root[a] = b;
}

/* True if a pixel of run A in ROW_A is linked with a pixel of run B in ROW_B, up to REACH columns aside. */
static bool runs_linked(struct plx_run a, const uint16_t *row_a, struct plx_run b, const uint16_t *row_b, int reach,
                        int max_step)
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
                merge(c->root, k, i);
    }
}

void plx_components_find(struct plx_components *components, const struct plx_image *mask, const struct plx_image *disparity,
                         int max_step, enum plx_connectivity connectivity)
{
    struct plx_components *c = components;
    const int reach = connectivity == PLX_CONNECT_8 ? 1 : 0;

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
