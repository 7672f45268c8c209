/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict when a camera gives no pictures, or when they or their times are bad: how long it takes from the fault to stop.
 *
 * guest: stereocam width=64 height=48
 */
#include "tests/vm/verdict.h"

#define ALL_ROWS 48

/* A part of the picture must repeat 5 times, and the camera's own first repeat is its second picture; 5 pictures must be dark
 * or white. */
static const struct verdict_fault faults[] = {
    {"left camera unplugged", 12, 0, VERDICT_SETTING, "left/connected", 0, 1},
    {"right camera unplugged", 12, 0, VERDICT_SETTING, "right/connected", 0, 1},
    {"no pictures of the left eye", 12, 0, VERDICT_SETTING, "left/stall", 1, 0},
    {"all pictures of the right eye lost", 12, 0, VERDICT_SETTING, "right/drop_percent", 100, 0},
    {"only damaged pictures", 12, 0, VERDICT_SETTING, "left/error_count", 1000000, 0},
    {"left eye frozen", 30, 0, VERDICT_SETTING, "left/frozen", 1, 0},
    {"right eye frozen", 30, 0, VERDICT_SETTING, "right/frozen", 1, 0},
    {"half of the right eye frozen", 12, 6, VERDICT_SETTING, "right/frozen_rows", ALL_ROWS / 2, 0},
    {"both eyes dark", 12, 5, VERDICT_SETTING, "scale", 1, 0}, /* a 50th: 0.2 ms of exposure */
    {"both eyes overexposed", 12, 5, VERDICT_SETTING, "scale", 1000, 0},
    {"one damaged picture", 20, 0, VERDICT_SETTING, "left/error_count", 1, 0},
    {"one short picture", 20, 0, VERDICT_SETTING, "right/short_count", 1, 0},
    {"timestamps 1 h ahead", 10, 0, VERDICT_SETTING, "right/timestamp_offset_ns", 3600000000000, 0},
    {"timestamps 1 s behind", 10, 0, VERDICT_SETTING, "left/timestamp_offset_ns", -1000000000, 0},
    {"eyes 15 ms apart", 12, 0, VERDICT_SETTING, "right/skew_ns", 15000000, 0},
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
