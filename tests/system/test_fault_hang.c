/* SPDX-License-Identifier: Apache-2.0 */
/* An engine that hangs in each of its steps, and one that is too slow for its camera. */
#include "tests/system/fault.h"

#define PERIOD_MS 50

/* The service hangs in its NAME for the N_TH time: it must say that WORDS are late, and be well again. */
static void hang(const char *name, int n_th, const char *words)
{
    static const char *const args[] = {SMALL, "--set", "prefilter.x=3", NULL};
    char fault[64], sentence[96];

    snprintf(fault, sizeof fault, "hang %s %d", name, n_th);
    snprintf(sentence, sizeof sentence, "%s has taken ", words);
    make(NULL);
    daemon_.fault = fault;
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    struct plx_frame before = running_frame(client, START_MS), after;
    struct plx_view view;
    int64_t last_ms = now_ms();
    do { /* frames, until they stop */
        if (plx_next(client, PERIOD_MS, &view) < 0)
            continue;
        before = *view.frame;
        last_ms = now_ms();
        plx_release(client, &view);
    } while (!(plx_health(client) & PLX_HEALTH_LATE) && now_ms() - last_ms < START_MS);

    /* Three periods, and what the health table gives the source, which comes round every 100 ms. */
    const int allowed_ms = 3 * PERIOD_MS + (strcmp(words, "the source") == 0 ? 150 : 0) + SLACK_MS;
    if (!(plx_health(client) & PLX_HEALTH_LATE) || now_ms() - last_ms > allowed_ms)
        fail_msg("%s: no word of it after %d ms, %d allowed", name, (int)(now_ms() - last_ms), allowed_ms);
    assert_true(plx_state(client) == PLX_STATE_DEGRADED);
    wait_until_said(sentence, RECOVER_MS);
    do { /* the next engine is there within three seconds of the last frame */
        after = whole_frame(client, 3000);
    } while (after.sequence <= before.sequence);
    assert_true(now_ms() - last_ms < 3000);
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
        int calls; /* in each frame, before and with the one that hangs: the 21st frame's */
        const char *words;
    } step[] = {
        {"plx_pairing_push", 41, "the source"},
        {"plx_cpu_convert", 41, "stage convert"},
        {"plx_cpu_histogram", 41, "stage histogram"},
        {"plx_cpu_match_template", 41, "stage rectify"},
        {"plx_cpu_filter", 41, "stage prefilter"},
        {"plx_cpu_census", 41, "stage census"},
        {"plx_cpu_sgm", 21, "stage sgm"},
        {"plx_cpu_check", 41, "stage check"},
        {"plx_cpu_fill", 21, "stage refine"},
        {"plx_cpu_ground", 21, "stage ground"},
        {"plx_cpu_mask", 21, "stage obstacles"},
        {"plx_tracks_update", 21, "stage tracks"},
        {"plx_ring_commit", 21, "publishing"},
    };
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++)
        hang(step[i].function, step[i].calls, step[i].words);
}

/* Three periods a frame: pairs are skipped whole, what is published is young, and the flags say so. */
static void a_pipeline_three_times_too_slow_keeps_the_newest(void **state)
{
    (void)state;
    daemon_.fault = "slow plx_cpu_sgm 150"; /* of 50 ms a period */
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    struct plx_frame before = whole_frame(client, START_MS);
    const long memory = private_kib(engine_of(&daemon_));

    for (int i = 0; i < 12; i++) {
        const struct plx_frame frame = whole_frame(client, START_MS);
        const int64_t age_ms = (frame.published_ns - frame.capture[PLX_LEFT].capture_ns) / PLX_NS_PER_MS;
        assert_true(frame.sequence > before.sequence);
        if (i >= 2) { /* once it is under way */
            assert_true(frame.pairs_skipped >= before.pairs_skipped + 2 * (frame.sequence - before.sequence));
            assert_int_equal(frame.health & (PLX_HEALTH_OVERLOAD | PLX_HEALTH_LATE), PLX_HEALTH_OVERLOAD | PLX_HEALTH_LATE);
        }
        if (age_ms > 150 + 2 * PERIOD_MS + SLACK_MS)
            fail_msg("a pair is %d ms old when it is published: it has waited", (int)age_ms);
        before = frame;
    }
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
