/* SPDX-License-Identifier: Apache-2.0 */
/* Odometry of the robot as the start of the search: which hints are valid, when one counts, and that a wrong one does no harm.
 */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/motion_camera.h"
#include "tests/motion_scene.h"

#define WIDTH 320
#define HEIGHT 240
#define PERIOD_NS (PLX_NS_PER_S / 15)
#define FRAMES 8
#define JUMP 5       /* the frame before which the camera turns at once */
#define TURN_RAD 0.4 /* about 100 px: farther than the wide search looks */

/* A turn to the right in INTERVAL_NS up to TO_NS. */
static struct plx_motion_hint turn(double radians, int64_t to_ns, int64_t interval_ns)
{
    struct plx_motion_hint hint = {to_ns - interval_ns, to_ns, PLX_POSE_IDENTITY};
    const double sine = sin(radians), cosine = cos(radians);
    hint.motion = (struct plx_pose){{cosine, 0, sine, 0, 1, 0, -sine, 0, cosine}, {0, 0, 0}};
    return hint;
}

static int64_t time_of(int frame)
{
    return (100 + frame) * PERIOD_NS;
}

/* What the odometry says of each frame of a camera that drives ahead and turns by TURN radians at once before frame JUMP, and
 * gets HINT (NULL: none) before it. */
static void drive(double radians, const struct plx_motion_hint *hint, struct plx_motion_info ret_info[FRAMES])
{
    struct plx_image left = test_image_new(WIDTH, HEIGHT, PLX_U8, 0), disparity = test_image_new(WIDTH, HEIGHT, PLX_U16, 0);
    const struct plx_motion_hint at_once = turn(radians, 1, 1), ahead = {0, 1, {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0.1}}};
    struct plx_pose pose = PLX_POSE_IDENTITY;
    struct motion_scene scene;
    struct motion_camera *camera;
    uint64_t state = 1;

    motion_scene_init(&scene, WIDTH, HEIGHT);
    assert_int_equal(motion_camera_create(WIDTH, HEIGHT, &scene.calibration, &camera), 0);
    for (int i = 0; i < FRAMES; i++) {
        if (i == JUMP)
            plx_pose_compose(&pose, &at_once.motion, &pose);
        if (i == JUMP && hint)
            plx_motion_set_prior(motion_camera_motion(camera), hint);
        motion_scene_render(&scene, &pose, 0, &state, &left, &disparity);
        assert_int_equal(motion_camera_see(camera, &left, &disparity, time_of(i), &ret_info[i]), 0);
        plx_pose_compose(&pose, &ahead.motion, &pose);
    }
    motion_camera_destroy(camera);
    test_image_free(&left);
    test_image_free(&disparity);
}

/* Only the hint, of the same or a longer time, tells where the corners are. */
static void a_jump_is_found_with_a_hint_alone(void **state)
{
    (void)state;
    static const struct {
        double radians;
        int64_t to_ns, interval_ns;
    } hints[] = {
        {TURN_RAD, (100 + JUMP) * PERIOD_NS, PERIOD_NS},
        {2 * TURN_RAD, (100 + JUMP) * PERIOD_NS, 2 * PERIOD_NS},
        {TURN_RAD / 2, (100 + JUMP) * PERIOD_NS - PERIOD_NS / 4, PERIOD_NS / 2},
    };
    struct plx_motion_info info[FRAMES];

    drive(TURN_RAD, NULL, info);
    assert_true(info[JUMP - 1].valid && !info[JUMP].valid);
    assert_int_equal(info[FRAMES - 1].breaks, 1);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        const struct plx_motion_hint hint = turn(hints[i].radians, hints[i].to_ns, hints[i].interval_ns);
        assert_true(plx_motion_hint_is_valid(&hint));
        drive(TURN_RAD, &hint, info);
        assert_true(info[JUMP].valid);
        assert_float_equal(2 * asin(plx_pose_half_sine(&info[JUMP].motion)), TURN_RAD, 0.005);
        assert_float_equal(plx_pose_distance(&info[JUMP].motion), 0.1, 0.03);
        assert_int_equal(info[FRAMES - 1].breaks, 0);
    }
}

static void a_hint_about_another_time_does_not_count(void **state)
{
    (void)state;
    const int64_t to_ns[] = {time_of(JUMP - 1), time_of(JUMP) + PERIOD_NS, 1000 * PLX_NS_PER_S};
    struct plx_motion_info without[FRAMES], info[FRAMES];

    drive(TURN_RAD, NULL, without);
    for (size_t i = 0; i < sizeof to_ns / sizeof *to_ns; i++) {
        const struct plx_motion_hint hint = turn(TURN_RAD, to_ns[i], PERIOD_NS);
        drive(TURN_RAD, &hint, info);
        assert_memory_equal(&info[JUMP], &without[JUMP], sizeof info[JUMP]);
    }
}

/* Constant velocity and the wide search still find the motion. */
static void a_wrong_hint_changes_nothing(void **state)
{
    (void)state;
    struct plx_motion_info without[FRAMES], info[FRAMES];

    drive(0, NULL, without);
    for (int i = -2; i <= 2; i++) {
        const struct plx_motion_hint hint = turn(i * TURN_RAD, time_of(JUMP), PERIOD_NS);
        drive(0, &hint, info);
        for (int k = 1; k < FRAMES; k++) {
            assert_true(info[k].valid);
            assert_float_equal(info[k].pose.translation[2], without[k].pose.translation[2], 0.005);
        }
    }
}

static void spoil_order(struct plx_motion_hint *hint)
{
    hint->to_ns = hint->from_ns;
}
static void spoil_past(struct plx_motion_hint *hint)
{
    hint->from_ns = -1;
}
static void spoil_range(struct plx_motion_hint *hint)
{
    hint->from_ns = INT64_MIN;
    hint->to_ns = INT64_MAX;
}
static void spoil_short(struct plx_motion_hint *hint)
{
    hint->to_ns = hint->from_ns + 999999;
}
static void spoil_long(struct plx_motion_hint *hint)
{
    hint->to_ns = hint->from_ns + PLX_NS_PER_S + 1;
}
static void spoil_distance(struct plx_motion_hint *hint)
{
    hint->motion.translation[0] = -100.1;
}
static void spoil_number(struct plx_motion_hint *hint)
{
    hint->motion.translation[2] = (double)NAN;
}
static void spoil_rotation(struct plx_motion_hint *hint)
{
    hint->motion.rotation[4] = 1.01;
}
static void spoil_angle(struct plx_motion_hint *hint)
{
    *hint = turn(1.6, hint->to_ns, hint->to_ns - hint->from_ns);
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    static void (*const spoil[])(struct plx_motion_hint * hint) = {spoil_order,  spoil_past,     spoil_range,
                                                                   spoil_short,  spoil_long,     spoil_distance,
                                                                   spoil_number, spoil_rotation, spoil_angle};
    const struct plx_motion_hint good = turn(1.5, 2 * PLX_NS_PER_S, PLX_NS_PER_S);

    assert_true(plx_motion_hint_is_valid(&good));
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        struct plx_motion_hint hint = good;
        spoil[i](&hint);
        if (plx_motion_hint_is_valid(&hint))
            fail_msg("row %zu is accepted", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jump_is_found_with_a_hint_alone),
        cmocka_unit_test(a_hint_about_another_time_does_not_count),
        cmocka_unit_test(a_wrong_hint_changes_nothing),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
