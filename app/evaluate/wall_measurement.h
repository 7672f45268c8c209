/* SPDX-License-Identifier: Apache-2.0 */
/* A measurement before a wall, by one live frame after another, for the command and for the page; and its picture. */
#ifndef PLX_APP_EVALUATE_WALL_MEASUREMENT_H
#define PLX_APP_EVALUATE_WALL_MEASUREMENT_H

#include "app/evaluate/wall_result.h"
#include "app/view/draw.h"
#include "core/base/text.h"

#define PLX_WALL_FRAMES 30           /* by default */
#define PLX_WALL_MIN_DISTANCE_M 0.05 /* by tape */
#define PLX_WALL_MAX_DISTANCE_M 1000.0

struct plx_wall_measurement {
    struct plx_box roi; /* the part to measure; without a width: see IS_WHOLE */
    bool is_whole;      /* without a roi: the whole picture, not what the right camera sees too */
    int width, height;  /* pixels of the pictures; 0: no frame yet */
    struct plx_box region;
    struct plx_wall *wall; /* owned; NULL: no frame yet */
    struct plx_wall_result result;
};

/* Begins one. DISTANCE_M by tape; NAN: not known. Nothing is held before the first frame. */
void plx_wall_measurement_begin(double distance_m, struct plx_wall_measurement *ret_measurement);
void plx_wall_measurement_end(struct plx_wall_measurement *measurement); /* all zeros is fine */

/* Adds FRAME, a whole copy. The first one allocates. UNSUPPORTED: raw; FORMAT: no disparities; RANGE: the roi is not inside;
 * LOST: it is not like those before; NOMEM. */
int plx_wall_measurement_add(struct plx_wall_measurement *measurement, struct plx_frame *frame,
                             struct plx_error_message *message);

/* Completes measurement->result, after a frame at least. */
void plx_wall_measurement_judge(struct plx_wall_measurement *measurement);

/* White on the plane, red 1 px nearer, blue 1 px farther, grey where nothing is known; of the size of the pictures. After a
 * frame at least. The drawing is the caller's. NOMEM. */
int plx_wall_measurement_draw(const struct plx_wall_measurement *measurement, struct plx_rgb_image *ret_drawing);

#endif
