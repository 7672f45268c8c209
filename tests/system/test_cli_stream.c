/* SPDX-License-Identifier: Apache-2.0 */
/* What the command `parallax` writes frame by frame: JSON lines and video. */
#include "tests/system/cli.h"

#include <fcntl.h>

/* Runs LINE in bash, with the command in the path; all of a pipeline counts. Returns the exit code, and what it wrote. */
static int shell(const char *line, char *ret_text, size_t size)
{
    char command[1024];

    snprintf(command, sizeof command, "bash -o pipefail -c 'PATH=" PLX_BINARY_DIR "/bin:$PATH; %s' 2>&1", line);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    ret_text[fread(ret_text, 1, size - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- JSON lines --------------------------------------------------------------------------------------------------- */

/* The keys are those of `status --json`. */
static void assert_same_keys(const cJSON *a, const cJSON *b)
{
    assert_int_equal(cJSON_GetArraySize(a), cJSON_GetArraySize(b));
    const cJSON *item;
    cJSON_ArrayForEach (item, a)
        if (!cJSON_GetObjectItemCaseSensitive(b, item->string))
            fail_msg("only one of both has the key %s", item->string);
}

static void watch_prints_a_line_of_json_for_each_frame(void **state)
{
    (void)state;
    struct command command;
    double last = 0;
    int lines = 0;
    command_succeed(&command, "status", "--json");
    cJSON *status = cJSON_Parse(command.out);
    command_free(&command);
    assert_non_null(status);
    command_succeed(&command, "watch", "--json", "--seconds", "2");
    for (char *line = strtok(command.out, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        cJSON *frame = cJSON_Parse(line);
        if (!frame)
            fail_msg("no JSON: %s", line);
        assert_same_keys(frame, status);
        assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(frame, "fresh")));
        assert_true(number(frame, "sequence") > last);
        last = number(frame, "sequence");
        assert_true(number(frame, "latency_ms") > 0);
        assert_true(lines == 0 || number(frame, "rate_hz") > 0);
        assert_true(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(frame, "obstacles")) > 0);
        cJSON_Delete(frame);
    }
    assert_true(lines >= 2);
    cJSON_Delete(status);
    command_free(&command);
}

/* Also where SIGPIPE is ignored, as in a unit of systemd. */
static void watch_ends_quietly_with_its_reader(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "parallax watch --json | head -1 | wc -l",
        "parallax watch --changes | head -1 | wc -l",
        "trap \"\" PIPE; parallax watch --json | head -1 | wc -l",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[256];
        const int code = shell(lines[i], text, sizeof text);
        if (code != 0 || strcmp(text, "1\n") != 0)
            fail_msg("%s: exit code %d, and %s", lines[i], code, text);
    }
}

/* A service that stands still: each second a line without what a robot could act on. */
static void watch_says_each_second_that_there_is_no_frame(void **state)
{
    (void)state;
    struct command command;
    int old = 0;
    const pid_t engine = daemon_child(&daemon_, "parallax-engine");
    command_begin(&command, (const char *const[]){"watch", "--json", "--seconds", "4", NULL}, 0);
    usleep(1000000);
    kill(daemon_.pid, SIGSTOP); /* the supervisor first, so that it does not replace the engine */
    kill(engine, SIGSTOP);
    command_end(&command);
    kill(engine, SIGCONT);
    kill(daemon_.pid, SIGCONT);
    assert_int_equal(command.code, PLX_EXIT_UNAVAILABLE);
    for (char *line = strtok(command.out, "\n"); line; line = strtok(NULL, "\n")) {
        cJSON *frame = cJSON_Parse(line);
        assert_non_null(frame);
        const bool fresh = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(frame, "fresh"));
        assert_true(!fresh || old == 0);
        assert_true(fresh || cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(frame, "obstacles")));
        old += !fresh;
        cJSON_Delete(frame);
    }
    assert_true(old >= 2);
    command_free(&command);
}

/* --- video -------------------------------------------------------------------------------------------------------- */

#define FRAMES 3

/* The pictures of the stream FILE, [FRAMES][HEIGHT][WIDTH] of BYTES each, to be freed; everything around them is checked. */
static uint8_t *read_stream(const char *file, int bytes)
{
    char line[160], expected[160];
    const size_t size = (size_t)WIDTH * HEIGHT * (size_t)bytes;
    uint8_t *pictures = calloc(FRAMES, size);
    FILE *stream = fopen(file, "re");
    assert_non_null(stream);
    assert_non_null(pictures);
    snprintf(expected, sizeof expected, "YUV4MPEG2 W320 H240 F15:1 Ip A1:1 Cmono%s XCOLORRANGE=FULL\n", bytes == 2 ? "16" : "");
    assert_non_null(fgets(line, sizeof line, stream));
    assert_string_equal(line, expected);
    for (int i = 0; i < FRAMES; i++) {
        assert_non_null(fgets(line, sizeof line, stream));
        assert_string_equal(line, "FRAME\n");
        assert_int_equal(fread(pictures + (size_t)i * size, size, 1, stream), 1);
    }
    assert_int_equal(fgetc(stream), EOF);
    fclose(stream);
    return pictures;
}

static uint8_t *pipe_pictures(const char *picture, int bytes)
{
    char line[512], text[512], file[256];
    snprintf(file, sizeof file, "%s", path_of("stream.y4m"));
    snprintf(line, sizeof line, "parallax pipe %s --frames 3 > %s", picture, file);
    if (shell(line, text, sizeof text) != 0 || *text)
        fail_msg("%s: %s", line, text);
    return read_stream(file, bytes);
}

static void pipe_writes_grey_pictures(void **state)
{
    (void)state;
    uint8_t *left = pipe_pictures("left", 1), *right = pipe_pictures("right", 1);
    const size_t size = (size_t)WIDTH * HEIGHT;
    assert_true(memcmp(left, left + size, size) != 0); /* frames, not one frame */
    assert_true(memcmp(left, right, FRAMES * size) != 0);
    free(left);
    free(right);
}

/* The scene stands between 1 and 30 m. */
static void pipe_writes_disparity_and_depth(void **state)
{
    (void)state;
    uint8_t *disparity_bytes = pipe_pictures("disparity", 2), *depth_bytes = pipe_pictures("depth", 2);
    const uint16_t *disparity = (const void *)disparity_bytes, *depth = (const void *)depth_bytes;
    int known = 0, plausible = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        assert_true(disparity[i] < 64 * 256);
        known += disparity[i] > 0;
        plausible += depth[i] > 1000 && depth[i] < 30000;
    }
    assert_true(known > WIDTH * HEIGHT / 4);
    assert_true(plausible > WIDTH * HEIGHT / 4);
    free(disparity_bytes);
    free(depth_bytes);
}

/* ffmpeg is only a tool of this test. */
static void ffmpeg_reads_the_same_pixels(void **state)
{
    (void)state;
    static const struct {
        const char *picture, *format;
        int bytes;
    } row[] = {{"left", "gray", 1}, {"disparity", "gray16le", 2}, {"depth", "gray16le", 2}};
    char line[512], text[4096];
    if (system("command -v ffmpeg >/dev/null") != 0) {
        print_message("skipped: no ffmpeg\n");
        skip();
    }
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const size_t size = FRAMES * (size_t)WIDTH * HEIGHT * (size_t)row[i].bytes;
        uint8_t *ours = pipe_pictures(row[i].picture, row[i].bytes), *theirs = calloc(1, size + 1);
        assert_non_null(theirs);
        snprintf(line, sizeof line, "ffmpeg -v error -nostdin -y -i %s -f rawvideo -pix_fmt %s %s", path_of("stream.y4m"),
                 row[i].format, path_of("raw"));
        if (shell(line, text, sizeof text) != 0 || *text)
            fail_msg("%s: %s", line, text);
        FILE *raw = fopen(path_of("raw"), "re");
        assert_non_null(raw);
        assert_int_equal(fread(theirs, 1, size + 1, raw), size);
        fclose(raw);
        assert_memory_equal(ours, theirs, size);
        free(ours);
        free(theirs);
    }
}

static void pipe_ends_quietly_with_its_reader(void **state)
{
    (void)state;
    char text[256];
    assert_int_equal(shell("parallax pipe left | head -c 100000 | wc -c", text, sizeof text), 0);
    assert_string_equal(text, "100000\n");
    assert_int_equal(shell("parallax pipe left --frames 9 > /dev/full", text, sizeof text), PLX_EXIT_IO);
    assert_non_null(strstr(text, "cannot write the output"));
}

static void pipe_writes_nothing_on_a_terminal(void **state)
{
    (void)state;
    char line[128], text[512];
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    snprintf(line, sizeof line, "parallax pipe left 2>&1 >%s", ptsname(terminal));
    assert_int_equal(shell(line, text, sizeof text), PLX_EXIT_USAGE);
    assert_non_null(strstr(text, "standard output is a terminal"));
    close(terminal);
}

/* --- another service ---------------------------------------------------------------------------------------------- */

#define start_small(...) start_daemon("--set", "source.rate_hz=15", __VA_ARGS__)

static void a_raw_service_has_no_disparity(void **state)
{
    (void)state;
    static const char *const without[] = {"disparity", "depth"};
    struct command command;
    start_small("--set", "source.width=320", "--set", "source.height=240", "--set", "calibration=none");
    for (int i = 0; i < 2; i++) {
        command_run(&command, (const char *const[]){"pipe", without[i], NULL});
        assert_int_equal(command.code, PLX_EXIT_CONFIG);
        assert_string_equal(command.out, "");
        assert_non_null(strstr(command.err, "the service is not calibrated"));
        command_free(&command);
    }
    uint8_t *left = pipe_pictures("left", 1);
    free(left);
    stop_daemon();
}

static void right_needs_the_right_picture(void **state)
{
    (void)state;
    struct command command;
    start_small("--set", "source.width=320", "--set", "source.height=240");
    command_run(&command, (const char *const[]){"pipe", "right", NULL});
    assert_int_equal(command.code, PLX_EXIT_CONFIG);
    assert_non_null(strstr(command.err, "publish.right"));
    command_free(&command);
    stop_daemon();
}

static void wait_for_bytes(const struct command *command, off_t bytes)
{
    const int64_t deadline = patience_end_ns();
    struct stat status = {.st_size = 0};
    while (fstat(fileno(command->file[0]), &status) == 0 && status.st_size < bytes) {
        if (plx_now_ns() > deadline)
            fail_msg("only %lld bytes of %lld", (long long)status.st_size, (long long)bytes);
        usleep(10000);
    }
}

static void a_stream_outlives_the_service_and_keeps_its_size(void **state)
{
    (void)state;
    struct command command;
    struct stat status;
    start_small("--set", "source.width=320", "--set", "source.height=240");
    command_begin(&command, (const char *const[]){"pipe", "left", NULL}, 0);
    wait_for_bytes(&command, 3 * WIDTH * HEIGHT);
    stop_daemon();
    assert_int_equal(fstat(fileno(command.file[0]), &status), 0);
    start_small("--set", "source.width=320", "--set", "source.height=240");
    wait_for_bytes(&command, status.st_size + 3 * WIDTH * HEIGHT);
    stop_daemon();
    start_small("--set", "source.width=384", "--set", "source.height=240");
    command_end(&command);
    stop_daemon();
    assert_int_equal(command.code, PLX_EXIT_UNAVAILABLE);
    assert_non_null(strstr(command.err, "from 320x240 to 384x240"));
    command_free(&command);
}

int main(void)
{
    const struct CMUnitTest scene[] = {
        cmocka_unit_test(watch_prints_a_line_of_json_for_each_frame),
        cmocka_unit_test(watch_ends_quietly_with_its_reader),
        cmocka_unit_test(watch_says_each_second_that_there_is_no_frame),
        cmocka_unit_test(pipe_writes_grey_pictures),
        cmocka_unit_test(pipe_writes_disparity_and_depth),
        cmocka_unit_test(ffmpeg_reads_the_same_pixels),
        cmocka_unit_test(pipe_ends_quietly_with_its_reader),
        cmocka_unit_test(pipe_writes_nothing_on_a_terminal),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(a_raw_service_has_no_disparity),
        cmocka_unit_test(right_needs_the_right_picture),
        cmocka_unit_test(a_stream_outlives_the_service_and_keeps_its_size),
    };
    cli_begin();
    int failed = cmocka_run_group_tests(scene, start_scene, stop_scene);
    failed += cmocka_run_group_tests(others, NULL, NULL);
    cli_end();
    return failed;
}
