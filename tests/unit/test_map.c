/* SPDX-License-Identifier: Apache-2.0 */
/* The map from scans and stixels that are made by hand: what is free, occupied, a drop and unknown; what stays and what goes.
 */
#include "core/verdict/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/geometry/mount.h"
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

static int setup(void **state)
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

static int teardown(void **state)
{
    (void)state;
    plx_local_map_destroy(t.map);
    return 0;
}

static uint16_t disparity_at(double metres)
{
    return (uint16_t)lround(PLX_DISPARITY_ONE * FOCAL * BASELINE / metres);
}

static int row_of(double below_m, double metres)
{
    return (int)lround(239.5 + FOCAL * below_m / metres);
}

/* All columns see ground up to FREE_M. */
static void see_ground(double free_m)
{
    memset(t.stixel, 0, sizeof t.stixel);
    for (int x = 0; x < COLUMNS; x++)
        t.scan[x] = (struct plx_scan){.free = disparity_at(free_m), .known = PLX_SCAN_KNOWN};
}

/* Columns FIRST .. LAST see a thing of HEIGHT_M at METRES. */
static void see_thing(int first, int last, double metres, double height_m)
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
static void move(const struct plx_pose *motion)
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
static void next(double ahead_m)
{
    move(&(struct plx_pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, ahead_m}});
}

/* The cell at X, Y in axes of the map, which are those of the robot's first position. */
static struct plx_cell at(double x, double y)
{
    const int column = (int)floor(x / PLX_MAP_CELL_M) - t.frame.map.origin_x,
              row = (int)floor(y / PLX_MAP_CELL_M) - t.frame.map.origin_y;
    assert_in_range(column, 0, PLX_MAP_CELLS - 1);
    assert_in_range(row, 0, PLX_MAP_CELLS - 1);
    return t.cell[row][column];
}

static void expect(double x, double y, enum plx_cell_kind kind)
{
    if (at(x, y).kind != kind)
        fail_msg("at %.2f, %.2f: %d, expected %d", x, y, at(x, y).kind, kind);
}

/* All cells in view are hidden, by nobody knows what. */
static void see_nothing(void)
{
    memset(t.scan, 0, sizeof t.scan);
    memset(t.stixel, 0, sizeof t.stixel);
}

static int count(enum plx_cell_kind kind)
{
    int sum = 0;
    for (int row = 0; row < PLX_MAP_CELLS; row++)
        for (int column = 0; column < PLX_MAP_CELLS; column++)
            sum += t.cell[row][column].kind == kind;
    return sum;
}

static void a_thing_stands_where_it_is(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int i = 0; i < 4; i++)
        next(0);
    assert_true(t.frame.map.valid && t.frame.map.remembers);
    expect(1.5, 0, PLX_CELL_FREE);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    expect(3.0, 0, PLX_CELL_UNKNOWN);  /* behind it */
    expect(3.0, 1.0, PLX_CELL_FREE);   /* beside it */
    expect(0.5, 0, PLX_CELL_UNKNOWN);  /* below the picture */
    expect(-1.0, 0, PLX_CELL_UNKNOWN); /* behind the camera */
    expect(4.5, 1.0, PLX_CELL_UNKNOWN);
    assert_in_range(at(2.0, 0).top, 28, 31); /* 0.6 m */
    assert_int_equal(at(2.0, 0).foot, 0);
    assert_int_equal(at(2.0, 0).age, 0);
    assert_int_equal(at(-1.0, 0).age, 255);
    /* 21 columns of 4 pixels at 2 m are 0.34 m wide: 7 or 8 cells, in one or two rows. */
    assert_in_range(count(PLX_CELL_OCCUPIED), 6, 16);
}

static void it_stays_where_it_is_when_the_robot_drives(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    next(0);
    next(0);
    for (int i = 1; i <= 12; i++) { /* 1.2 m: then it is below the picture */
        see_ground(4);
        if (2 - 0.1 * i > 1.3)
            see_thing(70, 90, 2 - 0.1 * i, 0.6);
        else
            memset(t.scan, 0, sizeof t.scan); /* nothing is known */
        next(0.1);
    }
    assert_true(fabs(t.frame.map.x_m - 1.2) < 1e-6 && fabs(t.frame.map.y_m) < 1e-6);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    assert_in_range(at(2.0, 0).age, 2, 8);
    /* Its window has followed: 5 m about the robot. */
    assert_in_range(t.frame.map.origin_x, -77, -75);
    assert_int_equal(t.frame.map.origin_y, -100);
}

static void a_robot_that_turned_sees_the_thing_beside_it(void **state)
{
    (void)state;
    const double quarter = acos(-1) / 2;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int i = 0; i < 3; i++)
        next(0);
    see_ground(3);
    /* To the left: the camera turns about -y. */
    move(&(struct plx_pose){{cos(quarter), 0, -sin(quarter), 0, 1, 0, sin(quarter), 0, cos(quarter)}, {0, 0, 0}});
    assert_true(fabs(t.frame.map.yaw_rad - quarter) < 1e-9);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    expect(0, 2.0, PLX_CELL_UNKNOWN); /* free once, of three times */
    assert_int_equal(at(0, 2.0).age, 0);
}

static void what_went_away_is_gone_after_three_looks(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int i = 0; i < 20; i++)
        next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    see_ground(4);
    for (int i = 0; i < 3; i++)
        next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    next(0);
    next(0);
    next(0);
    next(0);
    expect(2.0, 0, PLX_CELL_FREE);
}

static void a_free_cell_needs_two_looks_to_be_occupied(void **state)
{
    (void)state;
    see_ground(4);
    for (int i = 0; i < 5; i++)
        next(0);
    expect(2.0, 0, PLX_CELL_FREE);
    see_thing(70, 90, 2, 0.6);
    next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0); /* a match by chance */
    next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
}

static void what_is_not_seen_is_forgotten(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int i = 0; i < 5; i++)
        next(0);
    see_nothing();
    for (int i = 0; i < 50; i++)
        next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    assert_int_equal(at(2.0, 0).age, 40);
    next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED) + count(PLX_CELL_FREE), 0);
    expect(2.0, 0, PLX_CELL_LOST); /* it may stand there still */
    expect(1.5, 0, PLX_CELL_UNKNOWN);
}

/* It may stand there still: nothing but a look can tell. */
static void what_stands_out_of_view_is_never_forgotten(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 1.3, 0.2);
    for (int i = 0; i < 4; i++)
        next(0);
    see_ground(4);
    next(0.4); /* the thing is below the picture */
    for (int i = 0; i < 100; i++)
        next(0);
    expect(1.3, 0, PLX_CELL_OCCUPIED);
    t.frame.blind = PLX_BLIND_NO_PICTURE; /* a hand before the lens, for a second */
    t.frame.motion.valid = 0;
    for (int i = 0; i < 10; i++) {
        next(0);
        t.frame.motion.valid = 0;
    }
    expect(1.3, 0, PLX_CELL_OCCUPIED);
    t.frame.blind = 0;
    for (int i = 0; i < 5; i++)
        next(0);
    expect(1.3, 0, PLX_CELL_OCCUPIED);
    next(-0.4); /* back, and it is gone */
    for (int i = 0; i < 6; i++)
        next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    expect(1.3, 0, PLX_CELL_FREE);
}

/* A thing that was seen free once of the times that it takes is no longer known to stand there, nor to be gone. */
static void what_leaves_the_view_half_seen_free_is_lost(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 1.3, 0.2);
    next(0);
    next(0);
    see_ground(4);
    for (int i = 0; i < 3; i++)
        next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    next(0.4);
    expect(1.3, 0, PLX_CELL_LOST);
    for (int i = 0; i < 100; i++)
        next(0);
    expect(1.3, 0, PLX_CELL_LOST);
}

/* The next engine knows nothing of what the dead one knew. */
static void after_another_map_all_is_lost(void **state)
{
    (void)state;
    plx_local_map_continue(t.map);
    see_ground(4);
    next(0);
    expect(1.5, 0, PLX_CELL_FREE);
    expect(0.5, 0, PLX_CELL_LOST); /* below the picture */
    assert_int_equal(count(PLX_CELL_UNKNOWN), 0);
    next(0);
    next(-1); /* now it is seen, three times */
    next(0);
    next(0);
    expect(0.5, 0, PLX_CELL_FREE);
}

/* The motion of a wall that goes aside must not take things out of the robot's way. */
static void a_doubtful_motion_moves_nothing(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int i = 0; i < 4; i++)
        next(0);
    t.is_doubtful = true;
    for (int i = 0; i < 5; i++) {
        next(0.1);
        assert_int_equal(t.frame.map.remembers, 1);
    }
    assert_true(t.frame.map.x_m == 0);
    next(0.1); /* for longer than half a second */
    assert_int_equal(t.frame.map.remembers, 0);
    assert_true(t.frame.map.x_m == 0);
    expect(0.5, 0, PLX_CELL_LOST);
    t.is_doubtful = false;
    next(0.1); /* since the frame before */
    assert_true(fabs(t.frame.map.x_m - 0.1) < 1e-9);
}

static void what_moves_is_forgotten_soon(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int x = 70; x <= 90; x++)
        t.stixel[x][0].label = 7;
    t.frame.obstacle_count = 1;
    t.frame.obstacle[0] = (struct plx_obstacle){.label = 7, .moving = 1};
    for (int i = 0; i < 5; i++)
        next(0);
    see_nothing();
    for (int i = 0; i < 5; i++)
        next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    expect(1.5, 0, PLX_CELL_FREE);
}

static void a_drop_is_a_kind_of_its_own(void **state)
{
    (void)state;
    see_ground(1.5);
    for (int x = 0; x < COLUMNS; x++)
        t.scan[x].known |= PLX_SCAN_DROP;
    for (int i = 0; i < 4; i++)
        next(0);
    expect(1.4, 0, PLX_CELL_FREE);
    expect(1.58, 0, PLX_CELL_DROP);
    expect(2.0, 0, PLX_CELL_UNKNOWN);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
}

/* What has no stixel may be a match by chance: it must be seen again and again. */
static void something_low_needs_more_looks(void **state)
{
    (void)state;
    for (int chance = 0; chance < 2; chance++) {
        for (int i = 0; i < 12; i++) {
            see_ground(4);
            if (i >= 4 && (!chance || i % 2 == 0))
                for (int x = 70; x <= 90; x++)
                    t.scan[x] = (struct plx_scan){.free = disparity_at(2), .known = PLX_SCAN_KNOWN | PLX_SCAN_RISE};
            next(0);
            if (chance || i < 7)
                assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
        }
        if (!chance) {
            expect(2.03, 0, PLX_CELL_OCCUPIED);
            assert_int_equal(at(2.03, 0).top, 5);
            see_ground(4);
            for (int i = 0; i < 3; i++)
                next(0);
        }
    }
}

static void without_motion_it_holds_the_present_frame(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    t.frame.motion.source = PLX_MOTION_NONE;
    next(0);
    t.frame.motion.valid = 0;
    assert_int_equal(t.frame.map.remembers, 0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    expect(1.5, 0, PLX_CELL_FREE); /* at the first look: there is no second */
    see_ground(4);
    next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
}

static void motion_that_was_lost_ends_the_memory(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    next(0);
    next(0);
    see_nothing();
    for (int i = 0; i < 5; i++) { /* half a second is bridged */
        t.frame.motion.valid = 0;
        next(0);
        expect(2.0, 0, PLX_CELL_OCCUPIED);
    }
    t.frame.motion.valid = 0;
    next(0);
    assert_int_equal(t.frame.map.remembers, 0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);

    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    next(0);
    next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    see_nothing();
    t.frame.motion.breaks++;
    next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
}

static void the_robot_is_cut_out(void **state)
{
    (void)state;
    plx_local_map_destroy(t.map);
    const struct plx_map_params params = {.memory_s = 5, .front_m = 0.4, .back_m = 0.2, .width_m = 0.5};
    assert_int_equal(plx_local_map_create(&params, &t.map), 0);
    see_ground(4);
    next(0);
    for (double x = -0.17; x < 0.38; x += 0.05)
        for (double y = -0.22; y < 0.23; y += 0.05)
            expect(x, y, PLX_CELL_FREE);
    expect(-0.3, 0, PLX_CELL_UNKNOWN);
    expect(0, 0.35, PLX_CELL_UNKNOWN);
}

/* Pictures that show nothing add nothing; without mount and ground there is no map. */
static void blind_frames_add_nothing(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    t.frame.blind = PLX_BLIND_NO_PICTURE;
    next(0);
    assert_true(t.frame.map.valid);
    assert_int_equal(count(PLX_CELL_UNKNOWN), PLX_MAP_CELLS * PLX_MAP_CELLS);
    t.frame.blind = 0;
    next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    memset(&t.frame.mount, 0, sizeof t.frame.mount);
    next(0);
    assert_false(t.frame.map.valid);
    assert_int_equal(count(PLX_CELL_UNKNOWN), PLX_MAP_CELLS * PLX_MAP_CELLS);
}

/* A thing that is seen alike keeps its extent; one that grew has the new one at once, and one that shrank loses 2 cm a look. */
static void an_extent_widens_at_once_and_narrows_slowly(void **state)
{
    (void)state;
    static const struct {
        int foot_mm, top_mm;
        uint8_t foot, top;
    } looks[] = {{100, 600, 5, 30}, {100, 600, 5, 30}, {100, 800, 5, 40},  {100, 800, 5, 40}, {100, 780, 5, 39},
                 {100, 600, 5, 38}, {100, 600, 5, 37}, {0, 600, 0, 36},    {100, 600, 1, 35}, {100, 600, 2, 34},
                 {60, 600, 3, 33},  {60, 600, 3, 32},  {-50, 6000, 0, 255}};
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        for (int x = 70; x <= 90; x++) {
            t.stixel[x][0].foot_mm = (int16_t)looks[i].foot_mm;
            t.stixel[x][0].top_mm = (int16_t)looks[i].top_mm;
        }
        next(0);
        const struct plx_cell cell = at(2.0, 0);
        if (cell.foot != looks[i].foot || cell.top != looks[i].top)
            fail_msg("look %zu: %d to %d, expected %d to %d", i, cell.foot, cell.top, looks[i].foot, looks[i].top);
    }
}

/* The list of a column's stixels ends at the first without a disparity, not at the farthest thing there is. */
static void a_far_stixel_does_not_hide_the_next_one(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int x = 70; x <= 90; x++) {
        t.stixel[x][1] = t.stixel[x][0];
        t.stixel[x][0].disparity = 1; /* 1/16 px */
    }
    next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    for (int x = 70; x <= 90; x++) {
        t.stixel[x][0].disparity = 0;
        t.scan[x].free = disparity_at(4);
    }
    for (int i = 0; i < 3; i++)
        next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
}

/* After exactly its time, a cell is still there. */
static void memory_lasts_to_the_millisecond(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        see_ground(4);
        see_thing(70, 90, 2, 0.6);
        for (int x = 70; x <= 90; x++)
            t.stixel[x][0].label = 7;
        t.frame.obstacle_count = 1;
        t.frame.obstacle[0] = (struct plx_obstacle){.label = 7, .moving = (uint32_t)moving};
        next(0);
        next(0);
        memset(t.scan, 0, sizeof t.scan);
        memset(t.stixel, 0, sizeof t.stixel);
        t.capture_ns += (moving ? 500 : 5000) * PLX_NS_PER_MS - PERIOD_NS;
        next(0);
        expect(2.0, 0, PLX_CELL_OCCUPIED);
        t.capture_ns += PLX_NS_PER_MS - PERIOD_NS;
        next(0);
        assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    }
}

/* So is a free one. */
static void what_was_free_is_unknown_after_its_time(void **state)
{
    (void)state;
    see_ground(4);
    for (int i = 0; i < 3; i++)
        next(0);
    see_nothing();
    t.capture_ns += 5000 * PLX_NS_PER_MS - PERIOD_NS;
    next(0);
    expect(1.5, 0, PLX_CELL_FREE);
    t.capture_ns += PLX_NS_PER_MS - PERIOD_NS;
    next(0);
    expect(1.5, 0, PLX_CELL_UNKNOWN);
}

/* The camera looks at the farthest corner of the map, which is the first cell in memory. */
static void the_corner_of_the_map_is_a_cell_as_any(void **state)
{
    (void)state;
    plx_mount_info(&(struct plx_mount){.z_m = CAMERA_M, .yaw_deg = -135}, &t.frame.ground, &t.frame.mount);
    see_ground(9);
    for (int i = 0; i < 3; i++)
        next(0);
    assert_int_equal(t.cell[0][0].kind, PLX_CELL_FREE);
    memset(t.scan, 0, sizeof t.scan);
    t.capture_ns += 5 * PLX_NS_PER_S;
    next(0);
    assert_int_equal(t.cell[0][0].kind, PLX_CELL_UNKNOWN);
}

/* Cells whose middle lies on the robot's outline are the robot's. */
static void the_outline_belongs_to_the_robot(void **state)
{
    (void)state;
    static const double cells[][3] = {{7.5, 3.5, 9}, {2.5, 9.5, 3}, {0.5, 0.5, 25}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        plx_local_map_destroy(t.map);
        const struct plx_map_params params = {.memory_s = 5,
                                              .front_m = cells[i][0] * PLX_MAP_CELL_M,
                                              .back_m = cells[i][1] * PLX_MAP_CELL_M,
                                              .width_m = cells[i][2] * PLX_MAP_CELL_M};
        assert_int_equal(plx_local_map_create(&params, &t.map), 0);
        t.frame.motion.valid = 0;
        next(0);
        assert_int_equal(count(PLX_CELL_FREE), (int)((cells[i][0] + cells[i][1] + 1) * (cells[i][2] + 1)));
    }
}

/* A mount is a rotation: whatever way the camera looks, some axis of it says so. */
static void a_camera_may_look_anywhere(void **state)
{
    (void)state;
    static const double looks[][9] = {{1, 0, 0, 0, 0, 1, 0, -1, 0}, {0, 1, 0, -1, 0, 0, 0, 0, 1}, {0, 0, 1, 0, 1, 0, -1, 0, 0}};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        memcpy(t.frame.mount.base_from_left.rotation, looks[i], sizeof looks[i]);
        next(0);
        assert_true(t.frame.map.valid);
    }
}

/* Nothing is remembered over a time without a mount, or from a frame of the same time. */
static void a_break_of_the_mount_or_the_time_ends_the_memory(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    next(0);
    next(0);
    const struct plx_mount_info mount = t.frame.mount;
    memset(&t.frame.mount, 0, sizeof t.frame.mount);
    memset(t.cell, 0xFF, sizeof t.cell);
    next(0);
    for (int i = 0; i < PLX_MAP_CELLS * PLX_MAP_CELLS; i++) {
        const struct plx_cell *cell = &t.cell[i / PLX_MAP_CELLS][i % PLX_MAP_CELLS], none = {0};
        assert_memory_equal(cell, &none, sizeof none);
    }
    t.frame.mount = mount;
    next(0);
    assert_int_equal(t.frame.map.remembers, 0);
    next(0);
    assert_int_equal(t.frame.map.remembers, 1);
    t.capture_ns -= PERIOD_NS;
    next(0);
    assert_int_equal(t.frame.map.remembers, 0);
}

/* A drive of 20 m in a circle: every whole number stays within the plane. */
static void a_long_way_stays_inside(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(10, 20, 3, 1);
    for (int i = 0; i < 400; i++) {
        next(i % 100 == 99 ? 30 : 0.05); /* also farther than the window */
        assert_true(t.frame.map.valid);
        const double middle = (t.frame.map.origin_x + PLX_MAP_CELLS / 2) * PLX_MAP_CELL_M;
        assert_true(fabs(middle - t.frame.map.x_m) <= PLX_MAP_CELL_M);
    }
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_thing_stands_where_it_is),
        CASE(it_stays_where_it_is_when_the_robot_drives),
        CASE(a_robot_that_turned_sees_the_thing_beside_it),
        CASE(what_went_away_is_gone_after_three_looks),
        CASE(a_free_cell_needs_two_looks_to_be_occupied),
        CASE(what_is_not_seen_is_forgotten),
        CASE(what_stands_out_of_view_is_never_forgotten),
        CASE(what_leaves_the_view_half_seen_free_is_lost),
        CASE(after_another_map_all_is_lost),
        CASE(a_doubtful_motion_moves_nothing),
        CASE(a_far_stixel_does_not_hide_the_next_one),
        CASE(what_moves_is_forgotten_soon),
        CASE(a_drop_is_a_kind_of_its_own),
        CASE(something_low_needs_more_looks),
        CASE(without_motion_it_holds_the_present_frame),
        CASE(motion_that_was_lost_ends_the_memory),
        CASE(the_robot_is_cut_out),
        CASE(blind_frames_add_nothing),
        CASE(an_extent_widens_at_once_and_narrows_slowly),
        CASE(memory_lasts_to_the_millisecond),
        CASE(what_was_free_is_unknown_after_its_time),
        CASE(the_corner_of_the_map_is_a_cell_as_any),
        CASE(the_outline_belongs_to_the_robot),
        CASE(a_camera_may_look_anywhere),
        CASE(a_break_of_the_mount_or_the_time_ends_the_memory),
        CASE(a_long_way_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
