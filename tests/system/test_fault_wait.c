/* SPDX-License-Identifier: Apache-2.0 */
/* The very first start without what it needs: parallaxd --wait waits for it where waiting may help, and without it ends. */
#include "tests/system/fault.h"

#include <sys/sysmacros.h>

#include "app/exit.h"
#include "tests/system/systemd.h"

#define NOBODY 65534
#define WATCHDOG_MS 2000

static int make_patient(void **state)
{
    make(state);
    if (geteuid() == 0) { /* whom nothing forbids to read */
        daemon_.user = NOBODY;
        assert_int_equal(chmod(daemon_.directory, 0777), 0);
    }
    systemd_listen(daemon_.directory, WATCHDOG_MS);
    return 0;
}

static int clean_patient(void **state)
{
    systemd_leave();
    return clean(state);
}

/* The service that was just started with --wait waits, says for what, and is alive. */
static void expect_waiting(const char *words)
{
    systemd_expect("READY=1", "", START_MS);
    systemd_expect("STATUS=", words, START_MS);
    for (int i = 0; i < 4; i++)
        systemd_expect("WATCHDOG=1", "", WATCHDOG_MS);
    wait_until_said("trying again in 1.6 s", START_MS); /* with growing pauses */
    assert_int_equal(daemon_wait(&daemon_, 0), -1);
    assert_true(access(daemon_.socket, F_OK) != 0);
}

static void expect_exit(const char *const *args, int code)
{
    daemon_start(&daemon_, args);
    assert_int_equal(end_within(START_MS), code);
}

/* A camera whose node this user may not open. */
static void a_camera_without_permission_is_waited_for(void **state)
{
    (void)state;
    char key[192], calibration[160];
    const char *const args[] = {SMALL, "--set", "source.type=v4l2", "--set", key, "--set", calibration, "--wait", NULL};
    const char *const impatient[] = {SMALL, "--set", "source.type=v4l2", "--set", key, "--set", calibration, NULL};
    char path[160];

    snprintf(calibration, sizeof calibration, "calibration=%s/unread.yaml", daemon_.directory); /* the camera comes first */
    snprintf(path, sizeof path, "%s/camera", daemon_.directory);
    if (mknod(path, S_IFCHR, makedev(1, 3)) < 0) {
        print_message("    skipped: this user may make no device\n");
        skip();
    }
    snprintf(key, sizeof key, "source.left=%s", path);
    expect_exit(impatient, PLX_EXIT_PERMISSION);
    daemon_start(&daemon_, args);
    expect_waiting("/camera");
    stop_daemon();
}

static void frames_come_when_what_was_missing_is_there(void **state)
{
    (void)state;
    char key[192], path[160];
    const char *const args[] = {"--set", "source.type=replay", "--set",  key, "--set", "match.disparities=64",
                                "--set", "source.loop=true",   "--wait", NULL};

    write_replay(12, NULL);
    snprintf(key, sizeof key, "source.path=%s", daemon_.directory);
    snprintf(path, sizeof path, "%s/image_0", daemon_.directory);
    assert_int_equal(chmod(path, 0), 0);
    daemon_start(&daemon_, args);
    expect_waiting("image_0");
    assert_int_equal(chmod(path, 0755), 0);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    assert_int_equal(plx_restarts(client), 0);
    stop_daemon();
    plx_disconnect(client);
}

static void a_configuration_that_is_mended_meanwhile_is_taken(void **state)
{
    (void)state;
    char path[160], text[512];
    const char *const args[] = {"--config", path, "--wait", NULL};

    write_replay(1, NULL);
    snprintf(path, sizeof path, "%s/image_0", daemon_.directory);
    assert_int_equal(chmod(path, 0), 0);
    snprintf(path, sizeof path, "%s/parallax.yaml", daemon_.directory);
    snprintf(text, sizeof text, "source:\n  type: replay\n  path: %s\n", daemon_.directory);
    write_config(text);
    daemon_start(&daemon_, args);
    expect_waiting("image_0");
    write_config(SMALL_SOURCE "match:\n  disparities: 64\n");
    kill(daemon_.pid, SIGHUP);
    struct plx_client *client = connect_client();
    assert_int_equal(running_frame(client, START_MS).width, WIDTH);
    stop_daemon();
    plx_disconnect(client);
}

/* One call fails: the probe's, the supervisor's or the engine's. */
static void memory_and_processes_are_waited_for(void **state)
{
    (void)state;
    static const char *const faults[] = {"fail memfd_create 1", "fail memfd_create 2", "fail socketpair 1", "fail socketpair 2",
                                         "fail fork 1",         "fail fork 2",         "fail bind 1"};
    static const char *const args[] = {SMALL, "--wait", NULL};

    unsetenv("NOTIFY_SOCKET"); /* nobody reads it here */
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        daemon_.fault = faults[i];
        daemon_start(&daemon_, args);
        struct plx_client *client = connect_client();
        running_frame(client, START_MS);
        wait_until_said(faults[i], 0);
        stop_daemon();
        plx_disconnect(client);
        assert_int_equal(unlink(daemon_.log), 0);
    }
}

/* Waiting would not help: wrong configuration, wrong calibration. */
static void what_is_wrong_is_not_waited_for(void **state)
{
    (void)state;
    char path[160], key[192];
    const char *const config[] = {"--config", path, "--wait", NULL};
    const char *const calibration[] = {SMALL, "--set", key, "--wait", NULL};

    snprintf(path, sizeof path, "%s/parallax.yaml", daemon_.directory);
    write_config("match:\n  disparitys: 64\n");
    expect_exit(config, PLX_EXIT_CONFIG);
    write_text(daemon_.directory, "calibration.yaml", "%YAML:1.0\n---\nM1: 7\n");
    snprintf(key, sizeof key, "calibration=%s/calibration.yaml", daemon_.directory);
    expect_exit(calibration, PLX_EXIT_CONFIG);
    snprintf(key, sizeof key, "calibration=%s/none.yaml", daemon_.directory);
    expect_exit(calibration, PLX_EXIT_NO_INPUT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_patient, clean_patient)
    const struct CMUnitTest tests[] = {
        TEST(a_camera_without_permission_is_waited_for),
        TEST(frames_come_when_what_was_missing_is_there),
        TEST(a_configuration_that_is_mended_meanwhile_is_taken),
        TEST(memory_and_processes_are_waited_for),
        TEST(what_is_wrong_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
