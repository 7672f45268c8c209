/* SPDX-License-Identifier: Apache-2.0 */
/* The map of the last metres as nav_msgs/OccupancyGrid, and as nav2_msgs/Costmap. */
#include <math.h>
#include <stdbool.h>

#include <parallax/error.h>

#include "bridge/frame_messages.h"
#include "bridge/frame_parts.h"
#include "core/motion/pose.h"

#define UNKNOWN (-1)
#define FREE 0
#define LETHAL 100 /* a drop too: costmaps know nothing else that a robot must not drive into */

_Static_assert(PLX_MAP_CELLS *PLX_MAP_CELLS <= PLX_OBSTACLE_SCRATCH, "the cells fit into the scratch of a frame");

/* Where the corner of the map's first cell is, and how the map is turned, in axes of parallax_scan. */
static struct plx_pose scan_from_cells(const struct plx_frame *frame)
{
    const struct plx_map_info *map = &frame->map;
    const double c = cos(map->yaw_rad), s = sin(map->yaw_rad);
    const struct plx_pose map_from_base = {{c, -s, 0, s, c, 0, 0, 0, 1}, {map->x_m, map->y_m, 0}};
    struct plx_pose pose = PLX_POSE_IDENTITY, step = {.translation = {0}};
    pose.translation[0] = map->origin_x * PLX_MAP_CELL_M;
    pose.translation[1] = map->origin_y * PLX_MAP_CELL_M;
    plx_pose_invert(&map_from_base, &step);
    plx_pose_compose(&step, &pose, &pose);
    step = plx_link_from_base(frame);
    plx_pose_compose(&step, &pose, &pose);
    step = (struct plx_pose){.translation = {0}};
    plx_link_from_scan(&frame->ground, step.rotation);
    plx_pose_invert(&step, &step);
    plx_pose_compose(&step, &pose, &pose);
    return pose;
}

static int8_t occupancy(uint8_t kind)
{
    switch (kind) {
    case PLX_CELL_FREE:
        return FREE;
    case PLX_CELL_OCCUPIED:
    case PLX_CELL_DROP:
        return LETHAL;
    default:
        return UNKNOWN;
    }
}

static bool has_map(const struct plx_frame *frame)
{
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_MAP];
    return frame->map.valid && plane->width == PLX_MAP_CELLS && plane->height == PLX_MAP_CELLS;
}

int plx_message_map(const struct plx_frame_messages *messages, struct ros_occupancy_grid *ret_map)
{
    const struct plx_frame *frame = messages->frame;
    int8_t *data = messages->scratch;
    if (!has_map(frame))
        return PLX_ERR_NOT_FOUND;
    for (uint32_t y = 0; y < PLX_MAP_CELLS; y++) {
        const struct plx_cell *row = plx_message_row(frame, PLX_PLANE_MAP, y);
        for (uint32_t x = 0; x < PLX_MAP_CELLS; x++)
            data[y * PLX_MAP_CELLS + x] = occupancy(row[x].kind);
    }
    const struct plx_pose origin = scan_from_cells(frame);
    const double *at = origin.translation;
    *ret_map = (struct ros_occupancy_grid){
        .header = plx_message_header(messages, PLX_FRAME_SCAN),
        .info = {.map_load_time = plx_ros_time(messages->realtime_ns),
                 .resolution = (float)PLX_MAP_CELL_M,
                 .width = PLX_MAP_CELLS,
                 .height = PLX_MAP_CELLS,
                 .origin = {{at[0], at[1], at[2]}, plx_quaternion(origin.rotation)}},
        .data = {.data = data, .count = PLX_MAP_CELLS * PLX_MAP_CELLS},
    };
    return 0;
}

/* --- a costmap ----------------------------------------------------------------------------------------------------------- */

/* Costs of nav2_costmap_2d. */
enum { COST_FREE = 0, COST_LETHAL = 254, COST_UNKNOWN = 255 };

static uint8_t cost_of(const struct plx_frame *frame, int x, int y)
{
    if (x < 0 || y < 0 || x >= PLX_MAP_CELLS || y >= PLX_MAP_CELLS)
        return COST_UNKNOWN;
    const struct plx_cell *row = plx_message_row(frame, PLX_PLANE_MAP, (uint32_t)y);
    const int8_t occupied = occupancy(row[x].kind);
    return occupied == LETHAL ? COST_LETHAL : occupied == FREE ? COST_FREE : COST_UNKNOWN;
}

/* The worst of the four cells around a point, whose place is in cells: nothing that is lethal or unknown gets lost. */
static uint8_t worst_cost(const struct plx_frame *frame, double u, double v)
{
    const int x = (int)floor(u - 0.5), y = (int)floor(v - 0.5);
    bool is_unknown = false;
    for (int i = 0; i < 4; i++) {
        const uint8_t cost = cost_of(frame, x + (i & 1), y + (i >> 1));
        if (cost == COST_LETHAL)
            return COST_LETHAL;
        is_unknown = is_unknown || cost == COST_UNKNOWN;
    }
    return is_unknown ? COST_UNKNOWN : COST_FREE;
}

int plx_message_costmap(const struct plx_frame_messages *messages, struct ros_costmap *ret_costmap)
{
    const struct plx_frame *frame = messages->frame;
    uint8_t *data = messages->scratch;
    if (!has_map(frame))
        return PLX_ERR_NOT_FOUND;
    const struct plx_pose pose = scan_from_cells(frame);
    const double yaw = atan2(pose.rotation[3], pose.rotation[0]), c = cos(yaw), s = sin(yaw);
    const double half = PLX_MAP_CELLS / 2.0, half_m = half * PLX_MAP_CELL_M;
    /* Both rasters have one middle; (dx, dy) is a cell's way from there. */
    for (int y = 0; y < PLX_MAP_CELLS; y++)
        for (int x = 0; x < PLX_MAP_CELLS; x++) {
            const double dx = x + 0.5 - half, dy = y + 0.5 - half;
            data[y * PLX_MAP_CELLS + x] = worst_cost(frame, half + c * dx + s * dy, half + c * dy - s * dx);
        }
    *ret_costmap = (struct ros_costmap){
        .header = plx_message_header(messages, PLX_FRAME_SCAN),
        .metadata = {.map_load_time = plx_ros_time(messages->realtime_ns),
                     .update_time = plx_ros_time(messages->realtime_ns),
                     .layer = "parallax",
                     .resolution = (float)PLX_MAP_CELL_M,
                     .size_x = PLX_MAP_CELLS,
                     .size_y = PLX_MAP_CELLS,
                     .origin = {{pose.translation[0] + c * half_m - s * half_m - half_m,
                                 pose.translation[1] + s * half_m + c * half_m - half_m, pose.translation[2]},
                                {0, 0, 0, 1}}},
        .data = {.data = data, .count = PLX_MAP_CELLS * PLX_MAP_CELLS},
    };
    return 0;
}
