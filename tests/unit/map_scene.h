/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the map's tests: a map that is filled from scans and stixels made by hand, 5 s of memory, a level camera 0.5 m
 * high.
 */
#ifndef PLX_TESTS_UNIT_MAP_SCENE_H
#define PLX_TESTS_UNIT_MAP_SCENE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/geometry/mount.h"
#include "core/verdict/map.h"
#include "tests/cmocka.h"

#define WIDTH 640
#define HEIGHT 480
#define COLUMNS (WIDTH / PLX_COLUMN_WIDTH)
#define FOCAL 500.0
#define BASELINE 0.1
#define CAMERA_M 0.5
#define PERIOD_NS (100 * PLX_NS_PER_MS)

static struct {
    struct plx_local_map *map;
    struct plx_frame frame;
    struct plx_scan scan[COLUMNS];
    struct plx_stixel stixel[COLUMNS][PLX_COLUMN_STIXELS];
    struct plx_cell cell[PLX_MAP_CELLS][PLX_MAP_CELLS];
    int64_t capture_ns;
    bool is_doubtful;
} t;

static inline int map_setup(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    t.frame.width = WIDTH;
    t.frame.height = HEIGHT;
    t.frame.calibration = (struct plx_calibration_info){FOCAL, FOCAL, 319.5, 239.5, 319.5, BASELINE};
    t.frame.motion.source = PLX_MOTION_VISUAL;
    t.capture_ns = PLX_NS_PER_S;
    plx_mount_info(&(struct plx_mount){.z_m = CAMERA_M}, &t.frame.ground, &t.frame.mount);
    const struct plx_map_params params = {.enabled = true, .memory_s = 5};
    return plx_local_map_create(&params, &t.map);
}

static inline int map_teardown(void **state)
{
    (void)state;
    plx_local_map_destroy(t.map);
    return 0;
}

static inline uint16_t disparity_at(double metres)
{
    return (uint16_t)lround(PLX_DISPARITY_ONE * FOCAL * t.frame.calibration.baseline_m / metres);
}

static inline int row_of(double below_m, double metres)
{
    return (int)lround(239.5 + FOCAL * below_m / metres);
}

/* All columns see ground up to FREE_M. */
static inline void see_ground(double free_m)
{
    memset(t.stixel, 0, sizeof t.stixel);
    for (int x = 0; x < COLUMNS; x++)
        t.scan[x] = (struct plx_scan){.free = disparity_at(free_m), .known = PLX_SCAN_KNOWN};
}

/* Columns FIRST .. LAST see a thing of HEIGHT_M at METRES. */
static inline void see_thing(int first, int last, double metres, double height_m)
{
    for (int x = first; x <= last; x++) {
        t.scan[x].nearest = t.scan[x].free = disparity_at(metres);
        t.stixel[x][0] = (struct plx_stixel){.y0 = (uint16_t)row_of(CAMERA_M - height_m, metres),
                                             .y1 = (uint16_t)row_of(CAMERA_M, metres),
                                             .disparity = disparity_at(metres),
                                             .top_mm = (int16_t)(1000 * height_m)};
    }
}

/* The next frame, in which the camera has moved by MOTION. */
static inline void move(const struct plx_pose *motion)
{
    const struct plx_image scan = {t.scan, COLUMNS, 1, sizeof t.scan, PLX_U64},
                           stixels = {t.stixel, PLX_COLUMN_STIXELS, COLUMNS, sizeof t.stixel[0], PLX_U128},
                           cells = {t.cell, PLX_MAP_CELLS, PLX_MAP_CELLS, sizeof t.cell[0], PLX_U32};
    t.capture_ns += PERIOD_NS;
    t.frame.motion.motion = *motion;
    plx_local_map_update(t.map, &t.frame, t.is_doubtful, &scan, &stixels, t.capture_ns, &cells, &t.frame.map);
    t.frame.motion.valid = 1; /* from the second frame on */
}

/* The robot has gone AHEAD_M. */
static inline void next(double ahead_m)
{
    move(&(struct plx_pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, ahead_m}});
}

/* The cell at X, Y in axes of the map, which are those of the robot's first position. */
static inline struct plx_cell at(double x, double y)
{
    const int column = (int)floor(x / PLX_MAP_CELL_M) - t.frame.map.origin_x,
              row = (int)floor(y / PLX_MAP_CELL_M) - t.frame.map.origin_y;
    assert_in_range(column, 0, PLX_MAP_CELLS - 1);
    assert_in_range(row, 0, PLX_MAP_CELLS - 1);
    return t.cell[row][column];
}

static inline void expect(double x, double y, enum plx_cell_kind kind)
{
    if (at(x, y).kind != kind)
        fail_msg("at %.2f, %.2f: %d, expected %d", x, y, at(x, y).kind, kind);
}

/* All cells in view are hidden, by nobody knows what. */
static inline void see_nothing(void)
{
    memset(t.scan, 0, sizeof t.scan);
    memset(t.stixel, 0, sizeof t.stixel);
}

static inline int count(enum plx_cell_kind kind)
{
    int sum = 0;
    for (int row = 0; row < PLX_MAP_CELLS; row++)
        for (int column = 0; column < PLX_MAP_CELLS; column++)
            sum += t.cell[row][column].kind == kind;
    return sum;
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, map_setup, map_teardown)

#endif
