/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures that a driver hands out after a resume, and had before. */
#include "core/base/clock.h"
#include "tests/cmocka.h"

#define S PLX_NS_PER_S

static void pictures_from_before_a_resume_are_dated_by_it(void **state)
{
    (void)state;
    struct plx_suspend_clock clock = {.suspended_ns = 100 * S};
    plx_suspend_clock_update(&clock, 5 * S, 100 * S);
    assert_int_equal(plx_suspend_clock_at(&clock, 1), 100 * S); /* never resumed while it looked */
    assert_int_equal(plx_suspend_clock_at(&clock, 5 * S), 100 * S);

    plx_suspend_clock_update(&clock, 6 * S, 4000 * S);
    assert_int_equal(plx_suspend_clock_at(&clock, 5 * S), 100 * S);
    assert_int_equal(plx_suspend_clock_at(&clock, 6 * S - 1), 100 * S); /* perhaps before: too old rather than too young */
    assert_int_equal(plx_suspend_clock_at(&clock, 6 * S), 4000 * S);
    plx_suspend_clock_update(&clock, 7 * S, 4000 * S);
    assert_int_equal(plx_suspend_clock_at(&clock, 5 * S), 100 * S);

    plx_suspend_clock_update(&clock, 8 * S, 4000 * S + 20); /* two readings of the clocks are not taken at once */
    plx_suspend_clock_update(&clock, 9 * S, 4000 * S - 20);
    assert_int_equal(plx_suspend_clock_at(&clock, 7 * S), 4000 * S - 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures_from_before_a_resume_are_dated_by_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
