/* SPDX-License-Identifier: Apache-2.0 */
/* Age and freshness of a frame, the outline of an obstacle, and the point in metres of a pixel. */
#include <parallax/client.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "client/fetch.h"
#include "core/base/clock.h"

/* Time since AT_NS, a CLOCK_MONOTONIC time of FRAME. False if the numbers overflow. */
static bool time_since(const struct plx_frame *frame, int64_t at_ns, int64_t *ret_ns)
{
    return plx_time_since(at_ns, (int64_t)plx_fetch64(&frame->suspended_ns), ret_ns);
}

/* Time since the left capture time, negative where that is ahead of the clock. False if it is unknown. */
static bool time_since_capture(const struct plx_frame *frame, int64_t *ret_ns)
{
    int64_t captured = frame ? (int64_t)plx_fetch64(&frame->capture[PLX_LEFT].capture_ns) : 0;
    return captured > 0 && time_since(frame, captured, ret_ns);
}

int64_t plx_age_ns(const struct plx_frame *frame)
{
    int64_t age;
    if (!time_since_capture(frame, &age))
        return INT64_MAX; /* unknown: it must not look new */
    return age > 0 ? age : 0;
}

int plx_is_fresh(const struct plx_frame *frame)
{
    int64_t age, public;
    if (!time_since_capture(frame, &age) || !time_since(frame, (int64_t)plx_fetch64(&frame->published_ns), &public))
        return 0;
    return public >= 0 && age < (int64_t)plx_fetch64(&frame->fresh_ns);
}

int plx_obstacles(const struct plx_view *view, const struct plx_obstacle **ret_obstacles)
{
    if (!view || !view->frame || !ret_obstacles)
        return PLX_ERR_ARG;
    if (plx_fetch32(&view->frame->blind) != 0)
        return PLX_ERR_BLIND;
    int count = 0;
    while (count < (int)view->obstacle_count && plx_fetch32(&view->frame->obstacle[count].status) != PLX_TRACK_LOST)
        count++; /* lost tracks are last */
    *ret_obstacles = view->frame->obstacle;
    return count;
}

float plx_obstacle_nearest(const struct plx_view *view, uint32_t index, int32_t x, int32_t width)
{
    if (!view || !view->frame || index >= view->obstacle_count)
        return INFINITY;
    const struct plx_obstacle *shared = &view->frame->obstacle[index];
    struct plx_obstacle obstacle = {.x = (int32_t)plx_fetch32(&shared->x), .width = (int32_t)plx_fetch32(&shared->width)};
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
        obstacle.outline[part] = plx_fetch16(&shared->outline[part]);
    const struct plx_calibration_info *calibration = &view->frame->calibration;
    const double depth = plx_fetch_double(&calibration->fx) * plx_fetch_double(&calibration->baseline_m) * PLX_DISPARITY_ONE;
    const uint16_t nearest = plx_outline_nearest(&obstacle, x, width);
    return nearest > 0 ? (float)(depth / nearest) : INFINITY;
}

float plx_drop_nearest(const struct plx_view *view, int32_t x, int32_t width)
{
    const struct plx_scan *scan = view ? view->plane[PLX_PLANE_SCAN] : NULL;
    const uint32_t columns = scan ? view->layout[PLX_PLANE_SCAN].width : 0;
    const int64_t end = (int64_t)x + width;
    uint16_t nearest = 0;
    for (uint32_t i = 0; i < columns; i++) {
        const int64_t first = (int64_t)i * PLX_COLUMN_WIDTH;
        const uint16_t edge = plx_fetch16(&scan[i].free);
        const bool drop = (plx_fetch16(&scan[i].known) & PLX_SCAN_DROP) && edge != PLX_SCAN_NOTHING_FREE;
        if (drop && edge > nearest && first < end && first + PLX_COLUMN_WIDTH > x && width > 0)
            nearest = edge;
    }
    if (nearest == 0)
        return INFINITY;
    const struct plx_calibration_info *c = &view->frame->calibration;
    return (float)(PLX_DISPARITY_ONE * plx_fetch_double(&c->fx) * plx_fetch_double(&c->baseline_m) / nearest);
}

float plx_disparity_px(const struct plx_view *view, uint32_t x, uint32_t y)
{
    const struct plx_plane *layout = view ? &view->layout[PLX_PLANE_DISPARITY] : NULL;
    if (!layout || !view->plane[PLX_PLANE_DISPARITY] || x >= layout->width || y >= layout->height)
        return NAN;
    const unsigned char *row = (const unsigned char *)view->plane[PLX_PLANE_DISPARITY] + (uint64_t)y * layout->pitch;
    uint16_t value = plx_fetch16(row + (uint64_t)x * sizeof value);
    if (value == PLX_DISPARITY_INVALID)
        return NAN;
    return (float)value / PLX_DISPARITY_ONE + (float)view->min_disparity;
}

/* Triangulation of a rectified pair: Z = f b / d, where d counts from the disparity at infinity, cx - cx_right. (Hartley,
 * Zisserman: Multiple View Geometry, 2004, chapter 12.) */
int plx_point(const struct plx_view *view, uint32_t x, uint32_t y, float ret_xyz[3])
{
    float disparity = plx_disparity_px(view, x, y);
    if (!ret_xyz)
        return PLX_ERR_ARG;
    if (isnan(disparity))
        return PLX_ERR_NOT_FOUND;
    const struct plx_calibration_info *calibration = &view->frame->calibration;
    double fx = plx_fetch_double(&calibration->fx), fy = plx_fetch_double(&calibration->fy);
    double cx = plx_fetch_double(&calibration->cx), cy = plx_fetch_double(&calibration->cy);
    double shift = cx - plx_fetch_double(&calibration->cx_right);
    double z = fx * plx_fetch_double(&calibration->baseline_m) / (disparity - shift);
    const float point[3] = {(float)((x - cx) * z / fx), (float)((y - cy) * z / fy), (float)z};
    if (!(point[2] > 0) || !isfinite(point[0]) || !isfinite(point[1]) || !isfinite(point[2]))
        return PLX_ERR_NOT_FOUND;
    memcpy(ret_xyz, point, sizeof point);
    return 0;
}
