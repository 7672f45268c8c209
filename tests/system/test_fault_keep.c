/* SPDX-License-Identifier: Apache-2.0 */
/* The service keeps what it has read: files that go away while it runs, and an engine that is replaced afterwards. */
#include "tests/system/fault.h"

#include "config/config.h"

#define NOBODY 65534

static char calibration_path[160], calibration_key[192];

/* A calibration of the scene's pictures, with BASELINE_M. */
static void write_calibration(double baseline_m)
{
    struct plx_scene scene;
    struct plx_stereo_calibration calibration;
    struct plx_error_message message;
    char path[160];

    plx_scene_demo(WIDTH, HEIGHT, 1, &scene);
    scene.calibration.baseline_m = baseline_m;
    plx_calibration_pinhole(WIDTH, HEIGHT, &scene.calibration, &calibration);
    snprintf(path, sizeof path, "%s/new-calibration.yaml", daemon_.directory);
    snprintf(calibration_path, sizeof calibration_path, "%s/calibration.yaml", daemon_.directory);
    snprintf(calibration_key, sizeof calibration_key, "calibration=%s", calibration_path);
    assert_int_equal(plx_calibration_save(path, &calibration, &message), 0);
    assert_int_equal(rename(path, calibration_path), 0);
}

/* The engine is killed, and frames of the same calibration come from the next one. */
static void kill_and_expect_frames(struct plx_client *client, double baseline_m)
{
    const pid_t engine = engine_of(&daemon_);
    const uint64_t epoch = running_frame(client, START_MS).epoch;
    const int64_t killed_ms = now_ms();

    kill(engine, SIGKILL);
    assert_true(is_gone(engine));
    const struct plx_frame after = running_frame(client, START_MS);
    assert_false(is_late(killed_ms, RECOVER_MS));
    assert_true(after.epoch == epoch);
    assert_true(after.calibration.baseline_m > baseline_m - 1e-6 && after.calibration.baseline_m < baseline_m + 1e-6);
    assert_int_equal(daemon_wait(&daemon_, 0), -1);
}

static void an_engine_is_replaced_without_its_calibration_file(void **state)
{
    (void)state;
    const char *const args[] = {SMALL, "--set", calibration_key, NULL};
    struct stat info;

    write_calibration(0.2);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    assert_int_equal(stat(calibration_path, &info), 0);
    assert_int_equal(truncate(calibration_path, info.st_size / 2), 0);
    kill_and_expect_frames(client, 0.2);
    assert_int_equal(truncate(calibration_path, 0), 0);
    kill_and_expect_frames(client, 0.2);
    assert_int_equal(unlink(calibration_path), 0);
    kill_and_expect_frames(client, 0.2);
    write_calibration(0.3); /* a new one is taken by a reload, not by an accident */
    kill_and_expect_frames(client, 0.2);
    stop_daemon();
    plx_disconnect(client);
}

static void an_engine_is_replaced_where_its_calibration_may_not_be_read(void **state)
{
    (void)state;
    const char *const args[] = {SMALL, "--set", calibration_key, NULL};

    write_calibration(0.2);
    if (geteuid() == 0) { /* whom nothing forbids to read */
        daemon_.user = NOBODY;
        assert_int_equal(chmod(daemon_.directory, 0777), 0);
        assert_int_equal(chown(calibration_path, NOBODY, NOBODY), 0);
    }
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    assert_int_equal(chmod(calibration_path, 0), 0);
    kill_and_expect_frames(client, 0.2);
    kill(daemon_.pid, SIGHUP); /* it is no longer to be had, so the reload is refused */
    wait_until_said("configuration kept as it was: ", START_MS);
    wait_until_said("calibration.yaml", 0);
    kill_and_expect_frames(client, 0.2);
    stop_daemon();
    plx_disconnect(client);
}

static void a_reload_reads_the_calibration_again_and_keeps_the_old_one_for_a_broken_one(void **state)
{
    (void)state;
    const char *const args[] = {SMALL, "--set", calibration_key, NULL};

    write_calibration(0.2);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    const pid_t engine = engine_of(&daemon_);

    write_text(daemon_.directory, "calibration.yaml", "%YAML:1.0\n---\nM1: 7\n");
    kill(daemon_.pid, SIGHUP);
    wait_until_said("configuration kept as it was: ", START_MS);
    expect_reason(client, "calibration.yaml");
    assert_int_equal(engine_of(&daemon_), engine);
    kill_and_expect_frames(client, 0.2);

    write_calibration(0.3);
    kill(daemon_.pid, SIGHUP);
    wait_until_said("configuration reloaded", START_MS);
    kill_and_expect_frames(client, 0.3);
    char reason[256];
    assert_true(plx_reason(client, reason, sizeof reason) == 0 && !strstr(reason, "kept as it was"));
    stop_daemon();
    plx_disconnect(client);
}

/* Pictures cannot be kept: the service says what it misses, and goes on when it is back. */
static void a_replay_that_goes_away_is_waited_for(void **state)
{
    (void)state;
    char key[160], path[160], away[160];
    const char *const args[] = {"--set", "source.type=replay", "--set", key, "--set", "match.disparities=64",
                                "--set", "source.loop=true",   NULL};

    write_replay(12, NULL);
    snprintf(key, sizeof key, "source.path=%s", daemon_.directory);
    snprintf(path, sizeof path, "%s/image_1", daemon_.directory);
    snprintf(away, sizeof away, "%s/elsewhere", daemon_.directory);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    const struct plx_frame before = running_frame(client, START_MS);

    write_text(daemon_.directory, "calib.txt", "P0: 1 0"); /* with the pictures, but known since the start */
    kill(engine_of(&daemon_), SIGKILL);
    assert_true(running_frame(client, START_MS).epoch == before.epoch);

    assert_int_equal(rename(path, away), 0);
    kill(engine_of(&daemon_), SIGKILL);
    wait_until_said("restarting in 0.8 s", START_MS);
    expect_reason(client, "image_1");
    assert_int_equal(plx_state(client), PLX_STATE_RECOVERING);
    assert_int_equal(daemon_wait(&daemon_, 0), -1);
    assert_int_equal(rename(away, path), 0);
    const struct plx_frame after = running_frame(client, START_MS);
    assert_true(after.epoch == before.epoch && after.sequence > before.sequence);
    stop_daemon();
    plx_disconnect(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(an_engine_is_replaced_without_its_calibration_file),
        TEST(an_engine_is_replaced_where_its_calibration_may_not_be_read),
        TEST(a_reload_reads_the_calibration_again_and_keeps_the_old_one_for_a_broken_one),
        TEST(a_replay_that_goes_away_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
