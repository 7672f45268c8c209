/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exposure loop through real controls: from black to the target, and after the light has changed; both eyes alike in every
 * frame, what is published as in force is in force, and under lamps of 50 Hz the shutter keeps to their periods.
 *
 * guest: stereocam width=64 height=48
 */
#include <math.h>

#include "tests/vm/camera.h"
#include "tests/vm/service.h"

#define TARGET 0.45
#define CLOSE 0.08        /* relative; the law leaves 0.05 stops alone, and gain has steps of 1/16 */
#define FRAMES 40         /* to get there in, at most: the law sees only those that the guest has time for */
#define FURTHER_FRAMES 10 /* to stay there */
#define LAMP_US 10000     /* period of the light of lamps at 50 Hz */

enum { WIDTH = 64, HEIGHT = 48 };

static struct service service;

/* From now on the sensor sees a gradient from black to BRIGHTEST, at 10 ms and without gain. */
static void light(int feed, int brightest)
{
    static uint8_t pair[PLX_EYES][HEIGHT][WIDTH];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            pair[PLX_LEFT][y][x] = pair[PLX_RIGHT][y][x] = (uint8_t)(brightest * (y * WIDTH + x) / (HEIGHT * WIDTH - 1));
    assert_int_equal(write(feed, pair, sizeof pair), sizeof pair);
}

struct seen {
    double mean; /* both eyes, 0..1 */
    struct plx_capture_info capture[PLX_EYES];
};

static struct seen look(void)
{
    struct plx_view view = service_next(&service, 0);
    const uint32_t *bins = view.plane[PLX_PLANE_HISTOGRAM];
    const size_t right = PLX_HISTOGRAM_EYE_ROWS * PLX_HISTOGRAM_BINS;
    struct seen seen = {.capture = {view.frame->capture[PLX_LEFT], view.frame->capture[PLX_RIGHT]}};

    for (int level = 0; level < PLX_HISTOGRAM_BINS; level++)
        seen.mean += level * (bins[level] + (double)bins[right + (size_t)level]);
    seen.mean /= 255.0 * PLX_EYES * WIDTH * HEIGHT;
    if (plx_release(service.client, &view) < 0)
        return look();
    return seen;
}

/* The published exposure is the one in force, in both eyes. */
static void check_in_force(const struct seen *seen)
{
    static const char *const name[PLX_EYES] = {"left", "right"};
    const struct plx_capture_info *left = &seen->capture[PLX_LEFT], *right = &seen->capture[PLX_RIGHT];

    assert_int_equal(left->exposure_us, right->exposure_us);
    assert_true(left->gain == right->gain);
    for (int eye = 0; eye < PLX_EYES && left->exposure_us > 0; eye++) {
        struct camera_record record = {0};
        assert_true(camera_record(name[eye], seen->capture[eye].sequence, &record));
        assert_int_equal(record.exposure_us, left->exposure_us);
        assert_int_equal(record.gain_16, lroundf(left->gain * 16.0f));
    }
}

static bool on_target(const struct seen *seen)
{
    return fabs(seen->mean / TARGET - 1.0) <= CLOSE;
}

/* Waits until the target is reached and kept. */
static void settle(void)
{
    int frames = 0, kept = 0;
    struct seen seen;

    for (; frames < FRAMES && kept < FURTHER_FRAMES; frames++) {
        seen = look();
        check_in_force(&seen);
        kept = on_target(&seen) ? kept + 1 : 0;
    }
    print_message("mean %.3f after %d frames, exposure %u us, gain %.2f\n", seen.mean, frames - kept,
                  seen.capture[PLX_LEFT].exposure_us, (double)seen.capture[PLX_LEFT].gain);
    assert_true(kept == FURTHER_FRAMES);
}

static void test_closed_loop(void **state)
{
    (void)state;
    stereocam_set("scale", 1); /* pictures are as bright as exposure and gain make them */
    int feed = open("/dev/stereocam", O_WRONLY | O_CLOEXEC);
    assert_true(feed >= 0);
    light(feed, 100);
    daemon_make(&service.daemon);
    write_calibration(WIDTH, HEIGHT);
    service_start(&service, (const char *const[]){SERVICE_STEREOCAM, "source.rate_hz=5",
                                                  "source.controls=override_enable=1,exposure=100,gain=16",
                                                  "exposure.flicker_hz=50", "exposure.target=0.45", NULL});
    struct seen seen = look();
    print_message("mean %.3f at first\n", seen.mean);
    assert_true(seen.mean < 0.02);
    settle();
    seen = look();
    assert_int_equal(seen.capture[PLX_LEFT].exposure_us, LAMP_US); /* up to the cap of 15 ms, then gain */
    assert_true(seen.capture[PLX_LEFT].gain > 2.0f);

    light(feed, 180); /* brighter */
    while (on_target(&seen))
        seen = look();
    settle();
    seen = look();
    assert_int_equal(seen.capture[PLX_LEFT].exposure_us, LAMP_US);
    assert_true(seen.capture[PLX_LEFT].gain < 2.0f);
    close(feed);
    service_stop(&service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_loop),
    };
    return cmocka_run_group_tests_name("service_exposure", tests, NULL, NULL);
}
