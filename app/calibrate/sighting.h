/* SPDX-License-Identifier: Apache-2.0 */
/* What pictures show where the board that was asked for is not found: other boards, and other numbers. */
#ifndef PLX_APP_CALIBRATE_SIGHTING_H
#define PLX_APP_CALIBRATE_SIGHTING_H

#include "app/calibrate/board.h"
#include "app/calibrate/tags.h"
#include "core/base/image.h"

#define PLX_SIGHTING_TEXT 320 /* bytes */

struct plx_sighting {
    struct plx_board chess; /* the largest chessboard, longer side first; columns 0: none */
    struct plx_tags *tags;  /* made by the first plx_sighting_detect */
};

void plx_sighting_close(struct plx_sighting *sighting); /* all zeros is fine */

/* Detects boards of any kind and size in GREY (U8). NOMEM. */
int plx_sighting_detect(struct plx_sighting *sighting, const struct plx_image *grey);

/* What was seen and what to do, for a person who asked for BOARD: "they show ...". OWN: what its finder saw, or NULL. "" if
 * nothing was seen. */
void plx_sighting_text(const struct plx_sighting *sighting, const struct plx_board *board, const struct plx_tags_sighting *own,
                       char ret[PLX_SIGHTING_TEXT]);

#endif
