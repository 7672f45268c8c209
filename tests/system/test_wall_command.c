/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax wall` beside a real service that sees a rendered wall: its figures, a calibration that is wrong, its verdicts. */
#define SCENE_HZ "1" /* a frame is fresh for 3 s, also on a slow machine */
#include "tests/system/cli.h"

#include <math.h>

#include "config/config.h"
#include "drivers/synthetic/scene.h"
#include "tests/scratch.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
/* Small, for the test guest. A wall 0.75 m away has 20.5 px of disparity and covers 1.9 px, as one 3 m away in 640 x 480. */
#define WALL_WIDTH 160
#define WALL_HEIGHT 120
#define WALL_M 0.75
#define DISTANCE TEXT(WALL_M)
#define FRAMES "2"
#define WRONG_PX 0.3
/* What matching makes itself. */
#define MATCHER_PX 0.02

static struct command command_;

#define start_wall(...)                                                                                                        \
    start_daemon("--set", "threads=1", "--set", "source.scene=wall", "--set", ("source.width=" TEXT(WIDTH)), "--set",          \
                 ("source.height=" TEXT(HEIGHT)), "--set", ("source.rate_hz=" SCENE_HZ), __VA_ARGS__)

/* Whether the service needs more time: on a slow machine it does not serve yet, or not as soon as the command expects; and the
 * rows, if ROWS_ARE_NEEDED, are measured after some frames. */
static bool is_too_early(bool rows_are_needed)
{
    if (command_.code == PLX_EXIT_UNAVAILABLE)
        return daemon_.pid > 0;
    return rows_are_needed && (strstr(command_.out, "rows         not measured") || strstr(command_.out, "\"rows_px\":\tnull"));
}

/* Runs the command with ARGS, which end with NULL: again while it is too early. */
static void run_patiently(bool rows_are_needed, const char *const *args)
{
    const int64_t deadline = patience_end_ns();
    command_run(&command_, args);
    while (is_too_early(rows_are_needed) && plx_now_ns() < deadline) {
        command_free(&command_);
        command_run(&command_, args);
    }
}

/* The JSON that it prints with ARGS, among them --json, is the caller's. */
static cJSON *measure(int code, const char *const *args)
{
    run_patiently(code == PLX_EXIT_OK, args);
    if (command_.code != code)
        fail_msg("exit code %d, expected %d: %s%s", command_.code, code, command_.out, command_.err);
    cJSON *json = cJSON_Parse(command_.out);
    if (!json)
        fail_msg("no JSON: %s%s", command_.out, command_.err);
    command_free(&command_);
    return json;
}

#define wall(code, ...) measure(code, (const char *const[]){"wall", "--json", "--frames", FRAMES, __VA_ARGS__, NULL})

static const char *word(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    assert_non_null(text);
    return text;
}

static const cJSON *part(const cJSON *json, int index)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "parts"), index);
}

/* What JSON lists as not measured, joined by blanks; until the next call. */
static const char *missing_of(const cJSON *json)
{
    static char text[64];
    const cJSON *item, *list = cJSON_GetObjectItemCaseSensitive(json, "not_measured");

    assert_true(cJSON_IsArray(list));
    text[0] = '\0';
    cJSON_ArrayForEach (item, list) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? " " : "", item->valuestring);
    }
    return text;
}

static void write_json(const char *name, const cJSON *json)
{
    char *text = cJSON_Print(json);
    write_text(daemon_.directory, name, text);
    cJSON_free(text);
}

/* The scene's calibration file, whose right principal point is OFF_PX too far right and whose baseline is SCALE times too long,
 * as the key for it. */
static const char *write_calibration(double off_px, double scale)
{
    static char key[320];
    struct plx_stereo_calibration calibration;
    struct plx_scene scene;
    struct plx_error_message message = {""};

    plx_scene_wall(WALL_WIDTH, WALL_HEIGHT, 1, &scene);
    scene.calibration.baseline_m *= scale;
    plx_calibration_pinhole(WALL_WIDTH, WALL_HEIGHT, &scene.calibration, &calibration);
    calibration.camera[PLX_RIGHT].cx += off_px;
    snprintf(key, sizeof key, "calibration=%s", path_of("calibration.yaml"));
    if (plx_calibration_save(strchr(key, '=') + 1, &calibration, &message) < 0)
        fail_msg("%s", message.text);
    return key;
}

/* --- walls as recordings --------------------------------------------------------------------------------------------- */

#define PAIRS 4 /* with noise of their own */

/* Pairs of SCENE in the directory NAME, to be replayed. BLANK: nothing but noise is in them. */
static void record_scene(const char *name, const struct plx_scene *scene, bool blank)
{
    static uint8_t memory[WALL_HEIGHT][WALL_WIDTH];
    const struct plx_image image = {memory, WALL_WIDTH, WALL_HEIGHT, WALL_WIDTH, PLX_U8};
    struct plx_error_message message = {""};
    char path[320];

    snprintf(path, sizeof path, "mkdir -p %s/image_0 %s/image_1", path_of(name), path_of(name));
    assert_int_equal(system(path), 0);
    for (uint32_t i = 0; i < 2 * PAIRS; i++) {
        const enum plx_eye eye = i % 2 ? PLX_RIGHT : PLX_LEFT;
        assert_int_equal(plx_scene_render(scene, 0, i / 2, eye, 10000, 1, &image), 0);
        uint64_t random = i;
        for (int p = 0; p < WALL_WIDTH * WALL_HEIGHT && blank; p++)
            memory[p / WALL_WIDTH][p % WALL_WIDTH] = (uint8_t)(126 + scratch_random(&random) % 5);
        snprintf(path, sizeof path, "%s/image_%u/%06u.png", path_of(name), i % 2, i / 2);
        assert_int_equal(plx_png_write(path, &image, &message), 0);
    }
}

static void replay(const char *name, const char *calibration)
{
    char path[320];
    snprintf(path, sizeof path, "source.path=%s", path_of(name));
    start_daemon("--set", "threads=1", "--set", "source.type=replay", "--set", path, "--set", "source.loop=true", "--set",
                 "source.replay_rate=fixed", "--set", ("source.rate_hz=" SCENE_HZ), "--set", calibration);
}

/* Pairs of a wall at DISTANCE_M in the directory NAME. */
static void record_wall(const char *name, double distance_m)
{
    struct plx_scene scene;
    plx_scene_wall(WALL_WIDTH, WALL_HEIGHT, 1, &scene);
    scene.object[0].z = distance_m;
    record_scene(name, &scene, false);
}

static void a_rendered_wall_is_good(void **state)
{
    (void)state;
    record_wall("wall", WALL_M);
    replay("wall", write_calibration(0, 1));
    cJSON *json = wall(PLX_EXIT_OK, "--distance", DISTANCE, "--picture", path_of("wall.png"));
    assert_string_equal(word(json, "verdict"), "good");
    assert_string_equal(missing_of(json), "");
    assert_true(fabs(number(json, "distance_m") - WALL_M) < 0.01 * WALL_M);
    assert_true(fabs(number(json, "angle_deg") - 5.73) < 1.5);
    assert_true(number(json, "frames") == atoi(FRAMES));
    for (int p = 0; p < 10; p++) {
        assert_true(number(part(json, p), "fill") > 0.95);
        assert_true(number(part(json, p), "noise_px") < 0.25 && number(part(json, p), "temporal_px") < 0.25);
        assert_true(number(part(json, p), "covered") > 0.5 && number(part(json, p), "covered") <= 1);
    }
    print_message("bias %.3f px\n", number(part(json, 0), "bias_px"));
    assert_true(fabs(number(part(json, 0), "bias_px")) < MATCHER_PX);
    write_json("good.json", json);
    cJSON_Delete(json);
    json = measure(PLX_EXIT_DOUBT, (const char *const[]){"wall", "--json", path_of("good.json"), NULL});
    assert_string_equal(word(json, "verdict"), "unproven"); /* one distance cannot be split */
    assert_string_equal(missing_of(json), "split");
    cJSON_Delete(json);
    struct plx_image picture;
    struct plx_error_message message = {""};
    assert_int_equal(plx_picture_read(path_of("wall.png"), PLX_U8, &picture, &message), 0);
    assert_true(picture.width == WALL_WIDTH && picture.height == WALL_HEIGHT);
    free(picture.data);
    stop_daemon();
    replay("wall", write_calibration(-WRONG_PX, 1));
    json = wall(PLX_EXIT_FAILURE, "--distance", DISTANCE);
    assert_string_equal(word(json, "verdict"), "calibrate_again");
    print_message("with the wrong calibration %.3f px\n", number(part(json, 0), "bias_px"));
    assert_true(fabs(number(part(json, 0), "bias_px") + WRONG_PX) < MATCHER_PX);
    cJSON_Delete(json);
    stop_daemon();
}

/* The scene of the service, which is farther away; and the text. */
static void the_verdict_says_what_is_not_measured(void **state)
{
    (void)state;
    start_wall(NULL);
    cJSON *json = wall(PLX_EXIT_OK, "--distance", TEXT(PLX_SCENE_WALL_M));
    assert_string_equal(word(json, "verdict"), "good");
    assert_string_equal(word(json, "source"), "synthetic");
    assert_true(fabs(number(json, "distance_m") - PLX_SCENE_WALL_M) < 0.01 * PLX_SCENE_WALL_M);
    cJSON_Delete(json);
    run_patiently(true, (const char *const[]){"wall", "--distance", TEXT(PLX_SCENE_WALL_M), "--frames", "1", NULL});
    assert_int_equal(command_.code, PLX_EXIT_OK);
    assert_non_null(strstr(command_.out, "\nlower right "));
    assert_non_null(strstr(command_.out, "\nverdict      good\n"));
    assert_non_null(strstr(command_.out, "note: simulated pictures"));
    command_free(&command_);
    run_patiently(false, (const char *const[]){"wall", "--frames", "1", NULL});
    assert_int_equal(command_.code, PLX_EXIT_DOUBT);
    assert_non_null(strstr(command_.out, "\nbias         not measured: give --distance"));
    assert_non_null(strstr(command_.out, "\nverdict      unproven: good as far as measured; not measured: bias\n"
                                         "             -> measure the shortest distance by tape"));
    command_free(&command_);
    stop_daemon();
}

/* Measures the wall in the directory DISTANCE, its metres, and leaves the JSON in the file NAME. */
static void measure_distance(const char *name, const char *distance, const char *calibration)
{
    replay(distance, calibration);
    run_patiently(false, (const char *const[]){"wall", "--json", "--frames", FRAMES, "--distance", distance, NULL});
    if (!*command_.out)
        fail_msg("exit code %d: %s", command_.code, command_.err);
    write_text(daemon_.directory, name, command_.out);
    command_free(&command_);
    stop_daemon();
}

/* A principal point that is wrong makes px, a baseline that is wrong per cent of the disparity. */
static void distances_tell_px_from_percent(void **state)
{
    (void)state;
    static const struct {
        double off_px, scale;
    } wrong[] = {{-WRONG_PX, 1}, {0, 1.03}};
    static const char *const distance[] = {"0.25", "0.40", "0.775"};
    for (size_t n = 0; n < sizeof distance / sizeof *distance; n++)
        record_wall(distance[n], atof(distance[n]));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        static const char *const name[] = {"1.json", "2.json", "3.json"};
        for (size_t n = 0; n < sizeof distance / sizeof *distance; n++)
            measure_distance(name[n], distance[n], write_calibration(wrong[i].off_px, wrong[i].scale));
        const char *const args[] = {"wall", "--json", path_of(name[0]), path_of(name[1]), path_of(name[2]), NULL};
        cJSON *json = measure(PLX_EXIT_FAILURE, args);
        assert_string_equal(word(json, "verdict"), "calibrate_again");
        const double offset = number(json, "offset_px"), percent = number(json, "scale_percent");
        print_message("offset %.3f px, scale %.2f %%\n", offset, percent);
        assert_true(fabs(fabs(offset) - fabs(wrong[i].off_px)) < 2 * MATCHER_PX);
        assert_true(fabs(percent - 100 * (1 / wrong[i].scale - 1)) < 0.5);
        assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(json, "distances")), 3);
        cJSON_Delete(json);
    }
    command_run(&command_, (const char *const[]){"wall", path_of("1.json"), path_of("3.json"), NULL});
    assert_int_equal(command_.code, PLX_EXIT_FAILURE);
    assert_non_null(strstr(command_.out, "% of the disparity: baseline or focal length"));
    command_free(&command_);
}

/* Each kind of surface that cannot tell has its verdict. */
static void bad_surfaces_are_named(void **state)
{
    (void)state;
    struct plx_scene scene;

    plx_scene_wall(WALL_WIDTH, WALL_HEIGHT, 1, &scene);
    scene.light = 0.05;
    record_scene("dark", &scene, false);
    plx_scene_wall(WALL_WIDTH, WALL_HEIGHT, 1, &scene);
    scene.light = 100; /* all white */
    record_scene("white", &scene, false);
    record_scene("blank", &scene, true);
    plx_scene_demo(WALL_WIDTH, WALL_HEIGHT, 1, &scene);
    record_scene("uneven", &scene, false);
    static const char *const names[][2] = {
        {"dark", "too_dark"}, {"white", "too_little_texture"}, {"blank", "too_little_texture"}, {"uneven", "not_flat"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        replay(names[i][0], write_calibration(0, 1));
        cJSON *json = wall(PLX_EXIT_DOUBT, "--distance", DISTANCE);
        if (strcmp(word(json, "verdict"), names[i][1]) != 0)
            fail_msg("%s: %s", names[i][0], cJSON_Print(json));
        cJSON_Delete(json);
        stop_daemon();
    }
}

/* --- what cannot be measured ---------------------------------------------------------------------------------------- */

static void expect_error(int code, const char *text, const char *const *args)
{
    run_patiently(false, args);
    if (command_.code != code || !strstr(command_.err, text))
        fail_msg("exit code %d: %s; expected %d: %s", command_.code, command_.err, code, text);
    assert_string_equal(command_.out, "");
    command_free(&command_);
}

static void faults_are_one_line(void **state)
{
    (void)state;
    write_text(daemon_.directory, "other.json", "{\"verdict\": \"good\"}\n");
    expect_error(PLX_EXIT_UNAVAILABLE, "no service there", (const char *const[]){"wall", NULL});
    expect_error(PLX_EXIT_USAGE, "expected X,Y,WIDTH,HEIGHT", (const char *const[]){"wall", "--roi", "1,2,3", NULL});
    expect_error(PLX_EXIT_USAGE, "takes --json only", (const char *const[]){"wall", "other.json", "--distance", "1", NULL});
    expect_error(PLX_EXIT_NO_INPUT, "missing.json", (const char *const[]){"wall", path_of("missing.json"), NULL});
    expect_error(PLX_EXIT_DATA, "expected what parallax wall", (const char *const[]){"wall", path_of("other.json"), NULL});
    start_wall("--set", "calibration=none");
    expect_error(PLX_EXIT_CONFIG, "no calibration", (const char *const[]){"wall", NULL});
    stop_daemon();
    start_wall(NULL);
    expect_error(PLX_EXIT_USAGE, "is not inside", (const char *const[]){"wall", "--roi", "300,0,50,40", NULL});
    expect_error(PLX_EXIT_CANNOT_WRITE, "/nowhere/",
                 (const char *const[]){"wall", "--frames", "1", "--picture", "/nowhere/a.png", NULL});
    cJSON *json = wall(PLX_EXIT_DOUBT, "--roi", "100,60,150,120");
    assert_string_equal(word(json, "verdict"), "unproven");
    assert_non_null(strstr(missing_of(json), "bias")); /* and the rows perhaps */
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(part(json, 0), "bias_px")));
    write_json("unknown.json", json);
    cJSON_Delete(json);
    stop_daemon();
    expect_error(PLX_EXIT_DATA, "it has no bias", (const char *const[]){"wall", path_of("unknown.json"), NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rendered_wall_is_good),
        cmocka_unit_test(the_verdict_says_what_is_not_measured),
        cmocka_unit_test(distances_tell_px_from_percent),
        cmocka_unit_test(bad_surfaces_are_named),
        cmocka_unit_test(faults_are_one_line),
    };
    cli_begin();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_end();
    return failed;
}
