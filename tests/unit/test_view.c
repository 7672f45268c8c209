/* SPDX-License-Identifier: Apache-2.0 */
/* Values that the client library computes from a frame: disparities, points, age. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <parallax/client.h>
#include <parallax/words.h>

#include "core/base/clock.h"
#include "tests/cmocka.h"

/* A box of columns 100 .. 131, so 2 columns a part; its right half is 2 m away, the part before 3 m, one part is open. */
static void an_outline_tells_where_a_thing_is_nearest(void **state)
{
    (void)state;
    static struct plx_frame frame = {.calibration = {.fx = 500, .fy = 500, .baseline_m = 0.12}, .obstacle_count = 2};
    const struct plx_view view = {.frame = &frame, .obstacle_count = 2};
    struct plx_obstacle *box = &frame.obstacle[0], *narrow = &frame.obstacle[1];

    *box = (struct plx_obstacle){.x = 100, .width = 32};
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
        box->outline[part] = part < 8 ? 320 : 480; /* 3 m, 2 m */
    box->outline[3] = 0;
    assert_true(plx_obstacle_nearest(&view, 0, 0, 640) == 2);
    assert_true(plx_obstacle_nearest(&view, 0, 0, 101) == 3);
    assert_true(plx_obstacle_nearest(&view, 0, 114, 2) == 3);
    assert_true(plx_obstacle_nearest(&view, 0, 115, 2) == 2);
    assert_true(plx_obstacle_nearest(&view, 0, 131, 1) == 2);
    assert_true(isinf(plx_obstacle_nearest(&view, 0, 106, 2))); /* what is open */
    assert_true(isinf(plx_obstacle_nearest(&view, 0, 0, 100))); /* beside it */
    assert_true(isinf(plx_obstacle_nearest(&view, 0, 132, 100)));
    assert_true(isinf(plx_obstacle_nearest(&view, 0, 110, 0)));
    assert_true(isinf(plx_obstacle_nearest(&view, 2, 0, 640)));
    assert_true(isinf(plx_obstacle_nearest(NULL, 0, 0, 640)));
    const struct plx_view empty = {.obstacle_count = 2}; /* after plx_release */
    assert_true(isinf(plx_obstacle_nearest(&empty, 0, 0, 640)));

    *narrow = (struct plx_obstacle){.x = -3, .width = 4, .outline = {[15] = 960}}; /* parts share columns */
    assert_true(plx_obstacle_nearest(&view, 1, 0, 1) == 1);
    assert_true(isinf(plx_obstacle_nearest(&view, 1, -3, 3)));
    *narrow = (struct plx_obstacle){.x = 0, .width = 1, .outline = {[0] = 1}}; /* as far as a disparity can say */
    assert_true(plx_obstacle_nearest(&view, 1, 0, 1) == 960);
    *narrow = (struct plx_obstacle){.x = INT32_MAX, .width = INT32_MAX, .outline = {1}}; /* as from damaged memory */
    assert_true(isinf(plx_obstacle_nearest(&view, 1, INT32_MIN, INT32_MAX)));
}

/* Drops in columns 10 to 12, the middle one at 2 m, else 3 m; ground beside them that is free up to 1 m. */
static void a_drop_tells_where_its_edge_is_nearest(void **state)
{
    (void)state;
    struct plx_scan scan[20];
    const struct plx_frame frame = {.calibration = {.fx = 500, .baseline_m = 0.12}};
    struct plx_view view = {.frame = &frame};
    for (int i = 0; i < 20; i++)
        scan[i] = i < 10 || i > 12 ? (struct plx_scan){0, 960, PLX_SCAN_KNOWN, 0}
                                   : (struct plx_scan){0, i == 11 ? 480 : 320, PLX_SCAN_KNOWN | PLX_SCAN_DROP, 0};
    assert_true(isinf(plx_drop_nearest(NULL, 0, 80)));
    assert_true(isinf(plx_drop_nearest(&view, 0, 80))); /* no scan */
    view.plane[PLX_PLANE_SCAN] = scan;
    view.layout[PLX_PLANE_SCAN].width = 20;
    assert_true(plx_drop_nearest(&view, 0, 80) == 2);
    assert_true(plx_drop_nearest(&view, INT32_MIN, INT32_MAX) == INFINITY);
    assert_true(plx_drop_nearest(&view, 47, 1) == 2);
    assert_true(plx_drop_nearest(&view, 48, INT32_MAX) == 3);
    assert_true(plx_drop_nearest(&view, 0, 41) == 3);
    assert_true(isinf(plx_drop_nearest(&view, 0, 40))); /* beside it */
    assert_true(isinf(plx_drop_nearest(&view, 52, 100)));
    assert_true(isinf(plx_drop_nearest(&view, 44, 0)));
    assert_true(isinf(plx_drop_nearest(&view, 46, 0))); /* nothing of a column is no part of it */
    scan[11].free = PLX_SCAN_NOTHING_FREE;              /* as from damaged memory */
    assert_true(plx_drop_nearest(&view, 0, 80) == 3);
}

static void points_are_triangulated(void **state)
{
    (void)state;
    uint16_t disparity[2][4] = {{16 * 10, 8, PLX_DISPARITY_INVALID, 0}, {16 * 20 + 4, 0, 0, 0}};
    struct plx_frame frame = {.calibration = {.fx = 500, .fy = 400, .cx = 1, .cy = 0.5, .cx_right = 1, .baseline_m = 0.12}};
    struct plx_view view = {.frame = &frame, .min_disparity = 2};
    view.plane[PLX_PLANE_DISPARITY] = disparity;
    view.layout[PLX_PLANE_DISPARITY] = (struct plx_plane){.pitch = 8, .width = 4, .height = 2, .element = 2};
    float point[3];
    assert_true(plx_disparity_px(&view, 0, 0) == 12.0f);
    assert_true(plx_disparity_px(&view, 1, 0) == 2.5f);
    assert_true(plx_disparity_px(&view, 0, 1) == 22.25f);
    assert_true(isnan(plx_disparity_px(&view, 2, 0)));
    assert_true(isnan(plx_disparity_px(&view, 4, 0)));
    assert_true(isnan(plx_disparity_px(&view, 0, 2)));
    assert_int_equal(plx_point(&view, 0, 0, point), 0);
    assert_true(fabs(point[2] - (500 * 0.12 / 12)) < 1e-6); /* z = f b / d */
    assert_true(fabsf(point[0] - ((0 - 1) * point[2] / 500)) < 1e-6f);
    assert_true(fabs(point[1] - ((0 - 0.5) * point[2] / 400)) < 1e-6);
    assert_int_equal(plx_point(&view, 2, 0, point), PLX_ERR_NOT_FOUND);

    frame.calibration.cx_right = -9; /* infinity lies at disparity cx - cx_right = 10 */
    assert_int_equal(plx_point(&view, 0, 0, point), 0);
    assert_true(fabs(point[2] - (500 * 0.12 / 2)) < 1e-5);
    assert_int_equal(plx_point(&view, 1, 0, point), PLX_ERR_NOT_FOUND); /* beyond it */
    view.min_disparity = 0;
    assert_int_equal(plx_point(&view, 0, 0, point), PLX_ERR_NOT_FOUND); /* at it */
}

/* A point of damaged memory is finite in all of its coordinates, or none. */
static void points_are_finite(void **state)
{
    (void)state;
    static const struct plx_calibration_info damaged[] = {
        {.fx = 500, .fy = 400, .cx = -1e300, .cy = 0, .cx_right = -1e300, .baseline_m = 0.12},
        {.fx = 500, .fy = 400, .cx = 0, .cy = -1e300, .cx_right = 0, .baseline_m = 0.12},
        {.fx = 500, .fy = 0, .cx = 0, .cy = 1, .cx_right = 0, .baseline_m = 0.12},
        {.fx = 500, .fy = 400, .cx = 0, .cy = 0, .cx_right = 0, .baseline_m = 1e300},
        {.fx = 500, .fy = 400, .cx = 0, .cy = 0, .cx_right = 0, .baseline_m = NAN},
        {.fx = 500, .fy = 400, .cx = 0, .cy = 0, .cx_right = 0, .baseline_m = -0.12},
    };
    uint16_t disparity = 160;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct plx_frame frame = {.calibration = damaged[i]};
        struct plx_view view = {.frame = &frame};
        float point[3] = {7, 7, 7};
        view.plane[PLX_PLANE_DISPARITY] = &disparity;
        view.layout[PLX_PLANE_DISPARITY] = (struct plx_plane){.pitch = 2, .width = 1, .height = 1, .element = 2};
        if (plx_point(&view, 0, 0, point) != PLX_ERR_NOT_FOUND)
            fail_msg("calibration %zu: %g, %g, %g", i, (double)point[0], (double)point[1], (double)point[2]);
        assert_true(point[0] == 7 && point[1] == 7 && point[2] == 7);
    }
}

#define ROWS 7
#define COLUMNS 513

/* All at once and one by one are the same, with padding, for every value there can be. */
static void clouds_are_made_of_points(void **state)
{
    (void)state;
    static uint16_t disparity[ROWS][COLUMNS + 3];
    static float depth[ROWS][COLUMNS + 5], cloud[ROWS][COLUMNS + 1][3];
    static const double right[] = {255.5, 250.3, 290};
    struct plx_frame frame = {.disparities = 128,
                              .calibration = {.fx = 500, .fy = 400, .cx = 255.5, .cy = 3, .baseline_m = 0.12}};
    struct plx_view view = {.frame = &frame};
    view.plane[PLX_PLANE_DISPARITY] = disparity;
    view.layout[PLX_PLANE_DISPARITY] =
        (struct plx_plane){.pitch = sizeof disparity[0], .width = COLUMNS, .height = ROWS, .element = 2};
    for (int i = 0; i < ROWS * COLUMNS; i++)
        disparity[i / COLUMNS][i % COLUMNS] = i % 11 == 0 ? PLX_DISPARITY_INVALID : (uint16_t)(i % (128 * 16));
    for (size_t c = 0; c < sizeof right / sizeof *right; c++) {
        frame.calibration.cx_right = right[c];
        view.min_disparity = (int32_t)c;
        assert_int_equal(plx_depth(&view, depth[0], sizeof depth[0]), 0);
        assert_int_equal(plx_points(&view, cloud[0][0], sizeof cloud[0]), 0);
        int known = 0;
        for (uint32_t y = 0; y < ROWS; y++)
            for (uint32_t x = 0; x < COLUMNS; x++) {
                float point[3];
                const float *got = cloud[y][x];
                if (plx_point(&view, x, y, point) < 0) {
                    assert_true(isnan(depth[y][x]) && isnan(got[0]) && isnan(got[1]) && isnan(got[2]));
                    continue;
                }
                known++;
                assert_true(depth[y][x] == point[2] && got[2] == point[2]);
                assert_true(fabsf(got[0] - point[0]) <= 1e-6F * point[2] && fabsf(got[1] - point[1]) <= 1e-6F * point[2]);
            }
        assert_true(known > ROWS * COLUMNS / 4);
    }
}

static void clouds_need_room_and_disparity(void **state)
{
    (void)state;
    uint16_t disparity[1] = {16};
    float points[3] = {0};
    struct plx_frame frame = {.disparities = 0xFFFFFFFF, .calibration = {.fx = 500, .fy = 400, .baseline_m = 0.12}};
    struct plx_view view = {.frame = &frame};
    assert_int_equal(plx_depth(&view, points, 4), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_points(NULL, points, 12), PLX_ERR_NOT_FOUND);
    view.layout[PLX_PLANE_DISPARITY].width = 1; /* a plane that is not there */
    assert_int_equal(plx_points(&view, points, 12), PLX_ERR_NOT_FOUND);
    view.plane[PLX_PLANE_DISPARITY] = disparity;
    view.layout[PLX_PLANE_DISPARITY] = (struct plx_plane){.pitch = 2, .width = 1, .height = 1, .element = 2};
    assert_int_equal(plx_depth(&view, points, 3), PLX_ERR_ARG);
    assert_int_equal(plx_depth(&view, points, 6), PLX_ERR_ARG);
    assert_int_equal(plx_depth(&view, NULL, 4), PLX_ERR_ARG);
    assert_int_equal(plx_points(&view, points, 8), PLX_ERR_ARG);
    assert_int_equal(plx_points(&view, points, 14), PLX_ERR_ARG);
    assert_int_equal(plx_points(&view, NULL, 12), PLX_ERR_ARG);
    view.frame = NULL; /* as plx_view leaves it when it fails */
    assert_int_equal(plx_depth(&view, points, 4), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_points(&view, points, 12), PLX_ERR_NOT_FOUND);
    view.frame = &frame;
    assert_true(points[0] == 0);
    static const uint32_t ranges[] = {0xFFFFFFFF, 257, 4000, 256}; /* one that no service has is cut to the largest */
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        frame.disparities = ranges[i];
        disparity[0] = 16;
        assert_int_equal(plx_points(&view, points, 12), 0);
        assert_true(points[2] == 60);
        disparity[0] = 256 * PLX_DISPARITY_ONE - 1;
        assert_int_equal(plx_depth(&view, points, 4), 0);
        assert_true(fabsf(points[0] - 60.0F * 16 / 4095) < 1e-6F);
        disparity[0]++;
        assert_int_equal(plx_depth(&view, points, 4), 0);
        assert_true(isnan(points[0]));
    }
    frame.disparities = 1;
    disparity[0] = 15;
    assert_int_equal(plx_depth(&view, points, 4), 0);
    assert_true(points[0] == 64);
    disparity[0] = 16; /* beyond the range */
    assert_int_equal(plx_depth(&view, points, 4), 0);
    assert_true(isnan(points[0]));
    frame.calibration.baseline_m = 0; /* no depth is not a depth of 0 */
    disparity[0] = 15;
    assert_int_equal(plx_depth(&view, points, 4), 0);
    assert_true(isnan(points[0]));
}

static void capture_time_in_real_time(void **state)
{
    (void)state;
    struct plx_frame frame = {.capture[PLX_LEFT].capture_ns = plx_now_ns() - 5 * PLX_NS_PER_S};
    struct timespec now;
    int64_t ns = -1;
    clock_gettime(CLOCK_REALTIME, &now);
    assert_int_equal(plx_realtime_ns(&frame, NULL), PLX_ERR_ARG);
    frame.suspended_ns = plx_boot_now_ns() - plx_now_ns();
    assert_int_equal(plx_realtime_ns(&frame, &ns), 0);
    const int64_t before_ns = now.tv_sec * PLX_NS_PER_S + now.tv_nsec - ns;
    assert_true(llabs(before_ns - 5 * PLX_NS_PER_S) < PLX_NS_PER_S);
    frame.capture[PLX_LEFT].capture_ns = 0;
    assert_int_equal(plx_realtime_ns(&frame, &ns), PLX_ERR_NOT_FOUND);
}

static void age_is_never_negative_and_never_fresh_by_mistake(void **state)
{
    (void)state;
    struct plx_frame frame = {.capture[PLX_LEFT].capture_ns = plx_now_ns() - 5000};
    assert_true(plx_age_ns(&frame) >= 5000 && plx_age_ns(&frame) < 5000 + 10 * PLX_NS_PER_S);
    frame.capture[PLX_LEFT].capture_ns = plx_now_ns() + 100 * PLX_NS_PER_S;
    assert_int_equal(plx_age_ns(&frame), 0);
    frame.capture[PLX_LEFT].capture_ns = INT64_MIN;
    assert_true(plx_age_ns(&frame) == INT64_MAX);
    frame.capture[PLX_LEFT].capture_ns = 0; /* never filled in */
    assert_true(plx_age_ns(&frame) == INT64_MAX);
}

/* A frame as it is AFTER_NS after its capture, of a machine that had been suspended for SUSPENDED_NS then. */
static struct plx_frame captured(int64_t after_ns, int64_t suspended_ns, int64_t fresh_ns)
{
    const int64_t at_ns = plx_boot_now_ns() - after_ns - suspended_ns;
    return (struct plx_frame){
        .published_ns = at_ns, .suspended_ns = suspended_ns, .fresh_ns = fresh_ns, .capture[PLX_LEFT].capture_ns = at_ns};
}

static void a_frame_is_fresh_for_so_long_as_it_says(void **state)
{
    (void)state;
    const int64_t minute = 60 * PLX_NS_PER_S;
    struct plx_frame frame = captured(0, 0, minute);
    assert_true(plx_is_fresh(&frame));
    frame = captured(minute - 10 * PLX_NS_PER_S, 0, minute);
    assert_true(plx_is_fresh(&frame));
    frame = captured(minute, 0, minute);
    assert_false(plx_is_fresh(&frame));
    frame = captured(0, 0, 0); /* a writer that does not say */
    assert_false(plx_is_fresh(&frame));
    frame = captured(-minute, 0, minute); /* from the future */
    assert_false(plx_is_fresh(&frame));
    frame = captured(minute, 0, minute);
    frame.published_ns = plx_now_ns(); /* a stall between capture and publication makes nothing younger */
    assert_false(plx_is_fresh(&frame));
    frame = captured(-100 * minute, 0, minute - 100 * minute); /* a replay as fast as possible, ahead of the clock */
    frame.published_ns = plx_now_ns();
    assert_true(plx_is_fresh(&frame));
    frame.fresh_ns -= minute;
    assert_false(plx_is_fresh(&frame));
    frame = captured(0, 0, minute);
    frame.capture[PLX_LEFT].capture_ns = 0; /* nobody knows when */
    assert_false(plx_is_fresh(&frame));
    frame = (struct plx_frame){.published_ns = INT64_MAX, .suspended_ns = INT64_MAX, .fresh_ns = INT64_MAX};
    assert_false(plx_is_fresh(&frame));
    frame = (struct plx_frame){.published_ns = INT64_MIN, .suspended_ns = INT64_MIN, .fresh_ns = INT64_MAX};
    assert_false(plx_is_fresh(&frame));
    frame = (struct plx_frame){.published_ns = -5, .suspended_ns = INT64_MIN + 6, .fresh_ns = INT64_MAX};
    assert_false(plx_is_fresh(&frame));
    assert_false(plx_is_fresh(NULL));
}

static void a_frame_that_cannot_show_obstacles_is_not_an_empty_one(void **state)
{
    (void)state;
    struct plx_frame frame = {
        .obstacle_count = 3,
        .obstacle = {{.status = PLX_TRACK_NEW}, {.status = PLX_TRACK_TRACKED}, {.status = PLX_TRACK_LOST}}};
    struct plx_view view = {.frame = &frame, .obstacle_count = 3};
    const struct plx_obstacle *obstacle = NULL;
    assert_int_equal(plx_obstacles(&view, &obstacle), 2);
    assert_ptr_equal(obstacle, frame.obstacle);
    view.obstacle_count = 1; /* the checked copy counts */
    assert_int_equal(plx_obstacles(&view, &obstacle), 1);
    view.obstacle_count = 0;
    assert_int_equal(plx_obstacles(&view, &obstacle), 0);
    obstacle = NULL;
    for (int bit = 0; bit < 32; bit++) { /* also one of a newer service */
        frame.blind = 1u << bit;
        assert_int_equal(plx_obstacles(&view, &obstacle), PLX_ERR_BLIND);
        assert_int_equal(strcmp(plx_blind_name(bit), "unknown") == 0, frame.blind > PLX_BLIND_NO_PICTURE);
    }
    assert_null(obstacle);
    assert_int_equal(plx_obstacles(NULL, &obstacle), PLX_ERR_ARG);
    assert_int_equal(plx_obstacles(&view, NULL), PLX_ERR_ARG);
    assert_int_equal(plx_obstacles(&(struct plx_view){0}, &obstacle), PLX_ERR_ARG);
}

/* As if the machine had slept since: CLOCK_MONOTONIC says now, CLOCK_BOOTTIME says a while ago. */
static void time_in_suspend_counts(void **state)
{
    (void)state;
    const int64_t minute = 60 * PLX_NS_PER_S;
    struct plx_frame frame = captured(10 * minute, -10 * minute, minute);
    assert_true(plx_now_ns() - frame.published_ns < minute || plx_suspended_ns() > 0);
    assert_false(plx_is_fresh(&frame));
    assert_true(plx_age_ns(&frame) >= 10 * minute && plx_age_ns(&frame) < 11 * minute);
    frame = captured(0, 10 * minute, minute); /* slept before it was made, which makes it no older */
    assert_true(plx_is_fresh(&frame));
    assert_true(plx_age_ns(&frame) < minute);
    frame.suspended_ns = INT64_MAX;
    assert_true(plx_age_ns(&frame) == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_outline_tells_where_a_thing_is_nearest),
        cmocka_unit_test(a_drop_tells_where_its_edge_is_nearest),
        cmocka_unit_test(points_are_triangulated),
        cmocka_unit_test(points_are_finite),
        cmocka_unit_test(clouds_are_made_of_points),
        cmocka_unit_test(clouds_need_room_and_disparity),
        cmocka_unit_test(capture_time_in_real_time),
        cmocka_unit_test(age_is_never_negative_and_never_fresh_by_mistake),
        cmocka_unit_test(a_frame_is_fresh_for_so_long_as_it_says),
        cmocka_unit_test(a_frame_that_cannot_show_obstacles_is_not_an_empty_one),
        cmocka_unit_test(time_in_suspend_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
