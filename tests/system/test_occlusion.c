/* SPDX-License-Identifier: Apache-2.0 */
/* Things of the synthetic scene that a nearer one hides in part, through the whole pipeline: what stands is never called
 * moving, what moves still is. */
#include <math.h>
#include <stdbool.h>

#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/runner.h"
#include "tests/scene_truth.h"

#define WIDTH 640
#define HEIGHT 480
#define RATE 10
#define SEED 1
#define FAR_BOX 4 /* a box of the demo scene */

struct seen {
    int frames, hidden, moving; /* obstacles on the object; of those, with a tenth of its front hidden or more; moving */
    double fastest;             /* published speed over the ground */
    uint32_t first, last;       /* tracks, while its whole front is visible */
};

static void add(const struct scene_truth_object *object, const struct plx_obstacle *obstacle, struct seen *seen)
{
    const double x = (double)obstacle->position_m[0] - object->x, z = (double)obstacle->position_m[2] - object->z;
    if (obstacle->status == PLX_TRACK_LOST || fabs(x) > object->width / 2 + 0.03 * object->z || fabs(z) > 0.08 * object->z)
        return;
    seen->frames++;
    seen->hidden += object->visible_ratio < 0.9;
    seen->moving += obstacle->moving != 0;
    seen->fastest =
        fmax(seen->fastest, hypot((double)obstacle->world_velocity_mps[0], (double)obstacle->world_velocity_mps[2]));
    if (object->visible_ratio < 1)
        return;
    seen->first = seen->first == 0 ? obstacle->track : seen->first;
    seen->last = obstacle->track;
}

static void run(const struct plx_scene *scene, int seconds, struct seen ret_seen[PLX_SCENE_MAX_OBJECTS])
{
    struct scene_truth truth;
    struct plx_stages *stages;
    struct runner runner;

    runner_create_for_scene(scene, PLX_OBSTACLES_OF_STIXELS, &stages, &runner);
    for (uint32_t i = 0; i < (uint32_t)(seconds * RATE); i++) {
        const double time = (double)i / RATE;
        runner_draw(&runner, scene, time, i);
        assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)i * (PLX_NS_PER_S / RATE)), 0);
        assert_int_equal(scene_truth(scene, time, NULL, &truth), 0);
        for (int n = 0; n < truth.object_count; n++)
            for (uint32_t k = 0; k < runner.frame->obstacle_count; k++)
                add(&truth.object[n], &runner.frame->obstacle[k], &ret_seen[truth.object[n].index]);
    }
    for (int n = 0; n < scene->object_count; n++)
        print_message("object %d: seen in %d frames, hidden in part in %d, moving in %d, at most %.2f m/s\n", n,
                      ret_seen[n].frames, ret_seen[n].hidden, ret_seen[n].moving, ret_seen[n].fastest);
    runner_destroy(&runner);
    stages->ops->destroy(stages);
}

/* A box that hides a third of a box which stands behind it, and passes within 10 s. */
static void a_far_box_stands_while_a_near_one_passes(void **state)
{
    (void)state;
    struct seen seen[PLX_SCENE_MAX_OBJECTS] = {{0}};
    struct plx_scene scene;

    plx_scene_demo(WIDTH, HEIGHT, SEED, &scene);
    scene.object_count = 2;
    scene.object[0] = (struct plx_scene_object){-3, 3.2, 1.0, 1.2, 0.5, 0.7, 0, 10};
    scene.object[1] = (struct plx_scene_object){0, 8, 3, 1.4, 1, 0, 0, 0};
    run(&scene, 10, seen);
    assert_true(seen[0].moving >= 20); /* it is in view for a part of its way, and turns */
    assert_true(seen[1].hidden >= 40);
    assert_int_equal(seen[1].moving, 0);
    assert_true(seen[1].fastest < 0.15);
    assert_int_equal(seen[1].last, seen[1].first);
}

/* The demo scene with its far box at rest, for one period of the box that approaches before it. */
static void the_far_box_of_the_demo_stands(void **state)
{
    (void)state;
    struct seen seen[PLX_SCENE_MAX_OBJECTS] = {{0}};
    struct plx_scene scene;

    plx_scene_demo(WIDTH, HEIGHT, SEED, &scene);
    scene.object[FAR_BOX].x = 1.3;
    scene.object[FAR_BOX].vx = 0;
    run(&scene, 16, seen);
    assert_true(seen[FAR_BOX].hidden >= 40);
    assert_int_equal(seen[FAR_BOX].moving, 0);
    assert_true(seen[FAR_BOX].fastest < 0.15);
    assert_int_equal(seen[2].moving + seen[3].moving, 0); /* the poles */
}

/* The demo scene as it is: its far box moves at 0.5 m/s, hidden in part for half of its period. */
static void the_far_box_of_the_demo_moves(void **state)
{
    (void)state;
    struct seen seen[PLX_SCENE_MAX_OBJECTS] = {{0}};
    struct plx_scene scene;

    plx_scene_demo(WIDTH, HEIGHT, SEED, &scene);
    run(&scene, 24, seen);
    assert_true(seen[FAR_BOX].hidden >= 80);
    assert_true(seen[FAR_BOX].moving >= 0.55 * seen[FAR_BOX].frames);
    assert_int_equal(seen[2].moving + seen[3].moving, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_far_box_stands_while_a_near_one_passes),
                                       cmocka_unit_test(the_far_box_of_the_demo_stands),
                                       cmocka_unit_test(the_far_box_of_the_demo_moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
