/* SPDX-License-Identifier: Apache-2.0 */
/* How far the rows of a match, and columns, move between the two captures of a pair: a camera that moves meanwhile looks like
 * one that is badly calibrated. */
#ifndef PLX_CORE_DRIFT_SKEW_H
#define PLX_CORE_DRIFT_SKEW_H

#include "core/drift/rows.h"

#define PLX_SKEW_MAX_ROWS_PX 0.05   /* more is no evidence of the calibration */
#define PLX_SKEW_MAX_COLUMNS_PX 0.1 /* more looks like an offset of disparities that would be corrected */

/* Zeroed = no frame yet. */
struct plx_skew {
    double skew_s;            /* between the captures of the newest pair, without its sign */
    bool is_known;            /* the motion of the newest frame */
    double now[6], change[6]; /* speed of the camera, m/s and rad/s in its axes: over the newest interval; less that before */
};

/* The next frame. SKEW_NS: right capture time minus left. */
void plx_skew_update(struct plx_skew *skew, const struct plx_motion_info *motion, int64_t skew_ns);

/* Bound of how many rows MATCH, whose point stands still, moves between the captures of the newest pair, px; FOCAL_LENGTH:
 * vertical. The motion is known as a mean up to the left capture, so what it changed since the interval before is added. */
double plx_skew_rows(const struct plx_skew *skew, const struct plx_row_match *match, double focal_length);

/* The same for the columns of a point 2 m away near a corner of the image; FOCAL_LENGTH: horizontal. 0 without a motion,
 * which shows no offset of disparities either. */
double plx_skew_columns(const struct plx_skew *skew, double focal_length);

#endif
