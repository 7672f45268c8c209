/* SPDX-License-Identifier: Apache-2.0 */
/* Zones on a map made by hand, and the verdict from zones and faults. */
#include "core/verdict/verdict.h"
#include "core/verdict/zones.h"

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/geometry/mount.h"
#include "core/verdict/speed.h"
#include "tests/cmocka.h"

#define COLUMNS 160
#define PERIOD_NS (50 * PLX_NS_PER_MS)

static struct {
    struct plx_zone_list list;
    struct plx_map_params robot;
    struct plx_zones *zones;
    struct plx_frame frame;
    struct plx_scan scan[COLUMNS];
    struct plx_cell cell[PLX_MAP_CELLS][PLX_MAP_CELLS];
    double speed;
    int64_t capture_ns;
} t;

/* A zone from 1 to 2 m ahead, 1 m wide. */
static const struct plx_zone front = {
    .name = "front",
    .points = 4,
    .polygon = {{1, -0.5F}, {2, -0.5F}, {2, 0.5F}, {1, 0.5F}},
    .min_height_m = 0.05,
    .max_height_m = 1.5,
    .max_speed_mps = 100,
    .frames = 2,
    .clear_s = 0.5,
    .occupied = PLX_VERDICT_STOP,
    .unknown = PLX_VERDICT_SLOW,
    .max_unknown = 0.3,
    .min_depth = 0.5,
};

static void create(void)
{
    struct plx_mount_info mount;
    const struct plx_ground_info none = {0};
    plx_mount_info(&(struct plx_mount){.z_m = 0.5, .pitch_deg = 10}, &none, &mount);
    const struct plx_zone_view view = {
        mount.base_from_left, {500, 500, 319.5, 239.5, 319.5, 0.1}, 640, 480, 0.3F, t.robot,
    };
    assert_int_equal(plx_zones_create(&t.list, &view, &t.zones), 0);
}

/* All of the map is free, and all columns show depth. */
static void make_world(void)
{
    memset(&t, 0, sizeof t);
    t.list.count = 1;
    t.list.zone[0] = front;
    t.frame.map = (struct plx_map_info){.valid = 1, .remembers = 1, .origin_x = -100, .origin_y = -100};
    t.capture_ns = PLX_NS_PER_S;
    for (int row = 0; row < PLX_MAP_CELLS; row++)
        for (int column = 0; column < PLX_MAP_CELLS; column++)
            t.cell[row][column].kind = PLX_CELL_FREE;
    for (int x = 0; x < COLUMNS; x++)
        t.scan[x].known = PLX_SCAN_KNOWN;
    create();
}

static int teardown(void **state)
{
    (void)state;
    plx_zones_destroy(t.zones);
    return 0;
}

static struct plx_cell *at(double x, double y)
{
    return &t.cell[(int)floor(y / PLX_MAP_CELL_M) - t.frame.map.origin_y]
                  [(int)floor(x / PLX_MAP_CELL_M) - t.frame.map.origin_x];
}

static void next(void)
{
    const struct plx_image cells = {t.cell, PLX_MAP_CELLS, PLX_MAP_CELLS, sizeof t.cell[0], PLX_U32},
                           scan = {t.scan, COLUMNS, 1, sizeof t.scan, PLX_U64};
    const struct plx_verdict_params params = {.stop_flags = PLX_HEALTH_FROZEN | PLX_HEALTH_LATE,
                                              .slow_flags = PLX_HEALTH_OVERLOAD | PLX_HEALTH_LATE};
    t.capture_ns += PERIOD_NS;
    t.frame.verdict.speed_mps = (float)t.speed;
    plx_zones_update(t.zones, &t.frame.map, &cells, &scan, t.speed, t.capture_ns, t.frame.zone);
    plx_verdict_decide(&params, 0, PERIOD_NS, &t.frame);
}

static void run(int frames)
{
    for (int i = 0; i < frames; i++)
        next();
}

/* Until clear_s of the zones is over. */
static int setup(void **state)
{
    (void)state;
    make_world();
    run(11);
    return 0;
}

static int setup_new(void **state)
{
    (void)state;
    make_world();
    return 0;
}

static void expect(enum plx_verdict_kind verdict, uint32_t reasons)
{
    assert_int_equal(t.frame.verdict.verdict, verdict);
    assert_int_equal(t.frame.verdict.reasons, reasons);
}

static void a_free_zone_is_go(void **state)
{
    (void)state;
    run(3);
    expect(PLX_VERDICT_GO, 0);
    assert_int_equal(t.frame.verdict.zone, -1);
    assert_true(isinf(t.frame.verdict.distance_m));
    assert_int_equal(t.frame.verdict.valid_ns, 2 * PERIOD_NS + 100 * PLX_NS_PER_MS);
    assert_string_equal(t.frame.zone[0].name, "front");
    assert_int_equal(t.frame.zone[0].points, 4);
    assert_true(t.frame.zone[0].known > 0.999F && t.frame.zone[0].depth > 0.999F);
    assert_true(plx_zones_visible(t.zones, 0) > 0.99);
}

/* What nobody has looked at for long enough is not free, whatever the first frames show. */
static void a_new_zone_demands_the_worst_until_it_is_settled(void **state)
{
    (void)state;
    run(10); /* 0.45 s from the first to the last */
    expect(PLX_VERDICT_STOP, PLX_REASON_SETTLING);
    assert_int_equal(t.frame.verdict.zone, 0);
    assert_int_equal(t.frame.zone[0].verdict, PLX_VERDICT_STOP);
    next(); /* 0.5 s */
    expect(PLX_VERDICT_GO, 0);
}

static void a_zone_of_many_frames_settles_after_one_more(void **state)
{
    (void)state;
    t.list.zone[0].frames = PLX_ZONE_FRAMES;
    t.list.zone[0].clear_s = 0;
    t.list.zone[0].occupied = PLX_VERDICT_SLOW; /* the stricter of both demands holds */
    t.list.zone[0].unknown = PLX_VERDICT_STOP;
    plx_zones_destroy(t.zones);
    create();
    run(PLX_ZONE_FRAMES);
    expect(PLX_VERDICT_STOP, PLX_REASON_SETTLING);
    next();
    expect(PLX_VERDICT_GO, 0);
    run(100);
    expect(PLX_VERDICT_GO, 0);
}

/* A zone that does not care for the unknown still may be occupied, as far as its first frames know. */
static void what_settles_is_no_mere_unknown(void **state)
{
    (void)state;
    t.list.zone[0].unknown = PLX_VERDICT_GO;
    t.list.zone[0].occupied = PLX_VERDICT_SLOW;
    plx_zones_destroy(t.zones);
    create();
    next();
    expect(PLX_VERDICT_SLOW, PLX_REASON_SETTLING);
}

static void one_cell_trips_after_its_frames_and_clears_after_its_time(void **state)
{
    (void)state;
    *at(1.52, 0.02) = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .top = 20};
    next();
    expect(PLX_VERDICT_GO, 0); /* one frame of two */
    next();
    expect(PLX_VERDICT_STOP, PLX_REASON_OCCUPIED);
    assert_int_equal(t.frame.verdict.zone, 0);
    assert_true(fabs((double)t.frame.verdict.distance_m - 1.525) < 0.03);
    at(1.52, 0.02)->kind = PLX_CELL_FREE;
    run(9); /* 0.45 s */
    expect(PLX_VERDICT_STOP, PLX_REASON_OCCUPIED);
    next();
    expect(PLX_VERDICT_GO, 0);
}

/* In one frame of two the cell is there: 2 of the last 3 trip it, and it does not clear. */
static void a_cell_that_flickers_trips(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        *at(1.52, 0) = (struct plx_cell){.kind = i % 2 ? PLX_CELL_FREE : PLX_CELL_OCCUPIED, .top = 20};
        next();
        assert_int_equal(t.frame.verdict.verdict, i < 2 ? PLX_VERDICT_GO : PLX_VERDICT_STOP);
    }
}

static void only_its_own_cells_count(void **state)
{
    (void)state;
    const double outside[][2] = {{0.92, 0}, {2.08, 0}, {1.5, 0.58}, {1.5, -0.58}};
    for (int i = 0; i < 4; i++)
        *at(outside[i][0], outside[i][1]) = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .top = 20};
    run(5);
    expect(PLX_VERDICT_GO, 0);
    *at(1.5, 0) = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .top = 2};              /* 4 cm high */
    *at(1.6, 0) = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .foot = 76, .top = 90}; /* 1.52 m above the ground */
    run(5);
    expect(PLX_VERDICT_GO, 0);
    at(1.6, 0)->foot = 74;
    run(5);
    expect(PLX_VERDICT_STOP, PLX_REASON_OCCUPIED);
}

/* The robot has driven 10 m and turned by 90 degrees: the zone goes with it. */
static void the_zone_moves_with_the_robot(void **state)
{
    (void)state;
    t.frame.map.x_m = 10;
    t.frame.map.yaw_rad = acos(-1) / 2;
    t.frame.map.origin_x = 100;
    *at(11.5, 0) = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .top = 20};
    run(3);
    expect(PLX_VERDICT_GO, 0);
    *at(10, 1.5) = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .top = 20};
    run(3);
    expect(PLX_VERDICT_STOP, PLX_REASON_OCCUPIED);
}

static void a_drop_counts_at_any_height(void **state)
{
    (void)state;
    t.frame.zone[0].reasons = 0;
    at(1.9, 0.4)->kind = PLX_CELL_DROP;
    run(2);
    expect(PLX_VERDICT_STOP, PLX_REASON_DROP);
}

/* The map calls the robot's own place free: no reason to call the zone known. */
static void what_the_robot_covers_does_not_count_as_seen(void **state)
{
    (void)state;
    t.robot = (struct plx_map_params){.front_m = 1.5, .back_m = 0.3, .width_m = 1.2};
    plx_zones_destroy(t.zones);
    create();
    assert_true(fabs(plx_zones_visible(t.zones, 0) - 0.5) < 0.03);
    for (double y = -0.48; y < 0.5; y += PLX_MAP_CELL_M)
        for (double x = 1.52; x < 1.75; x += PLX_MAP_CELL_M)
            at(x, y)->kind = PLX_CELL_UNKNOWN;
    run(11);
    expect(PLX_VERDICT_SLOW, PLX_REASON_UNKNOWN); /* a quarter of the zone, half of what is seen of it */
    t.robot.front_m = 2;
    plx_zones_destroy(t.zones);
    create();
    run(11);
    expect(PLX_VERDICT_SLOW, PLX_REASON_UNKNOWN | PLX_REASON_LITTLE_DEPTH);
    assert_true(plx_zones_visible(t.zones, 0) == 0 && t.frame.zone[0].known == 0);
}

/* Limits that any share keeps do not make a zone free of which nothing can be seen. */
static void a_zone_behind_the_camera_is_not_go(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        t.list.zone[0].polygon[i][0] -= 4;
    t.list.zone[0].max_unknown = 1;
    t.list.zone[0].min_depth = 0;
    plx_zones_destroy(t.zones);
    create();
    run(20);
    expect(PLX_VERDICT_SLOW, PLX_REASON_UNKNOWN);
}

static void what_is_unknown_has_its_own_demand(void **state)
{
    (void)state;
    for (double x = 1.02; x < 1.35; x += PLX_MAP_CELL_M)
        for (double y = -0.48; y < 0.5; y += PLX_MAP_CELL_M)
            at(x, y)->kind = PLX_CELL_UNKNOWN;
    run(3);
    expect(PLX_VERDICT_SLOW, PLX_REASON_UNKNOWN); /* 35 %, of 30 % */
    assert_true(t.frame.zone[0].known > 0.62F && t.frame.zone[0].known < 0.68F);
    for (double y = -0.48; y < 0.5; y += PLX_MAP_CELL_M)
        at(1.02, y)->kind = at(1.07, y)->kind = PLX_CELL_FREE;
    run(12);
    expect(PLX_VERDICT_GO, 0);
}

/* Behind the camera nothing is asked of the cells, unless something stood there, or all that was known of them is lost. */
static void what_is_lost_counts_even_out_of_view(void **state)
{
    (void)state;
    plx_zones_destroy(t.zones);
    for (int i = 0; i < 4; i++)
        t.list.zone[0].polygon[i][0] = i == 0 || i == 3 ? -1 : 2; /* a third of it behind, and some below the picture */
    create();
    for (double x = -0.97; x < 0; x += PLX_MAP_CELL_M)
        for (double y = -0.48; y < 0.5; y += PLX_MAP_CELL_M)
            at(x, y)->kind = PLX_CELL_UNKNOWN;
    run(12);
    expect(PLX_VERDICT_GO, 0);
    for (double x = -0.97; x < 0; x += PLX_MAP_CELL_M)
        for (double y = -0.48; y < 0.5; y += PLX_MAP_CELL_M)
            at(x, y)->kind = PLX_CELL_LOST;
    run(2);
    expect(PLX_VERDICT_SLOW, PLX_REASON_UNKNOWN);
}

static void little_depth_counts_towards_the_zone_only(void **state)
{
    (void)state;
    for (int x = 0; x < 30; x++) /* far to the left */
        t.scan[x].known = t.scan[COLUMNS - 1 - x].known = 0;
    run(3);
    assert_true(t.frame.zone[0].depth < 1);
    for (int x = 40; x < 120; x++)
        t.scan[x].known = 0;
    run(3);
    expect(PLX_VERDICT_SLOW, PLX_REASON_LITTLE_DEPTH);
}

static void the_speed_chooses_the_zones(void **state)
{
    (void)state;
    plx_zones_destroy(t.zones);
    t.list.count = 2;
    t.list.zone[0].max_speed_mps = 0.5;
    t.list.zone[1] = front;
    strcpy(t.list.zone[1].name, "fast");
    t.list.zone[1].polygon[1][0] = t.list.zone[1].polygon[2][0] = 4;
    t.list.zone[1].min_speed_mps = 0.5;
    t.list.zone[1].max_speed_mps = 1;
    t.list.zone[1].occupied = PLX_VERDICT_SLOW;
    create();
    run(11);
    *at(3, 0) = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .top = 20};
    const struct {
        double speed;
        bool fast;
    } cases[] = {{0, false}, {0.4, false}, {0.6, true}, {5, true}, {(double)NAN, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        t.speed = cases[i].speed;
        run(2);
        assert_int_equal(t.frame.verdict.verdict, cases[i].fast ? PLX_VERDICT_SLOW : PLX_VERDICT_GO);
        assert_int_equal(t.frame.verdict.zone, cases[i].fast ? 1 : -1);
        assert_int_equal(t.frame.zone[0].active, !cases[i].fast || isnan(cases[i].speed));
    }
    *at(1.5, 0) = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .top = 20};
    run(2); /* the speed is not known: both count, and the strictest decides */
    expect(PLX_VERDICT_STOP, PLX_REASON_OCCUPIED);
    assert_int_equal(t.frame.verdict.zone, 0);
}

static void faults_count_as_the_configuration_says(void **state)
{
    (void)state;
    const struct {
        uint32_t health, faults;
        enum plx_verdict_kind verdict;
    } cases[] = {
        {PLX_HEALTH_HOT, 0, PLX_VERDICT_GO},
        {PLX_HEALTH_OVERLOAD, PLX_HEALTH_OVERLOAD, PLX_VERDICT_SLOW},
        {PLX_HEALTH_FROZEN | PLX_HEALTH_HOT, PLX_HEALTH_FROZEN, PLX_VERDICT_STOP},
        {PLX_HEALTH_LATE, PLX_HEALTH_LATE, PLX_VERDICT_STOP}, /* in both lists */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        t.frame.health = cases[i].health;
        next();
        expect(cases[i].verdict, cases[i].faults ? PLX_REASON_FAULT : 0);
        assert_int_equal(t.frame.verdict.faults, cases[i].faults);
    }
}

static void without_map_or_zones_it_is_stop(void **state)
{
    (void)state;
    t.frame.map = (struct plx_map_info){.valid = 0};
    next();
    assert_int_equal(t.frame.verdict.verdict, PLX_VERDICT_STOP);
    assert_true(t.frame.verdict.reasons & PLX_REASON_NO_MAP);
    memset(t.frame.zone, 0, sizeof t.frame.zone);
    plx_verdict_decide(&(struct plx_verdict_params){0}, 0, 0, &t.frame);
    expect(PLX_VERDICT_STOP, PLX_REASON_NO_MAP | PLX_REASON_NO_ZONES);
    memset(&t.frame, 0, sizeof t.frame); /* memory that nobody has filled */
    assert_int_equal(t.frame.verdict.verdict, PLX_VERDICT_STOP);
}

static void the_speed_is_that_of_the_motion_else_of_the_hint(void **state)
{
    (void)state;
    struct plx_speed speed = {0};
    struct plx_motion_info motion = {.valid = 1, .interval_ns = PERIOD_NS, .motion.translation = {0.03, 0, 0.04}};
    int64_t now = PLX_NS_PER_S;
    assert_true(isnan(plx_speed_update(&speed, &(struct plx_motion_info){0}, now)));
    assert_true(fabs(plx_speed_update(&speed, &motion, now) - 1) < 1e-9);
    /* Noise of a robot that stands averages out, as it has no direction. */
    for (int i = 0; i < 40; i++) {
        motion.motion.translation[0] = i % 2 ? 0.002 : -0.002;
        motion.motion.translation[2] = 0;
        now += PERIOD_NS;
        plx_speed_update(&speed, &motion, now);
    }
    assert_true(plx_speed_update(&speed, &motion, now) < 0.02);
    motion.valid = 0;
    assert_false(isnan(plx_speed_update(&speed, &motion, now + PLX_NS_PER_S / 2)));
    assert_true(isnan(plx_speed_update(&speed, &motion, now + PLX_NS_PER_S)));
    plx_speed_hint(&speed,
                   &(struct plx_motion_hint){.from_ns = now, .to_ns = now + PLX_NS_PER_S, .motion.translation = {0, 0, 2}});
    assert_true(fabs(plx_speed_update(&speed, &motion, now + PLX_NS_PER_S) - 2) < 1e-9);
    assert_true(isnan(plx_speed_update(&speed, &motion, now + 2 * PLX_NS_PER_S)));
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
#define NEW_CASE(function) cmocka_unit_test_setup_teardown(function, setup_new, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_free_zone_is_go),
        NEW_CASE(a_new_zone_demands_the_worst_until_it_is_settled),
        NEW_CASE(a_zone_of_many_frames_settles_after_one_more),
        NEW_CASE(what_settles_is_no_mere_unknown),
        CASE(one_cell_trips_after_its_frames_and_clears_after_its_time),
        CASE(a_cell_that_flickers_trips),
        CASE(only_its_own_cells_count),
        CASE(the_zone_moves_with_the_robot),
        CASE(a_drop_counts_at_any_height),
        CASE(what_the_robot_covers_does_not_count_as_seen),
        CASE(a_zone_behind_the_camera_is_not_go),
        CASE(what_is_unknown_has_its_own_demand),
        CASE(what_is_lost_counts_even_out_of_view),
        CASE(little_depth_counts_towards_the_zone_only),
        CASE(the_speed_chooses_the_zones),
        CASE(faults_count_as_the_configuration_says),
        CASE(without_map_or_zones_it_is_stop),
        CASE(the_speed_is_that_of_the_motion_else_of_the_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
