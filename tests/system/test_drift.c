/* SPDX-License-Identifier: Apache-2.0 */
/* The drift of the rows, measured by the whole pipeline: rendered scenes whose right picture is moved along its columns as a
 * camera that was turned would move it, and the same without. */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "tests/cmocka.h"
#include "tests/runner.h"

#define WIDTH 640
#define HEIGHT 480
#define RATE 6
#define FRAMES 40
#define DRIVE 60 /* frames */
#define DEGREE 0.017453292519943295

struct numbers {
    double pitch, roll, bend, scale;
};

/* Moves what lies at (u, v) of PIXELS down by what NUMBERS say. */
static void turn(const struct plx_calibration_info *c, const struct numbers *numbers, uint8_t *pixels)
{
    static uint8_t was[HEIGHT][WIDTH];
    memcpy(was, pixels, sizeof was);
    for (int v = 0; v < HEIGHT; v++)
        for (int u = 0; u < WIDTH; u++) {
            const double x = (u - c->cx_right) / c->fx, y = (v - c->cy) / c->fy;
            const double rows =
                c->fy * (numbers->pitch * (1 + y * y) - numbers->roll * x - numbers->bend * x * y + numbers->scale * y);
            const double from = fmin(fmax(v - rows, 0), HEIGHT - 1.001);
            const int row = (int)from;
            pixels[v * WIDTH + u] = (uint8_t)lround(was[row][u] + (from - row) * (was[row + 1][u] - was[row][u]));
        }
}

static struct plx_drift_info measure(void (*draw)(int width, int height, uint64_t seed, struct plx_scene *ret), uint64_t seed,
                                     const struct numbers *numbers)
{
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;

    draw(WIDTH, HEIGHT, seed, &scene);
    runner_create_for_scene(&scene, PLX_RECORDS_STIXELS, &stages, &runner);
    for (uint32_t i = 0; i < FRAMES; i++) {
        const double time_s = (double)i / RATE;
        runner_draw(&runner, &scene, time_s, i);
        turn(&scene.calibration, numbers, runner.raw[PLX_RIGHT].data);
        assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)(time_s * 1e9)), 0);
    }
    const struct plx_drift_info drift = runner.frame->drift;
    runner_destroy(&runner);
    stages->ops->destroy(stages);
    return drift;
}

static int covered(float found, float deviation, double truth)
{
    return fabs((double)found - truth) <= 1.96 * (double)deviation;
}

static void what_was_turned_is_found(void **state)
{
    (void)state;
    static const struct numbers turned[] = {
        {0, 0, 0, 0},
        {0.1 * DEGREE, 0, 0, 0},
        {0, -0.2 * DEGREE, 0, 0},
        {0, 0, 0.3 * DEGREE, 0},
        {0, 0, 0, 0.002},
        {-0.05 * DEGREE, 0.1 * DEGREE, -0.2 * DEGREE, -0.001},
    };
    enum { CASES = sizeof turned / sizeof turned[0] };
    int cover = 0;

    for (int scene = 0; scene < 2; scene++)
        for (int i = 0; i < CASES; i++) {
            const struct numbers *t = &turned[i];
            const struct plx_drift_info d = measure(scene ? plx_scene_street : plx_scene_demo, 1, t);
            print_message(
                "    pitch %.4f (%.4f), roll %.4f (%.4f), bend %.4f (%.4f) deg, scale %.5f (%.5f); rows %.3f, left %.3f px\n",
                (double)d.pitch_rad / DEGREE, t->pitch / DEGREE, (double)d.roll_rad / DEGREE, t->roll / DEGREE,
                (double)d.bend_rad / DEGREE, t->bend / DEGREE, (double)d.scale, t->scale, (double)d.rows, (double)d.rows_left);
            assert_true(d.matches >= 200);
            assert_true((d.offset_deviation > 0) == (scene == 1)); /* the demo's cameras stand */
            cover += covered(d.pitch_rad, d.pitch_deviation_rad, t->pitch) +
                     covered(d.roll_rad, d.roll_deviation_rad, t->roll) + covered(d.bend_rad, d.bend_deviation_rad, t->bend) +
                     covered(d.scale, d.scale_deviation, t->scale);
            assert_true((double)d.pitch_deviation_rad < 0.005 * DEGREE && (double)d.bend_deviation_rad < 0.04 * DEGREE);
            assert_true((double)d.rows_left <= 0.05 && (i == 0 || d.rows_left < d.rows));
        }
    print_message("    %d of %d numbers within 1.96 deviations\n", cover, 2 * CASES * 4);
    assert_true(cover >= 2 * CASES * 4 * 9 / 10);
}

/* The pipeline is told a principal point of the right picture that is off by what all disparities then are. */
static void the_offset_of_disparities_shows_in_motion(void **state)
{
    (void)state;
    static const double offset[] = {0, 0.3, -0.3};

    for (size_t i = 0; i < sizeof offset / sizeof offset[0]; i++) {
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;

        plx_scene_street(WIDTH, HEIGHT, 1, &scene);
        struct plx_scene told = scene;
        told.calibration.cx_right -= offset[i];
        runner_create_for_scene(&told, PLX_RECORDS_STIXELS, &stages, &runner);
        for (uint32_t frame = 0; frame < DRIVE; frame++) {
            runner_draw(&runner, &scene, (double)frame / RATE, frame);
            assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)(1e9 * frame / RATE)), 0);
        }
        const struct plx_drift_info *drift = &runner.frame->drift;
        print_message("    offset %.3f +- %.3f px (%.1f)\n", (double)drift->offset, (double)drift->offset_deviation, offset[i]);
        assert_true(drift->offset_deviation > 0 && (double)drift->offset_deviation < 0.15);
        assert_true(covered(drift->offset, drift->offset_deviation, offset[i]));
        assert_true(fabs((double)drift->offset - offset[i]) <= 0.1);
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_turned_is_found),
                                       cmocka_unit_test(the_offset_of_disparities_shows_in_motion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
