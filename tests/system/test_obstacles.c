/* SPDX-License-Identifier: Apache-2.0 */
/* The obstacles of the synthetic scene, 300 noisy frames through the whole pipeline, compared with the truth as
 * docs/obstacles-accuracy.md defines it. */
#include <stdlib.h>

#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/obstacle_score.h"
#include "tests/runner.h"

#define WIDTH 640
#define HEIGHT 480
#define FRAMES 300
#define RATE 30.0
#define SLOW_RATE 6.0
#define SEED 1
#define MIN_WIDTH_M 0.3 /* narrower ones are poles, 16 and 12 pixels wide */

static void run(const struct plx_scene *scene, enum plx_obstacle_method method, double rate, struct obstacle_score *score)
{
    struct scene_truth truth;
    struct plx_stages *stages;
    struct runner runner;

    runner_create_for_scene(scene, method, &stages, &runner);

    score_begin(score, 1, 15);
    for (uint32_t i = 0; i < FRAMES; i++) {
        const double time = i / rate;
        runner_draw(&runner, scene, time, i);
        assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)(time * 1e9)), 0);
        assert_int_equal(scene_truth(scene, time, NULL, &truth), 0);
        assert_int_equal(runner.frame->ground.valid, 1);
        score_add(score, scene, &truth, runner.frame->obstacle, (int)runner.frame->obstacle_count);
    }
    runner_destroy(&runner);
    stages->ops->destroy(stages);
}

static void expect_right(enum plx_obstacle_method method)
{
    static struct obstacle_score score;
    struct plx_scene scene;
    int objects = 0;

    plx_scene_demo(WIDTH, HEIGHT, SEED, &scene);
    run(&scene, method, RATE, &score);
    score_print(&score);
    for (int i = 0; i < PLX_SCENE_MAX_OBJECTS; i++) {
        struct object_score *object = &score.object[i];
        if (object->counted == 0)
            continue;
        objects++;
        assert_true(object->found >= 0.98 * object->counted);
        assert_true(errors_mean(&object->distance) <= 0.03);
        assert_true(errors_mean(&object->width) <= (scene.object[i].width >= MIN_WIDTH_M ? 0.10 : 0.15));
        assert_true(errors_mean(&object->height) <= 0.05);
        assert_int_equal(object->ids, 0);
        assert_true(errors_mean(&object->velocity_error) <= (method == PLX_OBSTACLES_OF_STIXELS ? 0.15 : 0.20));
    }
    assert_true(objects >= 5);
    assert_true(score.false_frames <= 0.02 * score.frames);
}

static void obstacles_are_right(void **state)
{
    (void)state;
    expect_right(PLX_OBSTACLES_OF_REGIONS);
}

static void obstacles_of_stixels_are_right(void **state)
{
    (void)state;
    expect_right(PLX_OBSTACLES_OF_STIXELS);
}

/* 50 s at 6 Hz: the objects pass before and behind each other. */
static void expect_apart(enum plx_obstacle_method method)
{
    static struct obstacle_score score;
    struct plx_scene scene;
    plx_scene_demo(WIDTH, HEIGHT, SEED, &scene);
    run(&scene, method, SLOW_RATE, &score);
    score_print(&score);
    assert_int_equal(score.joined_frames, 0);
}

static void things_apart_in_depth_stay_apart(void **state)
{
    (void)state;
    expect_apart(PLX_OBSTACLES_OF_REGIONS);
}

static void stixels_apart_in_depth_stay_apart(void **state)
{
    (void)state;
    expect_apart(PLX_OBSTACLES_OF_STIXELS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obstacles_are_right),
        cmocka_unit_test(obstacles_of_stixels_are_right),
        cmocka_unit_test(things_apart_in_depth_stay_apart),
        cmocka_unit_test(stixels_apart_in_depth_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
