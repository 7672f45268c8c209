/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on rendered ground, by the whole pipeline: posts, low boxes and drops in a zone stop the robot in each frame,
 * level ground does not, and what went away is gone from the map in half a second. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/robot.h"

#define PAIRS_A_SECOND 30
#define FRAMES 24

static int reasons_seen(struct runner *runner, const struct plx_scene *scene, uint32_t reasons, int frames)
{
    int seen = 0;
    for (int frame = 0; frame < ROBOT_FIRST + frames; frame++) {
        robot_see(runner, scene, frame);
        seen += frame >= ROBOT_FIRST && (runner->frame->zone[0].reasons & reasons) != 0;
    }
    return seen;
}

static int count_frames(const struct plx_scene *scene, double min_height_m, uint32_t reasons, int frames)
{
    const struct plx_zone_list zones = robot_zone(1, 4.5, 1, 0); /* behind a thing nothing is known */
    struct plx_stages *stages;
    struct runner runner;
    robot_create(scene, min_height_m, &zones, &stages, &runner);
    const int seen = reasons_seen(&runner, scene, reasons, frames);
    runner_destroy(&runner);
    stages->ops->destroy(stages);
    return seen;
}

static void put(struct plx_scene *scene, double x, double z, double width, double height)
{
    scene->object[scene->object_count++] =
        (struct plx_scene_object){.x = x, .z = z, .width = width, .height = height, .depth = width};
}

static void posts_stop_the_robot(void **state)
{
    (void)state;
    int seen = 0, of = 0;
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
        for (int i = 0; i < 3; i++) {
            struct plx_scene scene;
            robot_scene(camera, 11 + (uint64_t)i, &scene);
            put(&scene, 0.3 * (i - 1), 2 + i, 0.05, 0.4);
            const int here = count_frames(&scene, 0.25, PLX_REASON_OCCUPIED, FRAMES);
            print_message("    camera %.1f m high, post %d m ahead: %d of %d frames\n", scene.camera_height_m, 2 + i, here,
                          FRAMES);
            seen += here;
            of += FRAMES;
        }
    assert_int_equal(seen, of);
}

static void low_boxes_stop_the_robot(void **state)
{
    (void)state;
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++) {
        struct plx_scene scene;
        robot_scene(camera, 31, &scene);
        put(&scene, 0.1, 2, 0.1, 0.1);
        const int seen = count_frames(&scene, 0, PLX_REASON_OCCUPIED, FRAMES);
        print_message("    camera %.1f m high: %d of %d frames\n", scene.camera_height_m, seen, FRAMES);
        assert_true(seen == FRAMES);
    }
}

static void drops_stop_the_robot(void **state)
{
    (void)state;
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++) {
        struct plx_scene scene;
        robot_scene(camera, 41, &scene);
        scene.step_count = 1;
        scene.step[0] = (struct plx_scene_step){.z = 1.5, .depth = 0.17};
        assert_int_equal(count_frames(&scene, 0.25, PLX_REASON_DROP, FRAMES), FRAMES);
    }
}

static void level_ground_does_not(void **state)
{
    (void)state;
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
        for (int low = 0; low < 2; low++) {
            struct plx_scene scene;
            robot_scene(camera, 51 + (uint64_t)low, &scene);
            const uint32_t all = PLX_REASON_OCCUPIED | PLX_REASON_DROP | PLX_REASON_UNKNOWN | PLX_REASON_LITTLE_DEPTH;
            const int seen = count_frames(&scene, low ? 0 : 0.25, all, FRAMES);
            print_message("    camera %.1f m high, least height %.2f m: %d of %d frames\n", scene.camera_height_m,
                          low ? 0 : 0.25, seen, FRAMES);
            assert_int_equal(seen, 0);
        }
}

static int occupied_cells(const struct runner *runner)
{
    const struct plx_image cells = plx_pipeline_plane(runner->frame, PLX_PLANE_MAP);
    int count = 0;
    for (int row = 0; row < PLX_MAP_CELLS; row++)
        for (int column = 0; column < PLX_MAP_CELLS; column++)
            count += ((const struct plx_cell *)plx_row(&cells, row))[column].kind == PLX_CELL_OCCUPIED;
    return count;
}

static void what_went_away_is_gone_in_half_a_second(void **state)
{
    (void)state;
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++) {
        struct plx_scene scene;
        struct plx_stages *stages;
        struct runner runner;
        robot_scene(camera, 61, &scene);
        put(&scene, 0, 2.2, 0.4, 0.8);
        robot_create(&scene, 0.25, NULL, &stages, &runner);
        for (int frame = 0; frame < 20; frame++)
            robot_see(&runner, &scene, frame);
        assert_true(occupied_cells(&runner) > 5);
        scene.object_count = 0;
        int frames = 0;
        while (frames < 2 * PAIRS_A_SECOND && occupied_cells(&runner) > 0)
            robot_see(&runner, &scene, 20 + frames++);
        print_message("    camera %.1f m high: gone after %d frames\n", scene.camera_height_m, frames);
        assert_true(frames <= PAIRS_A_SECOND / 2);
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
}

/* --- out of view --------------------------------------------------------------------------------------------------------- */

#define APPROACH_S 2.0

/* A robot drives up to a box of 20 cm until it is below the picture, which shows a wall behind it. */
struct approach {
    struct plx_scene scene;
    struct plx_stages *stages;
    struct runner runner;
    uint32_t frame;
    int64_t capture_ns;
};

enum { APPROACH_WALL, APPROACH_BOX };

/* The next pair, INTERVAL_NS after the last one. The box must stop the robot. */
static void approach_see(struct approach *approach, double time_s, int64_t interval_ns, bool is_dark)
{
    struct runner *runner = &approach->runner;
    runner_draw(runner, &approach->scene, time_s, approach->frame++);
    for (int eye = 0; eye < PLX_EYES && is_dark; eye++)
        memset(runner->raw[eye].data, 6, runner->raw[eye].pitch * (size_t)runner->raw[eye].height);
    approach->capture_ns += interval_ns;
    assert_int_equal(runner_run(runner, approach->capture_ns), 0);
    if (approach->frame > ROBOT_FIRST && !(runner->frame->zone[0].reasons & PLX_REASON_OCCUPIED))
        fail_msg("frame %u: reasons %x, map at %g, %g", approach->frame, runner->frame->zone[0].reasons, runner->frame->map.x_m,
                 runner->frame->map.y_m);
}

static void approach_begin(struct approach *approach)
{
    struct plx_scene *scene = &approach->scene;
    *approach = (struct approach){.capture_ns = PLX_NS_PER_S};
    robot_scene(0, 71, scene);
    scene->object_count = 2;
    scene->object[APPROACH_WALL] = (struct plx_scene_object){.z = 3.5, .width = 5, .height = 2, .depth = 0.1};
    scene->object[APPROACH_BOX] = (struct plx_scene_object){.z = 1.5, .width = 0.3, .height = 0.2, .depth = 0.1};
    scene->drive = (struct plx_scene_drive){.ahead_m = 1.25, .period_s = 2 * APPROACH_S};
    const struct plx_zone_list zones = robot_zone(0.1, 1.6, 0.5, 0);
    robot_create(scene, 0, &zones, &approach->stages, &approach->runner);
    for (int i = 0; i <= APPROACH_S * PAIRS_A_SECOND; i++)
        approach_see(approach, (double)i / PAIRS_A_SECOND, PLX_NS_PER_S / PAIRS_A_SECOND, false);
}

static void approach_end(struct approach *approach)
{
    runner_destroy(&approach->runner);
    approach->stages->ops->destroy(approach->stages);
}

static void a_box_below_the_picture_stays(void **state)
{
    (void)state;
    struct approach approach;
    approach_begin(&approach);
    for (int i = 0; i < 70; i++) /* 31.5 s: longer than memory_s */
        approach_see(&approach, APPROACH_S, 450 * PLX_NS_PER_MS, false);
    for (int i = 0; i < 10; i++) /* a hand before the lens */
        approach_see(&approach, APPROACH_S, 100 * PLX_NS_PER_MS, true);
    for (int i = 0; i < 10; i++)
        approach_see(&approach, APPROACH_S, 100 * PLX_NS_PER_MS, false);
    approach_end(&approach);
}

static void a_wall_that_moves_aside_takes_nothing_along(void **state)
{
    (void)state;
    struct approach approach;
    approach_begin(&approach);
    const struct plx_map_info then = approach.runner.frame->map;
    for (int i = 0; i < 45; i++) {
        approach.scene.object[APPROACH_WALL].x += 0.6 / PAIRS_A_SECOND;
        approach_see(&approach, APPROACH_S, PLX_NS_PER_S / PAIRS_A_SECOND, false);
    }
    const struct plx_map_info *now = &approach.runner.frame->map;
    print_message("    the wall went 0.9 m aside, the map %.3f m\n", hypot(now->x_m - then.x_m, now->y_m - then.y_m));
    assert_true(hypot(now->x_m - then.x_m, now->y_m - then.y_m) < PLX_MAP_CELL_M);
    approach_end(&approach);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posts_stop_the_robot),
        cmocka_unit_test(low_boxes_stop_the_robot),
        cmocka_unit_test(drops_stop_the_robot),
        cmocka_unit_test(level_ground_does_not),
        cmocka_unit_test(what_went_away_is_gone_in_half_a_second),
        cmocka_unit_test(a_box_below_the_picture_stays),
        cmocka_unit_test(a_wall_that_moves_aside_takes_nothing_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
