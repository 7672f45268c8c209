/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the stage segments, obstacles made of stixels: as core/ground/columns.h, compiled by every backend.
 * Disparities are 1/16 px above that of infinity.
 *
 * 1. Stixel i of column X has the number 8 X + i. Two stixels of one column, or of neighbouring ones, are linked where they are
 *    near each other in rows and in depth (plx_stixels_link), or in rows and more loosely in depth within the predicted box of
 *    one obstacle (plx_stixels_continue). A segment is what is linked; its name is its smallest number.
 * 2. Each pixel belongs to the segment of the first stixel of its column that it lies on (plx_stixel_holds), if there is one.
 * 3. Segments with fewer than min_area pixels go. Of the others, one that is narrow joins those beside it (plx_stixels_join):
 * the columns of a hedge step back and forth by more than those of a wall, from frame to frame too.
 * 4. What is left is numbered from 1 by area, the largest first, then by name.
 */
#ifndef PLX_CORE_GROUND_SEGMENTS_H
#define PLX_CORE_GROUND_SEGMENTS_H

#include "core/ground/columns.h"
#include "core/ground/predictions.h"

#define PLX_LINK_ROWS 8       /* common rows that link two stixels of neighbouring columns */
#define PLX_LINK_GAP 4        /* rows between two stixels of one column that are linked */
#define PLX_LINK_MM 300       /* depths that agree differ by at most so much, */
#define PLX_LINK_PERMILLE 20  /* or by so much of the larger disparity */
#define PLX_NARROW_COLUMNS 4  /* from the first to the last column of a narrow segment */
#define PLX_JOIN_MM 700       /* depths of a narrow segment and of what it joins differ by at most so much, */
#define PLX_JOIN_STEP 8       /* 1/16 px, or disparities by so much: matching draws such a ramp at the side of a far thing, */
#define PLX_JOIN_STEP_MM 1500 /* and depths by so much: farther away that step is the gap between two things */
#define PLX_CONTINUE_PERMILLE 50 /* depths within one predicted box: those of a join, or by so much of the larger disparity */
#define PLX_HOLD_STEP 12  /* 1/16 px, and a sixteenth of the stixel's disparity: from there a pixel lies on something else, */
#define PLX_HOLD_MM 1250  /* and from so many mm of depth, */
#define PLX_HOLD_ALWAYS 2 /* but not up to 1/16 px */

struct plx_segments_params {
    int64_t depth_scale; /* 16000 fx baseline, rounded: depth in mm = depth_scale / disparity; 1 .. PLX_SEGMENTS_MAX_SCALE */
    int infinity;        /* disparity of a point at infinity, plx_disparity_at_infinity */
    int32_t min_height_um, max_height_um; /* above ground, of a pixel */
    int min_area;                         /* pixels, from 1 */
};

/* What is known of a segment before narrow ones join: its columns of stixels and its pixels. */
struct plx_segment_extent {
    uint32_t first, last, area;
};

#define PLX_SEGMENTS_MAX_SCALE ((int64_t)1 << 40)

static inline int plx_stixels_of(int width)
{
    return plx_columns_of(width) * PLX_COLUMN_STIXELS;
}

/* True if the images are sound, of their types, and of one image's size. */
static inline bool plx_segments_ok(const struct plx_image *disparity, const struct plx_segments_params *params,
                                   const struct plx_image *stixels, const struct plx_image *labels)
{
    return plx_image_ok(disparity, PLX_U16) && plx_image_ok(stixels, PLX_U128) && plx_image_ok(labels, PLX_U32) &&
           plx_same_size(disparity, labels) && stixels->width == PLX_COLUMN_STIXELS &&
           stixels->height == plx_columns_of(disparity->width) && params->depth_scale >= 1 &&
           params->depth_scale <= PLX_SEGMENTS_MAX_SCALE && params->min_area >= 1;
}

/* True if the depths at disparities A and B differ by at most MM. */
PLX_BOTH bool plx_depths_within(int64_t depth_scale, int a, int b, int mm)
{
    const int64_t step = a > b ? a - b : b - a;
    return step * depth_scale <= mm * (int64_t)a * b;
}

/* Common rows of two stixels; below 1: 1 minus the rows from the last of the one to the first of the other. */
PLX_BOTH int plx_common_rows(const struct plx_stixel *a, const struct plx_stixel *b)
{
    return (a->y1 < b->y1 ? a->y1 : b->y1) - (a->y0 > b->y0 ? a->y0 : b->y0) + 1;
}

/* True if A and B belong to one segment; SAME: they are of one column, else of neighbouring ones. */
PLX_BOTH bool plx_stixels_link(int64_t depth_scale, const struct plx_stixel *a, const struct plx_stixel *b, bool same)
{
    const int64_t step = a->disparity > b->disparity ? a->disparity - b->disparity : b->disparity - a->disparity;
    const int64_t larger = a->disparity > b->disparity ? a->disparity : b->disparity;
    return a->disparity > 0 && b->disparity > 0 && plx_common_rows(a, b) >= (same ? 1 - PLX_LINK_GAP : PLX_LINK_ROWS) &&
           (plx_depths_within(depth_scale, a->disparity, b->disparity, PLX_LINK_MM) ||
            1000 * step <= PLX_LINK_PERMILLE * larger);
}

/* True if the disparities A and B are close enough for two stixels to join. */
PLX_BOTH bool plx_disparities_join(int64_t depth_scale, int a, int b)
{
    const int step = a > b ? a - b : b - a;
    return plx_depths_within(depth_scale, a, b, PLX_JOIN_MM) ||
           (step <= PLX_JOIN_STEP && plx_depths_within(depth_scale, a, b, PLX_JOIN_STEP_MM));
}

/* True if A and B, of neighbouring columns, make one of two segments, one of which is narrow. */
PLX_BOTH bool plx_stixels_join(int64_t depth_scale, const struct plx_stixel *a, const struct plx_stixel *b)
{
    return a->disparity > 0 && b->disparity > 0 && plx_common_rows(a, b) >= PLX_LINK_ROWS &&
           plx_disparities_join(depth_scale, a->disparity, b->disparity);
}

/* True if BOX contains the middle column, half of the rows and the disparity of STIXEL, which is of column X. */
PLX_BOTH bool plx_box_contains(const struct plx_predicted_box *box, const struct plx_stixel *stixel, int x)
{
    const int middle = PLX_COLUMN_WIDTH * x + PLX_COLUMN_WIDTH / 2;
    const int first = stixel->y0 > box->top ? stixel->y0 : box->top, last = stixel->y1 < box->bottom ? stixel->y1 : box->bottom;
    return middle >= box->left && middle <= box->right && last >= first &&
           2 * (last - first + 1) >= stixel->y1 - stixel->y0 + 1 && stixel->disparity >= box->far_disparity &&
           stixel->disparity <= box->near_disparity;
}

/* True if A of column X and B of the next column belong to one obstacle of the frame before. An obstacle comes apart only at a
 * larger step than two obstacles need to stay apart: else it would come apart and join again with the noise of each frame. */
PLX_BOTH bool plx_stixels_continue(int64_t depth_scale, const struct plx_predictions *predictions, const struct plx_stixel *a,
                                   const struct plx_stixel *b, int x)
{
    const int step = a->disparity > b->disparity ? a->disparity - b->disparity : b->disparity - a->disparity;
    const int larger = a->disparity > b->disparity ? a->disparity : b->disparity;
    if (a->disparity == 0 || b->disparity == 0 || plx_common_rows(a, b) < PLX_LINK_ROWS ||
        (1000 * step > PLX_CONTINUE_PERMILLE * larger && !plx_disparities_join(depth_scale, a->disparity, b->disparity)))
        return false;
    for (int i = 0; i < predictions->count; i++)
        if (plx_box_contains(&predictions->box[i], a, x) && plx_box_contains(&predictions->box[i], b, x + 1))
            return true;
    return false;
}

/* True if the segments A and B may become one by a pair of their stixels. */
PLX_BOTH bool plx_segments_may_join(const struct plx_segment_extent *a, const struct plx_segment_extent *b, uint32_t min_area)
{
    const bool narrow = a->last - a->first < PLX_NARROW_COLUMNS || b->last - b->first < PLX_NARROW_COLUMNS;
    return narrow && a->area >= min_area && b->area >= min_area;
}

/* True if pixel (X, Y) with disparity D, relative to min_disparity, lies on STIXEL of its column. */
PLX_BOTH bool plx_stixel_holds(const struct plx_stixel *stixel, const struct plx_ground *ground,
                               const struct plx_segments_params *params, int x, int y, int d)
{
    const int here = d - params->infinity,
              step = here > stixel->disparity ? here - stixel->disparity : stixel->disparity - here;
    if (d == PLX_DISPARITY_INVALID || y < stixel->y0 || y > stixel->y1 || here < 1 || stixel->disparity == 0 ||
        step > PLX_HOLD_STEP + stixel->disparity / PLX_DISPARITY_ONE ||
        (step > PLX_HOLD_ALWAYS && !plx_depths_within(params->depth_scale, here, stixel->disparity, PLX_HOLD_MM)))
        return false;
    if (!ground->valid)
        return true;
    const int g = plx_cell_clamp(((ground->a * x + ground->b * y + ground->c) >> 16) - params->infinity, PLX_CELL_LIMIT);
    const int64_t above = (int64_t)ground->camera_height_um * (here - g);
    return above >= (int64_t)here * params->min_height_um && above <= (int64_t)here * params->max_height_um;
}

/* What a stixel says of a segment that has NUMBER, from 1, or 0 where it has gone. */
PLX_BOTH uint16_t plx_stixel_segment(uint32_t number)
{
    return (uint16_t)(number <= PLX_MAX_OBSTACLES ? number : 0xFFFF);
}

#endif
