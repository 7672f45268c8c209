/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibration of rigs whose truth is known: boards seen by random cameras, with noise on the corners. What the solver finds,
 * and what it says of its own uncertainty; wrong corners; what cannot be solved.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/rig_fit.h"
#include "core/geometry/matrix3.h"
#include "core/motion/pose.h"
#include "tests/board_render.h"
#include "tests/cmocka.h"

#define WIDTH 640
#define HEIGHT 480
#define PAIRS 30
#define RIGS 40
#define NOISE_PX 0.05

static const struct plx_board board = CHESS(9, 6, 0.03);
enum { CORNERS = 9 * 6 };

static uint64_t seed = 1;

/* Uniform in LOW .. HIGH (Knuth's MMIX generator). */
static double uniform(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* Standard normal (Box and Muller 1958). */
static double normal(void)
{
    return sqrt(-2 * log(1 - uniform(0, 1))) * cos(6.283185307179586 * uniform(0, 1));
}

static void random_camera(enum plx_distortion model, struct plx_camera *ret)
{
    const double focal = uniform(380, 800);
    *ret = (struct plx_camera){.width = WIDTH,
                               .height = HEIGHT,
                               .fx = focal,
                               .fy = focal * uniform(0.99, 1.01),
                               .cx = WIDTH / 2.0 + uniform(-15, 15),
                               .cy = HEIGHT / 2.0 + uniform(-15, 15),
                               .model = model};
    if (model == PLX_DISTORTION_EQUIDISTANT) {
        ret->k[0] = uniform(-0.05, 0.05);
        ret->k[1] = uniform(-0.02, 0.02);
    } else if (model == PLX_DISTORTION_PLUMB_BOB) {
        ret->k[0] = uniform(-0.3, 0.05);
        ret->k[1] = uniform(0, 0.1);
        ret->k[2] = uniform(-0.001, 0.001);
        ret->k[3] = uniform(-0.001, 0.001);
    }
}

static void random_rig(enum plx_distortion model, struct plx_rig *ret)
{
    const double turn[3] = {uniform(-0.05, 0.05), uniform(-0.05, 0.05), uniform(-0.05, 0.05)};
    random_camera(model, &ret->camera[PLX_LEFT]);
    random_camera(model, &ret->camera[PLX_RIGHT]);
    ret->camera[PLX_RIGHT].fx = ret->camera[PLX_LEFT].fx * uniform(0.98, 1.02);
    ret->camera[PLX_RIGHT].fy = ret->camera[PLX_RIGHT].fx * uniform(0.99, 1.01);
    plx_mat3_from_vector(turn, ret->right_from_left.rotation);
    ret->right_from_left.translation[0] = -uniform(0.05, 0.15);
    ret->right_from_left.translation[1] = uniform(-0.005, 0.005);
    ret->right_from_left.translation[2] = uniform(-0.005, 0.005);
}

/* The corners of the board at POSE in both pictures; false if one lies outside. */
static bool see(const struct plx_rig *rig, const struct plx_pose *pose, double ret[PLX_EYES][CORNERS][2])
{
    for (int k = 0; k < CORNERS; k++) {
        double point[3], in[PLX_EYES][3];
        plx_board_point(&board, k, point);
        plx_pose_apply(pose, point, in[PLX_LEFT]);
        plx_pose_apply(&rig->right_from_left, in[PLX_LEFT], in[PLX_RIGHT]);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            if (in[eye][2] < 0.05)
                return false;
            double *corner = ret[eye][k];
            plx_camera_project(&rig->camera[eye], in[eye][0] / in[eye][2], in[eye][1] / in[eye][2], &corner[0], &corner[1]);
            if (corner[0] < 5 || corner[0] > WIDTH - 6 || corner[1] < 5 || corner[1] > HEIGHT - 6)
                return false;
        }
    }
    return true;
}

/* As a person holds it: tilted up to 45 degrees, anywhere in both pictures, large enough. */
static void random_pair(const struct plx_rig *rig, double ret[PLX_EYES][CORNERS][2])
{
    struct plx_pose pose;
    do {
        const double turn[3] = {uniform(-0.8, 0.8), uniform(-0.8, 0.8), uniform(-0.4, 0.4)}, depth = uniform(0.25, 0.7);
        const double middle[3] = {-0.03 * 4, -0.03 * 2.5, 0};
        plx_mat3_from_vector(turn, pose.rotation);
        plx_mat3_apply(pose.rotation, middle, pose.translation);
        pose.translation[0] += uniform(-0.6, 0.6) * depth;
        pose.translation[1] += uniform(-0.45, 0.45) * depth;
        pose.translation[2] += depth;
    } while (!see(rig, &pose, ret));
}

static double corners[PAIRS][PLX_EYES][CORNERS][2];
static struct plx_board_pair pairs[PAIRS];

static void random_pairs(const struct plx_rig *rig, double noise)
{
    for (int p = 0; p < PAIRS; p++) {
        random_pair(rig, corners[p]);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            for (int k = 0; k < CORNERS; k++)
                for (int i = 0; i < 2; i++)
                    corners[p][eye][k][i] += noise * normal();
            pairs[p].corner[eye] = (const double(*)[2])corners[p][eye];
        }
    }
}

static struct plx_rig_fit fit_pairs(enum plx_distortion model, double (*rms)[PLX_EYES])
{
    const struct plx_rig_options options = {WIDTH, HEIGHT, model};
    struct plx_error_message message;
    struct plx_rig_fit fit;
    if (plx_rig_fit(&board, pairs, PAIRS, &options, &fit, rms, &message) < 0)
        fail_msg("%s", message.text);
    return fit;
}

static double baseline_of(const struct plx_rig *rig)
{
    const double *t = rig->right_from_left.translation;
    return sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
}

/* The rotation from one rig's to the other's, radians. */
static double turn_between(const struct plx_rig *a, const struct plx_rig *b, double ret_vector[3])
{
    double inverse[9], difference[9];
    plx_mat3_transpose(b->right_from_left.rotation, inverse);
    plx_mat3_multiply(a->right_from_left.rotation, inverse, difference);
    plx_mat3_to_vector(difference, ret_vector);
    return sqrt(ret_vector[0] * ret_vector[0] + ret_vector[1] * ret_vector[1] + ret_vector[2] * ret_vector[2]);
}

/* Counts those of the errors that lie within 1.96 stated standard deviations. */
static void count_covered(const struct plx_rig *truth, const struct plx_rig_fit *fit, int *covered, int *all)
{
    const int own = (fit->parameters - 6) / 2;
    double turn[3];
    turn_between(&fit->rig, truth, turn);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_camera *got = &fit->rig.camera[eye], *is = &truth->camera[eye];
        const double error[4] = {got->fx - is->fx, got->fy - is->fy, got->cx - is->cx, got->cy - is->cy};
        for (int i = 0; i < 4; i++, ++*all)
            *covered += fabs(error[i]) < 1.96 * fit->sigma[eye * own + i];
    }
    for (int i = 0; i < 3; i++, *all += 2) {
        *covered += fabs(turn[i]) < 1.96 * fit->sigma[2 * own + i];
        *covered += fabs(fit->rig.right_from_left.translation[i] - truth->right_from_left.translation[i]) <
                    1.96 * fit->sigma[2 * own + 3 + i];
    }
    *covered += fabs(baseline_of(&fit->rig) - baseline_of(truth)) < 1.96 * fit->baseline_sigma_m;
    ++*all;
}

/* Depth of a point straight ahead at Z, seen by TRUTH and understood by RIG: z turned + t = w right, by its first and third
 * row. */
static double understood(const struct plx_rig *truth, const struct plx_rig *rig, double z)
{
    const double point[3] = {0, 0, z};
    double in[3], pixel[PLX_EYES][2], left[3] = {0, 0, 1}, right[2], turned[3];
    plx_pose_apply(&truth->right_from_left, point, in);
    plx_camera_project(&truth->camera[PLX_LEFT], 0, 0, &pixel[PLX_LEFT][0], &pixel[PLX_LEFT][1]);
    plx_camera_project(&truth->camera[PLX_RIGHT], in[0] / in[2], in[1] / in[2], &pixel[PLX_RIGHT][0], &pixel[PLX_RIGHT][1]);
    plx_camera_unproject(&rig->camera[PLX_LEFT], pixel[PLX_LEFT][0], pixel[PLX_LEFT][1], &left[0], &left[1]);
    plx_camera_unproject(&rig->camera[PLX_RIGHT], pixel[PLX_RIGHT][0], pixel[PLX_RIGHT][1], &right[0], &right[1]);
    plx_mat3_apply(rig->right_from_left.rotation, left, turned);
    const double *t = rig->right_from_left.translation;
    return (t[0] - right[0] * t[2]) / (right[0] * turned[2] - turned[0]);
}

static int by_value(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

static void rigs_with_noise(enum plx_distortion model)
{
    int covered = 0, all = 0, near = 0, distances = 0;
    double worst_baseline = 0, worst_focal = 0, turns[RIGS];
    for (int r = 0; r < RIGS; r++) {
        struct plx_rig truth;
        double turn[3];
        random_rig(model, &truth);
        random_pairs(&truth, NOISE_PX);
        const struct plx_rig_fit fit = fit_pairs(model, NULL);
        assert_true(fit.rms_px > 0.8 * NOISE_PX * sqrt(2) && fit.rms_px < 1.1 * NOISE_PX * sqrt(2));
        worst_baseline = fmax(worst_baseline, fabs(baseline_of(&fit.rig) / baseline_of(&truth) - 1));
        turns[r] = turn_between(&fit.rig, &truth, turn) * 57.29578;
        for (int eye = 0; eye < PLX_EYES; eye++)
            worst_focal = fmax(worst_focal, fabs(fit.rig.camera[eye].fx / truth.camera[eye].fx - 1));
        count_covered(&truth, &fit, &covered, &all);
        for (int i = 0; i < PLX_RIG_DISTANCES; i++, distances++) {
            const double z = plx_rig_distances[i], error = understood(&truth, &fit.rig, z) / z - 1;
            near += fabs(error) < 1.96 * fit.distance_sigma[i];
        }
    }
    qsort(turns, RIGS, sizeof *turns, by_value);
    print_message(
        "%d rigs: baseline %.3f %%, focal length %.3f %%, rotation %.4f (median %.4f) degrees, %.1f %% within 1.96 sigma, "
        "distances %.1f %%\n",
        RIGS, 100 * worst_baseline, 100 * worst_focal, turns[RIGS - 1], turns[RIGS / 2], 100.0 * covered / all,
        100.0 * near / distances);
    assert_true(worst_baseline < 1e-3);
    assert_true(worst_focal < 1e-3);
    assert_true(turns[RIGS / 2] < 0.02 && turns[RIGS - 1] < 0.1); /* principal points and rotation are hard to tell apart */
    assert_true(covered >= 0.90 * all && covered <= 0.99 * all);
    assert_true(near >= 0.85 * distances); /* those of one rig are nearly one number */
}

static void plumb_bob(void **state)
{
    (void)state;
    rigs_with_noise(PLX_DISTORTION_PLUMB_BOB);
}

static void equidistant(void **state)
{
    (void)state;
    rigs_with_noise(PLX_DISTORTION_EQUIDISTANT);
}

static void no_distortion(void **state)
{
    (void)state;
    rigs_with_noise(PLX_DISTORTION_NONE);
}

static void without_noise_it_is_exact(void **state)
{
    (void)state;
    struct plx_rig truth;
    double turn[3], rms[PAIRS][PLX_EYES];
    random_rig(PLX_DISTORTION_PLUMB_BOB, &truth);
    random_pairs(&truth, 0);
    const struct plx_rig_fit fit = fit_pairs(PLX_DISTORTION_PLUMB_BOB, rms);
    assert_true(fit.rms_px < 1e-6 && rms[PAIRS - 1][PLX_RIGHT] < 1e-6);
    assert_true(turn_between(&fit.rig, &truth, turn) < 1e-8);
    assert_true(fabs(fit.rig.camera[0].k[0] - truth.camera[0].k[0]) < 1e-6);
    assert_true(fabs(baseline_of(&fit.rig) - baseline_of(&truth)) < 1e-9);
}

/* One corner of fifty is somewhere else. */
static void wrong_corners_weigh_little(void **state)
{
    (void)state;
    struct plx_rig truth;
    random_rig(PLX_DISTORTION_PLUMB_BOB, &truth);
    random_pairs(&truth, NOISE_PX);
    for (int p = 0; p < PAIRS; p++)
        corners[p][p % 2][p][0] += 4;
    const struct plx_rig_fit fit = fit_pairs(PLX_DISTORTION_PLUMB_BOB, NULL);
    assert_true(fabs(baseline_of(&fit.rig) / baseline_of(&truth) - 1) < 1e-3);
    assert_true(fabs(fit.rig.camera[0].fx / truth.camera[0].fx - 1) < 1e-3);
}

static void what_cannot_be_solved_is_said(void **state)
{
    (void)state;
    const struct plx_rig_options options = {WIDTH, HEIGHT, PLX_DISTORTION_PLUMB_BOB};
    const struct plx_board no_board = CHESS(2, 6, 0.03), no_size = CHESS(9, 6, 0);
    struct plx_error_message message;
    struct plx_rig_fit fit;
    struct plx_rig truth;
    random_rig(PLX_DISTORTION_NONE, &truth);
    random_pairs(&truth, 0);
    assert_int_equal(plx_rig_fit(&board, pairs, 2, &options, &fit, NULL, &message), PLX_ERR_RANGE);
    assert_non_null(strstr(message.text, "expected 3 to 500"));
    assert_int_equal(plx_rig_fit(&no_board, pairs, PAIRS, &options, &fit, NULL, &message), PLX_ERR_RANGE);
    assert_int_equal(plx_rig_fit(&no_size, pairs, PAIRS, &options, &fit, NULL, &message), PLX_ERR_RANGE);
    memset(corners[1][PLX_RIGHT], 0, sizeof corners[1][PLX_RIGHT]); /* all corners at one place */
    memset(corners[2][PLX_LEFT], 0, sizeof corners[2][PLX_LEFT]);
    assert_int_equal(plx_rig_fit(&board, pairs, PAIRS, &options, &fit, NULL, &message), PLX_ERR_FORMAT);
    assert_string_not_equal(message.text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plumb_bob),
        cmocka_unit_test(equidistant),
        cmocka_unit_test(no_distortion),
        cmocka_unit_test(without_noise_it_is_exact),
        cmocka_unit_test(wrong_corners_weigh_little),
        cmocka_unit_test(what_cannot_be_solved_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
