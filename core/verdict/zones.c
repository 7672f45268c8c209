/* SPDX-License-Identifier: Apache-2.0 */
#include "core/verdict/zones.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/motion/pose.h"
#include "core/verdict/verdict.h"

#define POINT_M 0.025 /* step of the raster: half a cell of the map, which lies askew to it */
#define SIDE 401      /* points, in each direction */
#define POINTS (SIDE * SIDE)
#define REASONS 4

static const uint32_t zone_reason[REASONS] = {PLX_REASON_OCCUPIED, PLX_REASON_DROP, PLX_REASON_UNKNOWN,
                                              PLX_REASON_LITTLE_DEPTH};

/* One reason of a zone over time. It begins tripped: what was not looked at is not free. */
struct trip {
    uint32_t history; /* bit 0: the newest frame gave it */
    bool tripped;
    bool is_seen;    /* a frame has given it; until then it is tripped because the zone settles */
    int64_t last_ns; /* capture time of the last frame that gave it, or of the first frame */
};

struct plx_zones {
    struct plx_zone_list list;
    uint16_t mask[POINTS]; /* zones at each point of the raster, its first at -PLX_ZONE_REACH_M on both axes */
    bool visible[POINTS];
    int points[PLX_MAX_ZONES], visible_points[PLX_MAX_ZONES];
    int first_column[PLX_MAX_ZONES], last_column[PLX_MAX_ZONES]; /* scan columns towards what is visible of the zone */
    struct trip trip[PLX_MAX_ZONES][REASONS];
    int judged; /* frames so far, up to as many as a zone may ask for */
};

/* --- what the zones are --------------------------------------------------------------------------------------------------- */

/* Crossings of a ray with the edges (Shimrat: Algorithm 112, CACM 1962). */
static bool is_inside(const struct plx_zone *zone, double x, double y)
{
    bool inside = false;
    for (int i = 0, j = zone->points - 1; i < zone->points; j = i++) {
        const double xi = (double)zone->polygon[i][0], yi = (double)zone->polygon[i][1];
        const double xj = (double)zone->polygon[j][0], yj = (double)zone->polygon[j][1];
        if ((yi > y) != (yj > y) && x < (xj - xi) * (y - yi) / (yj - yi) + xi)
            inside = !inside;
    }
    return inside;
}

/* Whether a cell of the map whose nearest point of the raster is X, Y may be one that the robot itself covers. */
static bool is_covered(const struct plx_map_params *robot, double x, double y)
{
    const double margin = POINT_M / 2;
    return robot->width_m > 0 && x <= robot->front_m + margin && x >= -robot->back_m - margin &&
           fabs(y) <= robot->width_m / 2 + margin;
}

/* Whether the camera can see the ground at X, Y of the base; *ret_column: its column of the scan. */
static bool is_visible(const struct plx_zone_view *view, const struct plx_pose *left_from_base, double x, double y,
                       int *ret_column)
{
    const struct plx_calibration_info *lens = &view->calibration;
    const double base[3] = {x, y, 0};
    double point[3];

    plx_pose_apply(left_from_base, base, point);
    if (is_covered(&view->robot, x, y) || !(point[2] > 0 && point[2] >= (double)view->blind_within_m))
        return false;
    const double u = lens->fx * point[0] / point[2] + lens->cx + 0.5, v = lens->fy * point[1] / point[2] + lens->cy + 0.5;
    if (!(u >= 0 && u < view->width && v >= 0 && v < view->height))
        return false;
    *ret_column = (int)u / PLX_COLUMN_WIDTH;
    return true;
}

static void draw_point(struct plx_zones *zones, int at, double x, double y, bool visible, int column)
{
    zones->visible[at] = visible;
    for (int i = 0; i < zones->list.count; i++) {
        if (!is_inside(&zones->list.zone[i], x, y))
            continue;
        zones->mask[at] |= (uint16_t)(1u << i);
        zones->points[i]++;
        if (!visible)
            continue;
        const bool is_first = zones->visible_points[i]++ == 0;
        if (is_first || column < zones->first_column[i])
            zones->first_column[i] = column;
        if (is_first || column > zones->last_column[i])
            zones->last_column[i] = column;
    }
}

int plx_zones_create(const struct plx_zone_list *list, const struct plx_zone_view *view, struct plx_zones **ret_zones)
{
    struct plx_zones *zones = calloc(1, sizeof *zones);
    struct plx_pose left_from_base;

    if (!zones)
        return PLX_ERR_NOMEM;
    zones->list = *list;
    plx_pose_invert(&view->base_from_left, &left_from_base);
    for (int i = 0; i < POINTS; i++) {
        const double x = i % SIDE * POINT_M - PLX_ZONE_REACH_M, y = i / SIDE * POINT_M - PLX_ZONE_REACH_M;
        int column = 0;
        const bool visible = is_visible(view, &left_from_base, x, y, &column);
        draw_point(zones, i, x, y, visible, column);
    }
    for (int i = 0; i < PLX_MAX_ZONES; i++)
        for (int reason = 0; reason < REASONS; reason++)
            zones->trip[i][reason].tripped = true;
    *ret_zones = zones;
    return 0;
}

void plx_zones_destroy(struct plx_zones *zones)
{
    free(zones);
}

/* The point of the raster at X, Y; -1 outside. */
static int point_at(double x, double y)
{
    const int column = (int)floor((x + PLX_ZONE_REACH_M) / POINT_M + 0.5),
              row = (int)floor((y + PLX_ZONE_REACH_M) / POINT_M + 0.5);
    return column >= 0 && column < SIDE && row >= 0 && row < SIDE ? row * SIDE + column : -1;
}

uint16_t plx_zones_at(const struct plx_zones *zones, double x, double y, bool *ret_visible)
{
    const int at = point_at(x, y);
    *ret_visible = at >= 0 && zones->visible[at];
    return at >= 0 ? zones->mask[at] : 0;
}

double plx_zones_visible(const struct plx_zones *zones, int index)
{
    return zones->points[index] > 0 ? (double)zones->visible_points[index] / zones->points[index] : 0;
}

/* --- what the map says of them -------------------------------------------------------------------------------------------- */

struct count {
    int occupied, drops, visible, wanted, unknown; /* cells; wanted: of which something must be known */
    double nearest;                                /* squared, m2 */
};

static void count_cell(const struct plx_zone *zone, const struct plx_cell *cell, bool visible, double square,
                       struct count *count)
{
    const bool counts = cell->kind == PLX_CELL_OCCUPIED && cell->top * PLX_CELL_HEIGHT_M >= zone->min_height_m &&
                        cell->foot * PLX_CELL_HEIGHT_M <= zone->max_height_m;
    count->occupied += counts;
    count->drops += cell->kind == PLX_CELL_DROP;
    count->visible += visible;
    count->wanted += visible || cell->kind == PLX_CELL_LOST;
    count->unknown += cell->kind == PLX_CELL_LOST || (visible && cell->kind == PLX_CELL_UNKNOWN);
    if ((counts || cell->kind == PLX_CELL_DROP) && square < count->nearest)
        count->nearest = square;
}

static void count_cells(const struct plx_zones *zones, const struct plx_map_info *map, const struct plx_image *cells,
                        struct count count[PLX_MAX_ZONES])
{
    const double c = cos(map->yaw_rad), s = sin(map->yaw_rad);
    for (int row = 0; row < PLX_MAP_CELLS; row++) {
        const struct plx_cell *cell = plx_row(cells, row);
        const double y = (map->origin_y + row + 0.5) * PLX_MAP_CELL_M - map->y_m;
        for (int column = 0; column < PLX_MAP_CELLS; column++) {
            const double x = (map->origin_x + column + 0.5) * PLX_MAP_CELL_M - map->x_m;
            const int at = point_at(c * x + s * y, c * y - s * x);
            if (at < 0)
                continue;
            for (int i = 0, left = zones->mask[at]; left; i++, left >>= 1)
                if (left & 1)
                    count_cell(&zones->list.zone[i], &cell[column], zones->visible[at], x * x + y * y, &count[i]);
        }
    }
}

static double depth_towards(const struct plx_zones *zones, int index, const struct plx_image *scan)
{
    const struct plx_scan *column = scan->data;
    int known = 0;
    if (zones->visible_points[index] == 0)
        return 0;
    const int first = zones->first_column[index], last = zones->last_column[index];
    for (int x = first; x <= last; x++)
        known += (column[x].known & PLX_SCAN_KNOWN) != 0;
    return (double)known / (last + 1 - first);
}

/* JUDGED: frames so far, with this one. */
static void update_trip(struct trip *trip, bool now, const struct plx_zone *zone, int judged, int64_t capture_ns)
{
    const uint32_t seen = (2u << zone->frames) - 1;
    trip->history = (trip->history << 1 | now) & seen;
    if (now || judged == 1)
        trip->last_ns = capture_ns;
    trip->is_seen = trip->is_seen || now;
    if (__builtin_popcount(trip->history) >= zone->frames)
        trip->tripped = true;
    else if (judged > zone->frames && (double)(capture_ns - trip->last_ns) >= zone->clear_s * PLX_NS_PER_S)
        trip->tripped = false;
}

static void judge(struct plx_zones *zones, int index, const struct count *count, double depth, int64_t capture_ns,
                  struct plx_zone_info *ret)
{
    const struct plx_zone *zone = &zones->list.zone[index];
    const double unknown = count->wanted > 0 ? (double)count->unknown / count->wanted : 1;
    const bool now[REASONS] = {count->occupied > 0, count->drops > 0, count->visible == 0 || unknown > zone->max_unknown,
                               depth < zone->min_depth};

    *ret = (struct plx_zone_info){.points = (uint32_t)zone->points, .verdict = PLX_VERDICT_GO};
    memcpy(ret->name, zone->name, sizeof ret->name);
    memcpy(ret->polygon, zone->polygon, sizeof ret->polygon);
    for (int i = 0; i < REASONS; i++) {
        struct trip *trip = &zones->trip[index][i];
        update_trip(trip, now[i], zone, zones->judged, capture_ns);
        if (!trip->tripped)
            continue;
        ret->reasons |= trip->is_seen ? zone_reason[i] : PLX_REASON_SETTLING;
        ret->verdict = plx_stricter_verdict(
            ret->verdict, zone_reason[i] & (PLX_REASON_OCCUPIED | PLX_REASON_DROP) ? zone->occupied : zone->unknown);
    }
    ret->nearest_m = count->nearest < (double)INFINITY ? (float)sqrt(count->nearest) : INFINITY;
    ret->known = (float)(1 - unknown);
    ret->depth = (float)depth;
}

/* How far SPEED is outside of the range of ZONE. */
static double off_range(const struct plx_zone *zone, double speed)
{
    return fmax(fmax(zone->min_speed_mps - speed, speed - zone->max_speed_mps), 0);
}

static void choose(const struct plx_zone_list *list, double speed, struct plx_zone_info info[PLX_MAX_ZONES])
{
    double least = (double)INFINITY;
    for (int i = 0; i < list->count; i++)
        least = fmin(least, off_range(&list->zone[i], speed));
    for (int i = 0; i < list->count; i++)
        info[i].active = isnan(speed) || off_range(&list->zone[i], speed) <= least;
}

void plx_zones_update(struct plx_zones *zones, const struct plx_map_info *map, const struct plx_image *cells,
                      const struct plx_image *scan, double speed_mps, int64_t capture_ns,
                      struct plx_zone_info ret_info[PLX_MAX_ZONES])
{
    struct count count[PLX_MAX_ZONES];
    for (int i = 0; i < PLX_MAX_ZONES; i++)
        count[i] = (struct count){.nearest = (double)INFINITY};
    if (map->valid)
        count_cells(zones, map, cells, count);
    if (zones->judged <= PLX_ZONE_FRAMES)
        zones->judged++;
    for (int i = 0; i < zones->list.count; i++)
        judge(zones, i, &count[i], depth_towards(zones, i, scan), capture_ns, &ret_info[i]);
    choose(&zones->list, speed_mps, ret_info);
}
