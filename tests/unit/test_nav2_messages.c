/* SPDX-License-Identifier: Apache-2.0 */
/* What Nav2 gets of a verdict: outlines that trip a monitor or show life, and a speed limit that is never 0. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bridge/frame_messages.h"
#include "tests/cmocka.h"

static struct plx_frame frame;
static _Alignas(8) char scratch[1 << 20];
static struct plx_frame_messages messages = {
    .frame = &frame, .realtime_ns = 5000000007, .names = &plx_frame_names, .scratch = scratch};

/* The camera 1 m ahead of the robot's origin and 0.5 m above, level. */
static int setup(void **state)
{
    (void)state;
    frame = (struct plx_frame){.verdict = {.zone = -1}};
    frame.mount.base_from_left = (struct plx_pose){{0, 0, 1, -1, 0, 0, 0, -1, 0}, {1, 0, 0.5}};
    frame.zone[2] = (struct plx_zone_info){.points = 3, .polygon = {{1, -0.5F}, {2, 0}, {1, 0.5F}}};
    return 0;
}

/* True if a corner of ZONE is at (X, Y) of the robot's base: parallax_link is a metre ahead. */
static bool has_corner(const struct ros_polygon_instance_stamped *zone, double x, double y)
{
    for (uint32_t i = 0; i < zone->polygon.polygon.points.count; i++) {
        const struct ros_point32 *at = &zone->polygon.polygon.points.data[i];
        if (fabs((double)at->x + 1 - x) < 1e-6 && fabs((double)at->y - y) < 1e-6 && fabs((double)at->z + 0.5) < 1e-6)
            return true;
    }
    return false;
}

static bool is_token(const struct ros_polygon_instance_stamped *zone)
{
    bool is_far = zone->polygon.polygon.points.count == 3;
    for (uint32_t i = 0; i < zone->polygon.polygon.points.count; i++)
        is_far = is_far && zone->polygon.polygon.points.data[i].x < -900;
    return is_far;
}

static void outlines_follow_the_verdict(void **state)
{
    (void)state;
    static const struct {
        uint32_t verdict;
        bool stops, slows;
    } cases[] = {
        {PLX_VERDICT_STOP, true, true}, {PLX_VERDICT_SLOW, false, true}, {PLX_VERDICT_GO, false, false}, {77, true, true}};
    struct ros_polygon_instance_stamped stop;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        frame.verdict.verdict = cases[i].verdict;
        assert_int_equal(plx_message_zone(&messages, PLX_VERDICT_STOP, &stop), 0);
        assert_int_equal(stop.polygon.id, PLX_VERDICT_STOP);
        assert_int_equal(is_token(&stop), !cases[i].stops);
        assert_int_equal(has_corner(&stop, 0.25, -0.25), cases[i].stops);
        assert_int_equal(plx_message_zone(&messages, PLX_VERDICT_SLOW, &stop), 0);
        assert_int_equal(is_token(&stop), !cases[i].slows);
        assert_true(stop.header.stamp.sec == 5 && stop.header.stamp.nanosec == 7);
        assert_string_equal(stop.header.frame_id, "parallax_link");
    }
}

static void the_zone_that_decides_is_drawn_too(void **state)
{
    (void)state;
    struct ros_polygon_instance_stamped zone;
    for (int number = -1; number <= PLX_MAX_ZONES; number++) {
        frame.verdict.zone = number;
        assert_int_equal(plx_message_zone(&messages, PLX_VERDICT_STOP, &zone), 0);
        assert_int_equal(zone.polygon.polygon.points.count, number == 2 ? 8 : 5);
        assert_int_equal(has_corner(&zone, 2, 0), number == 2);
        assert_true(has_corner(&zone, -0.25, 0.25));
    }
    frame.verdict.zone = 2;
    frame.zone[2].points = 1000; /* a damaged memory */
    assert_int_equal(plx_message_zone(&messages, PLX_VERDICT_STOP, &zone), 0);
    assert_int_equal(zone.polygon.polygon.points.count, 5 + PLX_ZONE_POINTS);
}

/* Around the camera then, which is on the robot. */
static void without_a_mount_it_stops_too(void **state)
{
    (void)state;
    struct ros_polygon_instance_stamped zone;
    memset(&frame.mount, 0, sizeof frame.mount);
    assert_int_equal(plx_message_zone(&messages, PLX_VERDICT_STOP, &zone), 0);
    assert_true(zone.polygon.polygon.points.data[0].x == 0.25F && zone.polygon.polygon.points.data[0].y == 0.25F);
}

static void a_limit_is_never_none(void **state)
{
    (void)state;
    static const double expected[] = {[PLX_VERDICT_STOP] = 40, [PLX_VERDICT_SLOW] = 40, [PLX_VERDICT_GO] = 100};
    struct ros_speed_limit limit;
    for (uint32_t verdict = PLX_VERDICT_STOP; verdict <= PLX_VERDICT_GO; verdict++) {
        frame.verdict.verdict = verdict;
        assert_int_equal(plx_message_speed_limit(&messages, 40, &limit), 0);
        assert_true(limit.percentage && limit.speed_limit == expected[verdict]);
    }
    frame.verdict.verdict = 77;
    assert_int_equal(plx_message_speed_limit(&messages, 40, &limit), 0);
    assert_true(limit.speed_limit == 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(outlines_follow_the_verdict, setup),
        cmocka_unit_test_setup(the_zone_that_decides_is_drawn_too, setup),
        cmocka_unit_test_setup(without_a_mount_it_stops_too, setup),
        cmocka_unit_test_setup(a_limit_is_never_none, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
