/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/edges.h"

#include <stdlib.h>

#include "app/calibrate/ascending.h"
#include "app/calibrate/sample.h"

#define SAMPLES 33       /* along a line across an edge */
#define CHESS_REACH 0.35 /* reach to both sides, in lengths of an edge: nothing else is nearer to its middle */
#define TAG_REACH 0.12   /* a tag's border is an eighth of its side wide */
#define MIN_REACH 1.5    /* px */
#define MIN_CONTRAST 20  /* grey levels */
#define MAX_EDGES (2 * PLX_BOARD_MAX_SIDE * PLX_BOARD_MAX_SIDE)

/* Width of the edge from A to B in its middle; 0: not known. */
static double width_of(const struct plx_image *grey, const double a[2], const double b[2], double share)
{
    const double length = hypot(b[0] - a[0], b[1] - a[1]), reach = share * length;
    const double x = (a[0] + b[0]) / 2, y = (a[1] + b[1]) / 2;
    double value[SAMPLES], steepest = 0;
    if (!(reach >= MIN_REACH) || x < reach + 1 || y < reach + 1 || x > grey->width - reach - 2 || y > grey->height - reach - 2)
        return 0; /* also where a corner was not found */
    const double step = 2 * reach / (SAMPLES - 1);
    for (int i = 0; i < SAMPLES; i++) {
        const double across = i * step - reach;
        value[i] = plx_sample(grey, x - across * (b[1] - a[1]) / length, y + across * (b[0] - a[0]) / length);
    }
    const double contrast = fabs(value[SAMPLES - 1] - value[0]);
    const int span = (int)ceil(1 / step); /* about a pixel */
    for (int i = 0; i + span < SAMPLES; i++)
        steepest = fmax(steepest, fabs(value[i + span] - value[i]) / (span * step));
    return contrast < MIN_CONTRAST ? 0 : contrast / steepest;
}

/* The corner that follows corner K along the board's rows (DOWN false) or columns; -1: none. */
static int next_corner(const struct plx_board *board, int k, bool down)
{
    if (board->kind == PLX_BOARD_TAGS)
        return k % 4 != (down ? 1 : 0) ? -1 : k + 1;
    if (down)
        return k / board->columns + 1 < board->rows ? k + board->columns : -1;
    return k % board->columns + 1 < board->columns ? k + 1 : -1;
}

double plx_edge_width(const struct plx_image *grey, const struct plx_board *board, const double (*corner)[2])
{
    const double share = board->kind == PLX_BOARD_TAGS ? TAG_REACH : CHESS_REACH;
    double width[MAX_EDGES], widest = 0;
    for (int down = 0; down < 2; down++) {
        int count = 0;
        for (int k = 0; k < plx_board_corners(board) && count < MAX_EDGES; k++) {
            const int next = next_corner(board, k, down);
            const double here = next < 0 ? 0 : width_of(grey, corner[k], corner[next], share);
            if (here > 0)
                width[count++] = here;
        }
        if (count == 0)
            continue;
        qsort(width, (size_t)count, sizeof *width, plx_ascending);
        widest = fmax(widest, width[count / 2]);
    }
    return widest;
}
