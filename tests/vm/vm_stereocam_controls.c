/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test camera's controls: 64 bit as on Tegra or plain, and in force exactly two (exposure) and one (gain) pictures later.
 *
 * guest: stereocam
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/vm/camera.h"

enum { SENSOR_MODE = 0x009a2008, GAIN = 0x009a2009, EXPOSURE = 0x009a200a, BYPASS = 0x009a2064, OVERRIDE = 0x009a2065 };

static struct camera left;

static void open_left(const char *parameters)
{
    stereocam_load(parameters);
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
}

static int access_control(unsigned long request, uint32_t id, bool wide, int64_t *value)
{
    struct v4l2_ext_control control = {.id = id};
    struct v4l2_ext_controls controls = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &control};
    if (wide)
        control.value64 = *value;
    else
        control.value = (int32_t)*value;
    int result = ioctl(left.fd, request, &controls) < 0 ? -errno : 0;
    *value = wide ? control.value64 : control.value;
    return result;
}

static int control(uint32_t id, int64_t value)
{
    return access_control(VIDIOC_S_EXT_CTRLS, id, id != BYPASS && id != OVERRIDE && id >= SENSOR_MODE, &value);
}

static uint32_t next_sequence(void)
{
    struct v4l2_buffer buffer;
    assert_int_equal(camera_next(&left, 5000, &buffer), 0);
    assert_int_equal(camera_requeue(&left, (int)buffer.index), 0);
    return buffer.sequence;
}

static struct camera_record record(uint32_t sequence)
{
    struct camera_record record;
    assert_true(camera_record("left", sequence, &record));
    return record;
}

/* First picture at or after FROM whose member is VALUE. */
static uint32_t first_with(uint32_t from, bool exposure, unsigned value)
{
    for (uint32_t i = from;; i++) {
        while (next_sequence() < i)
            ;
        struct camera_record now = record(i);
        if ((exposure ? now.exposure_us : now.gain_16) == value)
            return i;
        assert_true(i < from + 30);
    }
}

/* Both are set between the same two pictures: then exposure comes exactly one picture after gain. */
static void test_delays(void **state)
{
    (void)state;
    open_left("");
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(control(OVERRIDE, 1), 0);
    assert_int_equal(control(0x009a200b, 4000000), 0); /* slow: there is time to set both in one gap */
    assert_int_equal(camera_start(&left), 0);
    for (unsigned i = 1; i <= 3; i++) {
        struct v4l2_ext_control both[] = {{.id = EXPOSURE, .value64 = 5000 * (int)i}, {.id = GAIN, .value64 = 16 + 8 * (int)i}};
        struct v4l2_ext_controls controls = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 2, .controls = both};
        uint32_t before = next_sequence();
        assert_int_equal(ioctl(left.fd, VIDIOC_S_EXT_CTRLS, &controls), 0);
        uint32_t gain = first_with(before + 1, false, 16 + 8 * i);
        uint32_t exposure = first_with(gain, true, 5000 * i);
        /* Set after picture `before` and, by all likelihood, before the next one. */
        assert_int_equal(gain, before + 2);
        assert_int_equal(exposure, before + 3);
    }
    camera_close(&left);
}

/* The picture is as bright as what is in force says, clipped at white. */
static void test_brightness(void **state)
{
    (void)state;
    open_left("");
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    knob_set("scale", 1);
    assert_int_equal(control(OVERRIDE, 1), 0);
    assert_int_equal(control(EXPOSURE, 5000), 0);
    assert_int_equal(control(GAIN, 48), 0);
    assert_int_equal(camera_start(&left), 0);
    struct v4l2_buffer buffer;
    assert_int_equal(camera_next(&left, 5000, &buffer), 0);
    for (uint32_t x = 0; x < 256; x++) {
        uint32_t ramp = (x + 3 * buffer.sequence) & 255, expected = ramp * 3 / 2;
        assert_int_equal(left.picture[buffer.index][x], expected > 255 ? 255 : expected);
    }
    camera_close(&left);
}

static void test_wide_controls(void **state)
{
    (void)state;
    static const struct {
        uint32_t id, type;
        const char *name;
    } wanted[] = {
        {SENSOR_MODE, V4L2_CTRL_TYPE_INTEGER64, "Sensor Mode"}, {GAIN, V4L2_CTRL_TYPE_INTEGER64, "Gain"},
        {EXPOSURE, V4L2_CTRL_TYPE_INTEGER64, "Exposure"},       {0x009a200b, V4L2_CTRL_TYPE_INTEGER64, "Frame Rate"},
        {BYPASS, V4L2_CTRL_TYPE_INTEGER_MENU, "Bypass Mode"},   {OVERRIDE, V4L2_CTRL_TYPE_INTEGER_MENU, "Override Enable"},
    };
    open_left("");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct v4l2_query_ext_ctrl query = {.id = wanted[i].id};
        assert_int_equal(ioctl(left.fd, VIDIOC_QUERY_EXT_CTRL, &query), 0);
        assert_int_equal(query.type, wanted[i].type);
        assert_string_equal(query.name, wanted[i].name);
    }
    int64_t value = 12345;
    assert_int_equal(control(EXPOSURE, value), 0);
    value = 0;
    assert_int_equal(access_control(VIDIOC_G_EXT_CTRLS, EXPOSURE, true, &value), 0);
    assert_int_equal(value, 12345);
    /* As on Tegra: the rate by control only. */
    struct v4l2_streamparm parm = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    assert_int_equal(ioctl(left.fd, VIDIOC_S_PARM, &parm), -1);
    assert_int_equal(errno, ENOTTY);
    camera_close(&left);
}

static void test_override_bypass_and_mode(void **state)
{
    (void)state;
    struct v4l2_buffer buffer;
    open_left("");
    assert_int_equal(control(SENSOR_MODE, 2), 0);
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    assert_int_equal(ioctl(left.fd, VIDIOC_G_FMT, &format), 0);
    assert_int_equal(format.fmt.pix.width, 640);
    assert_int_equal(format.fmt.pix.height, 400);
    left.format = format.fmt.pix;
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(control(SENSOR_MODE, 1), -EBUSY);
    assert_int_equal(control(EXPOSURE, 4000), 0);
    assert_int_equal(camera_start(&left), 0); /* without override: the mode's own exposure */
    assert_int_equal(record(next_sequence()).exposure_us, 10000);
    assert_int_equal(camera_stop(&left), 0);
    assert_int_equal(control(OVERRIDE, 1), 0);
    assert_int_equal(control(EXPOSURE, 4001), 0);
    assert_int_equal(camera_start(&left), 0);
    assert_int_equal(record(next_sequence()).exposure_us, 4001);
    assert_int_equal(camera_stop(&left), 0);
    assert_int_equal(control(BYPASS, 1), 0); /* pictures go elsewhere */
    assert_int_equal(camera_start(&left), 0);
    assert_int_equal(camera_next(&left, 500, &buffer), -ETIMEDOUT);
    camera_close(&left);
}

static void test_standard_controls(void **state)
{
    (void)state;
    open_left("standard_controls=1");
    assert_int_equal(camera_request(&left, V4L2_MEMORY_MMAP), 0);
    struct v4l2_queryctrl query = {.id = V4L2_CID_EXPOSURE_ABSOLUTE};
    assert_int_equal(ioctl(left.fd, VIDIOC_QUERYCTRL, &query), 0);
    assert_true(query.flags & V4L2_CTRL_FLAG_INACTIVE); /* automatic, as USB cameras begin */
    assert_int_equal(control(V4L2_CID_EXPOSURE_AUTO, V4L2_EXPOSURE_MANUAL), 0);
    assert_int_equal(control(V4L2_CID_EXPOSURE_ABSOLUTE, 42), 0);
    assert_int_equal(control(V4L2_CID_GAIN, 20), 0);
    struct v4l2_streamparm parm = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    parm.parm.capture.timeperframe = (struct v4l2_fract){1, 15};
    assert_int_equal(ioctl(left.fd, VIDIOC_S_PARM, &parm), 0);
    assert_int_equal(camera_start(&left), 0);
    struct camera_record now = record(next_sequence());
    assert_int_equal(now.exposure_us, 4200);
    assert_int_equal(now.gain_16, 20);
    camera_close(&left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delays),
        cmocka_unit_test(test_brightness),
        cmocka_unit_test(test_wide_controls),
        cmocka_unit_test(test_override_bypass_and_mode),
        cmocka_unit_test(test_standard_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
