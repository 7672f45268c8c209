/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/frame_parts.h"

#include <math.h>

#include "core/geometry/stereo.h"

const void *plx_message_row(const struct plx_frame *frame, enum plx_plane_id id, uint32_t y)
{
    return (const uint8_t *)frame + frame->plane[id].offset + (size_t)y * frame->plane[id].pitch;
}

double plx_message_depth_of(const struct plx_frame *frame, uint16_t disparity)
{
    const struct plx_calibration_info *c = &frame->calibration;
    if (disparity == PLX_DISPARITY_INVALID)
        return (double)NAN;
    return plx_depth_of_disparity(c, plx_disparity_of_plane(c, frame->min_disparity, disparity));
}
