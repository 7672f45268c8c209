/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/flow.h"

#include "core/motion/flow_track.h"

bool plx_flow_track(const struct plx_pyramid *key, const struct plx_pyramid *now, int levels, const double from[2],
                    double ret_to[2])
{
    return track_point(key, now, levels, from, ret_to);
}
