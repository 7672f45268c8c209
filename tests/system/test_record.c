/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of a real parallaxd: written whole, replayed bit for bit, taken by `parallax run`. */
#define SCENE_HZ "3"
#include "tests/system/cli.h"

#include "config/config.h"

#define PAIRS 6

static void record(const char *name, const char *pairs)
{
    struct command command;
    command_succeed(&command, "record", path_of(name), "--pairs", pairs);
    assert_non_null(strstr(command.out, " pairs, "));
    command_free(&command);
}

static struct plx_image recorded(const char *name, int eye, int index)
{
    char file[64];
    snprintf(file, sizeof file, "%s/image_%d/%06d.png", name, eye, index);
    return read_picture(path_of(file), PLX_U8);
}

static bool same_pixels(const char *a, int index_a, const char *b, int index_b)
{
    bool same = true;
    for (int eye = 0; eye < 2; eye++) {
        struct plx_image one = recorded(a, eye, index_a), other = recorded(b, eye, index_b);
        same &= memcmp(one.data, other.data, (size_t)WIDTH * HEIGHT) == 0;
        free(one.data);
        free(other.data);
    }
    return same;
}

static void record_writes_a_directory_once(void **state)
{
    (void)state;
    struct command command;
    record("first", "6");
    command_run(&command, (const char *const[]){"record", path_of("first"), NULL});
    assert_int_equal(command.code, PLX_EXIT_CANNOT_WRITE);
    assert_non_null(strstr(command.err, "first/image_0: exists already"));
    command_free(&command);
    assert_false(same_pixels("first", 0, "first", 1)); /* noise: no two pairs are the same */
    assert_int_not_equal(access(path_of("first/image_0/000006.png"), F_OK), 0);
}

static void record_ends_at_a_signal_and_leaves_it_whole(void **state)
{
    (void)state;
    struct command command;
    command_begin(&command, (const char *const[]){"record", path_of("cut"), NULL}, 0);
    const int64_t deadline = patience_end_ns();
    while (access(path_of("cut/image_1/000001.png"), F_OK) != 0 && plx_now_ns() < deadline)
        usleep(2000);
    kill(command.pid, SIGINT);
    command_end(&command);
    assert_int_equal(command.code, 0);
    command_free(&command);
    command_succeed(&command, "run", path_of("cut"), "--max-disparity", "64"); /* all pairs and times are there */
    command_free(&command);
}

/* Killed at any moment it leaves what can be used: all pairs but perhaps the last. */
static void a_killed_recorder_leaves_what_can_be_used(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        struct command command;
        char name[32], third[64];
        snprintf(name, sizeof name, "killed_%d", round);
        snprintf(third, sizeof third, "%s/image_0/000002.png", name);
        command_begin(&command, (const char *const[]){"record", path_of(name), NULL}, 0);
        const int64_t deadline = patience_end_ns();
        while (access(path_of(third), F_OK) != 0 && plx_now_ns() < deadline)
            usleep(500);
        usleep((useconds_t)round * 1500);
        kill(command.pid, SIGKILL);
        command_end(&command);
        command_free(&command);
        command_succeed(&command, "run", path_of(name), "--max-disparity", "64");
        command_free(&command);
    }
}

/* A recording of a replay equals the first recording, bit for bit and in its order. */
static void replay_gives_the_recorded_pictures(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "source.path=%s", path_of("first"));
    start_daemon("--set", "source.type=replay", "--set", path, "--set", "source.loop=true", "--set", "publish.right=true");
    record("second", "12");
    int seen[PAIRS] = {0};
    for (int i = 0; i < 2 * PAIRS; i++) {
        int match = 0;
        while (match < PAIRS && !same_pixels("second", i, "first", match))
            match++;
        if (match == PAIRS)
            fail_msg("pair %d of the second recording is none of the first", i);
        seen[match]++;
    }
    for (int i = 0; i < PAIRS; i++)
        assert_true(seen[i] > 0);
    struct command command;
    command_succeed(&command, "status", "--json");
    cJSON *status = cJSON_Parse(command.out);
    const cJSON *calibration = cJSON_GetObjectItemCaseSensitive(status, "calibration");
    assert_true(number(calibration, "baseline_m") == 0.12);
    assert_true(number(calibration, "cx") == 159.5);
    cJSON_Delete(status);
    command_free(&command);
    stop_daemon();
}

static void record_needs_the_right_picture(void **state)
{
    (void)state;
    struct command command;
    start_daemon("--set", "source.width=320", "--set", "source.height=240");
    command_run(&command, (const char *const[]){"record", path_of("none"), NULL});
    stop_daemon();
    assert_int_equal(command.code, PLX_EXIT_CONFIG);
    assert_non_null(strstr(command.err, "publish.right"));
    command_free(&command);
    assert_int_not_equal(access(path_of("none"), F_OK), 0);
}

static void assert_begins(const char *name, const char *start)
{
    char text[256] = "";
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    if (strncmp(text, start, strlen(start)) != 0)
        fail_msg("%s does not begin with %s", name, start);
}

/* The kind of file is what the name of --output ends in. */
static void run_writes_what_the_name_ends_in(void **state)
{
    (void)state;
    static const struct {
        const char *name, *start;
    } files[] = {{"out.png", "\x89PNG"}, {"out.pfm", "Pf\n320 240\n"}, {"out.ply", "ply\nformat binary_little_endian"}};
    const struct plx_calibration_info info = {
        .fx = 256, .fy = 256, .cx = 159.5, .cy = 119.5, .cx_right = 159.5, .baseline_m = 0.12};
    struct plx_stereo_calibration calibration;
    struct plx_error_message message = {""};
    plx_calibration_pinhole(WIDTH, HEIGHT, &info, &calibration);
    assert_int_equal(plx_calibration_save(path_of("pinhole.yaml"), &calibration, &message), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct command command;
        char left[160], right[160], output[160];
        snprintf(left, sizeof left, "%s", path_of("first/image_0/000000.png"));
        snprintf(right, sizeof right, "%s", path_of("first/image_1/000000.png"));
        snprintf(output, sizeof output, "%s", path_of(files[i].name));
        command_succeed(&command, "run", left, right, "--max-disparity", "64", "--calibration", path_of("pinhole.yaml"),
                        "--output", output);
        command_free(&command);
        assert_begins(files[i].name, files[i].start);
    }
}

static void run_takes_a_recording(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "run", path_of("first"), "--max-disparity", "64", "--obstacles", "--json");
    cJSON *list = cJSON_Parse(command.out);
    assert_int_equal(cJSON_GetArraySize(list), PAIRS);
    const cJSON *last = cJSON_GetArrayItem(list, PAIRS - 1);
    const cJSON *obstacles = cJSON_GetObjectItemCaseSensitive(last, "obstacles");
    assert_true(cJSON_GetArraySize(obstacles) > 0);
    assert_true(number(cJSON_GetArrayItem(obstacles, 0), "nearest_m") > 1); /* calib.txt was found */
    cJSON_Delete(list);
    command_free(&command);

    /* What it writes is the ground truth of itself, file by file. */
    command_succeed(&command, "run", path_of("first"), "--max-disparity", "64", "--output", path_of("truth"));
    command_free(&command);
    command_succeed(&command, "run", path_of("first"), "--set", "match.disparities=64", "--gt", path_of("truth"), "--json");
    list = cJSON_Parse(command.out);
    assert_int_equal(cJSON_GetArraySize(list), PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        const cJSON *accuracy = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list, i), "accuracy");
        assert_true(number(accuracy, "density_percent") == 100 && number(accuracy, "bad1_percent") == 0);
    }
    cJSON_Delete(list);
    command_free(&command);
}

int main(void)
{
    const struct CMUnitTest scene[] = {
        cmocka_unit_test(record_writes_a_directory_once),
        cmocka_unit_test(record_ends_at_a_signal_and_leaves_it_whole),
        cmocka_unit_test(a_killed_recorder_leaves_what_can_be_used),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(replay_gives_the_recorded_pictures),
        cmocka_unit_test(record_needs_the_right_picture),
        cmocka_unit_test(run_takes_a_recording),
        cmocka_unit_test(run_writes_what_the_name_ends_in),
    };
    cli_begin();
    int failed = cmocka_run_group_tests(scene, start_scene, stop_scene);
    failed += cmocka_run_group_tests(others, NULL, NULL);
    cli_end();
    return failed;
}
