/* SPDX-License-Identifier: Apache-2.0 */
/* Where the labels of obstacles stand in a picture, so that none covers another. */
#ifndef PLX_APP_CLI_LABELS_H
#define PLX_APP_CLI_LABELS_H

#include <parallax/frame.h>

struct plx_label {
    const struct plx_obstacle *obstacle;
    int x, y, width, height; /* inside the picture */
    char text[32];
};

/* Places the labels of the obstacles that FRAME sees in a picture of WIDTH x HEIGHT px, whose text is SCALE times enlarged: the
 * nearest ones first, each above its box, else below it, else at the nearest free place in its columns. Returns how many have a
 * place; the others have none left. */
int plx_place_labels(const struct plx_frame *frame, int width, int height, int scale, struct plx_label ret[PLX_MAX_OBSTACLES]);

#endif
