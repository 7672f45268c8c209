/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/map_measures.h"

#include <math.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "core/geometry/stereo.h"
#include "core/motion/pose.h"

#define SIDE PLX_MAP_CELLS
#define REACH_M 10.0F /* nothing nearer must be missing */
#define NEARBY 4      /* cells: 20 cm, more than disparity is off at 10 m */
#define SQUARE 10     /* cells of a square's side */
#define SQUARES (SIDE / SQUARE)
#define THING_POINTS 20
#define THING_RISE_M 0.25F /* points that differ less in height lie on raised ground, as on a verge */

/* What LiDAR sees in a cell. */
struct hits {
    int clear, other, obstacle, missing, claimed; /* claimed: missing, and said to be free */
    float low_m, high_m;                          /* heights of the obstacle points above the road */
};

static const struct plx_cell *cell_at(const struct plx_frame *frame, int column, int row)
{
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_MAP];
    return (const struct plx_cell *)((const uint8_t *)frame + plane->offset + (size_t)row * plane->pitch) + column;
}

/* The cell of a point in axes of the left camera, -1 outside of the map. */
static int index_of(const struct plx_frame *frame, const double point[3])
{
    const struct plx_map_info *map = &frame->map;
    const double c = cos(map->yaw_rad), s = sin(map->yaw_rad);
    double base[3];
    plx_pose_apply(&frame->mount.base_from_left, point, base);
    const int column = (int)floor((map->x_m + c * base[0] - s * base[1]) / PLX_MAP_CELL_M) - map->origin_x;
    const int row = (int)floor((map->y_m + s * base[0] + c * base[1]) / PLX_MAP_CELL_M) - map->origin_y;
    return column >= 0 && column < SIDE && row >= 0 && row < SIDE ? row * SIDE + column : -1;
}

static bool is_occupied_nearby(const struct plx_frame *frame, int index)
{
    const int column = index % SIDE, row = index / SIDE;
    for (int y = row - NEARBY; y <= row + NEARBY; y++)
        for (int x = column - NEARBY; x <= column + NEARBY; x++)
            if (x >= 0 && x < SIDE && y >= 0 && y < SIDE && cell_at(frame, x, y)->kind == PLX_CELL_OCCUPIED)
                return true;
    return false;
}

static void collect(const struct plx_frame *frame, const struct plx_lidar_truth *truth, struct hits hits[SIDE * SIDE])
{
    const struct plx_calibration_info *lens = &frame->calibration;
    for (int i = 0; i < truth->width * truth->height; i++) {
        const struct plx_lidar_point *point = &truth->point[i];
        const double z = (double)point->depth_m;
        if (z <= 0 || i % truth->width < plx_disparity_of_depth(lens, z)) /* only one eye sees it */
            continue;
        double camera[3];
        plx_point_of_pixel(lens, i % truth->width, i / truth->width, z, camera);
        const int index = index_of(frame, camera);
        if (index < 0)
            continue;
        hits[index].clear += point->class == PLX_LIDAR_CLEAR;
        hits[index].other += point->class != PLX_LIDAR_CLEAR;
        if (point->class == PLX_LIDAR_OBSTACLE && point->depth_m <= REACH_M) {
            const bool is_first = hits[index].obstacle++ == 0;
            hits[index].low_m = is_first ? point->height_m : fminf(hits[index].low_m, point->height_m);
            hits[index].high_m = is_first ? point->height_m : fmaxf(hits[index].high_m, point->height_m);
            const bool is_missing = !is_occupied_nearby(frame, index);
            hits[index].missing += is_missing;
            hits[index].claimed += is_missing && cell_at(frame, index % SIDE, index / SIDE)->kind == PLX_CELL_FREE;
        }
    }
}

/* Counts the square whose first cell is at COLUMN, ROW. */
static void count_square(const struct hits *hits, int column, int row, struct plx_map_counts *counts)
{
    int obstacle = 0, missing = 0, claimed = 0;
    float low = INFINITY, high = -INFINITY;
    for (int y = row; y < row + SQUARE; y++)
        for (int x = column; x < column + SQUARE; x++) {
            const struct hits *cell = &hits[y * SIDE + x];
            obstacle += cell->obstacle;
            missing += cell->missing;
            claimed += cell->claimed;
            low = cell->obstacle > 0 ? fminf(low, cell->low_m) : low;
            high = cell->obstacle > 0 ? fmaxf(high, cell->high_m) : high;
        }
    const bool is_thing = obstacle >= THING_POINTS && high - low >= THING_RISE_M;
    counts->points += (uint64_t)obstacle;
    counts->missing += (uint64_t)missing;
    counts->things += is_thing;
    counts->lacking += is_thing && 2 * missing > obstacle;
    counts->lacking_free += is_thing && 2 * claimed > obstacle;
}

int plx_map_measures_add(const struct plx_frame *frame, const struct plx_lidar_truth *truth, struct plx_map_counts *counts)
{
    if (!frame->map.valid || !truth->scored)
        return 0;
    struct hits *hits = calloc(SIDE * SIDE, sizeof *hits);
    if (!hits)
        return PLX_ERR_NOMEM;
    collect(frame, truth, hits);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const uint8_t kind = cell_at(frame, i % SIDE, i / SIDE)->kind;
        const bool is_clear = hits[i].clear > 0 && hits[i].other == 0 && kind != PLX_CELL_UNKNOWN && kind != PLX_CELL_LOST;
        counts->clear += is_clear;
        counts->ghosts += is_clear && kind != PLX_CELL_FREE;
    }
    for (int i = 0; i < SQUARES * SQUARES; i++)
        count_square(hits, i % SQUARES * SQUARE, i / SQUARES * SQUARE, counts);
    free(hits);
    return 0;
}
