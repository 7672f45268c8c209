/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be made wrong with the test camera, each as a program meets it.
 *
 * guest: stereocam
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/vm/camera.h"

static struct camera left;

static void start_left(void)
{
    stereocam_load("");
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(camera_start(&left), 0);
}

static struct v4l2_buffer next(void)
{
    struct v4l2_buffer buffer;
    assert_int_equal(camera_next(&left, 5000, &buffer), 0);
    assert_int_equal(camera_requeue(&left, (int)buffer.index), 0);
    return buffer;
}

static void test_error_flag(void **state)
{
    (void)state;
    start_left();
    assert_false(next().flags & V4L2_BUF_FLAG_ERROR);
    knob_set("left/error_count", 3);
    int errors = 0;
    for (int i = 0; i < 20; i++)
        errors += (next().flags & V4L2_BUF_FLAG_ERROR) != 0;
    assert_int_equal(errors, 3);
    camera_close(&left);
}

static void test_short(void **state)
{
    (void)state;
    start_left();
    knob_set("left/short_count", 2);
    int shorter = 0;
    for (int i = 0; i < 20; i++)
        shorter += next().bytesused == left.format.sizeimage / 2;
    assert_int_equal(shorter, 2);
    camera_close(&left);
}

static void test_drops(void **state)
{
    (void)state;
    start_left();
    knob_set("left/drop_percent", 30);
    struct v4l2_buffer buffer = next();
    for (int i = 0; i < 60; i++)
        buffer = next();
    knob_set("left/drop_percent", 100);
    int dropped = 0;
    for (uint32_t i = buffer.sequence - 60; i < buffer.sequence; i++) {
        struct camera_record record;
        assert_true(camera_record("left", i, &record));
        dropped += strcmp(record.fate, "dropped") == 0;
    }
    assert_in_range(dropped, 10, 26); /* of 60: 18 expected */
    while (camera_next(&left, 500, &buffer) == 0)
        camera_requeue(&left, (int)buffer.index);
    assert_int_equal(camera_next(&left, 500, &buffer), -ETIMEDOUT);
    camera_close(&left);
}

/* Waits until what was set is seen, then compares the next pictures with the first of those. ROWS from below are frozen. */
static void check_frozen(const char *knob, long long value, uint32_t rows)
{
    static uint8_t held[320 * 200];
    start_left();
    next();
    knob_set(knob, value);
    for (int i = 0; i < CAMERA_BUFFERS + 2; i++) /* those on their way */
        next();
    for (int i = 0; i < 5; i++) {
        struct v4l2_buffer buffer;
        assert_int_equal(camera_next(&left, 5000, &buffer), 0);
        const uint8_t *picture = left.picture[buffer.index];
        if (i == 0)
            memcpy(held, picture, sizeof held);
        assert_memory_equal(picture + 320 * (200 - rows), held + 320 * (200 - rows), 320 * rows);
        if (rows < 200)
            assert_int_equal(picture[0], (3 * buffer.sequence) & 255);
        assert_int_equal(camera_requeue(&left, (int)buffer.index), 0);
    }
    knob_set(knob, 0);
    for (int i = 0; i < CAMERA_BUFFERS + 2; i++)
        next();
    struct v4l2_buffer buffer;
    assert_int_equal(camera_next(&left, 5000, &buffer), 0);
    assert_int_equal(left.picture[buffer.index][199 * 320], (199 + 3 * buffer.sequence) & 255);
    camera_close(&left);
}

static void test_frozen(void **state)
{
    (void)state;
    check_frozen("left/frozen", 1, 200);
}

static void test_partly_frozen(void **state)
{
    (void)state;
    check_frozen("left/frozen_rows", 60, 60);
}

static void test_stall(void **state)
{
    (void)state;
    start_left();
    next();
    knob_set("left/stall", 1);
    struct v4l2_buffer buffer;
    while (camera_next(&left, 500, &buffer) == 0)
        camera_requeue(&left, (int)buffer.index);
    assert_int_equal(camera_next(&left, 500, &buffer), -ETIMEDOUT);
    knob_set("left/stall", 0);
    next();
    camera_close(&left);
}

static void test_eio(void **state)
{
    (void)state;
    start_left();
    next();
    knob_set("left/eio", 1);
    struct v4l2_buffer buffer;
    int result = 0;
    for (int i = 0; i < 10 && result == 0; i++)
        result = camera_next(&left, 5000, &buffer);
    assert_int_equal(result, -EIO);
    assert_int_equal(camera_stop(&left), 0);
    assert_int_equal(camera_start(&left), 0); /* stopping and starting heals it */
    next();
    camera_close(&left);
}

static void test_start_fails(void **state)
{
    (void)state;
    stereocam_load("");
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    knob_set("left/fail_streamon", 1);
    assert_int_equal(camera_start(&left), -EIO);
    camera_close(&left);
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(camera_start(&left), 0);
    next();
    camera_close(&left);
}

/* The other eye goes on; the old file knows; the new node has another number while the old file is open. */
static void test_unplug(void **state)
{
    (void)state;
    start_left();
    next();
    struct camera right;
    stereocam_open(&right, "right", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&right, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(camera_start(&right), 0);
    knob_set("left/connected", 0);
    struct pollfd wait = {.fd = left.fd, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 1000), 1);
    assert_true(wait.revents & POLLERR && wait.revents & POLLHUP);
    struct v4l2_buffer buffer;
    assert_int_equal(camera_next(&left, 1000, &buffer), -ENODEV);
    assert_int_equal(camera_open("stereocam left"), -1);
    assert_int_equal(camera_next(&right, 5000, &buffer), 0);
    knob_set("left/connected", 1);
    struct camera again;
    stereocam_open(&again, "left", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&again, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(camera_start(&again), 0);
    assert_int_equal(camera_next(&again, 5000, &buffer), 0);
    assert_int_equal(access("/dev/video2", F_OK), 0);
    camera_close(&left);
    camera_close(&again);
    camera_close(&right);
}

static void test_unload_after_all(void **state)
{
    (void)state;
    assert_int_equal(system("rmmod stereocam"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_flag),    cmocka_unit_test(test_short),
        cmocka_unit_test(test_drops),         cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_partly_frozen), cmocka_unit_test(test_stall),
        cmocka_unit_test(test_eio),           cmocka_unit_test(test_start_fails),
        cmocka_unit_test(test_unplug),        cmocka_unit_test(test_unload_after_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
