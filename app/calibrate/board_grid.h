/* SPDX-License-Identifier: Apache-2.0 */
/* Points of a picture as the grid of a board, which grows from one corner to its neighbours. */
#ifndef PLX_APP_CALIBRATE_BOARD_GRID_H
#define PLX_APP_CALIBRATE_BOARD_GRID_H

#include <stdbool.h>

#include "app/calibrate/board.h"
#include "app/calibrate/corner_points.h"

#define PLX_BOARD_GRID_SIDE (2 * PLX_BOARD_MAX_SIDE + 1) /* it grows from its middle */

struct plx_board_grid {
    const struct plx_corner_point *point;
    int points;
    bool *used;                                         /* [points] */
    int cell[PLX_BOARD_GRID_SIDE][PLX_BOARD_GRID_SIDE]; /* numbers of points; -1: none */
    int left, right, top, bottom;
};

/* Begins anew with point SEED and two of its neighbours that lie in different directions; false if there are none. */
bool plx_board_grid_begin(struct plx_board_grid *grid, int seed);

/* Adds corners around those that are there until none is left, or a side has more than MAX_SIDE. */
void plx_board_grid_grow(struct plx_board_grid *grid, int max_side);

/* Takes sides away of which less than half is there: points beside the board that lie where a corner could be. */
void plx_board_grid_trim(struct plx_board_grid *grid);

/* True if the squares of GREY between the corners are dark and bright in turns. The grid is full. */
bool plx_board_grid_is_chequered(struct plx_board_grid *grid, const struct plx_image *grey);

/* Copies a full grid of BOARD's size, row by row; false if it is none. One with sides in the other order is turned by a
 * quarter. */
bool plx_board_grid_copy_out(struct plx_board_grid *grid, const struct plx_board *board, double (*ret_corner)[2]);

#endif
