/* SPDX-License-Identifier: Apache-2.0 */
/* Corners to track (Shi and Tomasi, Good Features to Track, CVPR 1994), spread over the picture. */
#ifndef PLX_CORE_MOTION_CORNERS_H
#define PLX_CORE_MOTION_CORNERS_H

#include "core/base/image.h"

#define PLX_MAX_CORNERS 512

/* Corners are found on the picture of half size; pixel x there lies at 2 x + 0.5 of the full picture. */
struct plx_corner {
    int x, y;         /* half size, pixels */
    double disparity; /* mean of the four pixels of full size below it, 1/16 px as published */
};

struct plx_corner_cell;

struct plx_corners {
    struct plx_corner corner[PLX_MAX_CORNERS];
    int count;
    struct plx_corner_cell *cell; /* [rows][columns], owned */
    int columns, rows;
    int32_t *sums; /* scratch [3 + 5 * 3][width of half size], owned */
};

/* For pictures whose half size is up to WIDTH x HEIGHT; a size of 0 is fine. NOMEM. */
int plx_corners_create(int width, int height, struct plx_corners *ret_corners);
void plx_corners_destroy(struct plx_corners *corners); /* all zeros is fine */

/* Finds the strongest corner of each cell of 8 x 8 pixels. Corners are taken in turns from a grid of blocks, the strongest of a
 * block first, so that they spread over the picture. HALF is U8. DISPARITY, U16 of full size as published, must be valid and
 * smooth around each corner: at a depth edge the depth may be that of another surface. */
void plx_corners_find(struct plx_corners *corners, const struct plx_image *half, const struct plx_image *disparity);

/* DISPARITY at (U, V), bilinear, 1/16 px; negative if one of the four neighbours is outside or invalid, or if the neighbours
 * differ too much to belong to one surface. */
double plx_disparity_between(const struct plx_image *disparity, double u, double v);

#endif
