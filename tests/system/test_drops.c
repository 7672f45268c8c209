/* SPDX-License-Identifier: Apache-2.0 */
/* Drops in rendered scenes, by the whole pipeline: the edge of a platform, stairs, a pit and a kerb are seen where they are, by
 * a low and by a high camera; ground without them has none, slopes neither; free ground ends at low boxes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/view/export.h"
#include "app/view/frame_text.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/robot.h"

#define FRAMES 20

/* What the scan of a frame says: the share of its middle columns with a drop, how far ahead their edge is, and what a person
 * reads. */
struct seen {
    double share, edge_m;
    struct plx_drop nearest;
};

static int ascending(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static struct seen look(const struct plx_scene *scene, struct plx_frame *frame)
{
    const struct plx_image scan = plx_pipeline_plane(frame, PLX_PLANE_SCAN);
    const struct plx_scan *column = plx_row(&scan, 0);
    double edge[160];
    int count = 0, of = 0;
    for (int x = scan.width / 5; x < scan.width * 4 / 5; x++, of++)
        if (column[x].known & PLX_SCAN_DROP)
            edge[count++] = robot_ahead(scene, column[x].free);
    qsort(edge, (size_t)count, sizeof *edge, ascending);
    const struct plx_view view = plx_export_view(frame);
    return (struct seen){(double)count / of, count > 0 ? edge[count / 2] : 0, plx_drop_ahead(&view)};
}

static void drops_are_seen_where_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int steps;
        struct plx_scene_step step[4];
    } scenes[] = {
        {"edge of 0.1 m", 1, {{1.5, 0.1, 0}}},
        {"edge of 0.3 m", 1, {{1.5, 0.3, 0}}},
        {"platform of 1 m", 1, {{1.5, 1, 0}}},
        {"stairs", 4, {{1.5, 0.17, 0}, {1.78, 0.34, 0}, {2.06, 0.51, 0}, {2.34, 0.68, 0}}},
        {"pit of 0.6 m", 2, {{1.5, 0.4, 0}, {2.1, 0, 0}}},
        {"kerb of 0.12 m, 2.5 m ahead", 1, {{2.5, 0.12, 0}}},
    };
    for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
        for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
            struct plx_stages *stages;
            struct plx_scene scene;
            struct runner runner;
            int found = 0;
            double share = 0, worst = 0, early = 0;
            robot_scene(camera, 1 + i, &scene);
            scene.step_count = scenes[i].steps;
            memcpy(scene.step, scenes[i].step, sizeof scenes[i].step);
            robot_create(&scene, 0.25, NULL, &stages, &runner);
            for (int frame = 0; frame < FRAMES; frame++) {
                robot_see(&runner, &scene, frame);
                const struct seen seen = look(&scene, runner.frame);
                const double error = seen.edge_m - scenes[i].step[0].z;
                share += seen.share / FRAMES;
                found += seen.share > 0.5 && fabs(error) < 0.15;
                early = fmax(early, scenes[i].step[0].z - seen.nearest.ahead_m);
                assert_true(seen.share == 0 || (seen.nearest.known && seen.nearest.width > 0));
                worst = seen.share > 0 && fabs(error) > fabs(worst) ? error : worst;
            }
            print_message("    camera %.1f m high, %s: in %d of %d frames, %.0f %% of columns, edge off by %.3f m at most, "
                          "nearest %.3f m early\n",
                          scene.camera_height_m, scenes[i].name, found, FRAMES, 100 * share, worst, early);
            assert_true(found >= (scenes[i].step[0].z < 2 ? FRAMES : FRAMES * 3 / 4)); /* far edges lie 15 cm off at times */
            assert_true(share > 0.95 && fabs(worst) < 0.25 && early < 0.15);
            runner_destroy(&runner);
            stages->ops->destroy(stages);
        }
}

static void level_ground_has_none(void **state)
{
    (void)state;
    int columns = 0;
    for (int i = 0; i < 8; i++) {
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;
        robot_scene(i % 2, 100 + (uint64_t)i, &scene);
        if (i >= 4)
            (i % 2 ? plx_scene_street : plx_scene_demo)(scene.width, scene.height, (uint64_t)i, &scene);
        robot_create(&scene, 0.25, NULL, &stages, &runner);
        int here = 0;
        for (uint32_t frame = 0; frame < FRAMES; frame++) {
            runner_draw(&runner, &scene, frame * 0.5, frame);
            assert_int_equal(runner_run(&runner, PLX_NS_PER_S + frame * 500000000LL), 0);
            here += robot_drops(&runner);
        }
        if (here > 0)
            print_message("    scene %d: %d columns of %d\n", i, here, FRAMES * 160);
        columns += here;
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
    assert_int_equal(columns, 0);
}

static void slopes_are_no_drops(void **state)
{
    (void)state;
    for (int ground = 0; ground < ROBOT_GROUNDS; ground++) {
        int frames = 0, columns = 0;
        for (int camera = 0; camera < ROBOT_CAMERAS; camera++)
            frames += robot_false_drops((enum robot_ground)ground, camera, 77, FRAMES, &columns);
        print_message("    ground %d: drops in %d of %d frames, %d columns\n", ground, frames, ROBOT_CAMERAS * FRAMES, columns);
        assert_int_equal(frames, 0);
    }
}

/* With obstacles.min_height_m 0: boxes 10 cm high, 2 m ahead, left and right of the middle. */
static void free_ground_ends_at_low_boxes(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * ROBOT_CAMERAS; i++) {
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;
        struct robot_seen all = {0};
        robot_scene(i % ROBOT_CAMERAS, 40, &scene);
        scene.object_count = 1;
        robot_create(&scene, 0, NULL, &stages, &runner);
        for (int frame = 0; frame < FRAMES; frame++) {
            scene.seed++;
            scene.object[0] = (struct plx_scene_object){
                .x = 0.05 * (frame - FRAMES / 2), .z = 2, .width = i < 2 ? 0.1 : 0.4, .height = 0.1, .depth = 0.1};
            robot_see(&runner, &scene, frame);
            const struct robot_seen seen = robot_look(&runner, &scene);
            assert_true(2 * seen.ends > seen.columns);
            all.columns += seen.columns;
            all.ends += seen.ends;
        }
        print_message("    camera %.1f m high: in %d of %d columns\n", scene.camera_height_m, all.ends, all.columns);
        assert_true(all.ends > 0.95 * all.columns);
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drops_are_seen_where_they_are), cmocka_unit_test(level_ground_has_none),
                                       cmocka_unit_test(slopes_are_no_drops), cmocka_unit_test(free_ground_ends_at_low_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
