/* SPDX-License-Identifier: Apache-2.0 */
/* The motion from made-up points: exact, with noise and wrong matches, its covariance over many draws, and what leaves it open.
 */
#include <math.h>
#include <string.h>

#include "core/geometry/cholesky.h"
#include "core/motion/fit.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define POINTS 200
#define DRAWS 200

static const struct plx_fit_camera camera = {700, 700, 320, 240, 700 * 0.3};
static struct plx_fit_point point[POINTS];
static uint64_t state;

static double uniform(double least, double most)
{
    return least + (most - least) * random_below(&state, 1000000) / 1e6;
}

/* Fills POINT with what a camera sees that has moved by TRUTH (now_from_key). Noise: standard deviations, pixels. The first
 * OUTLIERS matches are wrong. */
static void make_points(const struct plx_pose *truth, double flow, double disparity, int outliers)
{
    for (int i = 0; i < POINTS; i++) {
        const double u = uniform(0, 640), v = uniform(0, 480), d = uniform(5, 60);
        double real[3], moved[3];
        plx_fit_unproject(&camera, u, v, d, real);
        plx_pose_apply(truth, real, moved);
        point[i] = (struct plx_fit_point){.disparity = d + disparity * random_normal(&state), .has_disparity = i % 8 != 0};
        plx_fit_unproject(&camera, u, v, point[i].disparity, point[i].at);
        assert_true(plx_fit_project(&camera, moved, point[i].seen));
        point[i].seen[2] = camera.focal_baseline / moved[2] + disparity * random_normal(&state);
        for (int k = 0; k < 2; k++)
            point[i].seen[k] += i < outliers ? uniform(-40, 40) : flow * random_normal(&state);
    }
}

/* The error of FIT as plx_pose_move would mend it. */
static void error_of(const struct plx_pose *truth, const struct plx_pose *estimate, double ret[6])
{
    struct plx_pose inverse, difference;
    plx_pose_invert(estimate, &inverse);
    plx_pose_compose(truth, &inverse, &difference);
    const double *r = difference.rotation;
    memcpy(ret, difference.translation, sizeof difference.translation);
    ret[3] = 0.5 * (r[7] - r[5]);
    ret[4] = 0.5 * (r[2] - r[6]);
    ret[5] = 0.5 * (r[3] - r[1]);
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static const double move[6] = {0.1, -0.05, -0.6, 0.01, 0.03, -0.02};

static void exact_points(void **unused)
{
    (void)unused;
    struct plx_pose truth = PLX_POSE_IDENTITY, prior = PLX_POSE_IDENTITY;
    struct plx_fit fit;
    double error[6];
    state = test_seed();
    plx_pose_move(&truth, move);
    make_points(&truth, 0, 0, 0);
    assert_true(plx_fit_motion(&camera, point, POINTS, &prior, &fit));
    assert_int_equal(fit.inliers, POINTS);
    error_of(&truth, &fit.pose, error);
    assert_true(length(error) < 1e-6);
    assert_true(length(error + 3) < 1e-7);
}

/* Each draw has its own points, noise and 30 % of wrong matches. */
static void noise_and_outliers(void **unused)
{
    (void)unused;
    struct plx_pose truth = PLX_POSE_IDENTITY, prior = PLX_POSE_IDENTITY;
    int covered = 0;
    double sum = 0, worst_m = 0, worst_rad = 0;
    state = test_seed();
    plx_pose_move(&truth, move);
    for (int draw = 0; draw < DRAWS; draw++) {
        struct plx_fit fit;
        double error[6], lower[36], solved[6], squared = 0;
        make_points(&truth, 0.2, 0.3, POINTS * 3 / 10);
        assert_true(plx_fit_motion(&camera, point, POINTS, &prior, &fit));
        for (int i = 0; i < POINTS * 3 / 10; i++) /* but for those that are wrong by little */
            fit.inliers -= point[i].inlier;
        assert_true(fit.inliers >= POINTS * 6 / 10);
        error_of(&truth, &fit.pose, error);
        assert_true(plx_cholesky_decompose(fit.covariance, 6, PLX_CHOLESKY_ROUNDING, lower));
        plx_cholesky_solve(lower, 6, error, solved);
        for (int i = 0; i < 6; i++)
            squared += error[i] * solved[i];
        sum += squared;
        covered += squared < 12.592; /* 95 % of chi-square with six degrees of freedom */
        worst_m = fmax(worst_m, length(error));
        worst_rad = fmax(worst_rad, length(error + 3));
    }
    print_message("    %.1f %% covered, mean squared error %.2f, worst %.1f mm, %.4f deg\n", 100.0 * covered / DRAWS,
                  sum / DRAWS, 1e3 * worst_m, worst_rad * 57.29578);
    assert_in_range(covered, DRAWS * 90 / 100, DRAWS * 99 / 100);
    assert_true(worst_m < 0.03);
    assert_true(worst_rad < 0.0015);
}

static void same_points_same_bits(void **unused)
{
    (void)unused;
    struct plx_pose truth = PLX_POSE_IDENTITY, prior = PLX_POSE_IDENTITY;
    struct plx_fit first, second;
    state = test_seed();
    plx_pose_move(&truth, move);
    make_points(&truth, 0.2, 0.3, 40);
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    assert_true(plx_fit_motion(&camera, point, POINTS, &prior, &first));
    assert_true(plx_fit_motion(&camera, point, POINTS, &prior, &second));
    assert_memory_equal(first.pose.rotation, second.pose.rotation, sizeof first.pose.rotation);
    assert_memory_equal(first.pose.translation, second.pose.translation, sizeof first.pose.translation);
    assert_memory_equal(first.covariance, second.covariance, sizeof first.covariance);
}

static void what_is_left_open(void **unused)
{
    (void)unused;
    struct plx_pose prior = PLX_POSE_IDENTITY;
    struct plx_fit fit;
    state = test_seed();
    make_points(&prior, 0.1, 0.1, 0);
    for (int count = 0; count < 12; count++)
        assert_false(plx_fit_motion(&camera, point, count, &prior, &fit)); /* too few */
    assert_true(plx_fit_motion(&camera, point, 12, &prior, &fit));
    make_points(&prior, 0.1, 0.1, POINTS);
    assert_false(plx_fit_motion(&camera, point, POINTS, &prior, &fit)); /* all wrong */
    for (int i = 0; i < POINTS; i++)
        point[i] = point[0];
    assert_false(plx_fit_motion(&camera, point, POINTS, &prior, &fit)); /* one place */
}

static void poses_come_back(void **unused)
{
    (void)unused;
    struct plx_pose pose = PLX_POSE_IDENTITY, inverse, both, third;
    plx_pose_move(&pose, move);
    plx_pose_invert(&pose, &inverse);
    plx_pose_compose(&pose, &inverse, &both);
    assert_true(plx_pose_distance(&both) < 1e-15 && plx_pose_half_sine(&both) < 1e-7);
    const double angle = sqrt(0.01 * 0.01 + 0.03 * 0.03 + 0.02 * 0.02);
    assert_true(fabs(plx_pose_half_sine(&pose) - sin(angle / 2)) <= 1e-5);
    plx_pose_scale(&pose, 1.0 / 3, &third);
    assert_true(fabs(plx_pose_half_sine(&third) - sin(angle / 6)) <= 1e-5);
    assert_true(fabs(plx_pose_distance(&third) - (plx_pose_distance(&pose) / 3)) <= 1e-12);
    for (int i = 0; i < 100000; i++)
        plx_pose_move(&pose, move);
    plx_pose_normalize(&pose);
    plx_pose_invert(&pose, &inverse);
    plx_pose_compose(&pose, &inverse, &both);
    assert_true(plx_pose_half_sine(&both) < 1e-7);
}

/* A hint of a client's odometry passes this check before it moves anything. */
static void only_whole_poses_are_rigid(void **unused)
{
    (void)unused;
    static const double not_numbers[] = {NAN, INFINITY, -INFINITY};
    struct plx_pose pose = PLX_POSE_IDENTITY;

    plx_pose_move(&pose, move);
    assert_true(plx_pose_is_rigid(&pose));
    for (size_t i = 0; i < 3 * sizeof not_numbers / sizeof *not_numbers; i++) {
        struct plx_pose wrong = pose;
        wrong.translation[i % 3] = not_numbers[i / 3];
        assert_false(plx_pose_is_rigid(&wrong));
    }
    for (int i = 0; i < 9; i++) {
        struct plx_pose wrong = pose;
        wrong.rotation[i] += 0.1;
        assert_false(plx_pose_is_rigid(&wrong));
        wrong.rotation[i] = NAN;
        assert_false(plx_pose_is_rigid(&wrong));
    }
}

/* A motion that is scaled turns about the same axis, in the same direction. */
static void a_part_of_a_motion_turns_about_the_same_axis(void **unused)
{
    (void)unused;
    for (int axis = 0; axis < 3; axis++)
        for (int turn = -1; turn <= 1; turn += 2) {
            double quarter[6] = {0};
            struct plx_pose half = PLX_POSE_IDENTITY, whole, scaled;
            quarter[3 + axis] = turn * 2 * tan(0.25); /* half a radian: plx_pose_move takes twice the tangent of its half */
            plx_pose_move(&half, quarter);
            plx_pose_compose(&half, &half, &whole);
            plx_pose_scale(&half, 2, &scaled); /* by twice the tangent, which is more than twice the angle */
            assert_true(fabs(plx_pose_half_sine(&scaled) - sin(atan(2 * tan(0.25)))) < 1e-12);
            plx_pose_invert(&whole, &whole);
            plx_pose_compose(&whole, &scaled, &whole);
            assert_true(plx_pose_half_sine(&whole) < 0.03);
        }
}

/* --- errors that all points share -------------------------------------------------------------------------------------------
 */

#define SHARED_PX 1e-3 /* so small that no point loses weight by it */

/* All points with the error KIND. */
static void share_error(enum plx_fit_shared kind)
{
    for (int i = 0; i < POINTS; i++) {
        const double u = point[i].at[0] / point[i].at[2] * camera.fx + camera.cx,
                     v = point[i].at[1] / point[i].at[2] * camera.fy + camera.cy;
        const double x = (point[i].seen[0] - camera.cx) / camera.fx, y = (point[i].seen[1] - camera.cy) / camera.fy;
        if (kind == PLX_FIT_DISPARITY || kind == PLX_FIT_CURVE) {
            const bool bent = kind == PLX_FIT_CURVE;
            const double was = bent ? plx_fit_right_square(&camera, u, point[i].disparity) : 1,
                         is = bent ? plx_fit_right_square(&camera, point[i].seen[0], point[i].seen[2]) : 1;
            point[i].disparity -= SHARED_PX * was;
            point[i].seen[2] -= SHARED_PX * is;
            plx_fit_unproject(&camera, u, v, point[i].disparity, point[i].at);
        }
        point[i].seen[0] += SHARED_PX * (kind == PLX_FIT_COLUMN ? 1 : kind == PLX_FIT_TURN ? -y : 0);
        point[i].seen[1] += SHARED_PX * (kind == PLX_FIT_ROW ? 1 : kind == PLX_FIT_TURN ? x : 0);
    }
}

/* Two moves of the pose by one pixel of an error, the same but for SHARE of their length. */
static void assert_same_move(int kind, const double got[6], const double expected[6], double share)
{
    for (int i = 0; i < 6; i++)
        if (!(fabs(got[i] - expected[i]) <= share * (1e-3 + length(expected + i / 3 * 3))))
            fail_msg("error %d moves part %d of the pose by %.9g a pixel, expected %.9g", kind, i, got[i], expected[i]);
}

/* What a fit says of a shared error is what that error does to the pose; and the offset of disparities shows in them. */
static void shared_errors_move_the_pose_as_told(void **unused)
{
    (void)unused;
    struct plx_pose truth = PLX_POSE_IDENTITY, prior = PLX_POSE_IDENTITY;
    struct plx_fit exact, moved;
    plx_pose_move(&truth, move);
    for (int kind = 0; kind < PLX_FIT_SHARED; kind++) {
        double change[6];
        state = test_seed();
        make_points(&truth, 0, 0, 0);
        assert_true(plx_fit_motion(&camera, point, POINTS, &prior, &exact));
        assert_true(exact.offset_weight > 0);
        share_error((enum plx_fit_shared)kind);
        assert_true(plx_fit_motion(&camera, point, POINTS, &prior, &moved));
        error_of(&moved.pose, &exact.pose, change);
        for (int i = 0; i < 6; i++)
            change[i] /= SHARED_PX;
        assert_same_move(kind, change, exact.shared[kind], 1e-3);
    }
}

/* Wrong matches, and points that would be behind the camera, say nothing of shared errors. */
static void wrong_points_share_no_errors(void **unused)
{
    (void)unused;
    struct plx_pose truth = PLX_POSE_IDENTITY, prior = PLX_POSE_IDENTITY;
    struct plx_fit all, good;
    state = test_seed();
    plx_pose_move(&truth, move);
    make_points(&truth, 0, 0, 0);
    for (int i = POINTS - 40; i < POINTS; i++)
        point[i].seen[i % 2] += i % 4 < 2 ? 6 : -6;
    for (int i = POINTS - 10; i < POINTS; i++) { /* 0.3 m ahead, and the camera goes by 0.6 m */
        point[i].disparity = 700;
        plx_fit_unproject(&camera, 320, 240, 700, point[i].at);
    }
    assert_true(plx_fit_motion(&camera, point, POINTS, &prior, &all));
    assert_int_equal(all.inliers, POINTS - 40);
    assert_true(plx_fit_motion(&camera, point, POINTS - 40, &prior, &good));
    assert_float_equal(all.offset_weight / good.offset_weight, 1, 1e-6);
    for (int kind = 0; kind < PLX_FIT_SHARED; kind++)
        assert_same_move(kind, all.shared[kind], good.shared[kind], 1e-6);
}

/* A small move in axes of A, seen from B, is the adjoint's; its covariance is that of the move and nothing else. */
static void covariance_in_other_axes(void **unused)
{
    (void)unused;
    const double small[6] = {3e-6, -2e-6, 5e-6, 1e-6, 4e-6, -2e-6}, turn[6] = {0.4, -0.1, 1.2, 0.2, -0.5, 0.1};
    struct plx_pose b_from_a = PLX_POSE_IDENTITY, a_from_b, moved;
    double covariance[36], got[36];

    plx_pose_move(&b_from_a, turn);
    plx_pose_invert(&b_from_a, &a_from_b);
    moved = a_from_b;
    plx_pose_move(&moved, small);
    plx_pose_compose(&b_from_a, &moved, &moved); /* the same move, from B to B */
    const double *r = moved.rotation, *t = moved.translation;
    const double want[6] = {t[0], t[1], t[2], 0.5 * (r[7] - r[5]), 0.5 * (r[2] - r[6]), 0.5 * (r[3] - r[1])};
    for (int i = 0; i < 36; i++)
        covariance[i] = small[i / 6] * small[i % 6];
    plx_pose_move_covariance(&b_from_a, covariance, got);
    for (int i = 0; i < 36; i++)
        assert_float_equal(got[i] * 1e12, want[i / 6] * want[i % 6] * 1e12, 1e-3);
    plx_pose_move_axes(&b_from_a, small, got);
    for (int i = 0; i < 6; i++)
        assert_float_equal(got[i] * 1e6, want[i] * 1e6, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_points),
        cmocka_unit_test(noise_and_outliers),
        cmocka_unit_test(same_points_same_bits),
        cmocka_unit_test(what_is_left_open),
        cmocka_unit_test(poses_come_back),
        cmocka_unit_test(only_whole_poses_are_rigid),
        cmocka_unit_test(a_part_of_a_motion_turns_about_the_same_axis),
        cmocka_unit_test(covariance_in_other_axes),
        cmocka_unit_test(shared_errors_move_the_pose_as_told),
        cmocka_unit_test(wrong_points_share_no_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
