/* SPDX-License-Identifier: Apache-2.0 */
/* Colour pictures for people: disparity in colours, boxes and distances drawn on an image. */
#ifndef PLX_CLI_CANVAS_H
#define PLX_CLI_CANVAS_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/image.h"

struct plx_colour {
    uint8_t r, g, b;
};

/* [height][width] packed colours, owned. */
struct plx_canvas {
    struct plx_colour *pixel;
    int width, height;
};

/* Black. Errors: RANGE, NOMEM. */
int plx_canvas_create(int width, int height, struct plx_canvas *ret_canvas);
void plx_canvas_destroy(struct plx_canvas *canvas); /* one of all zeros is fine */

/* GREY (U8, of the canvas' size) as it is. */
void plx_canvas_grey(struct plx_canvas *canvas, const struct plx_image *grey);

/* DISPARITY (U16, of the canvas' size): blue is far, red is near, black is invalid. The scale ends at the 99th percentile. */
void plx_canvas_disparity(struct plx_canvas *canvas, const struct plx_image *disparity);

/* Boxes, track numbers and distances of the obstacles that FRAME sees, the nearest on top. */
void plx_canvas_obstacles(struct plx_canvas *canvas, const struct plx_frame *frame);

/* The colour of T, 0 (blue) to 1 (red); clamped. */
struct plx_colour plx_colour_map(double t);

/* An outline THICKNESS px wide, inside the rectangle; what lies outside the canvas is cut off. */
void plx_canvas_box(struct plx_canvas *canvas, int x, int y, int width, int height, int thickness, struct plx_colour colour);

/* TEXT in a 5x7 font, SCALE times enlarged, on a black ground, its upper left corner at x, y; it has digits and `.-#m`, the
 * rest is blank. Returns its width in px. */
int plx_canvas_text(struct plx_canvas *canvas, int x, int y, int scale, const char *text, struct plx_colour colour);

#endif
