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

/* What pictures have shown so far, whatever board was looked for. */
struct plx_tags_sighting {
    int count;          /* tags in the picture that showed most of them; 0: none was seen */
    int min_id, max_id; /* the tags' numbers */
    int columns;        /* tags in a row, as the numbers lie; 0: not known */
    double gap;         /* from one tag to the next, in sides of a tag; 0: not known */
    bool is_charuco;    /* they lie in the white squares of a chessboard */
};

const struct plx_tags_sighting *plx_tags_seen(const struct plx_tags *tags);

/* True if tags that are GAP of their side apart may be those of BOARD. */
bool plx_tags_gap_fits(const struct plx_board *board, double gap);

/* Sees which tags GREY (U8) shows. NOT_FOUND: fewer than four; NOMEM. */
int plx_tags_detect(struct plx_tags *tags, const struct plx_image *grey);

/* The corners of those tags of BOARD (kind TAGS) that GREY (U8) shows; NAN for the others. Tags need about 20 px. Which way the
 * numbers of the rows go, and how the tags stand on the board, is seen in the picture. So is the number of the first tag, which
 * then stays: 0 or a multiple of the board's tags, or any other once a picture shows the first and the last tag. NOT_FOUND:
 * fewer than four tags, all in one line, or not as BOARD has them; NOMEM. */
int plx_tags_find(struct plx_tags *tags, const struct plx_image *grey, const struct plx_board *board, double (*ret_corner)[2]);

#endif
