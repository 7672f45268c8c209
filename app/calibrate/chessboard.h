/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the inner corners of a chessboard in a picture. */
#ifndef PLX_APP_CALIBRATE_CHESSBOARD_H
#define PLX_APP_CALIBRATE_CHESSBOARD_H

#include "app/calibrate/board.h"
#include "core/base/image.h"

/* The corners of the whole BOARD in GREY (U8), row by row from one end of the board, seen from its front; pixels. Squares need
 * about 10 px. Several orders may be right: by plx_chessboard_turn the other eye gets the same. NOT_FOUND: there is no such
 * board, or not all of it; NOMEM. */
int plx_chessboard_find(const struct plx_image *grey, const struct plx_board *board, double (*ret_corner)[2]);

/* Columns and rows of a chessboard of any size that GREY shows whole; NOT_FOUND, NOMEM. A larger board that is partly hidden
 * looks like a smaller one. */
int plx_chessboard_measure(const struct plx_image *grey, struct plx_board *ret_board);

/* Turns the order of CORNER so that each corner has moved about as far from LEFT as all others: as the same board in the other
 * eye. */
void plx_chessboard_turn(const struct plx_board *board, const double (*left)[2], double (*corner)[2]);

#endif
