/* SPDX-License-Identifier: Apache-2.0 */
/* Where a point of one picture lies in another: pyramidal Lucas-Kanade, inverse compositional (Baker and Matthews, Lucas-Kanade
 * 20 Years On, IJCV 2004), in integers but for the 2 x 2 solution. */
#ifndef PLX_CORE_MOTION_FLOW_H
#define PLX_CORE_MOTION_FLOW_H

#include <stdbool.h>

#include "core/motion/pyramid.h"

#define PLX_FLOW_WINDOW 12 /* pixels, of each level */

/* Finds in NOW the window around FROM, a pixel of KEY, and writes its pixel into RET_TO, which begins as a guess. LEVELS: how
 * many to begin with; the coarsest one bridges about 6 x 2^(LEVELS - 1) px. Differences of brightness do not count. False, and
 * RET_TO is as it was, if the window leaves the picture, has no texture, or looks different there. */
bool plx_flow_track(const struct plx_pyramid *key, const struct plx_pyramid *now, int levels, const double from[2],
                    double ret_to[2]);

#endif
