/* SPDX-License-Identifier: Apache-2.0 */
/* MCAP files: recordings of others, folders, wrong contents, damage. */
#include <stdio.h>

#include "drivers/mcap/bag_files.h"
#include "tests/unit/bag_write.h"

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
        write_start(bag_path, cases[i].start, cases[i].bytes);
        assert_true(plx_bag_files_exist(bag_path));
        bag_assert_refused("", "", PLX_ERR_UNSUPPORTED, cases[i].said);
    }
    write_start(bag_path, "\x89PNG", 4);
    assert_false(plx_bag_files_exist(bag_path));
}

/* rosbag2 cuts long recordings into files; ours are put into a folder in the wrong order. */
static void a_folder_of_files_is_one_recording(void **state)
{
    (void)state;
    char folder[] = "/tmp/plx-bags-XXXXXX", name[64];
    assert_non_null(mkdtemp(folder));
    for (int part = 11; part >= 9; part--) {
        bag_begin("/parallax/left/image_rect", "/parallax/right/image_rect");
        for (int k = 0; k < 2; k++)
            for (int eye = 0; eye < PLX_EYES; eye++)
                bag_put_grey(eye, part * 200 + k * 100, (uint8_t)(part * 2 + k));
        bag_finish();
        snprintf(name, sizeof name, "%s/bag_%d.mcap", folder, part);
        assert_int_equal(rename(bag_path, name), 0);
        close(open(bag_path, O_CREAT | O_WRONLY, 0600));
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
        bag_read_pair(pairs, order[i], left, right);
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
    struct ros_image wrong = bag_image("mono8", 1, few);
    bag_begin("/cam/left/image_rect", "/cam/right/image_rect");
    bag_put_grey(PLX_LEFT, 0, 1);
    bag_put_grey(PLX_RIGHT, 500, 1);
    bag_finish();
    bag_assert_refused("", "", PLX_ERR_NOT_FOUND, "there are /cam/left/image_rect, /cam/right/image_rect");
    bag_assert_refused("/cam/left/image_rect", "/cam/right/image_rect", PLX_ERR_NOT_FOUND, "has about the same stamp");
    bag_assert_refused("/cam/left/camera_info", "/cam/right/image_rect", PLX_ERR_NOT_FOUND,
                       "no pictures of /cam/left/camera_info");

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
        bag_begin("/cam/left/image_rect", "/cam/right/image_rect");
        bag_put(PLX_LEFT, &ros_image_type, &wrong);
        bag_put_grey(PLX_RIGHT, 0, 1);
        bag_finish();
        bag_assert_refused("/cam/left/image_rect", "/cam/right/image_rect", cases[i].error, cases[i].said);
    }
    assert_int_equal(truncate(bag_path, 0), 0);
    assert_false(plx_bag_files_exist(bag_path));
}

/* A file that was cut off anywhere gives pairs, or a sentence. */
static void cut_off_anywhere(void **state)
{
    (void)state;
    int most = 0;
    bag_begin("/parallax/left/image_rect", "/parallax/right/image_rect");
    for (int k = 0; k < 4; k++) {
        bag_put_grey(PLX_LEFT, 100 * k, (uint8_t)k);
        bag_put_grey(PLX_RIGHT, 100 * k, (uint8_t)k);
    }
    bag_finish();
    FILE *file = fopen(bag_path, "rb");
    static uint8_t whole[65536];
    const size_t bytes = fread(whole, 1, sizeof whole, file);
    fclose(file);
    for (size_t cut = PLX_MCAP_MAGIC_BYTES; cut <= bytes; cut += 7) {
        const struct plx_bag_options options = {.path = bag_path, .topic = {"", ""}};
        struct plx_error_message message = {""};
        struct plx_bag *pairs;
        file = fopen(bag_path, "wb");
        assert_int_equal(fwrite(whole, 1, cut, file), cut);
        fclose(file);
        if (plx_bag_open(&options, &pairs, &message) == 0) {
            uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
            const int count = plx_bag_info(pairs)->count;
            most = count > most ? count : most;
            bag_read_pair(pairs, count - 1, left, right);
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
        cmocka_unit_test(other_recordings_are_named),
        cmocka_unit_test(a_folder_of_files_is_one_recording),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(cut_off_anywhere),
    };
    return cmocka_run_group_tests(tests, bag_make_file, bag_remove_file);
}
