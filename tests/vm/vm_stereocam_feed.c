/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures fed to the test camera come out of both nodes byte by byte, in their order, none lost, and the two of a pair
 * together.
 *
 * guest: stereocam
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/vm/camera.h"

enum { WIDTH = 640, HEIGHT = 360, PAIRS = 60 };

static uint32_t noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
    return *state >> 8;
}

/* Pair NUMBER: both pictures, 16 bit samples. */
static void draw(uint32_t number, uint16_t *pair)
{
    uint32_t seed = number * 2654435761u + 1;
    for (int i = 0; i < 2 * WIDTH * HEIGHT; i++)
        pair[i] = (uint16_t)(noise(&seed) & 1023);
}

static void test_byte_exact(void **state)
{
    (void)state;
    size_t bytes = 2 * (size_t)WIDTH * HEIGHT * sizeof(uint16_t);
    uint16_t *pair = malloc(bytes);
    assert_non_null(pair);
    stereocam_load("");
    knob_set("wait", 1);
    int feed = open("/dev/stereocam", O_WRONLY | O_CLOEXEC);
    assert_true(feed >= 0);
    struct camera camera[2];
    stereocam_open(&camera[0], "left", WIDTH, HEIGHT, V4L2_PIX_FMT_SRGGB10);
    stereocam_open(&camera[1], "right", WIDTH, HEIGHT, V4L2_PIX_FMT_SRGGB10);
    for (int eye = 0; eye < 2; eye++) {
        assert_int_equal(camera_request(&camera[eye], V4L2_MEMORY_MMAP), 0);
        assert_int_equal(camera_start(&camera[eye]), 0);
    }
    for (uint32_t n = 0; n < PAIRS; n++) {
        draw(n, pair);
        assert_int_equal(write(feed, pair, bytes), bytes);
        int64_t stamp_ns[2];
        for (int eye = 0; eye < 2; eye++) {
            struct v4l2_buffer buffer;
            assert_int_equal(camera_next(&camera[eye], 5000, &buffer), 0);
            assert_int_equal(buffer.sequence, n);
            assert_memory_equal(camera[eye].picture[buffer.index], pair + eye * WIDTH * HEIGHT, bytes / 2);
            stamp_ns[eye] = camera_stamp_ns(&buffer);
            assert_int_equal(camera_requeue(&camera[eye], (int)buffer.index), 0);
        }
        assert_int_equal(stamp_ns[0], stamp_ns[1]);
    }
    assert_int_equal(write(feed, pair, bytes - 1), -1);
    assert_int_equal(errno, EINVAL);
    camera_close(&camera[0]);
    camera_close(&camera[1]);
    close(feed);
    free(pair);
}

/* Nobody takes them: three fit, the next one would wait. */
static void test_room(void **state)
{
    (void)state;
    static uint8_t pair[2 * 320 * 200];
    stereocam_load("");
    knob_set("wait", 1);
    struct camera camera[2];
    stereocam_open(&camera[0], "left", 320, 200, V4L2_PIX_FMT_GREY);
    stereocam_open(&camera[1], "right", 320, 200, V4L2_PIX_FMT_GREY);
    int feed = open("/dev/stereocam", O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(write(feed, pair, sizeof pair), sizeof pair);
    assert_int_equal(write(feed, pair, sizeof pair), -1);
    assert_int_equal(errno, EAGAIN);
    close(feed);
    camera_close(&camera[0]);
    camera_close(&camera[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_exact),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
