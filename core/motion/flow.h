/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks a point from one image to another: pyramidal Lucas-Kanade, inverse compositional (Baker and Matthews, Lucas-Kanade
 * 20 Years On, IJCV 2004), in integers except for the 2 x 2 system. */
#ifndef PLX_CORE_MOTION_FLOW_H
#define PLX_CORE_MOTION_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/motion/flow_step.h"
#include "core/motion/pyramid.h"

/* --- the flow of a point ------------------------------------------------------------------------------------------ */

/* Finds the window around FROM, a pixel of KEY, in NOW. RET_TO: a guess on entry, the pixel found in NOW on return. LEVELS: the
 * pyramid levels to use; the coarsest one bridges about 6 x 2^(LEVELS - 1) px. A constant difference of brightness has no
 * effect. False, with RET_TO unchanged, if the window leaves the image, has no texture, or looks different in NOW. */
bool plx_flow_track(const struct plx_pyramid *key, const struct plx_pyramid *now, int levels, const double from[2],
                    double ret_to[2]);

/* --- the flow of many points -------------------------------------------------------------------------------------- */

#define PLX_MAX_CORNERS 512

struct plx_flow_point {
    double from[2], to[2]; /* a pixel of the key image, and where it is expected in the new one */
};

/* What a backend looks for in a new image. */
struct plx_flow_job {
    uint32_t now;    /* which of two pyramids, 0 or 1, is the new image's; the other one is the key image's */
    uint32_t levels; /* as plx_flow_track */
    uint32_t count;
    struct plx_flow_point point[PLX_MAX_CORNERS];
};

/* Where a point of the job is found, by stage flow, and the disparity there, by stage corner_disparities. */
struct plx_flow_found {
    double at[2];
    double disparity;  /* as plx_disparity_between, 1/16 px as published */
    uint64_t is_found; /* 0: nowhere, and AT is the expectation */
};

#endif
