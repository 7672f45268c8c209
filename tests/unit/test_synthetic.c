/* SPDX-License-Identifier: Apache-2.0 */
/* The synthetic camera: order, pace, drops, delays of its controls, life and death. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/synthetic.h"
#include "tests/cmocka.h"
#include "tests/unit/slow_reader.h"

#define WIDTH 67
#define HEIGHT 41
#define SOON patience_end_ns()

static struct plx_stages *stages;
static struct plx_error_message message;

static int begin(void **state)
{
    (void)state;
    const struct plx_limits limits = {64, 64, 64, 1};
    return plx_cpu_create(&limits, &stages);
}

static int end(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

static struct plx_synthetic_options options_at(double rate_hz)
{
    struct plx_synthetic_options options = {.rate_hz = rate_hz, .exposure_delay = 2, .gain_delay = 1};
    plx_scene_demo(WIDTH, HEIGHT, 5, &options.scene);
    return options;
}

static struct plx_source *started(const struct plx_synthetic_options *options)
{
    struct plx_source *source = NULL;
    assert_int_equal(plx_synthetic_create(stages, options, &source, &message), 0);
    assert_int_equal(source->ops->start(source, &message), 0);
    return source;
}

static struct plx_capture take(struct plx_source *source)
{
    struct plx_capture capture;
    int result = source->ops->next(source, SOON, &capture);
    if (result < 0)
        fail_msg("next gave %d: %s", result, source->message.text);
    return capture;
}

static enum plx_eye eye_of(const struct plx_capture *capture)
{
    assert_true((capture->raw[PLX_LEFT].data == NULL) != (capture->raw[PLX_RIGHT].data == NULL));
    return capture->raw[PLX_LEFT].data ? PLX_LEFT : PLX_RIGHT;
}

/* At rate 0 nothing is lost, left comes before right, and each is the scene's own picture of that time. */
static void test_pictures_are_the_scene(void **state)
{
    (void)state;
    struct plx_synthetic_options options = options_at(0.0);
    struct plx_source *source = started(&options);
    static uint8_t expected[HEIGHT][WIDTH];
    const struct plx_image image = {expected, WIDTH, HEIGHT, WIDTH, PLX_U8};
    assert_int_equal(source->width, WIDTH);
    int64_t first_ns = 0;
    for (uint32_t k = 0; k < 40; k++)
        for (int eye = 0; eye < PLX_EYES; eye++) {
            struct plx_capture capture = take(source);
            assert_int_equal(eye_of(&capture), eye);
            assert_int_equal(capture.sequence, k);
            first_ns = k == 0 ? capture.capture_ns : first_ns;
            assert_true(llabs(capture.capture_ns - first_ns - (int64_t)(k * 1e9 / PLX_SYNTHETIC_RATE_HZ)) < 10);
            const struct plx_raw *raw = &capture.raw[eye];
            assert_true(raw->width == WIDTH && raw->height == HEIGHT && raw->eye_width == WIDTH && raw->eye_x == 0);
            assert_int_equal(raw->format, PLX_FORMAT_GREY);
            assert_true(raw->pitch >= WIDTH && raw->bytes >= raw->pitch * (HEIGHT - 1) + WIDTH);
            plx_scene_render(&options.scene, k / PLX_SYNTHETIC_RATE_HZ, k, (enum plx_eye)eye, capture.exposure_us,
                             (double)capture.gain, &image);
            for (int y = 0; y < HEIGHT; y++)
                assert_memory_equal((const uint8_t *)raw->data + (size_t)y * raw->pitch, expected[y], WIDTH);
            source->ops->release(source, &capture);
            assert_null(capture.buffer);
        }
    source->ops->destroy(source);
}

/* A setting made after frame n acts in frame n + 1 + delay, in both eyes, exposure and gain each by its own delay. */
static void test_controls_act_after_their_delay(void **state)
{
    (void)state;
    struct plx_synthetic_options options = options_at(0.0);
    struct plx_source *source = started(&options);
    struct plx_control_range range;
    source->ops->range(source, &range);
    assert_int_equal(range.exposure_delay, 2);
    assert_int_equal(range.gain_delay, 1);
    for (uint32_t k = 0; k < 10; k++) {
        for (int eye = 0; eye < PLX_EYES; eye++) {
            struct plx_capture capture = take(source);
            assert_int_equal(capture.exposure_us, k < 4 + 2 ? 10000 : 20000);
            assert_true(capture.gain == (k < 4 + 1 ? 1.0f : 2.5f));
            source->ops->release(source, &capture);
        }
        if (k == 3)
            assert_int_equal(source->ops->control(source, 20000, 2.5f), 0);
    }
    assert_int_equal(source->ops->control(source, UINT32_MAX, 1e9f), 0); /* cut to the range */
    assert_int_equal(source->ops->control(source, 0, NAN), PLX_ERR_ARG);
    for (uint32_t k = 0; k < 6; k++) {
        struct plx_capture capture = take(source);
        if (k == 5) {
            assert_int_equal(capture.exposure_us, range.exposure_max_us);
            assert_true(capture.gain == range.gain_max);
        }
        source->ops->release(source, &capture);
    }
    source->ops->destroy(source);
}

static void test_pace_and_drops(void **state)
{
    (void)state;
    struct plx_synthetic_options options = options_at(100.0);
    struct plx_source *source = started(&options);
    uint32_t last = 0;
    for (int i = 0; i < 30; i++) { /* nothing comes early */
        struct plx_capture capture = take(source);
        assert_true(capture.capture_ns <= plx_now_ns());
        assert_true(capture.sequence >= last);
        last = capture.sequence;
        source->ops->release(source, &capture);
    }
    slow_reader_loses(source, PLX_SOURCE_MIN_PAIRS + 1, 10, 10 * PLX_NS_PER_MS);
    struct plx_capture capture = take(source);
    source->ops->release(source, &capture);
    source->ops->destroy(source);
}

static void test_timeout_at_a_low_rate(void **state)
{
    (void)state;
    struct plx_synthetic_options options = options_at(0.1);
    struct plx_source *source = started(&options);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_capture capture = take(source);
        source->ops->release(source, &capture);
    }
    struct plx_capture capture;
    const int64_t begun = plx_now_ns();
    assert_int_equal(source->ops->next(source, begun + 30 * PLX_NS_PER_MS, &capture), PLX_ERR_TIMEOUT);
    assert_true(plx_now_ns() - begun >= 30 * PLX_NS_PER_MS);
    assert_int_equal(source->ops->next(source, 0, &capture), PLX_ERR_TIMEOUT);
    source->ops->destroy(source);
}

static void test_stop_and_start(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct plx_synthetic_options options = options_at(round ? 200.0 : 0.0);
        struct plx_source *source = NULL;
        assert_int_equal(plx_synthetic_create(stages, &options, &source, &message), 0);
        struct plx_capture kept, capture;
        assert_int_equal(source->ops->next(source, SOON, &capture), PLX_ERR_LOST); /* not started yet */
        assert_int_equal(source->ops->start(source, &message), 0);
        assert_int_equal(source->ops->start(source, &message), 0); /* twice is fine */
        kept = take(source);
        static uint8_t before[HEIGHT * WIDTH];
        memcpy(before, kept.raw[PLX_LEFT].data, sizeof before);
        for (int again = 0; again < 3; again++) {
            source->ops->stop(source);
            assert_int_equal(source->ops->next(source, SOON, &capture), PLX_ERR_LOST);
            assert_int_equal(source->ops->start(source, &message), 0);
            for (int i = 0; i < 20; i++) {
                capture = take(source);
                if (i == 0)
                    assert_int_equal(capture.sequence, 0);
                assert_ptr_not_equal(capture.buffer, kept.buffer);
                source->ops->release(source, &capture);
            }
        }
        assert_memory_equal(before, kept.raw[PLX_LEFT].data, sizeof before); /* still the reader's */
        source->ops->release(source, &kept);
        source->ops->destroy(source);
    }
}

static void test_calibration(void **state)
{
    (void)state;
    struct plx_synthetic_options options = options_at(0.0);
    struct plx_source *source = NULL;
    struct plx_stereo_calibration calibration;
    struct plx_calibration_info info;
    assert_int_equal(plx_synthetic_create(stages, &options, &source, &message), 0);
    assert_int_equal(source->ops->calibration(source, &calibration, NULL), 0);
    assert_int_equal(plx_calibration_check(&calibration, &message), 0);
    plx_calibration_info(&calibration, &info);
    assert_true(fabs(info.fx - 0.8 * WIDTH) < 1e-9 && fabs(info.baseline_m - 0.12) < 1e-9);
    const struct plx_source_ops *ops = source->ops;
    ops->destroy(source);
    ops->destroy(NULL);
}

static void test_bad_options(void **state)
{
    (void)state;
    struct plx_synthetic_options bad[6];
    for (size_t i = 0; i < 6; i++)
        bad[i] = options_at(30.0);
    bad[0].rate_hz = -1.0;
    bad[1].rate_hz = NAN;
    bad[2].rate_hz = 1e6;
    bad[3].exposure_delay = PLX_SYNTHETIC_MAX_DELAY + 1;
    bad[4].gain_delay = -1;
    bad[5].scene.width = 0;
    for (size_t i = 0; i < 6; i++) {
        struct plx_source *source = NULL;
        message.text[0] = '\0';
        assert_int_equal(plx_synthetic_create(stages, &bad[i], &source, &message), PLX_ERR_RANGE);
        assert_null(source);
        assert_string_not_equal(message.text, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures_are_the_scene),
        cmocka_unit_test(test_controls_act_after_their_delay),
        cmocka_unit_test(test_pace_and_drops),
        cmocka_unit_test(test_timeout_at_a_low_rate),
        cmocka_unit_test(test_stop_and_start),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_bad_options),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
