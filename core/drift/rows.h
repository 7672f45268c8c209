/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift of the rows: how a small error of the calibration leaves the rows of a match apart, as four numbers that the newest
 * matches determine. With (x, y) the match in the right picture, from the principal point, in focal lengths f, it lies
 *
 *     f (a (1 + y^2) - b x - c x y + e y)
 *
 * rows lower there than in the left picture: a as if the right camera were pitched up, b rolled clockwise, c yawed, e as if its
 * picture were larger by that share. Distortion that a model leaves looks like c too: rows say nothing about columns.
 */
#ifndef PLX_CORE_DRIFT_ROWS_H
#define PLX_CORE_DRIFT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#define PLX_ROW_MATCHES 1024 /* the newest ones count */

struct plx_row_match {
    float x, y; /* in the right picture, focal lengths */
    float rows; /* it lies so much lower there, px */
    bool odd;   /* the half that it belongs to: what one half says is judged on the other */
};

struct plx_row_drift {
    double focal_length; /* vertical, px */
    int count, next;     /* matches, and where the next one goes */
    int unsolved;        /* matches since the last estimate */
    uint32_t place;      /* where the next match is looked for (core/drift/matches.h) */
    struct plx_row_match match[PLX_ROW_MATCHES];
    struct plx_drift_info info; /* the last estimate */
};

/* By how many px a match at (X, Y) of the right picture lies lower there, by the numbers of INFO. */
double plx_drift_rows(const struct plx_drift_info *info, double focal_length, double x, double y);

void plx_row_drift_init(struct plx_row_drift *drift, double focal_length);

/* Adds the COUNT matches of a frame, and makes a new estimate, in 0.3 ms, whenever 32 came. Allocates nothing; the same bits
 * everywhere. */
void plx_row_drift_add(struct plx_row_drift *drift, const struct plx_row_match *match, int count);

#endif
