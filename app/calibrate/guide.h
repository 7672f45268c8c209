/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person with a board is told while a calibration is taken live, and which pairs are kept: those in which the board is
 * sharp, holds still, and shows something new. No clocks, no pictures of its own: the same pairs give the same words.
 */
#ifndef PLX_APP_CALIBRATE_GUIDE_H
#define PLX_APP_CALIBRATE_GUIDE_H

#include <stdint.h>

#include "app/calibrate/boards.h"

#define PLX_GUIDE_COLUMNS 4 /* parts of a picture */
#define PLX_GUIDE_ROWS 3
#define PLX_GUIDE_PAIRS 12   /* at least */
#define PLX_GUIDE_TILTED 2   /* pairs at least, of each tilt */
#define PLX_GUIDE_ADVICE 400 /* bytes of a sentence */

enum plx_guide_state {
    PLX_GUIDE_NONE,     /* neither picture shows the board */
    PLX_GUIDE_ONE_EYE,  /* only one does */
    PLX_GUIDE_BLURRED,  /* its edges are too wide */
    PLX_GUIDE_MOVING,   /* it does not hold still yet */
    PLX_GUIDE_FAMILIAR, /* a kept pair is like this one */
    PLX_GUIDE_KEPT,     /* this pair was kept */
    PLX_GUIDE_STATES
};

/* Which side of the board comes nearer, by 15 degrees at least; sides as the left picture shows them. */
enum plx_guide_tilt { PLX_TILT_LEFT, PLX_TILT_RIGHT, PLX_TILT_TOP, PLX_TILT_BOTTOM, PLX_TILTS, PLX_TILT_NONE = PLX_TILTS };

struct plx_guide {
    struct plx_boards boards;                              /* those that are kept */
    int part[PLX_EYES][PLX_GUIDE_ROWS][PLX_GUIDE_COLUMNS]; /* kept pairs with a corner there */
    int tilted[PLX_TILTS];                                 /* kept pairs */

    /* State after the last pair. */
    enum plx_guide_state state;
    enum plx_guide_tilt tilt;
    double edge_px[PLX_EYES]; /* how wide edges are, from dark to bright: focus and blur by motion; 0: not known */
    double speed;             /* corners' speed, widths of the picture a second; INFINITY: not known */

    struct plx_sighting sighting; /* what is seen while the board is not */
    int misses;                   /* pairs in a row that did not show it */

    double (*before)[2]; /* corners of the left eye in the pair before */
    int64_t before_ns;   /* 0: it did not show the board */
    int64_t still_ns;    /* since when it holds still; 0: it does not */
};

/* RANGE (board), NOMEM. */
int plx_guide_open(struct plx_guide *guide, const struct plx_board *board, enum plx_distortion model);
void plx_guide_close(struct plx_guide *guide); /* all zeros is fine */

/* Looks at a pair (U8) that was taken at CAPTURE_NS, later than the one before; keeps it if it is of use. FORMAT: another size
 * than the first pair; NOMEM. */
int plx_guide_judge(struct plx_guide *guide, const struct plx_image image[PLX_EYES], int64_t capture_ns,
                    struct plx_error_message *message);

/* True if all parts of both pictures, all tilts and enough pairs were seen. */
bool plx_guide_is_complete(const struct plx_guide *guide);

/* What is wrong with the last pair, or what is missing: "tilt the board: its left side nearer to the cameras". */
void plx_guide_advice(const struct plx_guide *guide, char ret[PLX_GUIDE_ADVICE]);

const char *plx_guide_state_word(enum plx_guide_state state); /* "moving" */
const char *plx_guide_tilt_word(enum plx_guide_tilt tilt);    /* "left" */

#endif
