/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the matching stages, and the two presets. The meaning of each number is in docs/matching.md. */
#ifndef PLX_CORE_PIPELINE_MATCH_H
#define PLX_CORE_PIPELINE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/range.h"

enum plx_census_kind {
    PLX_CENSUS_SYMMETRIC_9X7, /* centre-symmetric, 31 bits (libSGM) */
    PLX_CENSUS_SYMMETRIC_5X5, /* centre-symmetric, 12 bits */
    PLX_CENSUS_FULL_9X7,      /* 62 bits; bit = neighbour > centre */
    PLX_CENSUS_CHECKER_9X7    /* 30 bits; |dx| <= 4, |dy| <= 3, dx + dy even */
};
enum plx_subpixel { PLX_SUBPIXEL_NONE, PLX_SUBPIXEL_PARABOLA, PLX_SUBPIXEL_BLEND };
enum plx_median { PLX_MEDIAN_NONE, PLX_MEDIAN_3X3, PLX_MEDIAN_VALID_5X5 };

struct plx_match {
    int disparities;   /* D: 64, 128 or 256 */
    int min_disparity; /* pixels */
    int paths;         /* 4 or 8 */

    bool smooth; /* G = (4c + n + s + e + w + 4) >> 3 before census and gradient */
    enum plx_census_kind census;
    bool census_zero_border; /* true: 0 where the window leaves the image; false: coordinates clamped */
    int gradient_cap;        /* 0: no gradient term; else the cost's cap on |gL - gR|, 1..32 */
    int gradient_cap_y;      /* the same of the vertical gradient, 0..16; without a gradient term of no meaning */

    int p1_straight, p1_diagonal; /* 0..p2_min */
    int p2;                       /* largest P2, <= 120 */
    int p2_min;                   /* P2 = max(p2_min, p2 * p2_scale / (p2_scale + |dI|)) */
    int p2_scale;                 /* 0: P2 is p2 everywhere */

    int uniqueness; /* per mille, 0..1000: unique unless S2 * uniqueness < S1 * 1000; 0 = off */
    enum plx_subpixel subpixel;
    enum plx_median median_left, median_right; /* right: NONE or 3X3 */
    int lr_max_diff;                           /* largest allowed |right(x - d) - d|; -1 = no check */
    bool lr_round;                             /* d = (value + 8) >> 4 instead of value >> 4 */
    bool invalid_border;                       /* the outermost pixel frame is invalid */

    bool repeats; /* disparities are unknown where the texture of the left image repeats along the rows */

    bool facing;         /* surfaces that face the camera take a step towards what the pictures say */
    bool local_mean;     /* a local mean of what is nearly equal, of the strict and of the dense disparity */
    bool cross_validate; /* the strict disparity loses what differs from the dense one, and gains what they confirm */
};

/* A window of 8-pixel cells of one strip of as many rows repeats if it is much more like the pixels a shift away than like
 * those less far away. */
#define PLX_REPEAT_CELL 8
#define PLX_REPEAT_WINDOW 6    /* cells */
#define PLX_REPEAT_MIN_SHIFT 4 /* pixels */
#define PLX_REPEAT_MAX_SHIFT 32
#define PLX_REPEAT_RATIO 5    /* the largest difference at smaller shifts is more than so many times this one */
#define PLX_REPEAT_CONTRAST 3 /* grey levels a pixel, which the largest exceeds */

/* Steps of local_mean and cross_validate, 1/16 px */
#define PLX_LOCAL_MEAN_STEP 40
#define PLX_CROSS_VALIDATE_STEP 16
#define PLX_CROSS_VALIDATE_RAW_STEP 20

/* The two presets; D = 128, 8 paths, minimum 0. */
void plx_match_default(struct plx_match *ret_match);
void plx_match_classic(struct plx_match *ret_match);

/* Bits of the census word. */
int plx_census_bits(enum plx_census_kind kind);

#define PLX_P2_STEPS 256 /* brightness steps between two pixels */

/* P2 of every step. It never rises with the step. */
void plx_match_p2(const struct plx_match *match, uint8_t ret_p2[PLX_P2_STEPS]);

/* The ranges of a match's fields. They keep every sum L in 8 bits. */
extern const struct plx_parameters plx_match_parameters;

/* RANGE, with the parameter in *ret_error (NULL is fine), if a number or a combination is not allowed. */
int plx_match_check(const struct plx_match *match, struct plx_parameter_error *ret_error);

#endif
