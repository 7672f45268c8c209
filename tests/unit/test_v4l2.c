/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the v4l2 source that need no camera: names, formats, controls, JPEG. */
#include <errno.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <turbojpeg.h>

#include <parallax/error.h>

#include "drivers/files/picture.h"
#include "drivers/v4l2/controls.h"
#include "drivers/v4l2/decoder.h"
#include "drivers/v4l2/format.h"
#include "drivers/v4l2/node.h"
#include "tests/cmocka.h"

static void a_rule_is_a_path_or_a_match(void **state)
{
    (void)state;
    const struct plx_v4l2_identity zed = {
        .card = "ZED 2i: ZED 2i", .driver = "uvcvideo", .serial = "123", .bus = "usb-0000:00:14.0-2"};
    static const struct {
        const char *text;
        bool fits;
    } matches[] = {
        {"card=ZED*", true},
        {"card=ZED", false},
        {"driver=uvcvideo,serial=123", true},
        {"driver=uvcvideo,serial=124", false},
        {"bus=usb-*-2", true},
        {"card=*,driver=*,serial=*,bus=*", true},
    };
    struct plx_v4l2_rule rule;

    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        assert_int_equal(plx_v4l2_rule_parse(matches[i].text, &rule, NULL), 0);
        assert_string_equal(rule.path, "");
        assert_int_equal(plx_v4l2_rule_fits(&rule, &zed), matches[i].fits);
    }
    assert_int_equal(plx_v4l2_rule_parse("/dev/v4l/by-path/pci-0-video-index0", &rule, NULL), 0);
    assert_string_equal(rule.path, "/dev/v4l/by-path/pci-0-video-index0");
    assert_int_equal(plx_v4l2_rule_parse("/dev/video-left", &rule, NULL), 0);
}

static void a_wrong_rule_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {"/dev/video0", "changes whenever a camera is plugged in"},
        {"/dev/video12", "changes whenever a camera is plugged in"},
        {"", "expected a path"},
        {"ZED", "\"ZED\" is not understood"},
        {"card=", "\"card=\" is not understood"},
        {"card=a,", "\"\" is not understood"},
        {"cards=a", "\"cards=a\" is not understood"},
        {"driver=sixteen-letters!", "too long; expected at most 15 bytes"},
    };
    char path[PLX_V4L2_PATH + 1];
    struct plx_v4l2_rule rule, before;
    struct plx_error_message message;

    memset(&rule, 0x5A, sizeof rule);
    before = rule;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(plx_v4l2_rule_parse(wrong[i].text, &rule, &message), PLX_ERR_RANGE);
        if (!strstr(message.text, wrong[i].sentence))
            fail_msg("\"%s\" gives \"%s\", expected \"%s\"", wrong[i].text, message.text, wrong[i].sentence);
    }
    memset(path, '/', sizeof path);
    path[PLX_V4L2_PATH] = '\0';
    assert_int_equal(plx_v4l2_rule_parse(path, &rule, &message), PLX_ERR_RANGE);
    assert_memory_equal(&rule, &before, sizeof rule);
}

/* A device says what it likes of itself; logs, status and sd_notify get one clean line of it. */
static void names_of_devices_are_cleaned(void **state)
{
    (void)state;
    struct v4l2_capability capability = {.driver = "uvc\nREADY=1"};
    struct plx_v4l2_identity identity = {.serial = "a"};

    memcpy(capability.card, "Cam\x1B[2J\r\xC3\xA9\xFF\xC2\x85", 13);
    memset(capability.bus_info, 0x80, sizeof capability.bus_info); /* without an end */
    plx_v4l2_identity_read(&capability, &identity);
    assert_string_equal(identity.driver, "uvc?READY=1");
    assert_string_equal(identity.card, "Cam?[2J?\xC3\xA9??");
    assert_string_equal(identity.bus, "???????????????????????????????");
    assert_string_equal(identity.serial, "a");
}

/* The name that `parallax cameras` suggests can be written into YAML and finds the camera again. */
static void a_suggested_name_is_a_rule(void **state)
{
    (void)state;
    struct plx_v4l2_node node = {.path = "/nowhere", .identity = {.driver = "d", .serial = "1,2\"\\*[x", .bus = "usb"}};
    char name[PLX_V4L2_PATH];
    struct plx_v4l2_rule rule;

    plx_v4l2_configured_name(&node, name);
    assert_string_equal(name, "driver=d,serial=1?2????x");
    assert_int_equal(plx_v4l2_rule_parse(name, &rule, NULL), 0);
    assert_true(plx_v4l2_rule_fits(&rule, &node.identity));
    node.identity.serial[0] = '\0';
    plx_v4l2_configured_name(&node, name);
    assert_string_equal(name, "driver=d,bus=usb");
}

/* The errno of a camera decides: look for it, wait for it, or give up. */
static void errors_are_told_by_what_they_mean(void **state)
{
    (void)state;
    static const struct {
        int number, error;
    } cases[] = {
        {ENODEV, PLX_ERR_LOST},        {ENXIO, PLX_ERR_LOST},         {ENOENT, PLX_ERR_LOST}, {ETIMEDOUT, PLX_ERR_LOST},
        {EPIPE, PLX_ERR_LOST},         {EACCES, PLX_ERR_PERMISSION},  {EBUSY, PLX_ERR_BUSY},  {ENOMEM, PLX_ERR_NOMEM},
        {EINVAL, PLX_ERR_UNSUPPORTED}, {ENOTTY, PLX_ERR_UNSUPPORTED}, {EIO, PLX_ERR_IO},      {EFAULT, PLX_ERR_IO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[96];
        struct plx_error_message message;
        snprintf(expected, sizeof expected, "/dev/x: no pictures: %s", strerror(cases[i].number));
        assert_int_equal(plx_v4l2_fail(&message, "/dev/x", -cases[i].number, "no pictures"), cases[i].error);
        assert_string_equal(message.text, expected);
    }
}

static void formats_are_known_by_their_characters(void **state)
{
    (void)state;
    char text[5];

    for (int i = 0; i < plx_v4l2_format_count; i++) {
        assert_ptr_equal(plx_v4l2_format_find(plx_v4l2_formats[i].fourcc), &plx_v4l2_formats[i]); /* none twice */
        plx_v4l2_fourcc_text(plx_v4l2_formats[i].fourcc, text);
        assert_int_equal(plx_v4l2_fourcc_parse(text), plx_v4l2_formats[i].fourcc);
    }
    assert_int_equal(plx_v4l2_fourcc_parse("Y10"), V4L2_PIX_FMT_Y10);
    assert_int_equal(plx_v4l2_fourcc_parse(""), 0);
    assert_int_equal(plx_v4l2_fourcc_parse("MJPEG"), 0);
    assert_null(plx_v4l2_format_find(V4L2_PIX_FMT_H264));
    assert_int_equal(plx_v4l2_format_find(V4L2_PIX_FMT_SGBRG12)->bayer, PLX_BAYER_GBRG);
    plx_v4l2_fourcc_text(0x80013131u, text);
    assert_string_equal(text, "11??");
}

static void jpeg_gives_its_luma(void **state)
{
    (void)state;
    enum { WIDTH = 37, HEIGHT = 21, PITCH = 64 };
    uint8_t grey[HEIGHT * WIDTH], decoded[HEIGHT * PITCH];
    unsigned char *file = NULL;
    unsigned long bytes = 0;
    struct plx_jpeg *jpeg;
    struct plx_error_message message;
    const struct plx_image image = {decoded, WIDTH, HEIGHT, PITCH, PLX_U8}, other = {decoded, WIDTH, HEIGHT - 1, PITCH, PLX_U8};

    for (int i = 0; i < HEIGHT * WIDTH; i++)
        grey[i] = (uint8_t)(4 * (i % WIDTH) + 3 * (i / WIDTH));
    tjhandle compress = tjInitCompress();
    assert_int_equal(tjCompress2(compress, grey, WIDTH, WIDTH, HEIGHT, TJPF_GRAY, &file, &bytes, TJSAMP_GRAY, 98, 0), 0);
    assert_int_equal(plx_jpeg_create(&jpeg), 0);
    assert_int_equal(plx_jpeg_decode(jpeg, file, bytes, &image, NULL, &message), 0);
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        assert_true(abs(decoded[i / WIDTH * PITCH + i % WIDTH] - grey[i]) <= 3);
    assert_int_equal(plx_jpeg_decode(jpeg, file, bytes, &other, NULL, &message), PLX_ERR_FORMAT);
    for (unsigned long cut = 0; cut < bytes; cut += 7)
        assert_int_equal(plx_jpeg_decode(jpeg, file, cut, &image, NULL, &message), PLX_ERR_FORMAT);
    /* A damaged picture spoils none after it. */
    assert_int_equal(plx_jpeg_decode(jpeg, file, bytes, &image, NULL, &message), 0);
    plx_jpeg_destroy(jpeg);
    plx_jpeg_destroy(NULL);
    tjFree(file);
    tjDestroy(compress);
}

static void controls_are_named_as_people_write_them(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"Exposure Time, Absolute", "exposure_time_absolute"},
        {"Sensor Mode", "sensor_mode"},
        {" White--Balance (auto) ", "white_balance_auto"},
        {"", ""},
        {"123456789012345678901234567890 45678", "123456789012345678901234567890"},
    };
    char name[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        plx_v4l2_control_name(names[i][0], name);
        assert_string_equal(name, names[i][1]);
    }
}

static void a_value_is_cut_to_range_and_steps(void **state)
{
    (void)state;
    const struct plx_v4l2_control narrow = {.minimum = -10, .maximum = 20, .step = 7},
                                  wide = {.minimum = INT64_MIN, .maximum = INT64_MAX, .step = 1};
    static const int64_t values[][2] = {{-100, -10}, {-10, -10}, {-4, -10}, {-3, -3}, {3, -3},
                                        {4, 4},      {17, 11},   {20, 20},  {99, 20}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_int_equal(plx_v4l2_control_clamp(&narrow, values[i][0]), values[i][1]);
    assert_int_equal(plx_v4l2_control_clamp(&wide, INT64_MAX - 1), INT64_MAX - 1);
    assert_int_equal(plx_v4l2_control_clamp(&wide, INT64_MIN), INT64_MIN);
}

static void assignments_are_read_one_by_one(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "a", "=1", "a=", "a=1x", "a=1 2", "a=99999999999999999999", "a b c=1.5", "a_name_that_is_far_too_long_for_it=1"};
    const char *text = " bypass_mode=0, 0x009a200a=0x10 ,gain=-3,";
    struct plx_v4l2_assignment one;
    struct plx_error_message message;

    assert_int_equal(plx_v4l2_assignment_next(&text, &one, &message), 1);
    assert_string_equal(one.name, "bypass_mode");
    assert_int_equal(one.value, 0);
    assert_int_equal(plx_v4l2_assignment_next(&text, &one, &message), 1);
    assert_string_equal(one.name, "0x009a200a");
    assert_int_equal(one.value, 16);
    assert_int_equal(plx_v4l2_assignment_next(&text, &one, &message), 1);
    assert_int_equal(one.value, -3);
    assert_int_equal(plx_v4l2_assignment_next(&text, &one, &message), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        text = wrong[i];
        assert_int_equal(plx_v4l2_assignment_next(&text, &one, &message), PLX_ERR_RANGE);
        assert_ptr_equal(text, wrong[i]);
    }
}

static void gain_is_linear_or_in_db(void **state)
{
    (void)state;
    assert_int_equal(plx_v4l2_gain_value(4.5, 1.0 / 16, false), 72);
    assert_int_equal(plx_v4l2_gain_value(2.0, 0.3, true), 20); /* 6.02 dB */
    for (int64_t value = 0; value <= 240; value++)
        assert_int_equal(plx_v4l2_gain_value(plx_v4l2_gain_of(value, 0.1, true), 0.1, true), value);
    assert_true(plx_v4l2_gain_of(0, 0.3, true) == 1.0);
}

static void a_camera_is_told_by_its_serial_number_or_its_place(void **state)
{
    (void)state;
    static const struct {
        struct plx_v4l2_identity identity;
        const char *text;
    } row[] = {
        {{.card = "Eye", .bus = "usb-1.2", .serial = "77"}, "Eye 77"},
        {{.card = "Eye", .bus = "usb-1.2"}, "Eye usb-1.2"},
        {{.card = "Eye", .driver = "uvcvideo"}, ""}, /* there may be two of them */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[PLX_V4L2_IDENTITY];
        plx_v4l2_identity_text(&row[i].identity, text);
        assert_string_equal(text, row[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_a_path_or_a_match),
        cmocka_unit_test(a_wrong_rule_is_refused),
        cmocka_unit_test(names_of_devices_are_cleaned),
        cmocka_unit_test(a_suggested_name_is_a_rule),
        cmocka_unit_test(errors_are_told_by_what_they_mean),
        cmocka_unit_test(formats_are_known_by_their_characters),
        cmocka_unit_test(jpeg_gives_its_luma),
        cmocka_unit_test(controls_are_named_as_people_write_them),
        cmocka_unit_test(a_value_is_cut_to_range_and_steps),
        cmocka_unit_test(assignments_are_read_one_by_one),
        cmocka_unit_test(gain_is_linear_or_in_db),
        cmocka_unit_test(a_camera_is_told_by_its_serial_number_or_its_place),
    };
    return cmocka_run_group_tests_name("v4l2", tests, NULL, NULL);
}
