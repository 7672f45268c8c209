/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a grid of AprilTags 36h11 (Olson 2011; Wang and Olson 2016) in a picture, by libapriltag. Tags have a border of one bit
 * or, as those of Kalibr, of two. */
#ifndef PLX_APP_CALIBRATE_TAGS_H
#define PLX_APP_CALIBRATE_TAGS_H

#include "app/calibrate/board.h"
#include "core/base/image.h"

struct plx_tags;

/* NOMEM. The finder is for one thread. */
int plx_tags_create(struct plx_tags **ret_tags);
void plx_tags_destroy(struct plx_tags *tags); /* NULL is fine */

/* The corners of those tags of BOARD (kind TAGS) that GREY (U8) shows; NAN for the others. Tags need about 20 px. Which way the
 * numbers of the rows go, and how the tags stand on the board, is seen in the picture. NOT_FOUND: fewer than four tags, or all
 * in one line. */
int plx_tags_find(struct plx_tags *tags, const struct plx_image *grey, const struct plx_board *board, double (*ret_corner)[2]);

#endif
