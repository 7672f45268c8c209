/* SPDX-License-Identifier: Apache-2.0 */
/* The map of the last metres as nav_msgs/OccupancyGrid. */
#include <math.h>

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
    plx_pose_invert(&frame->mount.base_from_left, &step);
    plx_pose_compose(&step, &pose, &pose);
    plx_pose_compose(&plx_link_from_camera, &pose, &pose);
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

int plx_message_map(const struct plx_frame_messages *messages, struct ros_occupancy_grid *ret_map)
{
    const struct plx_frame *frame = messages->frame;
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_MAP];
    int8_t *data = messages->scratch;
    if (!frame->map.valid || plane->width != PLX_MAP_CELLS || plane->height != PLX_MAP_CELLS)
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
