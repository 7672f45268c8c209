/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good the disparities of a flat surface are. A plane of the world is a plane in disparities too: d = a x + b y + c. It is
 * fitted in one half of the pixels, blocks like the squares of a chessboard, and judged in the other half, and the reverse.
 * docs/wall.md says what each figure means.
 */
#ifndef PLX_APP_EVALUATE_WALL_H
#define PLX_APP_EVALUATE_WALL_H

#include <parallax/client.h>

#include "app/evaluate/wall_realsense.h"
#include "core/base/image.h"

#define PLX_WALL_PARTS 10 /* the whole region, then its nine parts, row by row */
#define PLX_WALL_OUTLIER_PX 1.0
#define PLX_WALL_TAPE_M 0.005 /* error of a distance by tape */

struct plx_wall;

/* NAN: not known. Shares are 0 .. 1. */
struct plx_wall_part {
    double fill;      /* share of the pixels that have a disparity, mean over the frames */
    double outliers;  /* share of the known pixels more than PLX_WALL_OUTLIER_PX from the plane */
    double offset_px; /* median of the residuals: what the part differs from the plane of the whole region */
    /* 68.27 % of ALL pixels are known and lie within this of the part's median, so that a hole counts as an error; without the
     * step of 1/16 px. NAN: fewer are known */
    double noise_px;
    double temporal_px; /* mean standard deviation over the frames of the pixels that are known in all; NAN for one frame */
    double sometimes;   /* share of the pixels that are known in some frames, not in all */
    double never;       /* share of the pixels that are known in no frame */
    double covered;     /* residuals within the standard deviation that the frame states for their pixel; 0.68 is right */
};

struct plx_wall_report {
    int frames;
    struct plx_box region;
    double disparity_px; /* above infinity, where the optical axis meets the plane */
    double distance_m;   /* shortest distance from the left camera to the plane */
    double angle_deg;    /* between the optical axis and the plane's normal */
    double span_px;      /* difference of the plane's disparities in the region */
    double expected_px;  /* disparity there by the distance that was measured by tape; NAN without one */
    double bias_px;      /* disparity_px - expected_px; that of a part is larger by its offset_px */
    double bias_percent; /* how much too far, of the distance */
    double tape_px;      /* what an error of PLX_WALL_TAPE_M of the tape makes */
    struct plx_wall_part part[PLX_WALL_PARTS];
    struct plx_wall_realsense realsense;
};

/* The part of a picture that the right camera sees too, of a wall whose DISPARITY plane (U16) this is: without the columns at
 * the left, as many as the largest disparities. */
struct plx_box plx_wall_default_region(const struct plx_image *disparity, const struct plx_calibration_info *calibration,
                                       int min_disparity);

/* For pictures of WIDTH x HEIGHT px. DISTANCE_M: shortest distance from the left camera to the wall, by tape; NAN: not known.
 * *ret_wall belongs to the caller until plx_wall_destroy. RANGE (REGION is empty or not inside the picture), NOMEM. */
int plx_wall_create(int width, int height, const struct plx_box *region, const struct plx_calibration_info *calibration,
                    int min_disparity, double distance_m, struct plx_wall **ret_wall);
void plx_wall_destroy(struct plx_wall *wall); /* NULL is fine */

/* The next frame's DISPARITY plane (U16); CONFIDENCE (U8) and what ERRORS it stands for, NULL: not known. ARG: they are not of
 * the wall's size. Allocates nothing. */
int plx_wall_add(struct plx_wall *wall, const struct plx_image *disparity, const struct plx_image *confidence,
                 const struct plx_error_info *errors);

void plx_wall_report(const struct plx_wall *wall, struct plx_wall_report *ret_report);

/* Mean of pixel X, Y over the frames, less the plane, px; NAN outside the region and where no frame knows it. */
double plx_wall_residual(const struct plx_wall *wall, int x, int y);

/* Splits the bias at COUNT distances: measured = expected (1 + scale) + offset, by least squares. False: fewer than two
 * distances, or too alike. */
bool plx_wall_split(int count, const double *measured_px, const double *expected_px, double *ret_offset_px, double *ret_scale);

enum plx_wall_verdict {
    PLX_WALL_GOOD,
    PLX_WALL_UNPROVEN, /* good as far as measured: see enum plx_wall_missing */
    PLX_WALL_CALIBRATE,
    PLX_WALL_DARK,
    PLX_WALL_TEXTURE,
    PLX_WALL_NOT_FLAT,
};

#define PLX_WALL_MIN_GREY 25.0
#define PLX_WALL_MIN_CONTRAST 1.0
#define PLX_WALL_MIN_FILL 0.8
#define PLX_WALL_MAX_OUTLIERS 0.05
#define PLX_WALL_MAX_ROWS_PX 0.5
#define PLX_WALL_MAX_BIAS_PX 0.2   /* or plx_wall_report.tape_px, if that is more */
#define PLX_WALL_MAX_OFFSET_PX 0.3 /* a part's */
#define PLX_WALL_MAX_SCALE 0.01    /* in plx_wall_split */

/* Figures that a good verdict needs and that are not measured, as bits. */
enum plx_wall_missing {
    PLX_WALL_NO_BIAS = 1,
    PLX_WALL_NO_ROWS = 2,
    PLX_WALL_NO_OFFSET = 4, /* of one part at least */
    PLX_WALL_NO_SPLIT = 8,  /* plx_wall_split, of several distances */
};

/* What the pictures say beside the disparities. */
struct plx_wall_light {
    double grey;     /* mean brightness of the region, 0 .. 255 */
    double contrast; /* mean difference of pixels two columns apart, grey levels */
};

/* Measures the left picture (U8) in REGION. */
struct plx_wall_light plx_wall_light(const struct plx_image *left, const struct plx_box *region);

/* Bits of enum plx_wall_missing. ROWS_PX: median difference of the rows, NAN: not known. */
unsigned plx_wall_missing(const struct plx_wall_report *report, double rows_px);

/* The first that holds: dark, no contrast, rows that do not match, texture, not flat, bias, something missing. A picture
 * without any contrast has disparities, of infinity. */
enum plx_wall_verdict plx_wall_judge(const struct plx_wall_report *report, const struct plx_wall_light *light, double rows_px);

const char *plx_wall_verdict_words(enum plx_wall_verdict verdict); /* "calibrate again" */

#endif
