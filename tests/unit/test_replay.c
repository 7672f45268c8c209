/* SPDX-License-Identifier: Apache-2.0 */
/* Replay of directories that the test writes itself: layouts, order, times, calibration, and every way to be wrong. */
#include <math.h>
#include <time.h>

#include <turbojpeg.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "cpu/cpu.h"
#include "drivers/files/kitti.h"
#include "drivers/files/picture.h"
#include "drivers/files/replay.h"
#include "tests/cmocka.h"
#include "tests/unit/files.h"

#define WIDTH 21
#define HEIGHT 7
#define SOON (plx_now_ns() + 20 * PLX_NS_PER_S)

static struct plx_stages *stages;
static struct plx_error_message message;

static int begin_all(void **state)
{
    (void)state;
    const struct plx_limits limits = {64, 64, 64, 1};
    return plx_cpu_create(&limits, &stages);
}

static int end_all(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

/* Every pixel of picture NUMBER of EYE tells which one it is. */
static uint8_t pixel(int number, int eye, int x, int y)
{
    return (uint8_t)(number * 16 + eye * 8 + x + 3 * y);
}

static void put_picture(const char *name, int number, int eye, int width, int height)
{
    static uint8_t grey[64][64];
    static uint16_t deep[64][64];
    const char *path = files_path(name), *extension = strrchr(name, '.');
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            grey[y][x] = pixel(number, eye, x, y);
            deep[y][x] = (uint16_t)(grey[y][x] * 256 + 5);
        }
    const struct plx_image image = {grey, width, height, 64, PLX_U8}, wide = {deep, width, height, 128, PLX_U16};
    int result = strcmp(extension, ".png") == 0   ? plx_png_write(path, &image, &message)
                 : strcmp(extension, ".pgm") == 0 ? plx_pgm_write(path, &image, &message)
                                                  : plx_pgm_write(path, &wide, &message); /* .PGM */
    assert_int_equal(result, 0);
}

/* COUNT pairs as FOLDER/%06d.png. */
static void put_sequence(const char *left, const char *right, int count)
{
    const char *folder[PLX_EYES] = {left, right};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        files_folder(folder[eye]);
        for (int k = 0; k < count; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%06d.png", folder[eye], k);
            put_picture(name, k, eye, WIDTH, HEIGHT);
        }
    }
}

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

static struct plx_replay_options at(enum plx_pace pace)
{
    return (struct plx_replay_options){.path = files_directory, .pace = pace, .rate_hz = 100.0};
}

static struct plx_source *opened(const struct plx_replay_options *options)
{
    struct plx_source *source = NULL;
    if (plx_replay_create(stages, options, &source, &message) < 0)
        fail_msg("%s", message.text);
    assert_int_equal(source->ops->start(source, &message), 0);
    return source;
}

static struct plx_capture take(struct plx_source *source)
{
    struct plx_capture capture;
    int result = source->ops->next(source, SOON, &capture);
    if (result < 0)
        fail_msg("next gave %d: %s", result, source->message.text);
    return capture;
}

/* Takes both eyes of pair SEQUENCE and compares them with picture NUMBER; returns the capture time. */
static int64_t expect_pair(struct plx_source *source, uint32_t sequence, int number)
{
    int64_t capture_ns = 0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_capture capture = take(source);
        const struct plx_raw *raw = &capture.raw[eye];
        assert_non_null(raw->data);
        assert_null(capture.raw[!eye].data);
        assert_int_equal(capture.sequence, sequence);
        assert_int_equal(capture.clock, PLX_CLOCK_FILE);
        assert_true(eye == PLX_LEFT || capture.capture_ns == capture_ns);
        assert_true(raw->width == source->width && raw->height == source->height && raw->eye_width == raw->width);
        for (int y = 0; y < raw->height; y++)
            for (int x = 0; x < raw->width; x++) {
                const uint8_t *row = (const uint8_t *)raw->data + (size_t)y * raw->pitch;
                int value = raw->format == PLX_FORMAT_Y16 ? ((const uint16_t *)(const void *)row)[x] - 5 : row[x] * 256;
                assert_int_equal(value, pixel(number, eye, x, y) * 256);
            }
        capture_ns = capture.capture_ns;
        source->ops->release(source, &capture);
    }
    return capture_ns;
}

static void expect_end(struct plx_source *source)
{
    struct plx_capture capture;
    for (int i = 0; i < 2; i++)
        assert_int_equal(source->ops->next(source, SOON, &capture), PLX_ERR_END);
    assert_non_null(strstr(source->message.text, files_directory));
    source->ops->destroy(source);
}

static void test_layouts(void **state)
{
    (void)state;
    static const char *const folder[][2] = {{"left", "right"}, {"image_2", "image_3"}, {"image_0", "image_1"}};
    for (size_t i = 0; i < 3; i++) {
        const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
        put_sequence(folder[i][0], folder[i][1], 1 + (int)i);
        struct plx_source *source = opened(&options);
        assert_true(source->width == WIDTH && source->height == HEIGHT && source->rate_hz == 0.0);
        for (int k = 0; k <= (int)i; k++)
            expect_pair(source, (uint32_t)k, k);
        expect_end(source);
        remove_sequence(folder[i][0], folder[i][1], 1 + (int)i);
    }
}

static void two_layouts_are_one_too_many(void **state)
{
    (void)state;
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
    struct plx_source *source = NULL;
    put_sequence("image_2", "image_3", 1);
    put_picture("left_1.png", 0, PLX_LEFT, WIDTH, HEIGHT);
    put_picture("right_1.png", 0, PLX_RIGHT, WIDTH, HEIGHT);
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_FORMAT);
    assert_non_null(strstr(message.text, "holds both image_2/ with image_3/ and left* with right* pictures; name a directory"));
    put_sequence("image_0", "image_1", 1);
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_FORMAT);
    assert_non_null(strstr(message.text, "holds both image_0/ with image_1/ and image_2/ with image_3/; name a directory"));
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
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
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
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
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
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
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
        struct plx_replay_options options = at(paced ? PLX_PACE_RECORDED : PLX_PACE_MAXIMUM);
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
    struct plx_replay_options options = at(PLX_PACE_FIXED);
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
    struct plx_replay_options options = at(PLX_PACE_FIXED);
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

    options = at(PLX_PACE_MAXIMUM); /* here nothing is lost */
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

/* --- what is wrong is said, with the file's name --------------------------------------------------------------------- */

static void refused(int error, const char *file, const char *words)
{
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
    struct plx_source *source = NULL;
    message.text[0] = '\0';
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), error);
    assert_null(source);
    if (!strstr(message.text, file) || !strstr(message.text, words))
        fail_msg("expected '%s' and '%s' in '%s'", file, words, message.text);
}

static void test_bad_directories(void **state)
{
    (void)state;
    refused(PLX_ERR_NOT_FOUND, files_directory, "no stereo pairs; expected image_0/");
    files_folder("left");
    refused(PLX_ERR_NOT_FOUND, files_directory, "right/ beside it is missing");
    files_folder("right");
    refused(PLX_ERR_NOT_FOUND, files_directory, "no stereo pairs");
    put_sequence("left", "right", 3);
    unlink(files_path("right/000001.png"));
    refused(PLX_ERR_NOT_FOUND, "left/000001.png", "no counterpart of the right eye");
    unlink(files_path("left/000001.png"));
    unlink(files_path("left/000000.png"));
    refused(PLX_ERR_NOT_FOUND, "right/000000.png", "no counterpart of the left eye");

    struct plx_replay_options options = at(PLX_PACE_FIXED);
    struct plx_source *source = NULL;
    options.rate_hz = 0.0;
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_RANGE);
    options.pace = PLX_PACE_MAXIMUM;
    options.path = "/no/such/directory";
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, "/no/such/directory"));
    options.path = files_path("right/000002.png");
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_NOT_FOUND);
    assert_null(source);
}

static void test_bad_times(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "times.txt:1: expected a time"},
        {"0\n", "times.txt:2: expected a time in seconds for each of 3 pairs"},
        {"0\n0.1", "times.txt:2: expected a time in seconds for each of 3 pairs"},
        {"0\n0.1\nsoon\n", "times.txt:3: expected a time"},
        {"0\nsoon\n0.2\n", "times.txt:2: expected a time"},
        {"0\n0.1 0.2\n0.3\n", "times.txt:2: expected a time"},
        {"0\nnan\n0.2\n", "times.txt:2: expected a time"},
        {"0\n1e99\n0.2\n", "times.txt:2: expected a time"},
        {"0\n0.2\n0.2\n", "times.txt:3: the time 0.2 s is not later"},
    };
    put_sequence("image_0", "image_1", 3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        files_text("times.txt", bad[i].text);
        refused(PLX_ERR_FORMAT, "times.txt", bad[i].words);
    }
    files_text("times.txt", "0\r\n0.1\r\n0.2\r\n0.3\r\n"); /* of another system, and one more: fine */
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
    struct plx_source *source = opened(&options);
    source->ops->destroy(source);
}

static size_t file_bytes(const char *name)
{
    struct stat status;
    assert_int_equal(stat(files_path(name), &status), 0);
    return (size_t)status.st_size;
}

/* The recording in files_directory gives PAIRS pairs, and says why no more. */
static void gives(int pairs, const char *words)
{
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
    struct plx_source *source = opened(&options);
    struct plx_capture capture;
    if (words ? !strstr(source->note.text, words) : source->note.text[0] != 0)
        fail_msg("the note is \"%s\"", source->note.text);
    for (int i = 0; i < 2 * pairs; i++) {
        assert_int_equal(source->ops->next(source, SOON, &capture), 0);
        source->ops->release(source, &capture);
    }
    assert_int_equal(source->ops->next(source, SOON, &capture), PLX_ERR_END);
    source->ops->destroy(source);
}

/* What a recorder leaves that was killed, at each step of its last pair; and the same damage before the end, which is refused.
 */
static void a_recording_that_was_cut_off_gives_all_but_its_last_pair(void **state)
{
    (void)state;
    static const char last[] = "image_1/000003.png";
    put_sequence("image_0", "image_1", 4);
    files_text("times.txt", "0\n0.1\n0.2\n0.3\n");
    gives(4, NULL);
    files_text("times.txt", "0\n0.1\n0.2\n0.");
    gives(3, "times.txt: the last line has no end: the last pair is left out");
    files_text("times.txt", "0\n0.1\n0.2\n");
    gives(3, "times.txt: the last pair has no line: the last pair is left out");

    files_text("times.txt", "0\n0.1\n0.2\n0.3\n");
    assert_int_equal(truncate(files_path(last), (off_t)file_bytes(last) - 20), 0);
    gives(3, last);
    assert_int_equal(truncate(files_path(last), 0), 0);
    gives(3, last);
    unlink(files_path(last));
    gives(3, "the last picture, 000003.png, is left out");
    unlink(files_path("image_0/000003.png"));
    files_write("image_0/000003.png.part", "", 0); /* not yet a picture */
    gives(3, NULL);

    unlink(files_path("image_1/000001.png"));
    struct plx_source *source = NULL;
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, "000001.png"));
}

/* Bad pictures after the first pair are found when their turn comes: the good ones before are delivered. */
static void ends_with(int error, const char *file, const char *words, int good_pairs)
{
    for (int loop = 0; loop < 2; loop++) {
        struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
        options.loop = loop == 1;
        struct plx_source *source = opened(&options);
        struct plx_capture capture;
        for (int k = 0; k < good_pairs; k++)
            expect_pair(source, (uint32_t)k, k);
        assert_int_equal(source->ops->next(source, SOON, &capture), error);
        if (!strstr(source->message.text, file) || !strstr(source->message.text, words))
            fail_msg("expected '%s' and '%s' in '%s'", file, words, source->message.text);
        source->ops->destroy(source);
    }
}

static void test_bad_pictures(void **state)
{
    (void)state;
    put_sequence("left", "right", 4);
    files_cut("right/000002.png", -30);
    ends_with(PLX_ERR_FORMAT, "right/000002.png", "truncated", 2);
    files_cut("right/000002.png", 0);
    ends_with(PLX_ERR_FORMAT, "right/000002.png", "empty", 2);
    unlink(files_path("right/000002.png"));
    files_folder("right/000002.png");
    ends_with(PLX_ERR_FORMAT, "right/000002.png", "not a regular file", 2);
    put_picture("left/000001.png", 1, PLX_LEFT, WIDTH + 1, HEIGHT);
    ends_with(PLX_ERR_FORMAT, "left/000001.png", "22x7 pixels, expected 21x7", 1);

    put_picture("right/000000.png", 0, PLX_RIGHT, WIDTH, HEIGHT - 1); /* the first pair is looked at before the start */
    refused(PLX_ERR_FORMAT, "right/000000.png", "21x6 pixels, expected 21x7 as in");
    files_text("left/000000.png", "GIF89a");
    refused(PLX_ERR_FORMAT, "left/000000.png", "neither a PNG nor");
}

/* --- calibration ------------------------------------------------------------------------------------------------------ */

#define ROW_LEFT "700 0 320 0 0 701 240 0 0 0 1 0\n"
#define ROW_RIGHT "700 0 321 -350 0 701 240 0 0 0 1 0\n"

static void test_calibration(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int first;
        double baseline;
    } good[] = {
        {ROW_LEFT ROW_RIGHT, 0, 0.5},
        {"P0: " ROW_LEFT "P1: " ROW_RIGHT "Tr: 1 2 3\n", 0, 0.5},
        {"# a comment\nP1: " ROW_RIGHT "\nP0: " ROW_LEFT, 0, 0.5},
        {"P0: " ROW_LEFT "P1: " ROW_RIGHT "P2: 7e2 0 320 140 0 701 240 0 0 0 1 0\nP3: 7e2 0 321 -140 0 701 240 0 0 0 1 0\n", 2,
         0.4},
        {ROW_LEFT ROW_RIGHT, 2, 0.5},
    };
    struct plx_calibration_info info;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        files_text("calib.txt", good[i].text);
        int result = plx_kitti_calibration(files_path("calib.txt"), good[i].first, &info, &message);
        if (result < 0)
            fail_msg("%s", message.text);
        assert_true(info.fx == 700.0 && info.fy == 701.0 && info.cx == 320.0 && info.cy == 240.0 && info.cx_right == 321.0);
        assert_true(fabs(info.baseline_m - good[i].baseline) < 1e-12);
    }
    static const struct {
        const char *text;
        int error;
        const char *words;
    } bad[] = {
        {"", PLX_ERR_NOT_FOUND, "no projection matrices"},
        {"cam0=[1 2 3]\n", PLX_ERR_NOT_FOUND, "no projection matrices"},
        {ROW_LEFT, PLX_ERR_NOT_FOUND, "no projection matrices"},
        {ROW_LEFT "700 0 320\n", PLX_ERR_FORMAT, "calib.txt:2: expected 12 numbers, a 3x4 projection matrix; number 4 is bad"},
        {"P0: 700 0 nan 0 0 701 240 0 0 0 1 0\n", PLX_ERR_FORMAT, "calib.txt:1: expected 12 numbers"},
        {"P0: 1 2 3 4 5 6 7 8 9 10 11 12 13\n", PLX_ERR_FORMAT, "calib.txt:1: more than the 12 numbers"},
        {ROW_LEFT ROW_LEFT, PLX_ERR_RANGE, "a baseline of 0 m"},
        {ROW_RIGHT ROW_LEFT, PLX_ERR_RANGE, "a baseline of -0.5 m"},
        {"0 0 320 0 0 701 240 0 0 0 1 0\n" ROW_RIGHT, PLX_ERR_RANGE, "focal lengths 0 and 701"},
        {"710 0 320 0 0 701 240 0 0 0 1 0\n" ROW_RIGHT, PLX_ERR_RANGE, "not rectified"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        files_text("calib.txt", bad[i].text);
        assert_int_equal(plx_kitti_calibration(files_path("calib.txt"), 0, &info, &message), bad[i].error);
        if (!strstr(message.text, "calib.txt") || !strstr(message.text, bad[i].words))
            fail_msg("expected '%s' in '%s'", bad[i].words, message.text);
    }

    put_sequence("left", "right", 1);
    refused(PLX_ERR_RANGE, "calib.txt", "not rectified"); /* the last of those */
    const struct plx_replay_options options = at(PLX_PACE_MAXIMUM);
    struct plx_stereo_calibration calibration;
    for (int given = 0; given < 2; given++) {
        unlink(files_path("calib.txt"));
        if (given)
            files_text("calib.txt", good[0].text);
        struct plx_source *source = opened(&options);
        assert_int_equal(plx_source_calibration(source, &calibration), given ? 0 : PLX_ERR_NOT_FOUND);
        source->ops->destroy(source);
    }
    plx_calibration_info(&calibration, &info);
    assert_true(info.baseline_m == 0.5 && info.cx_right == 321.0 && calibration.rectified_width == WIDTH);
}

static void test_real_sequence(void **state)
{
    (void)state;
    const struct plx_replay_options options = {.path = PLX_TEST_DATA "/sequence/kitti_seq1", .pace = PLX_PACE_MAXIMUM};
    if (access(options.path, F_OK) != 0) {
        print_message("skipped: no data at %s\n", options.path);
        skip();
    }
    struct plx_source *source = opened(&options);
    struct plx_stereo_calibration calibration;
    struct plx_calibration_info info;
    assert_true(source->width == 1226 && source->height == 370);
    assert_int_equal(plx_source_calibration(source, &calibration), 0);
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
        cmocka_unit_test_setup_teardown(two_layouts_are_one_too_many, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_jpeg, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_flat_files_in_natural_order, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_sixteen_bits, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_recorded_times_and_loop, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_fixed_rate, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_slow_reader, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_bad_directories, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_bad_times, files_begin, files_end),
        cmocka_unit_test_setup_teardown(a_recording_that_was_cut_off_gives_all_but_its_last_pair, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_bad_pictures, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_calibration, files_begin, files_end),
        cmocka_unit_test(test_real_sequence),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
