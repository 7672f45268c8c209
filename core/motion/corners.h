/* SPDX-License-Identifier: Apache-2.0 */
/* Corners to track (Shi and Tomasi, Good Features to Track, CVPR 1994), spread over the picture. */
#ifndef PLX_CORE_MOTION_CORNERS_H
#define PLX_CORE_MOTION_CORNERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/both.h"
#include "core/base/image.h"
#include "core/motion/flow.h"

/* Corners are found on the picture of half size; pixel x there lies at 2 x + 0.5 of the full picture. */
struct plx_corner {
    int x, y;         /* half size, pixels */
    double disparity; /* mean of the four pixels of full size below it, 1/16 px as published */
};

#define PLX_CORNER_CELL 8           /* side of a cell, pixels of half size */
#define PLX_CORNER_WINDOW 5         /* side of the window whose structure tensor counts */
#define PLX_CORNER_MARGIN 5         /* half size: the window of the tracker (flow.h) stays inside at full size */
#define PLX_CORNER_MIN_STRENGTH 400 /* sums of squares of grey levels per 2 px */

/* The strongest corner of a cell, of equal ones the first, row by row: what stage corners finds. */
struct plx_corner_cell {
    float strength; /* smaller eigenvalue of the structure tensor, more than PLX_CORNER_MIN_STRENGTH; 0: there is no corner */
    uint16_t x, y;  /* half size, pixels */
};

/* Cells side by side of a picture of WIDTH, or one below the other of HEIGHT, full size. */
PLX_BOTH int plx_corner_cells(int size)
{
    return size / 2 / PLX_CORNER_CELL + 1;
}

/* True if CELLS are those of the picture LEFT. */
static inline bool plx_corner_cells_ok(const struct plx_image *left, const struct plx_image *cells)
{
    return plx_image_ok(cells, PLX_U64) && cells->width == plx_corner_cells(left->width) &&
           cells->height == plx_corner_cells(left->height);
}

/* The smaller eigenvalue of [A B; B C], in single operations; entries are below 2^21. */
PLX_BOTH float plx_corner_strength(int32_t a, int32_t b, int32_t c)
{
    const float difference = (float)(a - c), twice = (float)(2 * b);
    return 0.5F * ((float)(a + c) - sqrtf(difference * difference + twice * twice));
}

struct plx_corners {
    struct plx_corner corner[PLX_MAX_CORNERS];
    int count;
    bool *is_taken;                 /* [rows][columns] of cells, owned */
    struct plx_corner_cell *sorted; /* scratch for as many, owned */
};

/* For pictures of WIDTH x HEIGHT, full size. NOMEM. */
int plx_corners_create(int width, int height, struct plx_corners *ret_corners);
void plx_corners_destroy(struct plx_corners *corners); /* all zeros is fine */

/* Takes corners from CELLS, struct plx_corner_cell as U64 [rows][columns] of the size at creation, in turns from a grid of
 * blocks, the strongest of a block first, so that they spread over the picture. DISPARITY, U16 of full size as published, must
 * be valid and smooth around each corner: at a depth edge the depth may be that of another surface. */
void plx_corners_take(struct plx_corners *corners, const struct plx_image *cells, const struct plx_image *disparity);

/* DISPARITY at (U, V), bilinear, 1/16 px; negative if one of the four neighbours is outside or invalid, or if the neighbours
 * differ too much to belong to one surface. */
double plx_disparity_between(const struct plx_image *disparity, double u, double v);

#endif
