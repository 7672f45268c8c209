/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cameras that go away and come back, or come late: told at once, found under any number, streaming within a second.
 *
 * guest: stereocam width=128 height=96
 */
#include "tests/vm/stereocam.h"

#include <errno.h>
#include <stdlib.h>

#include "drivers/v4l2/node.h"

#define RATE_HZ 20
#define LOST_NS (2 * PLX_NS_PER_S / RATE_HZ + 50 * PLX_NS_PER_MS)
#define BACK_NS PLX_NS_PER_S
#define MAX_PAUSE_NS (1600 * PLX_NS_PER_MS) /* between two looks for a camera that refuses */
#define ROUNDS 6

static struct pairs pairs;

static int setup(void **state)
{
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    options.width = 128;
    options.height = 96;
    return pairs_setup(state, &pairs, &options, 3);
}

static bool in_time(const char *what, int64_t ns, int64_t max_ns)
{
    print_message("%s after %.0f ms, at most %.0f\n", what, (double)ns / PLX_NS_PER_MS, (double)max_ns / PLX_NS_PER_MS);
    return ns <= max_ns;
}

static void report(const char *what, int64_t ns, int64_t max_ns)
{
    assert_true(in_time(what, ns, max_ns));
}

static void test_unplugged(void **state)
{
    (void)state;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const char *setting = eye == PLX_LEFT ? "left/connected" : "right/connected";
        stereocam_set(setting, 0);
        report("lost",
               pairs_wait_for_flag(&pairs, eye == PLX_LEFT ? PLX_HEALTH_CAMERA_LOST_LEFT : PLX_HEALTH_CAMERA_LOST_RIGHT),
               LOST_NS);
        pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT); /* told again and again */
        stereocam_set(setting, 1);
        report("back", pairs_wait_for_new(&pairs), BACK_NS);
    }
}

/* The faster the camera, the sooner it is missed. A busy host makes single rounds slow, not all of them. */
static void test_unplugged_at_high_rates(void **state)
{
    (void)state;
    static const int rates[] = {60, 100};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct plx_v4l2_options options = stereocam_options(rates[i]);
        const int64_t lost_ns = 2 * PLX_NS_PER_S / rates[i] + 50 * PLX_NS_PER_MS;
        bool lost_in_time = false, back_in_time = false;

        options.width = 128;
        options.height = 96;
        pairs_open(&pairs, &options);
        pairs_wait_for_new(&pairs);
        for (int round = 0; round < ROUNDS && !(lost_in_time && back_in_time); round++) {
            stereocam_set("left/connected", 0);
            lost_in_time |= in_time("lost", pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT), lost_ns);
            stereocam_set("left/connected", 1);
            back_in_time |= in_time("back", pairs_wait_for_new(&pairs), BACK_NS);
        }
        assert_true(lost_in_time && back_in_time);
        pairs_close(&pairs);
    }
}

/* Somebody else has the number that the camera had. */
static void test_new_number(void **state)
{
    (void)state;
    stereocam_set("left/connected", 0);
    stereocam_set("right/connected", 0);
    pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_RIGHT);
    stereocam_set("right/connected", 1); /* takes the first free number */
    stereocam_set("left/connected", 1);
    report("back with numbers exchanged", pairs_wait_for_new(&pairs), BACK_NS);
}

/* As udev does when a camera appears. */
static void name_camera(const char *rule_text, const char *name)
{
    struct plx_v4l2_rule rule;
    struct plx_v4l2_node node;
    assert_int_equal(plx_v4l2_rule_parse(rule_text, &rule, NULL), 0);
    assert_int_equal(plx_v4l2_find(&rule, &node, NULL), 0);
    assert_int_equal(system("mkdir -p /dev/v4l/by-path"), 0);
    assert_int_equal(symlink(node.path, name), 0);
    plx_v4l2_close(&node);
}

/* By a name that udev gives: it goes with the camera, and names another number when it comes again. */
static void test_by_path(void **state)
{
    (void)state;
    static const char name[] = "/dev/v4l/by-path/left";
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);

    SET_TEXT(options.cameras.camera[PLX_LEFT], name);
    options.width = 128;
    options.height = 96;
    name_camera("card=stereocam left", name);
    pairs_open(&pairs, &options);
    pairs_wait_for_new(&pairs);
    stereocam_set("left/connected", 0);
    stereocam_set("right/connected", 0);
    assert_int_equal(unlink(name), 0);
    pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT);
    stereocam_set("right/connected", 1);
    stereocam_set("left/connected", 1);
    assert_false(pairs_next(&pairs, 300));
    assert_non_null(strstr(pairs.source->message.text, name));
    name_camera("card=stereocam left", name);
    report("back by its name", pairs_wait_for_new(&pairs), BACK_NS);
    pairs_close(&pairs);
    assert_int_equal(unlink(name), 0);
}

/* Left and right were plugged in the wrong way round: what was learned of one camera is not true of the other. */
static void test_another_camera(void **state)
{
    (void)state;
    static const char *const names[PLX_EYES] = {"/dev/v4l/by-path/left", "/dev/v4l/by-path/right"};
    static const char *const cards[PLX_EYES] = {"card=stereocam left", "card=stereocam right"};
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    struct plx_capture capture;
    char before[200], after[200];

    SET_TEXT(options.cameras.camera[PLX_LEFT], names[PLX_LEFT]);
    SET_TEXT(options.cameras.camera[PLX_RIGHT], names[PLX_RIGHT]);
    options.width = 128;
    options.height = 96;
    for (int eye = 0; eye < PLX_EYES; eye++)
        name_camera(cards[eye], names[eye]);
    pairs_open(&pairs, &options);
    pairs_wait_for_new(&pairs);
    pairs.source->ops->identify(pairs.source, before, sizeof before);
    assert_string_equal(before, "stereocam left platform:stereocam.0:left, stereocam right platform:stereocam.0:right");
    const int64_t gone_ns = plx_now_ns();
    stereocam_set("left/connected", 0);
    stereocam_set("right/connected", 0);
    pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT);
    for (int eye = 0; eye < PLX_EYES; eye++)
        assert_int_equal(unlink(names[eye]), 0);
    stereocam_set("left/connected", 1);
    stereocam_set("right/connected", 1);
    for (int eye = 0; eye < PLX_EYES; eye++)
        name_camera(cards[eye], names[1 - eye]);
    int result;
    do {
        result = pairs.source->ops->next(pairs.source, plx_now_ns() + PLX_NS_PER_S, &capture);
        if (result == 0) {
            assert_true(capture.capture_ns < gone_ns); /* none of the other camera */
            pairs.source->ops->release(pairs.source, &capture);
        }
    } while (result == 0 || result == PLX_ERR_TIMEOUT);
    assert_int_equal(result, PLX_ERR_LOST);
    assert_non_null(strstr(pairs.source->message.text, "another camera than before: stereocam"));
    pairs.source->ops->identify(pairs.source, after, sizeof after);
    assert_string_equal(after, before);
    pairs_close(&pairs);
    for (int eye = 0; eye < PLX_EYES; eye++)
        assert_int_equal(unlink(names[eye]), 0);
}

static void test_both_with_pictures_held(void **state)
{
    (void)state;
    pairs_take(&pairs, 1); /* held while its camera goes */
    const uint8_t *held = pairs.pair[PLX_LEFT].raw[PLX_LEFT].data;
    uint32_t sum = 0, again = 0;
    for (int i = 0; i < 128 * 96; i++)
        sum += held[i];
    stereocam_set("left/connected", 0);
    pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT);
    stereocam_set("left/connected", 1);
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
    stereocam_set("right/eio", 1);
    report("lost", pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_RIGHT), LOST_NS);
    report("back", pairs_wait_for_new(&pairs), BACK_NS);
}

static void test_stream_refuses_to_start(void **state)
{
    (void)state;
    stereocam_set("left/fail_streamon", 2);
    stereocam_set("left/eio", 1);
    pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT);
    report("back after two refusals", pairs_wait_for_new(&pairs), BACK_NS);
    assert_int_equal(stereocam_get("left/fail_streamon"), 0);
}

/* Opened again, it refuses its format: told in words, asked again for ever, and the engine goes on. */
static void test_format_refused(void **state)
{
    (void)state;
    static const int numbers[] = {EINVAL, EACCES, ENODEV, ENOMEM, EIO};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char sentence[96];
        snprintf(sentence, sizeof sentence, "the format cannot be set: %s", strerror(numbers[i]));
        stereocam_set("left/refuse_format", numbers[i]);
        stereocam_set("left/eio", 1);
        do {
            pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT);
        } while (!strstr(pairs.source->message.text, sentence));
        assert_false(pairs_next(&pairs, 1000));
        stereocam_set("left/refuse_format", 0);
        report("back", pairs_wait_for_new(&pairs), MAX_PAUSE_NS + BACK_NS);
    }
}

/* A refusal at the first start is retried too. A source that waits is created although the camera refuses. */
static void test_refused_at_the_start(void **state)
{
    (void)state;
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    struct plx_error_message message;

    options.width = 128;
    options.height = 96;
    stereocam_set("right/refuse_format", EACCES);
    pairs_open(&pairs, &options);
    pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_RIGHT);
    stereocam_set("right/refuse_format", 0);
    report("back", pairs_wait_for_new(&pairs), MAX_PAUSE_NS + BACK_NS);
    pairs_close(&pairs);
    options.width = 130;
    pairs_refused(&options, PLX_ERR_UNSUPPORTED, &message);
    options.retries_refusals = true;
    pairs_refused_at_start(&options, "gives 128x96 pixels instead of 130x96");
}

static void test_silent(void **state)
{
    (void)state;
    stereocam_set("left/stall", 1);
    const int64_t silent = pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT);
    print_message("silence told after %.0f ms\n", (double)silent / PLX_NS_PER_MS);
    assert_true(silent < 2 * PLX_NS_PER_S);
    usleep(1500000); /* restarted, opened again */
    stereocam_set("left/stall", 0);
    report("back", pairs_wait_for_new(&pairs), BACK_NS);
}

/* Not there when the source is made: told with the reason, found when they come, and only then is their rate known. */
static void test_missing_at_the_start(void **state)
{
    (void)state;
    for (int missing = 1; missing < 1 << PLX_EYES; missing++) { /* left, right, both */
        struct plx_v4l2_options options = stereocam_options(0);
        options.width = 128;
        options.height = 96;
        stereocam_set("left/connected", !(missing & 1));
        stereocam_set("right/connected", !(missing & 2));
        pairs_open(&pairs, &options);
        if (missing == 3)
            assert_true(pairs.source->rate_hz == 0.0);
        report("told as missing",
               pairs_wait_for_flag(&pairs, missing & 1 ? PLX_HEALTH_CAMERA_LOST_LEFT : PLX_HEALTH_CAMERA_LOST_RIGHT),
               PLX_NS_PER_S / 2);
        assert_non_null(strstr(pairs.source->message.text, "matches the configured camera"));
        assert_false(pairs_next(&pairs, 300));
        stereocam_set("left/connected", 1);
        stereocam_set("right/connected", 1);
        report("there", pairs_wait_for_new(&pairs), BACK_NS);
        assert_true(pairs.source->rate_hz >= 1.0);
        pairs_close(&pairs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unplugged, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_new_number, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_both_with_pictures_held, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_eio, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_stream_refuses_to_start, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_format_refused, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_silent, setup, pairs_teardown),
        cmocka_unit_test(test_unplugged_at_high_rates),
        cmocka_unit_test(test_another_camera),
        cmocka_unit_test(test_by_path),
        cmocka_unit_test(test_missing_at_the_start),
        cmocka_unit_test(test_refused_at_the_start),
    };
    return cmocka_run_group_tests_name("source_return", tests, NULL, NULL);
}
