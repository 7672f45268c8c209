/* SPDX-License-Identifier: Apache-2.0 */
/* A real parallaxd without a calibration: raw pictures, their health and exposure, and reloads to a calibration and back. */
#include "tests/system/raw.h"

#include <math.h>

#include <parallax/shm.h>

#include "config/config.h"

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
    const struct plx_obstacle *obstacle;
    float point[3];

    assert_int_equal(frame.state, PLX_STATE_DEGRADED);
    assert_int_equal(frame.health & (PLX_HEALTH_MISALIGNED | PLX_HEALTH_GROUND_LOST | PLX_HEALTH_FROZEN | PLX_HEALTH_DARK), 0);
    assert_int_equal(frame.width, WIDTH);
    assert_int_equal(frame.height, HEIGHT);
    assert_int_equal(frame.obstacle_count + frame.ground.valid + frame.disparities, 0);
    assert_memory_equal(&frame.calibration, &none, sizeof none);

    while (plx_next(client, patience_ms(), &view) < 0)
        ;
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        const bool on = id == PLX_PLANE_LEFT || id == PLX_PLANE_RIGHT || id == PLX_PLANE_HISTOGRAM;
        assert_int_equal(view.layout[id].width > 0, on);
        assert_int_equal(view.plane[id] != NULL, on);
    }
    assert_int_equal(plx_obstacles(&view, &obstacle), PLX_ERR_BLIND);
    assert_int_equal(pixels_of(&view, 0), WIDTH * HEIGHT);
    assert_int_equal(pixels_of(&view, PLX_HISTOGRAM_EYE_ROWS), WIDTH * HEIGHT);
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
    const int64_t deadline = patience_end_ns();
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
    assert_non_null(strstr(command.out, "obstacles     unknown: not calibrated"));
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
    assert_non_null(strstr(command.out, "obstacles unknown: not calibrated"));
    assert_null(strstr(command.out, "0 obstacles"));
    command_free(&command);
    command_succeed(&command, "metrics");
    assert_non_null(strstr(command.out, "parallax_fault{fault=\"not_calibrated\"} 1"));
    assert_null(strstr(command.out, "parallax_obstacles"));
    assert_non_null(strstr(command.out, "\nparallax_blind 1\n"));
    command_free(&command);
}

static void snapshot_writes_both_pictures(void **state)
{
    (void)state;
    static const char *const others[] = {"disparity.png", "disparity16.png", "disparity.pfm",
                                         "points.ply",    "obstacles.png",   "columns.png"};
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
    SCENE_OF(160)                                                                                                              \
    "match:\n  disparities: 64\nrefine:\n  enabled: false\nstixels:\n  enabled: false\nobstacles:\n  enabled: false\n"

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

    reload(RECTIFIED_IN_AS_MUCH); /* in the same memory, laid out again */
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
        cmocka_unit_test(reloads_switch_both_ways),
    };
    cli_begin();
    int failed = cmocka_run_group_tests(raw, start_raw, stop_scene);
    failed += cmocka_run_group_tests(others, NULL, NULL);
    cli_end();
    return failed;
}
