/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage free_ground: it ends the free ground of a scan, struct plx_scan, where the ground falls away or something low
 * rises. The arithmetic is in a subset of C that every backend compiles: integers, and single IEEE operations on doubles in
 * plx_ground_view_make.
 *
 * 1. Each column alone: a search goes up the column for ground that bends down, where the stage stixels found a drop, and one
 *    for ground that bends up (plx_bend_add). The results are struct plx_column_ends.
 * 2. What few columns side by side show is chance: plx_free_ground_join writes the scan.
 */
#ifndef PLX_CORE_GROUND_FREE_GROUND_H
#define PLX_CORE_GROUND_FREE_GROUND_H

#include <math.h>

#include "core/geometry/stereo.h"
#include "core/ground/stixels.h"

#define PLX_MIN_FREE 5  /* columns, 20 px: what is too near to be matched gets matches by chance in fewer */
#define PLX_MIN_DROP 10 /* columns, 40 px: of 25,000 frames of slopes one had a chance drop of 8 */
#define PLX_MIN_RISE 4  /* columns, 16 px */
#define PLX_FARTHEST_MM 1000000

/* Ground that bends up (SIGN 1) or down (-1) by MIN_MM, or NOISE standard deviations of a height, away from a ramp of 1 in
 * SLOPE, in CELLS. */
struct plx_bend {
    int sign, slope, cells, noise, min_mm;
};

/* A rise: ground that rises by no more than a 5th of its way is a ramp, 11 degrees. A low thing is three quarters as high as a
 * thing must be for a stixel: the path of a column runs over it as over raised ground. */
PLX_BOTH struct plx_bend plx_bend_of_rise(const struct plx_columns_params *params)
{
    const struct plx_bend bend = {1, 5, 3, 5, 3 * (params->mask.min_height_um / 1000 + PLX_ROUGHNESS_MM) / 4};
    return bend;
}

/* A drop: ground that falls by no more than a 7th is a slope, 8 degrees. The stage stixels knows how far ground goes from one
 * row to the next on the plane; on a slope that falls away ground goes farther, and looks like a drop there. One cell: of a low
 * floor far ahead hardly more lie below a slope. */
PLX_BOTH struct plx_bend plx_bend_of_drop(const struct plx_columns_params *params)
{
    const struct plx_bend bend = {-1, 7, 1, 3, params->min_drop_mm / 4};
    return bend;
}

/* How far along the ground a point lies, from its depth and its height above the plane: the camera looks down on it. */
struct plx_ground_view {
    int64_t depth;        /* mm, of disparity 1 */
    int64_t camera_um;    /* above the plane */
    int32_t cosine, sine; /* the camera's pitch against the plane, in 1/65536 */
};

/* Depth in mm of disparity 1. */
static inline int64_t plx_ground_view_depth(const struct plx_calibration_info *calibration)
{
    return plx_ground_round(plx_depth_scale_mm(calibration));
}

PLX_BOTH struct plx_ground_view plx_ground_view_make(const struct plx_ground *ground,
                                                     const struct plx_calibration_info *calibration, int64_t depth)
{
    double normal[3];
    plx_ground_normal(ground, calibration, 0, normal);
    const double along = normal[1] * (ground->camera_height_um / 1e6), cosine = along < 1 ? along : 1;
    const double rest = 1 - cosine * cosine;
    const struct plx_ground_view view = {depth, ground->camera_height_um, (int32_t)(cosine * 65536 > 1 ? cosine * 65536 : 1),
                                         (int32_t)(sqrt(rest > 0 ? rest : 0) * 65536)};
    return view;
}

/* True if there is ground to rise from. */
PLX_BOTH bool plx_ground_can_rise(const struct plx_ground *ground)
{
    return ground->valid && ground->b > 0;
}

/* One pixel of a cell of the strict disparity. */
struct plx_ground_point {
    int disparity; /* below 1: there is none, and the other numbers have no meaning */
    int above_mm;  /* height above the plane */
    int way_mm;    /* along the ground */
};

/* The column of pixels that is looked at in column X of an image WIDTH wide. */
PLX_BOTH int plx_ground_point_x(int width, int x)
{
    const int left = PLX_CELL_WIDTH * x, middle = left + PLX_CELL_WIDTH / 2;
    return middle < width ? middle : left;
}

/* The point that VALUE shows, the pixel in row Y of cells. */
PLX_BOTH struct plx_ground_point plx_ground_point_make(const struct plx_columns_params *params, const struct plx_ground *ground,
                                                       const struct plx_ground_view *view, uint16_t value, int x, int y)
{
    struct plx_ground_point point = {value == PLX_DISPARITY_INVALID ? 0 : value - params->mask.infinity, 0, 0};
    const int d = point.disparity;
    if (d < 1)
        return point;
    const int64_t above = view->camera_um * (d - plx_cell_ground(params, ground, x, y)) / ((int64_t)1000 * d);
    point.above_mm = plx_cell_clamp(above, PLX_MAX_HEIGHT_MM);
    const int64_t way = view->depth / d * 65536 - (view->camera_um / 1000 - point.above_mm) * view->sine;
    point.way_mm = plx_cell_clamp(way / view->cosine, PLX_FARTHEST_MM);
    return point;
}

/* The search for a bend, up a column; zeroed at first. */
struct plx_bend_search {
    int base;          /* disparity of the last ground before the bend; 0: none yet */
    int level, way_mm; /* the base's height, times the sign, and its distance along the ground */
    int bent;          /* points behind it that have left the ramp */
    int gap;           /* cells since a point belonged to the ground or to the bend */
};

/* So much must a point with DISPARITY have left the ramp, in mm. */
PLX_BOTH int plx_bend_least(const struct plx_bend *bend, const struct plx_ground_view *view, int disparity)
{
    const int noise = (int)(view->camera_um * (bend->noise * PLX_DROP_NOISE) / ((int64_t)1000 * disparity));
    return noise > bend->min_mm ? noise : bend->min_mm;
}

/* By how much POINT lies on the bend's side of the ramp that begins at the base, in mm. */
PLX_BOTH int plx_bend_step(const struct plx_bend_search *search, const struct plx_bend *bend,
                           const struct plx_ground_point *point)
{
    const int way = search->base > 0 && point->way_mm > search->way_mm ? point->way_mm - search->way_mm : 0;
    return bend->sign * point->above_mm - search->level - way / bend->slope;
}

/* Looks at the cell that is next, with its LEAST. */
PLX_BOTH void plx_bend_add(struct plx_bend_search *search, const struct plx_bend *bend, const struct plx_ground_point *point,
                           int least)
{
    search->gap += search->base > 0;
    if (point->disparity < 1)
        return;
    const int step = plx_bend_step(search, bend, point);
    if (search->base == 0 || (step <= 0 && -step < least)) {
        const struct plx_bend_search next = {point->disparity, bend->sign * point->above_mm, point->way_mm, 0, 0};
        *search = next;
        return;
    }
    search->bent += step >= least;
    search->gap = step > 0 ? 0 : search->gap;
}

PLX_BOTH bool plx_bend_goes_on(const struct plx_bend_search *search, const struct plx_bend *bend)
{
    return search->gap <= PLX_FREE_GAP && search->bent < bend->cells;
}

/* Disparity of the ground before the bend, 0 if there is none. */
PLX_BOTH int plx_bend_found(const struct plx_bend_search *search, const struct plx_bend *bend)
{
    return search->bent == bend->cells ? search->base : 0;
}

/* What the columns of a scan show, each for itself; arrays of as many numbers. */
struct plx_column_ends {
    uint16_t *free; /* as the stage stixels found it */
    uint16_t *drop; /* disparity of the ground before a drop that may end free ground; 0: none */
    uint16_t *rise; /* likewise before a rise */
};

/* Disparity of the ground before the drop that the stage stixels found, if it may end free ground; else 0. */
PLX_BOTH int plx_scan_drop(const struct plx_scan *scan)
{
    const int drop = scan->known >> PLX_SCAN_DROP_SHIFT;
    return drop >= scan->nearest && scan->free != PLX_SCAN_NOTHING_FREE ? drop : 0;
}

/* True if VALUE [COUNT] is unlike NONE at X and beside it, in at least LEAST columns side by side. */
PLX_BOTH bool plx_columns_agree(const uint16_t *value, int count, int x, int none, int least)
{
    int begin = x, end = x;
    while (end < count && end < x + least && value[end] != none)
        end++;
    while (begin > 0 && end - begin < least && end > x && value[begin - 1] != none)
        begin--;
    return end - begin >= least;
}

/* Writes column X of COUNT to SCAN, which is as the stage stixels left it. A drop needs more columns than a gap that is closed
 * has, so that none is in one. */
PLX_BOTH void plx_free_ground_join(const struct plx_column_ends *ends, int count, int x, struct plx_scan *scan)
{
    const int drop = ends->drop[x], rise = ends->rise[x];
    unsigned known = scan->known & PLX_SCAN_KNOWN;

    if (ends->free[x] == PLX_SCAN_NOTHING_FREE) {
        scan->known = (uint16_t)known;
        return;
    }
    if (!plx_columns_agree(ends->free, count, x, PLX_SCAN_NOTHING_FREE, PLX_MIN_FREE)) {
        scan->free = PLX_SCAN_NOTHING_FREE;
        scan->known = 0;
        return;
    }
    if (drop > 0 && plx_columns_agree(ends->drop, count, x, 0, PLX_MIN_DROP)) {
        scan->free = (uint16_t)(drop > scan->free ? drop : scan->free);
        known |= PLX_SCAN_DROP;
    }
    if (rise > scan->free && plx_columns_agree(ends->rise, count, x, 0, PLX_MIN_RISE)) {
        scan->free = (uint16_t)rise;
        known = (known & PLX_SCAN_KNOWN) | PLX_SCAN_RISE; /* a drop behind it is none of the free ground */
    }
    scan->known = (uint16_t)known;
}

/* True if images and numbers are sound and of sizes that fit. */
static inline bool plx_free_ground_ok(const struct plx_image *disparity, const struct plx_columns_params *params,
                                      const struct plx_image *scan)
{
    return plx_image_ok(disparity, PLX_U16) && plx_image_ok(scan, PLX_U64) && scan->height == 1 &&
           scan->width == plx_columns_of(disparity->width) && params->min_drop_mm >= 0 &&
           params->min_drop_mm <= PLX_COLUMNS_MAX_DROP_MM;
}

#endif
