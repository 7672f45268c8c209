/* SPDX-License-Identifier: Apache-2.0 */
/* The scan of the columns as sensor_msgs/LaserScan: beams in the plane through the camera that is parallel to the ground. */
#include <math.h>

#include <parallax/error.h>

#include "bridge/frame_parts.h"

#define RANGE_MAX_M 10.0
#define LEAST_UP 0.2 /* a camera that is turned further on its side has no horizon in its rows */

#define VIEW_MARGIN 1.25 /* of the tangent of the view: a tilted camera sees more azimuths at the picture's corners */

struct columns {
    const struct plx_frame *frame;
    const struct plx_scan *scan;
    double link_from_scan[9];
};

struct beams {
    float *range; /* [count], from right to left */
    uint32_t count;
    double first, step; /* azimuth, rad */
};

/* Where the camera's point (X, DOWN, 1) lies seen from above, in axes of parallax_scan. */
static struct horizontal {
    double azimuth, distance;
} horizontal(const struct columns *columns, double x, double down)
{
    const double link[3] = {1, -x, -down}, *r = columns->link_from_scan;
    const double forward = r[0] * link[0] + r[3] * link[1] + r[6] * link[2];
    const double left = r[1] * link[0] + r[4] * link[1] + r[7] * link[2];
    return (struct horizontal){atan2(left, forward), hypot(left, forward)};
}

/* DOWN of the point (X, DOWN, 1) that is level with the camera; up is r[2], r[5], r[8] in axes of parallax_link. */
static double horizon_at(const struct columns *columns, double x)
{
    const double *r = columns->link_from_scan;
    return r[8] > LEAST_UP ? (r[2] - r[5] * x) / r[8] : 0;
}

/* Row in which the thing that is NEAREST in COLUMN stands. */
static double row_of(const struct columns *columns, uint32_t column, uint16_t nearest)
{
    const struct plx_stixel *stixel = plx_message_row(columns->frame, PLX_PLANE_STIXELS, column);
    for (int i = 0; i < PLX_COLUMN_STIXELS; i++)
        if (stixel[i].near_disparity == nearest)
            return stixel[i].y1;
    return columns->frame->calibration.cy;
}

/* Adds RANGE to the beams between the azimuths FROM and TO and the nearest one on either side, so that neighbours leave no gap.
 * The least range counts. */
static void put(struct beams *beams, double from, double to, float range)
{
    const double end = beams->count - 1;
    const double low = round((from - beams->first) / beams->step), high = round((to - beams->first) / beams->step);
    const uint32_t last = (uint32_t)fmin(fmax(high, 0), end);
    for (uint32_t i = (uint32_t)fmin(fmax(low, 0), end); i <= last; i++)
        if (isnan(beams->range[i]) || range < beams->range[i])
            beams->range[i] = range;
}

/* Adds what stands in COLUMN, or that it is free to the end of the range, at the azimuths that it has there: the columns of a
 * camera that looks down are no vertical planes. */
static void put_column(const struct columns *columns, uint32_t column, struct beams *beams)
{
    const struct plx_calibration_info *c = &columns->frame->calibration;
    const struct plx_scan *scan = &columns->scan[column];
    const double depth = PLX_DISPARITY_ONE * c->fx * c->baseline_m; /* of disparity 1 */
    const double x = (PLX_COLUMN_WIDTH * column - 0.5 - c->cx) / c->fx, width = PLX_COLUMN_WIDTH / c->fx;
    float range = scan->known && scan->free * RANGE_MAX_M <= depth ? INFINITY : NAN;
    double down = horizon_at(columns, x);
    if (scan->nearest > 0) {
        const double near_down = (row_of(columns, column, scan->nearest) - c->cy) / c->fy;
        const double near = horizontal(columns, x + width / 2, near_down).distance * depth / scan->nearest;
        if (near <= RANGE_MAX_M) {
            range = (float)near;
            down = near_down;
        }
    }
    if (!isnan(range))
        put(beams, horizontal(columns, x + width, down).azimuth, horizontal(columns, x, down).azimuth, range);
}

int plx_message_scan(const struct plx_frame_messages *messages, struct ros_laser_scan *ret_scan)
{
    const struct plx_frame *frame = messages->frame;
    const struct plx_calibration_info *c = &frame->calibration;
    struct columns columns = {.frame = frame};
    const uint32_t count = frame->plane[PLX_PLANE_SCAN].width;
    if (count == 0 || !frame->ground.valid)
        return PLX_ERR_NOT_FOUND;
    columns.scan = plx_message_row(frame, PLX_PLANE_SCAN, 0);
    plx_link_from_scan(&frame->ground, columns.link_from_scan);
    struct beams beams = {.range = messages->scratch, .count = (uint32_t)(VIEW_MARGIN * count) + 2};
    beams.first = -atan(VIEW_MARGIN * (frame->width - 0.5 - c->cx) / c->fx);
    const double last = atan(VIEW_MARGIN * (c->cx + 0.5) / c->fx);
    beams.step = (last - beams.first) / (beams.count - 1);
    for (uint32_t i = 0; i < beams.count; i++)
        beams.range[i] = NAN;
    for (uint32_t i = 0; i < count; i++)
        put_column(&columns, i, &beams);
    const double nearest = frame->min_disparity + (double)frame->disparities - (c->cx - c->cx_right);
    *ret_scan = (struct ros_laser_scan){
        .header = plx_message_header(messages, PLX_FRAME_SCAN),
        .angle_min = (float)beams.first,
        .angle_max = (float)last,
        .angle_increment = (float)beams.step,
        .range_min = (float)(c->fx * c->baseline_m / nearest),
        .range_max = (float)RANGE_MAX_M,
        .ranges = {.data = beams.range, .count = beams.count},
    };
    return 0;
}
