/* SPDX-License-Identifier: Apache-2.0 */
/* A real parallaxd without a calibration: raw pictures, their health and exposure, and recordings to calibrate with. */
#include "tests/system/cli.h"

#include <math.h>

#include <parallax/client.h>
#include <parallax/error.h>
#include <parallax/region.h>

#include "config/config.h"
#include "drivers/synthetic/scene.h"

#define PAIRS 4
#define WAIT_MS 10000 /* generous: sanitizers */

#define SCENE "--set", "source.width=320", "--set", "source.height=240", "--set", "source.rate_hz=15"

static struct plx_client *connect_client(void)
{
    const int64_t deadline = plx_now_ns() + WAIT_MS * PLX_NS_PER_MS;
    struct plx_client *client;

    while (plx_connect(daemon_.socket, &client) < 0) { /* a socket that is there may not listen yet */
        if (plx_now_ns() > deadline)
            fail_msg("no service; it said: %s", daemon_said(&daemon_));
        usleep(5000);
    }
    return client;
}

/* The header of a frame that is raw or not; fails where none comes in time. */
static struct plx_frame frame_of_kind(struct plx_client *client, bool raw)
{
    static struct plx_frame frame;
    const int64_t deadline = plx_now_ns() + WAIT_MS * PLX_NS_PER_MS;
    struct plx_view view;

    while (plx_now_ns() < deadline) {
        if (plx_next(client, 50, &view) < 0)
            continue;
        frame = *view.frame;
        if (plx_release(client, &view) == 0 && !!(frame.health & PLX_HEALTH_NOT_CALIBRATED) == raw)
            return frame;
    }
    fail_msg("no %s frame came; the service said: %s", raw ? "raw" : "rectified", daemon_said(&daemon_));
    return frame;
}

/* Kills the engine, and returns the first frame of the next one, which is the RESTARTS-th that was replaced. */
static struct plx_frame frame_of_next_engine(struct plx_client *client, uint32_t restarts)
{
    static struct plx_frame frame;
    const int64_t deadline = plx_now_ns() + WAIT_MS * PLX_NS_PER_MS;
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
    const int64_t deadline = plx_now_ns() + WAIT_MS * PLX_NS_PER_MS;
    while (!strstr(daemon_said(&daemon_), words)) {
        if (plx_now_ns() > deadline)
            fail_msg("expected \"%s\"; the service said: %s", words, daemon_said(&daemon_));
        usleep(5000);
    }
}

static void expect_failure(int code, const char *words, const char *const *args)
{
    struct command command;
    command_run(&command, args);
    if (command.code != code || !strstr(command.err, words))
        fail_msg("parallax %s: exit code %d, \"%s\"; expected %d and \"%s\"", args[0], command.code, command.err, code, words);
    command_free(&command);
}
#define expect_refusal(words, ...) expect_failure(PLX_EXIT_CONFIG, words, (const char *const[]){__VA_ARGS__, NULL})

static void record(const char *name)
{
    struct command command;
    command_succeed(&command, "record", "--raw", path_of(name), "--pairs", "4");
    command_free(&command);
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

/* --- the synthetic scene, raw by choice --------------------------------------------------------------------------- */

static int start_raw(void **state)
{
    (void)state;
    start_daemon(SCENE, "--set", "calibration=none"); /* publish.right is false */
    return 0;
}

static uint64_t pixels_of(const struct plx_view *view, int row)
{
    const struct plx_plane *layout = &view->layout[PLX_PLANE_HISTOGRAM];
    const uint32_t *bins = (const uint32_t *)((const uint8_t *)view->plane[PLX_PLANE_HISTOGRAM] + (size_t)row * layout->pitch);
    uint64_t pixels = 0;
    for (uint32_t bin = 0; bin < layout->width; bin++)
        pixels += bins[bin];
    return pixels;
}

static void raw_pictures_are_published_and_nothing_else(void **state)
{
    (void)state;
    static const struct plx_calibration_info none;
    struct plx_client *client = connect_client();
    const struct plx_frame frame = frame_of_kind(client, true);
    char reason[PLX_REASON_BYTES];
    struct plx_view view;
    float point[3];

    assert_int_equal(frame.state, PLX_STATE_DEGRADED);
    assert_int_equal(frame.health & (PLX_HEALTH_MISALIGNED | PLX_HEALTH_GROUND_LOST | PLX_HEALTH_FROZEN | PLX_HEALTH_DARK), 0);
    assert_int_equal(frame.width, WIDTH);
    assert_int_equal(frame.height, HEIGHT);
    assert_int_equal(frame.obstacle_count + frame.ground.valid + frame.disparities, 0);
    assert_memory_equal(&frame.calibration, &none, sizeof none);

    while (plx_next(client, WAIT_MS, &view) < 0)
        ;
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        const bool on = id == PLX_PLANE_LEFT || id == PLX_PLANE_RIGHT || id == PLX_PLANE_HISTOGRAM;
        assert_int_equal(view.layout[id].width > 0, on);
        assert_int_equal(view.plane[id] != NULL, on);
    }
    assert_int_equal(pixels_of(&view, 0), WIDTH * HEIGHT);
    assert_int_equal(pixels_of(&view, 1 + PLX_ZONES * PLX_ZONES), WIDTH * HEIGHT);
    assert_true(isnan(plx_disparity_px(&view, 160, 120)));
    assert_int_equal(plx_point(&view, 160, 120, point), PLX_ERR_NOT_FOUND);
    plx_release(client, &view);

    assert_int_equal(plx_reason(client, reason, sizeof reason), 0);
    assert_non_null(strstr(reason, "name a calibration"));
    assert_true(plx_health(client) & PLX_HEALTH_NOT_CALIBRATED);
    assert_int_equal(plx_state(client), PLX_STATE_DEGRADED);
    plx_disconnect(client);
}

static void exposure_is_steered(void **state)
{
    (void)state;
    struct plx_client *client = connect_client();
    const int64_t deadline = plx_now_ns() + WAIT_MS * PLX_NS_PER_MS;
    struct plx_frame frame;

    do { /* the scene begins at 10 ms and gain 1, which is not the target */
        frame = frame_of_kind(client, true);
        assert_true(plx_now_ns() < deadline);
    } while (frame.capture[PLX_RIGHT].exposure_us == 10000 && frame.capture[PLX_RIGHT].gain == 1);
    assert_true(frame.capture[PLX_LEFT].exposure_us > 0);
    plx_disconnect(client);
}

static void status_says_not_calibrated(void **state)
{
    (void)state;
    static const char *const nothing[] = {"calibration", "min_disparity", "disparities", "ground", "obstacles"};
    struct command command;

    command_succeed(&command, "status");
    assert_non_null(strstr(command.out, "not calibrated, raw pictures only"));
    assert_non_null(strstr(command.out, "320 x 240, raw"));
    assert_non_null(strstr(command.out, "name a calibration by that key"));
    assert_null(strstr(command.out, "obstacles     0"));
    assert_null(strstr(command.out, "nan"));
    command_free(&command);

    command_succeed(&command, "status", "--json");
    cJSON *status = cJSON_Parse(command.out);
    assert_non_null(status);
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        if (!cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(status, nothing[i])))
            fail_msg("%s is not null", nothing[i]);
    assert_int_equal(number(status, "width"), WIDTH);
    cJSON_Delete(status);
    assert_non_null(strstr(command.out, "\"not_calibrated\""));
    command_free(&command);
}

static void watch_and_metrics_claim_no_obstacles(void **state)
{
    (void)state;
    struct command command;

    command_succeed(&command, "watch", "--seconds", "2.2");
    assert_non_null(strstr(command.out, "obstacles not searched"));
    assert_null(strstr(command.out, "0 obstacles"));
    command_free(&command);
    command_succeed(&command, "metrics");
    assert_non_null(strstr(command.out, "parallax_fault{fault=\"not_calibrated\"} 1"));
    assert_null(strstr(command.out, "parallax_obstacles"));
    command_free(&command);
}

static void snapshot_writes_both_pictures(void **state)
{
    (void)state;
    static const char *const others[] = {"disparity.png", "disparity16.png", "disparity.pfm", "points.ply", "obstacles.png"};
    struct command command;
    char file[64];

    command_succeed(&command, "snapshot", "--output", path_of("snap"));
    assert_non_null(strstr(command.out, "not calibrated"));
    command_free(&command);
    free(read_picture(path_of("snap/left.png"), PLX_U8).data);
    free(read_picture(path_of("snap/right.png"), PLX_U8).data);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(file, sizeof file, "snap/%s", others[i]);
        assert_int_not_equal(access(path_of(file), F_OK), 0);
    }
}

static void python_shows_both_pictures(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    skip(); /* Python would have to be built with it */
#endif
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0)
        skip();
    assert_int_equal(system("PARALLAX_LIBRARY=" PLX_BINARY_DIR "/lib/libparallax.so PYTHONPATH=" PLX_SOURCE_DIR
                            "/client/python /usr/bin/python3 " PLX_SOURCE_DIR "/tests/system/raw_python.py"),
                     0);
}

static void record_needs_raw_to_be_asked_for(void **state)
{
    (void)state;
    expect_refusal("--raw", "record", path_of("refused"), "--pairs", "1");
    assert_int_not_equal(access(path_of("refused"), F_OK), 0);
    record("first");
}

/* --- recordings --------------------------------------------------------------------------------------------------- */

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

/* What a directory holds is found out once, before the first engine: a file that goes or comes changes nothing until a reload.
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

/* --- from raw to rectified and back ------------------------------------------------------------------------------- */

static void reload(const char *text)
{
    write_text(daemon_.directory, "new.yaml", text);
    assert_int_equal(rename(path_of("new.yaml"), path_of("parallax.yaml")), 0);
    kill(daemon_.pid, SIGHUP);
}

#define SCENE_OF(height) "source:\n  width: 320\n  height: " #height "\n  rate_hz: 15\n"
#define RAW SCENE_OF(240) "calibration: none\n"
#define RECTIFIED SCENE_OF(240) "match:\n  disparities: 64\n"
/* Left picture and disparity take as much memory as two pictures half as high again. */
#define RECTIFIED_IN_AS_MUCH                                                                                                   \
    SCENE_OF(160) "match:\n  disparities: 64\nrefine:\n  enabled: false\nobstacles:\n  enabled: false\n"

static void reloads_switch_both_ways(void **state)
{
    (void)state;
    write_text(daemon_.directory, "parallax.yaml", RAW);
    daemon_start(&daemon_, (const char *const[]){"--config", path_of("parallax.yaml"), NULL});
    wait_for_socket();
    struct plx_client *client = connect_client();
    struct plx_frame frame = frame_of_kind(client, true);
    const uint32_t raw_bytes = frame.bytes;
    const uint64_t raw_epoch = frame.epoch;

    reload(RECTIFIED_IN_AS_MUCH); /* in the same memory, laid out anew */
    frame = frame_of_kind(client, false);
    assert_int_equal(frame.bytes, raw_bytes);
    assert_true(frame.epoch == raw_epoch);
    assert_int_equal(frame.height, 160);
    assert_int_equal(frame.plane[PLX_PLANE_DISPARITY].width, WIDTH);
    assert_int_equal(frame.plane[PLX_PLANE_RIGHT].width, 0);

    reload(RAW);
    frame = frame_of_kind(client, true);
    assert_int_equal(frame.bytes, raw_bytes);
    assert_int_equal(frame.plane[PLX_PLANE_DISPARITY].width, 0);
    assert_int_equal(frame.plane[PLX_PLANE_RIGHT].height, HEIGHT);

    reload(RECTIFIED); /* larger frames */
    frame = frame_of_kind(client, false);
    assert_true(frame.bytes > raw_bytes && frame.epoch > raw_epoch);
    assert_false(plx_health(client) & PLX_HEALTH_NOT_CALIBRATED);
    reload(RAW);
    frame = frame_of_kind(client, true);
    assert_int_equal(frame.bytes, raw_bytes);
    plx_disconnect(client);
    stop_daemon();
}

int main(void)
{
    const struct CMUnitTest raw[] = {
        cmocka_unit_test(raw_pictures_are_published_and_nothing_else),
        cmocka_unit_test(exposure_is_steered),
        cmocka_unit_test(status_says_not_calibrated),
        cmocka_unit_test(watch_and_metrics_claim_no_obstacles),
        cmocka_unit_test(snapshot_writes_both_pictures),
        cmocka_unit_test(python_shows_both_pictures),
        cmocka_unit_test(record_needs_raw_to_be_asked_for),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(a_recording_replays_bit_by_bit_and_stays_raw),
        cmocka_unit_test(a_recording_with_a_calibration_is_rectified),
        cmocka_unit_test(run_does_not_take_raw_pairs_for_rectified_ones),
        cmocka_unit_test(a_directory_without_a_calibration_is_raw),
        cmocka_unit_test(a_new_engine_is_raw_or_rectified_as_the_one_before),
        cmocka_unit_test(reloads_switch_both_ways),
    };
    cli_begin();
    int failed = cmocka_run_group_tests(raw, start_raw, stop_scene);
    failed += cmocka_run_group_tests(others, NULL, NULL);
    cli_end();
    return failed;
}
