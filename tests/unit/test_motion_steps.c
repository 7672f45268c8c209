/* SPDX-License-Identifier: Apache-2.0 */
/* What ego-motion makes of the error of disparities in a rendered street: the steps that show it, and its own correction. */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/motion_camera.h"
#include "tests/motion_scene.h"

#define WIDTH 384
#define HEIGHT 288
#define FIRST_NS (1000 * PLX_NS_PER_S)
#define PERIOD_NS (PLX_NS_PER_S / 15)

static const struct plx_disparity_error none;
static struct motion_scene scene;
static struct plx_image left, disparity;
static struct motion_camera *camera;
static struct plx_motion_info info;
static struct plx_pose pose, start;      /* now, and in the first frame */
static struct plx_disparity_error error; /* error of the disparities that the motion gets */
static uint64_t state;
static int64_t now_ns;

static int set_up(void **unused)
{
    (void)unused;
    state = 5;
    now_ns = FIRST_NS;
    pose = PLX_POSE_IDENTITY;
    error = none;
    motion_scene_init(&scene, WIDTH, HEIGHT);
    scene.disparity_noise = 0.1;
    left = test_image_new(WIDTH, HEIGHT, PLX_U8, 7);
    disparity = test_image_new(WIDTH, HEIGHT, PLX_U16, 3);
    return motion_camera_create(WIDTH, HEIGHT, &scene.calibration, &camera);
}

static int tear_down(void **unused)
{
    (void)unused;
    motion_camera_destroy(camera);
    test_image_free(&left);
    test_image_free(&disparity);
    return 0;
}

static struct plx_fit_camera lens(void)
{
    const struct plx_calibration_info *c = &scene.calibration;
    return (struct plx_fit_camera){c->fx, c->fy, c->cx, c->cy, c->fx * c->baseline_m};
}

/* The next frame, STEP (m, rad) after the one before. */
static void go(const double step[6])
{
    const struct plx_fit_camera fit_camera = lens();
    struct plx_pose move = PLX_POSE_IDENTITY;

    plx_pose_move(&move, step);
    plx_pose_compose(&pose, &move, &pose);
    if (now_ns == FIRST_NS)
        start = pose;
    motion_scene_render(&scene, &pose, 0, &state, &left, &disparity);
    for (int y = 0; y < HEIGHT; y++) {
        uint16_t *row = (uint16_t *)plx_row(&disparity, y);
        for (int x = 0; x < WIDTH; x++) {
            const double d = (double)row[x] / PLX_DISPARITY_ONE;
            const double bent = d - plx_disparity_error_at(&error, plx_fit_right_square(&fit_camera, x, d));
            if (row[x] != PLX_DISPARITY_INVALID)
                row[x] = (uint16_t)lround(PLX_DISPARITY_ONE * fmax(0, bent));
        }
    }
    assert_int_equal(motion_camera_see(camera, &left, &disparity, now_ns, &info), 0);
    now_ns += PERIOD_NS;
}

static const double ahead[6] = {0, 0, 0.4, 0, 0.002, 0}, nowhere[6], turn[6] = {0, 0, 0, 0, 0.01, 0};

static void a_drive_makes_steps_and_rest_makes_none(void **unused)
{
    (void)unused;
    const struct plx_motion_steps *steps = plx_motion_steps(motion_camera_motion(camera));
    for (int i = 0; i < 8; i++)
        go(nowhere);
    for (int i = 0; i < 15; i++)
        go(turn);
    assert_true(info.valid && steps->count == 0 && steps->added == 0);
    for (int i = 0; i < 10; i++)
        go(ahead);
    print_message("    %d steps of %d points in 10 frames\n", steps->count, steps->step[0].points);
    assert_true(steps->count >= 5 && steps->count <= 10 && steps->added == steps->count);
    assert_true(steps->step[0].points > PLX_STEP_POINTS / 2);
    for (int i = 0; i < 20; i++)
        go(ahead);
    assert_true(steps->count == PLX_STEPS && steps->added > PLX_STEPS);
    const int added = steps->added;
    plx_motion_forget_steps(motion_camera_motion(camera));
    assert_true(steps->count == 0 && steps->added == added);
}

/* A frame that is bent ends no step and begins none. */
static void a_bent_frame_is_in_no_step(void **unused)
{
    (void)unused;
    const struct plx_motion_steps *steps = plx_motion_steps(motion_camera_motion(camera));
    do
        go(ahead);
    while (steps->added < 3);
    const struct plx_motion_steps before = *steps;
    const struct plx_pose newest = before.step[2].pose;
    plx_motion_distrust_disparities(motion_camera_motion(camera));
    assert_true(steps->count == 2 && steps->added == 2);
    go(ahead);
    assert_int_equal(steps->added, 2); /* its key frame is the bent one */
    go(ahead);
    assert_int_equal(steps->added, 3);
    assert_memory_not_equal(&steps->step[2].pose, &newest, sizeof newest);
    plx_motion_distrust_disparities(motion_camera_motion(camera));
    plx_motion_distrust_disparities(motion_camera_motion(camera)); /* once more is the same */
    assert_int_equal(steps->added, 2);
}

/* A frame that ends no step and is no key frame may be bent: the step and the key frame before it are not. */
static void a_bent_frame_between_steps_takes_none_away(void **unused)
{
    (void)unused;
    const struct plx_motion_steps *steps = plx_motion_steps(motion_camera_motion(camera));
    do
        go(ahead);
    while (steps->added < 3);
    go(nowhere);
    assert_int_equal(steps->added, 3);
    plx_motion_distrust_disparities(motion_camera_motion(camera));
    assert_true(steps->count == 3 && steps->added == 3);
    go(ahead);
    assert_int_equal(steps->added, 4);
}

/* The wheels of the robot stand still, it says: the motion of that frame is doubtful, and no later one is that has none. */
static void a_frame_without_a_motion_is_not_doubtful(void **unused)
{
    (void)unused;
    const struct plx_motion *motion = motion_camera_motion(camera);
    for (int i = 0; i < 3; i++)
        go(ahead);
    assert_true(info.valid && !plx_motion_is_doubtful(motion));
    const struct plx_motion_hint rest = {now_ns - PERIOD_NS, now_ns, PLX_POSE_IDENTITY};
    plx_motion_set_prior(motion_camera_motion(camera), &rest);
    go(ahead);
    assert_true(info.valid && plx_motion_is_doubtful(motion));
    scene.contrast = 0;
    go(ahead);
    assert_true(!info.valid && !plx_motion_is_doubtful(motion));
}

/* The measured way from the first frame on, as a share of the true one. */
static double share_of_way(void)
{
    struct plx_pose first, way;
    plx_pose_invert(&start, &first);
    plx_pose_compose(&first, &pose, &way);
    return plx_pose_distance(&info.pose) / plx_pose_distance(&way);
}

/* How long the way of 20 frames comes out, as a share of the true one. */
static double way(const struct plx_disparity_error *used)
{
    plx_motion_set_disparity_error(motion_camera_motion(camera), &none, used, &none);
    for (int i = 0; i <= 20; i++)
        go(ahead);
    return share_of_way();
}

static void motion_corrects_its_own_disparities(void **unused)
{
    static const struct plx_disparity_error errors[] = {{0.5, 0}, {0, 2}};
    (void)unused;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        double share[2];
        for (int with = 0; with < 2; with++) {
            tear_down(NULL);
            assert_int_equal(set_up(NULL), 0);
            error = errors[i];
            share[with] = way(with ? &error : &none);
        }
        print_message("    %.1f + %.1f x^2 px: way %.4f, corrected %.4f\n", errors[i].offset, errors[i].curve, share[0],
                      share[1]);
        assert_true(fabs(share[1] - 1) < 0.006 && share[0] - 1 > 4 * fabs(share[1] - 1));
    }
}

/* Where the pictures are corrected already, motion does nothing of its own, and its steps are those of the uncorrected ones. */
static void what_is_in_force_is_not_corrected_twice(void **unused)
{
    static const struct plx_disparity_error both = {0.5, 0};
    struct plx_motion_info plain;
    (void)unused;
    way(&none);
    plain = info;
    const struct plx_motion_point uncorrected = plx_motion_steps(motion_camera_motion(camera))->step[0].point[0];
    tear_down(NULL);
    assert_int_equal(set_up(NULL), 0);
    plx_motion_set_disparity_error(motion_camera_motion(camera), &both, &both, &both);
    for (int i = 0; i <= 20; i++)
        go(ahead);
    assert_memory_equal(&info.pose, &plain.pose, sizeof info.pose);
    assert_memory_equal(&info.covariance, &plain.covariance, sizeof info.covariance);
    const struct plx_motion_point *point = &plx_motion_steps(motion_camera_motion(camera))->step[0].point[0];
    for (int i = 0; i < 3; i++)
        assert_float_equal(point->was[i], uncorrected.was[i] - (i == 2 ? 0.5F : 0), 1e-4);
    assert_true(uncorrected.is[2] > 0);
    assert_float_equal(point->is[2], uncorrected.is[2] - 0.5F, 1e-4);
}

/* From the frame on from which the pictures are corrected, the key frame is still an uncorrected one: the way goes on. */
static void a_correction_that_comes_into_force_bends_nothing(void **unused)
{
    static const struct plx_disparity_error full = {0.5, 0};
    (void)unused;
    error = full;
    plx_motion_set_disparity_error(motion_camera_motion(camera), &none, &full, &full);
    for (int i = 0; i < 10; i++)
        go(ahead);
    error = none;
    plx_motion_set_disparity_error(motion_camera_motion(camera), &full, &full, &full);
    for (int i = 0; i < 10; i++)
        go(ahead);
    const double share = share_of_way();
    print_message("    way %.4f\n", share);
    assert_true(fabs(share - 1) < 0.006);
}

/* What is estimated but not used is in the covariance. */
static void what_is_only_estimated_widens_the_covariance(void **unused)
{
    static const struct plx_disparity_error suspected = {1, 0};
    double along[2];
    (void)unused;
    for (int with = 0; with < 2; with++) {
        tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
        plx_motion_set_disparity_error(motion_camera_motion(camera), &none, &none, with ? &suspected : &none);
        for (int i = 0; i < 4; i++)
            go(ahead);
        along[with] = info.covariance[6 * 2 + 2];
    }
    assert_true(along[1] > 4 * along[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_drive_makes_steps_and_rest_makes_none),
        TEST(a_bent_frame_is_in_no_step),
        TEST(a_bent_frame_between_steps_takes_none_away),
        TEST(a_frame_without_a_motion_is_not_doubtful),
        TEST(motion_corrects_its_own_disparities),
        TEST(what_is_in_force_is_not_corrected_twice),
        TEST(a_correction_that_comes_into_force_bends_nothing),
        TEST(what_is_only_estimated_widens_the_covariance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
