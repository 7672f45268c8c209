/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax calibrate` on drawn pairs of a known camera: the file that it writes is the camera. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include <parallax/error.h>

#include "app/exit.h"
#include "config/config.h"
#include "core/geometry/matrix3.h"
#include "tests/board_render.h"
#include "tests/cmocka.h"
#include "tests/command.h"
#include "tests/pgm_write.h"

#define WIDTH 640
#define HEIGHT 480
#define PAIRS 14
#define BASELINE 0.1

static char directory[] = "/tmp/plx-calibrate-XXXXXX";
static const struct plx_board board = CHESS(9, 6, 0.03);
static const struct plx_camera cameras[PLX_EYES] = {
    {WIDTH, HEIGHT, 520, 522, 315, 236, PLX_DISTORTION_PLUMB_BOB, {-0.2, 0.05, 0.0005, -0.0005}},
    {WIDTH, HEIGHT, 525, 523, 326, 244, PLX_DISTORTION_PLUMB_BOB, {-0.18, 0.04, -0.0003, 0.0004}}};
static struct plx_pose right_from_left = {.translation = {-BASELINE, 0.001, -0.002}};

static const char *path_of(const char *name)
{
    static char path[4][160];
    static unsigned turn;
    char *here = path[turn++ % 4];
    snprintf(here, sizeof path[0], "%s/%s", directory, name);
    return here;
}

/* A whole chessboard, or most of the tags. */
static bool is_seen(const struct plx_board *seen, const struct plx_pose *pose, const struct plx_camera *camera)
{
    int inside = 0;
    for (int k = 0; k < plx_board_corners(seen); k++) {
        double point[3], in[3], u, v;
        plx_board_point(seen, k, point);
        plx_pose_apply(pose, point, in);
        plx_camera_project(camera, in[0] / in[2], in[1] / in[2], &u, &v);
        inside += u > 15 && v > 15 && u < WIDTH - 16 && v < HEIGHT - 16;
    }
    return inside >= plx_board_corners(seen) * (seen->kind == PLX_BOARD_CHESS ? 1 : 0.7);
}

/* TILT: the most that the board turns about its sides, radians. */
static void random_pair(const struct plx_board *seen, double tilt, uint64_t *seed, struct plx_pose ret[PLX_EYES])
{
    do {
        const double turn[3] = {board_uniform(seed, -tilt, tilt), board_uniform(seed, -tilt, tilt),
                                board_uniform(seed, -0.4, 0.4)};
        double middle[3];
        plx_board_point(seen, plx_board_corners(seen) - (seen->kind == PLX_BOARD_CHESS ? 1 : 3), middle); /* the far end */
        for (int i = 0; i < 3; i++)
            middle[i] *= -0.5;
        const double depth = board_uniform(seed, 0.35, 0.7);
        plx_mat3_from_vector(turn, ret[PLX_LEFT].rotation);
        plx_mat3_apply(ret[PLX_LEFT].rotation, middle, ret[PLX_LEFT].translation);
        ret[PLX_LEFT].translation[0] += board_uniform(seed, -0.4, 0.5) * depth;
        ret[PLX_LEFT].translation[1] += board_uniform(seed, -0.35, 0.35) * depth;
        ret[PLX_LEFT].translation[2] += depth;
        plx_pose_compose(&right_from_left, &ret[PLX_LEFT], &ret[PLX_RIGHT]);
    } while (!is_seen(seen, &ret[PLX_LEFT], &cameras[PLX_LEFT]) || !is_seen(seen, &ret[PLX_RIGHT], &cameras[PLX_RIGHT]));
}

/* A recording, and the mistake in it. */
struct recording {
    const char *name;
    struct plx_board board;
    int pairs;
    double tilt;
    bool right_upside_down, right_late, still; /* LATE: by a pair */
};

static uint8_t pixels[HEIGHT][WIDTH];
static const struct plx_image image = {pixels, WIDTH, HEIGHT, WIDTH, PLX_U8};

static void turn_picture(void)
{
    uint8_t *first = pixels[0], *last = pixels[HEIGHT - 1] + WIDTH - 1;
    for (; first < last; first++, last--) {
        const uint8_t swap = *first;
        *first = *last;
        *last = swap;
    }
}

static void draw_recording(const struct recording *recording)
{
    struct plx_error_message message;
    struct plx_pose pose[PLX_EYES] = {PLX_POSE_IDENTITY, PLX_POSE_IDENTITY}, late;
    uint64_t seed = 3;
    char folder[32];
    assert_true(recording->name[0] == '\0' || mkdir(path_of(recording->name), 0700) == 0);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(folder, sizeof folder, "%s/%s", recording->name, eye == PLX_LEFT ? "left" : "right");
        assert_int_equal(mkdir(path_of(folder), 0700), 0);
    }
    for (int p = 0; p < recording->pairs; p++) {
        late = pose[PLX_RIGHT];
        if (p == 0 || !recording->still)
            random_pair(&recording->board, recording->tilt, &seed, pose);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%s/%02d.pgm", recording->name, eye == PLX_LEFT ? "left" : "right", p);
            board_render(&recording->board, eye == PLX_RIGHT && recording->right_late && p > 0 ? &late : &pose[eye],
                         &cameras[eye], 2, &seed, &image);
            if (eye == PLX_RIGHT && recording->right_upside_down)
                turn_picture();
            assert_int_equal(plx_pgm_write(path_of(name), &image, &message), 0);
        }
    }
}

/* The last pair shows no board. */
static int draw(void **state)
{
    (void)state;
    const double turn[3] = {0.01, -0.02, 0.005};
    const struct recording recording = {.name = "", .board = board, .pairs = PAIRS, .tilt = 0.7};
    struct plx_error_message message;
    char name[32];
    if (!mkdtemp(directory))
        return -1;
    plx_mat3_from_vector(turn, right_from_left.rotation);
    draw_recording(&recording);
    memset(pixels, 90, sizeof pixels);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(name, sizeof name, "%s/%02d.pgm", eye == PLX_LEFT ? "left" : "right", PAIRS);
        if (plx_pgm_write(path_of(name), &image, &message) < 0)
            return -1;
    }
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -r %s", directory);
    return system(line);
}

static void assert_finds_the_camera(const char *folder, const char *kind, const char *size, const char *square,
                                    const char *found)
{
    const char *output = path_of("stereo.yaml");
    struct command command;
    struct plx_stereo_calibration got;
    struct plx_error_message message;
    const struct plx_calibration_options options = {.scale = 1, .width = WIDTH, .height = HEIGHT};
    command_run(&command, (const char *const[]){"calibrate", folder, kind, size, "--square", square, "--output", output, NULL});
    if (command.code != 0)
        fail_msg("%s", command.err);
    assert_non_null(strstr(command.out, found));
    assert_non_null(strstr(command.out, "baseline     100."));
    command_free(&command);

    if (plx_calibration_read(output, &options, &got, &message) < 0)
        fail_msg("%s", message.text);
    double turn[3], expected[3];
    const double *t = got.translation, baseline = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    const double truth = sqrt(BASELINE * BASELINE + 0.001 * 0.001 + 0.002 * 0.002);
    plx_mat3_to_vector(got.rotation, turn);
    plx_mat3_to_vector(right_from_left.rotation, expected);
    print_message("baseline %+.3f %%, focal length %+.3f and %+.3f %%, turned by %.4f %.4f %.4f degrees\n",
                  100 * (baseline / truth - 1), 100 * (got.camera[0].fx / 520 - 1), 100 * (got.camera[1].fx / 525 - 1),
                  57.3 * (turn[0] - expected[0]), 57.3 * (turn[1] - expected[1]), 57.3 * (turn[2] - expected[2]));
    assert_true(fabs(baseline / truth - 1) < 2e-3);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        assert_true(fabs(got.camera[eye].fx / cameras[eye].fx - 1) < 2e-3);
        assert_true(fabs(got.camera[eye].cx - cameras[eye].cx) < 1 && fabs(got.camera[eye].cy - cameras[eye].cy) < 1);
    }
    for (int i = 0; i < 3; i++)
        assert_true(fabs(turn[i] - expected[i]) < 0.1 / 57.3);
}

static void it_finds_the_camera(void **state)
{
    (void)state;
    assert_finds_the_camera(directory, "--board", "9x6", "0.03",
                            "14 of 15 pairs show it in both pictures; in 1 neither picture shows it");
}

/* Such a board looks the same in four turns, and each eye may begin at another corner. */
static void it_finds_the_camera_by_a_square_board(void **state)
{
    (void)state;
    const struct recording recording = {.name = "square", .board = CHESS(7, 7, 0.03), .pairs = PAIRS, .tilt = 0.7};
    draw_recording(&recording);
    assert_finds_the_camera(path_of("square"), "--board", "7x7", "0.03", "14 of 14 pairs show it in both pictures\n");
}

/* With tags a part of the board suffices, as the edges of pictures show. */
static void it_finds_the_camera_by_tags(void **state)
{
    (void)state;
    const struct recording recording = {.name = "tags", .board = TAGS(4, 3, 0.05, 0.015), .pairs = PAIRS, .tilt = 0.7};
    draw_recording(&recording);
    assert_finds_the_camera(path_of("tags"), "--tags", "4x3", "0.05", "14 of 14 pairs");
}

/* Another grid, whose numbers go on where those of the first one end, and one that begins in the middle of a row. */
static void it_finds_the_camera_by_tags_that_begin_anywhere(void **state)
{
    (void)state;
    static const int firsts[] = {12, 41};
    for (int i = 0; i < 2; i++) {
        const struct recording recording = {
            .name = i == 0 ? "second" : "later", .board = TAGS(4, 3, 0.05, 0.015), .pairs = PAIRS, .tilt = 0.7};
        board_first_tag = firsts[i];
        draw_recording(&recording);
        board_first_tag = 0;
        assert_finds_the_camera(path_of(recording.name), "--tags", "4x3", "0.05", "14 of 14 pairs");
    }
}

/* What is asked for otherwise than the recording "tags" shows it, and a board that is not read. */
static void what_the_pictures_show_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *argument[6], *said;
    } cases[] = {
        {"tags", {"--tags", "3x4", "--square", "0.05"}, "tags with the numbers 0 to 11 in rows of 4: is it --tags 4x3"},
        {"tags", {"--board", "9x6", "--square", "0.05"}, "tags with the numbers 0 to 11 in rows of 4: is it --tags 4x3"},
        {"tags", {"--tags", "4x3", "--square", "0.05", "--gap", "0.3"}, "is it --gap 0.015? Both are metres"},
        {"charuco", {"--board", "10x7", "--square", "0.03"}, "they show a ChArUco board"},
        {"charuco", {"--tags", "4x3", "--square", "0.03"}, "they show a ChArUco board"},
    };
    const struct recording charuco = {.name = "charuco", .board = CHESS(9, 6, 0.03), .pairs = 4, .tilt = 0.4};
    board_is_charuco = true;
    draw_recording(&charuco);
    board_is_charuco = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *arguments[COMMAND_ARGS] = {"calibrate", path_of(cases[i].folder)};
        struct command command;
        memcpy(arguments + 2, cases[i].argument, sizeof cases[i].argument);
        command_run(&command, arguments);
        if (!strstr(command.err, cases[i].said) || command.code != PLX_EXIT_DATA)
            fail_msg("exit %d: %s", command.code, command.err);
        command_free(&command);
    }
}

static void tags_tell_a_camera_that_is_upside_down(void **state)
{
    (void)state;
    const struct recording recording = {
        .name = "turned", .board = TAGS(4, 3, 0.05, 0.015), .pairs = 6, .tilt = 0.7, .right_upside_down = true};
    struct command command;
    draw_recording(&recording);
    command_run(&command, (const char *const[]){"calibrate", path_of("turned"), "--tags", "4x3", "--square", "0.05", NULL});
    assert_int_equal(command.code, PLX_EXIT_DATA);
    assert_non_null(strstr(command.err, "the right camera stands upside down"));
    command_free(&command);
}

/* A recording that gives no camera is refused with its cause, and the calibration of before stays. */
static void a_bad_recording_is_refused(void **state)
{
    (void)state;
    static const struct {
        struct recording recording;
        const char *said;
    } cases[] = {
        {{.name = "frontal", .board = CHESS(9, 6, 0.03), .pairs = 6, .tilt = 0}, "was the board hardly tilted?"},
        {{.name = "upside", .board = CHESS(9, 6, 0.03), .pairs = 6, .tilt = 0.7, .right_upside_down = true},
         "the right camera stands upside down"},
        {{.name = "late", .board = CHESS(9, 6, 0.03), .pairs = 6, .tilt = 0.7, .right_late = true},
         "are both pictures of a pair taken at the same time"},
        {{.name = "still", .board = CHESS(9, 6, 0.03), .pairs = 6, .tilt = 0.7, .still = true},
         "all 6 pairs show the board at one place"},
    };
    char output[128];
    snprintf(output, sizeof output, "%s/before.yaml", directory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16] = "";
        struct command command;
        FILE *file = fopen(output, "we");
        assert_non_null(file);
        assert_true(fputs("before", file) >= 0 && fclose(file) == 0);
        draw_recording(&cases[i].recording);
        command_run(&command, (const char *const[]){"calibrate", path_of(cases[i].recording.name), "--board", "9x6", "--square",
                                                    "0.03", "--output", output, NULL});
        if (command.code != PLX_EXIT_DATA || !strstr(command.err, cases[i].said))
            fail_msg("%s: exit %d: %s%s", cases[i].recording.name, command.code, command.out, command.err);
        command_free(&command);
        file = fopen(output, "re");
        assert_non_null(file);
        assert_non_null(fgets(text, sizeof text, file));
        fclose(file);
        assert_string_equal(text, "before");
    }
}

static cJSON *calibrate_json(const char *folder)
{
    struct command command;
    command_succeed(&command, "calibrate", folder, "--board", "9x6", "--square", "0.03", "--json", "--output",
                    path_of("stereo.yaml"));
    cJSON *json = cJSON_Parse(command.out);
    assert_non_null(json);
    command_free(&command);
    return json;
}

static double number_of(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(json, name);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

/* Each half of the pairs is judged by what was fitted to the other half; too few cannot be. */
static void pairs_that_are_held_out_judge_it(void **state)
{
    (void)state;
    const struct recording few = {.name = "few", .board = CHESS(9, 6, 0.03), .pairs = 5, .tilt = 0.7};
    cJSON *json = calibrate_json(directory);
    print_message("    rows %.3f px, held out %.3f px\n", number_of(json, "epipolar_error_px"),
                  number_of(json, "epipolar_error_held_out_px"));
    assert_true(number_of(json, "epipolar_error_held_out_px") > number_of(json, "epipolar_error_px"));
    assert_true(number_of(json, "epipolar_error_held_out_px") < 0.2);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "verdict")), "good");
    assert_true(number_of(json, "boards") == PAIRS && number_of(json, "pairs") == PAIRS + 1);
    cJSON_Delete(json);

    draw_recording(&few);
    json = calibrate_json(path_of("few"));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "epipolar_error_held_out_px")));
    assert_non_null(strstr(cJSON_GetStringValue(cJSON_GetObjectItem(json, "verdict")), "too few pairs"));
    cJSON_Delete(json);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *argument[8], *said;
        int code;
    } cases[] = {
        {{"--board", "9x6"}, "--square is missing", PLX_EXIT_USAGE},
        {{"--square", "0.03"}, "--board: \"\"; expected the inner corners", PLX_EXIT_USAGE},
        {{"--square", "0.03", "--board", "9"}, "--board: \"9\"", PLX_EXIT_USAGE},
        {{"--square", "0.03", "--board", "9x600"}, "--board: \"9x600\"", PLX_EXIT_USAGE},
        {{"--square", "0.03", "--tags", "1x6"}, "--tags: \"1x6\"; expected the tags along both sides", PLX_EXIT_USAGE},
        {{"--square", "0.03", "--board", "9x6", "--tags", "6x6"}, "exclude each other", PLX_EXIT_USAGE},
        {{"--square", "0.03", "--board", "9x6", "--gap", "0.1"}, "--gap is for --tags", PLX_EXIT_USAGE},
        {{"--square", "0.03", "--board", "9x6", "--model", "thin"}, "--model: \"thin\"", PLX_EXIT_USAGE},
        {{"--square", "0.03", "--board", "10x7"},
         "they show a chessboard of 9 x 6 inner corners: is it --board 9x6?",
         PLX_EXIT_DATA},
        {{"--square", "0.03", "--tags", "6x6"},
         "they show a chessboard of 9 x 6 inner corners: is it --board 9x6?",
         PLX_EXIT_DATA},
        {{"--square", "0.03", "--board", "9x6", "--output", "/nowhere/at/all.yaml"},
         "/nowhere/at/all.yaml: cannot be written",
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *arguments[COMMAND_ARGS] = {"calibrate", directory};
        struct command command;
        memcpy(arguments + 2, cases[i].argument, sizeof cases[i].argument);
        command_run(&command, arguments);
        if (!strstr(command.err, cases[i].said) || command.code == 0 || (cases[i].code != 0 && command.code != cases[i].code))
            fail_msg("exit %d: %s", command.code, command.err);
        command_free(&command);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_the_camera),
        cmocka_unit_test(it_finds_the_camera_by_a_square_board),
        cmocka_unit_test(it_finds_the_camera_by_tags),
        cmocka_unit_test(it_finds_the_camera_by_tags_that_begin_anywhere),
        cmocka_unit_test(what_the_pictures_show_is_said),
        cmocka_unit_test(tags_tell_a_camera_that_is_upside_down),
        cmocka_unit_test(a_bad_recording_is_refused),
        cmocka_unit_test(pairs_that_are_held_out_judge_it),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, draw, remove_all);
}
