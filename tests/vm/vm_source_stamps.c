/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a timestamp is of, and by which clock: published are the middle of the exposure on CLOCK_MONOTONIC, and the offset that
 * was measured. The driver's own records say what is true.
 *
 * guest: stereocam width=128 height=96
 */
#include "tests/vm/stereocam.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define RATE_HZ 20
#define EXPOSURE_US 8000
#define READOUT_MS 4.3
#define READOUT_NS 4300000
#define COUNTER_NS 123456789000 /* Tegra's system counter when CLOCK_MONOTONIC was 0 */
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0"

static struct pairs pairs;

static void open_source(const char *module, double readout_ms)
{
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    char parameters[64];

    snprintf(parameters, sizeof parameters, "width=128 height=96 %s", module);
    stereocam_load(parameters);
    options.width = 128;
    options.height = 96;
    options.cameras.readout_ms = readout_ms;
    pairs_open(&pairs, &options);
}

/* The driver's record of the picture of EYE. */
static struct camera_record record_of(int eye)
{
    struct camera_record record;
    assert_true(camera_record(eye == PLX_LEFT ? "left" : "right", pairs.pair[eye].sequence, &record));
    return record;
}

static bool in_force(void)
{
    return pairs.pair[PLX_LEFT].exposure_us == EXPOSURE_US && pairs.pair[PLX_RIGHT].exposure_us == EXPOSURE_US;
}

static void expose(void)
{
    pairs_take(&pairs, 1);
    assert_int_equal(pairs.source->ops->control(pairs.source, EXPOSURE_US, 1.0f), 0);
    for (int i = 0; i < 100 && !in_force(); i++)
        pairs_take(&pairs, 1);
    assert_true(in_force());
}

/* Capture times lie AHEAD_NS after the driver's stamps, to V4L2's microsecond. */
static void check_ahead(int64_t ahead_ns)
{
    for (int i = 0; i < 5; i++) {
        pairs_take(&pairs, 1);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            const struct camera_record record = record_of(eye);
            const int64_t off_ns = pairs.pair[eye].capture_ns - ((int64_t)record.timestamp_ns + ahead_ns);
            if (off_ns <= -PLX_NS_PER_US || off_ns > 0)
                fail_msg("eye %d: %lld ns off", eye, (long long)off_ns);
        }
    }
}

static void check_clock(enum plx_clock clock, int64_t offset_ns)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        assert_int_equal(pairs.pair[eye].clock, clock);
        assert_true(pairs.pair[eye].clock_offset_ns == offset_ns);
    }
}

static void test_end_of_frame(void **state)
{
    (void)state;
    open_source("", 0);
    expose();
    check_ahead(0);
    check_clock(PLX_CLOCK_MONOTONIC, 0);
    pairs_close(&pairs);
}

static void test_end_of_frame_with_the_readout_known(void **state)
{
    (void)state;
    open_source("", READOUT_MS);
    check_ahead(-READOUT_NS); /* while the exposure is not known */
    expose();
    assert_int_equal(record_of(PLX_LEFT).exposure_us, EXPOSURE_US);
    check_ahead(-READOUT_NS - EXPOSURE_US / 2 * PLX_NS_PER_US);
    pairs_close(&pairs);
}

static void test_start_of_exposure(void **state)
{
    (void)state;
    open_source("timestamp_kind=1", READOUT_MS);
    expose();
    assert_int_equal(record_of(PLX_LEFT).exposure_us, EXPOSURE_US);
    check_ahead(EXPOSURE_US / 2 * PLX_NS_PER_US);
    check_clock(PLX_CLOCK_MONOTONIC, 0);
    pairs_close(&pairs);
}

/* The offset of a clock that nobody knows is the smallest delay seen, never too small, and no more than the way here takes. */
static void test_unknown_clock(void **state)
{
    (void)state;
    const int64_t behind_ns = 1000 * PLX_NS_PER_S;
    stereocam_load("width=128 height=96 timestamp_kind=2");
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    options.width = 128;
    options.height = 96;
    stereocam_set("left/timestamp_offset_ns", -behind_ns);
    stereocam_set("right/timestamp_offset_ns", -behind_ns);
    pairs_open(&pairs, &options);
    pairs_take(&pairs, 3 * RATE_HZ);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const int64_t late_ns = pairs.pair[eye].clock_offset_ns - behind_ns;
        assert_int_equal(pairs.pair[eye].clock, PLX_CLOCK_DEVICE);
        print_message("offset measured %.3f ms late\n", (double)late_ns / PLX_NS_PER_MS);
        assert_true(late_ns >= 0 && late_ns < PLX_NS_PER_S / RATE_HZ);
        assert_true(llabs(pairs.pair[eye].capture_ns - (int64_t)record_of(eye).timestamp_ns - behind_ns - late_ns) <=
                    PLX_NS_PER_US);
    }
    pairs_close(&pairs);
}

/* Where the kernel tells of Tegra's counter, stamps by it are known exactly; a camera that does not use it is not taken for
 * one. */
static void test_tegras_counter(void **state)
{
    (void)state;
    assert_int_equal(mkdir("/tmp/clocksource", 0755), 0);
    FILE *file = fopen("/tmp/clocksource/offset_ns", "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%lld\n", (long long)COUNTER_NS) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(mount("/tmp/clocksource", CLOCKSOURCE, NULL, MS_BIND, NULL), 0);

    open_source("", 0);
    check_ahead(0);
    check_clock(PLX_CLOCK_MONOTONIC, 0);
    pairs_close(&pairs);

    stereocam_set("left/timestamp_offset_ns", COUNTER_NS);
    stereocam_set("right/timestamp_offset_ns", COUNTER_NS);
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    options.width = 128;
    options.height = 96;
    pairs_open(&pairs, &options);
    check_ahead(-COUNTER_NS);
    check_clock(PLX_CLOCK_DEVICE, -COUNTER_NS);
    pairs_close(&pairs);
    assert_int_equal(umount(CLOCKSOURCE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_frame),      cmocka_unit_test(test_end_of_frame_with_the_readout_known),
        cmocka_unit_test(test_start_of_exposure), cmocka_unit_test(test_unknown_clock),
        cmocka_unit_test(test_tegras_counter),
    };
    return cmocka_run_group_tests_name("source_stamps", tests, NULL, NULL);
}
