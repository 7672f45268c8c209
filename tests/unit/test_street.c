/* SPDX-License-Identifier: Apache-2.0 */
/* The street: its camera's true pose, walls that both eyes see alike, and 50 s of ego-motion along it. */
#include <math.h>

#include "core/base/clock.h"
#include "drivers/synthetic/raycast.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/motion_camera.h"
#include "tests/scene_truth.h"

#define WIDTH 640
#define HEIGHT 480
#define SECONDS 50
#define RATE 6

static struct plx_scene street(void)
{
    struct plx_scene scene;
    plx_scene_street(WIDTH, HEIGHT, 1, &scene);
    return scene;
}

static double degrees_between(const struct plx_pose *a, const struct plx_pose *b)
{
    struct plx_pose difference;
    plx_pose_invert(a, &difference);
    plx_pose_compose(&difference, b, &difference);
    return 2 * asin(fmin(1, plx_pose_half_sine(&difference))) * 180 / M_PI;
}

/* A point of the ground frame is drawn where the pose puts it. */
static void the_pose_is_the_pictures(void **state)
{
    (void)state;
    const struct plx_scene scene = street();
    const double point[3] = {-1.3, -0.7, 45};
    for (int i = 0; i < 17; i++) {
        const double time_s = 3.7 * i;
        struct plx_pose pose, inverse;
        struct plx_ray_view view;
        double at[3], u, v;
        plx_scene_camera(&scene, time_s, &pose);
        plx_pose_invert(&pose, &inverse);
        plx_pose_apply(&inverse, point, at);
        plx_ray_view_init(&view, &scene, time_s, PLX_LEFT);
        assert_true(plx_ray_project(&view, point, &u, &v));
        assert_true(fabs(u - (scene.calibration.fx * at[0] / at[2] + scene.calibration.cx)) < 1e-6);
        assert_true(fabs(v - (scene.calibration.fy * at[1] / at[2] + scene.calibration.cy)) < 1e-6);
    }
}

/* It starts at rest at the origin, drives 30 m, and comes back. */
static void the_drive(void **state)
{
    (void)state;
    const struct plx_scene scene = street();
    struct plx_pose start, soon, far, back;
    plx_scene_camera(&scene, 0, &start);
    plx_scene_camera(&scene, 0.01, &soon);
    plx_scene_camera(&scene, 30, &far);
    plx_scene_camera(&scene, 60, &back);
    assert_true(start.translation[0] == 0 && start.translation[1] == -1 && start.translation[2] == 0);
    assert_true(soon.translation[2] < 1e-4);
    assert_true(fabs(far.translation[2] - 30) < 1e-9 && fabs(back.translation[2]) < 1e-9);
    assert_true(degrees_between(&start, &far) < 9);
}

/* Both eyes see the same texture on the walls: without noise, grey values agree where the true disparity says. */
static void both_eyes_see_the_same_walls(void **state)
{
    (void)state;
    struct plx_scene scene = street();
    struct plx_image left = test_image_new(WIDTH, HEIGHT, PLX_U8, 0), right = test_image_new(WIDTH, HEIGHT, PLX_U8, 0);
    struct plx_image disparity = test_image_new(WIDTH, HEIGHT, PLX_U16, 0);
    int compared = 0, alike = 0;

    scene.noise = 0;
    assert_int_equal(plx_scene_render(&scene, 13, 0, PLX_LEFT, 10000, 1, &left), 0);
    assert_int_equal(plx_scene_render(&scene, 13, 0, PLX_RIGHT, 10000, 1, &right), 0);
    assert_int_equal(scene_truth(&scene, 13, &disparity, NULL), 0);
    for (int y = 150; y < 300; y++)
        for (int x = 0; x < WIDTH / 4; x++) { /* the wall on the left */
            const int d = ((const uint16_t *)plx_row(&disparity, y))[x];
            const double at = x - d / 16.0;
            if (d == PLX_DISPARITY_INVALID || at < 0)
                continue;
            const uint8_t *row = plx_row(&right, y);
            const int column = (int)at;
            const double seen = row[column] + (at - column) * (row[column + 1] - row[column]);
            compared++;
            alike += fabs(seen - ((const uint8_t *)plx_row(&left, y))[x]) < 12;
        }
    print_message("    %d of %d pixels alike\n", alike, compared);
    assert_true(compared > 5000 && alike > 0.97 * compared);
    test_image_free(&left);
    test_image_free(&right);
    test_image_free(&disparity);
}

/* 50 s along the street and part of the way back, with true disparities: drift at most 0.5 % of the way and 0.005 degrees for
 * each metre. People walk and a car drives in view. */
static void ego_motion_along_the_street(void **state)
{
    (void)state;
    const struct plx_scene scene = street();
    struct plx_image left = test_image_new(WIDTH, HEIGHT, PLX_U8, 0), disparity = test_image_new(WIDTH, HEIGHT, PLX_U16, 0);
    struct plx_pose start, last, now, truth;
    struct motion_camera *camera;
    struct plx_motion_info info;
    double way_m = 0;
    int valid = 0;

    assert_int_equal(motion_camera_create(WIDTH, HEIGHT, &scene.calibration, &camera), 0);
    plx_scene_camera(&scene, 0, &start);
    last = start;
    for (int i = 0; i < SECONDS * RATE; i++) {
        const double time_s = (double)i / RATE;
        assert_int_equal(plx_scene_render(&scene, time_s, (uint32_t)i, PLX_LEFT, 10000, 1, &left), 0);
        assert_int_equal(scene_truth(&scene, time_s, &disparity, NULL), 0);
        assert_int_equal(motion_camera_see(camera, &left, &disparity, i * PLX_NS_PER_S / RATE, &info), 0);
        plx_scene_camera(&scene, time_s, &now);
        way_m += hypot(now.translation[0] - last.translation[0], now.translation[2] - last.translation[2]);
        last = now;
        valid += info.valid != 0;
    }
    plx_pose_invert(&start, &truth);
    plx_pose_compose(&truth, &now, &truth);
    const double error_m =
        sqrt(pow(info.pose.translation[0] - truth.translation[0], 2) + pow(info.pose.translation[1] - truth.translation[1], 2) +
             pow(info.pose.translation[2] - truth.translation[2], 2));
    const double degrees = degrees_between(&info.pose, &truth);
    print_message("    %.1f m, %d of %d motions known, %u breaks; %.3f m = %.2f %%, %.4f degrees/m\n", way_m, valid,
                  SECONDS * RATE - 1, info.breaks, error_m, 100 * error_m / way_m, degrees / way_m);
    assert_true(way_m > 40 && valid == SECONDS * RATE - 1 && info.breaks == 0);
    assert_true(error_m <= 0.005 * way_m && degrees <= 0.005 * way_m);
    motion_camera_destroy(camera);
    test_image_free(&left);
    test_image_free(&disparity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pose_is_the_pictures),
        cmocka_unit_test(the_drive),
        cmocka_unit_test(both_eyes_see_the_same_walls),
        cmocka_unit_test(ego_motion_along_the_street),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
