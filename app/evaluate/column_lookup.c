/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/column_lookup.h"

#include <math.h>
#include <stddef.h>

#include "core/geometry/stereo.h"

static const struct plx_scan *scan_at(const struct plx_frame *frame, int x)
{
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_SCAN];
    return (const struct plx_scan *)(const void *)((const uint8_t *)frame + plane->offset) + x / PLX_COLUMN_WIDTH;
}

static float depth_of(const struct plx_frame *frame, int disparity)
{
    return (float)(plx_depth_scale_m(&frame->calibration) / disparity);
}

bool plx_has_columns(const struct plx_frame *frame)
{
    const struct plx_plane *scan = &frame->plane[PLX_PLANE_SCAN], *stixels = &frame->plane[PLX_PLANE_STIXELS];
    const uint32_t columns = (frame->width + PLX_COLUMN_WIDTH - 1) / PLX_COLUMN_WIDTH;
    return scan->width == columns && scan->height == 1 && stixels->width == PLX_COLUMN_STIXELS && stixels->height == columns;
}

const struct plx_stixel *plx_stixels_at(const struct plx_frame *frame, int x)
{
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_STIXELS];
    const size_t column = (size_t)x / PLX_COLUMN_WIDTH;
    return (const void *)((const uint8_t *)frame + plane->offset + column * plane->pitch);
}

float plx_scan_nearest(const struct plx_frame *frame, int x, int width)
{
    int nearest = 0;
    for (int u = x; u < x + width; u++)
        nearest = scan_at(frame, u)->nearest > nearest ? scan_at(frame, u)->nearest : nearest;
    return nearest > 0 ? depth_of(frame, nearest) : INFINITY;
}

float plx_scan_free(const struct plx_frame *frame, int x)
{
    const int free = scan_at(frame, x)->free;
    return free < PLX_SCAN_NOTHING_FREE && free > 0 ? depth_of(frame, free) : 0;
}
