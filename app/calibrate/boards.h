/* SPDX-License-Identifier: Apache-2.0 */
/* The boards that pairs of pictures show: found one after the other, and those that are kept. */
#ifndef PLX_APP_CALIBRATE_BOARDS_H
#define PLX_APP_CALIBRATE_BOARDS_H

#include "app/calibrate/board.h"
#include "app/calibrate/rig.h"
#include "app/calibrate/sighting.h"
#include "core/base/image.h"

struct plx_tags;

struct plx_boards {
    struct plx_board board;
    struct plx_rig_options options; /* the size is that of the first pair */
    struct plx_board_pair *pair;    /* those that are kept */
    int count;
    double (*corner[PLX_EYES])[2]; /* corners found last, [plx_board_corners] */
    bool seen[PLX_EYES];           /* in the last look */

    double (*before)[2];   /* corner[PLX_LEFT] of the look before: until a pair is kept it says which order is meant */
    struct plx_tags *tags; /* for a board of tags */
    int room;              /* at PAIR */
};

/* Prepares to look for BOARD; MODEL: of both cameras. RANGE (board), NOMEM. */
int plx_boards_open(struct plx_boards *boards, const struct plx_board *board, enum plx_distortion model);
void plx_boards_close(struct plx_boards *boards); /* all zeros is fine */

/* Looks for the board in both pictures (U8) of a pair: fills seen and corner, where the same corners have one order in both.
 * NOT_FOUND: not in both; FORMAT: another size than the first pair; NOMEM. */
int plx_boards_detect(struct plx_boards *boards, const struct plx_image image[PLX_EYES], struct plx_error_message *message);

/* What SIGHTING and the board's own finder saw, "" if nothing: see plx_sighting_text. */
void plx_boards_sighting_text(const struct plx_boards *boards, const struct plx_sighting *sighting,
                              char ret[PLX_SIGHTING_TEXT]);

/* Keeps what the last look found in both pictures. NOMEM. */
int plx_boards_keep(struct plx_boards *boards);

#endif
