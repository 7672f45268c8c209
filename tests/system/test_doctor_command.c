/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax doctor`, with a service and without: what it finds there, and its exit code. */
#include "tests/system/cli.h"

#define NOBODY 65534

static struct command command_;

/* Runs the command, whose exit code must be that of its worst state. The JSON is the caller's. */
static cJSON *examine(const char *const *args, uid_t user)
{
    command_begin(&command_, args, user);
    command_end(&command_);
    cJSON *json = cJSON_Parse(command_.out);
    if (!json)
        fail_msg("exit code %d, no JSON: %s%s", command_.code, command_.out, command_.err);
    const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "state"));
    assert_non_null(state);
    assert_int_equal(command_.code, strcmp(state, "bad") == 0                                         ? PLX_EXIT_FAILURE
                                    : strcmp(state, "doubtful") == 0 || strcmp(state, "unknown") == 0 ? PLX_EXIT_DOUBT
                                                                                                      : PLX_EXIT_OK);
    command_free(&command_);
    return json;
}

/* The first line of LIST, "found" or "advice", in the row NAME; "" if it is empty. */
static const char *first(const cJSON *json, const char *name, const char *list)
{
    const cJSON *row;
    cJSON_ArrayForEach (row, cJSON_GetObjectItemCaseSensitive(json, "checks"))
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name")), name) == 0) {
            const char *line = cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(row, list), 0));
            return line ? line : "";
        }
    fail_msg("no row %s", name);
    return "";
}

static void expect_state(const cJSON *json, const char *name, const char *state)
{
    const cJSON *row;
    cJSON_ArrayForEach (row, cJSON_GetObjectItemCaseSensitive(json, "checks"))
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name")), name) == 0) {
            const char *found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "state"));
            if (strcmp(found, state) != 0)
                fail_msg("%s is %s, expected %s: %s", name, found, state, first(json, name, "found"));
            return;
        }
    fail_msg("no row %s", name);
}

/* The flags and the memory of a busy machine are its own. */
static void running_service_is_examined(void **state)
{
    (void)state;
    cJSON *json = examine((const char *const[]){"doctor", "--json", NULL}, 0);
    expect_state(json, "socket", "good");
    expect_state(json, "cameras", "not applicable");
    expect_state(json, "calibration", "not applicable");
    expect_state(json, "processors", "good");
    assert_non_null(strstr(first(json, "service", "found"), "the state is "));
    assert_non_null(strstr(first(json, "memory", "found"), "MiB are available"));
    cJSON_Delete(json);
}

static void page_has_a_row_for_each_check(void **state)
{
    (void)state;
    static char page[16384];
    FILE *in = fopen(PLX_SOURCE_DIR "/docs/doctor.md", "re");
    assert_non_null(in);
    page[fread(page, 1, sizeof page - 1, in)] = '\0';
    fclose(in);
    cJSON *json = examine((const char *const[]){"doctor", "--json", "--socket", path_of("nobody"), NULL}, 0);
    const cJSON *row;
    cJSON_ArrayForEach (row, cJSON_GetObjectItemCaseSensitive(json, "checks")) {
        char cell[64];
        snprintf(cell, sizeof cell, "\n| %s | ", cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name")));
        if (!strstr(page, cell))
            fail_msg("docs/doctor.md has no row%s", cell);
    }
    cJSON_Delete(json);
}

/* What only a service knows is unknown without one. */
static void without_a_service_much_is_unknown(void **state)
{
    (void)state;
    write_text(daemon_.directory, "camera.yaml", "source:\n  type: v4l2\n  left: \"card=none\"\n  right: \"card=neither\"\n");
    cJSON *json = examine(
        (const char *const[]){"doctor", "--json", "--config", path_of("camera.yaml"), "--socket", path_of("nobody"), NULL}, 0);
    expect_state(json, "configuration", "good");
    expect_state(json, "socket", "doubtful");
    expect_state(json, "service", "unknown");
    expect_state(json, "pictures", "unknown");
    expect_state(json, "camera clock", "unknown");
    expect_state(json, "drift", "unknown");
    expect_state(json, "cameras", "bad");
    expect_state(json, "calibration", "bad");
    assert_string_equal(first(json, "socket", "advice"), "start it: sudo systemctl enable --now parallaxd");
    cJSON_Delete(json);
}

static void broken_configuration_is_named(void **state)
{
    (void)state;
    write_text(daemon_.directory, "broken.yaml", "match:\n  paths: 5\n");
    command_run(&command_,
                (const char *const[]){"doctor", "--config", path_of("broken.yaml"), "--socket", path_of("nobody"), NULL});
    assert_int_equal(command_.code, PLX_EXIT_FAILURE);
    assert_non_null(strstr(command_.out, "bad             configuration  "));
    assert_non_null(strstr(command_.out, "broken.yaml:2:10: "));
    assert_non_null(strstr(command_.out, "-> correct that place, then type: parallaxd --check-config "));
    assert_string_equal(command_.err, "");
    command_free(&command_);
}

/* The file was changed after the start. */
static void file_differs_from_the_running_service(void **state)
{
    (void)state;
    write_text(daemon_.directory, "changed.yaml", "publish:\n  slots: 9\n");
    cJSON *json = examine((const char *const[]){"doctor", "--json", "--config", path_of("changed.yaml"), NULL}, 0);
    expect_state(json, "configuration", "doubtful");
    assert_string_equal(first(json, "configuration", "advice"),
                        "to use the file: sudo systemctl reload parallaxd; values in force: parallax config");
    cJSON_Delete(json);
}

static void user_outside_the_group_is_told(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can become another user */
    assert_int_equal(chmod(daemon_.directory, 0700), 0);
    cJSON *json = examine((const char *const[]){"doctor", "--json", NULL}, NOBODY);
    expect_state(json, "socket", "bad");
    assert_non_null(strstr(first(json, "socket", "advice"), "sudo usermod -aG "));
    cJSON_Delete(json);
}

/* By a driver that is made up: a device that the service does not use; a driver that crashes, and one that hangs. The other
 * checks go on. */
static void gpu_driver_may_crash_or_hang(void **state)
{
    (void)state;
    const char *const args[] = {"doctor", "--json", NULL};
    if (strcmp(daemon_backend(), "cpu") != 0 || *emulator())
        skip(); /* the real driver is at work, or the made-up one is for another machine */
    setenv("LD_LIBRARY_PATH", PLX_BINARY_DIR "/cuda_peer", 1);
    cJSON *json = examine(args, 0);
    expect_state(json, "gpu", "doubtful");
    assert_string_equal(first(json, "gpu", "found"), "CUDA device 0 is the CPU, as device 0; clients read frames in place");
    assert_string_equal(first(json, "gpu", "advice"), "set backend: auto");
    cJSON_Delete(json);
    setenv("PEER_FAULT", "crash", 1);
    json = examine(args, 0);
    expect_state(json, "gpu", "unknown");
    assert_string_equal(first(json, "gpu", "found"), "the check crashed");
    cJSON_Delete(json);
    setenv("PEER_FAULT", "hang", 1);
    json = examine(args, 0);
    expect_state(json, "gpu", "unknown");
    assert_string_equal(first(json, "gpu", "found"), "no answer in 5 s: a driver may hang");
    expect_state(json, "processors", "good");
    cJSON_Delete(json);
    unsetenv("PEER_FAULT");
    unsetenv("LD_LIBRARY_PATH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(running_service_is_examined, start_scene, stop_scene),
        cmocka_unit_test(page_has_a_row_for_each_check),
        cmocka_unit_test(without_a_service_much_is_unknown),
        cmocka_unit_test(broken_configuration_is_named),
        cmocka_unit_test_setup_teardown(file_differs_from_the_running_service, start_scene, stop_scene),
        cmocka_unit_test_setup_teardown(gpu_driver_may_crash_or_hang, start_scene, stop_scene),
        cmocka_unit_test_setup_teardown(user_outside_the_group_is_told, start_scene, stop_scene),
    };
    cli_begin();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_end();
    return failed;
}
