/* SPDX-License-Identifier: Apache-2.0 */
/* Colour pictures for people: disparity as colours, and obstacles with their distances. */
#ifndef PLX_APP_VIEW_DRAW_H
#define PLX_APP_VIEW_DRAW_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"

/* [height][width], owned. */
struct plx_rgb_image {
    struct plx_rgb *pixel;
    int width, height;
};

/* Black. Errors: RANGE, NOMEM. */
int plx_rgb_image_create(int width, int height, struct plx_rgb_image *ret_drawing);
void plx_rgb_image_destroy(struct plx_rgb_image *drawing); /* all zeros is fine */

/* Copies IMAGE (U8 or RGB, of the same size). */
void plx_draw_image(struct plx_rgb_image *drawing, const struct plx_image *image);

/* Distances between which colours change, metres. Zeros: from infinity to the 99th percentile of the disparities. */
struct plx_depth_range {
    double near_m, far_m;
};

/* DISPARITY (U16, of the same size) of FRAME: blue is far, red is near, black is invalid. With a calibration, a bar at the
 * right edge names the distances of the colours. */
void plx_draw_disparity(struct plx_rgb_image *drawing, const struct plx_frame *frame, const struct plx_image *disparity,
                        const struct plx_depth_range *range);

struct plx_label {
    const struct plx_obstacle *obstacle;
    int x, y, width, height; /* inside the picture */
    char text[32];
};

/* Places the labels of the obstacles that FRAME sees in a picture of WIDTH x HEIGHT px, whose text is SCALE times enlarged: the
 * nearest ones first, each above its box, else below it, else at the nearest free place in its columns. Returns how many have a
 * place; the others have none left. */
int plx_place_labels(const struct plx_frame *frame, int width, int height, int scale, struct plx_label ret[PLX_MAX_OBSTACLES]);

/* Boxes of the obstacles that FRAME sees, the nearest on top, bars at their feet, which follow their outlines, and their track
 * numbers and distances, which do not cover each other. */
void plx_draw_obstacles(struct plx_rgb_image *drawing, const struct plx_frame *frame);

/* Free ground of SCAN in green, and STIXELS by distance as disparity: the planes of FRAME, of the drawing's size. Nothing
 * without both. */
void plx_draw_columns(struct plx_rgb_image *drawing, const struct plx_frame *frame, const struct plx_image *scan,
                      const struct plx_image *stixels);

/* An outline THICKNESS px wide, inside the rectangle; the part outside the image is cut off. */
void plx_draw_box(struct plx_rgb_image *drawing, int x, int y, int width, int height, int thickness, struct plx_rgb colour);

/* Pixels that plx_draw_text needs. */
void plx_text_size(int scale, const char *text, int *ret_width, int *ret_height);

/* TEXT in a 5x7 font, SCALE times enlarged, on a black ground, its upper left corner at x, y; it has digits and `.-#m`, the
 * rest is blank. Returns its width in px. */
int plx_draw_text(struct plx_rgb_image *drawing, int x, int y, int scale, const char *text, struct plx_rgb colour);

#endif
