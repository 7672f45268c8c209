/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/corners.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#define CELL 8      /* pixels of half size */
#define BLOCKS_X 10 /* columns of the grid that corners are spread over */
#define BLOCKS_Y 6
#define WINDOW 5         /* window of the structure tensor */
#define MARGIN 5         /* half size: the window of the tracker (flow.h) stays inside at full size */
#define MIN_STRENGTH 400 /* smaller eigenvalue, sums of squares of grey levels per 2 px */
#define MIN_DISTANCE 4   /* pixels of half size, column or row, between two corners */
#define SMOOTH_PX 4      /* full size: the disparity is checked this far around a corner */
#define MAX_STEP 24      /* 1/16 px: more is a depth edge */

/* The strongest corner of a cell. */
struct plx_corner_cell {
    double strength; /* smaller eigenvalue; 0: no corner, or already considered */
    int x, y;
    bool taken;
};

/* Products of gradients, summed over the window's rows. */
struct tensor_rows {
    int width;
    int32_t *sum[3];             /* xx, xy, yy: columns summed over WINDOW rows */
    int32_t *product[WINDOW][3]; /* the rows in these sums */
};

int plx_corners_create(int width, int height, struct plx_corners *ret_corners)
{
    const size_t columns = (size_t)(width / CELL) + 1, rows = (size_t)(height / CELL) + 1;
    struct plx_corners corners = {.count = 0};
    corners.cell = calloc(columns * rows, sizeof *corners.cell);
    corners.sums = calloc((size_t)(3 + 3 * WINDOW) * ((size_t)width + 1), sizeof *corners.sums);
    if (!corners.cell || !corners.sums) {
        plx_corners_destroy(&corners);
        return PLX_ERR_NOMEM;
    }
    *ret_corners = corners;
    return 0;
}

void plx_corners_destroy(struct plx_corners *corners)
{
    free(corners->cell);
    free(corners->sums);
    *corners = (struct plx_corners){.count = 0};
}

static void begin_rows(int32_t *memory, int width, struct tensor_rows *ret_rows)
{
    memset(memory, 0, (size_t)(3 + 3 * WINDOW) * (size_t)width * sizeof *memory);
    ret_rows->width = width;
    for (int k = 0; k < 3; k++, memory += width)
        ret_rows->sum[k] = memory;
    for (int i = 0; i < WINDOW; i++)
        for (int k = 0; k < 3; k++, memory += width)
            ret_rows->product[i][k] = memory;
}

/* Adds the gradients of row Y to the sums, and subtracts those of the row WINDOW rows above. */
static void add_row(struct tensor_rows *rows, const struct plx_image *half, int y)
{
    const uint8_t *above = plx_row(half, y - 1), *here = plx_row(half, y), *below = plx_row(half, y + 1);
    int32_t *const *product = rows->product[y % WINDOW];
    int32_t *xx = product[0], *xy = product[1], *yy = product[2];
    int32_t *sum_xx = rows->sum[0], *sum_xy = rows->sum[1], *sum_yy = rows->sum[2];
    for (int x = 1; x < rows->width - 1; x++) {
        const int32_t gx = here[x + 1] - here[x - 1], gy = below[x] - above[x];
        const int32_t new_xx = gx * gx, new_xy = gx * gy, new_yy = gy * gy;
        sum_xx[x] += new_xx - xx[x];
        sum_xy[x] += new_xy - xy[x];
        sum_yy[x] += new_yy - yy[x];
        xx[x] = new_xx;
        xy[x] = new_xy;
        yy[x] = new_yy;
    }
}

/* True if the smaller eigenvalue of [a b; b c] is larger than LIMIT. Needs no square root. */
static bool is_stronger(int32_t a, int32_t b, int32_t c, double limit)
{
    return a > limit && c > limit && (a - limit) * (c - limit) > (double)b * b;
}

static double smaller_eigenvalue(double a, double b, double c)
{
    return 0.5 * (a + c - sqrt((a - c) * (a - c) + 4 * b * b));
}

/* Slides the window along row Y, its middle row, and keeps the strongest corner of each cell. */
static void scan_row(struct plx_corners *corners, const struct tensor_rows *rows, int y)
{
    struct plx_corner_cell *cells = corners->cell + (size_t)(y / CELL) * (size_t)corners->columns;
    int32_t a = 0, b = 0, c = 0;
    for (int x = 0; x < rows->width - MARGIN + WINDOW / 2; x++) {
        a += rows->sum[0][x];
        b += rows->sum[1][x];
        c += rows->sum[2][x];
        if (x >= WINDOW) {
            a -= rows->sum[0][x - WINDOW];
            b -= rows->sum[1][x - WINDOW];
            c -= rows->sum[2][x - WINDOW];
        }
        const int middle = x - WINDOW / 2;
        if (middle < MARGIN)
            continue;
        struct plx_corner_cell *cell = &cells[middle / CELL];
        if (is_stronger(a, b, c, cell->strength > 0 ? cell->strength : MIN_STRENGTH))
            *cell = (struct plx_corner_cell){.strength = smaller_eigenvalue(a, b, c), .x = middle, .y = y};
    }
}

static void find_candidates(struct plx_corners *corners, const struct plx_image *half)
{
    struct tensor_rows rows;
    begin_rows(corners->sums, half->width, &rows);
    for (int y = 1; y < half->height - 1; y++) {
        add_row(&rows, half, y);
        const int middle = y - WINDOW / 2;
        if (middle >= MARGIN && middle < half->height - MARGIN)
            scan_row(corners, &rows, middle);
    }
}

double plx_disparity_between(const struct plx_image *disparity, double u, double v)
{
    if (!(u >= 0 && v >= 0 && u < disparity->width - 1 && v < disparity->height - 1))
        return -1;
    const int x = (int)u, y = (int)v;
    const uint16_t *upper = (const uint16_t *)plx_row(disparity, y) + x;
    const uint16_t *lower = (const uint16_t *)plx_row(disparity, y + 1) + x;
    const int value[4] = {upper[0], upper[1], lower[0], lower[1]};
    int least = value[0], most = value[0];
    for (int i = 1; i < 4; i++) {
        least = value[i] < least ? value[i] : least;
        most = value[i] > most ? value[i] : most;
    }
    if (most == PLX_DISPARITY_INVALID || most - least > MAX_STEP)
        return -1;
    const double fx = u - x, fy = v - y;
    return (1 - fy) * ((1 - fx) * value[0] + fx * value[1]) + fy * ((1 - fx) * value[2] + fx * value[3]);
}

/* Disparity of the corner; negative if a disparity around it is invalid or differs by more than MAX_STEP. */
static double smooth_disparity(const struct plx_image *disparity, const struct plx_corner_cell *cell)
{
    const int x = 2 * cell->x, y = 2 * cell->y;
    const double centre = plx_disparity_between(disparity, x + 0.5, y + 0.5);
    for (int dy = -SMOOTH_PX; dy <= SMOOTH_PX && centre >= 0; dy += SMOOTH_PX)
        for (int dx = -SMOOTH_PX; dx <= SMOOTH_PX; dx += SMOOTH_PX) {
            const uint16_t value = ((const uint16_t *)plx_row(disparity, y + dy))[x + dx];
            if (value == PLX_DISPARITY_INVALID || fabs(value - centre) > MAX_STEP)
                return -1;
        }
    return centre;
}

/* True if a corner of a neighbouring cell is taken and near. */
static bool is_crowded(const struct plx_corners *corners, int column, int row)
{
    const struct plx_corner_cell *cell = &corners->cell[row * corners->columns + column];
    for (int r = row > 0 ? row - 1 : 0; r <= row + 1 && r < corners->rows; r++)
        for (int c = column > 0 ? column - 1 : 0; c <= column + 1 && c < corners->columns; c++) {
            const struct plx_corner_cell *other = &corners->cell[r * corners->columns + c];
            if (other->taken && abs(other->x - cell->x) < MIN_DISTANCE && abs(other->y - cell->y) < MIN_DISTANCE)
                return true;
        }
    return false;
}

/* Takes the best corner that is left in the block at (BX, BY). False if there is none. */
static bool take_from_block(struct plx_corners *corners, int bx, int by, const struct plx_image *disparity)
{
    const int c0 = corners->columns * bx / BLOCKS_X, c1 = corners->columns * (bx + 1) / BLOCKS_X;
    const int r0 = corners->rows * by / BLOCKS_Y, r1 = corners->rows * (by + 1) / BLOCKS_Y;
    for (;;) {
        struct plx_corner_cell *best = NULL;
        int best_column = 0, best_row = 0;
        for (int r = r0; r < r1; r++)
            for (int c = c0; c < c1; c++) {
                struct plx_corner_cell *cell = &corners->cell[r * corners->columns + c];
                if (cell->strength > (best ? best->strength : 0)) {
                    best = cell;
                    best_column = c;
                    best_row = r;
                }
            }
        if (!best)
            return false;
        best->strength = 0;
        const double d = is_crowded(corners, best_column, best_row) ? -1 : smooth_disparity(disparity, best);
        if (d < 0)
            continue;
        best->taken = true;
        corners->corner[corners->count++] = (struct plx_corner){best->x, best->y, d};
        return true;
    }
}

void plx_corners_find(struct plx_corners *corners, const struct plx_image *half, const struct plx_image *disparity)
{
    corners->count = 0;
    corners->columns = half->width / CELL + 1;
    corners->rows = half->height / CELL + 1;
    memset(corners->cell, 0, (size_t)corners->columns * (size_t)corners->rows * sizeof *corners->cell);
    find_candidates(corners, half);

    for (bool more = true; more;) {
        more = false;
        for (int block = 0; block < BLOCKS_X * BLOCKS_Y && corners->count < PLX_MAX_CORNERS; block++)
            more |= take_from_block(corners, block % BLOCKS_X, block / BLOCKS_X, disparity);
    }
}
