/* SPDX-License-Identifier: Apache-2.0 */
/* The pose of an engine that follows another one, whatever that one left behind. */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/motion_camera.h"
#include "tests/motion_scene.h"

#define WIDTH 320
#define HEIGHT 240
#define STEP_M 0.2

/* A new odometry that continues from LAST and sees FRAMES pictures of a camera that drives ahead; returns its last word. */
static struct plx_motion_info drive_after(const struct plx_motion_info *last, int frames)
{
    struct plx_image left = test_image_new(WIDTH, HEIGHT, PLX_U8, 0), disparity = test_image_new(WIDTH, HEIGHT, PLX_U16, 0);
    struct plx_pose pose = PLX_POSE_IDENTITY;
    struct plx_motion_info info = {.valid = 0};
    struct motion_scene scene;
    struct motion_camera *camera;
    uint64_t state = test_seed();

    motion_scene_init(&scene, WIDTH, HEIGHT);
    assert_int_equal(motion_camera_create(WIDTH, HEIGHT, &scene.calibration, &camera), 0);
    plx_motion_continue(motion_camera_motion(camera), last);
    for (int i = 0; i < frames; i++) {
        motion_scene_render(&scene, &pose, 0, &state, &left, &disparity);
        assert_int_equal(motion_camera_see(camera, &left, &disparity, (i + 1) * (PLX_NS_PER_S / 15), &info), 0);
        pose.translation[2] += STEP_M;
    }
    motion_camera_destroy(camera);
    test_image_free(&left);
    test_image_free(&disparity);
    return info;
}

static const struct plx_motion_info last = {
    .valid = 1,
    .source = PLX_MOTION_VISUAL,
    .breaks = 4,
    .pose = {{0, 0, 1, 0, 1, 0, -1, 0, 0}, {10, 0, 30}}, /* turned to the right by 90 degrees */
};

static void goes_on_from_the_last_pose(void **state)
{
    (void)state;
    struct plx_motion_info info = drive_after(&last, 1);
    assert_int_equal(info.valid, 0);
    assert_int_equal(info.breaks, 5);
    assert_memory_equal(&info.pose, &last.pose, sizeof info.pose);

    info = drive_after(&last, 4);
    assert_int_equal(info.valid, 1);
    assert_int_equal(info.breaks, 5);
    assert_float_equal(info.pose.translation[0], 10 + 3 * STEP_M, 0.02);
    assert_float_equal(info.pose.translation[1], 0, 0.02);
    assert_float_equal(info.pose.translation[2], 30, 0.02);
}

static void an_engine_without_motion_leaves_none(void **state)
{
    (void)state;
    static const struct plx_motion_info none;
    const struct plx_pose start = PLX_POSE_IDENTITY;
    const struct plx_motion_info info = drive_after(&none, 1);
    assert_int_equal(info.breaks, 0);
    assert_memory_equal(&info.pose, &start, sizeof start);
}

static void set_scale(struct plx_pose *pose)
{
    for (int i = 0; i < 9; i++)
        pose->rotation[i] *= 1.01;
}
static void set_mirror(struct plx_pose *pose)
{
    for (int i = 0; i < 3; i++)
        pose->rotation[i] = -pose->rotation[i];
}
static void set_zeros(struct plx_pose *pose)
{
    memset(pose, 0, sizeof *pose);
}
static void set_nan(struct plx_pose *pose)
{
    pose->rotation[5] = (double)NAN;
}
static void set_infinity(struct plx_pose *pose)
{
    pose->translation[1] = (double)INFINITY;
}

/* A new start, and a break that says so. */
static void a_damaged_pose_is_not_continued(void **state)
{
    (void)state;
    static void (*const spoil[])(struct plx_pose * pose) = {set_scale, set_mirror, set_zeros, set_nan, set_infinity};
    const struct plx_pose start = PLX_POSE_IDENTITY;

    assert_true(plx_pose_is_rigid(&start) && plx_pose_is_rigid(&last.pose));
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        struct plx_motion_info damaged = last;
        spoil[i](&damaged.pose);
        assert_false(plx_pose_is_rigid(&damaged.pose));
        const struct plx_motion_info info = drive_after(&damaged, 1);
        assert_int_equal(info.breaks, 5);
        assert_memory_equal(&info.pose, &start, sizeof start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_from_the_last_pose),
        cmocka_unit_test(an_engine_without_motion_leaves_none),
        cmocka_unit_test(a_damaged_pose_is_not_continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
