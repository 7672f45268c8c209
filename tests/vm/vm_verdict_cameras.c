/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict when a camera gives no pictures, or only damaged ones: how long it takes from the fault to stop.
 *
 * guest: stereocam width=64 height=48
 */
#include "tests/vm/verdict.h"

static const struct verdict_fault faults[] = {
    {"left camera unplugged", 12, 0, VERDICT_SETTING, "left/connected", 0, 1},
    {"right camera unplugged", 12, 0, VERDICT_SETTING, "right/connected", 0, 1},
    {"no pictures of the left eye", 12, 0, VERDICT_SETTING, "left/stall", 1, 0},
    {"all pictures of the right eye lost", 12, 0, VERDICT_SETTING, "right/drop_percent", 100, 0},
    {"only damaged pictures", 12, 0, VERDICT_SETTING, "left/error_count", 1000000, 0},
};

static void test_each_fault(void **state)
{
    (void)state;
    verdict_measure_all(faults, sizeof faults / sizeof *faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_fault),
    };
    return cmocka_run_group_tests_name("verdict_cameras", tests, verdict_setup, verdict_teardown);
}
