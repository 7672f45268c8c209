/* SPDX-License-Identifier: Apache-2.0 */
/* Corners to track (Shi and Tomasi, Good Features to Track, CVPR 1994), spread over the image. */
#ifndef PLX_CORE_MOTION_CORNERS_H
#define PLX_CORE_MOTION_CORNERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/both.h"
#include "core/base/image.h"
#include "core/motion/flow.h"

/* Corners are found on the image of half size; pixel x there lies at 2 x + 0.5 of the full image. */
struct plx_corner {
    int x, y;         /* half size, pixels */
    double disparity; /* mean of the four pixels of full size below it, 1/16 px as published */
};

#define PLX_CORNER_CELL 8           /* side of a cell, pixels of half size */
#define PLX_CORNER_WINDOW 5         /* side of the window whose structure tensor counts */
#define PLX_CORNER_MARGIN 5         /* half size: the window of the tracker (flow.h) stays inside at full size */
#define PLX_CORNER_MIN_STRENGTH 400 /* sums of squares of grey levels per 2 px */

/* The strongest corner of a cell, of equal ones the first, row by row: what stage corners finds, and stage corner_disparities
 * then says of it. */
struct plx_corner_cell {
    float strength;  /* smaller eigenvalue of the structure tensor, more than PLX_CORNER_MIN_STRENGTH; 0: there is no corner */
    float disparity; /* as plx_corner_disparity, 1/16 px as published; 0 before that stage */
    uint16_t x, y;   /* half size, pixels */
    uint32_t zero;
};

/* Cells side by side of an image of WIDTH, or one below the other of HEIGHT, full size. */
PLX_BOTH int plx_corner_cells(int size)
{
    return size / 2 / PLX_CORNER_CELL + 1;
}

/* True if CELLS are those of an image of WIDTH x HEIGHT. */
static inline bool plx_corner_cells_ok(int width, int height, const struct plx_image *cells)
{
    return plx_image_ok(cells, PLX_U128) && cells->width == plx_corner_cells(width) &&
           cells->height == plx_corner_cells(height);
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

/* For images of WIDTH x HEIGHT, full size. NOMEM. */
int plx_corners_create(int width, int height, struct plx_corners *ret_corners);
void plx_corners_destroy(struct plx_corners *corners); /* all zeros is fine */

/* Takes corners from CELLS, struct plx_corner_cell as U128 [rows][columns] of the size at creation, in turns from a grid of
 * blocks, the strongest of a block first, so that they spread over the image. */
void plx_corners_take(struct plx_corners *corners, const struct plx_image *cells);

/* --- the disparity of corners ------------------------------------------------------------------------------------- */

#define PLX_CORNER_SMOOTH_PX 4 /* full size: the disparity is checked this far around a corner */
#define PLX_CORNER_MAX_STEP 24 /* 1/16 px: more is a depth edge */

/* Disparity (FX, FY) of the way from the first of UPPER's two pixels to the second of LOWER's, bilinear, 1/16 px; negative if
 * one of the four is invalid, or if they differ too much to belong to one surface. */
PLX_BOTH double plx_disparity_blend(const uint16_t upper[2], const uint16_t lower[2], double fx, double fy)
{
    const int value[4] = {upper[0], upper[1], lower[0], lower[1]};
    int least = value[0], most = value[0];
    for (int i = 1; i < 4; i++) {
        least = value[i] < least ? value[i] : least;
        most = value[i] > most ? value[i] : most;
    }
    if (most == PLX_DISPARITY_INVALID || most - least > PLX_CORNER_MAX_STEP)
        return -1;
    return (1 - fy) * ((1 - fx) * value[0] + fx * value[1]) + fy * ((1 - fx) * value[2] + fx * value[3]);
}

/* DISPARITY at (U, V), U16 of WIDTH x HEIGHT with PITCH bytes a row: plx_disparity_blend; negative where a neighbour is
 * outside.
 */
PLX_BOTH double plx_disparity_at(const uint16_t *disparity, size_t pitch, int width, int height, double u, double v)
{
    if (!(u >= 0 && v >= 0 && u < width - 1 && v < height - 1))
        return -1;
    const int x = (int)u, y = (int)v;
    const uint16_t *upper = (const uint16_t *)((const char *)disparity + (size_t)y * pitch) + x;
    const uint16_t *lower = (const uint16_t *)((const char *)upper + pitch);
    return plx_disparity_blend(upper, lower, u - x, v - y);
}

/* Disparity of the corner at (X, Y) of half size, whose surroundings are in the image; negative if one around it is invalid
 * or differs by more than PLX_CORNER_MAX_STEP: at a depth edge the depth may be that of another surface. A sum of four values /
 * 4: exact. */
PLX_BOTH float plx_corner_disparity(const uint16_t *disparity, size_t pitch, int width, int height, int x, int y)
{
    const double centre = plx_disparity_at(disparity, pitch, width, height, 2 * x + 0.5, 2 * y + 0.5);
    for (int dy = -PLX_CORNER_SMOOTH_PX; dy <= PLX_CORNER_SMOOTH_PX && centre >= 0; dy += PLX_CORNER_SMOOTH_PX)
        for (int dx = -PLX_CORNER_SMOOTH_PX; dx <= PLX_CORNER_SMOOTH_PX; dx += PLX_CORNER_SMOOTH_PX) {
            const uint16_t value = ((const uint16_t *)((const char *)disparity + (size_t)(2 * y + dy) * pitch))[2 * x + dx];
            const double step = value - centre;
            if (value == PLX_DISPARITY_INVALID || step > PLX_CORNER_MAX_STEP || step < -PLX_CORNER_MAX_STEP)
                return -1;
        }
    return (float)centre;
}

static inline double plx_disparity_between(const struct plx_image *disparity, double u, double v)
{
    return plx_disparity_at((const uint16_t *)disparity->data, disparity->pitch, disparity->width, disparity->height, u, v);
}

#endif
