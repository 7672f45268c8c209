/* SPDX-License-Identifier: Apache-2.0 */
/* The drift of the rows, measured by the whole pipeline: rendered scenes whose right picture is moved along its columns as a
 * camera that was turned would move it, and the same without. */
#include <math.h>
#include <string.h>

#include "app/corrections/worker.h"
#include "core/base/clock.h"
#include "core/drift/offset.h"
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
    runner_create_for_scene(&scene, PLX_OBSTACLES_OF_STIXELS, &stages, &runner);
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
                (double)d.bend_rad / DEGREE, t->bend / DEGREE, (double)d.scale, t->scale, (double)d.epipolar_error_px,
                (double)d.residual_px);
            assert_true(d.matches >= 200);
            assert_true((d.disparity_offset_deviation_px > 0) == (scene == 1)); /* the demo's cameras stand */
            cover += covered(d.pitch_rad, d.pitch_deviation_rad, t->pitch) +
                     covered(d.roll_rad, d.roll_deviation_rad, t->roll) + covered(d.bend_rad, d.bend_deviation_rad, t->bend) +
                     covered(d.scale, d.scale_deviation, t->scale);
            assert_true((double)d.pitch_deviation_rad < 0.005 * DEGREE && (double)d.bend_deviation_rad < 0.04 * DEGREE);
            assert_true((double)d.residual_px <= 0.05 && (i == 0 || d.residual_px < d.epipolar_error_px));
        }
    print_message("    %d of %d numbers within 1.96 deviations\n", cover, 2 * CASES * 4);
    assert_true(cover >= 2 * CASES * 4 * 9 / 10);
}

/* The pipeline is told a principal point of the right picture that is off by what all disparities then are. */
static void the_offset_of_disparities_shows_in_motion(void **state)
{
    (void)state;
    static const double offset[] = {0, 0.3, -0.6, 1.2, -1.2};

    for (size_t i = 0; i < sizeof offset / sizeof offset[0]; i++) {
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;

        plx_scene_street(WIDTH, HEIGHT, 1, &scene);
        struct plx_scene told = scene;
        told.calibration.cx_right -= offset[i];
        runner_create_for_scene(&told, PLX_OBSTACLES_OF_STIXELS, &stages, &runner);
        for (uint32_t frame = 0; frame < DRIVE; frame++) {
            runner_draw(&runner, &scene, (double)frame / RATE, frame);
            assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)(1e9 * frame / RATE)), 0);
        }
        const struct plx_drift_info *drift = &runner.frame->drift;
        print_message("    offset %.3f +- %.3f px (%.1f)\n", (double)drift->disparity_offset_px,
                      (double)drift->disparity_offset_deviation_px, offset[i]);
        assert_true(drift->disparity_offset_deviation_px > 0 && (double)drift->disparity_offset_deviation_px < 0.15);
        assert_true(covered(drift->disparity_offset_px, drift->disparity_offset_deviation_px, offset[i]));
        assert_true(fabs((double)drift->disparity_offset_px - offset[i]) <= 0.1);
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
}

/* What the worker of a test keeps and finds. */
struct history {
    struct plx_worker *worker;
    uint32_t kept; /* numbers */
    _Atomic uint32_t wanted;
    struct plx_correction correction;
    bool hold, last_applied;
    float epipolar_error_px, residual_px, disparity_offset_deviation_px;
};

static bool wanted(void *context, struct plx_correction_order *order)
{
    const struct history *history = context;
    order->hold = history->hold;
    if (order->number == history->wanted)
        return false;
    order->number = history->wanted;
    order->correction = history->wanted > 0 ? history->correction : (struct plx_correction){0};
    return true;
}

static uint32_t keep(void *context, struct plx_correction_evidence *evidence)
{
    struct history *history = context;
    history->kept++;
    history->last_applied = evidence->applied;
    history->epipolar_error_px = evidence->drift.epipolar_error_px;
    history->residual_px = evidence->drift.residual_px;
    history->disparity_offset_deviation_px = evidence->drift.disparity_offset_deviation_px;
    if (evidence->applied) {
        history->wanted = history->kept;
        history->correction = evidence->after;
    }
    return history->kept;
}

static void create(const struct plx_scene *scene, enum plx_correction_mode mode, struct history *history,
                   struct plx_stages **ret_stages, struct runner *ret_runner)
{
    const struct plx_limits limits = {.width = WIDTH, .height = HEIGHT, .disparities = 64};
    struct plx_pipeline_params params;

    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    params.correction = mode;
    assert_int_equal(plx_cpu_create(&limits, ret_stages), 0);
    runner_create(*ret_stages, &params, WIDTH, HEIGHT, &scene->calibration, ret_runner);
    if (history) {
        const struct plx_correction_store store = {history, wanted, keep};
        struct plx_stereo_calibration calibration;
        plx_calibration_pinhole(WIDTH, HEIGHT, &scene->calibration, &calibration);
        assert_int_equal(plx_worker_create(&calibration, &store, &history->worker), 0);
        const struct plx_correction_worker worker = plx_worker_ops(history->worker);
        assert_int_equal(plx_pipeline_use_worker(ret_runner->pipeline, &worker), 0);
    }
}

/* Runs frame number I of SCENE, the right picture turned by NUMBERS. */
static void run_frame(struct runner *runner, const struct plx_scene *scene, const struct numbers *numbers, uint32_t i)
{
    runner_draw(runner, scene, (double)i / RATE, i);
    turn(&scene->calibration, numbers, runner->raw[PLX_RIGHT].data);
    assert_int_equal(runner_run(runner, PLX_NS_PER_S + (int64_t)(1e9 * i / RATE)), 0);
}

static void rows_are_corrected_after_20_seconds(void **state)
{
    (void)state;
    static const struct numbers turned = {0.1 * DEGREE, -0.1 * DEGREE, -0.2 * DEGREE, 0.001};
    struct history history = {0};
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;

    plx_scene_street(WIDTH, HEIGHT, 1, &scene);
    create(&scene, PLX_CORRECTION_ROWS, &history, &stages, &runner);
    uint32_t first = 0;
    for (uint32_t i = 0; i < 30 * RATE; i++) {
        run_frame(&runner, &scene, &turned, i);
        first = first == 0 && runner.frame->correction.number > 0 ? i : first;
    }
    plx_worker_destroy(history.worker);
    const struct plx_correction *applied = &runner.frame->correction.applied;
    print_message(
        "    from frame %u on; rows %.2f -> %.3f px; correction %u: pitch %.4f, roll %.4f, bend %.4f deg, scale %.5f\n", first,
        (double)history.epipolar_error_px, (double)runner.frame->drift.epipolar_error_px, history.kept,
        (double)applied->pitch_rad / DEGREE, (double)applied->roll_rad / DEGREE, (double)applied->bend_rad / DEGREE,
        (double)applied->scale);
    assert_in_range(first, 20 * RATE, 22 * RATE);
    assert_true((double)runner.frame->drift.epipolar_error_px < 0.05);
    assert_true(fabs((double)applied->pitch_rad - turned.pitch) < 0.003 * DEGREE);
    assert_true(applied->disparity_offset_px == 0 && runner.frame->correction.number == history.kept && history.kept <= 3);
    runner_destroy(&runner);
    stages->ops->destroy(stages);
}

/* Each picture has a pipeline of its own, and their times say nothing. */
static void single_pictures_learn_from_each_other(void **state)
{
    (void)state;
    static const struct numbers turned = {0.1 * DEGREE, -0.1 * DEGREE, -0.2 * DEGREE, 0.001};
    struct plx_pipeline_state learned_so_far = {.single = true};
    const struct plx_learned *learned = &learned_so_far.learned;
    uint32_t first = 0, before = 0;

    for (uint32_t i = 0; i < 20; i++) {
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;

        plx_scene_street(WIDTH, HEIGHT, 1 + i % 4, &scene);
        create(&scene, PLX_CORRECTION_ROWS, NULL, &stages, &runner);
        assert_int_equal(plx_pipeline_restore(runner.pipeline, &learned_so_far), 0);
        runner_draw(&runner, &scene, i, i);
        turn(&scene.calibration, &turned, runner.raw[PLX_RIGHT].data);
        assert_int_equal(runner_run(&runner, 0), 0);
        before = learned->place;
        plx_pipeline_save(runner.pipeline, &learned_so_far);
        first = first == 0 && runner.frame->correction.number > 0 ? i : first;
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
    print_message("    from picture %u on; rows %.3f px; correction %u, %d matches\n", first,
                  (double)learned->drift.info.epipolar_error_px, learned->state.number, learned->drift.count);
    assert_in_range(first, 2, 6); /* one picture alone corrects nothing */
    assert_true(learned->drift.info.epipolar_error_px < 0.05F && learned->state.number <= 3);
    assert_int_equal(learned->drift.count, PLX_ROW_MATCHES);
    assert_true(learned->place > before); /* a full memory is renewed */
}

/* With a correction and without it again, beside a pipeline that corrects nothing. */
static void after_an_undo_the_bits_are_those_of_before(void **state)
{
    (void)state;
    static const struct numbers none;
    struct history history = {.wanted = 1, .correction = {.pitch_rad = 0.002F, .disparity_offset_px = 0.5F}, .hold = true};
    struct plx_stages *stages[2];
    struct plx_scene scene;
    struct runner runner[2];
    int different[2] = {0};

    plx_scene_street(WIDTH, HEIGHT, 1, &scene);
    create(&scene, PLX_CORRECTION_OFF, NULL, &stages[0], &runner[0]);
    create(&scene, PLX_CORRECTION_ALL, &history, &stages[1], &runner[1]);
    for (uint32_t i = 0; i < 40; i++) {
        struct plx_image disparity[2];
        if (i == 5)
            history.wanted = 0;
        for (int k = 0; k < 2; k++) {
            run_frame(&runner[k], &scene, &none, i);
            disparity[k] = plx_pipeline_plane(runner[k].frame, PLX_PLANE_DISPARITY);
        }
        if (runner[1].frame->correction.number > 0 || i >= 15)
            for (int y = 0; y < HEIGHT; y++)
                different[i >= 15] += memcmp(plx_row(&disparity[0], y), plx_row(&disparity[1], y), WIDTH * 2) != 0;
    }
    plx_worker_destroy(history.worker);
    assert_true(different[0] > HEIGHT);
    assert_int_equal(different[1], 0);
    assert_int_equal(runner[1].frame->correction.number, 0);
    for (int k = 0; k < 2; k++) {
        runner_destroy(&runner[k]);
        stages[k]->ops->destroy(stages[k]);
    }
}

/* Columns are corrected with `all`, and proposed with `rows`. */
static void columns_need_motion(void **state)
{
    (void)state;
    static const struct numbers none;
    static const enum plx_correction_mode modes[] = {PLX_CORRECTION_ALL, PLX_CORRECTION_ROWS};

    for (int i = 0; i < 2; i++) {
        struct history history = {0};
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;

        plx_scene_street(WIDTH, HEIGHT, 1, &scene);
        struct plx_scene told = scene;
        told.calibration.cx_right -= 0.5;
        create(&told, modes[i], &history, &stages, &runner);
        for (uint32_t frame = 0; frame < 130; frame++)
            run_frame(&runner, &scene, &none, frame);
        plx_worker_destroy(history.worker);
        const struct plx_correction_info *info = &runner.frame->correction;
        const float columns =
            modes[i] == PLX_CORRECTION_ALL ? info->applied.disparity_offset_px : info->proposed.disparity_offset_px;
        print_message("    offset %.3f +- %.3f; columns %.3f px (0.5)\n", (double)runner.frame->drift.disparity_offset_px,
                      (double)runner.frame->drift.disparity_offset_deviation_px, (double)columns);
        assert_true(fabs((double)columns - 0.5) < 0.15);
        assert_true(history.disparity_offset_deviation_px > 0.04F && history.disparity_offset_deviation_px < 0.2F);
        assert_true((info->proposed_number > 0) == (modes[i] == PLX_CORRECTION_ROWS));
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
}

static double between(uint8_t (*pixels)[WIDTH], double u, double v)
{
    u = fmin(fmax(u, 0), WIDTH - 1.001);
    v = fmin(fmax(v, 0), HEIGHT - 1.001);
    const int x = (int)u, y = (int)v;
    const double a = u - x, b = v - y;
    return (1 - b) * ((1 - a) * pixels[y][x] + a * pixels[y][x + 1]) +
           b * ((1 - a) * pixels[y + 1][x] + a * pixels[y + 1][x + 1]);
}

/* PIXELS as a camera sees them that is turned about its y axis: rows and columns move. */
static void yaw(const struct plx_calibration_info *c, double angle, uint8_t *pixels)
{
    static uint8_t was[HEIGHT][WIDTH];
    memcpy(was, pixels, sizeof was);
    for (int v = 0; v < HEIGHT; v++)
        for (int u = 0; u < WIDTH; u++) {
            const double x = (u - c->cx_right) / c->fx, y = (v - c->cy) / c->fy, z = cos(angle) - sin(angle) * x;
            pixels[v * WIDTH + u] =
                (uint8_t)lround(between(was, c->cx_right + c->fx * (cos(angle) * x + sin(angle)) / z, c->cy + c->fy * y / z));
        }
}

/* A camera that was turned to the side bends all distances, by 4 to 22 % at 5 m here: motion shows it within 100 frames, in the
 * middle of the picture and at its sides. By a larger angle rows are bent too, and until they are corrected, after 20 s, some
 * of it is left. */
static void a_yaw_is_corrected_on_the_way(void **state)
{
    (void)state;
    static const struct {
        double degrees;
        uint32_t frames;
    } cases[] = {{0.05, 100}, {-0.1, 100}, {0.3, 180}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;

        plx_scene_street(WIDTH, HEIGHT, 1, &scene);
        const struct plx_calibration_info *c = &scene.calibration;
        const double truth = -c->fx * cases[i].degrees * DEGREE, disparity = c->fx * c->baseline_m / 5; /* 5 m away */
        const double side = plx_side_square(c, WIDTH);
        float bend_rad = 0;
        create(&scene, PLX_CORRECTION_ALL, NULL, &stages, &runner);
        for (uint32_t frame = 0; frame < cases[i].frames; frame++) {
            runner_draw(&runner, &scene, (double)frame / RATE, frame);
            yaw(c, cases[i].degrees * DEGREE, runner.raw[PLX_RIGHT].data);
            assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)(1e9 * frame / RATE)), 0);
            if (runner.frame->correction.applied.bend_rad != bend_rad) /* what wrong rows said of disparities is not told */
                assert_true(runner.frame->drift.disparity_offset_deviation_px == 0);
            bend_rad = runner.frame->correction.applied.bend_rad;
        }
        const struct plx_correction *a = &runner.frame->correction.applied;
        const struct plx_drift_info *drift = &runner.frame->drift;
        const double middle = truth - (double)a->disparity_offset_px, sides = truth - (double)a->curve_px;
        print_message(
            "    yaw %.2f degrees, %.2f px: columns %.3f + %.3f x^2 px; %.2f %% at 5 m in the middle and %.2f %% at the side "
            "are left of %.1f %%; says %.3f +- %.3f, side %.3f +- %.3f px\n",
            cases[i].degrees, truth, (double)a->disparity_offset_px, (double)a->curve_px, 100 * middle / disparity,
            100 * (middle + side * sides) / disparity, 100 * truth / disparity, (double)drift->disparity_offset_px,
            (double)drift->disparity_offset_deviation_px, (double)drift->disparity_offset_px + side * (double)drift->curve_px,
            (double)drift->side_deviation_px);
        assert_true(fabs(middle) <= 0.12 && fabs(100 * middle / disparity) <= 1);
        assert_true(fabs(100 * (middle + side * sides) / disparity) <= 1);
        assert_true(covered(drift->disparity_offset_px, drift->disparity_offset_deviation_px, middle));
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
}

/* Scenes without an error: nothing is corrected by what would be seen, and nothing is proposed. */
static void nothing_is_corrected_without_an_error(void **state)
{
    (void)state;
    static const struct numbers none;

    for (uint64_t seed = 0; seed < 2; seed++) {
        struct history history = {0};
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;

        (seed % 2 ? plx_scene_street : plx_scene_demo)(WIDTH, HEIGHT, seed + 1, &scene);
        create(&scene, PLX_CORRECTION_ALL, &history, &stages, &runner);
        for (uint32_t i = 0; i < 30 * RATE; i++)
            run_frame(&runner, &scene, &none, i);
        plx_worker_destroy(history.worker);
        assert_int_equal(history.kept, 0);
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_turned_is_found),
                                       cmocka_unit_test(the_offset_of_disparities_shows_in_motion),
                                       cmocka_unit_test(rows_are_corrected_after_20_seconds),
                                       cmocka_unit_test(single_pictures_learn_from_each_other),
                                       cmocka_unit_test(after_an_undo_the_bits_are_those_of_before),
                                       cmocka_unit_test(columns_need_motion),
                                       cmocka_unit_test(a_yaw_is_corrected_on_the_way),
                                       cmocka_unit_test(nothing_is_corrected_without_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
