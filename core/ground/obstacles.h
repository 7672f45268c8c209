/* SPDX-License-Identifier: Apache-2.0 */
/* Obstacles: connected regions of the mask as integer sums, which a backend makes, and what regions and ground are in metres.
 */
#ifndef PLX_CORE_GROUND_OBSTACLES_H
#define PLX_CORE_GROUND_OBSTACLES_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/ground/ground.h"

/* What an obstacle is made of. */
enum plx_obstacle_method {
    PLX_OBSTACLES_OF_REGIONS, /* connected regions of the mask */
    PLX_OBSTACLES_OF_STIXELS  /* linked stixels; needs columns */
};

struct plx_obstacle_params {
    enum plx_obstacle_method method;
    double range_min_m, range_max_m;
    double min_height_m, max_height_m; /* above ground */
    double min_drop_m;                 /* by so much the ground falls at a drop; 0: drops are not looked for */
    int open_size, close_size;         /* morphology for regions: odd, 1 = off */
    int max_step;                      /* 1/16 px between neighbours in one region */
    int min_area;                      /* pixels */
};

struct plx_label_params {
    int max_step; /* 1/16 px: neighbours belong together if their disparities differ by no more */
    int min_area; /* pixels; smaller components are dropped before numbering */
};

/* The images that regions are measured in, all of one size. LEFT and RIGHT, rectified U8, refine the disparities of whole
 * regions. */
struct plx_region_input {
    const struct plx_image *labels, *disparity, *left, *right;
    int min_disparity;
};

/* True if the images of INPUT and PUBLISHED are sound, of the right types and of one size. */
static inline bool plx_region_input_ok(const struct plx_region_input *input, const struct plx_image *published)
{
    return plx_image_ok(input->labels, PLX_U32) && plx_image_ok(input->disparity, PLX_U16) &&
           plx_image_ok(input->left, PLX_U8) && plx_image_ok(input->right, PLX_U8) && plx_image_ok(published, PLX_U16) &&
           plx_same_size(input->labels, input->disparity) && plx_same_size(input->labels, input->left) &&
           plx_same_size(input->labels, input->right) && plx_same_size(input->labels, published);
}

/* A disparity that the images themselves refine, in 1/16 px relative to min_disparity: sum / weight, weight 0 without
 * texture. The smoothness of semi-global matching pulls surfaces parallel to the image towards whole disparities; the shift
 * with the best agreement of the two images over many pixels (Lucas and Kanade 1981) does not. */
struct plx_refined {
    int64_t weight; /* sum of g g, g = left(x + 1) - left(x - 1) */
    int64_t sum;    /* sum of g g d - 2 g e, e = 16 (left(x) - right(x - d)), d the disparity that was tried */
};

/* Sums over one region; disparities in 1/16 px relative to min_disparity. Percentile p of n sorted values is element
 * (n - 1) p / 100. The inner box leaves out columns (rows) that hold less than half as many pixels as the fullest one: frayed
 * edges do not count as width. The interior is the surface turned to the camera: the pixels with a disparity within
 * PLX_INTERIOR_DEPTH of the median. */
#define PLX_INTERIOR_DEPTH 8 /* 1/16 px */

struct plx_region {
    uint32_t label, area;
    uint32_t first; /* raster index y * width + x of its first pixel */
    uint32_t interior_area;
    int32_t x0, y0, x1, y1; /* inclusive box */
    int32_t inner_x0, inner_y0, inner_x1, inner_y1;
    uint64_t sum_x, sum_y;
    uint64_t interior_sum_d, interior_sum_x, interior_sum_y; /* sums over the interior's disparities, columns and rows */
    struct plx_refined interior;                             /* the interior's disparity */
    struct plx_refined left, right;                          /* lines along the inner box's left and right side */
    uint32_t median, p95, p05;                               /* percentiles of disparity */
    uint32_t reserved;
};

/* Describes COUNT regions as obstacles in RET_OBSTACLE, which has room for COUNT, in the same order, and returns how many there
 * are: regions at infinity, too small in metres, or hardly above PARAMS->min_height_m are left out. GROUND may be invalid
 * (heights are then 0). IMAGE_HEIGHT, rows, ends the boxes. Fills all but outline and nearest_sigma_m (see below), and track,
 * status, age_frames, velocity and velocity_variance, which are 0 until plx_tracks_update. */
int plx_obstacles_measure(const struct plx_region *region, int count, const struct plx_calibration_info *calibration,
                          int min_disparity, int image_height, const struct plx_ground_info *ground,
                          const struct plx_obstacle_params *params, struct plx_obstacle *ret_obstacle);

/* What plx_obstacles_sigma looks at, of one size: the labels (U16), the strict disparity (U16) and its confidence (U8). */
struct plx_sure_images {
    const struct plx_image *labels, *disparity, *confidence;
};

/* Fills nearest_sigma_m of COUNT obstacles: by the median confidence of what has their label and about their nearest disparity.
 * 0, not known, where nothing has, or ERRORS are not known. */
void plx_obstacles_sigma(const struct plx_sure_images *images, const struct plx_error_info *errors,
                         const struct plx_calibration_info *calibration, int min_disparity, struct plx_obstacle *ret_obstacle,
                         int count);

/* Fills the outlines of the COUNT obstacles in RET_OBSTACLE from STIXELS, U128 [columns][PLX_COLUMN_STIXELS], whose records are
 * their labels. With STIXELS NULL, each part gets the obstacle's near disparity. INFINITY: plx_disparity_at_infinity. */
void plx_obstacles_outline(const struct plx_image *stixels, int min_disparity, int infinity, struct plx_obstacle *ret_obstacle,
                           int count);

/* The plane in metres: normal, camera height, pitch and roll, from the plane in disparity space. All 0 if there is none. */
void plx_ground_geometry(const struct plx_ground *ground, const struct plx_calibration_info *calibration, int min_disparity,
                         struct plx_ground_info *ret_info);

/* How the stage regions refines disparities, in a subset of C that every backend compiles: integers only. */

#define PLX_REFINE_MARGIN 3    /* pixels at both ends of a run that are left out: matching widens obstacles by about that */
#define PLX_REFINE_STRIP 7     /* columns from the inner box's side that a strip ends at */
#define PLX_REFINE_OUTLIER 640 /* 1/16 grey level: what differs more is no match */
#define PLX_REFINE_STEP 12     /* 1/16 px: the largest first step */

struct plx_refine_sums {
    int64_t gg, ge, ggd;
};

/* Where the pixel in column X of rows WIDTH wide with disparity D + SHIFT, 1/16 px relative to MIN_DISPARITY, lies in the right
 * image, 1/16 column; below 0 if a pixel that it would be compared with lies outside. */
PLX_BOTH int plx_refine_place(int width, int x, int d, int shift, int min_disparity)
{
    const int at = 16 * (x - min_disparity) - d - shift;
    return x < 1 || x + 1 >= width || (at >> 4) + 1 >= width ? -1 : at;
}

/* Adds a pixel with disparity SHIFTED. LEFT: it and its neighbours in the row; RIGHT: the two pixels around its place AT. */
PLX_BOTH void plx_refine_pixel(struct plx_refine_sums *sums, const int left[3], const int right[2], int at, int shifted)
{
    const int part = at & 15, g = left[2] - left[0];
    const int e = 16 * left[1] - (right[0] * (16 - part) + right[1] * part);
    if (e > PLX_REFINE_OUTLIER || e < -PLX_REFINE_OUTLIER)
        return;
    sums->gg += g * g;
    sums->ge += (int64_t)g * e;
    sums->ggd += (int64_t)(g * g) * shifted;
}

/* Both, of the pixel in column X of rows LEFT and RIGHT. */
PLX_BOTH void plx_refine_add(struct plx_refine_sums *sums, const uint8_t *left, const uint8_t *right, int width, int x, int d,
                             int shift, int min_disparity)
{
    const int at = plx_refine_place(width, x, d, shift, min_disparity), from = at >> 4;
    if (at < 0)
        return;
    const int near[3] = {left[x - 1], left[x], left[x + 1]}, across[2] = {right[from], right[from + 1]};
    plx_refine_pixel(sums, near, across, at, d + shift);
}

/* The step from the disparity tried to the one where the images agree, rounded half away from zero, within +-PLX_REFINE_STEP.
 */
PLX_BOTH int plx_refine_step(const struct plx_refine_sums *sums)
{
    if (sums->gg == 0)
        return 0;
    /* 4 |ge| / (2 gg), rounded half up: by long division, of which no more bits than the largest step has are needed */
    int64_t rest = 4 * (sums->ge < 0 ? -sums->ge : sums->ge) + sums->gg;
    int step = 0;
    for (int bit = 8; bit > 0; bit /= 2) {
        const int64_t part = 2 * bit * sums->gg;
        step += rest >= part ? bit : 0;
        rest -= rest >= part ? part : 0;
    }
    step = step < PLX_REFINE_STEP ? step : PLX_REFINE_STEP;
    return sums->ge < 0 ? step : -step;
}

#endif
