/* SPDX-License-Identifier: Apache-2.0 */
/* The error of disparities from made-up steps of a camera: exact, with noise and wrong matches, its covariance over many
 * draws, its parts in time, and what leaves it open. */
#include <math.h>
#include <string.h>

#include "core/drift/correction.h"
#include "core/motion/disparity_error.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define WIDTH 640
#define HEIGHT 480
#define POINTS 300
#define DRAWS 40

static const struct plx_fit_camera camera = {530, 530, 319.5, 239.5, 530 * 0.12};
static struct plx_motion_steps steps;
static uint64_t state;

/* What a test makes of the world. */
struct world {
    double near_m, far_m;
    double flow, disparity; /* noise: standard deviations, px */
    int outlier_percent;    /* wrong matches */
    int mover_percent;      /* points of one thing that moves */
};

static const struct world street = {2, 40, 0.25, 0.3, 10, 0};

static double uniform(double least, double most)
{
    return least + (most - least) * random_below(&state, 1000000) / 1e6;
}

static float with_error(const struct plx_disparity_error *error, double u, double disparity)
{
    return (float)(disparity - plx_disparity_error_at(error, plx_fit_right_square(&camera, u, disparity)));
}

/* A point of WORLD before and after a step of the camera; false if it leaves the view. */
static bool see(const struct world *world, const struct plx_disparity_error *error, const struct plx_pose *pose,
                struct plx_motion_point *ret)
{
    const double fb = camera.focal_baseline, z = 1 / uniform(1 / world->far_m, 1 / world->near_m);
    const double u = uniform(0, WIDTH), v = uniform(0, HEIGHT);
    const bool moves = (int)random_below(&state, 100) < world->mover_percent,
               wrong = (int)random_below(&state, 100) < world->outlier_percent;
    double at[3], seen[2], moved[3];

    plx_fit_unproject(&camera, u, v, fb / z, at);
    plx_pose_apply(pose, at, moved);
    if (moves)
        moved[0] += 0.3;
    if (!plx_fit_project(&camera, moved, seen) || seen[0] < 0 || seen[0] >= WIDTH || seen[1] < 0 || seen[1] >= HEIGHT)
        return false;
    for (int i = 0; i < 2; i++)
        seen[i] += wrong ? uniform(-20, 20) : world->flow * random_normal(&state);
    *ret = (struct plx_motion_point){
        {(float)u, (float)v, with_error(error, u, fb / z + world->disparity * random_normal(&state))},
        {(float)seen[0], (float)seen[1],
         random_below(&state, 8) == 0 ? 0
                                      : with_error(error, seen[0], fb / moved[2] + world->disparity * random_normal(&state))}};
    return ret->was[2] > 0.5F;
}

/* Adds a step by MOVE (m, rad; of points), whose pose is found as the motion finds it, from disparities with the error. */
static void add_step(const struct world *world, const struct plx_disparity_error *error, const double move[6])
{
    struct plx_motion_step *step = &steps.step[steps.next];
    struct plx_fit_point point[PLX_STEP_POINTS];
    struct plx_pose truth = PLX_POSE_IDENTITY;
    struct plx_fit fit;

    plx_pose_move(&truth, move);
    step->points = 0;
    for (int i = 0; i < POINTS && step->points < PLX_STEP_POINTS; i++)
        step->points += see(world, error, &truth, &step->point[step->points]);
    for (int i = 0; i < step->points; i++) {
        const struct plx_motion_point *p = &step->point[i];
        point[i] = (struct plx_fit_point){.disparity = (double)p->was[2],
                                          .seen = {(double)p->is[0], (double)p->is[1], (double)p->is[2]},
                                          .has_disparity = p->is[2] > 0};
        plx_fit_unproject(&camera, (double)p->was[0], (double)p->was[1], point[i].disparity, point[i].at);
    }
    step->pose = truth;
    if (plx_fit_motion(&camera, point, step->points, &truth, &fit))
        step->pose = fit.pose;
    steps.next = (steps.next + 1) % PLX_STEPS;
    steps.count += steps.count < PLX_STEPS;
    steps.added++;
}

/* COUNT steps of a drive with gentle turns. */
static void drive(const struct world *world, const struct plx_disparity_error *error, int count)
{
    for (int i = 0; i < count; i++) {
        const double move[6] = {uniform(-0.02, 0.02),   uniform(-0.02, 0.02), -uniform(0.4, 0.8),
                                uniform(-0.005, 0.005), uniform(-0.02, 0.02), uniform(-0.005, 0.005)};
        add_step(world, error, move);
    }
}

static void begin(uint64_t seed)
{
    state = seed;
    memset(&steps, 0, sizeof steps);
    steps.camera = camera;
}

static void exact_steps_give_both_numbers(void **unused)
{
    static const struct world clean = {2, 40, 0, 0, 0, 0};
    static const struct plx_disparity_error errors[] = {{0, 0}, {0.5, 0}, {-1.2, 0}, {0, 1.5}, {0.8, -2}, {-2.7, -2.7}};
    struct plx_disparity_estimate estimate;

    (void)unused;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        begin(i + 1);
        drive(&clean, &errors[i], PLX_STEPS);
        assert_true(plx_disparity_error_estimate(&steps, PLX_STEPS_ALL, &estimate));
        assert_int_equal(estimate.steps, PLX_STEPS);
        /* x of the right picture is that of the wrong disparity: up to 3 px of 530 */
        assert_float_equal(estimate.error.offset, errors[i].offset, 0.01);
        assert_float_equal(estimate.error.curve, errors[i].curve, 0.05);
    }
}

/* Small errors of exact steps are found exactly: the model is that of the points, to its last term. */
static void small_errors_are_found_to_their_last_digit(void **unused)
{
    static const struct world clean = {2, 40, 0, 0, 0, 0};
    static const struct plx_disparity_error errors[] = {{0.02, 0}, {0, 0.05}, {-0.02, 0.05}};
    struct plx_disparity_estimate estimate;

    (void)unused;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        begin(i + 1);
        drive(&clean, &errors[i], PLX_STEPS);
        assert_true(plx_disparity_error_estimate(&steps, PLX_STEPS_ALL, &estimate));
        print_message("    off by %g and %g px\n", estimate.error.offset - errors[i].offset,
                      estimate.error.curve - errors[i].curve);
        assert_float_equal(estimate.error.offset, errors[i].offset, 6e-6);
        assert_float_equal(estimate.error.curve, errors[i].curve, 6e-6);
    }
}

/* The share of draws whose truth lies within 1.96 deviations, and how far off the offset was at most. */
static void noise_and_wrong_matches_stay_within_the_deviations(void **unused)
{
    int within[2] = {0};
    double worst = 0;

    (void)unused;
    for (int draw = 0; draw < DRAWS; draw++) {
        struct plx_disparity_estimate estimate;
        begin(100 + (uint64_t)draw);
        const double yaw_px = uniform(-2.8, 2.8); /* up to 0.3 degrees: offset and curve are the same then */
        const struct plx_disparity_error error = {draw % 2 ? yaw_px : uniform(-1.2, 1.2), draw % 2 ? yaw_px : uniform(-2, 2)};
        drive(&street, &error, PLX_STEPS);
        assert_true(plx_disparity_error_estimate(&steps, PLX_STEPS_ALL, &estimate));
        const double off[2] = {estimate.error.offset - error.offset, estimate.error.curve - error.curve};
        for (int k = 0; k < 2; k++)
            within[k] += fabs(off[k]) <= 1.96 * sqrt(estimate.covariance[k][k]);
        worst = fmax(worst, fabs(off[0]));
        assert_true(estimate.covariance[0][0] < 0.15 * 0.15);
        /* at the side both numbers' errors cancel in part, and the covariance knows it */
        assert_true(plx_disparity_variance_at(&estimate, 0.36) <
                    estimate.covariance[0][0] + 0.36 * 0.36 * estimate.covariance[1][1]);
    }
    print_message("    %d and %d of %d within 1.96 deviations, offset off by %.3f px at most\n", within[0], within[1], DRAWS,
                  worst);
    assert_true(within[0] >= DRAWS * 93 / 100 && within[1] >= DRAWS * 93 / 100);
    assert_true(worst < 0.15);
}

static void a_moving_thing_on_half_of_the_picture_changes_little(void **unused)
{
    static const struct world movers = {2, 40, 0.25, 0.3, 5, 45};
    static const struct plx_disparity_error error = {0.5, 1};
    struct plx_disparity_estimate estimate;

    (void)unused;
    begin(7);
    drive(&movers, &error, PLX_STEPS);
    assert_true(plx_disparity_error_estimate(&steps, PLX_STEPS_ALL, &estimate));
    print_message("    offset %.3f (0.5), curve %.3f (1)\n", estimate.error.offset, estimate.error.curve);
    assert_float_equal(estimate.error.offset, 0.5, 0.12);
    assert_float_equal(estimate.error.curve, 1, 0.4);
}

/* A ring: older steps are forgotten, and the halves are halves of the time. */
static void parts_are_parts_of_the_time(void **unused)
{
    static const struct plx_disparity_error forgotten = {2, 0}, older = {0.2, 0}, newer = {1, 0};
    struct plx_disparity_estimate part[PLX_STEPS_PARTS];

    (void)unused;
    begin(9);
    drive(&street, &forgotten, 7);
    drive(&street, &older, PLX_STEPS / 2);
    drive(&street, &newer, PLX_STEPS / 2);
    for (int i = 0; i < PLX_STEPS_PARTS; i++)
        assert_true(plx_disparity_error_estimate(&steps, (enum plx_motion_steps_part)i, &part[i]));
    assert_float_equal(part[PLX_STEPS_OLDER].error.offset, older.offset, 0.12);
    assert_float_equal(part[PLX_STEPS_NEWER].error.offset, newer.offset, 0.12);
    assert_true(part[PLX_STEPS_ALL].error.offset > 0.4 && part[PLX_STEPS_ALL].error.offset < 0.8);
    assert_int_equal(part[PLX_STEPS_OLDER].steps, PLX_STEPS / 2);
    assert_int_equal(part[PLX_STEPS_ALL].steps, PLX_STEPS);
    assert_true(part[PLX_STEPS_ALL].covariance[0][0] > 1.5 * part[PLX_STEPS_NEWER].covariance[0][0]); /* they differ */
}

static void too_few_steps_say_nothing(void **unused)
{
    static const struct plx_disparity_error error = {0.5, 0};
    struct plx_disparity_estimate estimate = {.steps = -1};

    (void)unused;
    begin(11);
    assert_false(plx_disparity_error_estimate(&steps, PLX_STEPS_ALL, &estimate));
    drive(&street, &error, PLX_STEPS_MIN - 1);
    assert_false(plx_disparity_error_estimate(&steps, PLX_STEPS_ALL, &estimate));
    for (int i = 0; i < steps.count; i++)
        steps.step[i].points = 1; /* which does not determine a pose */
    drive(&street, &error, 1);
    assert_false(plx_disparity_error_estimate(&steps, PLX_STEPS_ALL, &estimate));
    assert_int_equal(estimate.steps, -1); /* untouched */
}

/* How well the points of one step by MOVE show an offset, as a plx_fit says it. Z: of all points, 0: street. */
static double weight_of(double z, const double move[6])
{
    static const struct plx_disparity_error none;
    const struct world world = {z > 0 ? z : street.near_m, z > 0 ? z : street.far_m, 0.25, 0.3, 5, 0};
    struct plx_fit_point point[PLX_STEP_POINTS];
    struct plx_pose truth = PLX_POSE_IDENTITY;
    struct plx_motion_point seen;
    struct plx_fit fit;
    int count = 0;

    plx_pose_move(&truth, move);
    while (count < PLX_STEP_POINTS) {
        if (!see(&world, &none, &truth, &seen))
            continue;
        point[count] = (struct plx_fit_point){.disparity = (double)seen.was[2],
                                              .seen = {(double)seen.is[0], (double)seen.is[1], (double)seen.is[2]},
                                              .has_disparity = seen.is[2] > 0};
        plx_fit_unproject(&camera, (double)seen.was[0], (double)seen.was[1], point[count].disparity, point[count].at);
        count++;
    }
    assert_true(plx_fit_motion(&camera, point, count, &truth, &fit));
    return fit.offset_weight;
}

/* The estimates of all parts at once; that they are of as many steps as there can be is said then, and only then. */
static void a_drift_is_full_when_the_steps_are(void **unused)
{
    static const struct plx_disparity_error error = {0.5, 0};
    struct plx_disparity_drift drift = {.is_full = true};

    (void)unused;
    begin(13);
    drive(&street, &error, PLX_STEPS - 1);
    plx_disparity_drift_measure(&steps, &drift);
    assert_false(drift.is_full);
    assert_int_equal(drift.part[PLX_STEPS_ALL].steps, PLX_STEPS - 1);
    drive(&street, &error, 1);
    plx_disparity_drift_measure(&steps, &drift);
    assert_true(drift.is_full);
    assert_int_equal(drift.part[PLX_STEPS_OLDER].steps + drift.part[PLX_STEPS_NEWER].steps, PLX_STEPS);
}

static void only_parallax_makes_steps(void **unused)
{
    static const struct {
        const char *name;
        double z, move[6];
        bool shows;
    } cases[] = {
        {"a drive", 0, {0, 0, -0.6, 0, 0.01, 0}, true},       {"sideways", 0, {-0.4, 0, 0, 0, 0, 0}, true},
        {"standing", 0, {0, 0, 0, 0, 0, 0}, false},           {"turning on the spot", 0, {0, 0, 0, 0, 0.05, 0}, false},
        {"5 cm ahead", 0, {0, 0, -0.05, 0, 0, 0}, false},     {"one wall, ahead", 4, {0, 0, -0.4, 0, 0, 0}, false},
        {"one wall, along", 4, {-0.3, 0, 0, 0, 0, 0}, false},
    };

    (void)unused;
    begin(13);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double weight = weight_of(cases[i].z, cases[i].move);
        print_message("    %s: %.2f px^-2\n", cases[i].name, weight);
        assert_true((weight >= PLX_STEP_MIN_WEIGHT) == cases[i].shows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_steps_give_both_numbers),
        cmocka_unit_test(small_errors_are_found_to_their_last_digit),
        cmocka_unit_test(noise_and_wrong_matches_stay_within_the_deviations),
        cmocka_unit_test(a_moving_thing_on_half_of_the_picture_changes_little),
        cmocka_unit_test(parts_are_parts_of_the_time),
        cmocka_unit_test(too_few_steps_say_nothing),
        cmocka_unit_test(a_drift_is_full_when_the_steps_are),
        cmocka_unit_test(only_parallax_makes_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
