/* SPDX-License-Identifier: Apache-2.0 */
/* Zones beside plain ones: which points they hold, what the camera sees of them, and what a map says that lies askew to them.
 */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/geometry/mount.h"
#include "core/motion/pose.h"
#include "core/verdict/zones.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define WIDTH 322 /* the last column is narrower */
#define HEIGHT 200
#define COLUMNS ((WIDTH + PLX_COLUMN_WIDTH - 1) / PLX_COLUMN_WIDTH)
#define FX 140.0
#define FY 150.0
#define CX 150.25
#define CY 95.75
#define POINT_M 0.025
#define HALF (PLX_ZONE_REACH_M / POINT_M) /* points from the robot to the border */
#define PERIOD_NS (50 * PLX_NS_PER_MS)

static struct {
    uint64_t random;
    struct plx_zone_list list;
    struct plx_zone_view view;
    struct plx_zones *zones;
    struct plx_map_info map;
    struct plx_scan scan[COLUMNS];
    struct plx_cell cell[PLX_MAP_CELLS][PLX_MAP_CELLS];
    struct plx_zone_info info[PLX_MAX_ZONES];
    int64_t capture_ns;
} t;

static double between(double low, double high)
{
    return low + (high - low) * random_below(&t.random, 1000001) / 1e6;
}

static int setup(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    t.random = test_seed();
    t.capture_ns = PLX_NS_PER_S;
    return 0;
}

/* --- plain zones ---------------------------------------------------------------------------------------------------------- */

/* Corners of a convex polygon, counter-clockwise on an ellipse; none of its edges runs along the raster. */
static void draw(struct plx_zone *zone, double x, double y, double radius_x, double radius_y)
{
    const double begin = between(0, 1);
    zone->points = 3 + (int)random_below(&t.random, PLX_ZONE_POINTS - 2);
    for (int i = 0; i < zone->points; i++) {
        const double angle = begin + 2 * acos(-1) * i / zone->points;
        zone->polygon[i][0] = (float)(x + radius_x * cos(angle));
        zone->polygon[i][1] = (float)(y + radius_y * sin(angle));
    }
}

/* A point of a convex polygon lies to the left of every edge. */
static bool is_inside(const struct plx_zone *zone, double x, double y)
{
    for (int i = 0; i < zone->points; i++) {
        const float *a = zone->polygon[i], *b = zone->polygon[(i + 1) % zone->points];
        if (((double)b[0] - (double)a[0]) * (y - (double)a[1]) < ((double)b[1] - (double)a[1]) * (x - (double)a[0]))
            return false;
    }
    return true;
}

/* The column of the scan in which the camera sees the ground at X, Y; -1: it does not see that place. */
static int column_of(double x, double y)
{
    struct plx_pose left_from_base;
    double point[3];
    const struct plx_map_params *robot = &t.view.robot;
    const bool ahead = x < robot->front_m + POINT_M / 2 && x > -robot->back_m - POINT_M / 2;
    if (ahead && fabs(y) < robot->width_m / 2 + POINT_M / 2 && robot->width_m > 0) /* the robot itself covers it */
        return -1;
    plx_pose_invert(&t.view.base_from_left, &left_from_base);
    plx_pose_apply(&left_from_base, (double[3]){x, y, 0}, point);
    if (point[2] <= 0 || point[2] < (double)t.view.blind_within_m)
        return -1;
    const double u = FX * point[0] / point[2] + CX, v = FY * point[1] / point[2] + CY;
    const bool in_picture = u >= -0.5 && u < WIDTH - 0.5 && v >= -0.5 && v < HEIGHT - 0.5;
    return in_picture ? (int)floor((u + 0.5) / 4) : -1;
}

/* The nearest point of the raster; false: there is none, as X, Y is beyond its border. */
static bool snap(double x, double y, double *ret_x, double *ret_y)
{
    const double column = round(x / POINT_M), row = round(y / POINT_M);
    *ret_x = (column + HALF) * POINT_M - PLX_ZONE_REACH_M;
    *ret_y = (row + HALF) * POINT_M - PLX_ZONE_REACH_M;
    return fabs(column) <= HALF && fabs(row) <= HALF;
}

/* --- random scenes -------------------------------------------------------------------------------------------------------- */

static void make_zones(void)
{
    const struct plx_mount mount = {.x_m = between(-0.3, 0.3),
                                    .y_m = between(-0.3, 0.3),
                                    .z_m = between(0.2, 1.2),
                                    .roll_deg = between(-25, 25),
                                    .pitch_deg = between(-5, 60),
                                    .yaw_deg = between(-180, 180)};
    const struct plx_ground_info none = {0};
    struct plx_mount_info info;
    plx_mount_info(&mount, &none, &info);
    t.view = (struct plx_zone_view){
        info.base_from_left,
        {FX, FY, CX, CY, CX, 0.1},
        WIDTH,
        HEIGHT,
        (float)between(0, 1.5),
        {.front_m = between(0, 1), .back_m = between(0, 1), .width_m = between(0, 1)},
    };
    t.list.count = PLX_MAX_ZONES;
    for (int i = 0; i < PLX_MAX_ZONES; i++) {
        struct plx_zone *zone = &t.list.zone[i];
        *zone = (struct plx_zone){.frames = 1,
                                  .max_speed_mps = 100,
                                  .min_height_m = random_below(&t.random, 20) * PLX_CELL_HEIGHT_M,
                                  .max_height_m = (20 + random_below(&t.random, 60)) * PLX_CELL_HEIGHT_M,
                                  .occupied = (enum plx_verdict_kind)random_below(&t.random, 3),
                                  .unknown = (enum plx_verdict_kind)random_below(&t.random, 3),
                                  .max_unknown = random_below(&t.random, 3) * 0.5,
                                  .min_depth = random_below(&t.random, 3) * 0.5};
        zone->name[0] = (char)('a' + i);
        if (i % 4 == 3) /* hardly a point, which no cell may hit */
            draw(zone, between(-3, 3), between(-3, 3), 0.02, 0.02);
        else
            draw(zone, between(-3, 3), between(-3, 3), between(0.2, 2), between(0.2, 2));
    }
    assert_int_equal(plx_zones_create(&t.list, &t.view, &t.zones), 0);
}

static void make_map(void)
{
    t.map =
        (struct plx_map_info){.valid = 1, .x_m = between(-20, 20), .y_m = between(-20, 20), .yaw_rad = between(-3.14, 3.14)};
    t.map.origin_x = (int)floor(t.map.x_m / PLX_MAP_CELL_M) - PLX_MAP_CELLS / 2;
    t.map.origin_y = (int)floor(t.map.y_m / PLX_MAP_CELL_M) - PLX_MAP_CELLS / 2;
    const uint32_t busy = random_below(&t.random, 4) * 20, unknown = random_below(&t.random, 4) * 300;
    for (int i = 0; i < PLX_MAP_CELLS * PLX_MAP_CELLS; i++) {
        const uint32_t foot = random_below(&t.random, 90), chance = random_below(&t.random, 1000);
        t.cell[i / PLX_MAP_CELLS][i % PLX_MAP_CELLS] =
            (struct plx_cell){.kind = (uint8_t)(chance < busy                 ? PLX_CELL_OCCUPIED
                                                : chance < busy + busy / 8    ? PLX_CELL_DROP
                                                : chance < busy + unknown / 9 ? PLX_CELL_LOST
                                                : chance < busy + unknown     ? PLX_CELL_UNKNOWN
                                                                              : PLX_CELL_FREE),
                              .foot = (uint8_t)foot,
                              .top = (uint8_t)(foot + random_below(&t.random, 20))};
    }
    uint16_t known = 0;
    for (int x = 0; x < COLUMNS; x++) {
        if (random_below(&t.random, 10) == 0)
            known = (uint16_t)random_below(&t.random, 8);
        t.scan[x].known = known;
    }
}

/* Often enough for what was seen before to be over. */
static void update(double speed)
{
    const struct plx_image cells = {t.cell, PLX_MAP_CELLS, PLX_MAP_CELLS, sizeof t.cell[0], PLX_U32},
                           scan = {t.scan, COLUMNS, 1, sizeof t.scan, PLX_U64};
    for (int i = 0; i < 4; i++) {
        t.capture_ns += PERIOD_NS;
        plx_zones_update(t.zones, &t.map, &cells, &scan, speed, t.capture_ns, t.info);
    }
}

/* --- both ----------------------------------------------------------------------------------------------------------------- */

static void check_points(void)
{
    int points[PLX_MAX_ZONES] = {0}, visible[PLX_MAX_ZONES] = {0};
    for (double row = -HALF; row <= HALF; row++)
        for (double column = -HALF; column <= HALF; column++) {
            double x, y;
            bool seen;
            assert_true(snap(column * POINT_M, row * POINT_M, &x, &y));
            const uint16_t mask = plx_zones_at(t.zones, column * POINT_M, row * POINT_M, &seen);
            if (seen != (column_of(x, y) >= 0))
                fail_msg("at %g, %g: seen %d", x, y, seen);
            for (int i = 0; i < PLX_MAX_ZONES; i++) {
                const bool inside = is_inside(&t.list.zone[i], x, y);
                if ((mask >> i & 1) != inside)
                    fail_msg("at %g, %g: zone %d, expected %d", x, y, i, inside);
                points[i] += inside;
                visible[i] += inside && seen;
            }
        }
    for (int i = 0; i < PLX_MAX_ZONES; i++) {
        const double share = points[i] ? (double)visible[i] / points[i] : 0;
        assert_true(plx_zones_visible(t.zones, i) == share);
    }
}

/* Share of the columns between the first and the last towards ZONE that show depth. */
static double plain_depth(const struct plx_zone *zone)
{
    int first = COLUMNS, last = -1, known = 0;
    for (double row = -HALF; row <= HALF; row++)
        for (double column = -HALF; column <= HALF; column++) {
            double x, y;
            snap(column * POINT_M, row * POINT_M, &x, &y);
            const int at = is_inside(zone, x, y) ? column_of(x, y) : -1;
            if (at < 0)
                continue;
            first = at < first ? at : first;
            last = at > last ? at : last;
        }
    for (int x = first; x <= last; x++)
        known += t.scan[x].known & 1;
    return last < 0 ? 0 : (double)known / (last - first + 1);
}

static void check_zone(int index)
{
    const struct plx_zone *zone = &t.list.zone[index];
    const struct plx_zone_info *info = &t.info[index];
    int occupied = 0, drops = 0, visible_cells = 0, wanted = 0, unknown = 0;
    double nearest = (double)INFINITY;
    for (int row = 0; row < PLX_MAP_CELLS && t.map.valid; row++)
        for (int column = 0; column < PLX_MAP_CELLS; column++) {
            const struct plx_cell *cell = &t.cell[row][column];
            const double map_x = (t.map.origin_x + column + 0.5) * PLX_MAP_CELL_M - t.map.x_m,
                         map_y = (t.map.origin_y + row + 0.5) * PLX_MAP_CELL_M - t.map.y_m;
            const double c = cos(t.map.yaw_rad), s = sin(t.map.yaw_rad);
            double x, y;
            if (!snap(c * map_x + s * map_y, c * map_y - s * map_x, &x, &y) || !is_inside(zone, x, y))
                continue;
            const bool stands = cell->kind == PLX_CELL_OCCUPIED && cell->top * PLX_CELL_HEIGHT_M >= zone->min_height_m &&
                                cell->foot * PLX_CELL_HEIGHT_M <= zone->max_height_m;
            const bool falls = cell->kind == PLX_CELL_DROP, seen = column_of(x, y) >= 0;
            occupied += stands;
            drops += falls;
            const bool lost = cell->kind == PLX_CELL_LOST; /* counts wherever it lies */
            visible_cells += seen;
            wanted += seen || lost;
            unknown += (seen && cell->kind == PLX_CELL_UNKNOWN) || lost;
            if (stands || falls)
                nearest = fmin(nearest, hypot(map_x, map_y));
        }
    const double share = wanted ? (double)unknown / wanted : 1, depth = plain_depth(zone);
    const uint32_t thing = (occupied ? PLX_REASON_OCCUPIED : 0) | (drops ? PLX_REASON_DROP : 0),
                   blind = (!visible_cells || share > zone->max_unknown ? PLX_REASON_UNKNOWN : 0) |
                           (depth < zone->min_depth ? PLX_REASON_LITTLE_DEPTH : 0);
    enum plx_verdict_kind verdict = PLX_VERDICT_GO;
    if (thing && zone->occupied < verdict)
        verdict = zone->occupied;
    if (blind && zone->unknown < verdict)
        verdict = zone->unknown;
    if (info->reasons != (thing | blind) || info->verdict != verdict)
        fail_msg("zone %d: reasons %x, verdict %d; expected %x, %d", index, info->reasons, (int)info->verdict, thing | blind,
                 (int)verdict);
    assert_true(info->known == (float)(1 - share) && info->depth == (float)depth);
    assert_true(isinf(nearest) ? isinf(info->nearest_m) : fabs((double)info->nearest_m - nearest) < 1e-6);
    assert_string_equal(info->name, zone->name);
    assert_int_equal(info->points, zone->points);
    assert_memory_equal(info->polygon, zone->polygon, sizeof zone->polygon);
    assert_int_equal(info->active, 1);
}

static void random_scenes(void **state)
{
    (void)state;
    for (int scene = 0; scene < 6; scene++) {
        make_zones();
        make_map();
        t.map.valid = scene != 5; /* without a map all is unknown */
        check_points();
        update((double)NAN);
        for (int i = 0; i < PLX_MAX_ZONES; i++)
            check_zone(i);
        plx_zones_destroy(t.zones);
    }
}

/* Sixteen zones, each of which covers more than the raster: nothing beyond its border belongs to any of them. */
static void make_wide_zones(void)
{
    make_zones();
    plx_zones_destroy(t.zones);
    /* From 50 m above it sees all of the ground. */
    t.view.robot = (struct plx_map_params){.width_m = 0};
    t.view.base_from_left = (struct plx_pose){{0, -1, 0, -1, 0, 0, 0, 0, -1}, {0, 0, 50}};
    for (int i = 0; i < PLX_MAX_ZONES; i++) {
        static const float square[4][2] = {{-6, -6}, {6, -6}, {6, 6}, {-6, 6}};
        t.list.zone[i].points = 4;
        memset(t.list.zone[i].polygon, 0, sizeof t.list.zone[i].polygon);
        memcpy(t.list.zone[i].polygon, square, sizeof square);
        t.list.zone[i].min_height_m = 0;
        t.list.zone[i].max_unknown = 1;
        t.list.zone[i].min_depth = 0;
    }
    assert_int_equal(plx_zones_create(&t.list, &t.view, &t.zones), 0);
}

static void what_is_beyond_the_raster_belongs_to_no_zone(void **state)
{
    (void)state;
    static const double rim[] = {-7.1, -5.0376, -5.0124, -5, 0, 5, 5.0124, 5.0126, 5.0376, 7.1, 1e3};
    make_wide_zones();
    for (size_t i = 0; i < sizeof rim / sizeof *rim; i++)
        for (double other = -5.2; other < 5.2; other += 0.0101)
            for (int axis = 0; axis < 2; axis++) {
                bool seen;
                const double x = axis ? other : rim[i], y = axis ? rim[i] : other;
                const bool inside = fabs(x) < 5.0125 && fabs(y) < 5.0125;
                assert_int_equal(plx_zones_at(t.zones, x, y, &seen), inside ? 0xFFFF : 0);
                assert_int_equal(seen, inside);
            }
    plx_zones_destroy(t.zones);
}

/* A map that is turned by 45 degrees has corners 7 m away. Only there something stands. */
static void corners_of_a_turned_map_belong_to_no_zone(void **state)
{
    (void)state;
    make_wide_zones();
    t.map = (struct plx_map_info){.valid = 1, .origin_x = -100, .origin_y = -100, .yaw_rad = acos(-1) / 4};
    int outside = 0;
    for (int row = 0; row < PLX_MAP_CELLS; row++)
        for (int column = 0; column < PLX_MAP_CELLS; column++) {
            const double x = (column - 99.5) * PLX_MAP_CELL_M, y = (row - 99.5) * PLX_MAP_CELL_M;
            const bool beyond = fmax(fabs(x + y), fabs(y - x)) * sqrt(0.5) > 5.0126;
            t.cell[row][column] = (struct plx_cell){.kind = beyond ? PLX_CELL_OCCUPIED : PLX_CELL_FREE, .top = 20};
            outside += beyond;
        }
    assert_true(outside > 1000);
    update((double)NAN);
    for (int i = 0; i < PLX_MAX_ZONES; i++) {
        assert_int_equal(t.info[i].reasons, 0);
        assert_true(isinf(t.info[i].nearest_m));
    }
    plx_zones_destroy(t.zones);
}

/* A zone around a single point of the raster, and one between its points; the map's cells are at odd points. */
static void zones_of_one_point_and_of_none(void **state)
{
    (void)state;
    make_wide_zones();
    plx_zones_destroy(t.zones);
    for (int i = 0; i < 2; i++) {
        const float at = i ? 0.9875F : 0.975F;
        const float triangle[3][2] = {{at - 0.005F, at - 0.005F}, {at + 0.005F, at - 0.005F}, {at, at + 0.005F}};
        t.list.zone[i].points = 3;
        memset(t.list.zone[i].polygon, 0, sizeof t.list.zone[i].polygon);
        memcpy(t.list.zone[i].polygon, triangle, sizeof triangle);
    }
    assert_int_equal(plx_zones_create(&t.list, &t.view, &t.zones), 0);
    assert_true(plx_zones_visible(t.zones, 0) == 1 && plx_zones_visible(t.zones, 1) == 0);
    t.map = (struct plx_map_info){.valid = 1, .origin_x = -100, .origin_y = -100};
    for (int i = 0; i < PLX_MAP_CELLS * PLX_MAP_CELLS; i++)
        t.cell[i / PLX_MAP_CELLS][i % PLX_MAP_CELLS] = (struct plx_cell){.kind = PLX_CELL_FREE};
    for (int x = 0; x < COLUMNS; x++)
        t.scan[x].known = PLX_SCAN_KNOWN;
    update((double)NAN);
    assert_true(t.info[0].known == 1 && t.info[0].depth == 1);
    assert_true(t.info[1].known == 0 && t.info[1].depth == 0); /* nothing says that it is free */
    plx_zones_destroy(t.zones);
}

/* A thing counts if its top reaches the lower limit exactly, and its foot the upper one; the raster's first point counts. */
static void limits_belong_to_the_range(void **state)
{
    (void)state;
    static const struct {
        uint8_t foot, top;
        bool counts;
    } cases[] = {{0, 4, false}, {0, 5, true}, {40, 40, true}, {41, 41, false}, {0, 255, true}, {40, 50, true}};
    make_wide_zones();
    plx_zones_destroy(t.zones);
    for (int i = 0; i < PLX_MAX_ZONES; i++) {
        t.list.zone[i].min_height_m = 5 * PLX_CELL_HEIGHT_M;
        t.list.zone[i].max_height_m = 40 * PLX_CELL_HEIGHT_M;
    }
    assert_int_equal(plx_zones_create(&t.list, &t.view, &t.zones), 0);
    t.map = (struct plx_map_info){.valid = 1, .origin_x = -100, .origin_y = -100, .x_m = 0.02, .y_m = 0.02};
    for (int i = 0; i < PLX_MAP_CELLS * PLX_MAP_CELLS; i++)
        t.cell[i / PLX_MAP_CELLS][i % PLX_MAP_CELLS] = (struct plx_cell){.kind = PLX_CELL_FREE};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        t.cell[0][0] = (struct plx_cell){.kind = PLX_CELL_OCCUPIED, .foot = cases[i].foot, .top = cases[i].top};
        update((double)NAN);
        for (int k = 0; k < PLX_MAX_ZONES; k++)
            assert_int_equal(t.info[k].reasons, cases[i].counts ? PLX_REASON_OCCUPIED : 0);
    }
    plx_zones_destroy(t.zones);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_scenes, setup),
        cmocka_unit_test_setup(what_is_beyond_the_raster_belongs_to_no_zone, setup),
        cmocka_unit_test_setup(corners_of_a_turned_map_belong_to_no_zone, setup),
        cmocka_unit_test_setup(zones_of_one_point_and_of_none, setup),
        cmocka_unit_test_setup(limits_belong_to_the_range, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
