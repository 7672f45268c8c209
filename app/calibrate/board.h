/* SPDX-License-Identifier: Apache-2.0 */
/* A flat calibration board and what a stereo camera sees of it. */
#ifndef PLX_APP_CALIBRATE_BOARD_H
#define PLX_APP_CALIBRATE_BOARD_H

#include <math.h>
#include <stdbool.h>

#include <parallax/frame.h>

#define PLX_BOARD_MAX_SIDE 40 /* corners of a chessboard, 3 at least */
#define PLX_BOARD_MAX_TAGS 24 /* tags along a side, 2 at least; the family has 587 in all */

enum plx_board_kind {
    PLX_BOARD_CHESS, /* corners where four squares meet; corner k is at column k % columns, row k / columns */
    PLX_BOARD_TAGS,  /* a grid of AprilTags 36h11, as Kalibr's; corner k is corner k % 4 of tag k / 4 */
};

struct plx_board {
    int columns, rows; /* inner corners of a chessboard, tags */
    double square_m;   /* side of a square of a chessboard; of a tag's black square */
    enum plx_board_kind kind;
    double gap_m; /* from one tag to the next */
};

/* One pair of pictures: the same corners in both, [plx_board_corners], pixels; owned by the caller. Tags that were not found
 * have corners of NAN. */
struct plx_board_pair {
    const double (*corner[PLX_EYES])[2];
};

static inline bool plx_board_is_valid(const struct plx_board *board)
{
    const bool tags = board->kind == PLX_BOARD_TAGS;
    const int least = tags ? 2 : 3, most = tags ? PLX_BOARD_MAX_TAGS : PLX_BOARD_MAX_SIDE;
    return board->columns >= least && board->rows >= least && board->columns <= most && board->rows <= most &&
           board->square_m > 0 && board->gap_m >= 0;
}

static inline int plx_board_corners(const struct plx_board *board)
{
    return board->columns * board->rows * (board->kind == PLX_BOARD_TAGS ? 4 : 1);
}

static inline bool plx_board_is_found(const double corner[2])
{
    return !isnan(corner[0]);
}

/* How many corners of PAIR were found, in both eyes together. */
static inline int plx_board_found(const struct plx_board *board, const struct plx_board_pair *pair)
{
    int count = 0;
    for (int eye = 0; eye < PLX_EYES; eye++)
        for (int k = 0; k < plx_board_corners(board); k++)
            count += plx_board_is_found(pair->corner[eye][k]);
    return count;
}

/* Corner K on the board, metres, in the plane z = 0; seen from the front x points to the right and y down. Tags are numbered
 * row by row, their corners against the clock from the lower left one on. */
static inline void plx_board_point(const struct plx_board *board, int k, double ret[3])
{
    ret[2] = 0;
    if (board->kind == PLX_BOARD_CHESS) {
        ret[0] = board->square_m * (k % board->columns);
        ret[1] = board->square_m * (k / board->columns);
        return;
    }
    const double step = board->square_m + board->gap_m;
    const int tag = k / 4, corner = k % 4;
    ret[0] = step * (tag % board->columns) + (corner == 1 || corner == 2 ? board->square_m : 0);
    ret[1] = step * (tag / board->columns) + (corner < 2 ? board->square_m : 0);
}

#endif
