/* SPDX-License-Identifier: Apache-2.0 */
/* The robot's speed from ego-motion and odometry: all three axes, the smoothing, and how long a measurement counts. */
#include "core/verdict/speed.h"

#include <math.h>

#include "core/base/clock.h"
#include "tests/cmocka.h"

#define PERIOD_NS (50 * PLX_NS_PER_MS)
#define START_NS (10 * PLX_NS_PER_S)
#define HALF_SECOND_NS (500 * PLX_NS_PER_MS)

static const struct plx_motion_info unknown;

/* The camera moves at X, Y and Z m/s in its own axes. */
static struct plx_motion_info motion_of(double x, double y, double z)
{
    const double seconds = (double)PERIOD_NS / PLX_NS_PER_S;
    return (struct plx_motion_info){
        .valid = 1, .interval_ns = PERIOD_NS, .motion.translation = {x * seconds, y * seconds, z * seconds}};
}

/* Odometry that ends at TO_NS: 0.3, 0.6 and 0.6 m in 0.25 s. */
static struct plx_motion_hint hint_until(int64_t to_ns)
{
    return (struct plx_motion_hint){.from_ns = to_ns - PLX_NS_PER_S / 4, .to_ns = to_ns, .motion.translation = {0.3, 0.6, 0.6}};
}
#define HINTED_MPS 3.6

static void assert_speed(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-9))
        fail_msg("%.12g m/s, expected %.12g m/s", got, expected);
}

/* A camera that looks down by 30 degrees moves along its y, too; one on its side along x. */
static void every_axis_counts(void **state)
{
    (void)state;
    const double third = acos(-1) / 6;
    const double cases[][4] = {{3, 0, 0, 3},  {0, 3, 0, 3}, {0, 0, 3, 3},
                               {0, -3, 0, 3}, {2, 3, 6, 7}, {0, 1.2 * sin(third), 1.2 * cos(third), 1.2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_speed speed = {0};
        const struct plx_motion_info motion = motion_of(cases[i][0], cases[i][1], cases[i][2]);
        assert_speed(plx_speed_update(&speed, &motion, START_NS), cases[i][3]);
    }
}

/* The first frame counts fully, each later one by 0.3; directions are averaged, not speeds. */
static void later_frames_are_smoothed(void **state)
{
    (void)state;
    struct plx_speed speed = {0};
    const struct plx_motion_info one = motion_of(0, 1, 0), two = motion_of(0, 2, 0), back = motion_of(0, -1.3, 0);
    assert_speed(plx_speed_update(&speed, &one, START_NS), 1);
    assert_speed(plx_speed_update(&speed, &two, START_NS + PERIOD_NS), 1.3);
    assert_speed(plx_speed_update(&speed, &back, START_NS + 2 * PERIOD_NS), 0.7 * 1.3 - 0.3 * 1.3);
    /* After a gap, nothing of the old speed is left. */
    assert_true(isnan(plx_speed_update(&speed, &unknown, START_NS + PLX_NS_PER_S)));
    assert_speed(plx_speed_update(&speed, &two, START_NS + PLX_NS_PER_S + PERIOD_NS), 2);
}

static void a_measurement_counts_for_half_a_second(void **state)
{
    (void)state;
    struct plx_speed speed = {0};
    const struct plx_motion_info one = motion_of(1, 0, 0);
    plx_speed_update(&speed, &one, START_NS);
    plx_speed_update(&speed, &one, START_NS + PERIOD_NS); /* the last frame begins the half second */
    assert_speed(plx_speed_update(&speed, &unknown, START_NS + PERIOD_NS + HALF_SECOND_NS), 1);
    assert_true(isnan(plx_speed_update(&speed, &unknown, START_NS + PERIOD_NS + HALF_SECOND_NS + 1)));
}

static void a_motion_without_an_interval_or_invalid_is_none(void **state)
{
    (void)state;
    struct plx_speed speed = {0};
    struct plx_motion_info motion = motion_of(1, 2, 2);
    motion.interval_ns = 0;
    assert_true(isnan(plx_speed_update(&speed, &motion, START_NS)));
    motion = motion_of(1, 2, 2);
    motion.valid = 0;
    assert_true(isnan(plx_speed_update(&speed, &motion, START_NS)));
    motion.valid = 1;
    motion.interval_ns = 1;
    assert_false(isnan(plx_speed_update(&speed, &motion, START_NS)));
}

static void a_hint_counts_for_half_a_second(void **state)
{
    (void)state;
    struct plx_speed speed = {0};
    const struct plx_motion_hint hint = hint_until(START_NS);
    plx_speed_hint(&speed, &hint);
    assert_speed(plx_speed_update(&speed, &unknown, START_NS), HINTED_MPS);
    assert_speed(plx_speed_update(&speed, &unknown, START_NS + HALF_SECOND_NS), HINTED_MPS);
    assert_true(isnan(plx_speed_update(&speed, &unknown, START_NS + HALF_SECOND_NS + 1)));
}

/* Ego-motion is measured by the camera itself: odometry counts only where ego-motion is not known. */
static void ego_motion_is_preferred(void **state)
{
    (void)state;
    struct plx_speed speed = {0};
    const struct plx_motion_info one = motion_of(1, 0, 0);
    const struct plx_motion_hint hint = hint_until(START_NS + PLX_NS_PER_S);
    plx_speed_hint(&speed, &hint);
    assert_speed(plx_speed_update(&speed, &one, START_NS), 1);
    assert_speed(plx_speed_update(&speed, &unknown, START_NS + PLX_NS_PER_S), HINTED_MPS);
}

/* A recording may begin at 0: without a hint, time 0 is none, and time 1 is one. */
static void no_hint_is_not_a_hint_at_zero(void **state)
{
    (void)state;
    struct plx_speed speed = {0};
    assert_true(isnan(plx_speed_update(&speed, &unknown, PERIOD_NS)));
    const struct plx_motion_hint hint = hint_until(1);
    plx_speed_hint(&speed, &hint);
    assert_speed(plx_speed_update(&speed, &unknown, PERIOD_NS), HINTED_MPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_axis_counts),
        cmocka_unit_test(later_frames_are_smoothed),
        cmocka_unit_test(a_measurement_counts_for_half_a_second),
        cmocka_unit_test(a_motion_without_an_interval_or_invalid_is_none),
        cmocka_unit_test(a_hint_counts_for_half_a_second),
        cmocka_unit_test(ego_motion_is_preferred),
        cmocka_unit_test(no_hint_is_not_a_hint_at_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
