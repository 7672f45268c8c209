/* SPDX-License-Identifier: Apache-2.0 */
/* The map while the robot drives and turns, and while its motion is unknown or doubtful. */
#include "tests/unit/map_scene.h"

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
    const struct CMUnitTest tests[] = {
        CASE(it_stays_where_it_is_when_the_robot_drives),
        CASE(a_robot_that_turned_sees_the_thing_beside_it),
        CASE(a_doubtful_motion_moves_nothing),
        CASE(without_motion_it_holds_the_present_frame),
        CASE(motion_that_was_lost_ends_the_memory),
        CASE(a_long_way_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
