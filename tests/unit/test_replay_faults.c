/* SPDX-License-Identifier: Apache-2.0 */
/* Replay of directories that are wrong or incomplete: every refusal names the file. */
#include "tests/unit/replay_files.h"

static void two_layouts_are_one_too_many(void **state)
{
    (void)state;
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
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

static void test_bad_directories(void **state)
{
    (void)state;
    refused(PLX_ERR_NOT_FOUND, files_directory, "no stereo pairs; expected folders image_0/");
    files_folder("left");
    refused(PLX_ERR_NOT_FOUND, files_directory, "has left/ but no right/");
    files_folder("right");
    refused(PLX_ERR_NOT_FOUND, files_directory, "no stereo pairs");
    put_sequence("left", "right", 3);
    unlink(files_path("right/000001.png"));
    refused(PLX_ERR_NOT_FOUND, "left/000001.png", "no counterpart of the right eye");
    unlink(files_path("left/000001.png"));
    unlink(files_path("left/000000.png"));
    refused(PLX_ERR_NOT_FOUND, "right/000000.png", "no counterpart of the left eye");

    struct plx_replay_options options = at(PLX_TIMING_FIXED);
    struct plx_source *source = NULL;
    options.rate_hz = 0.0;
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_RANGE);
    options.timing = PLX_TIMING_MAXIMUM;
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
    files_text("times.txt", "0\r\n0.1\r\n0.2\r\n0.3\r\n"); /* another system's line ends, and one line more: fine */
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    struct plx_source *source = opened(&options);
    source->ops->destroy(source);
}

static size_t file_bytes(const char *name)
{
    struct stat status;
    assert_int_equal(stat(files_path(name), &status), 0);
    return (size_t)status.st_size;
}

/* The recording in files_directory gives PAIRS pairs, then an error with its reason. */
static void gives(int pairs, const char *words)
{
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
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

/* Recordings of a recorder that was killed, at each step of its last pair. The same damage before the end is refused. */
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
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, "000001.png"));
}

/* Bad pictures after the first pair are found when their turn comes: the good ones before are delivered. */
static void ends_with(int error, const char *file, const char *words, int good_pairs)
{
    for (int loop = 0; loop < 2; loop++) {
        struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
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
    refused(PLX_ERR_FORMAT, "left/000000.png", "expected a PNG");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_layouts_are_one_too_many, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_bad_directories, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_bad_times, files_begin, files_end),
        cmocka_unit_test_setup_teardown(a_recording_that_was_cut_off_gives_all_but_its_last_pair, files_begin, files_end),
        cmocka_unit_test_setup_teardown(test_bad_pictures, files_begin, files_end),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
