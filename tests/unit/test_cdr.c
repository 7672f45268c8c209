/* SPDX-License-Identifier: Apache-2.0 */
/* CDR: bytes written down by hand, hostile bytes, and buffers that are too small. golden/cdr compares whole messages. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "formats/cdr/ros_types.h"
#include "formats/cdr/schema.h"
#include "tests/cmocka.h"

#define ARENA 4096

static _Alignas(8) uint8_t memory[ARENA];

static struct plx_cdr_arena fresh(size_t capacity)
{
    return (struct plx_cdr_arena){.memory = memory, .capacity = capacity};
}

static const double distortion[2] = {0.5, -2};

/* A message with every kind of field but bytes: padding stands before d (8 bytes) and after do_rectify's neighbours. */
static struct ros_camera_info camera_info(void)
{
    return (struct ros_camera_info){
        .header = {{-1, 5}, "eye"},
        .height = 2,
        .width = 3,
        .distortion_model = NULL,
        .d = {.data = distortion, .count = 2},
        .k = {1, 2, 3, 4, 5, 6, 7, 8, 9},
        .binning_x = 7,
        .roi = {.width = 9, .do_rectify = true},
    };
}

static void bytes_are_as_in_the_standard(void **state)
{
    (void)state;
    static const uint8_t pixels[3] = {10, 20, 30};
    static const uint8_t expected[] = {
        0, 1, 0, 0,                             /* plain CDR, little endian */
        1, 0, 0, 0, 2,   0,   0,   0,           /* stamp */
        3, 0, 0, 0, 'a', 'b', 0,   0,           /* frame_id, and one byte of padding */
        1, 0, 0, 0, 3,   0,   0,   0,           /* height, width */
        6, 0, 0, 0, 'm', 'o', 'n', 'o', '8', 0, /* encoding */
        0, 0,                                   /* is_bigendian, padding */
        3, 0, 0, 0,                             /* step */
        3, 0, 0, 0, 10,  20,  30,               /* data */
    };
    const struct ros_image image = {{{1, 2}, "ab"}, 1, 3, "mono8", 0, 3, {.data = pixels, .count = 3}};
    uint8_t data[64];
    size_t bytes = 0;

    assert_int_equal(plx_cdr_size(&ros_image_type, &image), sizeof expected);
    assert_int_equal(plx_cdr_encode(&ros_image_type, &image, data, sizeof expected, &bytes), 0);
    assert_int_equal(bytes, sizeof expected);
    assert_memory_equal(data, expected, sizeof expected);

    struct ros_image back;
    struct plx_cdr_arena arena = fresh(0);
    assert_int_equal(plx_cdr_decode(&ros_image_type, data, bytes, &arena, &back), 0);
    assert_true(back.header.stamp.sec == 1 && back.header.stamp.nanosec == 2 && back.height == 1 && back.width == 3);
    assert_string_equal(back.header.frame_id, "ab");
    assert_string_equal(back.encoding, "mono8");
    assert_true(back.data.count == 3 && back.data.data == data + bytes - 3); /* not copied */
}

static void numbers_are_aligned_and_kept(void **state)
{
    (void)state;
    const struct ros_camera_info info = camera_info();
    struct plx_cdr_arena arena = fresh(ARENA);
    struct ros_camera_info back;
    uint8_t data[512];
    size_t bytes = 0;

    assert_int_equal(plx_cdr_encode(&ros_camera_info_type, &info, data, sizeof data, &bytes), 0);
    assert_int_equal(plx_cdr_decode(&ros_camera_info_type, data, bytes, &arena, &back), 0);
    assert_true(back.header.stamp.sec == -1 && back.d.count == 2 && back.binning_x == 7 && back.roi.width == 9);
    assert_memory_equal(back.d.data, distortion, sizeof distortion);
    assert_memory_equal(back.k, info.k, sizeof info.k);
    assert_string_equal(back.distortion_model, "");
    assert_true(back.roi.do_rectify);

    data[bytes - 1] = 7; /* a boolean of others */
    arena.used = 0;
    assert_int_equal(plx_cdr_decode(&ros_camera_info_type, data, bytes, &arena, &back), 0);
    assert_int_equal(back.roi.do_rectify, true);
}

static void small_buffers_are_refused(void **state)
{
    (void)state;
    const struct ros_camera_info info = camera_info();
    struct ros_camera_info back;
    uint8_t data[512];
    size_t bytes = plx_cdr_size(&ros_camera_info_type, &info), written = 99;

    memset(data, 0x5A, sizeof data);
    assert_int_equal(plx_cdr_encode(&ros_camera_info_type, &info, data, bytes - 1, &written), PLX_ERR_RANGE);
    assert_true(written == 99 && data[0] == 0x5A);
    assert_int_equal(plx_cdr_encode(&ros_camera_info_type, &info, data, bytes, &written), 0);
    for (size_t capacity = 0; capacity <= sizeof distortion; capacity++) {
        struct plx_cdr_arena arena = fresh(capacity);
        assert_int_equal(plx_cdr_decode(&ros_camera_info_type, data, bytes, &arena, &back),
                         capacity < sizeof distortion ? PLX_ERR_RANGE : 0);
    }
}

/* The data ends behind any byte: nothing is read beyond, which the address sanitizer sees. */
static void data_that_ends_early_is_refused(void **state)
{
    (void)state;
    const struct ros_camera_info info = camera_info();
    uint8_t whole[512];
    size_t bytes = 0;
    assert_int_equal(plx_cdr_encode(&ros_camera_info_type, &info, whole, sizeof whole, &bytes), 0);
    for (size_t cut = 0; cut < bytes; cut++) {
        uint8_t *part = malloc(cut + 1);
        struct plx_cdr_arena arena = fresh(ARENA);
        struct ros_camera_info back;
        assert_non_null(part);
        memcpy(part, whole, cut);
        assert_int_equal(plx_cdr_decode(&ros_camera_info_type, part, cut, &arena, &back), PLX_ERR_FORMAT);
        free(part);
    }
}

static void hostile_bytes_are_refused(void **state)
{
    (void)state;
    const struct {
        uint8_t data[16];
        size_t bytes;
        const struct plx_cdr_type *type;
        int result;
    } cases[] = {
        {{0, 0, 0, 0}, 16, &ros_tf_message_type, PLX_ERR_UNSUPPORTED},                           /* big endian */
        {{0, 3, 0, 0}, 16, &ros_tf_message_type, PLX_ERR_UNSUPPORTED},                           /* parameter list */
        {{0, 1, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF}, 16, &ros_tf_message_type, PLX_ERR_FORMAT},        /* 4 G elements */
        {{0, 1, 0, 0, 8, 0, 0, 0}, 16, &ros_tf_message_type, PLX_ERR_FORMAT},                    /* 8 that do not fit */
        {{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0}, 16, &ros_image_type, PLX_ERR_FORMAT}, /* a string beyond the end */
        {{0, 1, 0, 0, 0, 0, 0, 0}, 8, &ros_tf_message_type, 0},                                  /* none */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union {
            struct ros_tf_message transforms;
            struct ros_image image;
        } back;
        struct plx_cdr_arena arena = fresh(ARENA);
        assert_int_equal(plx_cdr_decode(cases[i].type, cases[i].data, cases[i].bytes, &arena, &back), cases[i].result);
    }
}

/* Some writers say that an empty string has no bytes at all; a string without its NUL is none. */
static void strings_end(void **state)
{
    (void)state;
    uint8_t data[] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct plx_cdr_arena arena = fresh(0);
    struct ros_image back;
    assert_int_equal(plx_cdr_decode(&ros_image_type, data, sizeof data, &arena, &back), 0);
    assert_string_equal(back.header.frame_id, "");
    data[12] = 1;
    data[16] = 'x';
    assert_int_equal(plx_cdr_decode(&ros_image_type, data, sizeof data, &arena, &back), PLX_ERR_FORMAT);
}

static void definitions_fit(void **state)
{
    (void)state;
    char text[PLX_SCHEMA_BYTES];
    assert_true(plx_schema_text(&ros_image_type, text, sizeof text) == (int)strlen(text));
    const char *begin =
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\n"
        "uint8[] data\n=====";
    assert_memory_equal(text, begin, strlen(begin));
    assert_non_null(strstr(text, "=\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"));
    for (int i = 0; ros_message_types[i]; i++) {
        const int length = plx_schema_text(ros_message_types[i], text, sizeof text);
        assert_true(length > 0);
        assert_int_equal(plx_schema_text(ros_message_types[i], text, (size_t)length), PLX_ERR_RANGE);
        assert_int_equal(plx_schema_text(ros_message_types[i], text, (size_t)length + 1), length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_in_the_standard),
        cmocka_unit_test(numbers_are_aligned_and_kept),
        cmocka_unit_test(small_buffers_are_refused),
        cmocka_unit_test(data_that_ends_early_is_refused),
        cmocka_unit_test(hostile_bytes_are_refused),
        cmocka_unit_test(strings_end),
        cmocka_unit_test(definitions_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
