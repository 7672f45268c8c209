/* SPDX-License-Identifier: Apache-2.0 */
/* The columns stage: values of cells, costs of ground, and the path through a column (core/ground/columns.h). */
#include "cpu/simd/simd.h"

/* plx_cell_pixel of a row. No product overflows: focal_px is at most PLX_COLUMNS_MAX_FOCAL. */
INLINE void drop_veils(const struct plx_columns_params *params, const uint16_t *restrict row, int width, uint16_t *restrict out)
{
    const int focal = params->mask.focal_px, infinity = params->mask.infinity;

    memcpy(out, row, (size_t)width * sizeof *row);
    for (int x = PLX_VEIL_REACH; x < width - PLX_VEIL_REACH; x++) {
        const int left = row[x - PLX_VEIL_REACH], d = row[x], right = row[x + PLX_VEIL_REACH];
        const int step = left > right ? left - right : right - left;
        const int sides = (left != (int)PLX_DISPARITY_INVALID) & (right != (int)PLX_DISPARITY_INVALID);
        const int veil = sides & (step * focal > PLX_VEIL_SLOPE * (d - infinity)); /* no branch: it is vectorized */
        out[x] = (uint16_t)(veil ? (int)PLX_DISPARITY_INVALID : d);
    }
}

/* plx_cell_median of LANES16 cells but for the offset: 0xFFFF where it is unknown. PIXELS: [8][LANES16]. */
INLINE u16v median(const uint16_t *pixels)
{
    u16v pixel[PLX_CELL_PIXELS], valid = all16(0), value = all16(0);

    for (int i = 0; i < PLX_CELL_PIXELS; i++) {
        pixel[i] = load16(pixels + i * LANES16);
        valid -= (u16v)(pixel[i] != all16(PLX_DISPARITY_INVALID));
    }
    for (int end = PLX_CELL_PIXELS - 1; end > 0; end--)
        for (int i = 0; i < end; i++) {
            const u16v a = pixel[i], b = pixel[i + 1];
            pixel[i] = min16(a, b);
            pixel[i + 1] = max16(a, b);
        }
    for (int i = 0; i < PLX_CELL_PIXELS; i++)
        value |= pixel[i] & (u16v)(valid >> 1 == all16((uint16_t)i));
    return value | (u16v)(valid < all16(3));
}

void PLX_KERNEL(cells)(const struct plx_columns_params *params, const uint16_t *first, const uint16_t *second, int width,
                       uint16_t *scratch, int16_t *ret_values)
{
    const int columns = plx_columns_of(width), padded = PLX_CELL_WIDTH * columns + PLX_CELL_WIDTH * LANES16;
    uint16_t *row[PLX_CELL_HEIGHT] = {scratch, scratch + padded};

    memset(scratch, 0xFF, (size_t)padded * PLX_CELL_HEIGHT * sizeof *scratch);
    drop_veils(params, first, width, row[0]);
    if (second)
        drop_veils(params, second, width, row[1]);
    for (int column = 0; column < columns; column += LANES16) {
        uint16_t pixels[PLX_CELL_PIXELS * LANES16], values[LANES16];

        for (int i = 0; i < PLX_CELL_PIXELS; i++)
            for (int lane = 0; lane < LANES16; lane++)
                pixels[i * LANES16 + lane] = row[i / PLX_CELL_WIDTH][PLX_CELL_WIDTH * (column + lane) + i % PLX_CELL_WIDTH];
        store16(values, median(pixels));
        for (int lane = 0; lane < LANES16 && column + lane < columns; lane++)
            ret_values[column + lane] =
                (int16_t)(values[lane] == PLX_DISPARITY_INVALID
                              ? PLX_CELL_UNKNOWN
                              : plx_cell_clamp((int64_t)values[lane] - params->mask.infinity, PLX_CELL_LIMIT));
    }
}

#define GROUND_LANES 16 /* the states of the ground, and more that are never the best */

/* What does not depend on the cell: k raises ground by FACTOR / 65536, and by WHOLE: all of it or nothing. */
struct ground_lanes {
    uint16_t factor[GROUND_LANES], whole[GROUND_LANES], beyond[GROUND_LANES];
};

/* plx_ground_cost of all k; in the lanes beyond, 255. G is not negative. 16 bits suffice: VALUE and G are within
 * PLX_CELL_LIMIT, and both sides of the step are moved by one more than that, so that neither is negative. */
INLINE void ground_cost(int value, int g, const struct ground_lanes *lanes, uint8_t *ret_cost)
{
    const uint16_t offset = PLX_CELL_LIMIT + 1, seen = (uint16_t)(value + offset), ground = (uint16_t)g;

    for (int i = 0; i < GROUND_LANES; i++) {
        const uint16_t part = (uint16_t)((uint32_t)ground * lanes->factor[i] >> 16);
        const uint16_t raised = (uint16_t)((ground & lanes->whole[i]) + part), there = (uint16_t)(raised + offset);
        const uint16_t step = (uint16_t)(seen > there ? seen - there : there - seen);
        const uint16_t near = (uint16_t)(4 + (raised >> 6)), over = (uint16_t)(step > near ? step - near : 0);
        const uint16_t cost = (uint16_t)(over >> 1);
        ret_cost[i] = (uint8_t)((cost < PLX_PATH_WRONG ? cost : PLX_PATH_WRONG) | lanes->beyond[i]);
    }
}

static void ground_costs(const struct plx_path *path)
{
    struct ground_lanes lanes;

    for (int i = 0; i < GROUND_LANES; i++) {
        const int factor = i < PLX_PATH_GROUNDS ? (1 << 21) / (32 - (i - PLX_PATH_MIDDLE)) : 0;
        lanes.factor[i] = (uint16_t)(factor & 0xFFFF);
        lanes.whole[i] = factor >> 16 ? 0xFFFF : 0;
        lanes.beyond[i] = i < PLX_PATH_GROUNDS ? 0 : 255;
    }
    for (int y = 0; y < path->rows; y++) {
        uint8_t *cost = path->ground_cost + (size_t)y * PLX_PATH_PADDING;
        if (!path->valid || path->ground[y] < PLX_GROUND_MIN)
            memset(cost, PLX_PATH_IMPOSSIBLE, PLX_PATH_GROUNDS);
        else if (path->value[y] == PLX_CELL_UNKNOWN)
            memset(cost, 0, PLX_PATH_GROUNDS);
        else
            ground_cost(path->value[y], path->ground[y], &lanes, cost);
    }
}

#define MAX_VECTORS (256 / LANES8 + 1)

/* The least costs P - M of row Y from those of the row below, P. The costs of things are read from a table, those of ground are
 * the last vector of the row; beyond its states are 255, which saturates and is the predecessor of nothing. */
INLINE void follow_row(const struct plx_path *path, int vectors, int y, u8v p[MAX_VECTORS])
{
    const u8v most = all8(255), jump = all8(PLX_PATH_JUMP);
    const uint8_t *things = plx_thing_costs(path, y), *ground = path->ground_cost + (size_t)y * PLX_PATH_PADDING;
    uint8_t *out = path->p + (size_t)y * ((size_t)vectors * LANES8 + PLX_PATH_PADDING);
    u8v least = most, l[MAX_VECTORS];

    for (int i = 0; i <= vectors; i++) {
        const bool thing = i < vectors;
        const u8v below = thing && i > 0 ? p[i - 1] : most, above = i + 1 < vectors ? p[i + 1] : most;
        const u8v near = min8(shift_up(p[i], below), shift_down(p[i], above));
        const u8v step = all8(thing ? PLX_PATH_THING_STEP : PLX_PATH_GROUND_STEP);
        l[i] = adds8(min8(min8(p[i], adds8(near, step)), jump), load8(thing ? things + i * LANES8 : ground));
        least = min8(least, l[i]);
    }
    least = least8(least);
    for (int i = 0; i <= vectors; i++) {
        p[i] = l[i] - least;
        store8(out + i * LANES8, p[i]);
    }
}

INLINE void follow(const struct plx_path *path, int count, int vectors)
{
    u8v p[PLX_PATHS][MAX_VECTORS];

    for (int k = 0; k < count; k++)
        for (int i = 0; i <= vectors; i++)
            p[k][i] = all8(0);
    for (int y = path->rows - 1; y >= 0; y--)
        for (int k = 0; k < count; k++)
            follow_row(&path[k], vectors, y, p[k]);
}

INLINE void follow_any(const struct plx_path *path, int count)
{
    switch (path->disparities) {
    case 64:
        follow(path, count, 64 / LANES8);
        break;
    case 128:
        follow(path, count, 128 / LANES8);
        break;
    case 256:
        follow(path, count, 256 / LANES8);
        break;
    }
}

void PLX_KERNEL(paths)(const struct plx_path *path, int count)
{
    for (int k = 0; k < count; k++)
        ground_costs(&path[k]);
    if (count == PLX_PATHS)
        follow_any(path, PLX_PATHS);
    else
        for (int k = 0; k < count; k++)
            follow_any(&path[k], 1);
}
