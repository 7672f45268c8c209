/* SPDX-License-Identifier: Apache-2.0 */
/* The ground over time: what the frames so far say of it, as a prior for the next one. A camera keeps its height, and a frame
 * that shows little ground, or a thing that looks like ground, does not move it. */
#ifndef PLX_CORE_GROUND_HISTORY_H
#define PLX_CORE_GROUND_HISTORY_H

#include "core/ground/ground.h"

#define PLX_GROUND_HOLD_FRAMES 8              /* in a row at most that the last plane stands in for */
#define PLX_GROUND_HOLD_NS INT64_C(500000000) /* and no longer than this after the frame that it is of */
#define PLX_GROUND_HEIGHTS 30                 /* last heights, whose median counts */
#define PLX_GROUND_HEIGHTS_MIN 10             /* before that many, the height is not known */
#define PLX_GROUND_FORGET_FRAMES 30           /* in a row without ground: the camera may have been moved */

/* All 0: nothing was seen yet. */
struct plx_ground_history {
    struct plx_ground last;                /* found */
    int64_t last_ns, now_ns;               /* when; capture time of the frame that is computed */
    int32_t height_um[PLX_GROUND_HEIGHTS]; /* heights of the last planes found, a ring */
    int heights;                           /* found since the history began */
    int missed;                            /* frames in a row without */
};

/* Begins the frame of CAPTURE_NS: what the stage ground shall know. If time stands still or goes back, the pictures do not
 * follow each other, and the history begins anew. */
void plx_ground_history_prior(struct plx_ground_history *history, const struct plx_ground_params *params, int64_t capture_ns,
                              struct plx_ground_prior *ret_prior);

/* Ends that frame, with what the stage gave. A plane that it held is not counted again. */
void plx_ground_history_add(struct plx_ground_history *history, const struct plx_ground *ground);

#endif
