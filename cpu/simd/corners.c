/* SPDX-License-Identifier: Apache-2.0 */
/* Stage corners: the strongest corner of each cell (core/motion/corners.h). */
#include "cpu/simd/simd.h"

#include "core/motion/corners.h"

#define CELL PLX_CORNER_CELL
#define TILE 8               /* cells side by side that are computed together: all of it stays in the first cache */
#define PIXELS (TILE * CELL) /* in a row of them */
#define REACH (PLX_CORNER_WINDOW / 2)
#define SUMS (PIXELS + 2 * REACH)   /* columns: the windows overlap */
#define PRODUCTS (CELL + 2 * REACH) /* rows of gradients that the windows cover */
#define TENSOR 3                    /* xx, xy, yy */

static int clamp(int value, int most)
{
    return value < 0 ? 0 : value < most ? value : most;
}

/* Row Y of the image of half size, SUMS + 2 pixels from X on. Beyond the border pixels repeat: no corner depends on them. */
static void halve_row(const struct plx_image *left, int x, int y, uint8_t ret[SUMS + 2])
{
    const int row = clamp(y, left->height / 2 - 1), width = left->width / 2;
    const int begin = x < 0 ? -x : 0, end = width - x < SUMS + 2 ? width - x : SUMS + 2; /* inside */
    const uint8_t *upper = plx_row(left, 2 * row), *lower = plx_row(left, 2 * row + 1);

    for (int i = begin; i < end; i++) {
        const int at = 2 * (x + i);
        ret[i] = (uint8_t)((upper[at] + upper[at + 1] + lower[at] + lower[at + 1] + 2) >> 2);
    }
    for (int i = 0; i < begin; i++)
        ret[i] = ret[begin];
    for (int i = end; i < SUMS + 2; i++)
        ret[i] = ret[end - 1];
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
static void find_in_tile(const struct plx_image *left, const struct plx_image *grid, int column, int row)
{
    const int width = left->width / 2, height = left->height / 2, x = column * CELL, y = row * CELL;
    const int cells = grid->width - column < TILE ? grid->width - column : TILE;
    struct plx_corner_cell *cell = (struct plx_corner_cell *)plx_row(grid, row) + column;
    uint8_t pixel[PRODUCTS + 2][SUMS + 2];
    int32_t product[PLX_CORNER_WINDOW + PRODUCTS][TENSOR][SUMS], column_sum[TENSOR][SUMS] = {{0}}; /* first: rows of zeros */
    float strength[PIXELS];

    memset(cell, 0, (size_t)cells * sizeof *cell);
    if (width <= 2 * PLX_CORNER_MARGIN || height <= 2 * PLX_CORNER_MARGIN)
        return;
    for (int i = 0; i < PRODUCTS + 2; i++)
        halve_row(left, x - REACH - 1, y - REACH - 1 + i, pixel[i]);
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

void PLX_KERNEL(corners)(const struct plx_image *left, const struct plx_image *cells, int row)
{
    for (int column = 0; column < cells->width; column += TILE)
        find_in_tile(left, cells, column, row);
}
