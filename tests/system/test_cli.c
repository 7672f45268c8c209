/* SPDX-License-Identifier: Apache-2.0 */
/* The command `parallax` beside a real parallaxd: what it prints, what it writes, how it ends. */
#include "tests/system/cli.h"

#include <math.h>

#include "drivers/files/picture.h"
#include "tests/unit/calibration_texts.h"

/* --- the running service ---------------------------------------------------------------------------------------- */

static void status_in_words_and_json(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "status");
    assert_non_null(strstr(command.out, "state         "));
    assert_non_null(strstr(command.out, "320 x 240, disparities 0 to 63 px, blind within 0.48 m"));
    assert_non_null(strstr(command.out, "\nage           "));
    assert_non_null(strstr(command.out, "\ndrift         "));
    assert_non_null(strstr(command.out, "\noffset        not measured: the camera has hardly moved yet\n"));
    assert_non_null(strstr(command.out, "\nfree ahead    "));
    assert_non_null(strstr(command.out, "\ndrop          none seen\n"));
    assert_non_null(strstr(command.out, "; simulated pictures\n")); /* beside the faults */
    assert_non_null(strstr(command.out, " m from the start, "));    /* the motion */
    assert_null(strstr(command.out, "OLD"));
    command_free(&command);

    command_succeed(&command, "status", "--json", "--socket", daemon_.socket);
    cJSON *status = cJSON_Parse(command.out);
    assert_non_null(status);
    assert_int_equal(number(status, "width"), WIDTH);
    assert_int_equal(number(status, "height"), HEIGHT);
    assert_true(number(status, "rate_hz") > 0 && number(status, "rate_hz") < 20); /* the source gives 15, a slow machine less */
    assert_true(number(status, "latency_ms") > 0 && number(status, "latency_ms") < 10000);
    assert_true(number(status, "cpu_ms") > 0);
    assert_true(number(cJSON_GetObjectItemCaseSensitive(status, "stage_us"), "sgm") > 0);
    assert_true(number(cJSON_GetObjectItemCaseSensitive(status, "calibration"), "baseline_m") == 0.12);
    assert_true(number(status, "age_ms") >= 0 && number(status, "age_ms") < 10000);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(status, "fresh")));
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(status, "source")->valuestring, "synthetic");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(status, "simulated")));
    const cJSON *motion = cJSON_GetObjectItemCaseSensitive(status, "motion");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(motion, "valid")));
    assert_true(number(motion, "inliers") > 12 && number(motion, "speed_mps") < 0.2); /* the camera stands */
    const cJSON *pose = cJSON_GetObjectItemCaseSensitive(motion, "pose");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(pose, "rotation")), 9);
    const cJSON *obstacles = cJSON_GetObjectItemCaseSensitive(status, "obstacles");
    assert_true(cJSON_GetArraySize(obstacles) > 0);
    assert_true(number(cJSON_GetArrayItem(obstacles, 0), "nearest_m") > 1);
    assert_true(number(status, "free_ahead_m") > 1 && number(status, "free_ahead_m") < 4); /* the nearest box is ahead */
    const cJSON *drop = cJSON_GetObjectItemCaseSensitive(status, "drop");
    assert_true(number(drop, "width_px") == 0 && cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(drop, "ahead_m")));
    cJSON_Delete(status);
    command_free(&command);
}

/* The nearest obstacle of the list is where its box says; ground, and a box beside the picture, are named. */
static void locate_says_where_a_box_is(void **state)
{
    (void)state;
    struct command command;
    const int64_t deadline = patience_end_ns();
    bool found = false;
    while (!found && plx_now_ns() < deadline) { /* the next frame may be of another moment of the scene */
        command_succeed(&command, "status", "--json");
        cJSON *status = cJSON_Parse(command.out);
        const cJSON *obstacle = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(status, "obstacles"), 0);
        command_free(&command);
        if (!obstacle) {
            cJSON_Delete(status);
            continue;
        }
        const cJSON *box = cJSON_GetObjectItemCaseSensitive(obstacle, "box_px");
        char word[4][16];
        for (int i = 0; i < 4; i++)
            snprintf(word[i], sizeof word[i], "%d", (int)cJSON_GetArrayItem(box, i)->valuedouble);
        command_succeed(&command, "locate", "--json", word[0], word[1], word[2], word[3], "5000", "0", "10", "10");
        cJSON *answer = cJSON_Parse(command.out);
        const cJSON *boxes = cJSON_GetObjectItemCaseSensitive(answer, "boxes"), *first = cJSON_GetArrayItem(boxes, 0);
        assert_int_equal(cJSON_GetArraySize(boxes), 2);
        assert_string_equal(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(boxes, 1), "state")->valuestring, "outside");
        assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(boxes, 1), "position_m")));
        if (strcmp(cJSON_GetObjectItemCaseSensitive(first, "state")->valuestring, "known") == 0)
            found = fabs(number(first, "distance_m") / number(obstacle, "nearest_m") - 1) < 0.15 &&
                    cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(first, "base_m")) == 3 &&
                    number(first, "track") == number(obstacle, "track");
        cJSON_Delete(answer);
        cJSON_Delete(status);
        command_free(&command);
    }
    assert_true(found);

    command_succeed(&command, "locate", "--", "-100", "0", "20", "20", "20", "225", "280", "12");
    assert_non_null(strstr(command.out, "-100 0 20 20  unknown: no pixel of the box lies in the picture\n"));
    assert_non_null(strstr(command.out, "20 225 280 12  unknown: only ground is seen in the box\n"));
    command_free(&command);
}

static void watch_prints_lines_where_there_is_no_terminal(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "watch", "--seconds", "2.2");
    assert_non_null(strstr(command.out, " pairs/s  latency "));
    assert_non_null(strstr(command.out, " + #"));            /* an obstacle came */
    assert_non_null(strstr(command.out, " obstacles  0.0")); /* m/s */
    assert_non_null(strstr(command.out, " m ahead "));
    assert_non_null(strstr(command.out, "; simulated pictures\n"));
    assert_non_null(strstr(command.out, "stages, ms: convert "));
    const char *verdict = strstr(command.out, " s  verdict    "); /* the service has a zone */
    assert_non_null(verdict);
    assert_true(strncmp(verdict + 15, "go\n", 3) == 0 || strncmp(verdict + 15, "stop: ", 6) == 0 ||
                strncmp(verdict + 15, "slow: ", 6) == 0);
    assert_null(strchr(command.out, '\033'));
    command_free(&command);
}

/* A service that confirms nothing: each frame has its obstacles for programs, and none for people. */
static void watch_hides_unconfirmed_obstacles(void **state)
{
    (void)state;
    struct command command;
    stop_daemon();
    start_daemon("--set", "source.width=320", "--set", "source.height=240", "--set", ("source.rate_hz=" SCENE_HZ), "--set",
                 "tracks.min_hits=1000");
    command_succeed(&command, "watch", "--seconds", "2.2");
    assert_non_null(strstr(command.out, " 0 obstacles  "));
    assert_null(strstr(command.out, " + #"));
    assert_null(strstr(command.out, "verdict")); /* without a zone */
    command_free(&command);
    command_succeed(&command, "watch", "--json", "--seconds", "1");
    assert_non_null(strstr(command.out, "\"new\""));
    command_free(&command);
    command_succeed(&command, "status");
    assert_non_null(strstr(command.out, "  new\n")); /* one frame alone, as it is */
    command_free(&command);
    stop_daemon();
    start_scene(state);
}

/* The four forms of the disparity of one frame agree. */
static void snapshot_writes_files_that_agree(void **state)
{
    (void)state;
    struct command command;
    float pfm[HEIGHT][WIDTH];
    unsigned long points = 0, near = 0;
    char line[128];
    command_succeed(&command, "snapshot", "--output", path_of("new/snap"));
    assert_non_null(strstr(command.out, "note: simulated pictures\n"));
    command_free(&command);
    free(read_picture(path_of("new/snap/left.png"), PLX_U8).data);
    free(read_picture(path_of("new/snap/right.png"), PLX_U8).data);
    free(read_picture(path_of("new/snap/disparity.png"), PLX_U8).data);
    free(read_picture(path_of("new/snap/obstacles.png"), PLX_U8).data);
    free(read_picture(path_of("new/snap/columns.png"), PLX_U8).data);

    FILE *file = fopen(path_of("new/snap/disparity.pfm"), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, -(long)sizeof pfm, SEEK_END), 0);
    assert_int_equal(fread(pfm, sizeof pfm, 1, file), 1);
    fclose(file);
    struct plx_image kitti = read_picture(path_of("new/snap/disparity16.png"), PLX_U16);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            uint16_t value = ((const uint16_t *)plx_row(&kitti, y))[x];
            float pixels = pfm[HEIGHT - 1 - y][x];
            assert_true(value ? fmaxf(pixels * 256, 1) == value : isinf(pixels));
            near += value > 0 && pixels > 0;
        }
    free(kitti.data);
    assert_true(near > WIDTH * HEIGHT / 4);

    file = fopen(path_of("new/snap/points.ply"), "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "element vertex %lu", &points) != 1)
        ;
    fclose(file);
    assert_int_equal(points, near);
}

/* --- bad input ---------------------------------------------------------------------------------------------------- */

/* `@` is the test's directory. */
static const struct bad {
    const char *args[8];
    int exit_code;
    const char *says;
} table[] = {
    {{"status"}, PLX_EXIT_UNAVAILABLE, "no service there"},
    {{"watch"}, PLX_EXIT_UNAVAILABLE, "no service there"},
    {{"snapshot", "--output", "@/x"}, PLX_EXIT_UNAVAILABLE, "no service there"},
    {{"record", "@/x"}, PLX_EXIT_UNAVAILABLE, "no service there"},
    {{"config"}, PLX_EXIT_UNAVAILABLE, "no service there"},
    {{"locate", "1", "2", "3", "4"}, PLX_EXIT_UNAVAILABLE, "no service there"},
    {{"locate", "1", "2", "3"}, PLX_EXIT_USAGE, "an argument is missing"},
    {{"locate", "1", "2", "3", "4", "5"}, PLX_EXIT_USAGE, "expected four for each box"},
    {{"locate", "1", "2", "3", "4m"}, PLX_EXIT_USAGE, "4m: expected a whole number"},
    {{"pipe", "left"}, PLX_EXIT_UNAVAILABLE, "no service there"},
    {{"pipe", "middle"}, PLX_EXIT_USAGE, "expected left, right, colour, disparity or depth"},
    {{"watch", "--json", "--changes"}, PLX_EXIT_USAGE, "exclude each other"},
    {{"status", "--socket", "@/file"}, PLX_EXIT_UNAVAILABLE, "@/file"},
    {{"report", "--output", "@/no\nwhere/x"}, PLX_EXIT_CANNOT_WRITE, "@/no?where/x: cannot create"}, /* one line */
    {{NULL}, PLX_EXIT_USAGE, "a command is missing"},
    {{"statsu"}, PLX_EXIT_USAGE, "did you mean status?"},
    {{"frobnicate"}, PLX_EXIT_USAGE, "expected status, watch"},
    {{"run", "a", "b", "--max-disparty", "64"}, PLX_EXIT_USAGE, "did you mean --max-disparity"},
    {{"run", "a", "b", "--max-disparity", "100"}, PLX_EXIT_USAGE, "expected 64, 128 or 256"},
    {{"run", "a", "b", "--max-disparity"}, PLX_EXIT_USAGE, "needs a value"},
    {{"run", "a", "b", "--output", "--raw"}, PLX_EXIT_USAGE, "--output needs a value"},
    {{"run", "a", "b", "--raw=1"}, PLX_EXIT_USAGE, "takes no value"},
    {{"run", "a", "b", "--raw"}, PLX_EXIT_USAGE, "--output"},
    {{"run", "a", "b", "--mask", "m"}, PLX_EXIT_USAGE, "--gt"},
    {{"run", "@", "--truth", "lidar", "--no-refine"}, PLX_EXIT_USAGE, "leave out --no-refine"},
    {{"run", "a", "--truth", "pose"}, PLX_EXIT_USAGE, "expected lidar or poses"},
    {{"run", "@/good.png", "@/good.png", "--truth", "poses"}, PLX_EXIT_USAGE, "a directory of pairs"},
    {{"run", "a", "b", "--gt", "g", "--gt-scale", "0"}, PLX_EXIT_USAGE, "0.001 to 65536"},
    {{"run", "a", "b", "c"}, PLX_EXIT_USAGE, "unexpected argument `c`"},
    {{"run"}, PLX_EXIT_USAGE, "an argument is missing"},
    {{"record"}, PLX_EXIT_USAGE, "an argument is missing"},
    {{"watch", "--seconds", "soon"}, PLX_EXIT_USAGE, "--seconds soon"},
    {{"run", "@/good.png", "@/good.png", "--set", "match.pahts=4"}, PLX_EXIT_CONFIG, "match.paths"},
    {{"run", "@/good.png", "@/good.png", "--max-disparity", "64", "--set", "backend=gpu"}, PLX_EXIT_CONFIG, "backend is gpu"},
    {{"run", "@/good.png", "@/none.png"}, PLX_EXIT_NO_INPUT, "@/none.png"},
    {{"run", "@/nowhere"}, PLX_EXIT_NO_INPUT, "@/nowhere"},
    {{"run", "@/empty"}, PLX_EXIT_NO_INPUT, "no stereo pairs"},
    {{"run", "@/good.png", "@/truncated.png"}, PLX_EXIT_DATA, "@/truncated.png"},
    {{"run", "@/good.png", "@/file"}, PLX_EXIT_DATA, "@/file"},
    {{"run", "@/good.png", "@/narrow.png"}, PLX_EXIT_DATA, "expected 96x64"},
    {{"run", "@/good.png", "@/good.png", "--max-disparity", "128"}, PLX_EXIT_CONFIG, "width of 96 pixels"},
    {{"run", "@/good.png", "@/good.png", "--max-disparity", "64", "--gt", "@/good.png"}, PLX_EXIT_DATA, "@/good.png"},
    {{"run", "@/good.png", "@/good.png", "--max-disparity", "64", "--calibration", "@/none.yaml"},
     PLX_EXIT_NO_INPUT,
     "@/none.yaml"},
    {{"run", "@/good.png", "@/good.png", "--max-disparity", "64", "--calibration", "@/file"}, PLX_EXIT_CONFIG, "@/file"},
    {{"run", "@/good.png", "@/good.png", "--max-disparity", "64", "--calibration", "@/large.yaml"},
     PLX_EXIT_CONFIG,
     "pictures of 640x480 pixels, but these have 96x64; give pictures of that size, or calibrate with pictures of this one"},
    {{"run", "@/good.png", "@/good.png", "--max-disparity", "64", "--output", "@/nowhere/o.png"},
     PLX_EXIT_CANNOT_WRITE,
     "@/nowhere/o.png"},
    {{"run", "a", "b", "--output", "x.tif"}, PLX_EXIT_USAGE, "expected a name that ends in .png (disparity, 16 bits), .pfm"},
    {{"run", "a", "b", "--output", "x"}, PLX_EXIT_USAGE, "unknown kind of file"},
    {{"run", "a", "b", "--output", "x.ply", "--raw"}, PLX_EXIT_USAGE, "only a .png has --raw values"},
    {{"run", "a", "--output", "x.ply"}, PLX_EXIT_USAGE, "for DIR it is a directory"},
    {{"run", "@/good.png", "@/good.png", "--max-disparity", "64", "--output", "@/x.ply"},
     PLX_EXIT_CONFIG,
     "need a calibration"},
    {{"run", "@/two"}, PLX_EXIT_DATA, "holds both image_0/ with image_1/ and left/ with right/"},
    {{"run", "@/scene"}, PLX_EXIT_DATA, "holds both left.* with right.* and left"},
};

static const char *replace_at(const char *text, char *buffer, size_t size)
{
    if (!text || text[0] != '@')
        return text;
    snprintf(buffer, size, "%s%s", daemon_.directory, text + 1);
    return buffer;
}

static void write_picture(const char *name, int width, int height, off_t keep_bytes)
{
    static uint8_t pixels[64][96];
    const struct plx_image image = {pixels, width, height, sizeof pixels[0], PLX_U8};
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 96; x++)
            pixels[y][x] = (uint8_t)(x * 37 ^ y * 61);
    assert_int_equal(plx_png_write(path_of(name), &image, NULL), 0);
    if (keep_bytes > 0)
        assert_int_equal(truncate(path_of(name), keep_bytes), 0);
}

static void bad_input_ends_with_its_code_and_one_line(void **state)
{
    (void)state;
    write_picture("good.png", 96, 64, 0);
    write_picture("narrow.png", 95, 64, 0);
    write_picture("truncated.png", 96, 64, 300);
    write_text(daemon_.directory, "file", "nothing of use\n");
    write_text(daemon_.directory, "large.yaml", KALIBR_TEXT);
    assert_int_equal(mkdir(path_of("empty"), 0755), 0);
    static const char *const folders[] = {"two",       "two/image_0", "two/image_1", "two/left",
                                          "two/right", "scene",       "scene/left",  "scene/right"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        assert_int_equal(mkdir(path_of(folders[i]), 0755), 0);
    write_picture("scene/left.png", 96, 64, 0);
    write_picture("scene/right.png", 96, 64, 0);
    assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0); /* no GPU here, whatever is here */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char buffer[8][256], says_buffer[256];
        const char *args[9] = {NULL};
        for (int k = 0; k < 8; k++)
            args[k] = replace_at(table[i].args[k], buffer[k], sizeof buffer[k]);
        const char *says = replace_at(table[i].says, says_buffer, sizeof says_buffer);
        struct command command;
        command_run(&command, args);
        const char *newline = strchr(command.err, '\n');
        if (strcmp(command.out, "") != 0) /* not the head of a table either */
            fail_msg("row %zu: printed %s", i, command.out);
        if (command.code != table[i].exit_code || !strstr(command.err, says) || !newline || newline[1])
            fail_msg("row %zu: exit code %d, expected %d; said:\n%s\nexpected one line with: %s", i, command.code,
                     table[i].exit_code, command.err, says);
        command_free(&command);
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
}

static void output_that_cannot_be_written_is_said(void **state)
{
    (void)state;
    int code = system(PLX_BINARY_DIR "/bin/parallax run --help >/dev/full 2>/dev/null");
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), PLX_EXIT_IO);
}

static void no_permission_for_the_socket(void **state)
{
    (void)state;
    struct command command;
    const uid_t nobody = 65534;
    if (geteuid() != 0)
        skip(); /* needs a second user */
    assert_int_equal(chmod(daemon_.directory, 0755), 0);
    start_daemon("--set", "source.width=320", "--set", "source.height=240", "--set", "source.rate_hz=5");
    command_begin(&command, (const char *const[]){"status", NULL}, nobody);
    command_end(&command);
    stop_daemon();
    assert_int_equal(command.code, PLX_EXIT_PERMISSION);
    assert_non_null(strstr(command.err, "not allowed"));
    command_free(&command);
}

static void a_service_that_hangs_is_said(void **state)
{
    (void)state;
    struct command command;
    start_daemon("--set", "source.width=320", "--set", "source.height=240", "--set", "source.rate_hz=5");
    kill(daemon_.pid, SIGSTOP);
    command_run(&command, (const char *const[]){"status", NULL});
    kill(daemon_.pid, SIGCONT);
    stop_daemon();
    assert_int_equal(command.code, PLX_EXIT_UNAVAILABLE);
    assert_non_null(strstr(command.err, "does not answer"));
    command_free(&command);
}

/* TEXT without backslashes, as man pages write dashes with them; to be freed. */
static char *read_document(const char *path)
{
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    char *text = command_text(file), *to = text;
    for (const char *from = text; *from; from++)
        if (*from != '\\')
            *to++ = *from;
    *to = '\0';
    return text;
}

/* Options of every program. */
static bool is_common(const char *option)
{
    return strcmp(option, "--help") == 0 || strcmp(option, "--usage") == 0 || strcmp(option, "--version") == 0;
}

/* The next option that TEXT names from *AT on; false if there is none. */
static bool next_option(const char **at, char ret_option[64])
{
    const char *found = strstr(*at, "--");
    while (found && !(found[2] >= 'a' && found[2] <= 'z'))
        found = strstr(found + 1, "--");
    if (!found)
        return false;
    sscanf(found, "%63[a-z-]", ret_option);
    *at = found + strlen(ret_option);
    return true;
}

static bool names_option(const char *text, const char *option)
{
    char each[64];
    while (next_option(&text, each))
        if (strcmp(each, option) == 0)
            return true;
    return false;
}

/* The manual's text from BEGIN to the next line of the synopsis or section, to be freed; all places with BEGIN together. */
static char *manual_part(const char *manual, const char *begin)
{
    char *part = calloc(1, strlen(manual) + 1);
    for (const char *at = manual; (at = strstr(at, begin)); at++) {
        const char *end = at + strlen(begin) - 1; /* the end of the line */
        const char *heading = strstr(end, "\n.S"), *next_line = strstr(end, "\n.br");
        strncat(part, at, (size_t)((next_line && next_line < heading ? next_line : heading) - at));
    }
    return part;
}

/* Its options are in the manual, which is made of it (system/manual). */
static void each_command_explains_itself(void **state)
{
    (void)state;
    static const char *const name[] = {"run",      "status", "watch", "snapshot", "record",   "config",    "metrics", "cameras",
                                       "blackbox", "report", "tune",  "pipe",     "selftest", "calibrate", "doctor"};
    struct command all, one;
    command_succeed(&all, "--help");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        assert_non_null(strstr(all.out, name[i]));
        command_succeed(&one, name[i], "--help");
        assert_non_null(strstr(one.out, "Usage: parallax "));
        assert_non_null(strstr(one.out, "\n      --"));
        command_free(&one);
    }
    command_free(&all);
}

/* The list of options in the help of the program NAME. */
static void read_options(const char *name, char *ret_list, size_t size)
{
    char help[8192], line[512];
    snprintf(line, sizeof line, PLX_BINARY_DIR "/bin/%s --help", name);
    FILE *program = popen(line, "r");
    assert_non_null(program);
    help[fread(help, 1, sizeof help - 1, program)] = '\0';
    if (pclose(program) != 0)
        fail_msg("%s failed", line);
    const char *list = strstr(help, "\n      --");
    assert_non_null(list);
    snprintf(ret_list, size, "%s", list);
}

/* What `parallaxd OPTIONS` prints; its exit code. */
static int daemon_output(const char *options, char *ret_text, size_t size)
{
    char line[512];
    snprintf(line, sizeof line, PLX_BINARY_DIR "/bin/parallaxd %s 2>&1", options);
    FILE *program = popen(line, "r");
    assert_non_null(program);
    ret_text[fread(ret_text, 1, size - 1, program)] = '\0';
    const int status = pclose(program);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void all_dumps_expert_keys_too(void **state)
{
    (void)state;
    static char text[65536];
    char options[320];
    write_text(daemon_.directory, "defaults.yaml", "");
    snprintf(options, sizeof options, "--config %s --dump-config --set match.p2=100", path_of("defaults.yaml"));
    assert_int_equal(daemon_output(options, text, sizeof text), PLX_EXIT_OK);
    assert_non_null(strstr(text, "\n  p2: 100\n"));
    assert_non_null(strstr(text, "\n  disparities: 128\n"));
    assert_null(strstr(text, "\n  p1_straight: "));
    snprintf(options, sizeof options, "--config %s --dump-config --all", path_of("defaults.yaml"));
    assert_int_equal(daemon_output(options, text, sizeof text), PLX_EXIT_OK);
    assert_non_null(strstr(text, "\n  p1_straight: 24\n"));
    assert_int_equal(daemon_output("--all", text, sizeof text), PLX_EXIT_USAGE);
    assert_non_null(strstr(text, "--all needs --dump-config"));
}

/* The options of HELP are those of PART of the manual of NAME, but for the common ones. */
static void expect_same_options(const char *help, const char *part, const char *name)
{
    char option[64];
    int options = 0;
    for (const char *at = help; next_option(&at, option); options++)
        if (!is_common(option) && !names_option(part, option))
            fail_msg("docs/man/%s.8 does not have %s everywhere", name, option);
    assert_true(options >= 3);
    for (const char *at = part; next_option(&at, option);)
        if (!names_option(help, option))
            fail_msg("docs/man/%s.8 gives %s, which %s does not know", name, option, name);
}

static void manuals_of_programs_have_their_options(void **state)
{
    (void)state;
    static const char *const name[] = {"parallaxd",    "parallax-recorder", "parallax-ros",
                                       "parallax-web", "parallax-gpio",     "parallax-selftest"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char path[512], help[8192];
        snprintf(path, sizeof path, PLX_BINARY_DIR "/bin/%s", name[i]);
        if (access(path, X_OK) != 0) {
            print_message("skipped: %s is not built here\n", name[i]);
            continue;
        }
        snprintf(path, sizeof path, PLX_SOURCE_DIR "/docs/man/%s.8", name[i]);
        char *manual = read_document(path);
        char *synopsis = manual_part(manual, ".SH SYNOPSIS\n"), *section = manual_part(manual, ".SH OPTIONS\n");
        read_options(name[i], help, sizeof help);
        expect_same_options(help, synopsis, name[i]);
        expect_same_options(help, section, name[i]);
        free(section);
        free(synopsis);
        free(manual);
    }
}

/* The names come from --help. */
static void completion_offers_commands_and_options(void **state)
{
    (void)state;
    char line[3][256] = {"", "", ""};
    FILE *pipe =
        popen("bash -c 'PATH=" PLX_BINARY_DIR "/bin:$PATH; . " PLX_SOURCE_DIR "/app/cli/completion.bash; compopt() { :; };"
              "COMP_WORDS=(parallax s); COMP_CWORD=1; _parallax parallax; echo ${COMPREPLY[*]};"
              "COMP_WORDS=(parallax run --ma); COMP_CWORD=2; _parallax parallax; echo ${COMPREPLY[*]};"
              "COMP_WORDS=(parallax run --g); COMP_CWORD=2; _parallax parallax; echo ${COMPREPLY[*]}'",
              "r");
    assert_non_null(pipe);
    for (int i = 0; i < 3; i++)
        assert_non_null(fgets(line[i], sizeof line[i], pipe));
    assert_int_equal(pclose(pipe), 0);
    assert_string_equal(line[0], "status snapshot selftest\n");
    assert_string_equal(line[1], "--mask= --max-disparity=\n");
    assert_string_equal(line[2], "--gt= --gt-scale=\n"); /* none that a line of the help only mentions */
}

/* Zsh's own functions, which need a terminal, print their arguments here. */
static void zsh_completes_the_same(void **state)
{
    (void)state;
    char text[256] = "";
    if (system("command -v zsh >/dev/null") != 0) {
        print_message("skipped: no zsh\n");
        skip();
    }
    FILE *pipe = popen("zsh -f -c 'PATH=" PLX_BINARY_DIR
                       "/bin:$PATH; compadd() { while [[ $1 != -- ]]; do shift; done; shift; echo $@ };"
                       "_files() { echo files };"
                       "complete_() { local -a words=($@); local CURRENT=$#; . " PLX_SOURCE_DIR "/app/cli/completion.zsh };"
                       "complete_ parallax record x; complete_ parallaxd --; complete_ parallax s'",
                       "r");
    assert_non_null(pipe);
    assert_true(fread(text, 1, sizeof text - 1, pipe) > 0);
    assert_int_equal(pclose(pipe), 0);
    const char *const options =
        "files\n--all --check-config= --config= --dump-config --set= --wait --help --usage --version\nstatus watch ";
    assert_memory_equal(text, options, strlen(options));
}

int main(void)
{
    const struct CMUnitTest scene[] = {
        cmocka_unit_test(status_in_words_and_json),
        cmocka_unit_test(locate_says_where_a_box_is),
        cmocka_unit_test(watch_prints_lines_where_there_is_no_terminal),
        cmocka_unit_test(watch_hides_unconfirmed_obstacles),
        cmocka_unit_test(snapshot_writes_files_that_agree),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(bad_input_ends_with_its_code_and_one_line),
        cmocka_unit_test(output_that_cannot_be_written_is_said),
        cmocka_unit_test(no_permission_for_the_socket),
        cmocka_unit_test(a_service_that_hangs_is_said),
        cmocka_unit_test(each_command_explains_itself),
        cmocka_unit_test(all_dumps_expert_keys_too),
        cmocka_unit_test(manuals_of_programs_have_their_options),
        cmocka_unit_test(completion_offers_commands_and_options),
        cmocka_unit_test(zsh_completes_the_same),
    };
    cli_begin();
    int failed = cmocka_run_group_tests(scene, start_scene, stop_scene);
    failed += cmocka_run_group_tests(others, NULL, NULL);
    cli_end();
    return failed;
}
