/* SPDX-License-Identifier: Apache-2.0 */
/* How well plx_locate finds the distance of a box, beside simpler ways: boxes around what LiDAR sees, results that add up over
 * frames. */
#ifndef PLX_APP_EVALUATE_LOCATE_MEASURES_H
#define PLX_APP_EVALUATE_LOCATE_MEASURES_H

#include "app/evaluate/lidar_truth.h"

/* Ways to a distance. */
enum plx_locate_way {
    PLX_LOCATE_CENTRE, /* dense disparity of the box's middle pixel */
    PLX_LOCATE_MEDIAN, /* median of the box's dense disparity */
    PLX_LOCATE_LOCATE, /* plx_locate */
    PLX_LOCATE_WAYS
};

struct plx_locate_box {
    float truth_m;                  /* median of the cluster's points */
    float found_m[PLX_LOCATE_WAYS]; /* NAN: unknown */
    float sigma_m;                  /* as plx_locate says it */
};

struct plx_locate_boxes {
    struct plx_locate_box *box; /* freed by the caller; {0} is an empty list */
    int count, capacity;
};

/* Adds a box for each cluster of TRUTH that stands free: 0.3 to 3.5 m wide, 3 to 40 m away. Nothing where the road is not
 * certain. NOMEM; ARG if FRAME has no dense disparity of the truth's size. */
int plx_locate_measures_add(const struct plx_frame *frame, const struct plx_lidar_truth *truth, struct plx_locate_boxes *boxes);

/* Per cent, and NAN without a box. */
struct plx_locate_figures {
    double within_5[PLX_LOCATE_WAYS], within_10[PLX_LOCATE_WAYS]; /* of all boxes; an unknown distance is a miss */
    double p95[PLX_LOCATE_WAYS];                                  /* 95th percentile of the error, of the known distances */
    double known;                                                 /* boxes that plx_locate knows, of all */
    double known_within_5[PLX_LOCATE_WAYS];                       /* of those boxes */
    double sigma_covers; /* of those, errors within one standard deviation; 68 is right */
};

/* NOMEM. */
int plx_locate_measures_figures(const struct plx_locate_boxes *boxes, struct plx_locate_figures *ret_figures);

#endif
