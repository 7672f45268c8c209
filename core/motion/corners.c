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

/* Lists the corners with a disparity of the block at (BX, BY), the strongest first, of equal ones the first row by row. Returns
 * their number. */
static int list_block(const struct plx_image *cells, int bx, int by, struct plx_corner_cell *ret_list)
{
    const int c0 = cells->width * bx / BLOCKS_X, c1 = cells->width * (bx + 1) / BLOCKS_X;
    const int r0 = cells->height * by / BLOCKS_Y, r1 = cells->height * (by + 1) / BLOCKS_Y;
    int count = 0;

    for (int r = r0; r < r1; r++)
        for (int c = c0; c < c1; c++) {
            const struct plx_corner_cell *cell = cell_at(cells, c, r);
            int at = count;
            if (!(cell->strength > 0 && cell->disparity >= 0))
                continue;
            for (; at > 0 && ret_list[at - 1].strength < cell->strength; at--)
                ret_list[at] = ret_list[at - 1];
            ret_list[at] = *cell;
            count++;
        }
    return count;
}

/* Takes the first corner that is left in the list and may be taken. False if there is none. */
static bool take_next(struct plx_corners *corners, const struct plx_image *cells, struct list *list)
{
    while (list->next < list->end) {
        const struct plx_corner_cell *cell = list->next++;
        const int column = cell->x / PLX_CORNER_CELL, row = cell->y / PLX_CORNER_CELL;
        if (is_crowded(corners, cells, column, row))
            continue;
        corners->is_taken[row * cells->width + column] = true;
        corners->corner[corners->count++] = (struct plx_corner){cell->x, cell->y, (double)cell->disparity};
        return true;
    }
    return false;
}

void plx_corners_take(struct plx_corners *corners, const struct plx_image *cells)
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
            more |= take_next(corners, cells, &list[block]);
    }
}
