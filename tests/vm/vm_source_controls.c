/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exposure and gain through the v4l2 source: set for both eyes in the same frame gap, what is said to be in force is in force,
 * with the 64-bit controls of Jetson's cameras and with those of USB cameras; controls of the configuration, and their way
 * back.
 *
 * guest: stereocam width=320 height=180
 */
#include "tests/vm/controls.h"
#include "tests/vm/pairs.h"

#define FAST_HZ 10
#define MAINS "0x00980918"         /* power_line_frequency: 1 is 50 Hz, 2 is 60 */
#define EXPOSURE_AUTO "0x009a0901" /* its name differs between kernels */

static struct plx_v4l2_options stereocam(const char *controls)
{
    struct plx_v4l2_options options = {
        .cameras.camera = {"card=stereocam left", "card=stereocam right"},
        .cameras.format = "GREY",
        .width = 320,
        .height = 180,
        .rate_hz = FAST_HZ,
        .cameras.control = PAIRS_NO_CONTROLS,
    };
    SET_TEXT(options.cameras.control.controls, controls);
    return options;
}

/* Changes exposure and gain again and again, and compares what the source says with the driver's own records. */
static void steer(struct pairs *pairs)
{
    static const struct {
        uint32_t exposure_us;
        float gain;
    } settings[] = {{5000, 2.0f}, {20000, 1.0f}, {1000, 16.0f}, {10000, 4.5f}};
    static const char *const name[PLX_EYES] = {"left", "right"};
    int known = 0, together = 0, changes = 0;
    uint32_t last_us = 0;

    for (int i = 0; i < 48; i++) {
        if (i % 12 == 2)
            assert_int_equal(pairs->source->ops->control(pairs->source, settings[i / 12].exposure_us, settings[i / 12].gain),
                             0);
        pairs_take(pairs, 1);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            const struct plx_capture *capture = &pairs->pair[eye];
            struct camera_record record = {0};
            assert_true(camera_record(name[eye], capture->sequence, &record));
            if (capture->exposure_us == 0)
                continue;
            known++;
            assert_int_equal(capture->exposure_us, record.exposure_us);
            assert_int_equal((int)(capture->gain * 16.0f + 0.5f), record.gain_16);
        }
        const struct plx_capture *left = &pairs->pair[PLX_LEFT], *right = &pairs->pair[PLX_RIGHT];
        if (left->exposure_us != last_us) {
            changes++;
            together += left->exposure_us == right->exposure_us && left->gain == right->gain;
        }
        last_us = left->exposure_us;
    }
    print_message("in force known in %d of 96 pictures; %d of %d changes in the same frame\n", known, together, changes);
    assert_true(known >= 70);
    assert_int_equal(changes, 4);
    assert_int_equal(together, 4);
}

static void test_jetson_controls(void **state)
{
    (void)state;
    struct plx_v4l2_options options = stereocam("override_enable=1, bypass_mode=0");
    struct plx_control_range range;
    struct pairs pairs;

    pairs_open(&pairs, &options);
    assert_int_equal(read_control("card=stereocam left", "frame_rate"), FAST_HZ * 1000000);
    pairs.source->ops->range(pairs.source, &range);
    assert_int_equal(range.exposure_min_us, 20);
    assert_int_equal(range.exposure_max_us, 33000);
    assert_int_equal((int)range.gain_max, 16);
    steer(&pairs);
    pairs_close(&pairs);
    assert_int_equal(read_control("card=stereocam left", "override_enable"), 1); /* left as it was set */
}

static void test_restored(void **state)
{
    (void)state;
    struct plx_v4l2_options options = stereocam("override_enable=0");
    struct pairs pairs;

    options.cameras.control.restore = true;
    options.rate_hz = 20;
    const int64_t before = read_control("card=stereocam right", "exposure");
    pairs_open(&pairs, &options);
    pairs_take(&pairs, 1);
    assert_int_equal(pairs.source->ops->control(pairs.source, 777, 3.0f), 0);
    pairs_take(&pairs, 5);
    assert_int_equal(read_control("card=stereocam right", "exposure"), 777);
    assert_int_equal(read_control("card=stereocam left", "gain"), 48);
    assert_int_equal(read_control("card=stereocam left", "0x009a200b"), 20000000);
    pairs_close(&pairs);
    assert_int_equal(read_control("card=stereocam right", "exposure"), before);
    assert_int_equal(read_control("card=stereocam left", "frame_rate"), 10000000);
    assert_int_equal(read_control("card=stereocam left", "override_enable"), 1);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *controls;
        int error;
    } cases[] = {{"sensor_moed=1", PLX_ERR_UNSUPPORTED}, {"sensor_mode=99", PLX_ERR_RANGE}, {"sensor_mode", PLX_ERR_RANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_v4l2_options options = stereocam(cases[i].controls);
        struct plx_error_message message;
        pairs_refused(&options, cases[i].error, &message);
    }
}

/* Makes a source of OPTIONS and destroys it; nothing of the cameras changes by either. */
static void try_beside(const struct plx_v4l2_options *options)
{
    char before[PLX_EYES][DESCRIPTION], after[DESCRIPTION];
    struct plx_stages *stages = pairs_stages();
    struct plx_source *source = NULL;
    struct plx_error_message message = {""};

    for (int eye = 0; eye < PLX_EYES; eye++)
        describe_camera(options->cameras.camera[eye], before[eye]);
    if (plx_v4l2_create(stages, options, &source, &message) < 0)
        fail_msg("%s", message.text);
    for (int destroyed = 0; destroyed < 2; destroyed++) {
        for (int eye = 0; eye < PLX_EYES; eye++) {
            describe_camera(options->cameras.camera[eye], after);
            assert_string_equal(after, before[eye]);
        }
        if (!destroyed)
            source->ops->destroy(source);
    }
    stages->ops->destroy(stages);
}

/* A configuration that is only tried, as a reload's is, changes nothing of a camera, whether that is at work or not. */
static void test_trying_sets_nothing(void **state)
{
    (void)state;
    const struct plx_v4l2_options options = stereocam("override_enable=1, exposure=5000");
    struct plx_v4l2_options other = stereocam("override_enable=0, exposure=777, gain=32, sensor_mode=3");
    struct pairs pairs;

    other.height = 200;
    SET_TEXT(other.cameras.format, "Y10");
    other.rate_hz = 25;
    other.cameras.control.restore = true;
    pairs_open(&pairs, &options);
    pairs_take(&pairs, 2);
    try_beside(&other);
    pairs_take(&pairs, 2);
    pairs_close(&pairs);
    try_beside(&other);
}

/* A reload that one camera refuses is taken back: the controls of both are as they were. */
static void test_taken_back(void **state)
{
    (void)state;
    struct plx_v4l2_options options = stereocam("override_enable=1, gain=48, exposure=777");
    char before[PLX_EYES][DESCRIPTION], after[DESCRIPTION];
    struct pairs pairs;

    options.rate_hz = 20;
    for (int eye = 0; eye < PLX_EYES; eye++)
        describe_camera(options.cameras.camera[eye], before[eye]);
    stereocam_set("right/refuse_format", EINVAL);
    pairs_open(&pairs, &options);
    for (int i = 0; i < 4; i++)
        pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_RIGHT);
    assert_int_equal(read_control(options.cameras.camera[PLX_LEFT], "gain"), 48);
    pairs_close(&pairs);
    stereocam_set("right/refuse_format", 0);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        describe_camera(options.cameras.camera[eye], after);
        assert_string_equal(after, before[eye]);
    }
}

static void test_sensor_mode(void **state)
{
    (void)state;
    struct plx_v4l2_options options = stereocam("sensor_mode=3");
    struct pairs pairs;

    options.height = 200;
    pairs_open(&pairs, &options);
    pairs_take(&pairs, 1);
    assert_int_equal(pairs.pair[PLX_LEFT].raw[PLX_LEFT].height, 200);
    pairs_close(&pairs);
}

static void test_usb_controls(void **state)
{
    (void)state;
    struct plx_v4l2_options options = stereocam("");
    struct plx_control_range range;
    struct pairs pairs;

    assert_int_equal(system("rmmod stereocam && modprobe stereocam width=320 height=180 standard_controls=1 timestamp_kind=1"),
                     0);
    pairs_open(&pairs, &options);
    assert_int_equal((int)(pairs.source->rate_hz + 0.5), FAST_HZ);
    assert_int_equal(read_control("card=stereocam left", MAINS), 0);
    pairs.source->ops->range(pairs.source, &range);
    assert_int_equal(range.exposure_max_us, 33000);
    assert_int_equal(read_control("card=stereocam left", EXPOSURE_AUTO) == 1, 0); /* automatic before */
    steer(&pairs);
    assert_int_equal(read_control("card=stereocam left", EXPOSURE_AUTO), 1);
    /* Stamped at the start of the exposure, told in its middle. */
    struct camera_record record = {.sequence = 0};
    assert_true(camera_record("left", pairs.pair[PLX_LEFT].sequence, &record));
    assert_int_equal(pairs.pair[PLX_LEFT].capture_ns - (int64_t)record.timestamp_ns / 1000 * 1000,
                     record.exposure_us / 2 * 1000);
    pairs_close(&pairs);
}

/* The mains frequency for cameras with such a control, and a rate that the camera does not have. */
static void test_mains_and_rate(void **state)
{
    (void)state;
    struct plx_v4l2_options options = stereocam("");
    struct pairs pairs;

    options.rate_hz = 0.5;
    for (int standard = 0; standard < 2; standard++) {
        stereocam_load(standard ? "width=320 height=180 standard_controls=1" : "width=320 height=180");
        for (int hz = 50; hz <= 60; hz += 10) {
            options.flicker_hz = hz;
            pairs_open(&pairs, &options);
            assert_non_null(strstr(pairs.source->note.text, "runs at 1 Hz instead of 0.5"));
            for (int eye = 0; eye < PLX_EYES && standard; eye++)
                assert_int_equal(read_control(options.cameras.camera[eye], MAINS), hz == 50 ? 1 : 2);
            pairs_close(&pairs);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jetson_controls),     cmocka_unit_test(test_restored),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_trying_sets_nothing), cmocka_unit_test(test_taken_back),     cmocka_unit_test(test_sensor_mode),
        cmocka_unit_test(test_usb_controls),        cmocka_unit_test(test_mains_and_rate),
    };
    return cmocka_run_group_tests_name("source_controls", tests, NULL, NULL);
}
