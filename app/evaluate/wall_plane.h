/* SPDX-License-Identifier: Apache-2.0 */
/* The plane d = a x + b y + c of the disparities of a region, fitted in one half of its pixels. */
#ifndef PLX_APP_EVALUATE_WALL_PLANE_H
#define PLX_APP_EVALUATE_WALL_PLANE_H

#include <parallax/client.h>

#include "core/base/image.h"

#define WALL_SCALE_BINS 8192 /* for the median of residuals */
#define WALL_SAMPLES 262144  /* in both halves; more make no better plane */

/* Pixels of the region, px above min_disparity. */
struct plx_wall_plane {
    double a, b, c;
};

/* Scratch: the pixels of a half. */
struct wall_fit {
    int count;
    struct wall_sample {
        uint16_t x, y, value;
    } sample[WALL_SAMPLES];
    int bin[WALL_SCALE_BINS];
};

static inline double wall_plane_at(const struct plx_wall_plane *plane, double x, double y)
{
    return plane->a * x + plane->b * y + plane->c;
}

/* The half, 0 or 1, that pixel X, Y of a region belongs to: squares of a chessboard of 16 px, or of a quarter of a small
 * region.
 */
int wall_half(const struct plx_box *region, int x, int y);

/* Fits the plane in HALF of DISPARITY (U16), robust against outliers. False: too few pixels are known, or all in a line. */
bool wall_fit_half(struct wall_fit *fit, const struct plx_image *disparity, int half, struct plx_wall_plane *ret_plane);

#endif
