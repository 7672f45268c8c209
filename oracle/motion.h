/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of ego-motion in plain scalar code that follows docs/stages.md: the reference for the backends. Arguments are as
 * in core/pipeline/stages.h and are not checked. */
#ifndef PLX_ORACLE_MOTION_H
#define PLX_ORACLE_MOTION_H

#include <stdbool.h>

#include "core/base/image.h"

/* Level N of the pyramid of LEFT at (x, y): the mean of four pixels of the level before. */
int oracle_pyramid(const struct plx_image *left, int n, int x, int y);

/* struct plx_corner_cell as U128, without disparities */
void oracle_corners(const struct plx_image *left, const struct plx_image *ret_cells);

/* The strict disparity between pixels, and that of each corner of CELLS. */
double oracle_disparity(const struct plx_image *disparity, double u, double v);
void oracle_corner_disparities(const struct plx_image *disparity, const struct plx_image *cells);

/* A point of the image KEY in the image NOW; RET_TO is a guess, and unchanged where the point is not found. */
bool oracle_flow(const struct plx_image *key, const struct plx_image *now, int levels, const double from[2], double ret_to[2]);

#endif
