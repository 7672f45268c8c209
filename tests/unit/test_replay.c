/* SPDX-License-Identifier: Apache-2.0 */
/* Replay of directories: layouts, formats of pictures, order and times. */
#include <math.h>

#include <turbojpeg.h>

#include "core/source/pairing.h"
#include "tests/unit/replay_files.h"
#include "tests/unit/slow_reader.h"

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
    static const char *const parent[] = {"image_00", "image_01", "mav0", "mav0/cam0", "mav0/cam1"};
    static const char *const folder[][2] = {{"left", "right"},
                                            {"image_2", "image_3"},
                                            {"image_0", "image_1"},
                                            {"image_00/data", "image_01/data"},
                                            {"mav0/cam0/data", "mav0/cam1/data"}};
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
        const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
        for (size_t k = 0; k < sizeof parent / sizeof *parent; k++) /* a layout whose folders are empty is none */
            if (strncmp(parent[k], folder[i][0], 4) == 0 && strchr(folder[i][0], '/'))
                files_folder(parent[k]);
        put_sequence(folder[i][0], folder[i][1], 1 + (int)i);
        struct plx_source *source = opened(&options);
        assert_true(source->width == WIDTH && source->height == HEIGHT && source->rate_hz == 0.0);
        for (int k = 0; k <= (int)i; k++)
            expect_pair(source, (uint32_t)k, k);
        expect_end(source);
        remove_sequence(folder[i][0], folder[i][1], 1 + (int)i);
    }
}

static void remove_flat(void)
{
    static const char *const name[] = {"im0.png",       "im1.png",       "a_2_left.png",
                                       "a_2_right.png", "a_10_left.png", "a_10_right.png"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        unlink(files_path(name[i]));
}

/* The eye is the last word of a name, or it is Middlebury's. Files that a Macintosh leaves beside others are no pictures. */
static void test_names_that_end_with_the_eye(void **state)
{
    (void)state;
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    put_picture("a_10_left.png", 1, PLX_LEFT, WIDTH, HEIGHT);
    put_picture("a_10_right.png", 1, PLX_RIGHT, WIDTH, HEIGHT);
    put_picture("a_2_left.png", 0, PLX_LEFT, WIDTH, HEIGHT);
    put_picture("a_2_right.png", 0, PLX_RIGHT, WIDTH, HEIGHT);
    files_text("._a_2_left.png", "no picture");
    struct plx_source *source = opened(&options);
    expect_pair(source, 0, 0);
    expect_pair(source, 1, 1);
    expect_end(source);
    remove_flat();
    put_picture("im0.png", 3, PLX_LEFT, WIDTH, HEIGHT);
    put_picture("im1.png", 3, PLX_RIGHT, WIDTH, HEIGHT);
    source = opened(&options);
    expect_pair(source, 0, 3);
    expect_end(source);
    remove_flat();
}

/* Names of 16 digits and more are times in nanoseconds; cameras lose pictures. */
static void test_times_in_names(void **state)
{
    (void)state;
    static const char *const name[] = {"1403636579763555584", "1403636579813555456", "1403636579863555584"};
    const struct plx_replay_options options = at(PLX_TIMING_RECORDED);
    files_folder("mav0");
    files_folder("mav0/cam0");
    files_folder("mav0/cam1");
    for (int eye = 0; eye < PLX_EYES; eye++) {
        char path[96];
        snprintf(path, sizeof path, "mav0/cam%d/data", eye);
        files_folder(path);
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "mav0/cam%d/data/%s.png", eye, name[k]);
            if (eye == PLX_LEFT || k != 1)
                put_picture(path, k, eye, WIDTH, HEIGHT);
        }
    }
    struct plx_source *source = opened(&options);
    assert_non_null(strstr(source->note.text, "1 pictures have no counterpart of about the same time"));
    const int64_t first_ns = expect_pair(source, 0, 0), second_ns = expect_pair(source, 1, 2);
    assert_true(llabs(second_ns - first_ns - 100 * PLX_NS_PER_MS) < PLX_NS_PER_MS);
    expect_end(source);
}

/* Takes a pair, whose eyes are SKEW_NS apart, and gives it to PAIRING; returns its health flags. */
static uint32_t pair_eyes(struct plx_source *source, struct plx_pairing *pairing, int64_t skew_ns, int64_t error_ns,
                          uint32_t *ret_sequence)
{
    struct plx_capture eye[PLX_EYES] = {take(source), take(source)};
    struct plx_pairing_result result;
    uint32_t health = 0;
    assert_non_null(eye[PLX_LEFT].raw[PLX_LEFT].data);
    assert_non_null(eye[PLX_RIGHT].raw[PLX_RIGHT].data);
    assert_int_equal(eye[PLX_LEFT].clock_offset_ns, eye[PLX_RIGHT].clock_offset_ns);
    assert_true(llabs(eye[PLX_RIGHT].capture_ns - eye[PLX_LEFT].capture_ns - skew_ns) <= error_ns);
    assert_true(source->rate_hz == 0 || eye[PLX_RIGHT].capture_ns <= plx_now_ns());
    *ret_sequence = eye[PLX_LEFT].sequence;
    for (int i = 0; i < PLX_EYES; i++) {
        assert_int_equal(plx_pairing_push(pairing, &eye[i], &result), 0);
        health |= result.health;
    }
    for (int i = 0; i < PLX_EYES; i++)
        source->ops->release(source, &eye[i]);
    return health;
}

/* Plays three pairs whose eyes are SKEW_NS apart, at 20 pairs a second: more than a quarter of a period is desync, except at a
 * fixed rate, where the times do not count. */
static void expect_skew(int64_t skew_ns, int64_t error_ns)
{
    static const enum plx_replay_timing timings[] = {PLX_TIMING_MAXIMUM, PLX_TIMING_RECORDED, PLX_TIMING_FIXED};
    for (int i = 0; i < 3; i++) {
        const struct plx_replay_options options = at(timings[i]);
        const int64_t expected_ns = timings[i] == PLX_TIMING_FIXED ? 0 : skew_ns;
        const bool is_apart = llabs(expected_ns) > 50 * PLX_NS_PER_MS / 4;
        struct plx_source *source = opened(&options);
        struct plx_pairing pairing;
        uint32_t health = 0, sequence = 0;
        plx_pairing_init(&pairing, plx_pairing_default_tolerance_ns(plx_source_capture_hz(source)));
        assert_int_equal(strstr(source->note.text, "3 of 3 pairs, which count as desync") != NULL, is_apart);
        while (sequence < 2) /* a slow machine may lose some where the replay is paced */
            health |= pair_eyes(source, &pairing, expected_ns, error_ns, &sequence);
        if (timings[i] == PLX_TIMING_MAXIMUM)
            assert_int_equal(health, is_apart ? PLX_HEALTH_DESYNC : 0);
        expect_end(source);
    }
}

static void put_named_by_time(int eye, int k, int64_t skew_ns)
{
    char name[96];
    snprintf(name, sizeof name, "cam%d/data/%lld.png", eye,
             (long long)(1403636579763555584 + k * 50 * PLX_NS_PER_MS + eye * skew_ns));
    put_picture(name, k, eye, WIDTH, HEIGHT);
}

static void test_each_eye_keeps_the_time_of_its_name(void **state)
{
    static const int64_t skew_ns[] = {15 * PLX_NS_PER_MS, -15 * PLX_NS_PER_MS, 2 * PLX_NS_PER_MS};
    for (int i = 0; i < 3; i++) {
        files_folder("cam0");
        files_folder("cam1");
        files_folder("cam0/data");
        files_folder("cam1/data");
        for (int k = 0; k < 6; k++)
            put_named_by_time(k % 2, k / 2, skew_ns[i]);
        expect_skew(skew_ns[i], 0);
        files_end(state);
        files_begin(state);
    }
}

static void test_each_eye_keeps_its_time_of_day(void **state)
{
    (void)state;
    files_folder("image_00");
    files_folder("image_01");
    put_sequence("image_00/data", "image_01/data", 3);
    files_text("image_00/timestamps.txt", "2011-09-26 23:59:59.950\n2011-09-27 00:00:00.000\n2011-09-27 00:00:00.050\n");
    files_text("image_01/timestamps.txt", "2011-09-26 23:59:59.965\n2011-09-27 00:00:00.015\n2011-09-27 00:00:00.065\n");
    expect_skew(15 * PLX_NS_PER_MS, 1000);
    files_text("image_01/timestamps.txt", "2011-09-26 23:59:59.965\nlater\n2011-09-27 00:00:00.065\n");
    refused(PLX_ERR_FORMAT, "image_01/timestamps.txt:2", "expected a time");
}

/* KITTI's raw recordings: a line with date and time for each picture. */
static void test_times_of_day(void **state)
{
    (void)state;
    const struct plx_replay_options options = at(PLX_TIMING_RECORDED);
    files_folder("image_00");
    files_folder("image_01");
    put_sequence("image_00/data", "image_01/data", 2);
    files_text("image_00/timestamps.txt", "2011-09-26 23:59:59.950000000\n2011-09-27 00:00:00.050000000\n");
    struct plx_source *source = opened(&options);
    const int64_t first_ns = expect_pair(source, 0, 0), second_ns = expect_pair(source, 1, 1);
    assert_true(llabs(second_ns - first_ns - 100 * PLX_NS_PER_MS) < PLX_NS_PER_MS);
    expect_end(source);
}

/* Pictures 2 and 3 of a longer recording, whose times.txt came along. */
static void test_times_by_number(void **state)
{
    (void)state;
    const struct plx_replay_options options = at(PLX_TIMING_RECORDED);
    put_sequence("left", "right", 4);
    for (int k = 0; k < 2; k++)
        for (int eye = 0; eye < PLX_EYES; eye++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%06d.png", eye == PLX_LEFT ? "left" : "right", k);
            assert_int_equal(unlink(files_path(name)), 0);
        }
    files_text("times.txt", "\xEF\xBB\xBF"
                            "0\n0.1\n0.2\n0.25\n0.9\n");
    struct plx_source *source = opened(&options);
    const int64_t first_ns = expect_pair(source, 0, 2), second_ns = expect_pair(source, 1, 3);
    assert_true(llabs(second_ns - first_ns - 50 * PLX_NS_PER_MS) < PLX_NS_PER_MS);
    expect_end(source);
    files_text("times.txt", "0\n0.000000001\n0.000000002\n0.000000003\n");
    struct plx_source *none;
    assert_int_equal(plx_replay_create(stages, &options, &none, &message), PLX_ERR_RANGE);
    assert_non_null(strstr(message.text, "are the times in seconds?"));
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

/* A pair whose samples are SAMPLE, but for one of LAST. */
static void put_deep(uint16_t sample, uint16_t last)
{
    uint16_t deep[HEIGHT][WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        deep[i / WIDTH][i % WIDTH] = sample;
    deep[HEIGHT - 1][WIDTH - 1] = last;
    const struct plx_image image = {deep, WIDTH, HEIGHT, sizeof deep[0], PLX_U16};
    files_folder("left");
    files_folder("right");
    assert_int_equal(plx_png_write(files_path("left/a.png"), &image, &message), 0);
    assert_int_equal(plx_png_write(files_path("right/a.png"), &image, &message), 0);
}

static void test_ten_bits_of_sixteen(void **state)
{
    (void)state;
    struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    struct plx_capture capture;
    put_deep(512, 1023);
    struct plx_source *source = opened(&options);
    assert_non_null(strstr(source->note.text, "the first pair uses 10 of 16 bits"));
    assert_non_null(strstr(source->note.text, "set source.bits: 10"));
    source->ops->destroy(source);

    options.bits = 10;
    source = opened(&options);
    assert_string_equal(source->note.text, "");
    for (int eye = 0; eye < PLX_EYES; eye++) {
        capture = take(source);
        const struct plx_raw *raw = &capture.raw[eye];
        const uint16_t *last = (const void *)((const uint8_t *)raw->data + (HEIGHT - 1) * raw->pitch);
        assert_int_equal(raw->format, PLX_FORMAT_Y16);
        assert_int_equal(((const uint16_t *)raw->data)[0], 512 << 6);
        assert_int_equal(last[WIDTH - 1], 1023 << 6);
        source->ops->release(source, &capture);
    }
    expect_end(source);

    put_deep(512, 1024);
    source = opened(&options);
    assert_int_equal(source->ops->next(source, SOON, &capture), PLX_ERR_RANGE);
    assert_non_null(strstr(source->message.text, "pair 1 has samples of 11 bits, and source.bits is 10"));
    source->ops->destroy(source);

    put_deep(512, 40000); /* 16 bits, and no more to say */
    options.bits = 16;
    source = opened(&options);
    assert_string_equal(source->note.text, "");
    source->ops->destroy(source);
}

static void test_bits_of_pictures_of_8_bits(void **state)
{
    (void)state;
    struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    struct plx_source *source = NULL;
    put_sequence("left", "right", 1);
    options.bits = 10;
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_RANGE);
    assert_non_null(strstr(message.text, "source.bits is 10, and the pictures have 8 bits"));
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
    const int64_t begun = plx_now_ns();
    struct plx_source *source = opened(&options);
    assert_true(source->rate_hz == 20.0);
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
    struct plx_replay_options options = at(PLX_TIMING_FIXED);
    options.loop = true; /* goes on until the reader is late enough */
    struct plx_source *source = opened(&options);
    slow_reader_loses(source, PLX_SOURCE_MIN_PAIRS + 2, 10, 10 * PLX_NS_PER_MS);
    assert_int_equal(source->ops->control(source, 1000, 1.0f), PLX_ERR_UNSUPPORTED);
    struct plx_control_range range = {1, 1, 1.0f, 1.0f, 1, 1};
    source->ops->range(source, &range);
    assert_int_equal(range.exposure_max_us, 0);
    source->ops->destroy(source);

    options = at(PLX_TIMING_MAXIMUM); /* here nothing is lost */
    source = opened(&options);
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
    assert_int_equal(source->ops->calibration(source, &calibration, &message), 0);
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
        cmocka_unit_test_setup_teardown(test_names_that_end_with_the_eye, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_times_in_names, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_times_of_day, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_each_eye_keeps_the_time_of_its_name, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_each_eye_keeps_its_time_of_day, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_times_by_number, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_jpeg, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_flat_files_in_natural_order, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_sixteen_bits, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_ten_bits_of_sixteen, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_bits_of_pictures_of_8_bits, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_recorded_times_and_loop, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_fixed_rate, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_slow_reader, files_begin, files_end),
        cmocka_unit_test(test_real_sequence),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
