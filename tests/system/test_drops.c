/* SPDX-License-Identifier: Apache-2.0 */
/* Drops in rendered scenes, by the whole pipeline: the edge of a platform, stairs, a pit and a kerb are seen where they are, by
 * a low and by a high camera; ground without them has none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "tests/cmocka.h"
#include "tests/runner.h"

#define WIDTH 640
#define HEIGHT 480
#define FOCAL 530.0
#define BASELINE 0.1
#define FRAMES 20
#define DEGREE 0.017453292519943295

/* As a robot looks at the ground before it. */
static void look_down(double height, double pitch_deg, uint64_t seed, struct plx_scene *ret)
{
    plx_scene_demo(WIDTH, HEIGHT, seed, ret);
    ret->object_count = 0;
    ret->camera_height_m = height;
    ret->pitch_rad = pitch_deg * DEGREE;
    ret->roll_rad = 0;
    ret->calibration = (struct plx_calibration_info){FOCAL, FOCAL, 319.5, 239.5, 319.5, BASELINE};
}

static void create(const struct plx_scene *scene, struct plx_stages **ret_stages, struct runner *ret_runner)
{
    const struct plx_limits limits = {.width = WIDTH, .height = HEIGHT, .disparities = 128};
    struct plx_pipeline_params params;
    plx_pipeline_params_default(&params);
    params.match.disparities = 128;
    params.mount = (struct plx_mount){
        .z_m = scene->camera_height_m, .pitch_deg = scene->pitch_rad / DEGREE, .roll_deg = scene->roll_rad / DEGREE};
    assert_int_equal(plx_cpu_create(&limits, ret_stages), 0);
    runner_create(*ret_stages, &params, WIDTH, HEIGHT, &scene->calibration, ret_runner);
}

/* What the scan of a frame says: the share of its middle columns with a drop, and how far ahead their edge is. */
struct seen {
    double share, edge_m;
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
    double edge[WIDTH];
    int count = 0, of = 0;
    for (int x = scan.width / 5; x < scan.width * 4 / 5; x++, of++)
        if (column[x].known & PLX_SCAN_DROP) {
            const double z = 16 * FOCAL * BASELINE / column[x].free;
            edge[count++] = (z - scene->camera_height_m * sin(scene->pitch_rad)) / cos(scene->pitch_rad);
        }
    qsort(edge, (size_t)count, sizeof *edge, ascending);
    return (struct seen){(double)count / of, count > 0 ? edge[count / 2] : 0};
}

static void drops_are_seen_where_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int steps;
        struct plx_scene_step step[4];
    } scenes[] = {
        {"edge of 0.1 m", 1, {{1.5, 0.1, 0}}},          {"edge of 0.3 m", 1, {{1.5, 0.3}}},
        {"platform of 1 m", 1, {{1.5, 1}}},          {"stairs", 4, {{1.5, 0.17}, {1.78, 0.34}, {2.06, 0.51}, {2.34, 0.68}}},
        {"pit of 0.6 m", 2, {{1.5, 0.4}, {2.1, 0}}}, {"kerb of 0.12 m, 2.5 m ahead", 1, {{2.5, 0.12}}},
    };
    static const double cameras[][2] = {{0.5, 12}, {1.2, 25}};
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
            struct plx_stages *stages;
            struct plx_scene scene;
            struct runner runner;
            int found = 0;
            double share = 0, worst = 0;
            look_down(cameras[c][0], cameras[c][1], 1 + i, &scene);
            scene.step_count = scenes[i].steps;
            memcpy(scene.step, scenes[i].step, sizeof scenes[i].step);
            create(&scene, &stages, &runner);
            for (uint32_t frame = 0; frame < FRAMES; frame++) {
                runner_draw(&runner, &scene, 0, frame);
                assert_int_equal(runner_run(&runner, PLX_NS_PER_S + frame * 33333333), 0);
                const struct seen seen = look(&scene, runner.frame);
                const double error = seen.edge_m - scenes[i].step[0].z;
                share += seen.share / FRAMES;
                found += seen.share > 0.5 && fabs(error) < 0.15;
                worst = seen.share > 0 && fabs(error) > fabs(worst) ? error : worst;
            }
            print_message("    camera %.1f m high, %s: in %d of %d frames, %.0f %% of columns, edge off by %.3f m at most\n",
                          cameras[c][0], scenes[i].name, found, FRAMES, 100 * share, worst);
            assert_true(found >= (scenes[i].step[0].z < 2 ? FRAMES : FRAMES * 3 / 4)); /* far edges lie 15 cm off at times */
            assert_true(share > 0.95 && fabs(worst) < 0.25);
            runner_destroy(&runner);
            stages->ops->destroy(stages);
        }
}

static void level_ground_has_none(void **state)
{
    (void)state;
    static const double cameras[][2] = {{0.5, 12}, {1.2, 25}};
    int columns = 0;
    for (int i = 0; i < 8; i++) {
        struct plx_stages *stages;
        struct plx_scene scene;
        struct runner runner;
        look_down(cameras[i % 2][0], cameras[i % 2][1], 100 + (uint64_t)i, &scene);
        if (i >= 4)
            (i % 2 ? plx_scene_street : plx_scene_demo)(WIDTH, HEIGHT, (uint64_t)i, &scene);
        create(&scene, &stages, &runner);
        int here = 0;
        for (uint32_t frame = 0; frame < FRAMES; frame++) {
            runner_draw(&runner, &scene, frame * 0.5, frame);
            assert_int_equal(runner_run(&runner, PLX_NS_PER_S + frame * 500000000LL), 0);
            const struct plx_image scan = plx_pipeline_plane(runner.frame, PLX_PLANE_SCAN);
            for (int x = 0; x < scan.width; x++)
                here += (((const struct plx_scan *)scan.data)[x].known & PLX_SCAN_DROP) != 0;
        }
        if (here > 0)
            print_message("    scene %d: %d columns of %d\n", i, here, FRAMES * 160);
        columns += here;
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
    assert_int_equal(columns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drops_are_seen_where_they_are),
                                       cmocka_unit_test(level_ground_has_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
