/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `parallax cameras` lists two webcams and suggests a configuration, and the service runs with it, still without a calibration.
 *
 * guest: vivid n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x0,0x0
 */
#include "tests/vm/service.h"

#include <cjson/cJSON.h>

#include "tests/command.h"

#define LEFT_NAME "/dev/v4l/by-path/platform-vivid.0-video-index0" /* as udev names it; here there is none */

static void test_list(void **state)
{
    (void)state;
    struct command command;

    command_run(&command, (const char *const[]){"cameras", NULL});
    assert_int_equal(command.code, 0);
    fputs(command.out, stdout);
    assert_non_null(strstr(command.out, "driver=vivid,bus=platform:vivid-000"));
    assert_non_null(strstr(command.out, "brightness"));
    command_free(&command);

    command_run(&command, (const char *const[]){"cameras", "--json", NULL});
    assert_int_equal(command.code, 0);
    cJSON *root = cJSON_Parse(command.out);
    const cJSON *cameras = cJSON_GetObjectItem(root, "cameras"), *camera = cJSON_GetArrayItem(cameras, 0), *format;
    assert_int_equal(cJSON_GetArraySize(cameras), 2);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(camera, "driver")), "vivid");
    bool grey = false;
    cJSON_ArrayForEach (format, cJSON_GetObjectItem(camera, "formats")) {
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(format, "format")), "GREY") != 0)
            continue;
        grey = cJSON_IsTrue(cJSON_GetObjectItem(format, "readable"));
        assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(format, "sizes")) > 2);
    }
    assert_true(grey);
    cJSON_Delete(root);
    command_free(&command);
}

static void test_suggestion_runs(void **state)
{
    (void)state;
    struct command command;
    struct daemon daemon;
    char config[128];

    assert_int_equal(system("mkdir -p /dev/v4l/by-path && ln -s ../../video0 " LEFT_NAME), 0);
    command_run(&command, (const char *const[]){"cameras", NULL});
    assert_non_null(strstr(command.out, "left: \"" LEFT_NAME "\""));
    const char *suggestion = strstr(command.out, "source:\n");
    assert_non_null(suggestion);
    daemon_make(&daemon);
    write_text(daemon.directory, "config.yaml", suggestion);
    snprintf(config, sizeof config, "%s/config.yaml", daemon.directory);
    daemon_start(&daemon, (const char *const[]){"--config", config, "--set", "source.width=320", "--set", "source.height=180",
                                                "--set", "source.rate_hz=4", NULL});
    command_free(&command);
    cJSON *root = NULL;
    for (int attempt = 0; attempt < 20 && !root; attempt++) {
        usleep(500000);
        command_run(&command, (const char *const[]){"status", "--json", "--socket", daemon.socket, NULL});
        if (command.code == 0)
            root = cJSON_Parse(command.out);
        command_free(&command);
    }
    if (!root)
        fail_msg("no frames: %s", daemon_said(&daemon));
    for (int eye = 0; eye < 2; eye++) {
        const cJSON *capture = cJSON_GetObjectItem(root, eye ? "right" : "left");
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(capture, "memory")), "userptr");
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(capture, "clock")), "monotonic");
    }
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(root, "calibration"))); /* new cameras have none: raw pictures */
    assert_true(cJSON_GetObjectItem(root, "rate_hz")->valuedouble > 0);
    cJSON_Delete(root);
    command_run(&command, (const char *const[]){"status", "--socket", daemon.socket, NULL});
    print_message("%s", command.out);
    assert_non_null(strstr(command.out, "written by the camera itself (USERPTR)"));
    command_free(&command);
    kill(daemon.pid, SIGTERM);
    assert_int_equal(daemon_wait(&daemon, 10000), 0);
    daemon_remove(&daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_suggestion_runs),
    };
    return cmocka_run_group_tests_name("cameras", tests, NULL, NULL);
}
