/* SPDX-License-Identifier: Apache-2.0 */
/* Replay of directories: layouts, formats of pictures, order and times. */
#include <math.h>
#include <time.h>

#include <turbojpeg.h>

#include "tests/unit/replay_files.h"

static void remove_sequence(const char *left, const char *right, int count)
{
    const char *folder[PLX_EYES] = {left, right};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        for (int k = 0; k < count; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%06d.png", folder[eye], k);
            assert_int_equal(unlink(files_path(name)), 0);
        }
        assert_int_equal(rmdir(files_path(folder[eye])), 0);
    }
}

static void test_layouts(void **state)
{
    (void)state;
    static const char *const folder[][2] = {{"left", "right"}, {"image_2", "image_3"}, {"image_0", "image_1"}};
    for (size_t i = 0; i < 3; i++) {
        const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
        put_sequence(folder[i][0], folder[i][1], 1 + (int)i);
        struct plx_source *source = opened(&options);
        assert_true(source->width == WIDTH && source->height == HEIGHT && source->rate_hz == 0.0);
        for (int k = 0; k <= (int)i; k++)
            expect_pair(source, (uint32_t)k, k);
        expect_end(source);
        remove_sequence(folder[i][0], folder[i][1], 1 + (int)i);
    }
}

/* As cameras and other programs write them; one that is cut off is an error. */
static void test_jpeg(void **state)
{
    (void)state;
    static uint8_t grey[16][24];
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 24; x++)
            grey[y][x] = (uint8_t)(40 + 6 * x + 3 * y);
    static const char *const name[] = {"left_1.jpg", "right_1.jpg", "left_2.JPEG", "right_2.JPEG"};
    tjhandle handle = tjInitCompress();
    for (int i = 0; i < 4; i++) {
        unsigned char *data = NULL;
        unsigned long bytes = 0;
        assert_int_equal(tjCompress2(handle, grey[0], 24, 24, 16, TJPF_GRAY, &data, &bytes, TJSAMP_GRAY, 100, 0), 0);
        files_write(name[i], data, bytes);
        tjFree(data);
    }
    tjDestroy(handle);
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    struct plx_source *source = opened(&options);
    assert_true(source->width == 24 && source->height == 16);
    for (int i = 0; i < 4; i++) {
        struct plx_capture capture = take(source);
        const enum plx_eye eye = i % 2 ? PLX_RIGHT : PLX_LEFT;
        const struct plx_raw *raw = &capture.raw[eye];
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 24; x++)
                assert_in_range(((const uint8_t *)raw->data)[(size_t)y * raw->pitch + (size_t)x], grey[y][x] - 2,
                                grey[y][x] + 2);
        source->ops->release(source, &capture);
    }
    expect_end(source);
    files_cut("left_1.jpg", -40);
    struct plx_image image;
    assert_int_equal(plx_picture_read(files_path("left_1.jpg"), PLX_U8, &image, &message), PLX_ERR_FORMAT);
    assert_non_null(strstr(message.text, "left_1.jpg: damaged JPEG ("));
}

static void test_flat_files_in_natural_order(void **state)
{
    (void)state;
    static const char *const name[][2] = {{"left.png", "right.png"},
                                          {"left_2.png", "right_2.png"},
                                          {"left_10.png", "right_10.png"},
                                          {"left_10b.pgm", "right_10b.pgm"}};
    for (int k = 3; k >= 0; k--)
        for (int eye = 0; eye < PLX_EYES; eye++)
            put_picture(name[k][eye], k, eye, WIDTH, HEIGHT);
    files_text("left.txt", "not a picture");
    files_text("gt.png", "not one of an eye");
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    struct plx_source *source = opened(&options);
    bool seen[4] = {false};
    for (uint32_t k = 0; k < 4; k++) { /* where left.png goes among the numbers does not matter */
        struct plx_capture left = take(source), right = take(source);
        int number = ((const uint8_t *)left.raw[PLX_LEFT].data)[0] / 16;
        assert_int_equal(((const uint8_t *)right.raw[PLX_RIGHT].data)[0], number * 16 + 8);
        seen[number] = true;
        assert_true(number != 2 || seen[1]);
        source->ops->release(source, &left);
        source->ops->release(source, &right);
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
    expect_end(source);
}

static void test_sixteen_bits(void **state)
{
    (void)state;
    files_folder("left");
    files_folder("right");
    put_picture("left/a.PGM", 3, PLX_LEFT, 13, 5);
    put_picture("right/a.PGM", 3, PLX_RIGHT, 13, 5);
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    struct plx_source *source = opened(&options);
    expect_pair(source, 0, 3);
    expect_end(source);
}

static void test_recorded_times_and_loop(void **state)
{
    (void)state;
    put_sequence("image_0", "image_1", 4);
    files_text("times.txt", "1.000000e+02\n1.000200e+02\n1.000300e+02\n1.000600e+02\n");
    static const int64_t expected_ms[] = {0, 20, 30, 60, 80, 100, 110, 140, 160};
    for (int paced = 0; paced < 2; paced++) {
        struct plx_replay_options options = at(paced ? PLX_TIMING_RECORDED : PLX_TIMING_MAXIMUM);
        options.loop = true;
        struct plx_source *source = opened(&options);
        assert_true(fabs(source->rate_hz - (paced ? 50.0 : 0.0)) < 1e-6);
        int64_t first_ns = 0;
        for (int k = 0; k < 9;) {
            struct plx_capture capture = take(source);
            k = (int)capture.sequence; /* a slow machine may lose some where it is paced */
            assert_true(paced || k < 9);
            if (k == 0)
                first_ns = capture.capture_ns;
            if (k < 9 && first_ns)
                assert_true(llabs(capture.capture_ns - first_ns - expected_ms[k] * PLX_NS_PER_MS) < 1000);
            assert_true(!paced || capture.capture_ns <= plx_now_ns());
            double file_s = (double)(capture.capture_ns - capture.clock_offset_ns) / PLX_NS_PER_S;
            assert_true(file_s > 99.999 && file_s < 100.061);
            bool left = capture.raw[PLX_LEFT].data != NULL;
            source->ops->release(source, &capture);
            if (k == 8 && !left)
                break;
        }
        source->ops->destroy(source); /* in the middle of it */
    }
}

static void test_fixed_rate(void **state)
{
    (void)state;
    put_sequence("left", "right", 5);
    files_text("times.txt", "0\n1\n2\n3\n4\n"); /* not used */
    struct plx_replay_options options = at(PLX_TIMING_FIXED);
    options.rate_hz = 20.0;
    struct plx_source *source = opened(&options);
    assert_true(source->rate_hz == 20.0);
    int64_t begun = plx_now_ns();
    struct plx_capture capture;
    while (source->ops->next(source, SOON, &capture) == 0) {
        assert_true(capture.capture_ns <= plx_now_ns());
        source->ops->release(source, &capture);
    }
    assert_true(plx_now_ns() - begun > 190 * PLX_NS_PER_MS); /* four periods of 50 ms */
    source->ops->destroy(source);
}

static void test_slow_reader(void **state)
{
    (void)state;
    put_sequence("left", "right", 40);
    const struct timespec pause = {0, 250 * 1000000L};
    struct plx_replay_options options = at(PLX_TIMING_FIXED);
    struct plx_source *source = opened(&options);
    struct plx_capture capture = take(source);
    source->ops->release(source, &capture);
    nanosleep(&pause, NULL); /* 25 periods; a handful of buffers */
    capture = take(source);
    assert_true(capture.sequence <= 1); /* the right eye of the first pair waits still */
    source->ops->release(source, &capture);
    capture = take(source);
    assert_true(capture.sequence > 10);
    source->ops->release(source, &capture);
    assert_int_equal(source->ops->control(source, 1000, 1.0f), PLX_ERR_UNSUPPORTED);
    struct plx_control_range range = {1, 1, 1.0f, 1.0f, 1, 1};
    source->ops->range(source, &range);
    assert_int_equal(range.exposure_max_us, 0);
    source->ops->destroy(source);

    options = at(PLX_TIMING_MAXIMUM); /* here nothing is lost */
    source = opened(&options);
    nanosleep(&pause, NULL);
    for (uint32_t k = 0; k < 40; k++) {
        struct plx_capture left = take(source), right = take(source);
        assert_true(left.sequence == k && right.sequence == k);
        source->ops->release(source, &left);
        source->ops->release(source, &right);
    }
    expect_end(source);
}

static void test_real_sequence(void **state)
{
    (void)state;
    const struct plx_replay_options options = {.path = PLX_TEST_DATA "/sequence/kitti_seq1", .timing = PLX_TIMING_MAXIMUM};
    if (access(options.path, F_OK) != 0) {
        print_message("skipped: no data at %s\n", options.path);
        skip();
    }
    struct plx_source *source = opened(&options);
    struct plx_stereo_calibration calibration;
    struct plx_calibration_info info;
    assert_true(source->width == 1226 && source->height == 370);
    assert_int_equal(source->ops->calibration(source, &calibration), 0);
    plx_calibration_info(&calibration, &info);
    assert_true(fabs(info.baseline_m - 0.53715) < 1e-4);
    struct plx_capture capture;
    int captures = 0;
    while (source->ops->next(source, SOON, &capture) == 0) {
        captures++;
        source->ops->release(source, &capture);
    }
    assert_int_equal(captures, 48);
    source->ops->destroy(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layouts, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_jpeg, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_flat_files_in_natural_order, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_sixteen_bits, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_recorded_times_and_loop, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_fixed_rate, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_slow_reader, files_begin, files_end),
        cmocka_unit_test(test_real_sequence),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
