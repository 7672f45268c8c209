/* SPDX-License-Identifier: Apache-2.0 */
/* How well published obstacles and ground agree with LiDAR: the measures of docs/obstacles-accuracy.md, as counts that add up
 * over frames. */
#ifndef PLX_APP_EVALUATE_OBSTACLE_MEASURES_H
#define PLX_APP_EVALUATE_OBSTACLE_MEASURES_H

#include "app/evaluate/lidar_truth.h"

/* The published data whose distances are compared. */
enum plx_claim {
    PLX_CLAIM_LABELS,  /* the label plane with the dense disparity */
    PLX_CLAIM_LIST,    /* boxes and distances of the list alone */
    PLX_CLAIM_COLUMNS, /* stixels; in a bearing the scan */
    PLX_CLAIM_OUTLINE, /* in a bearing the outlines of the list; no pixels */
    PLX_CLAIMS
};

struct plx_obstacle_counts {
    int frames, scored; /* scored: the road is certain */
    int ground_found;   /* scored frames with a published ground */
    uint64_t obstacle_pixels, ground_pixels, clear_pixels;
    struct {
        uint64_t recalled, false_ground, false_clear; /* pixels as above */
        uint64_t bearings, correct, missed, phantom;  /* bearings: those in which LiDAR sees an obstacle */
    } claim[PLX_CLAIMS];
    uint64_t before_pixels, free_pixels; /* clear ground before any obstacle; of these, within what the scan calls free */
    uint64_t blocked, free_beyond;       /* bearings with an obstacle; of these, with free ground claimed behind it */
    int things, found;                   /* groups of connected obstacle pixels of the truth */
    int records, joined;                 /* published obstacles that LiDAR sees; of these, with clusters > 1 m apart in depth */
    int joined_fitting;                  /* joined ones with such clusters of pixels whose labels fit */
    int joined_large;                    /* joined ones with such clusters of at least 5 % of the record's pixels */
};

/* Error of the published ground against the road, one frame. */
struct plx_ground_error {
    double height_m, pitch_rad, at_10_m; /* absolute; NAN without ground */
};

/* Adds FRAME, whose truth is TRUTH. A frame that is not scored is counted in counts->frames only. NOMEM; ARG if FRAME lacks
 * labels, dense disparity, scan or stixels of the truth's size. */
int plx_obstacle_measures_add(const struct plx_frame *frame, const struct plx_lidar_truth *truth,
                              struct plx_obstacle_counts *counts, struct plx_ground_error *ret_ground);

#endif
