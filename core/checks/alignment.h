/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibration drift: whether a point still lies on the same row in both rectified images, and by how many rows it is off. In
 * every frame one patch of the left image is searched for in the right one (by the image operation match_template), far up and
 * down. A patch with enough texture gives the offset where it was found; an affine map is fitted to the newest offsets.
 */
#ifndef PLX_CORE_CHECKS_ALIGNMENT_H
#define PLX_CORE_CHECKS_ALIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"

/* A point of the left image lies ROWS lower in the right one, at (x, y) from the centre of that, pixels. */
struct plx_row_offset {
    double x, y, rows;
};

/* rows + per_x x + per_y y. */
struct plx_row_fit {
    int inliers; /* offsets that agree with it */
    double rows, per_x, per_y;
};

double plx_row_fit_at(const struct plx_row_fit *fit, double x, double y);

/* The map on which most of COUNT offsets agree, in an image of twice HALF_WIDTH and HALF_HEIGHT; slopes that the offsets do not
 * show, because all lie in one place, are 0. The same bits at every call. */
struct plx_row_fit plx_row_fit(const struct plx_row_offset *offset, int count, double half_width, double half_height);

#define PLX_ALIGNMENT_MATCHES 4  /* in a frame: over all rows in reach; on the expected row, the one above it, the one below */
#define PLX_ALIGNMENT_REACH 24   /* rows up and down that are tried */
#define PLX_ALIGNMENT_OFFSETS 32 /* the newest ones count; half of them must agree */
#define PLX_ALIGNMENT_ROWS 2     /* a fault: this many rows off at the worst place of the image, */
#define PLX_ALIGNMENT_SURE 4     /* in this many offsets in a row */

struct plx_alignment {
    int width, height;   /* size of the rectified images */
    double focal_length; /* vertical, pixels */
    int min_disparity, disparities;
    uint32_t frame; /* number of the current frame: it chooses the patch */
    int offsets;    /* valid ones in offset */
    int next;       /* index in offset of the next one, which replaces the oldest */
    struct plx_row_offset offset[PLX_ALIGNMENT_OFFSETS];
    bool is_known;          /* the rows were right, or surely off, at some time; or the images are too small to be checked */
    int off;                /* offsets in a row whose fit was a fault, up to PLX_ALIGNMENT_SURE */
    struct plx_row_fit fit; /* fit of the offsets; without inliers: they do not agree, or are too few */
};

void plx_alignment_init(struct plx_alignment *alignment, int width, int height, double focal_length, int min_disparity,
                        int disparities);

/* The patch of match INDEX of the current frame, and the strip to search, as views of LEFT and RIGHT (U8 rectified). False if
 * the image is too small, which is the same for all matches of all frames. */
bool plx_alignment_patch(const struct plx_alignment *alignment, int index, const struct plx_image *left,
                         const struct plx_image *right, struct plx_image *ret_patch, struct plx_image *ret_strip);

/* Evaluates the matches of the current frame, found[PLX_ALIGNMENT_MATCHES], and chooses the next patch. The CPU must be able to
 * read LEFT. True while rows are off by PLX_ALIGNMENT_ROWS or more, in PLX_ALIGNMENT_SURE offsets in a row. */
bool plx_alignment_update(struct plx_alignment *alignment, const struct plx_image *left, const struct plx_template_match *found,
                          struct plx_alignment_info *ret_info);

#endif
