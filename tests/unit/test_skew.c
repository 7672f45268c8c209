/* SPDX-License-Identifier: Apache-2.0 */
/* How far rows move between the captures of a pair: against points that are moved and projected. */
#include "core/drift/skew.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/motion/pose.h"
#include "tests/cmocka.h"

#define FOCAL 500.0
#define PERIOD_NS (50 * PLX_NS_PER_MS)
#define SKEW_NS (15 * PLX_NS_PER_MS)

/* The motion of a camera that goes by SPEED, m/s and rad/s, for SECONDS. */
static struct plx_pose moved(const double speed[6], double seconds)
{
    struct plx_pose pose = PLX_POSE_IDENTITY;
    double move[6];
    for (int i = 0; i < 6; i++)
        move[i] = speed[i] * seconds;
    plx_pose_move(&pose, move);
    return pose;
}

/* Rows by which a point at MATCH moves in SKEW_NS. */
static double rows_of(const double speed[6], const struct plx_row_match *match)
{
    const double z = (double)match->z_m, point[3] = {(double)match->x * z, (double)match->y * z, z};
    struct plx_pose then_from_now = moved(speed, (double)SKEW_NS / 1e9), now_from_then;
    double seen[3];
    plx_pose_invert(&then_from_now, &now_from_then);
    plx_pose_apply(&now_from_then, point, seen);
    return FOCAL * fabs(seen[1] / seen[2] - (double)match->y);
}

static struct plx_motion_info motion_of(const double speed[6])
{
    return (struct plx_motion_info){.valid = 1, .interval_ns = PERIOD_NS, .motion = moved(speed, (double)PERIOD_NS / 1e9)};
}

static void rows_are_those_of_a_point_that_stands_still(void **state)
{
    (void)state;
    static const struct plx_row_match matches[] = {
        {0, 0, 0, false, 2, 0}, {0.4F, -0.3F, 0, false, 1, 0}, {-0.5F, 0.35F, 0, true, 8, 0}};
    static const double speeds[][6] = {{0, 0, 1, 0, 0, 0},          {0, 0.3, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0},
                                       {0, 0, 0, 0.3, 0, 0},        {0, 0, 0, 0, 0.5, 0}, {0, 0, 0, 0, 0, -0.4},
                                       {0.2, 0.1, 1, 0.1, 0.2, 0.1}};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        for (size_t k = 0; k < sizeof matches / sizeof *matches; k++) {
            struct plx_skew skew = {0};
            const struct plx_motion_info motion = motion_of(speeds[i]);
            plx_skew_update(&skew, &motion, -SKEW_NS);
            plx_skew_update(&skew, &motion, SKEW_NS); /* as before: it does not change */
            const double found = plx_skew_rows(&skew, &matches[k], FOCAL), truth = rows_of(speeds[i], &matches[k]);
            if (fabs(found - truth) > 0.03 + 0.03 * truth)
                fail_msg("speed %zu, match %zu: %g, expected %g px", i, k, found, truth);
        }
}

/* Columns of a far point move by the turn to the side alone. */
static void columns_move_while_the_robot_turns(void **state)
{
    (void)state;
    static const double turns[6] = {0, 0, 0, 0, 0.2, 0}, aside[6] = {0.4, 0, 0, 0, 0, 0};
    const struct plx_motion_info turn = motion_of(turns), way = motion_of(aside), lost = {.valid = 0};
    struct plx_skew skew = {0};

    plx_skew_update(&skew, &lost, SKEW_NS);
    assert_true(plx_skew_columns(&skew, FOCAL) == 0); /* nothing shows an offset then */
    for (int i = 0; i < 2; i++)
        plx_skew_update(&skew, &turn, -SKEW_NS);
    const double seen = FOCAL * 0.2 * (double)SKEW_NS / 1e9;
    assert_true(plx_skew_columns(&skew, FOCAL) > seen && plx_skew_columns(&skew, FOCAL) < 1.5 * seen);
    plx_skew_update(&skew, &turn, 0);
    assert_true(plx_skew_columns(&skew, FOCAL) == 0);
    for (int i = 0; i < 2; i++)
        plx_skew_update(&skew, &way, SKEW_NS);
    assert_true(plx_skew_columns(&skew, FOCAL) > PLX_SKEW_MAX_COLUMNS_PX);
}

/* Points beside the robot's way move outwards: 1 m ahead of 2 m, those at half a focal length by a quarter of it. */
static void columns_move_while_the_robot_drives_ahead(void **state)
{
    (void)state;
    static const double ahead[6] = {0, 0, 1, 0, 0, 0};
    const struct plx_motion_info drive = motion_of(ahead);
    struct plx_skew skew = {0};

    for (int i = 0; i < 2; i++)
        plx_skew_update(&skew, &drive, SKEW_NS);
    assert_float_equal(plx_skew_columns(&skew, FOCAL), FOCAL / 4 * (double)SKEW_NS / 1e9, 0.01);
}

static void a_robot_that_rocks_is_never_at_rest(void **state)
{
    (void)state;
    static const double still[6] = {0}, rocks[6] = {0, 0, 0, 0.3, 0, 0};
    static const struct plx_row_match match = {0, 0, 0, false, 2, 0};
    struct plx_skew skew = {0};
    const struct plx_motion_info rest = motion_of(still), turn = motion_of(rocks), lost = {.valid = 0};

    plx_skew_update(&skew, &lost, SKEW_NS);
    assert_true(plx_skew_rows(&skew, &match, FOCAL) > 1); /* nobody knows how it moves */
    plx_skew_update(&skew, &rest, SKEW_NS);
    plx_skew_update(&skew, &rest, SKEW_NS);
    assert_true(plx_skew_rows(&skew, &match, FOCAL) == 0);
    plx_skew_update(&skew, &turn, SKEW_NS);
    plx_skew_update(&skew, &rest, SKEW_NS); /* where it turns back */
    assert_true(plx_skew_rows(&skew, &match, FOCAL) > 1);
    plx_skew_update(&skew, &turn, 0); /* triggered together */
    assert_true(plx_skew_rows(&skew, &match, FOCAL) == 0);
    plx_skew_update(&skew, &lost, 0);
    assert_true(plx_skew_rows(&skew, &match, FOCAL) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_a_point_that_stands_still),
        cmocka_unit_test(columns_move_while_the_robot_turns),
        cmocka_unit_test(columns_move_while_the_robot_drives_ahead),
        cmocka_unit_test(a_robot_that_rocks_is_never_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
