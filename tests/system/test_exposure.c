/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exposure law in closed loop with the synthetic camera and the backend's histogram, with the parameters that the service
 * uses by default: from black and from white to the target, without oscillation, both eyes alike, in flicker-free steps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "config/config.h"
#include "core/base/clock.h"
#include "core/source/exposure.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/synthetic.h"
#include "tests/cmocka.h"

#define WIDTH 80
#define HEIGHT 60
#define ROWS (PLX_EYES * PLX_HISTOGRAM_EYE_ROWS)
#define SOON (plx_now_ns() + 20 * PLX_NS_PER_S)
#define FRAMES 10          /* to reach the target in */
#define FURTHER_FRAMES 100 /* to stay there */

static struct plx_stages *stages;
static uint32_t *bins;
static struct plx_image histogram;
static struct plx_error_message message;

static int begin(void **state)
{
    (void)state;
    const struct plx_limits limits = {WIDTH, HEIGHT, 64, 1};
    void *data;
    if (plx_cpu_create(&limits, &stages) < 0 || stages->ops->alloc(stages, ROWS * PLX_HISTOGRAM_BINS * sizeof *bins, &data) < 0)
        return -1;
    bins = data;
    histogram = (struct plx_image){bins, PLX_HISTOGRAM_BINS, ROWS, PLX_HISTOGRAM_BINS * sizeof *bins, PLX_U32};
    return 0;
}

static int end(void **state)
{
    (void)state;
    stages->ops->free(stages, bins);
    stages->ops->destroy(stages);
    return 0;
}

/* One camera pair and what was last seen by it. */
struct loop {
    struct plx_source *source;
    struct plx_exposure *exposure;
    struct plx_control_range range;
    struct plx_capture_info capture[PLX_EYES];
    double mean, blown; /* both eyes, 0..1 */
};

static struct loop loop_begin(const struct plx_exposure_params *params, double light, int exposure_delay, int gain_delay)
{
    struct loop loop = {0};
    struct plx_synthetic_options options = {.exposure_delay = exposure_delay, .gain_delay = gain_delay};
    plx_scene_demo(WIDTH, HEIGHT, 11, &options.scene);
    options.scene.light = light;
    assert_int_equal(plx_synthetic_create(stages, &options, &loop.source, &message), 0);
    assert_int_equal(plx_exposure_create(params, &loop.exposure, &message), 0);
    loop.source->ops->range(loop.source, &loop.range);
    assert_int_equal(loop.source->ops->start(loop.source, &message), 0);
    return loop;
}

static void loop_end(struct loop *loop)
{
    plx_exposure_destroy(loop->exposure);
    loop->source->ops->destroy(loop->source);
}

static void see_frame(struct loop *loop)
{
    double sum = 0.0, blown = 0.0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_capture capture;
        assert_int_equal(loop->source->ops->next(loop->source, SOON, &capture), 0);
        const struct plx_raw *raw = &capture.raw[eye];
        assert_non_null(raw->data);
        union { /* the stages take views that could be written to */
            const void *read;
            void *data;
        } pixels = {raw->data};
        const struct plx_image grey = {pixels.data, raw->width, raw->height, raw->pitch, PLX_U8};
        const struct plx_image rows = {plx_row(&histogram, eye * ROWS / PLX_EYES), PLX_HISTOGRAM_BINS, ROWS / PLX_EYES,
                                       histogram.pitch, PLX_U32};
        assert_int_equal(stages->ops->histogram(stages, &grey, PLX_HISTOGRAM_BINS, &rows), 0);
        assert_int_equal(stages->ops->finish(stages), 0);
        const uint32_t *whole = plx_row(&rows, 0);
        for (int level = 0; level < PLX_HISTOGRAM_BINS; level++) {
            sum += (double)whole[level] * level;
            blown += level >= 250 ? whole[level] : 0;
        }
        loop->capture[eye] = (struct plx_capture_info){.exposure_us = capture.exposure_us, .gain = capture.gain};
        loop->source->ops->release(loop->source, &capture);
    }
    loop->mean = sum / 255.0 / (PLX_EYES * WIDTH * HEIGHT);
    loop->blown = blown / (PLX_EYES * WIDTH * HEIGHT);
    assert_int_equal(loop->capture[PLX_LEFT].exposure_us, loop->capture[PLX_RIGHT].exposure_us);
    assert_true(loop->capture[PLX_LEFT].gain == loop->capture[PLX_RIGHT].gain);
}

/* One frame seen and judged; true if the setting changed. */
static bool step(struct loop *loop, struct plx_exposure_setting *ret_setting)
{
    see_frame(loop);
    int result = plx_exposure_update(loop->exposure, &histogram, loop->capture, &loop->range, ret_setting);
    assert_true(result == 0 || result == 1);
    if (result == 1)
        assert_int_equal(loop->source->ops->control(loop->source, ret_setting->exposure_us, ret_setting->gain), 0);
    return result == 1;
}

/* Sets the camera to something hopeless, and waits until the picture is. */
static void start_from(struct loop *loop, uint32_t exposure_us, float gain)
{
    loop->source->ops->control(loop->source, exposure_us, gain);
    for (int i = 0; i < 6; i++)
        see_frame(loop);
}

static struct plx_exposure_params default_params(void)
{
    static struct plx_config config;
    plx_config_default(&config);
    assert_true(config.exposure.enabled);
    return config.exposure;
}

static void expect_target(const struct loop *loop, const struct plx_exposure_params *params, int frame)
{
    if (fabs(loop->mean / params->target - 1.0) > 0.05)
        fail_msg("frame %d: mean %.4f, expected %.4f within 5 %%", frame, loop->mean, params->target);
}

static void converges(const struct plx_exposure_params *params, double light, bool from_white, int exposure_delay,
                      int gain_delay)
{
    struct loop loop = loop_begin(params, light, exposure_delay, gain_delay);
    struct plx_exposure_setting setting = {0, 0.0f};
    if (from_white) {
        start_from(&loop, UINT32_MAX, 1e6f);
        assert_true(loop.blown > 0.5);
    } else {
        start_from(&loop, 0, 0.0f);
        assert_true(loop.mean < 0.02);
    }
    for (int frame = 1; frame <= FRAMES; frame++)
        step(&loop, &setting);
    expect_target(&loop, params, FRAMES);
    int changes = 0, turns = 0;
    double direction = 0.0, before = setting.exposure_us * (double)setting.gain;
    for (int frame = FRAMES + 1; frame <= FRAMES + FURTHER_FRAMES; frame++) {
        if (step(&loop, &setting)) {
            double change = setting.exposure_us * (double)setting.gain - before;
            turns += change * direction < 0.0;
            direction = change;
            before += change;
            changes++;
        }
        expect_target(&loop, params, frame);
    }
    if (turns > 1 || changes > 5) /* the scene itself moves: a step now and then is right, to and fro is not */
        fail_msg("%d changes and %d turns in %d frames after the target was reached", changes, turns, FURTHER_FRAMES);
    loop_end(&loop);
}

static void test_from_black_and_from_white(void **state)
{
    (void)state;
    static const double light[] = {0.15, 1.0, 8.0};
    static const int delay[][2] = {{2, 2}, {2, 1}, {0, 0}, {1, 2}};
    const struct plx_exposure_params params = default_params();
    for (size_t i = 0; i < sizeof light / sizeof light[0]; i++)
        for (size_t j = 0; j < sizeof delay / sizeof delay[0]; j++)
            for (int white = 0; white < 2; white++)
                converges(&params, light[i], white == 1, delay[j][0], delay[j][1]);
}

/* Every shutter time is a whole number of half mains periods, or shorter than one; the brightness is right all the same. */
static void test_flicker_free_steps(void **state)
{
    (void)state;
    static const double light[] = {0.3, 0.6, 4.0};
    struct plx_exposure_params params = default_params();
    params.max_exposure_us = 33000;
    for (params.flicker_hz = 50; params.flicker_hz <= 60; params.flicker_hz += 10)
        for (size_t i = 0; i < sizeof light / sizeof light[0]; i++)
            for (int white = 0; white < 2; white++) {
                converges(&params, light[i], white == 1, 2, 2);
                const double period = 1e6 / (2 * params.flicker_hz);
                struct loop loop = loop_begin(&params, light[i], 2, 2);
                start_from(&loop, white ? UINT32_MAX : 0, white ? 1e6f : 0.0f);
                for (int frame = 0; frame < 30; frame++) {
                    struct plx_exposure_setting setting;
                    if (!step(&loop, &setting))
                        continue;
                    double periods = setting.exposure_us / period, off = fabs(periods - round(periods)) * period;
                    if (periods >= 1.0 && off >= 1.0)
                        fail_msg("%u us is no multiple of %.1f us", setting.exposure_us, period);
                }
                if (light[i] < 1.0)
                    assert_true(loop.capture[PLX_LEFT].exposure_us >= (uint32_t)period);
                loop_end(&loop);
            }
}

/* The blur cap holds; gain makes up for it, and only then. */
static void test_shutter_before_gain(void **state)
{
    (void)state;
    struct plx_exposure_params params = default_params();
    params.max_exposure_us = 12000;
    static const double light[] = {0.2, 0.7, 1.0, 3.0};
    for (size_t i = 0; i < sizeof light / sizeof light[0]; i++) {
        struct loop loop = loop_begin(&params, light[i], 2, 2);
        struct plx_exposure_setting setting = {0, 0.0f};
        for (int frame = 0; frame < 30; frame++)
            step(&loop, &setting);
        assert_true(setting.exposure_us <= params.max_exposure_us);
        if (setting.gain > 1.001f)
            assert_int_equal(setting.exposure_us, params.max_exposure_us);
        assert_int_equal(setting.gain > 1.001f, light[i] < 0.8);
        loop_end(&loop);
    }
}

/* In a light that the camera cannot cope with it stays at its limit, quietly. */
static void test_out_of_reach(void **state)
{
    (void)state;
    const struct plx_exposure_params params = default_params();
    for (int white = 0; white < 2; white++) {
        struct loop loop = loop_begin(&params, white ? 5000.0 : 0.001, 2, 2);
        struct plx_exposure_setting setting = {0, 0.0f};
        for (int frame = 0; frame < 20; frame++)
            step(&loop, &setting);
        for (int frame = 0; frame < 50; frame++)
            assert_false(step(&loop, &setting));
        assert_int_equal(setting.exposure_us, white ? loop.range.exposure_min_us : params.max_exposure_us);
        assert_true(white ? setting.gain == loop.range.gain_min : (double)setting.gain == params.max_gain);
        loop_end(&loop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_black_and_from_white),
        cmocka_unit_test(test_flicker_free_steps),
        cmocka_unit_test(test_shutter_before_gain),
        cmocka_unit_test(test_out_of_reach),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
