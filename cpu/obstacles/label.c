/* SPDX-License-Identifier: Apache-2.0 */
/* Stage label: the components that are large enough, numbered by area, the largest first, then by first pixel. */
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"
#include "cpu/obstacles/components.h"

#define DIGIT_BITS 9
#define DIGITS (1u << DIGIT_BITS)
#define AREA_BITS 27 /* PLX_MAX_SIDE squared needs 26 and one */

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
            const struct plx_run run = c->run[i];
            const uint32_t value = label_of_root[c->root[i]];
            for (int x = run.x0; x < run.x1; x++)
                label[x] = value;
        }
    }
}

int plx_cpu_label(struct plx_stages *self, const struct plx_image *mask, const struct plx_image *disparity,
                  const struct plx_label_params *params, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    struct plx_components *c = cpu->components;

    if (!plx_image_ok(mask, PLX_U8) || !plx_image_ok(disparity, PLX_U16) || !plx_image_ok(ret_labels, PLX_U32) ||
        !plx_same_size(mask, disparity) || !plx_same_size(mask, ret_labels) || params->max_step < 0)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, mask))
        return PLX_ERR_RANGE;

    plx_components_find(c, mask, disparity, params->max_step, PLX_CONNECT_8);
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
