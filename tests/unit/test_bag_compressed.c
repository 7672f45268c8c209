/* SPDX-License-Identifier: Apache-2.0 */
/* MCAP files whose pictures are sensor_msgs/CompressedImage: JPEG and PNG, grey, deep and in colour; and damaged ones. */
#include <png.h>
#include <turbojpeg.h>

#include "tests/unit/bag_write.h"

#define LEFT_TOPIC "/cam/left/image_rect/compressed"
#define RIGHT_TOPIC "/cam/right/image_rect/compressed"

enum { SIDE = 16 };

static uint8_t coded[4096];
static size_t coded_bytes;

/* A grey or coloured picture whose pixels are VALUE and, in colour, twice and half of it. */
static void code_jpeg(bool is_colour, uint8_t value)
{
    uint8_t pixels[SIDE * SIDE * 3];
    unsigned char *to = coded;
    unsigned long bytes = sizeof coded;
    tjhandle handle = tjInitCompress();
    for (int i = 0; i < SIDE * SIDE * 3; i++)
        pixels[i] = is_colour && i % 3 == 1 ? (uint8_t)(2 * value) : is_colour && i % 3 == 2 ? value / 2 : value;
    assert_int_equal(tjCompress2(handle, pixels, SIDE, 0, SIDE, is_colour ? TJPF_RGB : TJPF_GRAY, &to, &bytes,
                                 is_colour ? TJSAMP_444 : TJSAMP_GRAY, 100, TJFLAG_NOREALLOC),
                     0);
    tjDestroy(handle);
    coded_bytes = bytes;
}

static void code_png(uint32_t format, const void *pixels)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = format};
    png_alloc_size_t bytes = sizeof coded;
    assert_true(png_image_write_to_memory(&png, coded, &bytes, 0, pixels, 0, NULL));
    coded_bytes = bytes;
}

static void put(int channel, int64_t stamp_ms, const char *format)
{
    const struct ros_compressed_image message = {.header = {.stamp = {.nanosec = (uint32_t)(stamp_ms * MS)}, .frame_id = "cam"},
                                                 .format = format,
                                                 .data = {.data = coded, .count = (uint32_t)coded_bytes}};
    bag_put(channel, &ros_compressed_image_type, &message);
}

static void put_pair(int64_t stamp_ms)
{
    put(PLX_LEFT, stamp_ms, "mono8; jpeg compressed ");
    put(PLX_RIGHT, stamp_ms, "mono8; jpeg compressed ");
}

static int open_bag(bool colour, struct plx_bag **ret_bag, struct plx_error_message *message)
{
    const struct plx_bag_options options = {.path = bag_path, .topic = {LEFT_TOPIC, RIGHT_TOPIC}, .colour = colour};
    return plx_bag_open(&options, ret_bag, message);
}

static void begin(void)
{
    bag_picture_type = &ros_compressed_image_type;
    bag_begin(LEFT_TOPIC, RIGHT_TOPIC);
}

static uint8_t left[4 * SIDE][SIDE], right[SIDE][SIDE];
static uint16_t deep[PLX_EYES][SIDE][SIDE];

static void grey_pictures(void **state)
{
    (void)state;
    struct plx_bag *pairs;
    struct plx_error_message message = {""};
    const struct plx_image both[PLX_EYES] = {{left, SIDE, SIDE, SIDE, PLX_U8}, {right, SIDE, SIDE, SIDE, PLX_U8}};
    begin();
    for (int k = 0; k < 3; k++) {
        code_jpeg(false, (uint8_t)(50 + 50 * k));
        put_pair(100 + 50 * k);
    }
    bag_finish();
    assert_int_equal(open_bag(false, &pairs, &message), 0);
    const struct plx_bag_info *info = plx_bag_info(pairs);
    assert_true(info->count == 3 && info->width == SIDE && info->height == SIDE && info->type == PLX_U8);
    for (int k = 2; k >= 0; k--) {
        assert_int_equal(plx_bag_read(pairs, k, both, &message), 0);
        assert_true(abs(left[3][4] - (50 + 50 * k)) <= 1 && left[SIDE - 1][SIDE - 1] == right[0][0]);
    }
    plx_bag_close(pairs);
}

static void deep_pictures_keep_their_bits(void **state)
{
    (void)state;
    struct plx_bag *pairs;
    struct plx_error_message message = {""};
    const struct plx_image both[PLX_EYES] = {{deep[0], SIDE, SIDE, 2 * SIDE, PLX_U16},
                                             {deep[1], SIDE, SIDE, 2 * SIDE, PLX_U16}};
    static uint16_t sent[SIDE][SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        sent[i / SIDE][i % SIDE] = (uint16_t)(257 * i + 3);
    begin();
    code_png(PNG_FORMAT_LINEAR_Y, sent);
    put_pair(100);
    put_pair(150);
    bag_finish();
    assert_int_equal(open_bag(false, &pairs, &message), 0);
    assert_int_equal(plx_bag_info(pairs)->type, PLX_U16);
    assert_int_equal(plx_bag_read(pairs, 1, both, &message), 0);
    assert_memory_equal(deep[0], sent, sizeof sent);
    assert_memory_equal(deep[1], sent, sizeof sent);
    plx_bag_close(pairs);
}

/* As grey the luma of RGB, with colour wanted or not. */
static void pictures_in_colour(void **state)
{
    (void)state;
    for (int is_png = 0; is_png < 2; is_png++) {
        struct plx_bag *pairs;
        struct plx_error_message message = {""};
        struct plx_raw raw;
        const struct plx_image both[PLX_EYES] = {{left, SIDE, SIDE, SIDE, PLX_U8}, {right, SIDE, SIDE, SIDE, PLX_U8}};
        static uint8_t rgb[SIDE * SIDE * 3];
        for (int i = 0; i < SIDE * SIDE * 3; i++)
            rgb[i] = (uint8_t[]){60, 120, 30}[i % 3];
        begin();
        if (is_png)
            code_png(PNG_FORMAT_RGB, rgb);
        else
            code_jpeg(true, 60);
        put_pair(100);
        put_pair(150);
        bag_finish();
        assert_int_equal(open_bag(false, &pairs, &message), 0);
        assert_int_equal(plx_bag_read(pairs, 0, both, &message), 0);
        const int luma = (77 * 60 + 150 * 120 + 29 * 30 + 128) >> 8;
        assert_true(abs(left[2][2] - luma) <= 2 && abs(right[2][2] - luma) <= 2);
        plx_bag_close(pairs);
        assert_int_equal(open_bag(true, &pairs, &message), 0);
        assert_int_equal(plx_bag_read_colour(pairs, 0, both, sizeof left, &raw, &message), 0);
        assert_int_equal(raw.format, PLX_FORMAT_RGB24);
        const uint8_t *pixel = (const uint8_t *)raw.data + 5 * raw.pitch + 15;
        assert_true(abs(pixel[0] - 60) <= 2 && abs(pixel[1] - 120) <= 2 && abs(pixel[2] - 30) <= 2);
        plx_bag_close(pairs);
    }
}

static void what_is_no_picture_is_refused(void **state)
{
    (void)state;
    begin();
    memcpy(coded, "RVL 1234", coded_bytes = 8);
    put(PLX_LEFT, 100, "16UC1; compressedDepth rvl");
    bag_finish();
    bag_assert_refused(LEFT_TOPIC, RIGHT_TOPIC, PLX_ERR_UNSUPPORTED,
                       LEFT_TOPIC " has the format \"16UC1; compressedDepth rvl\"; expected JPEG or PNG pictures");
    begin();
    coded_bytes = 0;
    put(PLX_LEFT, 100, "jpeg");
    bag_finish();
    bag_assert_refused(LEFT_TOPIC, RIGHT_TOPIC, PLX_ERR_UNSUPPORTED, "expected JPEG or PNG");
    for (int is_png = 0; is_png < 2; is_png++) { /* its header is cut off */
        static const uint8_t grey[SIDE][SIDE];
        begin();
        if (is_png)
            code_png(PNG_FORMAT_GRAY, grey);
        else
            code_jpeg(false, 9);
        coded_bytes = 20;
        put(PLX_LEFT, 100, "x");
        bag_finish();
        bag_assert_refused(LEFT_TOPIC, RIGHT_TOPIC, PLX_ERR_FORMAT, is_png ? "damaged PNG" : "damaged JPEG");
    }
}

/* The block of a camera that was held on its side, behind the first two bytes of the file. Orientation 1 is as it is. */
static void a_picture_that_lies_on_its_side_is_refused(void **state)
{
    (void)state;
    static const uint8_t block[] = {0xFF, 0xE1, 0,    34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0,
                                    1,    0,    0x12, 1,  3,   0,   1,   0,   0, 0, 6,   0,   0,  0, 0, 0, 0, 0};
    struct plx_bag *pairs;
    struct plx_error_message message = {""};
    for (int orientation = 1; orientation <= 6; orientation += 5) {
        begin();
        code_jpeg(false, 100);
        memmove(coded + 2 + sizeof block, coded + 2, coded_bytes - 2);
        memcpy(coded + 2, block, sizeof block);
        coded[2 + 28] = (uint8_t)orientation;
        coded_bytes += sizeof block;
        put_pair(100);
        put_pair(150);
        bag_finish();
        if (orientation == 1) {
            assert_int_equal(open_bag(false, &pairs, &message), 0);
            plx_bag_close(pairs);
        } else {
            bag_assert_refused(LEFT_TOPIC, RIGHT_TOPIC, PLX_ERR_UNSUPPORTED, "EXIF orientation 6");
        }
    }
}

/* Found when it is read, for only headers are read before. */
static void a_picture_that_is_cut_off_is_an_error(void **state)
{
    (void)state;
    const struct plx_image both[PLX_EYES] = {{left, SIDE, SIDE, SIDE, PLX_U8}, {right, SIDE, SIDE, SIDE, PLX_U8}};
    static uint8_t noise[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        noise[i] = (uint8_t)(i * i * 31);
    begin();
    code_png(PNG_FORMAT_GRAY, noise);
    put_pair(100);
    coded_bytes -= 60;
    put_pair(150);
    bag_finish();
    struct plx_bag *pairs;
    struct plx_error_message message = {""};
    assert_int_equal(open_bag(false, &pairs, &message), 0);
    assert_int_equal(plx_bag_read(pairs, 0, both, &message), 0);
    assert_memory_equal(left, noise, sizeof noise);
    assert_int_equal(plx_bag_read(pairs, 1, both, &message), PLX_ERR_FORMAT);
    assert_non_null(strstr(message.text, "damaged PNG"));
    plx_bag_close(pairs);
}

/* libjpeg-turbo's decompressor would go on where the damaged one broke off. */
static void a_damaged_jpeg_does_not_spoil_the_next(void **state)
{
    (void)state;
    const struct plx_image both[PLX_EYES] = {{left, SIDE, SIDE, SIDE, PLX_U8}, {right, SIDE, SIDE, SIDE, PLX_U8}};
    begin();
    for (int k = 0; k < 3; k++) {
        code_jpeg(k == 2, 80);
        coded_bytes -= k == 1 ? 3 : 0; /* its end, and what comes before */
        put_pair(100 + 50 * k);
    }
    bag_finish();
    struct plx_bag *pairs;
    struct plx_error_message message = {""};
    assert_int_equal(open_bag(false, &pairs, &message), 0);
    assert_int_equal(plx_bag_read(pairs, 1, both, &message), PLX_ERR_FORMAT);
    assert_non_null(strstr(message.text, "damaged JPEG"));
    assert_int_equal(plx_bag_read(pairs, 2, both, &message), 0);
    assert_int_equal(plx_bag_read(pairs, 0, both, &message), 0);
    assert_true(abs(left[3][4] - 80) <= 1);
    plx_bag_close(pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grey_pictures),
        cmocka_unit_test(deep_pictures_keep_their_bits),
        cmocka_unit_test(pictures_in_colour),
        cmocka_unit_test(what_is_no_picture_is_refused),
        cmocka_unit_test(a_picture_that_lies_on_its_side_is_refused),
        cmocka_unit_test(a_picture_that_is_cut_off_is_an_error),
        cmocka_unit_test(a_damaged_jpeg_does_not_spoil_the_next),
    };
    return cmocka_run_group_tests(tests, bag_make_file, bag_remove_file);
}
