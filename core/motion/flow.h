/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks a point from one picture to another: pyramidal Lucas-Kanade, inverse compositional (Baker and Matthews, Lucas-Kanade
 * 20 Years On, IJCV 2004), in integers except for the 2 x 2 system. */
#ifndef PLX_CORE_MOTION_FLOW_H
#define PLX_CORE_MOTION_FLOW_H

#include <stdbool.h>

#include "core/motion/pyramid.h"

#define PLX_FLOW_WINDOW 12 /* side, pixels of each level */

/* Finds the window around FROM, a pixel of KEY, in NOW. RET_TO: a guess on entry, the pixel found in NOW on return. LEVELS: the
 * pyramid levels to use; the coarsest one bridges about 6 x 2^(LEVELS - 1) px. A constant difference of brightness has no
 * effect. False, with RET_TO unchanged, if the window leaves the picture, has no texture, or looks different in NOW. */
bool plx_flow_track(const struct plx_pyramid *key, const struct plx_pyramid *now, int levels, const double from[2],
                    double ret_to[2]);

#endif
