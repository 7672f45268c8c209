/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cameras that go away and come back: told at once, found again under any number, streaming again within a second, and no
 * process restarted for it.
 *
 * guest: stereocam width=128 height=96
 */
#include "tests/vm/stereocam.h"

#include "tests/vm/service.h"

#define RATE_HZ 20
#define LOST_NS (2 * PLX_NS_PER_S / RATE_HZ + 50 * PLX_NS_PER_MS)
#define BACK_NS PLX_NS_PER_S
#define PATIENCE_MS 10000

static struct pairs pairs;

static int setup(void **state)
{
    (void)state;
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    options.width = 128;
    options.height = 96;
    pairs_open(&pairs, &options);
    for (int i = 0; i < 3; i++)
        assert_true(pairs_next(&pairs, 3000));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pairs_close(&pairs);
    return 0;
}

/* How long until FLAG is told. */
static int64_t wait_for_flag(uint32_t flag)
{
    const int64_t since = plx_now_ns();
    struct plx_source *source = pairs.source;
    struct plx_capture capture;
    uint32_t seen = 0;

    while (!(seen & flag)) {
        assert_int_equal(source->ops->next(source, plx_now_ns() + PATIENCE_MS * PLX_NS_PER_MS, &capture), 0);
        seen |= capture.health;
        source->ops->release(source, &capture);
    }
    return plx_now_ns() - since;
}

/* How long until there is a pair of pictures that were taken from now on. */
static int64_t wait_for_pair(void)
{
    const int64_t since = plx_now_ns();
    do {
        assert_true(pairs_next(&pairs, PATIENCE_MS));
    } while (pairs.pair[PLX_LEFT].capture_ns < since || pairs.pair[PLX_RIGHT].capture_ns < since);
    return plx_now_ns() - since;
}

static void report(const char *what, int64_t ns, int64_t most_ns)
{
    print_message("%s after %.0f ms, at most %.0f\n", what, (double)ns / PLX_NS_PER_MS, (double)most_ns / PLX_NS_PER_MS);
    assert_true(ns <= most_ns);
}

static void test_unplugged(void **state)
{
    (void)state;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const char *knob = eye == PLX_LEFT ? "left/connected" : "right/connected";
        knob_set(knob, 0);
        report("lost", wait_for_flag(eye == PLX_LEFT ? PLX_HEALTH_CAMERA_LOST_LEFT : PLX_HEALTH_CAMERA_LOST_RIGHT), LOST_NS);
        wait_for_flag(PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT); /* told again and again */
        knob_set(knob, 1);
        report("back", wait_for_pair(), BACK_NS);
    }
}

/* Somebody else has the number that the camera had. */
static void test_new_number(void **state)
{
    (void)state;
    knob_set("left/connected", 0);
    knob_set("right/connected", 0);
    wait_for_flag(PLX_HEALTH_CAMERA_LOST_RIGHT);
    knob_set("right/connected", 1); /* takes the first free number */
    knob_set("left/connected", 1);
    report("back with numbers exchanged", wait_for_pair(), BACK_NS);
}

static void test_both_with_pictures_held(void **state)
{
    (void)state;
    assert_true(pairs_next(&pairs, PATIENCE_MS)); /* held while its camera goes */
    const uint8_t *held = pairs.pair[PLX_LEFT].raw[PLX_LEFT].data;
    uint32_t sum = 0, again = 0;
    for (int i = 0; i < 128 * 96; i++)
        sum += held[i];
    knob_set("left/connected", 0);
    wait_for_flag(PLX_HEALTH_CAMERA_LOST_LEFT);
    knob_set("left/connected", 1);
    struct plx_capture capture = {.health = 0};
    for (int seen = 0; seen < 10;) {
        assert_int_equal(pairs.source->ops->next(pairs.source, plx_now_ns() + PLX_NS_PER_S, &capture), 0);
        seen += capture.raw[PLX_LEFT].data != NULL;
        pairs.source->ops->release(pairs.source, &capture);
    }
    for (int i = 0; i < 128 * 96; i++)
        again += held[i];
    assert_int_equal(again, sum); /* nobody wrote there */
}

static void test_eio(void **state)
{
    (void)state;
    knob_set("right/eio", 1);
    report("lost", wait_for_flag(PLX_HEALTH_CAMERA_LOST_RIGHT), LOST_NS);
    report("back", wait_for_pair(), BACK_NS);
}

static void test_stream_refuses_to_start(void **state)
{
    (void)state;
    knob_set("left/fail_streamon", 3);
    knob_set("left/eio", 1);
    wait_for_flag(PLX_HEALTH_CAMERA_LOST_LEFT);
    report("back after three refusals", wait_for_pair(), BACK_NS);
    assert_int_equal(knob_get("left/fail_streamon"), 0);
}

static void test_silent(void **state)
{
    (void)state;
    knob_set("left/stall", 1);
    const int64_t silent = wait_for_flag(PLX_HEALTH_CAMERA_LOST_LEFT);
    print_message("silence told after %.0f ms\n", (double)silent / PLX_NS_PER_MS);
    assert_true(silent < 2 * PLX_NS_PER_S);
    usleep(1500000); /* restarted, opened anew */
    knob_set("left/stall", 0);
    report("back", wait_for_pair(), BACK_NS);
}

/* --- the whole service --- */

static bool wait_for_state(struct plx_client *client, bool lost)
{
    for (int64_t end = plx_now_ns() + PATIENCE_MS * PLX_NS_PER_MS; plx_now_ns() < end; usleep(5000))
        if (((plx_health(client) & PLX_HEALTH_CAMERA_LOST_LEFT) != 0) == lost)
            return true;
    return false;
}

static bool wait_for_frame(struct plx_client *client, uint64_t *ret_sequence)
{
    for (int64_t end = plx_now_ns() + PATIENCE_MS * PLX_NS_PER_MS; plx_now_ns() < end;) {
        struct plx_view view;
        if (plx_next(client, 1000, &view) < 0)
            continue;
        *ret_sequence = view.sequence;
        plx_release(client, &view);
        return true;
    }
    return false;
}

static void test_service(void **state)
{
    (void)state;
    struct plx_client *client = NULL;
    struct daemon daemon;
    uint64_t before = 0, after = 0;

    daemon_make(&daemon);
    write_calibration(128, 96);
    static const char calibration[] = "calibration=" CALIBRATION_FILE;
    daemon_start(&daemon, (const char *const[]){"--set", "source.kind=v4l2", "--set", "source.left=card=stereocam left",
                                                "--set", "source.right=card=stereocam right", "--set", "source.width=128",
                                                "--set", "source.height=96", "--set", "source.rate_hz=1", "--set", calibration,
                                                "--set", "match.disparities=64", NULL});
    for (int i = 0; i < 100 && plx_connect(daemon.socket, &client) < 0; i++)
        usleep(100000);
    assert_non_null(client);
    assert_true(wait_for_frame(client, &before));
    const pid_t engine = daemon_child(&daemon, "parallax-engine");
    assert_true(engine > 0);

    knob_set("left/connected", 0);
    const int64_t since = plx_now_ns();
    assert_true(wait_for_state(client, true));
    report("published as lost", plx_now_ns() - since, 2 * PLX_NS_PER_S + 50 * PLX_NS_PER_MS);
    sleep(12); /* longer than any budget for starving engines */
    assert_true(wait_for_state(client, true));
    while (wait_for_frame(client, &before) && plx_health(client) & PLX_HEALTH_CAMERA_LOST_LEFT &&
           plx_now_ns() - since < PLX_NS_PER_S)
        continue;
    knob_set("left/connected", 1);
    const int64_t back = plx_now_ns();
    assert_true(wait_for_frame(client, &after));
    report("a frame again", plx_now_ns() - back,
           BACK_NS + 3 * PLX_NS_PER_S); /* a period of this camera, and the guest computes long */
    assert_true(after > before);
    assert_true(wait_for_state(client, false));
    assert_int_equal(daemon_child(&daemon, "parallax-engine"), engine);
    print_message("%s", daemon_said(&daemon));
    plx_disconnect(client);
    kill(daemon.pid, SIGTERM);
    assert_int_equal(daemon_wait(&daemon, 10000), 0);
    daemon_remove(&daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unplugged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_new_number, setup, teardown),
        cmocka_unit_test_setup_teardown(test_both_with_pictures_held, setup, teardown),
        cmocka_unit_test_setup_teardown(test_eio, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stream_refuses_to_start, setup, teardown),
        cmocka_unit_test_setup_teardown(test_silent, setup, teardown),
        cmocka_unit_test(test_service),
    };
    return cmocka_run_group_tests_name("source_return", tests, NULL, NULL);
}
