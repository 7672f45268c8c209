/* SPDX-License-Identifier: Apache-2.0 */
/* Points where four squares of a chessboard meet: found by their ring of pixels (Bennett and Lasenby, ChESS, 2014), placed
 * within a pixel by the directions of the gradients around them (Foerstner and Guelch 1987). */
#ifndef PLX_APP_CALIBRATE_CORNER_POINTS_H
#define PLX_APP_CALIBRATE_CORNER_POINTS_H

#include "core/base/image.h"

#define PLX_CORNER_POINTS 2048

struct plx_corner_point {
    double x, y, strength;
};

/* The strongest points of GREY (U8), strongest first, whole pixels. Returns how many; NOMEM. */
int plx_corner_points_find(const struct plx_image *grey, struct plx_corner_point ret[PLX_CORNER_POINTS]);

/* Moves POINT to where the edges within RADIUS px meet; stays if they do not meet near it. */
void plx_corner_point_refine(const struct plx_image *grey, int radius, double point[2]);

#endif
