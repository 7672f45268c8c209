/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame holds, as text for people. */
#ifndef PLX_APP_VIEW_FRAME_TEXT_H
#define PLX_APP_VIEW_FRAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <parallax/client.h>
#include <parallax/frame.h>

#include "core/base/units.h"
#include "core/tracks/confirmed.h"

#define PLX_OBSTACLE_TEXT 160
#define PLX_ALIGNMENT_TEXT 160
#define PLX_DURATION_TEXT 32
#define PLX_MOTION_TEXT 128

/* A raw frame has both pictures as captured, without disparity, ground and obstacles: there is no calibration. */
static inline bool plx_frame_is_raw(const struct plx_frame *frame)
{
    return (frame->health & PLX_HEALTH_NOT_CALIBRATED) != 0;
}

/* The obstacles seen in this frame (not the lost ones), nearest first; returns their number. */
int plx_obstacles_by_distance(const struct plx_frame *frame, const struct plx_obstacle *ret_sorted[PLX_MAX_OBSTACLES]);

/* Those that a list shows which changes with the frames, nearest first; returns their number. BEFORE: of the frame before. */
int plx_obstacles_confirmed(const struct plx_frame *frame, const struct plx_confirmed *before,
                            const struct plx_obstacle *ret_sorted[PLX_MAX_OBSTACLES]);

/* How far the ground ahead is free, metres: the least over the columns of the scan in the middle third of the picture. NAN if
 * nothing is known in more than a tenth of these, or the frame has no scan. */
double plx_free_ahead(const struct plx_view *view);

/* "3.1 m", or "unknown" for NAN. */
#define PLX_FREE_TEXT 32
void plx_free_text(double free_m, char *ret_text, size_t size);

/* The nearest drop: the edge where the ground falls away, as at stairs down. */
struct plx_drop {
    bool known;     /* the frame can show drops */
    int x, width;   /* columns of the picture that show this one; width 0: none is seen */
    double ahead_m; /* distance of its edge, along the ground, where it is nearest but for two columns; NAN: none */
};
struct plx_drop plx_drop_ahead(const struct plx_view *view);

/* "1.5 m ahead, columns 120 to 479 of the picture", "none seen", or "unknown". */
#define PLX_DROP_TEXT 64
void plx_drop_text(const struct plx_drop *drop, char *ret_text, size_t size);

/* False with `stixels.enabled: false`, and in a raw frame. */
static inline bool plx_has_scan(const struct plx_frame *frame)
{
    return frame->plane[PLX_PLANE_SCAN].width > 0;
}

/* "#3     4.52 m ahead   0.61 m left   0.80 m wide   1.21 m high  closing 0.4 m/s, medium, stands"; METRIC false: box and
 * disparity instead. */
void plx_obstacle_text(const struct plx_obstacle *obstacle, bool metric, char *ret_text, size_t size);

/* Prints the first COUNT of the SORTED obstacles, each as a line between BEFORE and AFTER. */
void plx_obstacles_print(const struct plx_obstacle *const *sorted, int count, bool metric, const char *before,
                         const char *after);

/* How well the rows of both images match: "8.1 px off, no depth can be trusted: calibrate again (pitch 0.72 deg, ...)". */
void plx_alignment_text(const struct plx_alignment_info *alignment, char *ret_text, size_t size);

/* What the newest matches say about the rows: "0.35 px of rows, 0.02 without pitch 0.050 +- 0.002, ... deg, ..."; after +- the
 * standard deviation. */
#define PLX_DRIFT_TEXT 160
void plx_drift_text(const struct plx_drift_info *drift, char *ret_text, size_t size);

/* "2 in force: rows by pitch 0.050, ... deg, scale ..., disparities by +0.10 px; 3 is proposed (...)", or "none". */
#define PLX_CORRECTION_TEXT 240
void plx_correction_text(const struct plx_correction_info *corrections, char *ret_text, size_t size);

/* The offset of the disparities, and what it does to distances: "0.10 +- 0.05 px: distances 0.2, ... % too long at 1, ...". */
#define PLX_OFFSET_TEXT 160
void plx_offset_text(const struct plx_frame *frame, char *ret_text, size_t size);

/* Speed, m/s, and rate of rotation, rad/s, of the left camera. False if they are unknown. */
bool plx_motion_rates(const struct plx_motion_info *motion, double *ret_speed_mps, double *ret_turn_radps);

/* "1.20 m/s", "motion unknown", or "" where it is switched off. */
void plx_speed_text(const struct plx_motion_info *motion, char *ret_text, size_t size);

/* "1.20 m/s, turns 3.4 deg/s, 12.34 m from the start, 210 of 280 corners", "unknown", or "not measured: ...". */
void plx_motion_text(const struct plx_motion_info *motion, char *ret_text, size_t size);

/* "48 ms", "7.3 s", "4 min 12 s", "2 h 5 min", "3 d 4 h"; "unknown time" for INT64_MAX. */
void plx_duration_text(int64_t duration_ns, char *ret_text, size_t size);

#endif
