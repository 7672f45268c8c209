/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibration drift: whether a point still lies on the same row in both rectified images. In every frame a few patches of the
 * left image are looked for in the right one, some rows up and down as well (by the image operation match_template); those with
 * enough texture to tell vote for the row where they were found.
 */
#ifndef PLX_CORE_ALIGNMENT_H
#define PLX_CORE_ALIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image.h"
#include "core/imageops.h"

#define PLX_ALIGNMENT_PATCHES 2 /* in a frame */
#define PLX_ALIGNMENT_VOTES 32  /* the newest ones count */
#define PLX_ALIGNMENT_ROWS 2    /* rows off from which a vote is one against the calibration */

struct plx_alignment {
    int width, height; /* of the rectified images */
    int min_disparity, disparities;
    uint32_t frame;    /* number of the current one: it chooses the patches */
    uint32_t votes;    /* so many until now */
    uint32_t off_bits; /* the newest 32, 1 = rows off */
};

void plx_alignment_init(struct plx_alignment *alignment, int width, int height, int min_disparity, int disparities);

/* Where patch INDEX of the current frame is, and the strip in which to look for it, as views of LEFT and RIGHT (U8 rectified).
 * False where the image has no room for it: for all of them in every frame, or for none. */
bool plx_alignment_patch(const struct plx_alignment *alignment, int index, const struct plx_image *left,
                         const struct plx_image *right, struct plx_image *ret_patch, struct plx_image *ret_strip);

/* Takes the answers, found[PLX_ALIGNMENT_PATCHES], of the current frame (those without a patch do not count) and goes on to the
 * next. LEFT must be readable by the CPU. True while at least half of the newest 32 votes say that rows are off by 2 or more.
 */
bool plx_alignment_look(struct plx_alignment *alignment, const struct plx_image *left, const struct plx_template_match *found);

#endif
