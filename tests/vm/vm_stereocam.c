/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the other cases believe of stereocam, our test camera: its samples, its memory, its skew, the picture in which a setting
 * acts, and that fed pictures come out byte by byte. The vm_source and vm_service cases show its faults and controls through
 * the real source.
 *
 * guest: stereocam
 */
#include "tests/cmocka.h"
#include "tests/vm/camera.h"

#include "core/base/image.h"
#include "drivers/v4l2/format.h"

enum { FORMATS = 15 }; /* grey of three depths, Bayer of three depths in four orders */

static struct v4l2_buffer next(struct camera *camera)
{
    struct v4l2_buffer buffer;
    assert_int_equal(camera_next(camera, 5000, &buffer), 0);
    assert_int_equal(camera_requeue(camera, (int)buffer.index), 0);
    return buffer;
}

/* --- samples and memory --- */

/* The ramp that the driver's README promises. */
static void assert_ramp(const struct camera *camera, int bits, int right, const struct v4l2_buffer *buffer)
{
    const uint8_t *picture = camera->picture[buffer->index];
    if (!picture) {
        fail_msg("picture %u was never mapped", buffer->index);
        return;
    }
    assert_int_equal(buffer->bytesused, camera->format.sizeimage);
    for (uint32_t y = 0; y < camera->format.height; y++)
        for (uint32_t x = 0; x < camera->format.width; x++) {
            const uint8_t *at = picture + y * camera->format.bytesperline + x * (bits > 8 ? 2 : 1);
            uint32_t value = bits > 8 ? (uint32_t)(at[0] | at[1] << 8) : at[0];
            uint32_t expected = ((x + y + 3 * buffer->sequence + 8 * (uint32_t)right) & 255) << (bits - 8);
            if (value != expected)
                fail_msg("(%u, %u) of picture %u is %u, expected %u", x, y, buffer->sequence, value, expected);
        }
}

static void stream_and_check(struct camera *camera, int bits, int right)
{
    assert_int_equal(camera_start(camera), 0);
    for (int i = 0; i < 6; i++) {
        struct v4l2_buffer buffer;
        assert_int_equal(camera_next(camera, 5000, &buffer), 0);
        assert_ramp(camera, bits, right, &buffer);
        assert_int_equal(camera_requeue(camera, (int)buffer.index), 0);
    }
    assert_int_equal(camera_stop(camera), 0);
    camera_close(camera);
}

/* The driver's formats mean what the source takes them for. */
static void test_formats(void **state)
{
    (void)state;
    struct camera camera;
    struct v4l2_fmtdesc desc[FORMATS + 1];
    int count = 0;
    stereocam_load("width=63 height=33");
    stereocam_open(&camera, "left", 63, 33, V4L2_PIX_FMT_GREY);
    do
        desc[count] = (struct v4l2_fmtdesc){.index = (uint32_t)count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    while (ioctl(camera.fd, VIDIOC_ENUM_FMT, &desc[count]) == 0 && count++ < FORMATS);
    assert_int_equal(count, FORMATS);
    camera_close(&camera);
    for (int i = 0; i < FORMATS; i++) {
        const struct plx_v4l2_format *format = plx_v4l2_format_find(desc[i].pixelformat);
        assert_non_null(format);
        const int bits = plx_format_layout(format->format)->bits;
        stereocam_open(&camera, i % 2 ? "right" : "left", 63, 33, format->fourcc);
        assert_int_equal(camera.format.pixelformat, format->fourcc);
        assert_int_equal(camera.format.width, 63);
        assert_int_equal(camera.format.bytesperline, bits > 8 ? 126 : 63);
        assert_int_equal(camera_request(&camera, V4L2_MEMORY_MMAP), 0);
        stream_and_check(&camera, bits, i % 2);
    }
}

static void test_longer_rows(void **state)
{
    (void)state;
    struct camera camera;
    stereocam_load("width=65 height=17 stride_align=256");
    stereocam_open(&camera, "right", 65, 17, V4L2_PIX_FMT_Y12);
    assert_int_equal(camera.format.bytesperline, 256);
    assert_int_equal(camera.format.sizeimage, 256 * 17);
    assert_int_equal(camera_request(&camera, V4L2_MEMORY_MMAP), 0);
    stream_and_check(&camera, 12, 1);
}

static void test_userptr(void **state)
{
    (void)state;
    struct camera camera;
    stereocam_load("");
    stereocam_open(&camera, "left", 320, 200, V4L2_PIX_FMT_Y10);
    assert_int_equal(camera_request(&camera, V4L2_MEMORY_USERPTR), 0);
    stream_and_check(&camera, 10, 0);
    stereocam_load("userptr=0");
    stereocam_open(&camera, "left", 320, 200, V4L2_PIX_FMT_Y10);
    assert_int_equal(camera_request(&camera, V4L2_MEMORY_USERPTR), -EINVAL);
    camera_close(&camera);
}

/* The left camera writes into buffers of the right one. */
static void test_dmabuf(void **state)
{
    (void)state;
    struct camera left, right;
    stereocam_load("");
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
    stereocam_open(&right, "right", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&right, V4L2_MEMORY_MMAP), 0);
    left.exporter = &right;
    assert_int_equal(camera_request(&left, V4L2_MEMORY_DMABUF), 0);
    stream_and_check(&left, 8, 0);
    camera_close(&right);
}

/* --- clock and controls --- */

enum { GAIN = 0x009a2009, EXPOSURE = 0x009a200a, FRAME_RATE = 0x009a200b, OVERRIDE = 0x009a2065 };

static int set_control(struct camera *camera, uint32_t id, int64_t value)
{
    struct v4l2_ext_control control = {.id = id, .value64 = value};
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
    const int64_t period_ns = 50000000;
    struct camera left, right;
    int64_t last_ns = 0;

    stereocam_load("");
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
    stereocam_open(&right, "right", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(camera_request(&right, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(set_control(&left, FRAME_RATE, 20000000), 0);
    stereocam_set(skew_us < 0 ? "left/skew_ns" : "right/skew_ns", 1000 * llabs(skew_us));
    assert_int_equal(camera_start(&left), 0);
    assert_int_equal(camera_start(&right), 0);
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
    camera_close(&left);
    camera_close(&right);
}

static void test_skew(void **state)
{
    (void)state;
    check_skew(0);
    check_skew(7321);
    check_skew(-12000);
}

/* First picture of the left camera at or after FROM whose exposure, or else gain, is VALUE. */
static uint32_t first_with(struct camera *left, uint32_t from, bool exposure, unsigned value)
{
    for (uint32_t i = from;; i++) {
        struct camera_record record = {.sequence = 0};
        while (next(left).sequence < i)
            ;
        assert_true(camera_record("left", i, &record));
        if ((exposure ? record.exposure_us : record.gain_16) == value)
            return i;
        assert_true(i < from + 30);
    }
}

/* Both are set between the same two pictures: exposure acts exactly one picture after gain. */
static void test_delays(void **state)
{
    (void)state;
    struct camera left;
    stereocam_load("");
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(set_control(&left, OVERRIDE, 1), 0);
    assert_int_equal(set_control(&left, FRAME_RATE, 4000000), 0); /* slow: there is time to set both in one gap */
    assert_int_equal(camera_start(&left), 0);
    for (unsigned i = 1; i <= 3; i++) {
        struct v4l2_ext_control both[] = {{.id = EXPOSURE, .value64 = 5000 * (int)i}, {.id = GAIN, .value64 = 16 + 8 * (int)i}};
        struct v4l2_ext_controls controls = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 2, .controls = both};
        uint32_t before = next(&left).sequence;
        assert_int_equal(ioctl(left.fd, VIDIOC_S_EXT_CTRLS, &controls), 0);
        uint32_t gain = first_with(&left, before + 1, false, 16 + 8 * i);
        uint32_t exposure = first_with(&left, gain, true, 5000 * i);
        /* Set after picture `before` and, by all likelihood, before the next one. */
        assert_int_equal(gain, before + 2);
        assert_int_equal(exposure, before + 3);
    }
    camera_close(&left);
}

/* --- fed pictures --- */

enum { WIDTH = 320, HEIGHT = 200, PAIRS = 30 };

/* Noise of 10 bits, another for each NUMBER (Numerical Recipes' generator). */
static void draw_pair(uint32_t number, uint16_t *pair)
{
    uint32_t state = number * 2654435761u + 1;
    for (int i = 0; i < 2 * WIDTH * HEIGHT; i++) {
        state = state * 1664525u + 1013904223u;
        pair[i] = (uint16_t)(state >> 8 & 1023);
    }
}

static void test_fed_pictures(void **state)
{
    (void)state;
    static uint16_t pair[2 * WIDTH * HEIGHT];
    struct camera camera[2];
    stereocam_load("");
    stereocam_set("wait", 1);
    int feed = open("/dev/stereocam", O_WRONLY | O_CLOEXEC);
    assert_true(feed >= 0);
    for (int eye = 0; eye < 2; eye++) {
        stereocam_open(&camera[eye], eye ? "right" : "left", WIDTH, HEIGHT, V4L2_PIX_FMT_SRGGB10);
        assert_int_equal(camera_request(&camera[eye], V4L2_MEMORY_MMAP), 0);
        assert_int_equal(camera_start(&camera[eye]), 0);
    }
    for (uint32_t n = 0; n < PAIRS; n++) {
        int64_t stamp_ns[2];
        draw_pair(n, pair);
        assert_int_equal(write(feed, pair, sizeof pair), sizeof pair);
        for (int eye = 0; eye < 2; eye++) {
            struct v4l2_buffer buffer;
            assert_int_equal(camera_next(&camera[eye], 5000, &buffer), 0);
            assert_int_equal(buffer.sequence, n);
            assert_memory_equal(camera[eye].picture[buffer.index], pair + eye * WIDTH * HEIGHT, sizeof pair / 2);
            stamp_ns[eye] = camera_stamp_ns(&buffer);
            assert_int_equal(camera_requeue(&camera[eye], (int)buffer.index), 0);
        }
        assert_int_equal(stamp_ns[0], stamp_ns[1]);
    }
    camera_close(&camera[0]);
    camera_close(&camera[1]);
    close(feed);
}

static void test_unload(void **state)
{
    (void)state;
    assert_int_equal(system("rmmod stereocam"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),      cmocka_unit_test(test_longer_rows), cmocka_unit_test(test_userptr),
        cmocka_unit_test(test_dmabuf),       cmocka_unit_test(test_skew),        cmocka_unit_test(test_delays),
        cmocka_unit_test(test_fed_pictures), cmocka_unit_test(test_unload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
