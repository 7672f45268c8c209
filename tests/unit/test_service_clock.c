/* SPDX-License-Identifier: Apache-2.0 */
/* The time that budgets count: without the spans in which the supervisor itself did not run. */
#include "app/supervisor/service_clock.h"
#include "tests/cmocka.h"

#define MS PLX_NS_PER_MS
#define S PLX_NS_PER_S

static void turns_in_time_are_all_counted(void **state)
{
    (void)state;
    struct plx_service_clock clock;
    int64_t now = 7 * S;
    plx_service_clock_init(&clock, now);
    assert_int_equal(plx_service_clock_at(&clock, now), now);
    for (int i = 0; i < 1000; i++) {
        now += i % 2 ? PLX_TURN_NS : PLX_LATE_TURN_NS;
        assert_int_equal(plx_service_clock_turn(&clock, now), 0);
        assert_int_equal(plx_service_clock_at(&clock, now), now);
    }
}

static void a_late_turn_is_taken_off(void **state)
{
    (void)state;
    struct plx_service_clock clock;
    plx_service_clock_init(&clock, 10 * S);
    assert_int_equal(plx_service_clock_turn(&clock, 13 * S), 3 * S - PLX_TURN_NS);
    assert_int_equal(plx_service_clock_at(&clock, 13 * S), 10 * S + PLX_TURN_NS);
    assert_int_equal(plx_service_clock_at(&clock, 14 * S), 11 * S + PLX_TURN_NS);
    assert_int_equal(plx_service_clock_at(&clock, 9 * S), 9 * S); /* marked before it */
    assert_int_equal(plx_service_clock_at(&clock, 10 * S + 20 * MS), 10 * S + 20 * MS);
    assert_int_equal(plx_service_clock_at(&clock, 12 * S), 10 * S + PLX_TURN_NS); /* while it lasted */

    plx_service_clock_turn(&clock, 13 * S + PLX_TURN_NS);
    assert_int_equal(plx_service_clock_turn(&clock, 20 * S), 7 * S - 2 * PLX_TURN_NS);
    assert_int_equal(plx_service_clock_at(&clock, 20 * S), 10 * S + 3 * PLX_TURN_NS);
    assert_int_equal(plx_service_clock_at(&clock, 13 * S), 10 * S + PLX_TURN_NS);     /* between both */
    assert_int_equal(plx_service_clock_at(&clock, 15 * S), 10 * S + 3 * PLX_TURN_NS); /* while the second one lasted */
}

static void the_services_time_never_goes_back(void **state)
{
    (void)state;
    struct plx_service_clock clock;
    int64_t now = S, last = S;
    plx_service_clock_init(&clock, now);
    for (int i = 1; i < 500; i++) {
        now += i * 7919 % 300 * MS;
        plx_service_clock_turn(&clock, now);
        assert_true(plx_service_clock_at(&clock, now) >= last);
        assert_true(plx_service_clock_at(&clock, now) - last <= PLX_LATE_TURN_NS);
        last = plx_service_clock_at(&clock, now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_in_time_are_all_counted),
        cmocka_unit_test(a_late_turn_is_taken_off),
        cmocka_unit_test(the_services_time_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
