/* SPDX-License-Identifier: Apache-2.0 */
/* What stands nearer than the disparities reach: the ground in its columns is never said to be free. */
#include <math.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "drivers/synthetic/raycast.h"
#include "tests/cmocka.h"
#include "tests/runner.h"

#define WIDTH 640
#define HEIGHT 480
#define COLUMNS (WIDTH / PLX_COLUMN_WIDTH)
#define FRAMES 12
#define COVERED 100 /* pixels that show the box in a column that it covers, and in those beside it: edges are not exact */
#define EDGE 5      /* columns */

/* How many pixels of each column of the scan show object 0 of SCENE. */
static void count_box(const struct plx_scene *scene, int ret_pixels[COLUMNS])
{
    float radiance[WIDTH], inverse_depth[WIDTH];
    uint8_t hit[WIDTH];
    const struct plx_ray_row row = {radiance, inverse_depth, hit};
    struct plx_ray_view view;

    for (int x = 0; x < COLUMNS; x++)
        ret_pixels[x] = 0;
    plx_ray_view_init(&view, scene, 0, PLX_LEFT);
    for (int y = 0; y < HEIGHT; y++) {
        plx_ray_cast(&view, y, &row);
        for (int x = 0; x < WIDTH; x++)
            ret_pixels[x / PLX_COLUMN_WIDTH] +=
                hit[x] >= PLX_HIT_FRONT && (hit[x] - PLX_HIT_FRONT) % PLX_SCENE_MAX_OBJECTS == 0;
    }
}

/* 1 if the box covers column X of the scan, 0 if it is not in it, else -1. */
static int covers(const int pixels[COLUMNS], int x)
{
    int least = pixels[x];
    for (int i = x - EDGE; i <= x + EDGE; i++)
        least = i < 0 || i >= COLUMNS ? 0 : pixels[i] < least ? pixels[i] : least;
    return pixels[x] == 0 ? 0 : least >= COVERED ? 1 : -1;
}

/* A box DISTANCE m ahead and HEIGHT m high, before a wall at 6 m. Adds to RET_COLUMNS and RET_FREE the columns that it is not
 * in, [0], and that it covers, [1], and those of them with free ground beyond the blind distance. */
static void look_at_box(double distance, double height, int ret_columns[2], int ret_free[2])
{
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    int pixels[COLUMNS];

    plx_scene_demo(WIDTH, HEIGHT, 1, &scene);
    scene.object_count = 2;
    scene.object[0] = (struct plx_scene_object){0.1, distance, 0.4, height, 0.3, 0, 0, 0};
    scene.object[1] = (struct plx_scene_object){0, 6, 5, 1, 0.3, 0, 0, 0};
    runner_create_for_scene(&scene, PLX_OBSTACLES_OF_STIXELS, &stages, &runner);
    for (uint32_t i = 0; i < FRAMES; i++) {
        runner_draw(&runner, &scene, 0, i);
        assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)i * (PLX_NS_PER_S / 10)), 0);
    }
    assert_true(runner.frame->ground.valid);
    const double disparity = 64 * PLX_DISPARITY_ONE - 1, /* the largest */
        reach_m = PLX_DISPARITY_ONE * scene.calibration.fx * scene.calibration.baseline_m / disparity;
    assert_true(fabs((double)runner.frame->blind_within_m - reach_m) < 1e-4 && distance < reach_m);
    count_box(&scene, pixels);
    const struct plx_image scan = plx_pipeline_plane(runner.frame, PLX_PLANE_SCAN);
    for (int x = 16; x < COLUMNS; x++) { /* before, the partners of near ground lie outside the right picture */
        const struct plx_scan *column = (const struct plx_scan *)scan.data + x;
        const int covered = covers(pixels, x);
        if (covered < 0)
            continue;
        ret_columns[covered]++;
        ret_free[covered] += column->free < disparity / 1.1;
    }
    runner_destroy(&runner);
    stages->ops->destroy(stages);
}

static void what_is_too_near_is_never_free(void **state)
{
    (void)state;
    static const double box[][2] = {{0.6, 0.7}, {0.6, 1.0}, {0.8, 0.8}, {0.4, 0.9}, {0.5, 1.3}};
    int columns[2] = {0}, free[2] = {0};

    for (size_t i = 0; i < sizeof box / sizeof box[0]; i++)
        look_at_box(box[i][0], box[i][1], columns, free);
    print_message("free: %d of %d columns that the boxes cover, %d of %d others\n", free[1], columns[1], free[0], columns[0]);
    assert_true(columns[1] > 300 && free[1] <= 0.02 * columns[1]);
    assert_true(columns[0] > 250 && free[0] >= 0.75 * columns[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_too_near_is_never_free)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
