/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of MCAP files: encodings, times, pictures without a partner, other topics, calibration, folders, damage. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/mcap/bag.h"
#include "drivers/mcap/bag_files.h"
#include "formats/cdr/ros_types.h"
#include "formats/mcap/write.h"
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

static int64_t log_ns;     /* time of the next messages */
static bool is_compressed; /* each by itself, as rosbag2 does by compression_mode: message */

static void put(int channel, const struct plx_cdr_type *type, const void *content)
{
    uint8_t data[4096];
    struct iovec part = {.iov_base = data};
    struct plx_error_message message;
    static uint32_t sequence;
    assert_int_equal(plx_cdr_encode(type, content, data, sizeof data, &part.iov_len), 0);
    const struct plx_mcap_header header = {.channel = bag.channel[channel], .sequence = sequence++, .log_ns = (uint64_t)log_ns};
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

/* A grey picture whose pixels are VALUE, at STAMP_NS. */
static void put_grey_at(int eye, int64_t stamp_ns, uint8_t value)
{
    uint8_t data[WIDTH * HEIGHT];
    memset(data, value, sizeof data);
    struct ros_image grey = image("mono8", 1, data);
    grey.header.stamp.sec = (int32_t)(stamp_ns / PLX_NS_PER_S);
    grey.header.stamp.nanosec = (uint32_t)(stamp_ns % PLX_NS_PER_S);
    put(eye, &ros_image_type, &grey);
}

static void put_grey(int eye, int64_t stamp_ms, uint8_t value)
{
    put_grey_at(eye, stamp_ms * MS, value);
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
    const struct plx_bag_options options = {.path = path, .topic = {left, right}};
    struct plx_error_message message;
    struct plx_bag *result;
    if (plx_bag_open(&options, &result, &message) < 0)
        fail_msg("%s", message.text);
    return result;
}

static void refused(const char *left, const char *right, int error, const char *said)
{
    const struct plx_bag_options options = {.path = path, .topic = {left, right}};
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
    struct plx_stereo_calibration none;
    struct plx_error_message message;
    assert_true(info->count == 4 && info->width == WIDTH && info->height == HEIGHT && info->type == PLX_U8);
    assert_int_equal(plx_bag_calibration(pairs, &none, &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(info->note.text, "2 pictures have no partner within 25.0 ms"));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        read_pair(pairs, order[i], left, right);
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
        begin("/l/image_raw", "/r/image_raw");
        put(PLX_LEFT, &ros_image_type, &one);
        put(PLX_RIGHT, &ros_image_type, &one);
        finish();
        struct plx_bag *pairs = opened("/l/image_raw", "/r/image_raw");
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

/* As a driver publishes it that was calibrated; SHIFT: the fourth number of P. */
static struct ros_camera_info good_info(double shift)
{
    static const double distortion[5] = {0.1, 0, 0, 0, 0};
    return (struct ros_camera_info){.header = {.frame_id = "cam"},
                                    .height = HEIGHT,
                                    .width = WIDTH,
                                    .distortion_model = "plumb_bob",
                                    .d = {.data = distortion, .count = 5},
                                    .k = {10, 0, 1, 0, 11, 0.5, 0, 0, 1},
                                    .r = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                    .p = {12, 0, 1.5, shift, 0, 12, 0.75, 0, 0, 0, 1, 0}};
}

/* One pair on TOPICS, with both camera_info of LEFT and RIGHT. */
static struct plx_bag *with_info(const char *const topic[PLX_EYES], const struct ros_camera_info *left,
                                 const struct ros_camera_info *right)
{
    begin(topic[PLX_LEFT], topic[PLX_RIGHT]);
    put(2, &ros_camera_info_type, left);
    put(3, &ros_camera_info_type, right);
    put_grey(PLX_LEFT, 0, 1);
    put_grey(PLX_RIGHT, 0, 1);
    finish();
    return opened(topic[PLX_LEFT], topic[PLX_RIGHT]);
}

static const char *const rectified[] = {"/cam/left/image_rect_color", "/cam/right/image_rect_color"};
static const char *const raw[] = {"/cam/left/image_correct", "/cam/right/image_correct"}; /* "rect" is no word of it */

static void calibration_beside_the_pictures(void **state)
{
    (void)state;
    const struct ros_camera_info left = good_info(0), right = good_info(-12 * 0.2);
    for (int is_raw = 0; is_raw < 2; is_raw++) {
        is_compressed = is_raw; /* here as there */
        struct plx_bag *pairs = with_info(is_raw ? raw : rectified, &left, &right);
        struct plx_stereo_calibration calibration;
        struct plx_calibration_info numbers;
        struct plx_error_message message;
        assert_int_equal(plx_bag_calibration(pairs, &calibration, &message), 0);
        plx_calibration_info(&calibration, &numbers);
        assert_true(numbers.fx == 12 && numbers.cx == 1.5 && numbers.cy == 0.75);
        assert_true(numbers.baseline_m > 0.19999 && numbers.baseline_m < 0.20001);
        assert_int_equal(plx_calibration_is_identity(&calibration, PLX_LEFT), !is_raw);
        assert_true(is_raw ? calibration.camera[0].k[0] == 0.1 : calibration.camera[0].fx == 12);
        uint8_t left_grey[WIDTH * HEIGHT], right_grey[WIDTH * HEIGHT];
        read_pair(pairs, 0, left_grey, right_grey);
        assert_true(left_grey[0] == 1 && right_grey[0] == 1);
        plx_bag_close(pairs);
    }
    is_compressed = false;
}

/* Binning, regions, empty messages before good ones: as the definition of the message says. */
static void calibration_of_a_part_of_the_picture(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    struct plx_error_message message;
    for (int eye_with_zeros = 0; eye_with_zeros < 2; eye_with_zeros++) {
        struct ros_camera_info info[PLX_EYES] = {good_info(0), good_info(-24 * 0.2)}, empty = {.distortion_model = ""};
        for (int eye = 0; eye < PLX_EYES; eye++) {
            info[eye].width = 2 * WIDTH + 10;
            info[eye].height = 2 * HEIGHT + 20;
            info[eye].binning_x = info[eye].binning_y = 2;
            info[eye].roi =
                (struct ros_region_of_interest){.x_offset = 4, .y_offset = 6, .width = 2 * WIDTH, .height = 2 * HEIGHT};
            info[eye].k[0] = info[eye].k[4] = info[eye].p[0] = info[eye].p[5] = 24;
            info[eye].k[2] = info[eye].p[2] = 7;
            info[eye].k[5] = info[eye].p[6] = 8;
        }
        begin(raw[PLX_LEFT], raw[PLX_RIGHT]);
        put(2 + eye_with_zeros, &ros_camera_info_type, &empty);
        put(2, &ros_camera_info_type, &info[PLX_LEFT]);
        put(3, &ros_camera_info_type, &info[PLX_RIGHT]);
        put_grey(PLX_LEFT, 0, 1);
        put_grey(PLX_RIGHT, 0, 1);
        finish();
        struct plx_bag *pairs = opened(raw[PLX_LEFT], raw[PLX_RIGHT]);
        if (plx_bag_calibration(pairs, &calibration, &message) < 0)
            fail_msg("%s", message.text);
        const struct plx_camera *camera = &calibration.camera[PLX_LEFT];
        assert_true(camera->width == WIDTH && camera->fx == 12 && camera->fy == 12 && camera->cx == 1.5 && camera->cy == 1);
        assert_true(calibration.projection[PLX_RIGHT][2] == 1.5 && calibration.projection[PLX_RIGHT][3] == -12 * 0.2);
        plx_bag_close(pairs);
    }
}

static const double prism[12] = {0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5};

static void damage_nothing(struct ros_camera_info *info)
{
    (void)info;
}
static void damage_k(struct ros_camera_info *info)
{
    memset(info->k, 0, sizeof info->k);
}
static void damage_p(struct ros_camera_info *info)
{
    memset(info->p, 0, sizeof info->p);
}
static void damage_shift(struct ros_camera_info *info)
{
    info->p[3] = -info->p[3];
}
static void damage_unit(struct ros_camera_info *info)
{
    info->p[3] *= 1000;
}
static void damage_size(struct ros_camera_info *info)
{
    info->width = 640;
}
static void damage_rows(struct ros_camera_info *info)
{
    info->p[6] = 1.5;
}
static void damage_focus(struct ros_camera_info *info)
{
    info->p[0] = info->p[5] = 13;
}
static void damage_model(struct ros_camera_info *info)
{
    info->distortion_model = "omni";
}
static void damage_prism(struct ros_camera_info *info)
{
    info->d.data = prism, info->d.count = 12;
}

/* It is judged when somebody asks for it: the pictures are there in any case. */
static void a_calibration_that_is_none_is_said_when_asked_for(void **state)
{
    (void)state;
    static const struct {
        void (*damage)(struct ros_camera_info *info); /* for the right camera */
        int of_rectified, of_raw;                     /* results */
        const char *said;
    } cases[] = {
        {damage_nothing, 0, 0, ""},
        {damage_k, 0, PLX_ERR_RANGE, "right camera_info: K and P begin with 0 and 12"}, /* rectified ones need P only */
        {damage_p, PLX_ERR_RANGE, PLX_ERR_RANGE, "right camera_info: K and P begin with 10 and 0"},
        {damage_shift, PLX_ERR_RANGE, PLX_ERR_RANGE, "the fourth number is 2.4; expected -fx * baseline, below 0"},
        {damage_unit, PLX_ERR_RANGE, PLX_ERR_RANGE, "the baseline is 200 m; expected 0.01 to 2 m; is it in millimetres?"},
        {damage_size, PLX_ERR_RANGE, PLX_ERR_RANGE, "right camera_info: is for pictures of 640 x 2 pixels"},
        {damage_rows, PLX_ERR_RANGE, PLX_ERR_RANGE, "do not share focal length and rows"},
        {damage_focus, PLX_ERR_RANGE, PLX_ERR_RANGE, "do not share focal length and rows"},
        {damage_model, 0, PLX_ERR_UNSUPPORTED, "distortion model \"omni\""},
        {damage_prism, 0, PLX_ERR_UNSUPPORTED, "coefficient 12 of the distortion is not 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_raw = 0; is_raw < 2; is_raw++) {
            const struct ros_camera_info left = good_info(0);
            struct ros_camera_info right = good_info(-12 * 0.2);
            struct plx_stereo_calibration calibration;
            struct plx_error_message message = {""};
            const int expected = is_raw ? cases[i].of_raw : cases[i].of_rectified;
            cases[i].damage(&right);
            struct plx_bag *pairs = with_info(is_raw ? raw : rectified, &left, &right);
            const int result = plx_bag_calibration(pairs, &calibration, &message);
            if (result != expected || (expected < 0 && !strstr(message.text, cases[i].said)))
                fail_msg("case %zu, raw %d: %d, %s", i, is_raw, result, message.text);
            plx_bag_close(pairs);
        }
}

/* --- times -------------------------------------------------------------------------------------------------------- */

/* Eyes 15 ms apart, at 20 pairs a second: pairs only for who looks at the skew. */
static void each_eye_keeps_its_stamp(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct plx_bag_options options = {.path = path, .topic = {"/left/image_rect", "/right/image_rect"}};
        struct plx_error_message message;
        struct plx_bag *pairs;
        begin(options.topic[PLX_LEFT], options.topic[PLX_RIGHT]);
        for (int k = 0; k < 5; k++) {
            put_grey(PLX_LEFT, 1000 + k * 50, (uint8_t)k);
            put_grey(PLX_RIGHT, 1000 + k * 50 + sign * 15, (uint8_t)(100 + k));
        }
        finish();
        refused(options.topic[PLX_LEFT], options.topic[PLX_RIGHT], PLX_ERR_NOT_FOUND, "has about the same stamp");
        options.unsynchronized = true;
        if (plx_bag_open(&options, &pairs, &message) < 0)
            fail_msg("%s", message.text);
        assert_int_equal(plx_bag_info(pairs)->count, 5);
        for (int k = 0; k < 5; k++)
            assert_int_equal(plx_bag_skew_ns(pairs, k), sign * 15 * MS);
        plx_bag_close(pairs);
    }
}

/* Stamps and times of recording of 5 pairs; what the pairs' times then are, and what is said. */
static void times_that_do_not_advance(void **state)
{
    (void)state;
    enum { PAIRS = 5 };
    static const struct {
        int64_t stamp_ns, stamp_step_ns, first_stamp_ns, log_ns,
            log_step_ns; /* FIRST: of the first pair alone, -1: as the others */
        int64_t first_ns, step_ns;
        const char *said; /* NULL: nothing */
    } cases[] = {
        {1000, 100 * MS, -1, 5000, 90 * MS, 1000, 100 * MS, NULL},
        {0, 0, -1, 5000, 90 * MS, 5000, 90 * MS, "the times of recording are used"},
        {77, 1, -1, 5000, 90 * MS, 5000, 90 * MS, "the times of recording are used"},
        {5 * PLX_NS_PER_S, 100 * MS, 0, 4000, 100 * MS, 0, 0, NULL}, /* first picture early: a gap of 5 s */
        {7200 * PLX_NS_PER_S, 100 * MS, 0, 4000, 100 * MS, 4000, 100 * MS, "the times of recording are used"},
        {0, 0, -1, 0, 0, 0, 100 * MS, "nor do the times of recording; 10 pairs a second"},
        {1000, 100 * MS, -1, 0, 0, 1000, 100 * MS, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin("/cam/left/image_rect", "/cam/right/image_rect");
        for (int k = 0; k < PAIRS; k++)
            for (int eye = 0; eye < PLX_EYES; eye++) {
                const bool first = k == 0 && cases[i].first_stamp_ns >= 0;
                log_ns = cases[i].log_ns + k * cases[i].log_step_ns + eye * 1000;
                put_grey_at(eye, first ? cases[i].first_stamp_ns : cases[i].stamp_ns + k * cases[i].stamp_step_ns, (uint8_t)k);
            }
        finish();
        struct plx_bag *pairs = opened("/cam/left/image_rect", "/cam/right/image_rect");
        const char *note = plx_bag_info(pairs)->note.text;
        assert_int_equal(plx_bag_info(pairs)->count, PAIRS);
        if (cases[i].said ? !strstr(note, cases[i].said) : *note != '\0')
            fail_msg("case %zu: %s", i, note);
        for (int k = 1; k < PAIRS; k++) {
            uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
            assert_true(plx_bag_time_ns(pairs, k) > plx_bag_time_ns(pairs, k - 1));
            if (cases[i].step_ns > 0)
                assert_int_equal(plx_bag_time_ns(pairs, k), cases[i].first_ns + k * cases[i].step_ns);
            read_pair(pairs, k, left, right);
            assert_true(left[0] == k && right[0] == k);
        }
        plx_bag_close(pairs);
    }
    log_ns = 0;
}

/* --- what it lies in ---------------------------------------------------------------------------------------------- */

static void write_start(const char *name, const char *bytes, size_t count)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void other_recordings_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *start;
        size_t bytes;
        const char *said;
    } cases[] = {
        {"SQLite format 3", 16, "in SQLite; convert it: mcap convert"},
        {"#ROSBAG V2.0\n", 13, "of ROS 1; convert it: mcap convert"},
        {"\x28\xb5\x2f\xfd....", 8, "unpack it: zstd -d"},
        {"\x04\x22\x4d\x18....", 8, "unpack it: lz4 -d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_start(path, cases[i].start, cases[i].bytes);
        assert_true(plx_bag_files_exist(path));
        refused("", "", PLX_ERR_UNSUPPORTED, cases[i].said);
    }
    write_start(path, "\x89PNG", 4);
    assert_false(plx_bag_files_exist(path));
}

/* rosbag2 cuts long recordings into files; ours are put into a folder in the wrong order. */
static void a_folder_of_files_is_one_recording(void **state)
{
    (void)state;
    char folder[] = "/tmp/plx-bags-XXXXXX", name[64];
    assert_non_null(mkdtemp(folder));
    for (int part = 11; part >= 9; part--) {
        begin("/parallax/left/image_rect", "/parallax/right/image_rect");
        for (int k = 0; k < 2; k++)
            for (int eye = 0; eye < PLX_EYES; eye++)
                put_grey(eye, part * 200 + k * 100, (uint8_t)(part * 2 + k));
        finish();
        snprintf(name, sizeof name, "%s/bag_%d.mcap", folder, part);
        assert_int_equal(rename(path, name), 0);
        close(open(path, O_CREAT | O_WRONLY, 0600));
    }
    assert_true(plx_bag_files_exist(folder));
    const struct plx_bag_options options = {.path = folder, .topic = {"", ""}};
    struct plx_error_message message;
    struct plx_bag *pairs;
    assert_int_equal(plx_bag_open(&options, &pairs, &message), 0);
    assert_int_equal(plx_bag_info(pairs)->count, 6);
    static const int order[] = {0, 1, 2, 3, 4, 5, 1, 5};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
        read_pair(pairs, order[i], left, right);
        assert_true(left[0] == 18 + order[i] && right[0] == left[0]);
    }
    plx_bag_close(pairs);
    for (int part = 9; part < 12; part++) {
        snprintf(name, sizeof name, "%s/bag_%d.mcap", folder, part);
        unlink(name);
    }
    rmdir(folder);
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
    } cases[] = {{"32FC1", "has the encoding \"32FC1\"", WIDTH, WIDTH, PLX_ERR_UNSUPPORTED},
                 {"yuv422", "expected 2 rows of at least 8", WIDTH, WIDTH, PLX_ERR_RANGE},
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
    assert_false(plx_bag_files_exist(path));
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
        const struct plx_bag_options options = {.path = path, .topic = {"", ""}};
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

static void camera_info_of_one_eye_is_named(void **state)
{
    (void)state;
    const struct ros_camera_info info = good_info(0);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_stereo_calibration calibration;
        struct plx_error_message message;
        begin(raw[PLX_LEFT], raw[PLX_RIGHT]);
        put(2 + eye, &ros_camera_info_type, &info);
        put_grey(PLX_LEFT, 0, 1);
        put_grey(PLX_RIGHT, 0, 1);
        finish();
        struct plx_bag *pairs = opened(raw[PLX_LEFT], raw[PLX_RIGHT]);
        assert_int_equal(plx_bag_calibration(pairs, &calibration, &message), PLX_ERR_NOT_FOUND);
        assert_non_null(strstr(message.text, eye == PLX_LEFT
                                                 ? "there is /cam/left/camera_info, but no /cam/right/camera_info"
                                                 : "there is /cam/right/camera_info, but no /cam/left/camera_info"));
        plx_bag_close(pairs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_by_stamp_in_any_order),
        cmocka_unit_test(encodings_become_grey),
        cmocka_unit_test(chroma_is_left_out),
        cmocka_unit_test(both_eyes_of_16_bits_stay_so),
        cmocka_unit_test(calibration_beside_the_pictures),
        cmocka_unit_test(camera_info_of_one_eye_is_named),
        cmocka_unit_test(calibration_of_a_part_of_the_picture),
        cmocka_unit_test(a_calibration_that_is_none_is_said_when_asked_for),
        cmocka_unit_test(each_eye_keeps_its_stamp),
        cmocka_unit_test(times_that_do_not_advance),
        cmocka_unit_test(other_recordings_are_named),
        cmocka_unit_test(a_folder_of_files_is_one_recording),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(cut_off_anywhere),
    };
    close(mkstemp(path));
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
