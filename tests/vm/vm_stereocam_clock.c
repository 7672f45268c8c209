/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test camera's clock: one for both sensors, the skew exact, and what can be made wrong with times and numbers.
 *
 * guest: stereocam
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "tests/vm/camera.h"

static struct camera left, right;

static void open_both(const char *parameters)
{
    stereocam_load(parameters);
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
    stereocam_open(&right, "right", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(camera_request(&right, V4L2_MEMORY_MMAP), 0);
}

static void close_both(void)
{
    camera_close(&left);
    camera_close(&right);
}

static struct v4l2_buffer next(struct camera *camera)
{
    struct v4l2_buffer buffer;
    assert_int_equal(camera_next(camera, 5000, &buffer), 0);
    assert_int_equal(camera_requeue(camera, (int)buffer.index), 0);
    return buffer;
}

static int64_t rate(struct camera *camera, int64_t set_hz)
{
    struct v4l2_ext_control control = {.id = 0x009a200b, .value64 = set_hz * 1000000};
    struct v4l2_ext_controls controls = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &control};
    return ioctl(camera->fd, VIDIOC_S_EXT_CTRLS, &controls);
}

static int64_t next_stamp_ns(struct camera *camera)
{
    struct v4l2_buffer buffer = next(camera);
    return camera_stamp_ns(&buffer);
}

/* Every pair of timestamps of one tick differs by the skew, to V4L2's microsecond, and periods are whole. */
static void check_skew(int64_t skew_us)
{
    open_both("");
    assert_int_equal(rate(&left, 20), 0);
    knob_set(skew_us < 0 ? "left/skew_ns" : "right/skew_ns", 1000 * llabs(skew_us));
    assert_int_equal(camera_start(&left), 0);
    assert_int_equal(camera_start(&right), 0);
    int64_t last_ns = 0, period_ns = 50000000;
    for (int i = 0; i < 10; i++) {
        int64_t left_ns = next_stamp_ns(&left), right_ns = next_stamp_ns(&right);
        while (right_ns < left_ns - period_ns / 2)
            right_ns = next_stamp_ns(&right);
        while (left_ns < right_ns - period_ns / 2)
            left_ns = next_stamp_ns(&left);
        assert_true(llabs(right_ns - left_ns - 1000 * skew_us) <= 1000);
        int64_t over_ns = (left_ns - last_ns) % period_ns;
        assert_true(i == 0 || over_ns <= 1000 || over_ns >= period_ns - 1000);
        last_ns = left_ns;
    }
    close_both();
}

static void test_no_skew(void **state)
{
    (void)state;
    check_skew(0);
}

static void test_right_later(void **state)
{
    (void)state;
    check_skew(7321);
}

static void test_left_later(void **state)
{
    (void)state;
    check_skew(-12000);
}

static void test_stamp_is_now(void **state)
{
    (void)state;
    open_both("");
    assert_int_equal(camera_start(&left), 0);
    for (int i = 0; i < 5; i++) {
        struct v4l2_buffer buffer = next(&left);
        int64_t age_ns = plx_now_ns() - camera_stamp_ns(&buffer);
        assert_true(age_ns >= 0 && age_ns < 2000000000);
        assert_int_equal(buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK, V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC);
        assert_int_equal(buffer.flags & V4L2_BUF_FLAG_TSTAMP_SRC_MASK, V4L2_BUF_FLAG_TSTAMP_SRC_EOF);
    }
    close_both();
}

static void test_stamp_of_start(void **state)
{
    (void)state;
    open_both("timestamp_kind=1");
    assert_int_equal(rate(&left, 2), 0);
    assert_int_equal(camera_start(&left), 0);
    next(&left);
    struct v4l2_buffer buffer = next(&left);
    assert_true(plx_now_ns() - camera_stamp_ns(&buffer) >= 500000000);
    assert_int_equal(buffer.flags & V4L2_BUF_FLAG_TSTAMP_SRC_MASK, V4L2_BUF_FLAG_TSTAMP_SRC_SOE);
    close_both();
}

static void test_other_clock(void **state)
{
    (void)state;
    open_both("timestamp_kind=2");
    knob_set("left/timestamp_offset_ns", -1000000000);
    assert_int_equal(camera_start(&left), 0);
    struct v4l2_buffer buffer = next(&left);
    assert_int_equal(buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK, V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN);
    assert_true(plx_now_ns() - camera_stamp_ns(&buffer) >= 1000000000);
    close_both();
}

static void test_backwards_and_wrap(void **state)
{
    (void)state;
    open_both("");
    assert_int_equal(camera_start(&left), 0);
    struct v4l2_buffer before = next(&left), after;
    knob_set("left/timestamp_offset_ns", -3000000000);
    int i = 0;
    do
        after = next(&left);
    while (camera_stamp_ns(&after) > camera_stamp_ns(&before) && ++i < 100);
    assert_true(camera_stamp_ns(&after) < camera_stamp_ns(&before));
    knob_set("left/timestamp_offset_ns", 0);
    knob_set("left/timestamp_modulus_ns", 100000000);
    knob_set("left/sequence_offset", 0xfffffff0u - before.sequence);
    bool wrapped = false;
    for (i = 0; i < 200 && !wrapped; i++) {
        before = after;
        after = next(&left);
        wrapped = before.sequence > 0xffffff00u && after.sequence < 0x100;
    }
    assert_true(wrapped);
    assert_true(camera_stamp_ns(&after) < 100000000);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_skew),
        cmocka_unit_test(test_right_later),
        cmocka_unit_test(test_left_later),
        cmocka_unit_test(test_stamp_is_now),
        cmocka_unit_test(test_stamp_of_start),
        cmocka_unit_test(test_other_clock),
        cmocka_unit_test(test_backwards_and_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
