/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift of the rows: how a small error of the calibration leaves the rows of a match apart, as four numbers that the newest
 * matches determine. With (x, y) the match in the right image, from the principal point, in focal lengths f, it lies
 *
 *     f (a (1 + y^2) - b x - c x y + e y)
 *
 * rows lower there than in the left image: a as if the right camera were pitched up, b rolled clockwise, c yawed, e as if its
 * image were larger by that share. Distortion that a model leaves looks like c too: rows say nothing about disparities.
 */
#ifndef PLX_CORE_DRIFT_ROWS_H
#define PLX_CORE_DRIFT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/geometry/row_numbers.h"

#define PLX_ROW_MATCHES 1024 /* the newest ones count */

struct plx_row_match {
    float x, y; /* in the right image, focal lengths */
    float rows; /* it lies so much lower there, px */
    bool odd;   /* the half that it belongs to: what one half says is judged on the other */
    float z_m;  /* depth, metres */
    int64_t capture_ns;
};

struct plx_row_drift {
    double focal_length; /* vertical, px */
    int count, next;     /* matches, and where the next one goes */
    int unsolved;        /* matches since the last estimate */
    bool single;         /* the pictures are no sequence: times say nothing */
    struct plx_row_match match[PLX_ROW_MATCHES];
    struct plx_drift_info info; /* the last estimate */
};

#define PLX_ROWS_NEWEST_COUNT 64

/* Which matches are asked: one half, all, the PLX_ROWS_NEWEST_COUNT newest, the first to the last quarter of the time; of
 * single pictures, whose quarters show other things, two halves. */
enum plx_row_part {
    PLX_ROWS_EVEN,
    PLX_ROWS_ODD,
    PLX_ROWS_ALL,
    PLX_ROWS_NEWEST,
    PLX_ROWS_TIME,
    PLX_ROWS_PARTS = PLX_ROWS_TIME + 4
};

void plx_row_drift_init(struct plx_row_drift *drift, double focal_length);

/* Adds a match in place of the oldest one. */
void plx_row_drift_add(struct plx_row_drift *drift, const struct plx_row_match *match);

/* How many parts of the time there are, from PLX_ROWS_TIME on. */
int plx_row_drift_times(const struct plx_row_drift *drift);

/* From the oldest match to the newest one. */
int64_t plx_row_drift_span(const struct plx_row_drift *drift);

/* Makes a new estimate, in 0.3 ms. Allocates nothing; the same bits everywhere. */
void plx_row_drift_estimate(struct plx_row_drift *drift);

/* What the matches of PART say, with standard deviations, both rounded to single precision: what is judged is then what a
 * correction puts in force. False if the matches do not determine it. */
bool plx_row_drift_fit(const struct plx_row_drift *drift, enum plx_row_part part, struct plx_row_numbers *ret_number,
                       struct plx_row_numbers *ret_deviation);

/* Median of the rows' differences that NUMBER leaves of the matches of PART in the quarter QUARTER of the image (0 to 3, bit
 * 0 right, bit 1 below the principal point; -1: anywhere), px, and their count; INFINITY if there is none. */
double plx_row_drift_median(const struct plx_row_drift *drift, enum plx_row_part part, int quarter,
                            const struct plx_row_numbers *number, int *ret_count);

/* The pictures are corrected by CORRECTION from now on: what the matches showed of it is taken from them. */
void plx_row_drift_correct(struct plx_row_drift *drift, const struct plx_correction *correction);

/* Leaves only the newest COUNT matches. */
void plx_row_drift_forget(struct plx_row_drift *drift, int count);

#endif
