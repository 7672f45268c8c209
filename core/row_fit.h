/* SPDX-License-Identifier: Apache-2.0 */
/* The affine map that explains vertical offsets between two images, whatever part of them is wrong. Plain maths. */
#ifndef PLX_CORE_ROW_FIT_H
#define PLX_CORE_ROW_FIT_H

/* A point of the left image lies ROWS lower in the right one, at (x, y) from the centre of that, pixels. */
struct plx_row_offset {
    double x, y, rows;
};

/* rows + per_x x + per_y y. */
struct plx_row_fit {
    int inliers; /* offsets that agree with it */
    double rows, per_x, per_y;
};

double plx_row_fit_at(const struct plx_row_fit *fit, double x, double y);

/* The map on which most of COUNT offsets agree, in an image of twice HALF_WIDTH and HALF_HEIGHT; slopes that the offsets do not
 * show, because all lie in one place, are 0. The same bits at every call. */
struct plx_row_fit plx_row_fit(const struct plx_row_offset *offset, int count, double half_width, double half_height);

#endif
