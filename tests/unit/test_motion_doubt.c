/* SPDX-License-Identifier: Apache-2.0 */
/* Which motions are doubted: those of a thing that fills the view, and those that the robot's odometry contradicts. */
#include <math.h>
#include <string.h>

#include "core/base/units.h"
#include "core/motion/doubt.h"
#include "tests/cmocka.h"

#define POINTS 100
#define PERIOD_NS INT64_C(50000000)

static const struct plx_fit_camera camera = {300, 300, 160, 120, 300 * 0.1};
static const double certain[36] = {0};
static struct plx_fit_point point[POINTS];

static struct plx_pose way(double x, double z)
{
    return (struct plx_pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {x, 0, z}};
}

static struct plx_pose turn(double degrees)
{
    const double c = cos(degrees / PLX_DEGREES_PER_RAD), s = sin(degrees / PLX_DEGREES_PER_RAD);
    return (struct plx_pose){{c, 0, s, 0, 1, 0, -s, 0, c}, {0, 0, 0}};
}

/* Points 2 m ahead, of which STILL stay where they were in the key frame, and all others move by NOW. */
static struct plx_motion_claim claim(const struct plx_pose *last, const struct plx_pose *now, int still)
{
    for (int i = 0; i < POINTS; i++) {
        const double at[3] = {-0.9 + 0.2 * (i % 10), -0.7 + 0.15 * (i / 10.0), 2}; /* none at the middle of the image */
        double moved[3];
        memcpy(point[i].at, at, sizeof at);
        plx_pose_apply(now, at, moved);
        assert_true(plx_fit_project(&camera, i < still ? at : moved, point[i].seen));
    }
    return (struct plx_motion_claim){.now_from_key = *now,
                                     .last_from_key = *last,
                                     .covariance = certain,
                                     .interval_ns = PERIOD_NS,
                                     .point = point,
                                     .count = POINTS,
                                     .inliers = POINTS - still};
}

static bool is_doubted(struct plx_pose last, struct plx_pose now, int still)
{
    const struct plx_motion_claim made = claim(&last, &now, still);
    return plx_corners_contradict(&camera, &made);
}

static void corners_that_stand_still_contradict(void **state)
{
    (void)state;
    const struct plx_pose rest = PLX_POSE_IDENTITY;
    assert_false(is_doubted(rest, way(0.1, 0), 0));
    assert_false(is_doubted(rest, way(0.1, 0), 19)); /* some of the robot's own parts are in view */
    assert_true(is_doubted(rest, way(0.1, 0), 20));
    assert_true(is_doubted(way(0.09, 0), way(0.1, 0), 20)); /* a slow wall, seen after a while */
    assert_false(is_doubted(way(0.1, 0), way(0.1, 0), 20)); /* it stands now: this frame claims nothing */
    assert_false(is_doubted(rest, way(0.01, 0), 20));       /* 1.5 px: not sure yet */
    assert_false(is_doubted(rest, rest, POINTS / 3));
    assert_true(is_doubted(rest, turn(-2), 20));
}

static void most_corners_must_follow(void **state)
{
    (void)state;
    const struct plx_pose rest = PLX_POSE_IDENTITY, now = way(0, -0.1);
    struct plx_motion_claim made = claim(&rest, &now, 0);
    made.inliers = POINTS / 2 + 1;
    assert_false(plx_corners_contradict(&camera, &made));
    made.inliers = POINTS / 2;
    assert_true(plx_corners_contradict(&camera, &made));
}

/* Claims NOW against the odometry SAYS, both from the last frame, which was not the key frame. */
static bool is_contradicted(struct plx_pose now, struct plx_pose says, const double covariance[36])
{
    const struct plx_pose last = way(0.3, 0.1);
    struct plx_pose now_from_key;
    plx_pose_compose(&now, &last, &now_from_key);
    struct plx_motion_claim made = claim(&last, &now_from_key, 0);
    made.covariance = covariance;
    return plx_odometry_contradicts(&says, &made);
}

static void odometry_contradicts_beyond_slip(void **state)
{
    (void)state;
    const struct plx_pose rest = PLX_POSE_IDENTITY;
    double uncertain[36] = {0};
    for (int i = 0; i < 6; i++)
        uncertain[7 * i] = 0.01 * 0.01;
    assert_false(is_contradicted(rest, rest, certain));
    assert_true(is_contradicted(way(0.01, 0), rest, certain));   /* 0.2 m/s, and the wheels stand */
    assert_false(is_contradicted(way(0.002, 0), rest, certain)); /* 0.04 m/s */
    assert_false(is_contradicted(way(0.01, 0), rest, uncertain));
    assert_false(is_contradicted(way(0, -0.05), way(0, -0.08), certain));
    assert_true(is_contradicted(way(0, -0.05), way(0, -0.12), certain)); /* they spin */
    assert_true(is_contradicted(way(0, -0.05), way(0, 0.05), certain));
    assert_true(is_contradicted(turn(1), rest, certain)); /* 20 degrees/s */
    assert_false(is_contradicted(turn(0.09), rest, certain));
    assert_false(is_contradicted(turn(4), turn(6), certain));
    assert_true(is_contradicted(turn(2), turn(6), certain));
    assert_false(is_contradicted(turn(1), rest, uncertain));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_that_stand_still_contradict),
        cmocka_unit_test(most_corners_must_follow),
        cmocka_unit_test(odometry_contradicts_beyond_slip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
