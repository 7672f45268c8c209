/* SPDX-License-Identifier: Apache-2.0 */
/* An engine that hangs in each of its steps, and one that is too slow for its camera. */
#include "tests/sanitizer.h"
#include "tests/system/fault.h"

#include "config/config.h"

#define PERIOD_MS 50

/* The processing time of FRAME. A busy machine makes it longer, and budgets depend on it. */
static int busy_ms(const struct plx_frame *frame)
{
    uint32_t us = 0;
    for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
        us += frame->stage_us[stage];
    return (int)(us / 1000);
}

/* A right eye that has to be rectified; the left one is as it is, for whole_frame. */
static void write_calibration(char *ret_key, size_t size)
{
    struct plx_stereo_calibration calibration;
    struct plx_scene scene;
    struct plx_error_message message;

    plx_scene_demo(WIDTH, HEIGHT, 1, &scene);
    plx_calibration_pinhole(WIDTH, HEIGHT, &scene.calibration, &calibration);
    calibration.camera[PLX_RIGHT].model = PLX_DISTORTION_PLUMB_BOB;
    calibration.camera[PLX_RIGHT].k[0] = -0.001;
    snprintf(ret_key, size, "calibration=%s/calibration.yaml", daemon_.directory);
    if (plx_calibration_save(strchr(ret_key, '=') + 1, &calibration, &message) < 0)
        fail_msg("%s", message.text);
}

/* The service hangs in its NAME for the N_TH time: it must say that WORDS are late, and be well again. */
static void hang(const char *name, int n_th, const char *words)
{
    char fault[64], sentence[96], calibration[128];
    const char *const args[] = {SMALL, "--set", "prefilter.width=3", "--set", calibration, NULL};

    snprintf(fault, sizeof fault, "hang %s %d", name, n_th);
    snprintf(sentence, sizeof sentence, "%s has taken ", words);
    make(NULL);
    write_calibration(calibration, sizeof calibration);
    daemon_.fault = fault;
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    struct plx_frame before = running_frame(client, START_MS), after;
    struct plx_view view;
    wait_until_said("fault: hang", START_MS);
    const int64_t begin_ms = now_ms();
    while (plx_next(client, 0, &view) == 0) { /* the frames before it */
        before = *view.frame;
        plx_release(client, &view);
    }

    /* Three periods, and what the health table gives the source, which comes round every 100 ms. */
    const int busy = busy_ms(&before) > PERIOD_MS ? busy_ms(&before) : PERIOD_MS;
    const int allowed_ms = 3 * busy + (strcmp(words, "the source") == 0 ? 150 : 0) + SLACK_MS;
    while (!(plx_health(client) & PLX_HEALTH_LATE)) {
        if (is_late(begin_ms, allowed_ms))
            fail_msg("%s: no word of it after %d ms", name, allowed_ms);
        usleep(1000);
    }
    assert_int_equal(plx_state(client), PLX_STATE_DEGRADED);
    expect_reason(client, words);
    wait_until_said(sentence, START_MS);
    do { /* the next engine is there within three seconds of the last frame */
        after = whole_frame(client, START_MS);
    } while (after.sequence <= before.sequence);
    assert_false(is_late(begin_ms, 3000 * busy / PERIOD_MS));
    assert_true(after.epoch == before.epoch);
    stop_daemon();
    plx_disconnect(client);
    clean(NULL);
}

static void each_step_that_hangs_is_named_and_its_engine_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        int calls; /* in each frame, before and with the one that hangs: the 7th frame's */
        const char *words;
    } step[] = {
        {"plx_pairing_push", 13, "the source"},
        {"plx_cpu_convert", 13, "stage convert"},
        {"plx_cpu_histogram", 13, "stage histogram"},
        {"plx_cpu_rectify", 7, "stage rectify"},
        {"plx_cpu_match_template", 13, "stage rectify"},
        {"plx_cpu_filter", 13, "stage prefilter"},
        {"plx_cpu_census", 13, "stage census"},
        {"plx_cpu_sgm", 7, "stage sgm"},
        {"plx_cpu_check", 13, "stage check"},
        {"plx_cpu_fill", 7, "stage refine"},
        {"plx_cpu_ground", 7, "stage ground"},
        {"plx_cpu_stixels", 7, "stage stixels"},
        {"plx_cpu_segments", 7, "stage obstacles"},
        {"plx_motion_update", 7, "stage motion"},
        {"plx_tracks_update", 7, "stage tracks"},
        {"plx_ring_commit", 7, "publishing"},
    };
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++)
        hang(step[i].function, step[i].calls, step[i].words);
}

/* Three periods a frame: pairs are skipped whole, what is published is young, and the flags say so. */
static void a_pipeline_three_times_too_slow_keeps_the_newest(void **state)
{
    (void)state;
    daemon_.fault = "slow plx_cpu_sgm 150"; /* three times the period of 50 ms */
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    struct plx_frame before = whole_frame(client, START_MS);
    const long memory = private_kib(engine_of(&daemon_));

    int waited = 0;
    uint64_t lost = 0; /* pairs, by the engine or by the source before it */
    for (int i = 0; i < 12; i++) {
        const struct plx_frame frame = whole_frame(client, START_MS);
        assert_true(frame.sequence > before.sequence);
        if (i >= 2) { /* once it is under way */
            lost +=
                frame.pairs_skipped - before.pairs_skipped + frame.capture[PLX_LEFT].dropped - before.capture[PLX_LEFT].dropped;
            assert_int_equal(frame.health & (PLX_HEALTH_OVERLOAD | PLX_HEALTH_LATE), PLX_HEALTH_OVERLOAD | PLX_HEALTH_LATE);
        }
        /* Taken while the one before was being worked on, at the earliest: nothing has waited in line. */
        waited += frame.capture[PLX_LEFT].capture_ns < before.published_ns - (busy_ms(&before) + 2 * PERIOD_MS) * PLX_NS_PER_MS;
        before = frame;
    }
    assert_in_range(waited, 0, 3);   /* a busy machine delays a capture now and then; a queue would delay all */
    assert_true(lost >= 2 * 10 - 1); /* two of three are lost, but for where the counting begins */
    if (!SANITIZED)                  /* sanitizers keep books */
        assert_true(private_kib(engine_of(&daemon_)) < memory + 512); /* no queue grows */
    stop_daemon();
    plx_disconnect(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_that_hangs_is_named_and_its_engine_replaced),
        cmocka_unit_test_setup_teardown(a_pipeline_three_times_too_slow_keeps_the_newest, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
