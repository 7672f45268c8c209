/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/corners.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#define BLOCKS_X 10 /* blocks in the grid that corners are spread over */
#define BLOCKS_Y 6
#define MIN_DISTANCE 4 /* pixels of half size, column or row, between two corners */
#define SMOOTH_PX 4    /* full size: the disparity is checked this far around a corner */
#define MAX_STEP 24    /* 1/16 px: more is a depth edge */

/* The cells of a block that were not considered yet. */
struct list {
    const struct plx_corner_cell *next, *end;
};

int plx_corners_create(int width, int height, struct plx_corners *ret_corners)
{
    const size_t cells = (size_t)plx_corner_cells(width) * (size_t)plx_corner_cells(height);
    struct plx_corners corners = {.count = 0};
    corners.is_taken = calloc(cells, sizeof *corners.is_taken);
    corners.sorted = calloc(cells, sizeof *corners.sorted);
    if (!corners.is_taken || !corners.sorted) {
        plx_corners_destroy(&corners);
        return PLX_ERR_NOMEM;
    }
    *ret_corners = corners;
    return 0;
}

void plx_corners_destroy(struct plx_corners *corners)
{
    free(corners->is_taken);
    free(corners->sorted);
    *corners = (struct plx_corners){.count = 0};
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

static const struct plx_corner_cell *cell_at(const struct plx_image *cells, int column, int row)
{
    return (const struct plx_corner_cell *)plx_row(cells, row) + column;
}

/* True if a corner of a neighbouring cell is taken and near. */
static bool is_crowded(const struct plx_corners *corners, const struct plx_image *cells, int column, int row)
{
    const struct plx_corner_cell *cell = cell_at(cells, column, row);
    for (int r = row > 0 ? row - 1 : 0; r <= row + 1 && r < cells->height; r++)
        for (int c = column > 0 ? column - 1 : 0; c <= column + 1 && c < cells->width; c++) {
            const struct plx_corner_cell *other = cell_at(cells, c, r);
            if (corners->is_taken[r * cells->width + c] && abs(other->x - cell->x) < MIN_DISTANCE &&
                abs(other->y - cell->y) < MIN_DISTANCE)
                return true;
        }
    return false;
}

/* Lists the cells with corners of the block at (BX, BY), the strongest first, of equal ones the first row by row. Returns their
 * number. */
static int list_block(const struct plx_image *cells, int bx, int by, struct plx_corner_cell *ret_list)
{
    const int c0 = cells->width * bx / BLOCKS_X, c1 = cells->width * (bx + 1) / BLOCKS_X;
    const int r0 = cells->height * by / BLOCKS_Y, r1 = cells->height * (by + 1) / BLOCKS_Y;
    int count = 0;

    for (int r = r0; r < r1; r++)
        for (int c = c0; c < c1; c++) {
            const struct plx_corner_cell *cell = cell_at(cells, c, r);
            int at = count;
            if (!(cell->strength > 0))
                continue;
            for (; at > 0 && ret_list[at - 1].strength < cell->strength; at--)
                ret_list[at] = ret_list[at - 1];
            ret_list[at] = *cell;
            count++;
        }
    return count;
}

/* Takes the first corner that is left in the list and may be taken. False if there is none. */
static bool take_next(struct plx_corners *corners, const struct plx_image *cells, struct list *list,
                      const struct plx_image *disparity)
{
    while (list->next < list->end) {
        const struct plx_corner_cell *cell = list->next++;
        const int column = cell->x / PLX_CORNER_CELL, row = cell->y / PLX_CORNER_CELL;
        const double d = is_crowded(corners, cells, column, row) ? -1 : smooth_disparity(disparity, cell);
        if (d < 0)
            continue;
        corners->is_taken[row * cells->width + column] = true;
        corners->corner[corners->count++] = (struct plx_corner){cell->x, cell->y, d};
        return true;
    }
    return false;
}

void plx_corners_take(struct plx_corners *corners, const struct plx_image *cells, const struct plx_image *disparity)
{
    struct plx_corner_cell *memory = corners->sorted;
    struct list list[BLOCKS_X * BLOCKS_Y];

    corners->count = 0;
    memset(corners->is_taken, false, (size_t)cells->width * (size_t)cells->height);
    for (int block = 0; block < BLOCKS_X * BLOCKS_Y; block++) {
        list[block].next = memory;
        memory += list_block(cells, block % BLOCKS_X, block / BLOCKS_X, memory);
        list[block].end = memory;
    }
    for (bool more = true; more;) {
        more = false;
        for (int block = 0; block < BLOCKS_X * BLOCKS_Y && corners->count < PLX_MAX_CORNERS; block++)
            more |= take_next(corners, cells, &list[block], disparity);
    }
}
