/* SPDX-License-Identifier: Apache-2.0 */
/* How sharp a picture shows a board. */
#ifndef PLX_APP_CALIBRATE_EDGES_H
#define PLX_APP_CALIBRATE_EDGES_H

#include "app/calibrate/board.h"
#include "core/base/image.h"

/* How wide the edges of squares or tags are, px: their contrast by their steepest slope, the median of those along the board's
 * columns or of those along its rows, whichever is wider, for motion blurs only one of them. A sharp picture has 1 to 2. 0: not
 * known, for edges are too short or too faint. */
double plx_edge_width(const struct plx_image *grey, const struct plx_board *board, const double (*corner)[2]);

#endif
