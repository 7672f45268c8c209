/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed pictures for ROS: what a reader finds in them, and what depth becomes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/ros/compressor.h"
#include "drivers/files/picture.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

enum { WIDTH = 61, HEIGHT = 33, STEP = 4 * 64 };

static struct plx_ros_compressor *compressor;

static int setup(void **state)
{
    (void)state;
    return plx_ros_compressor_create(&compressor);
}

static int teardown(void **state)
{
    (void)state;
    plx_ros_compressor_destroy(compressor);
    return 0;
}

static struct ros_image image_of(const void *data, const char *encoding)
{
    return (struct ros_image){.header = {.stamp = {5, 7}, .frame_id = "eye"},
                              .width = WIDTH,
                              .height = HEIGHT,
                              .encoding = encoding,
                              .step = STEP,
                              .data = {.data = data, .count = STEP * HEIGHT}};
}

static void pictures_are_jpegs_of_their_kind(void **state)
{
    (void)state;
    static uint8_t sent[HEIGHT][STEP], grey[HEIGHT][WIDTH], rgb[HEIGHT][WIDTH][3];
    static const char *const formats[] = {"mono8; jpeg compressed ", "rgb8; jpeg compressed bgr8"};
    const struct plx_image grey_image = {grey, WIDTH, HEIGHT, WIDTH, PLX_U8},
                           rgb_image = {rgb, WIDTH, HEIGHT, sizeof rgb[0], PLX_RGB};
    struct plx_error_message message;
    struct plx_jpeg *reader;
    assert_int_equal(plx_jpeg_create(&reader), 0);
    for (int turn = 0; turn < 4; turn++) { /* the memory of a turn serves the next */
        const int channels = turn % 2 ? 3 : 1;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int k = 0; k < channels; k++)
                    sent[y][channels * x + k] = (uint8_t)(20 * k + 2 * x + 2 * y);
        const struct ros_image image = image_of(sent, turn % 2 ? "rgb8" : "mono8");
        struct ros_compressed_image compressed;
        assert_int_equal(plx_ros_compress_picture(compressor, &image, &compressed), 0);
        assert_string_equal(compressed.format, formats[turn % 2]);
        assert_true(compressed.header.stamp.sec == 5 && compressed.header.stamp.nanosec == 7);
        assert_string_equal(compressed.header.frame_id, "eye");
        assert_int_equal(
            plx_jpeg_decode(reader, compressed.data.data, compressed.data.count, &grey_image, &rgb_image, &message), 0);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int k = 0; k < 3; k++)
                    assert_true(abs(rgb[y][x][k] - sent[y][channels == 3 ? 3 * x + k : x]) < 16);
    }
    plx_jpeg_destroy(reader);
}

/* What metres become, in millimetres; 0 is unknown. */
static void depth_is_a_png_of_millimetres(void **state)
{
    (void)state;
    static const struct {
        float metres;
        uint16_t millimetres;
    } cases[] = {{NAN, 0},        {INFINITY, 0},   {-1, 0},          {0, 0},        {0.0004F, 0}, {0.001F, 1},
                 {1.2344F, 1234}, {1.2346F, 1235}, {65.535F, 65535}, {65.5361F, 0}, {1e30F, 0}};
    enum { CASES = sizeof cases / sizeof *cases };
    static float metres[HEIGHT][STEP / 4];
    struct ros_compressed_image compressed;
    struct plx_error_message message;
    struct plx_image got;
    struct scratch scratch;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            metres[y][x] = cases[(7 * y + x) % CASES].metres;
    const struct ros_image image = image_of(metres, "32FC1");
    for (int turn = 0; turn < 2; turn++)
        assert_int_equal(plx_ros_compress_depth(compressor, &image, &compressed), 0);
    assert_string_equal(compressed.format, "16UC1; compressedDepth png");
    for (int i = 0; i < 12; i++)
        assert_int_equal(compressed.data.data[i], 0);
    assert_int_equal(scratch_begin(&scratch, "depth.png"), 0);
    assert_int_equal(scratch_write(&scratch, compressed.data.data + 12, compressed.data.count - 12), 0);
    assert_int_equal(plx_picture_read(scratch.path, PLX_U16, &got, &message), 0);
    assert_true(got.width == WIDTH && got.height == HEIGHT);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            assert_int_equal(((uint16_t *)plx_row(&got, y))[x], cases[(7 * y + x) % CASES].millimetres);
    free(got.data);
    scratch_end(&scratch);
}

static void other_encodings_are_refused(void **state)
{
    (void)state;
    static uint8_t data[HEIGHT][STEP];
    struct ros_image image = image_of(data, "bayer_rggb8");
    struct ros_compressed_image compressed;
    assert_int_equal(plx_ros_compress_picture(compressor, &image, &compressed), PLX_ERR_UNSUPPORTED);
    assert_int_equal(plx_ros_compress_depth(compressor, &image, &compressed), PLX_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_jpegs_of_their_kind),
        cmocka_unit_test(depth_is_a_png_of_millimetres),
        cmocka_unit_test(other_encodings_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
