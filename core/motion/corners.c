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

enum cell_state { OPEN, REFUSED, TAKEN };

int plx_corners_create(int width, int height, struct plx_corners *ret_corners)
{
    struct plx_corners corners = {.count = 0};
    corners.state = malloc((size_t)plx_corner_cells(width) * (size_t)plx_corner_cells(height));
    if (!corners.state)
        return PLX_ERR_NOMEM;
    *ret_corners = corners;
    return 0;
}

void plx_corners_destroy(struct plx_corners *corners)
{
    free(corners->state);
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
            if (corners->state[r * cells->width + c] == TAKEN && abs(other->x - cell->x) < MIN_DISTANCE &&
                abs(other->y - cell->y) < MIN_DISTANCE)
                return true;
        }
    return false;
}

/* The strongest open cell of the block at (BX, BY). False if there is none. */
static bool find_strongest(const struct plx_corners *corners, const struct plx_image *cells, int bx, int by, int *ret_column,
                           int *ret_row)
{
    const int c0 = cells->width * bx / BLOCKS_X, c1 = cells->width * (bx + 1) / BLOCKS_X;
    const int r0 = cells->height * by / BLOCKS_Y, r1 = cells->height * (by + 1) / BLOCKS_Y;
    float best = 0;
    for (int r = r0; r < r1; r++)
        for (int c = c0; c < c1; c++)
            if (corners->state[r * cells->width + c] == OPEN && cell_at(cells, c, r)->strength > best) {
                best = cell_at(cells, c, r)->strength;
                *ret_column = c;
                *ret_row = r;
            }
    return best > 0;
}

/* Takes the best corner that is left in the block at (BX, BY). False if there is none. */
static bool take_from_block(struct plx_corners *corners, const struct plx_image *cells, int bx, int by,
                            const struct plx_image *disparity)
{
    int column, row;
    while (find_strongest(corners, cells, bx, by, &column, &row)) {
        const struct plx_corner_cell *cell = cell_at(cells, column, row);
        uint8_t *state = &corners->state[row * cells->width + column];
        const double d = is_crowded(corners, cells, column, row) ? -1 : smooth_disparity(disparity, cell);
        *state = d < 0 ? REFUSED : TAKEN;
        if (*state == REFUSED)
            continue;
        corners->corner[corners->count++] = (struct plx_corner){cell->x, cell->y, d};
        return true;
    }
    return false;
}

void plx_corners_take(struct plx_corners *corners, const struct plx_image *cells, const struct plx_image *disparity)
{
    corners->count = 0;
    memset(corners->state, OPEN, (size_t)cells->width * (size_t)cells->height);
    for (bool more = true; more;) {
        more = false;
        for (int block = 0; block < BLOCKS_X * BLOCKS_Y && corners->count < PLX_MAX_CORNERS; block++)
            more |= take_from_block(corners, cells, block % BLOCKS_X, block / BLOCKS_X, disparity);
    }
}
