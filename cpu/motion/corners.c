/* SPDX-License-Identifier: Apache-2.0 */
/* Stage corners, the strongest corner of each cell, and stage corner_disparities. */
#include <string.h>

#include <parallax/error.h>

#include "core/motion/corners.h"
#include "cpu/internal.h"

#define CELL PLX_CORNER_CELL
#define TILE 8               /* cells side by side that are computed together: all of it stays in the first cache */
#define PIXELS (TILE * CELL) /* in a row of them */
#define REACH (PLX_CORNER_WINDOW / 2)
#define SUMS (PIXELS + 2 * REACH)   /* columns: the windows overlap */
#define PRODUCTS (CELL + 2 * REACH) /* rows of gradients that the windows cover */
#define TENSOR 3                    /* xx, xy, yy */

struct corners_job {
    const struct plx_image *left, *cells;
};

static int clamp(int value, int most)
{
    return value < 0 ? 0 : value < most ? value : most;
}

/* Row Y of the picture of half size, SUMS + 2 pixels from X on. Beyond the border pixels repeat: no corner depends on them. */
static void halve_row(const struct plx_image *left, int x, int y, uint8_t ret[SUMS + 2])
{
    const int row = clamp(y, left->height / 2 - 1), last = left->width / 2 - 1;
    const uint8_t *upper = plx_row(left, 2 * row), *lower = plx_row(left, 2 * row + 1);

    if (x >= 0 && x + SUMS + 1 <= last) {
        upper += 2 * x;
        lower += 2 * x;
        for (int i = 0; i < SUMS + 2; i++)
            ret[i] = (uint8_t)((upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1] + 2) >> 2);
        return;
    }
    for (int i = 0; i < SUMS + 2; i++) {
        const int at = 2 * clamp(x + i, last);
        ret[i] = (uint8_t)((upper[at] + upper[at + 1] + lower[at] + lower[at + 1] + 2) >> 2);
    }
}

/* Products of the gradients of the middle one of three rows. */
static void multiply_gradients(const uint8_t above[SUMS + 2], const uint8_t here[SUMS + 2], const uint8_t below[SUMS + 2],
                               int32_t ret[TENSOR][SUMS])
{
    for (int i = 0; i < SUMS; i++) {
        const int16_t gx = (int16_t)(here[i + 2] - here[i]), gy = (int16_t)(below[i + 1] - above[i + 1]);
        ret[0][i] = gx * gx;
        ret[1][i] = gx * gy;
        ret[2][i] = gy * gy;
    }
}

/* COLUMN, products summed over the rows of a window: adds row ADDED, and takes row GONE away. */
static void move_sums(int32_t (*added)[SUMS], int32_t (*gone)[SUMS], int32_t column[TENSOR][SUMS])
{
    for (int k = 0; k < TENSOR; k++)
        for (int i = 0; i < SUMS; i++)
            column[k][i] += added[k][i] - gone[k][i];
}

static void find_strengths(int32_t column[TENSOR][SUMS], float ret[PIXELS])
{
    for (int i = 0; i < PIXELS; i++) {
        int32_t sum[TENSOR];
        for (int k = 0; k < TENSOR; k++)
            sum[k] = column[k][i] + column[k][i + 1] + column[k][i + 2] + column[k][i + 3] + column[k][i + 4];
        ret[i] = plx_corner_strength(sum[0], sum[1], sum[2]);
    }
}
_Static_assert(PLX_CORNER_WINDOW == 5, "find_strengths adds five columns");

/* Sets to 0 what lies outside of BEGIN .. END - 1. */
static void clear_outside(float strength[PIXELS], int begin, int end)
{
    for (int i = 0; i < begin && i < PIXELS; i++)
        strength[i] = 0;
    for (int i = end > 0 ? end : 0; i < PIXELS; i++)
        strength[i] = 0;
}

/* Notes a pixel of row Y of a cell that begins at column X, if it is stronger than all before. */
static void note_strongest(const float strength[CELL], int x, int y, struct plx_corner_cell *cell)
{
    float most = 0;
    for (int i = 0; i < CELL; i++)
        most = strength[i] > most ? strength[i] : most;
    if (!(most > (cell->strength > 0 ? cell->strength : PLX_CORNER_MIN_STRENGTH)))
        return;
    int at = 0;
    while (strength[at] < most)
        at++;
    *cell = (struct plx_corner_cell){.strength = most, .x = (uint16_t)(x + at), .y = (uint16_t)y};
}

/* TILE cells, or as many as there are, from COLUMN on. */
static void find_in_tile(const struct corners_job *job, int column, int row)
{
    const int width = job->left->width / 2, height = job->left->height / 2, x = column * CELL, y = row * CELL;
    const int cells = job->cells->width - column < TILE ? job->cells->width - column : TILE;
    struct plx_corner_cell *cell = (struct plx_corner_cell *)plx_row(job->cells, row) + column;
    uint8_t pixel[PRODUCTS + 2][SUMS + 2];
    int32_t product[PLX_CORNER_WINDOW + PRODUCTS][TENSOR][SUMS], column_sum[TENSOR][SUMS] = {{0}}; /* first: rows of zeros */
    float strength[PIXELS];

    memset(cell, 0, (size_t)cells * sizeof *cell);
    if (width <= 2 * PLX_CORNER_MARGIN || height <= 2 * PLX_CORNER_MARGIN)
        return;
    for (int i = 0; i < PRODUCTS + 2; i++)
        halve_row(job->left, x - REACH - 1, y - REACH - 1 + i, pixel[i]);
    for (int i = 0; i < PRODUCTS; i++)
        multiply_gradients(pixel[i], pixel[i + 1], pixel[i + 2], product[PLX_CORNER_WINDOW + i]);
    memset(product, 0, PLX_CORNER_WINDOW * sizeof product[0]);
    for (int i = 0; i < PRODUCTS; i++) {
        const int v = y + i - 2 * REACH;
        move_sums(product[PLX_CORNER_WINDOW + i], product[i], column_sum);
        if (i < 2 * REACH || v < PLX_CORNER_MARGIN || v >= height - PLX_CORNER_MARGIN)
            continue;
        find_strengths(column_sum, strength);
        clear_outside(strength, PLX_CORNER_MARGIN - x, width - PLX_CORNER_MARGIN - x);
        for (int c = 0; c < cells; c++)
            note_strongest(&strength[c * CELL], x + c * CELL, v, &cell[c]);
    }
}

static void find_in_row(void *argument, int row)
{
    const struct corners_job *job = argument;
    for (int column = 0; column < job->cells->width; column += TILE)
        find_in_tile(job, column, row);
}

int plx_cpu_corners(struct plx_stages *self, const struct plx_image *left, const struct plx_image *ret_cells)
{
    struct plx_cpu *cpu = plx_cpu(self);
    struct corners_job job = {left, ret_cells};

    const int result = PLX_CPU_CHECK_IMAGES(cpu, {left, PLX_U8});
    if (result < 0)
        return result;
    if (!plx_corner_cells_ok(left->width, left->height, ret_cells))
        return PLX_ERR_ARG;
    plx_pool_run_rows(cpu->pool, ret_cells->height, find_in_row, &job);
    return 0;
}

/* --- disparities -------------------------------------------------------------------------------------------------- */

struct disparities_job {
    const struct plx_image *disparity, *cells;
};

static void enter_disparities(void *argument, int row)
{
    const struct disparities_job *job = argument;
    const struct plx_image *d = job->disparity;
    struct plx_corner_cell *cell = plx_row(job->cells, row);

    for (int i = 0; i < job->cells->width; i++)
        if (cell[i].strength > 0)
            cell[i].disparity = plx_corner_disparity(d->data, d->pitch, d->width, d->height, cell[i].x, cell[i].y);
}

int plx_cpu_corner_disparities(struct plx_stages *self, const struct plx_image *disparity, const struct plx_flow_job *flow,
                               const struct plx_image *cells, struct plx_flow_found *found)
{
    struct plx_cpu *cpu = plx_cpu(self);
    struct disparities_job job = {disparity, cells};

    const int result = PLX_CPU_CHECK_IMAGES(cpu, {disparity, PLX_U16});
    if (result < 0)
        return result;
    if (!plx_corner_cells_ok(disparity->width, disparity->height, cells))
        return PLX_ERR_ARG;
    plx_pool_run_rows(cpu->pool, cells->height, enter_disparities, &job);
    for (uint32_t i = 0; i < flow->count && i < PLX_MAX_CORNERS; i++)
        found[i].disparity = plx_disparity_between(disparity, found[i].at[0], found[i].at[1]);
    return 0;
}
