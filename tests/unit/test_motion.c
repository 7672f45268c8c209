/* SPDX-License-Identifier: Apache-2.0 */
/* Ego-motion in a rendered street: drift of a camera that drives and turns, rest of one that stands among moving boxes, and the
 * images that tell nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/geometry/cholesky.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/motion_camera.h"
#include "tests/motion_scene.h"

#define WIDTH 640
#define HEIGHT 480
#define RATE 15.0
#define DEGREES (180 / 3.14159265358979323846)

static struct motion_scene scene;
static struct plx_image left, disparity;
static struct motion_camera *camera;
static struct plx_motion_info info;
static uint64_t state;
static int64_t now_ns;

static int set_up(void **unused)
{
    (void)unused;
    state = test_seed();
    now_ns = 1000 * PLX_NS_PER_S;
    motion_scene_init(&scene, WIDTH, HEIGHT);
    left = test_image_new(WIDTH, HEIGHT, PLX_U8, 7);
    disparity = test_image_new(WIDTH, HEIGHT, PLX_U16, 3);
    return motion_camera_create(WIDTH, HEIGHT, &scene.calibration, &camera);
}

static int tear_down(void **unused)
{
    (void)unused;
    motion_camera_destroy(camera);
    motion_camera_destroy(NULL);
    test_image_free(&left);
    test_image_free(&disparity);
    return 0;
}

/* The image of a camera at POSE, and what the odometry says of it. */
static void see(const struct plx_pose *pose)
{
    motion_scene_render(&scene, pose, (double)now_ns / 1e9 - 1000, &state, &left, &disparity);
    assert_int_equal(motion_camera_see(camera, &left, &disparity, now_ns, &info), 0);
    now_ns += (int64_t)(1e9 / RATE);
}

/* a_from_b of two poses in the same axes. */
static struct plx_pose between(const struct plx_pose *a, const struct plx_pose *b)
{
    struct plx_pose ret;
    plx_pose_invert(a, &ret);
    plx_pose_compose(&ret, b, &ret);
    return ret;
}

static double degrees(const struct plx_pose *pose)
{
    return 2 * asin(plx_pose_half_sine(pose)) * DEGREES;
}

/* Squared error in standard deviations of the published covariance. */
static double squared_error(const struct plx_pose *difference)
{
    const double *r = difference->rotation, *t = difference->translation;
    const double error[6] = {t[0], t[1], t[2], 0.5 * (r[7] - r[5]), 0.5 * (r[2] - r[6]), 0.5 * (r[3] - r[1])};
    double lower[36], solved[6], squared = 0;
    assert_true(plx_cholesky_decompose(info.covariance, 6, PLX_CHOLESKY_ROUNDING, lower));
    plx_cholesky_solve(lower, 6, error, solved);
    for (int i = 0; i < 6; i++)
        squared += error[i] * solved[i];
    return squared;
}

/* FRAMES frames with STEP (then_from_now) between them; limits are per way. */
static void drive(int frames, const double step[6], double max_drift_percent, double max_degrees_per_m)
{
    struct plx_pose pose = PLX_POSE_IDENTITY, then = pose, step_pose = PLX_POSE_IDENTITY;
    int covered = 0;
    double way = 0, sum = 0;
    plx_pose_move(&step_pose, step);
    see(&pose);
    assert_false(info.valid);
    for (int i = 1; i <= frames; i++) {
        plx_pose_compose(&pose, &step_pose, &pose);
        see(&pose);
        assert_true(info.valid);
        const struct plx_pose true_step = between(&then, &pose), difference = between(&true_step, &info.motion);
        const double squared = squared_error(&difference);
        covered += squared < 12.592;
        sum += squared;
        way += plx_pose_distance(&true_step);
        then = pose;
    }
    assert_true(covered * 100 >= frames * 85); /* each key frame's errors last for some frames, so fifty are few */
    const struct plx_pose difference = between(&pose, &info.pose);
    const double drift = 100 * plx_pose_distance(&difference) / way, turn = degrees(&difference) / way;
    print_message("    %.2f m: drift %.3f %%, %.4f deg/m; %.1f %% covered, mean squared error %.1f\n", way, drift, turn,
                  100.0 * covered / frames, sum / frames);
    assert_true(drift <= max_drift_percent);
    assert_true(turn <= max_degrees_per_m);
    assert_int_equal(info.breaks, 0);
}

static void camera_that_drives(void **unused)
{
    (void)unused;
    const double step[6] = {0.01, -0.005, 0.4, 0, 0.002, 0.001};
    scene.disparity_noise = 0.15;
    scene.holes = 0.02;
    drive(50, step, 0.5, 0.01);
}

static void camera_that_turns(void **unused)
{
    (void)unused;
    const double step[6] = {0, 0, 0.3, 0.001, 0.01, -0.0005};
    scene.disparity_noise = 0.15;
    scene.holes = 0.02;
    drive(50, step, 0.5, 0.01); /* 29 degrees in 15 m */
}

/* All disparities are half a pixel too small, and the steps say so when the camera has driven for a while. */
static void an_offset_of_all_disparities_is_measured(void **unused)
{
    (void)unused;
    struct plx_pose pose = PLX_POSE_IDENTITY;
    struct plx_disparity_estimate estimate;
    for (int i = 0; i < 30; i++) {
        motion_scene_render(&scene, &pose, 0, &state, &left, &disparity);
        for (int k = 0; k < WIDTH * HEIGHT; k++) {
            uint16_t *d = (uint16_t *)plx_row(&disparity, k / WIDTH) + k % WIDTH;
            *d = (uint16_t)(*d == PLX_DISPARITY_INVALID ? *d : *d > 8 ? *d - 8 : 0);
        }
        assert_int_equal(motion_camera_see(camera, &left, &disparity, now_ns, &info), 0);
        now_ns += (int64_t)(1e9 / RATE);
        pose.translation[2] += 0.4;
    }
    const struct plx_motion_steps *steps = plx_motion_steps(motion_camera_motion(camera));
    assert_true(steps->count >= PLX_STEPS_MIN && steps->count <= 30);
    assert_true(plx_disparity_error_estimate(steps, PLX_STEPS_ALL, &estimate));
    const double deviation = sqrt(estimate.covariance[0][0]);
    print_message("    %d steps: %.2f px too small, deviation %.2f px\n", steps->count, estimate.error.offset, deviation);
    assert_true(deviation < 0.1 && fabs(estimate.error.offset - 0.5) <= 2 * deviation);
    const int added = steps->added;
    plx_motion_forget_steps(motion_camera_motion(camera));
    assert_true(steps->count == 0 && steps->added == added);
}

/* Boxes go through a third of the image; for each second the pose differs from that a second before by at most 2 mm and 0.02
 * degrees. */
static void camera_that_stands(void **unused)
{
    (void)unused;
    const struct plx_pose pose = PLX_POSE_IDENTITY;
    struct plx_pose second = pose;
    double worst_m = 0, worst_degrees = 0;
    scene.disparity_noise = 0.15;
    scene.holes = 0.02;
    scene.boxes = 3;
    scene.box[0] = (struct motion_scene_box){-3, -0.8, 4, 1.3, 2.3, 0.9};
    scene.box[1] = (struct motion_scene_box){3, -0.5, 6, 1.6, 2, -0.7};
    scene.box[2] = (struct motion_scene_box){-1, 0, 8, 2, 1.5, 0.4};
    for (int i = 0; i <= 60; i++) {
        see(&pose);
        assert_int_equal(info.valid, i > 0);
        if (i % 15 > 0)
            continue;
        const struct plx_pose difference = between(&second, &info.pose);
        worst_m = fmax(worst_m, plx_pose_distance(&difference));
        worst_degrees = fmax(worst_degrees, degrees(&difference));
        second = info.pose;
    }
    print_message("    %.2f mm, %.4f deg a second\n", 1e3 * worst_m, worst_degrees);
    assert_true(worst_m <= 0.002);
    assert_true(worst_degrees <= 0.02);
    assert_int_equal(info.breaks, 0);
}

/* No frame of such a scene has a motion. */
static void assert_blind(void)
{
    struct plx_pose pose = PLX_POSE_IDENTITY;
    for (int i = 0; i < 4; i++) {
        see(&pose);
        assert_false(info.valid);
        assert_true(plx_pose_distance(&info.pose) == 0);
        pose.translation[2] += 0.1;
    }
}

static void blank_wall(void **unused)
{
    (void)unused;
    scene.contrast = 0;
    assert_blind();
}

static void darkness(void **unused)
{
    (void)unused;
    scene.light = 0.01;
    scene.noise = 2;
    assert_blind();
}

static void no_disparity(void **unused)
{
    (void)unused;
    scene.holes = 1;
    assert_blind();
}

/* Lights go out for FRAMES frames while the camera drives on, and come on again. */
static void lights_go_out(int frames, uint32_t breaks)
{
    struct plx_pose pose = PLX_POSE_IDENTITY;
    see(&pose);
    pose.translation[2] += 0.05;
    see(&pose);
    assert_true(info.valid);
    for (int i = 0; i < frames; i++) {
        scene.light = 0.01;
        pose.translation[2] += 0.05;
        see(&pose);
        assert_false(info.valid);
        assert_true(fabs(info.pose.translation[2] - 0.05) <= 0.005);
    }
    scene.light = 1;
    pose.translation[2] += 0.05;
    see(&pose);
    assert_true(info.valid);
    assert_int_equal(info.breaks, breaks);
    assert_true(fabs(info.pose.translation[2] - pose.translation[2]) <= 0.01);
    assert_true(fabs(info.motion.translation[2] - (0.05 * (frames + 1))) <= 0.01);
    assert_true(fabs((double)info.interval_ns / 1e9 - ((frames + 1) / RATE)) <= 1e-6);
}

static void dark_frames(void **unused)
{
    (void)unused;
    lights_go_out(3, 0); /* there is no other key frame meanwhile */
}

/* Another place between two frames: the pose lacks that motion, and what comes then is right. */
static void camera_that_jumps(void **unused)
{
    (void)unused;
    struct plx_pose pose = PLX_POSE_IDENTITY;
    const double turn[6] = {0, 0, 0, 0, 1.2, 0};
    see(&pose);
    see(&pose);
    assert_true(info.valid);
    plx_pose_move(&pose, turn);
    pose.translation[0] = 2;
    pose.translation[2] = 20;
    see(&pose);
    assert_false(info.valid);
    see(&pose);
    assert_false(info.valid);
    assert_int_equal(info.breaks, 1);
    for (int i = 0; i < 3; i++) {
        see(&pose);
        assert_true(info.valid);
        assert_true(plx_pose_distance(&info.motion) < 0.005);
    }
    assert_int_equal(info.breaks, 1);
    assert_true(plx_pose_distance(&info.pose) < 0.01);
}

/* A smooth random image of the same bits on every machine. */
static uint8_t (*smooth_image(void))[WIDTH + 100]
{
    uint8_t(*base)[WIDTH + 100] = malloc((HEIGHT + 100) * sizeof *base);
    uint64_t seed = 5;
    assert_non_null(base);
    for (int y = 0; y < HEIGHT + 100; y++)
        for (int x = 0; x < WIDTH + 100; x++)
            base[y][x] = (uint8_t)random_below(&seed, 256);
    for (int pass = 0; pass < 3; pass++)
        for (int y = 1; y < HEIGHT + 99; y++)
            for (int x = 1; x < WIDTH + 99; x++)
                base[y][x] =
                    (uint8_t)((base[y - 1][x] + base[y + 1][x] + base[y][x - 1] + base[y][x + 1] + 4 * base[y][x]) / 8);
    return base;
}

/* A drive drawn in integers: its last pose has the same bits on every processor and with every compiler. */
static void same_bits_everywhere(void **unused)
{
    (void)unused;
    static const double expected[3] = {0x1.3da8f75cd10e1p-3, 0x1.4060afaf56e42p-4, -0x1.a165a7411f712p-3};
    uint8_t(*base)[WIDTH + 100] = smooth_image();
    uint64_t seed = 7;
    for (int i = 0; i < 12; i++) {
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const int row = y * (1000 + i * 4) / 1000 + i, column = x * (1000 + i * 4) / 1000 + i * 3;
                ((uint8_t *)plx_row(&left, y))[x] = base[row][column];
                ((uint16_t *)plx_row(&disparity, y))[x] = (uint16_t)(160 + y / 3 + (int)random_below(&seed, 5) - i);
            }
        assert_int_equal(motion_camera_see(camera, &left, &disparity, i * (PLX_NS_PER_S / 15), &info), 0);
        assert_int_equal(info.valid, i > 0);
    }
    free(base);
    for (int i = 0; i < 3; i++)
        assert_true(info.pose.translation[i] == expected[i]);
}

/* Any size, though small images tell nothing; neither image is written to. */
static void every_size(void **unused)
{
    (void)unused;
    static const int side[] = {1, 2, 7, 64, 513};
    for (size_t i = 0; i < 25; i++) {
        const int width = side[i % 5], height = side[i / 5];
        struct plx_image image = test_image_new(width, height, PLX_U8, 5);
        struct plx_image depth = test_image_new(width, height, PLX_U16, 1);
        struct plx_pose pose = PLX_POSE_IDENTITY;
        struct motion_camera *other;
        motion_scene_init(&scene, width, height);
        assert_int_equal(motion_camera_create(width, height, &scene.calibration, &other), 0);
        for (int k = 0; k < 3; k++) {
            motion_scene_render(&scene, &pose, 0, &state, &image, &depth);
            assert_int_equal(motion_camera_see(other, &image, &depth, k, &info), 0);
            assert_true(!info.valid || (width > 7 && height > 7));
        }
        assert_true(test_image_padding_intact(&image) && test_image_padding_intact(&depth));
        if (width == 513 && height == 513)
            assert_true(info.valid);
        motion_camera_destroy(other);
        test_image_free(&image);
        test_image_free(&depth);
    }
}

static void wrong_images(void **unused)
{
    (void)unused;
    struct plx_image small = left;
    small.width--;
    assert_int_equal(motion_camera_see(camera, &small, &disparity, 0, &info), PLX_ERR_ARG);
    assert_int_equal(motion_camera_see(camera, &disparity, &disparity, 0, &info), PLX_ERR_ARG);
    assert_int_equal(motion_camera_see(camera, &left, &left, 0, &info), PLX_ERR_ARG);
    small = disparity;
    small.height--;
    assert_int_equal(motion_camera_see(camera, &left, &small, 0, &info), PLX_ERR_ARG);
    struct motion_camera *none = NULL;
    assert_int_equal(motion_camera_create(0, 4, &scene.calibration, &none), PLX_ERR_ARG);
    assert_int_equal(motion_camera_create(4, PLX_MAX_SIDE + 1, &scene.calibration, &none), PLX_ERR_ARG);
    assert_null(none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(camera_that_drives),   TEST(camera_that_turns), TEST(an_offset_of_all_disparities_is_measured),
        TEST(camera_that_stands),   TEST(blank_wall),        TEST(darkness),
        TEST(no_disparity),         TEST(dark_frames),       TEST(camera_that_jumps),
        TEST(same_bits_everywhere), TEST(every_size),        TEST(wrong_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
