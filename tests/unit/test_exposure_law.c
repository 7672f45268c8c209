/* SPDX-License-Identifier: Apache-2.0 */
/* The exposure law on made-up histograms; the closed loop is tests/system/test_exposure.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/text.h"
#include "core/source/exposure.h"
#include "core/source/source.h"
#include "tests/cmocka.h"

#define ZONES (PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES)
#define ROWS (PLX_EYES * (1 + ZONES))

static uint32_t bins[ROWS][PLX_HISTOGRAM_BINS];
static const struct plx_image histogram = {bins, PLX_HISTOGRAM_BINS, ROWS, sizeof bins[0], PLX_U32};
static const struct plx_control_range range = {10, 30000, 1.0f, 8.0f, 2, 2};
static const struct plx_exposure_params params = {.enabled = true,
                                                  .target = 0.5,
                                                  .highlight_limit = 0.02,
                                                  .dead_band = 0.05,
                                                  .damping = 0.5,
                                                  .max_exposure_us = 20000,
                                                  .max_gain = 4.0};
static struct plx_error_message message;

/* COUNT pixels of LEVEL in ZONE of both eyes. */
static void add(int zone, int level, uint32_t count)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        bins[eye * ROWS / PLX_EYES][level] += count;
        bins[eye * ROWS / PLX_EYES + 1 + zone][level] += count;
    }
}

static void all(int level)
{
    memset(bins, 0, sizeof bins);
    for (int zone = 0; zone < ZONES; zone++)
        add(zone, level, 100);
}

static struct plx_exposure *law(const struct plx_exposure_params *with)
{
    struct plx_exposure *exposure = NULL;
    assert_int_equal(plx_exposure_create(with, &exposure, &message), 0);
    return exposure;
}

/* The total exposure asked for after one frame under EXPOSURE_US and GAIN; 0 = no change. */
static double judge(struct plx_exposure *exposure, uint32_t exposure_us, float gain)
{
    const struct plx_capture_info capture[PLX_EYES] = {{.exposure_us = exposure_us, .gain = gain},
                                                       {.exposure_us = exposure_us, .gain = gain}};
    struct plx_exposure_setting setting;
    int result = plx_exposure_update(exposure, &histogram, capture, &range, &setting);
    assert_true(result == 0 || result == 1);
    return result ? setting.exposure_us * (double)setting.gain : 0.0;
}

static double judge_once(const struct plx_exposure_params *with, uint32_t exposure_us)
{
    struct plx_exposure *exposure = law(with);
    double total = judge(exposure, exposure_us, 1.0f);
    plx_exposure_destroy(exposure);
    return total;
}

static void expect_near(double value, double expected)
{
    if (fabs(value / expected - 1.0) > 0.002)
        fail_msg("%.3f, expected %.3f", value, expected);
}

static void test_one_step(void **state)
{
    (void)state;
    all(32); /* two stops too dark: at once */
    expect_near(judge_once(&params, 1000), 1000 * 127.5 / 32);
    all(100); /* a third of a stop: damped by half */
    expect_near(judge_once(&params, 1000), 1000 * sqrt(1.275));
    all(126); /* inside the dead band; said once all the same, so that both eyes have it */
    expect_near(judge_once(&params, 1000), 1000);
    all(0);
    assert_true(judge_once(&params, 10) >= 10 * 200);
    all(255);
    assert_true(judge_once(&params, 20000) < 20000 / 16.0);
}

/* The law judges each frame by the exposure in force in it, so it does not correct the same error twice. */
static void test_no_wind_up(void **state)
{
    (void)state;
    struct plx_exposure *exposure = law(&params);
    all(32);
    double asked = judge(exposure, 1000, 1.0f);
    expect_near(asked, 3984);
    for (int i = 0; i < 5; i++)
        assert_true(judge(exposure, 1000, 1.0f) == 0.0);
    all(127);
    assert_true(judge(exposure, (uint32_t)asked, 1.0f) == 0.0);
    plx_exposure_destroy(exposure);
}

/* A source that does not report its settings: those asked for two frames ago are taken to be in force. */
static void test_unknown_settings(void **state)
{
    (void)state;
    struct plx_exposure *exposure = law(&params);
    all(32);
    expect_near(judge(exposure, 0, 0.0f), 10000); /* the first thing is to know */
    expect_near(judge(exposure, 0, 0.0f), 10000 * 127.5 / 32);
    assert_true(judge(exposure, 0, 0.0f) == 0.0); /* still under the first setting */
    assert_true(judge(exposure, 0, 0.0f) == 0.0);
    all(127);
    assert_true(judge(exposure, 0, 0.0f) == 0.0); /* now under the second */
    plx_exposure_destroy(exposure);
}

static void test_shutter_first_then_gain(void **state)
{
    (void)state;
    static const struct {
        int flicker_hz;
        uint32_t wanted, exposure_us;
    } row[] = {
        {0, 500, 500},    {0, 20000, 20000}, {0, 40000, 20000},  {0, 80000, 20000},  {0, 160000, 20000},
        {50, 5000, 5000}, {50, 9000, 9000},  {50, 10001, 10000}, {50, 19000, 10000}, {50, 40000, 20000},
        {60, 8000, 8000}, {60, 9000, 8333},  {60, 16000, 8333},  {60, 17000, 16666}, {60, 40000, 16666},
    };
    all(127);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct plx_exposure_params with = params;
        with.flicker_hz = row[i].flicker_hz;
        struct plx_exposure *exposure = law(&with);
        const struct plx_capture_info capture[PLX_EYES] = {{.exposure_us = row[i].wanted, .gain = 1.0f},
                                                           {.exposure_us = row[i].wanted, .gain = 1.0f}};
        struct plx_exposure_setting setting;
        assert_int_equal(plx_exposure_update(exposure, &histogram, capture, &range, &setting), 1);
        assert_true(abs((int)setting.exposure_us - (int)row[i].exposure_us) <= 1);
        expect_near((double)setting.gain, fmin((double)row[i].wanted / setting.exposure_us, 4.0));
        plx_exposure_destroy(exposure);
    }
}

static void test_highlights(void **state)
{
    (void)state;
    all(40); /* dark, but one pixel in thirty is bright already: brighter only until it is white */
    for (int zone = 0; zone < ZONES; zone++)
        add(zone, 125, 4);
    expect_near(judge_once(&params, 1000), 2000);
    all(120); /* nearly right, and one in ten blown out: darker */
    for (int zone = 0; zone < ZONES; zone++)
        add(zone, 255, 11);
    double total = judge_once(&params, 1000);
    assert_true(total < 800 && total > 400);
    struct plx_exposure_params with = params;
    with.highlight_limit = 1.0; /* no limit: only the mean counts, which is a little too bright */
    total = judge_once(&with, 1000);
    assert_true(total <= 1000 && total > 900);
}

static void test_zones(void **state)
{
    (void)state;
    struct plx_exposure_params with = params;
    memset(bins, 0, sizeof bins);
    for (int zone = 0; zone < ZONES; zone++)
        add(zone, zone < 8 ? 200 : 32, 100); /* a bright sky */
    with.highlight_limit = 1.0;
    expect_near(judge_once(&with, 1000), 1000 * 127.5 / ((8 * 200 + 56 * 32) / 64.0));
    for (int zone = 8; zone < ZONES; zone++)
        with.tile_weight[zone] = 3;
    expect_near(judge_once(&with, 1000), 1000 * 127.5 / 32); /* does not count */
}

static void test_both_eyes_count_alike(void **state)
{
    (void)state;
    memset(bins, 0, sizeof bins);
    for (int zone = 0; zone < ZONES; zone++) {
        bins[1 + zone][40] = 100;
        bins[ROWS / 2 + 1 + zone][24] = 100;
    }
    expect_near(judge_once(&params, 1000), 1000 * 127.5 / 32);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    struct plx_exposure_params bad[8];
    for (size_t i = 0; i < 8; i++)
        bad[i] = params;
    bad[0].target = 0.0;
    bad[1].target = NAN;
    bad[2].highlight_limit = 1.5;
    bad[3].dead_band = -1.0;
    bad[4].damping = 0.0;
    bad[5].max_exposure_us = 0;
    bad[6].max_gain = 0.5;
    bad[7].flicker_hz = 55;
    for (size_t i = 0; i < 8; i++) {
        struct plx_exposure *exposure = NULL;
        message.text[0] = '\0';
        assert_int_equal(plx_exposure_create(&bad[i], &exposure, &message), PLX_ERR_RANGE);
        assert_null(exposure);
        assert_string_not_equal(message.text, "");
    }
    struct plx_exposure_setting setting = {7, 7.0f};
    const struct plx_capture_info capture[PLX_EYES] = {{.exposure_us = 1000, .gain = 1.0f},
                                                       {.exposure_us = 1000, .gain = 1.0f}};
    const struct plx_control_range none = {0, 0, 0.0f, 0.0f, 0, 0};
    struct plx_image half = histogram;
    struct plx_exposure *exposure = law(&params);
    half.height /= 2;
    assert_int_equal(plx_exposure_update(exposure, &half, capture, &range, &setting), PLX_ERR_ARG);
    assert_int_equal(plx_exposure_update(exposure, &histogram, capture, &none, &setting), PLX_ERR_UNSUPPORTED);
    memset(bins, 0, sizeof bins); /* not a single pixel */
    assert_int_equal(plx_exposure_update(exposure, &histogram, capture, &range, &setting), 0);
    plx_exposure_destroy(exposure);
    struct plx_exposure_params off = params;
    off.enabled = false;
    exposure = law(&off);
    all(0);
    assert_int_equal(plx_exposure_update(exposure, &histogram, capture, &range, &setting), 0);
    assert_int_equal(setting.exposure_us, 7);
    plx_exposure_destroy(exposure);
    plx_exposure_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step),
        cmocka_unit_test(test_no_wind_up),
        cmocka_unit_test(test_unknown_settings),
        cmocka_unit_test(test_shutter_first_then_gain),
        cmocka_unit_test(test_highlights),
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_both_eyes_count_alike),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
