/* SPDX-License-Identifier: Apache-2.0 */
/* Stage corners: the strongest corner of each cell. */
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

/* Strengths of the pixels of a row of the tile; FIRST: products of the uppermost row of their windows. */
static void find_strengths(int32_t (*first)[TENSOR][SUMS], float ret[PIXELS])
{
    int32_t column[TENSOR][SUMS], tensor[TENSOR][PIXELS];

    for (int k = 0; k < TENSOR; k++) {
        for (int i = 0; i < SUMS; i++)
            column[k][i] = first[0][k][i] + first[1][k][i] + first[2][k][i] + first[3][k][i] + first[4][k][i];
        const int32_t *c = column[k];
        for (int i = 0; i < PIXELS; i++)
            tensor[k][i] = c[i] + c[i + 1] + c[i + 2] + c[i + 3] + c[i + 4];
    }
    for (int i = 0; i < PIXELS; i++)
        ret[i] = plx_corner_strength(tensor[0][i], tensor[1][i], tensor[2][i]);
}
_Static_assert(PLX_CORNER_WINDOW == 5, "find_strengths adds five rows and columns");

/* Notes the pixels of row Y, from X on, that are stronger than what their cells have. */
static void note_strongest(const float strength[PIXELS], int x, int y, int width, struct plx_corner_cell *cell)
{
    const int begin = x > PLX_CORNER_MARGIN ? x : PLX_CORNER_MARGIN;
    const int end = x + PIXELS < width - PLX_CORNER_MARGIN ? x + PIXELS : width - PLX_CORNER_MARGIN;

    for (int u = begin; u < end; u++) {
        struct plx_corner_cell *own = &cell[(u - x) / CELL];
        const float least = own->strength > 0 ? own->strength : PLX_CORNER_MIN_STRENGTH;
        if (strength[u - x] > least)
            *own = (struct plx_corner_cell){strength[u - x], (uint16_t)u, (uint16_t)y};
    }
}

/* TILE cells, or as many as there are, from COLUMN on. */
static void find_in_tile(const struct corners_job *job, int column, int row)
{
    const int width = job->left->width / 2, height = job->left->height / 2, x = column * CELL, y = row * CELL;
    const int cells = job->cells->width - column < TILE ? job->cells->width - column : TILE;
    struct plx_corner_cell *cell = (struct plx_corner_cell *)plx_row(job->cells, row) + column;
    uint8_t pixel[PRODUCTS + 2][SUMS + 2];
    int32_t product[PRODUCTS][TENSOR][SUMS];
    float strength[PIXELS];

    memset(cell, 0, (size_t)cells * sizeof *cell);
    if (width <= 2 * PLX_CORNER_MARGIN || height <= 2 * PLX_CORNER_MARGIN)
        return;
    for (int i = 0; i < PRODUCTS + 2; i++)
        halve_row(job->left, x - REACH - 1, y - REACH - 1 + i, pixel[i]);
    for (int i = 0; i < PRODUCTS; i++)
        multiply_gradients(pixel[i], pixel[i + 1], pixel[i + 2], product[i]);
    for (int v = y; v < y + CELL; v++)
        if (v >= PLX_CORNER_MARGIN && v < height - PLX_CORNER_MARGIN) {
            find_strengths(&product[v - y], strength);
            note_strongest(strength, x, v, width, cell);
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
    if (!plx_corner_cells_ok(left, ret_cells))
        return PLX_ERR_ARG;
    plx_pool_run_rows(cpu->pool, ret_cells->height, find_in_row, &job);
    return 0;
}
