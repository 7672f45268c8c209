/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of MCAP files: pictures without a partner, encodings, depths. */
#include "tests/unit/bag_write.h"

static void pairs_by_stamp_in_any_order(void **state)
{
    (void)state;
    uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
    bag_begin("/cam/left/image_rect", "/cam/right/image_rect");
    bag_put_grey(PLX_RIGHT, 1000, 101); /* right comes first; its partner is 2 ms later */
    bag_put_grey(PLX_LEFT, 1002, 1);
    bag_put_grey(PLX_LEFT, 1100, 2); /* no partner */
    bag_put_grey(PLX_LEFT, 1200, 3);
    bag_put_grey(PLX_RIGHT, 1190, 0); /* the next one is nearer */
    bag_put_grey(PLX_RIGHT, 1201, 103);
    bag_put_grey(PLX_LEFT, 1300, 4);
    bag_put_grey(PLX_RIGHT, 1400, 105);
    bag_put_grey(PLX_LEFT, 1400, 5);
    bag_put_grey(PLX_RIGHT, 1300, 104); /* late */
    bag_finish();
    struct plx_bag *pairs = bag_open("/cam/left/image_rect", "/cam/right/image_rect");
    const struct plx_bag_info *info = plx_bag_info(pairs);
    const int order[] = {0, 1, 2, 3, 0, 3, 2}; /* forward, and back */
    const uint8_t value[] = {1, 3, 4, 5};
    struct plx_stereo_calibration none;
    struct plx_error_message message;
    assert_true(info->count == 4 && info->width == WIDTH && info->height == HEIGHT && info->type == PLX_U8);
    assert_int_equal(plx_bag_calibration(pairs, &none, &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(info->note.text, "2 pictures have no partner within 25.0 ms"));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        bag_read_pair(pairs, order[i], left, right);
        assert_int_equal(left[0], value[order[i]]);
        assert_int_equal(right[WIDTH * HEIGHT - 1], 100 + value[order[i]]);
    }
    assert_int_equal(plx_bag_time_ns(pairs, 1), INT64_C(1200) * MS);
    plx_bag_close(pairs);
}

static void encodings_become_grey(void **state)
{
    (void)state;
    static const uint8_t rgb[WIDTH * HEIGHT * 4] = {200, 100, 50, 255, 100, 50, 200, 9};
    static const uint8_t wide[WIDTH * HEIGHT * 2] = {0x12, 0x34, 0xff, 0x01};
    static const uint8_t mosaic[WIDTH * HEIGHT] = {90, 60, 90, 60, 30, 60}; /* 90 60 90 above 60 30 60 */
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
        {"8UC3", 3, rgb, 0, (77 * 50 + 150 * 100 + 29 * 200 + 128) >> 8},
        {"8UC4", 4, rgb, 0, (77 * 50 + 150 * 100 + 29 * 200 + 128) >> 8},
        {"bayer_rggb8", 1, mosaic, 0, (77 * 90 + 150 * 60 + 29 * 30 + 128) >> 8},
        {"bayer_bggr8", 1, mosaic, 0, (29 * 90 + 150 * 60 + 77 * 30 + 128) >> 8},
        {"bayer_grbg8", 1, mosaic, 0, (150 * 90 + 77 * 60 + 29 * 60 + 128) >> 8},
        {"bayer_gbrg8", 1, mosaic, 0, (150 * 90 + 29 * 60 + 77 * 60 + 128) >> 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
        struct ros_image one = bag_image(cases[i].encoding, cases[i].bytes, cases[i].data);
        one.is_bigendian = cases[i].big_endian;
        bag_begin("/parallax/left/image_raw", "/parallax/right/image_raw"); /* the second default */
        bag_put(PLX_LEFT, &ros_image_type, &one);
        bag_put_grey(PLX_RIGHT, 0, 7);
        bag_finish();
        struct plx_bag *pairs = bag_open("", "");
        bag_read_pair(pairs, 0, left, right);
        if (left[0] != cases[i].first)
            fail_msg("%s: %d, expected %d", cases[i].encoding, left[0], cases[i].first);
        assert_int_equal(right[0], 7);
        plx_bag_close(pairs);
    }
}

static void chroma_is_left_out(void **state)
{
    (void)state;
    static const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const struct {
        const char *encoding;
        uint32_t step, count;
        uint8_t grey[4]; /* 2 x 2 */
    } cases[] = {
        {"yuv422", 4, 8, {2, 4, 6, 8}},
        {"yuv422_yuy2", 4, 8, {1, 3, 5, 7}},
        {"nv12", 2, 6, {1, 2, 3, 4}},
        {"nv21", 2, 6, {1, 2, 3, 4}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t left[4], right[4];
        const struct plx_image both[PLX_EYES] = {{left, 2, 2, 2, PLX_U8}, {right, 2, 2, 2, PLX_U8}};
        const struct ros_image one = {.header = {.frame_id = "cam"},
                                      .height = 2,
                                      .width = 2,
                                      .encoding = cases[i].encoding,
                                      .step = cases[i].step,
                                      .data = {.data = bytes, .count = cases[i].count}};
        struct plx_error_message message;
        bag_begin("/l/image_raw", "/r/image_raw");
        bag_put(PLX_LEFT, &ros_image_type, &one);
        bag_put(PLX_RIGHT, &ros_image_type, &one);
        bag_finish();
        struct plx_bag *pairs = bag_open("/l/image_raw", "/r/image_raw");
        assert_int_equal(plx_bag_read(pairs, 0, both, &message), 0);
        assert_memory_equal(left, cases[i].grey, 4);
        assert_memory_equal(right, cases[i].grey, 4);
        plx_bag_close(pairs);
    }
}

static void both_eyes_of_16_bits_stay_so(void **state)
{
    (void)state;
    static const uint8_t wide[WIDTH * HEIGHT * 2] = {0x12, 0x34, 0xff, 0x01};
    const struct ros_image one = bag_image("mono16", 2, wide);
    uint16_t left[HEIGHT][WIDTH], right[HEIGHT][WIDTH];
    struct plx_error_message message;
    const struct plx_image both[PLX_EYES] = {{left, WIDTH, HEIGHT, sizeof left[0], PLX_U16},
                                             {right, WIDTH, HEIGHT, sizeof right[0], PLX_U16}};
    bag_begin("/parallax/left/image_rect", "/parallax/right/image_rect");
    bag_put(PLX_LEFT, &ros_image_type, &one);
    bag_put(PLX_RIGHT, &ros_image_type, &one);
    bag_finish();
    struct plx_bag *pairs = bag_open("", "");
    assert_int_equal(plx_bag_info(pairs)->type, PLX_U16);
    assert_int_equal(plx_bag_read(pairs, 0, both, &message), 0);
    assert_true(left[0][0] == 0x3412 && right[0][1] == 0x01ff);
    plx_bag_close(pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_by_stamp_in_any_order),
        cmocka_unit_test(encodings_become_grey),
        cmocka_unit_test(chroma_is_left_out),
        cmocka_unit_test(both_eyes_of_16_bits_stay_so),
    };
    return cmocka_run_group_tests(tests, bag_make_file, bag_remove_file);
}
