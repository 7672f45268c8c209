/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of a parallaxd without a calibration: replayed, calibrated, and refused by `parallax run`. */
#include "tests/system/raw.h"

#include <math.h>

#include "config/config.h"
#include "drivers/synthetic/scene.h"

/* Kills the engine, and returns the first frame of the next one, which is the RESTARTS-th that was replaced. */
static struct plx_frame frame_of_next_engine(struct plx_client *client, uint32_t restarts)
{
    static struct plx_frame frame;
    const int64_t deadline = patience_end_ns();
    struct plx_view view;

    kill(daemon_child(&daemon_, "parallax-engine"), SIGKILL);
    while (plx_restarts(client) < restarts && plx_now_ns() < deadline)
        usleep(1000);
    const int64_t gone_ns = plx_now_ns();
    while (plx_now_ns() < deadline) {
        if (plx_next(client, 50, &view) < 0)
            continue;
        frame = *view.frame;
        if (plx_release(client, &view) == 0 && frame.published_ns > gone_ns)
            return frame;
    }
    fail_msg("no frame of the next engine came; the service said: %s", daemon_said(&daemon_));
    return frame;
}

static void expect_said(const char *words)
{
    const int64_t deadline = patience_end_ns();
    while (!strstr(daemon_said(&daemon_), words)) {
        if (plx_now_ns() > deadline)
            fail_msg("expected \"%s\"; the service said: %s", words, daemon_said(&daemon_));
        usleep(5000);
    }
}

static bool same_pair(const char *a, int index_a, const char *b, int index_b)
{
    bool same = true;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        char file[64];
        snprintf(file, sizeof file, "%s/image_%d/%06d.png", a, eye, index_a);
        struct plx_image one = read_picture(path_of(file), PLX_U8);
        snprintf(file, sizeof file, "%s/image_%d/%06d.png", b, eye, index_b);
        struct plx_image other = read_picture(path_of(file), PLX_U8);
        same &= memcmp(one.data, other.data, (size_t)WIDTH * HEIGHT) == 0;
        free(one.data);
        free(other.data);
    }
    return same;
}

static void a_recording_replays_bit_by_bit_and_stays_raw(void **state)
{
    (void)state;
    char path[320];
    snprintf(path, sizeof path, "source.path=%s", path_of("first"));
    start_daemon("--set", "source.type=replay", "--set", path, "--set", "source.loop=true");
    struct plx_client *client = connect_client();
    frame_of_kind(client, true);
    plx_disconnect(client);
    expect_said("parallax record --raw"); /* what to do */
    record("second");
    stop_daemon();
    for (int i = 0; i < PAIRS; i++) {
        int match = 0;
        while (match < PAIRS && !same_pair("second", i, "first", match))
            match++;
        if (match == PAIRS)
            fail_msg("pair %d of the second recording is none of the first", i);
    }
}

/* A calibration file of the scene's pinhole cameras, as a file. */
static const char *write_calibration(void)
{
    static char key[320];
    struct plx_stereo_calibration calibration;
    struct plx_scene scene;
    struct plx_error_message message = {""};

    plx_scene_demo(WIDTH, HEIGHT, 1, &scene);
    plx_calibration_pinhole(WIDTH, HEIGHT, &scene.calibration, &calibration);
    snprintf(key, sizeof key, "calibration=%s", path_of("calibration.yaml"));
    if (plx_calibration_save(strchr(key, '=') + 1, &calibration, &message) < 0)
        fail_msg("%s", message.text);
    return key;
}

static void a_recording_with_a_calibration_is_rectified(void **state)
{
    (void)state;
    char path[320];
    snprintf(path, sizeof path, "source.path=%s", path_of("first"));
    start_daemon("--set", "source.type=replay", "--set", path, "--set", "source.loop=true", "--set", write_calibration());
    struct plx_client *client = connect_client();
    const struct plx_frame frame = frame_of_kind(client, false);
    assert_true(fabs(frame.calibration.baseline_m - 0.12) < 1e-9);
    assert_int_equal(frame.disparities, 64);
    plx_disconnect(client);
    expect_refusal("calibration: none", "record", "--raw", path_of("refused"), "--pairs", "1");
    assert_int_not_equal(access(path_of("refused"), F_OK), 0);
    stop_daemon();
}

static void run_does_not_take_raw_pairs_for_rectified_ones(void **state)
{
    (void)state;
    struct command command;
    const char *key = write_calibration();

    expect_refusal("not rectified", "run", path_of("first"), "--max-disparity", "64");
    expect_refusal("calibration is none", "run", path_of("first"), "--max-disparity", "64", "--set", "calibration=none");
    command_succeed(&command, "run", path_of("first"), "--max-disparity", "64", "--calibration", strchr(key, '=') + 1);
    command_free(&command);
}

/* Pictures of which nobody says anything. */
static void a_directory_without_a_calibration_is_raw(void **state)
{
    (void)state;
    char path[320];
    assert_int_equal(unlink(path_of("second/calib.txt")), 0);
    snprintf(path, sizeof path, "source.path=%s", path_of("second"));
    start_daemon("--set", "source.type=replay", "--set", path, "--set", "source.loop=true");
    struct plx_client *client = connect_client();
    frame_of_kind(client, true);
    plx_disconnect(client);
    stop_daemon();
}

/* The supervisor reads the directory once, before the first engine: a file that goes or comes changes nothing until a reload.
 */
static void a_new_engine_is_raw_or_rectified_as_the_one_before(void **state)
{
    (void)state;
    char path[320];
    snprintf(path, sizeof path, "source.path=%s", path_of("second"));
    start_daemon("--set", "source.type=replay", "--set", path, "--set", "source.loop=true");
    struct plx_client *client = connect_client();
    const struct plx_frame before = frame_of_kind(client, true);
    write_text(daemon_.directory, "second/calib.txt",
               "P0: 256 0 159.5 0 0 256 119.5 0 0 0 1 0\nP1: 256 0 159.5 -30.72 0 256 119.5 0 0 0 1 0\n");
    const struct plx_frame after = frame_of_next_engine(client, 1);
    assert_true(after.health & PLX_HEALTH_NOT_CALIBRATED);
    assert_true(after.epoch == before.epoch && after.sequence > before.sequence);

    kill(daemon_.pid, SIGHUP);
    frame_of_kind(client, false);
    assert_int_equal(unlink(path_of("second/calib.txt")), 0);
    assert_false(frame_of_next_engine(client, 2).health & PLX_HEALTH_NOT_CALIBRATED);
    plx_disconnect(client);
    stop_daemon();
}

/* The recording that the tests replay. */
static int record_first(void **state)
{
    (void)state;
    start_daemon(SCENE, "--set", "calibration=none");
    record("first");
    stop_daemon();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_replays_bit_by_bit_and_stays_raw),
        cmocka_unit_test(a_recording_with_a_calibration_is_rectified),
        cmocka_unit_test(run_does_not_take_raw_pairs_for_rectified_ones),
        cmocka_unit_test(a_directory_without_a_calibration_is_raw),
        cmocka_unit_test(a_new_engine_is_raw_or_rectified_as_the_one_before),
    };
    cli_begin();
    const int failed = cmocka_run_group_tests(tests, record_first, NULL);
    cli_end();
    return failed;
}
