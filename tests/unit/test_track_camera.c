/* SPDX-License-Identifier: Apache-2.0 */
/* What tracks know of the camera's motion: a measured one, one that goes on for half a second, and none; and what a thing's
 * velocity over the ground is for the camera. */
#include "core/tracks/camera.h"

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/motion/pose.h"
#include "tests/cmocka.h"

#define STEP_NS (100 * PLX_NS_PER_MS)
#define HELD_NS (500 * PLX_NS_PER_MS)
#define AHEAD_M 0.2

static struct plx_track_camera camera;
static struct plx_motion_info motion;

/* A motion of AHEAD_M over INTERVAL_NS. */
static void begin(int64_t interval_ns)
{
    camera = (struct plx_track_camera){.step = PLX_POSE_IDENTITY};
    motion = (struct plx_motion_info){.valid = 1, .source = PLX_MOTION_VISUAL, .interval_ns = interval_ns};
    motion.motion = PLX_POSE_IDENTITY;
    motion.motion.translation[2] = AHEAD_M;
    for (int i = 0; i < 36; i++)
        motion.covariance[i] = i;
}

static void expect_ahead(double metres)
{
    assert_true(fabs(camera.step.translation[2] - metres) < 1e-12);
}

static void a_motion_over_several_frames_has_its_share_in_each(void **state)
{
    (void)state;
    begin(2 * STEP_NS);
    assert_true(plx_track_camera_update(&camera, &motion, STEP_NS));
    assert_true(camera.known && camera.measured);
    assert_true(camera.held_ns == 0 && camera.seconds == 0.1);
    expect_ahead(AHEAD_M / 2);
    for (int i = 0; i < 36; i++)
        assert_true(camera.covariance[i] == motion.covariance[i]);
    assert_false(plx_track_camera_update(&camera, &motion, STEP_NS)); /* known before */
}

static void a_motion_without_a_time_is_none(void **state)
{
    (void)state;
    static const struct {
        uint32_t valid;
        int64_t interval_ns, step_ns;
    } cases[] = {{0, STEP_NS, STEP_NS}, {1, 0, STEP_NS}, {1, -STEP_NS, STEP_NS}, {1, STEP_NS, 0}, {1, STEP_NS, -STEP_NS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].interval_ns);
        motion.valid = cases[i].valid;
        assert_false(plx_track_camera_update(&camera, &motion, cases[i].step_ns));
        assert_false(camera.known || camera.measured);
    }
}

/* While no motion is measured the camera goes on as before, up to half a second; the uncertainty is that of a robot that may
 * brake: 1 m/s, 0.1 rad/s. */
static void the_camera_goes_on_for_half_a_second(void **state)
{
    (void)state;
    begin(STEP_NS);
    plx_track_camera_update(&camera, &motion, STEP_NS);
    motion.valid = 0;
    assert_false(plx_track_camera_update(&camera, &motion, 2 * STEP_NS));
    assert_true(camera.known && !camera.measured);
    expect_ahead(2 * AHEAD_M);
    for (int i = 0; i < 36; i++) {
        const double sigma = i % 7 ? 0 : i / 7 < 3 ? 0.2 : 0.02;
        assert_true(fabs(camera.covariance[i] - sigma * sigma) < 1e-12);
    }
    plx_track_camera_update(&camera, &motion, 0); /* two frames of one time: no motion between them, and no time to count */
    expect_ahead(2 * AHEAD_M);
    assert_true(camera.known && camera.seconds == 0.2);
    plx_track_camera_update(&camera, &motion, HELD_NS - 2 * STEP_NS);
    assert_true(camera.known);
    expect_ahead(3 * AHEAD_M);
    assert_true(plx_track_camera_update(&camera, &motion, 1));
    assert_false(camera.known);
    expect_ahead(0);
    assert_false(plx_track_camera_update(&camera, &motion, STEP_NS)); /* unknown before */
    motion.valid = 1;
    assert_true(plx_track_camera_update(&camera, &motion, STEP_NS));
    motion.valid = 0;
    plx_track_camera_update(&camera, &motion, HELD_NS); /* the time begins anew with a measured motion */
    assert_true(camera.known);
}

/* Nobody measures any more: nothing says that the camera goes on. */
static void without_a_source_the_motion_ends_at_once(void **state)
{
    (void)state;
    begin(STEP_NS);
    plx_track_camera_update(&camera, &motion, STEP_NS);
    motion.valid = 0;
    motion.source = PLX_MOTION_NONE;
    assert_true(plx_track_camera_update(&camera, &motion, STEP_NS));
    assert_false(camera.known);
}

static void velocities_are_those_that_the_camera_sees(void **state)
{
    (void)state;
    static const double at[3] = {1, 2, 5}, over_ground[3] = {0.5, -0.25, 2};
    double seen[3];

    begin(STEP_NS);
    motion.motion = PLX_POSE_IDENTITY;
    plx_track_camera_velocity(&camera, at, over_ground, seen); /* not known: they are the camera's already */
    assert_memory_equal(seen, over_ground, sizeof seen);
    motion.motion.translation[0] = 0.1;
    motion.motion.translation[2] = AHEAD_M; /* 1 m/s to the right, 2 m/s ahead */
    plx_track_camera_update(&camera, &motion, STEP_NS);
    plx_track_camera_velocity(&camera, at, over_ground, seen);
    assert_true(fabs(seen[0] + 0.5) < 1e-9 && fabs(seen[1] + 0.25) < 1e-9 && fabs(seen[2]) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_motion_over_several_frames_has_its_share_in_each),
        cmocka_unit_test(a_motion_without_a_time_is_none),
        cmocka_unit_test(the_camera_goes_on_for_half_a_second),
        cmocka_unit_test(without_a_source_the_motion_ends_at_once),
        cmocka_unit_test(velocities_are_those_that_the_camera_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
