/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong with pictures is never handed out as good: it is flagged, and the stream goes on with every buffer.
 *
 * guest: stereocam width=320 height=180
 */
#include "tests/vm/stereocam.h"

#define RATE_HZ 20

static struct pairs pairs;

static int setup(void **state)
{
    const struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    return pairs_setup(state, &pairs, &options, 3);
}

/* Takes COUNT pairs; each must be of pictures that the driver made well and stamped as it was taken. */
static void take_good(int count)
{
    static const char *const name[PLX_EYES] = {"left", "right"};
    for (int i = 0; i < count; i++) {
        pairs_take(&pairs, 1);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            struct camera_record record;
            assert_true(camera_record(name[eye], pairs.pair[eye].sequence, &record));
            assert_string_equal(record.fate, "good");
        }
    }
}

static void check(uint32_t flag)
{
    assert_int_equal(pairs.health & flag, flag);
    pairs.health = 0;
    take_good(15);
    const uint32_t slow = PLX_HEALTH_DROPPED | PLX_HEALTH_OVERLOAD; /* the guest itself may be too slow for a picture */
    const uint32_t lasting = pairs.health & ~slow;
    if (lasting)
        fail_msg("still flagged after the fault is over: %x", lasting);
}

static void test_error_flag(void **state)
{
    (void)state;
    stereocam_set("left/error_count", 3);
    take_good(10);
    assert_int_equal(stereocam_get("left/error_count"), 0);
    check(PLX_HEALTH_BUFFER_ERROR);
}

static void test_short_pictures(void **state)
{
    (void)state;
    stereocam_set("right/short_count", 3);
    take_good(10);
    assert_int_equal(stereocam_get("right/short_count"), 0);
    check(PLX_HEALTH_BUFFER_ERROR);
}

static void test_dropped_pictures(void **state)
{
    (void)state;
    const uint64_t before = pairs.pairing.eye[PLX_LEFT].dropped;
    stereocam_set("left/drop_percent", 40);
    take_good(20);
    stereocam_set("left/drop_percent", 0);
    assert_true(pairs.pairing.eye[PLX_LEFT].dropped >= before + 5);
    take_good(2);
    check(PLX_HEALTH_DROPPED);
}

static void test_clock_goes_back(void **state)
{
    (void)state;
    static const long long offsets[] = {-10000000000, 0, 3600000000000};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        stereocam_set("left/timestamp_offset_ns", offsets[i]);
        take_good(10);
        const int64_t age = plx_now_ns() - pairs.pair[PLX_LEFT].capture_ns;
        assert_true(age > -PLX_NS_PER_S / RATE_HZ && age < PLX_NS_PER_S);
        print_message("offset %lld s: clock %u, its offset %.3f s\n", offsets[i] / 1000000000, pairs.pair[PLX_LEFT].clock,
                      (double)pairs.pair[PLX_LEFT].clock_offset_ns / PLX_NS_PER_S);
        check(PLX_HEALTH_TIMESTAMP);
    }
    stereocam_set("left/timestamp_offset_ns", 0);
    take_good(10);
}

static void test_clock_of_the_day(void **state)
{
    (void)state;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t ahead = (int64_t)now.tv_sec * PLX_NS_PER_S + now.tv_nsec - plx_now_ns();
    stereocam_set("left/timestamp_offset_ns", ahead);
    take_good(10);
    assert_int_equal(pairs.pair[PLX_LEFT].clock, PLX_CLOCK_REALTIME);
    assert_true(llabs(pairs.pair[PLX_LEFT].clock_offset_ns + ahead) < 5 * PLX_NS_PER_MS);
    assert_int_equal(pairs.pair[PLX_RIGHT].clock, PLX_CLOCK_MONOTONIC);
    stereocam_set("left/timestamp_offset_ns", 0);
    take_good(10);
    check(PLX_HEALTH_TIMESTAMP);
}

/* As a clock of 32 bits in microseconds does every 72 minutes, here every second. */
static void test_clock_wraps(void **state)
{
    (void)state;
    stereocam_set("right/timestamp_modulus_ns", 1000000000);
    int pairs_seen = 0;
    for (int64_t end = plx_now_ns() + 4 * PLX_NS_PER_S; plx_now_ns() < end;)
        pairs_seen += pairs_next(&pairs, 1000);
    stereocam_set("right/timestamp_modulus_ns", 0);
    print_message("%d pairs in 4 s\n", pairs_seen);
    assert_true(pairs_seen >= 30);
    take_good(10);
    check(PLX_HEALTH_TIMESTAMP);
}

static void test_numbers_wrap(void **state)
{
    (void)state;
    const uint64_t before = pairs.pairing.eye[PLX_LEFT].dropped;
    uint32_t last = pairs.pair[PLX_LEFT].sequence;
    stereocam_set("left/sequence_offset", UINT32_MAX - last - 5);
    stereocam_set("right/sequence_offset", UINT32_MAX - last - 5);
    bool wrapped = false;
    for (int i = 0; i < 20; i++) {
        pairs_take(&pairs, 1);
        wrapped |= pairs.pair[PLX_LEFT].sequence < last && last > UINT32_MAX / 2;
        last = pairs.pair[PLX_LEFT].sequence;
    }
    assert_true(wrapped);
    /* What the guest was too slow for, and no four thousand million. */
    assert_true(pairs.pairing.eye[PLX_LEFT].dropped - before < 1000);
    stereocam_set("left/sequence_offset", 0);
    stereocam_set("right/sequence_offset", 0);
    pairs_take(&pairs, 1);
    pairs.health = 0;
    check(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_error_flag, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_short_pictures, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_dropped_pictures, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_clock_goes_back, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_clock_of_the_day, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_clock_wraps, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_numbers_wrap, setup, pairs_teardown),
    };
    return cmocka_run_group_tests_name("source_faults", tests, NULL, NULL);
}
