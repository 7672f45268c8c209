/* SPDX-License-Identifier: Apache-2.0 */
/* A flat calibration board and what a stereo camera sees of it. */
#ifndef PLX_APP_CALIBRATE_BOARD_H
#define PLX_APP_CALIBRATE_BOARD_H

#include <parallax/frame.h>

#define PLX_BOARD_MAX_SIDE 40 /* corners */

/* Inner corners of a chessboard; corner k is at column k % columns, row k / columns. */
struct plx_board {
    int columns, rows; /* 3 .. PLX_BOARD_MAX_SIDE each */
    double square_m;   /* from one corner to the next */
};

/* One pair of pictures: the same corners in both, [rows * columns], pixels; owned by the caller. */
struct plx_board_pair {
    const double (*corner[PLX_EYES])[2];
};

static inline int plx_board_corners(const struct plx_board *board)
{
    return board->columns * board->rows;
}

/* Corner K on the board, metres, in the plane z = 0. */
static inline void plx_board_point(const struct plx_board *board, int k, double ret[3])
{
    ret[0] = board->square_m * (k % board->columns);
    ret[1] = board->square_m * (k / board->columns);
    ret[2] = 0;
}

#endif
