/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of an MCAP file: encodings, stamps that differ, pictures without a partner, other topics, calibration, damage. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "bridge/mcap_write.h"
#include "bridge/ros_types.h"
#include "drivers/mcap/bag.h"
#include "tests/cmocka.h"

#define WIDTH 3
#define HEIGHT 2
#define MS 1000000

static char path[] = "/tmp/plx-bag-XXXXXX";

/* A bag that is being written: channels 1 to 4 are both eyes' pictures, then their camera_info. */
static struct {
    struct plx_mcap_writer *writer;
    int fd;
    uint16_t channel[4];
} bag;

static void begin(const char *left, const char *right)
{
    static const struct plx_cdr_type *const type[4] = {&ros_image_type, &ros_image_type, &ros_camera_info_type,
                                                       &ros_camera_info_type};
    const char *const topic[4] = {left, right, "/cam/left/camera_info", "/cam/right/camera_info"};
    struct plx_error_message message;
    bag.fd = open(path, O_WRONLY | O_TRUNC);
    const struct plx_mcap_writer_options options = {.fd = bag.fd, .name = path, .library = "test", .message_bytes = 4096};
    assert_int_equal(plx_mcap_writer_create(&options, &bag.writer, &message), 0);
    for (int i = 0; i < 4; i++) {
        uint16_t schema;
        assert_int_equal(plx_mcap_add_schema(bag.writer, type[i]->name, "ros2msg", "", 0, &schema, &message), 0);
        assert_int_equal(plx_mcap_add_channel(bag.writer, schema, topic[i], "cdr", NULL, 0, &bag.channel[i], &message), 0);
    }
}

static void put(int channel, const struct plx_cdr_type *type, const void *content)
{
    uint8_t data[4096];
    struct iovec part = {.iov_base = data};
    struct plx_error_message message;
    static uint32_t sequence;
    assert_int_equal(plx_cdr_encode(type, content, data, sizeof data, &part.iov_len), 0);
    const struct plx_mcap_header header = {.channel = bag.channel[channel], .sequence = sequence++};
    assert_int_equal(plx_mcap_write(bag.writer, &header, &part, 1, &message), 0);
}

static struct ros_image image(const char *encoding, uint32_t bytes, const uint8_t *data)
{
    return (struct ros_image){.header = {.frame_id = "cam"},
                              .height = HEIGHT,
                              .width = WIDTH,
                              .encoding = encoding,
                              .step = WIDTH * bytes,
                              .data = {.data = data, .count = WIDTH * HEIGHT * bytes}};
}

/* A grey picture whose pixels are VALUE, at STAMP_MS. */
static void put_grey(int eye, int64_t stamp_ms, uint8_t value)
{
    uint8_t data[WIDTH * HEIGHT];
    memset(data, value, sizeof data);
    struct ros_image grey = image("mono8", 1, data);
    grey.header.stamp.sec = (int32_t)(stamp_ms / 1000);
    grey.header.stamp.nanosec = (uint32_t)(stamp_ms % 1000 * MS);
    put(eye, &ros_image_type, &grey);
}

static void finish(void)
{
    struct plx_error_message message;
    assert_int_equal(plx_mcap_finish(bag.writer, &message), 0);
    plx_mcap_writer_destroy(bag.writer);
    close(bag.fd);
}

static struct plx_bag *opened(const char *left, const char *right)
{
    const struct plx_bag_options options = {path, {left, right}};
    struct plx_error_message message;
    struct plx_bag *result;
    if (plx_bag_open(&options, &result, &message) < 0)
        fail_msg("%s", message.text);
    return result;
}

static void refused(const char *left, const char *right, int error, const char *said)
{
    const struct plx_bag_options options = {path, {left, right}};
    struct plx_error_message message = {""};
    struct plx_bag *result;
    const int got = plx_bag_open(&options, &result, &message);
    if (got != error || !strstr(message.text, said) || strncmp(message.text, path, strlen(path)) != 0)
        fail_msg("%d: %s", got, message.text);
}

/* Reads pair K as 8 bits; returns its first pixels. */
static void read_pair(struct plx_bag *from, int k, uint8_t ret_left[WIDTH * HEIGHT], uint8_t ret_right[WIDTH * HEIGHT])
{
    struct plx_error_message message;
    const struct plx_image both[PLX_EYES] = {{ret_left, WIDTH, HEIGHT, WIDTH, PLX_U8},
                                             {ret_right, WIDTH, HEIGHT, WIDTH, PLX_U8}};
    if (plx_bag_read(from, k, both, &message) < 0)
        fail_msg("%s", message.text);
}

static void pairs_by_stamp_in_any_order(void **state)
{
    (void)state;
    uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
    begin("/cam/left/image_rect", "/cam/right/image_rect");
    put_grey(PLX_RIGHT, 1000, 101); /* right comes first; its partner is 2 ms later */
    put_grey(PLX_LEFT, 1002, 1);
    put_grey(PLX_LEFT, 1100, 2); /* no partner */
    put_grey(PLX_LEFT, 1200, 3);
    put_grey(PLX_RIGHT, 1190, 0); /* the next one is nearer */
    put_grey(PLX_RIGHT, 1201, 103);
    put_grey(PLX_LEFT, 1300, 4);
    put_grey(PLX_RIGHT, 1400, 105);
    put_grey(PLX_LEFT, 1400, 5);
    put_grey(PLX_RIGHT, 1300, 104); /* late */
    finish();
    struct plx_bag *pairs = opened("/cam/left/image_rect", "/cam/right/image_rect");
    const struct plx_bag_info *info = plx_bag_info(pairs);
    const int order[] = {0, 1, 2, 3, 0, 3, 2}; /* forward, and back */
    const uint8_t value[] = {1, 3, 4, 5};
    assert_true(info->count == 4 && info->width == WIDTH && info->height == HEIGHT && info->type == PLX_U8 &&
                !info->calibrated);
    assert_non_null(strstr(info->note.text, "2 pictures have no partner within 25.0 ms"));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        read_pair(pairs, order[i], left, right);
        assert_int_equal(left[0], value[order[i]]);
        assert_int_equal(right[WIDTH * HEIGHT - 1], 100 + value[order[i]]);
    }
    assert_int_equal(plx_bag_stamp_ns(pairs, 1), INT64_C(1200) * MS);
    plx_bag_close(pairs);
}

static void encodings_become_grey(void **state)
{
    (void)state;
    static const uint8_t rgb[WIDTH * HEIGHT * 4] = {200, 100, 50, 255, 100, 50, 200, 9};
    static const uint8_t wide[WIDTH * HEIGHT * 2] = {0x12, 0x34, 0xff, 0x01};
    static const struct {
        const char *encoding;
        uint32_t bytes;
        const uint8_t *data;
        uint8_t big_endian, first;
    } cases[] = {
        {"mono8", 1, rgb, 0, 200},
        {"8UC1", 1, rgb, 0, 200},
        {"rgb8", 3, rgb, 0, (77 * 200 + 150 * 100 + 29 * 50 + 128) >> 8},
        {"bgr8", 3, rgb, 0, (77 * 50 + 150 * 100 + 29 * 200 + 128) >> 8},
        {"rgba8", 4, rgb, 0, (77 * 200 + 150 * 100 + 29 * 50 + 128) >> 8},
        {"bgra8", 4, rgb, 0, (77 * 50 + 150 * 100 + 29 * 200 + 128) >> 8},
        {"mono16", 2, wide, 0, 0x34},
        {"16UC1", 2, wide, 1, 0x12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
        struct ros_image one = image(cases[i].encoding, cases[i].bytes, cases[i].data);
        one.is_bigendian = cases[i].big_endian;
        begin("/parallax/left/image_raw", "/parallax/right/image_raw"); /* the second default */
        put(PLX_LEFT, &ros_image_type, &one);
        put_grey(PLX_RIGHT, 0, 7);
        finish();
        struct plx_bag *pairs = opened("", "");
        read_pair(pairs, 0, left, right);
        if (left[0] != cases[i].first)
            fail_msg("%s: %d, expected %d", cases[i].encoding, left[0], cases[i].first);
        assert_int_equal(right[0], 7);
        plx_bag_close(pairs);
    }
}

static void both_eyes_of_16_bits_stay_so(void **state)
{
    (void)state;
    static const uint8_t wide[WIDTH * HEIGHT * 2] = {0x12, 0x34, 0xff, 0x01};
    const struct ros_image one = image("mono16", 2, wide);
    uint16_t left[HEIGHT][WIDTH], right[HEIGHT][WIDTH];
    struct plx_error_message message;
    const struct plx_image both[PLX_EYES] = {{left, WIDTH, HEIGHT, sizeof left[0], PLX_U16},
                                             {right, WIDTH, HEIGHT, sizeof right[0], PLX_U16}};
    begin("/parallax/left/image_rect", "/parallax/right/image_rect");
    put(PLX_LEFT, &ros_image_type, &one);
    put(PLX_RIGHT, &ros_image_type, &one);
    finish();
    struct plx_bag *pairs = opened("", "");
    assert_int_equal(plx_bag_info(pairs)->type, PLX_U16);
    assert_int_equal(plx_bag_read(pairs, 0, both, &message), 0);
    assert_true(left[0][0] == 0x3412 && right[0][1] == 0x01ff);
    plx_bag_close(pairs);
}

static void put_info(int eye, double shift, double k1)
{
    const double distortion[5] = {k1, 0, 0, 0, 0};
    const struct ros_camera_info info = {.header = {.frame_id = "cam"},
                                         .height = HEIGHT,
                                         .width = WIDTH,
                                         .distortion_model = "plumb_bob",
                                         .d = {.data = distortion, .count = 5},
                                         .k = {10, 0, 1, 0, 11, 0.5, 0, 0, 1},
                                         .r = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                         .p = {12, 0, 1.5, shift, 0, 12, 0.75, 0, 0, 0, 1, 0}};
    put(2 + eye, &ros_camera_info_type, &info);
}

static void calibration_beside_the_pictures(void **state)
{
    (void)state;
    static const char *const name[][2] = {{"/cam/left/image_rect", "/cam/right/image_rect"},
                                          {"/cam/left/image", "/cam/right/image"}};
    for (int raw = 0; raw < 2; raw++) {
        begin(name[raw][PLX_LEFT], name[raw][PLX_RIGHT]);
        put_info(PLX_LEFT, 0, 0.1);
        put_info(PLX_RIGHT, -12 * 0.2, 0.1);
        put_grey(PLX_LEFT, 0, 1);
        put_grey(PLX_RIGHT, 0, 1);
        finish();
        struct plx_bag *pairs = opened(name[raw][PLX_LEFT], name[raw][PLX_RIGHT]);
        const struct plx_bag_info *info = plx_bag_info(pairs);
        struct plx_calibration_info numbers;
        assert_true(info->calibrated);
        plx_calibration_info(&info->calibration, &numbers);
        assert_true(numbers.fx == 12 && numbers.cx == 1.5 && numbers.cy == 0.75);
        assert_true(numbers.baseline_m > 0.19999 && numbers.baseline_m < 0.20001);
        assert_int_equal(plx_calibration_is_identity(&info->calibration, PLX_LEFT), !raw);
        assert_true(raw ? info->calibration.camera[0].k[0] == 0.1 : info->calibration.camera[0].fx == 12);
        plx_bag_close(pairs);
    }
    begin("/cam/left/image_rect", "/cam/right/image_rect");
    put_info(PLX_LEFT, 0, 0);
    put_info(PLX_RIGHT, 12 * 0.2, 0); /* swapped */
    put_grey(PLX_LEFT, 0, 1);
    put_grey(PLX_RIGHT, 0, 1);
    finish();
    refused("/cam/left/image_rect", "/cam/right/image_rect", PLX_ERR_RANGE, "-fx * baseline");
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const uint8_t few[WIDTH * HEIGHT];
    struct ros_image wrong = image("mono8", 1, few);
    begin("/cam/left/image_rect", "/cam/right/image_rect");
    put_grey(PLX_LEFT, 0, 1);
    put_grey(PLX_RIGHT, 500, 1);
    finish();
    refused("", "", PLX_ERR_NOT_FOUND, "there are /cam/left/image_rect, /cam/right/image_rect");
    refused("/cam/left/image_rect", "/cam/right/image_rect", PLX_ERR_NOT_FOUND, "has about the same stamp");
    refused("/cam/left/camera_info", "/cam/right/image_rect", PLX_ERR_NOT_FOUND, "no pictures of /cam/left/camera_info");

    static const struct {
        const char *encoding, *said;
        uint32_t width, step;
        int error;
    } cases[] = {{"yuv422", "has the encoding \"yuv422\"", WIDTH, WIDTH, PLX_ERR_UNSUPPORTED},
                 {"mono8", "pictures of 0 x 2 pixels", 0, WIDTH, PLX_ERR_RANGE},
                 {"mono8", "pictures of 4000000000 x 2 pixels", 4000000000, WIDTH, PLX_ERR_RANGE},
                 {"rgb8", "expected 2 rows of at least 9", WIDTH, WIDTH, PLX_ERR_RANGE},
                 {"mono8", "6 bytes in rows of 4", WIDTH, 4, PLX_ERR_RANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wrong.encoding = cases[i].encoding;
        wrong.width = cases[i].width;
        wrong.step = cases[i].step;
        begin("/cam/left/image_rect", "/cam/right/image_rect");
        put(PLX_LEFT, &ros_image_type, &wrong);
        put_grey(PLX_RIGHT, 0, 1);
        finish();
        refused("/cam/left/image_rect", "/cam/right/image_rect", cases[i].error, cases[i].said);
    }
    assert_int_equal(truncate(path, 0), 0);
    assert_false(plx_bag_is_one(path));
}

/* A file that was cut off anywhere gives pairs, or a sentence. */
static void cut_off_anywhere(void **state)
{
    (void)state;
    int most = 0;
    begin("/parallax/left/image_rect", "/parallax/right/image_rect");
    for (int k = 0; k < 4; k++) {
        put_grey(PLX_LEFT, 100 * k, (uint8_t)k);
        put_grey(PLX_RIGHT, 100 * k, (uint8_t)k);
    }
    finish();
    FILE *file = fopen(path, "rb");
    static uint8_t whole[65536];
    const size_t bytes = fread(whole, 1, sizeof whole, file);
    fclose(file);
    for (size_t cut = PLX_MCAP_MAGIC_BYTES; cut <= bytes; cut += 7) {
        const struct plx_bag_options options = {path, {"", ""}};
        struct plx_error_message message = {""};
        struct plx_bag *pairs;
        file = fopen(path, "wb");
        assert_int_equal(fwrite(whole, 1, cut, file), cut);
        fclose(file);
        if (plx_bag_open(&options, &pairs, &message) == 0) {
            uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
            const int count = plx_bag_info(pairs)->count;
            most = count > most ? count : most;
            read_pair(pairs, count - 1, left, right);
            assert_int_equal(left[0], count - 1);
            plx_bag_close(pairs);
        } else {
            assert_string_not_equal(message.text, "");
        }
    }
    assert_int_equal(most, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_by_stamp_in_any_order),  cmocka_unit_test(encodings_become_grey),
        cmocka_unit_test(both_eyes_of_16_bits_stay_so), cmocka_unit_test(calibration_beside_the_pictures),
        cmocka_unit_test(what_is_wrong_is_said),        cmocka_unit_test(cut_off_anywhere),
    };
    close(mkstemp(path));
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
