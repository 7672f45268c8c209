/* SPDX-License-Identifier: Apache-2.0 */
/* What the columns say of things and of drops, as sensor_msgs/LaserScan: beams in the plane through the camera that is parallel
 * to the ground. */
#include <math.h>

#include <parallax/error.h>

#include "bridge/frame_messages.h"
#include "bridge/frame_parts.h"
#include "core/geometry/matrix3.h"
#include "core/geometry/stereo.h"

#define RANGE_MAX_M 10.0
#define MIN_UP 0.2 /* a camera that is turned further on its side has no horizon in its rows */

#define REACH_M 2.0      /* what is higher above the ground is no way to bump into it, as for plx_stixel.near_disparity */
#define NEAREST 3        /* the row whose distance counts, of those of a stixel: two may be wrong */
#define STEP_PX 1.0      /* a row that is nearer than the stixel's nearest part by more is another thing */
#define VIEW_MARGIN 1.25 /* times the tangent of the view: a tilted camera sees more azimuths at the picture's corners */

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
    const double link[3] = {1, -x, -down};
    double scan[3]; /* forward, left, up */
    plx_mat3_apply_transposed(columns->link_from_scan, link, scan);
    return (struct horizontal){atan2(scan[1], scan[0]), hypot(scan[1], scan[0])};
}

/* DOWN of the point (X, DOWN, 1) that is level with the camera; up is r[2], r[5], r[8] in axes of parallax_link. */
static double horizon_at(const struct columns *columns, double x)
{
    const double *r = columns->link_from_scan;
    return r[8] > MIN_UP ? (r[2] - r[5] * x) / r[8] : 0;
}

/* The lower median of the disparities in row Y of COLUMN, 1/16 px above infinity; 0 if fewer than two are known. */
static double disparity_in(const struct plx_frame *frame, uint32_t column, uint32_t y)
{
    const uint16_t *row = plx_message_row(frame, PLX_PLANE_DISPARITY, y);
    uint16_t sorted[PLX_COLUMN_WIDTH];
    int known = 0;
    for (uint32_t x = PLX_COLUMN_WIDTH * column; x < PLX_COLUMN_WIDTH * (column + 1) && x < frame->width; x++) {
        if (row[x] == PLX_DISPARITY_INVALID)
            continue;
        int at = known++;
        for (; at > 0 && sorted[at - 1] > row[x]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = row[x];
    }
    return known < 2 ? 0 : sorted[(known - 1) / 2] - plx_plane_infinity(&frame->calibration, frame->min_disparity);
}

/* Where a thing is nearest, along the ground: at DISTANCE, in the direction (x, DOWN, 1) of the camera. */
struct nearest {
    double distance, down;
};

/* The nearest point of STIXEL, in COLUMN, whose middle has the direction X. Depth changes along a standing thing if the camera
 * looks down, so each row counts with its own disparity. */
static struct nearest nearest_of(const struct columns *columns, uint32_t column, double x, const struct plx_stixel *stixel)
{
    const struct plx_frame *frame = columns->frame;
    const struct plx_calibration_info *c = &frame->calibration;
    const double depth = plx_depth_scale_m(c), *r = columns->link_from_scan;
    const double most = stixel->near_disparity + PLX_DISPARITY_ONE * STEP_PX;
    struct nearest rows[NEAREST];
    int count = 0;
    for (uint32_t y = stixel->y0; y <= stixel->y1 && y < frame->plane[PLX_PLANE_DISPARITY].height; y++) {
        const double down = (y - c->cy) / c->fy, d = disparity_in(frame, column, y), z = depth / d;
        const double height = frame->ground.camera_height_m + z * (r[2] - r[5] * x - r[8] * down);
        if (!(d > 0) || d > most || height > REACH_M)
            continue;
        struct nearest farther = {horizontal(columns, x, down).distance * z, down};
        for (int i = 0; i < count; i++)
            if (rows[i].distance > farther.distance) {
                const struct nearest row = rows[i];
                rows[i] = farther;
                farther = row;
            }
        if (count < NEAREST)
            rows[count++] = farther;
    }
    if (count > 0)
        return rows[count - 1];
    /* Without disparities: the end of the stixel at which its nearest disparity would be nearest. */
    const double top = (stixel->y0 - c->cy) / c->fy, foot = (stixel->y1 - c->cy) / c->fy, z = depth / stixel->near_disparity;
    const struct nearest high = {horizontal(columns, x, top).distance * z, top};
    const struct nearest low = {horizontal(columns, x, foot).distance * z, foot};
    return low.distance < high.distance ? low : high;
}

/* The stixel of COLUMN that its scan tells of; NULL if there is none. */
static const struct plx_stixel *nearest_stixel(const struct columns *columns, uint32_t column)
{
    const struct plx_stixel *stixel = plx_message_row(columns->frame, PLX_PLANE_STIXELS, column);
    const uint16_t nearest = columns->scan[column].nearest;
    for (int i = 0; i < PLX_COLUMN_STIXELS && nearest > 0; i++)
        if (stixel[i].near_disparity == nearest)
            return &stixel[i];
    return NULL;
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

/* INFINITY if the ground of a column is seen to be free to the end of the range, else NAN. DEPTH: distance of disparity 1. */
static float free_range(const struct plx_scan *scan, double depth)
{
    return (scan->known & PLX_SCAN_KNOWN) && scan->free * RANGE_MAX_M <= depth ? INFINITY : NAN;
}

/* Adds what stands in COLUMN, or that it is free to the end of the range, at the azimuths that it has there: the columns of a
 * camera that looks down are no vertical planes. */
static void put_things(const struct columns *columns, uint32_t column, struct beams *beams)
{
    const struct plx_calibration_info *c = &columns->frame->calibration;
    const struct plx_scan *scan = &columns->scan[column];
    const double depth = plx_depth_scale_m(c); /* depth at disparity 1 */
    const double x = (PLX_COLUMN_WIDTH * column - 0.5 - c->cx) / c->fx, width = PLX_COLUMN_WIDTH / c->fx;
    float range = free_range(scan, depth);
    double down = horizon_at(columns, x);
    const struct plx_stixel *stixel = nearest_stixel(columns, column);
    if (stixel) {
        const struct nearest near = nearest_of(columns, column, x + width / 2, stixel);
        if (near.distance <= RANGE_MAX_M) {
            range = (float)near.distance;
            down = near.down;
        }
    }
    if (!isnan(range))
        put(beams, horizontal(columns, x + width, down).azimuth, horizontal(columns, x, down).azimuth, range);
}

/* Adds the edge at which the ground of COLUMN falls away, or that it is free to the end of the range. */
static void put_drop(const struct columns *columns, uint32_t column, struct beams *beams)
{
    const struct plx_calibration_info *c = &columns->frame->calibration;
    const struct plx_scan *scan = &columns->scan[column];
    const double depth = plx_depth_scale_m(c), *r = columns->link_from_scan;
    const double x = (PLX_COLUMN_WIDTH * column - 0.5 - c->cx) / c->fx, width = PLX_COLUMN_WIDTH / c->fx;
    float range = free_range(scan, depth);
    double down = horizon_at(columns, x);
    if ((scan->known & PLX_SCAN_DROP) && scan->free != PLX_SCAN_NOTHING_FREE) {
        const double z = depth / scan->free;
        if (r[8] > MIN_UP) /* the edge is on the ground, the camera's height below the horizon */
            down = horizon_at(columns, x + width / 2) + columns->frame->ground.camera_height_m / (z * r[8]);
        const double distance = horizontal(columns, x + width / 2, down).distance * z;
        range = distance <= RANGE_MAX_M ? (float)distance : NAN;
    }
    if (!isnan(range))
        put(beams, horizontal(columns, x + width, down).azimuth, horizontal(columns, x, down).azimuth, range);
}

/* The message whose beams PUT_COLUMN fills, column by column. */
static int fill_scan(const struct plx_frame_messages *messages,
                     void (*put_column)(const struct columns *columns, uint32_t column, struct beams *beams),
                     struct ros_laser_scan *ret_scan)
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
    const double nearest = plx_disparity_of_plane(c, frame->min_disparity, PLX_DISPARITY_ONE * (double)frame->disparities);
    *ret_scan = (struct ros_laser_scan){
        .header = plx_message_header(messages, PLX_FRAME_SCAN),
        .angle_min = (float)beams.first,
        .angle_max = (float)last,
        .angle_increment = (float)beams.step,
        .range_min = (float)plx_depth_of_disparity(c, nearest),
        .range_max = (float)RANGE_MAX_M,
        .ranges = {.data = beams.range, .count = beams.count},
    };
    return 0;
}

int plx_message_scan(const struct plx_frame_messages *messages, struct ros_laser_scan *ret_scan)
{
    return fill_scan(messages, put_things, ret_scan);
}

int plx_message_drops(const struct plx_frame_messages *messages, struct ros_laser_scan *ret_scan)
{
    return fill_scan(messages, put_drop, ret_scan);
}
