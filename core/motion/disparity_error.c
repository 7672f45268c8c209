/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/disparity_error.h"

#include <math.h>
#include <string.h>

#include "core/geometry/cholesky.h"
#include "core/motion/residual.h"

#define ITERATIONS 10
#define CONVERGED_PX 2e-3
#define MAX_MOVE_PX 3.0        /* largest change of a number in one iteration */
#define MIN_SOLVED 5           /* steps whose points determine their pose */
#define MIN_DISPARITY 0.4      /* px: farther points show nothing */
#define OFFSET_FLOOR_PX 0.08   /* standard deviations of what all steps share, of the offset */
#define CURVE_FLOOR_PX 0.15    /* and of the curve, */
#define CURVE_FLOOR_RATIO 0.12 /* also by the curve itself */
#define SIZE 8                 /* unknowns of a step: 6 of its pose, offset and curve */

/* Squared errors, in variances, from which on a point has no weight: first all points bring the numbers near. */
static const double gates[ITERATIONS] = {1e5, 1e3, 24, 24, 24, 24, 24, 24, 24, 24};

/* The normal equations of a step, and what remains of them for offset and curve when its pose is eliminated. */
struct normal {
    double lower[36]; /* Cholesky factor for the pose */
    double cross[2][6], gradient[6];
    double reduced[2][2], reduced_gradient[2];
};

/* DISPARITY of a point at column U as the calibration file gives it. */
static float uncorrected(const struct plx_fit_camera *camera, double u, double disparity,
                         const struct plx_disparity_error *used)
{
    return (float)(disparity - plx_disparity_error_at(used, plx_fit_right_square(camera, u, disparity)));
}

void plx_motion_steps_add(struct plx_motion_steps *steps, const struct plx_fit_point *point, int count,
                          const struct plx_disparity_error *used, const struct plx_pose *end_from_begin)
{
    struct plx_motion_step *step = &steps->step[steps->next];
    const int stride = (count + PLX_STEP_POINTS - 1) / PLX_STEP_POINTS;

    step->pose = *end_from_begin;
    step->points = 0;
    for (int i = 0; i < count; i += stride) {
        const double *seen = point[i].seen;
        double was[2];
        if (!plx_fit_project(&steps->camera, point[i].at, was))
            continue;
        const float disparity = point[i].has_disparity ? uncorrected(&steps->camera, seen[0], seen[2], used) : 0;
        step->point[step->points++] = (struct plx_motion_point){
            {(float)was[0], (float)was[1], uncorrected(&steps->camera, was[0], point[i].disparity, used)},
            {(float)seen[0], (float)seen[1], fmaxf(0, disparity)}};
    }
    steps->next = (steps->next + 1) % PLX_STEPS;
    steps->count += steps->count < PLX_STEPS;
    steps->added++;
}

void plx_motion_steps_drop_newest(struct plx_motion_steps *steps)
{
    steps->next = (steps->next + PLX_STEPS - 1) % PLX_STEPS;
    steps->count--;
    steps->added--;
}

/* POINT with the disparities that ERROR makes of them. False if it is too far. */
static bool correct(const struct plx_fit_camera *camera, const struct plx_motion_point *point,
                    const struct plx_disparity_error *error, double ret_square[2], struct plx_fit_point *ret)
{
    const double u = (double)point->was[0], v = (double)point->was[1], was = (double)point->was[2];
    const double seen = (double)point->is[0], is = (double)point->is[2];

    ret_square[0] = plx_fit_right_square(camera, u, was);
    ret_square[1] = is > 0 ? plx_fit_right_square(camera, seen, is) : 0;
    *ret = (struct plx_fit_point){.disparity = was + plx_disparity_error_at(error, ret_square[0]),
                                  .seen = {seen, (double)point->is[1], is + plx_disparity_error_at(error, ret_square[1])},
                                  .has_disparity = is > 0};
    if (ret->disparity < MIN_DISPARITY)
        return false;
    plx_fit_unproject(camera, u, v, ret->disparity, ret->at);
    return true;
}

/* Adds a point of a step, whose pose is POSE, to the normal equations A, B in its 8 unknowns. */
static void add_point(const struct plx_fit_camera *camera, const struct plx_motion_point *step_point,
                      const struct plx_disparity_error *error, const struct plx_pose *pose, double gate, double a[SIZE * SIZE],
                      double b[SIZE])
{
    struct plx_fit_point point;
    struct plx_residual residual;
    double x2[2], jacobian[3 * SIZE], weighted[3 * SIZE], gradient[SIZE];

    if (!correct(camera, step_point, error, x2, &point) || !plx_residual_at(camera, &point, pose, &residual) ||
        residual.error >= gate)
        return;
    plx_residual_jacobian(camera, residual.moved, SIZE, jacobian);
    for (int k = 0; k < 3; k++) {
        jacobian[SIZE * k + 6] = residual.across[k] - (k == 2 ? 1 : 0);
        jacobian[SIZE * k + 7] = x2[0] * residual.across[k] - (k == 2 ? x2[1] : 0);
    }
    plx_residual_weigh(&point, &residual, jacobian, SIZE, 1 / (1 + residual.error / PLX_RESIDUAL_CAUCHY), weighted);
    plx_residual_add(jacobian, weighted, SIZE, a);
    plx_residual_gradient(weighted, residual.r, SIZE, gradient);
    for (int i = 0; i < SIZE; i++)
        b[i] += gradient[i];
}

/* False if the points of STEP do not determine its pose. */
static bool find_normal(const struct plx_fit_camera *camera, const struct plx_motion_step *step,
                        const struct plx_disparity_error *error, const struct plx_pose *pose, double gate, struct normal *ret)
{
    double a[SIZE * SIZE] = {0}, b[SIZE] = {0}, of_pose[36];

    for (int i = 0; i < step->points; i++)
        add_point(camera, &step->point[i], error, pose, gate, a, b);
    for (int i = 0; i < 6; i++)
        for (int l = 0; l <= i; l++)
            of_pose[6 * i + l] = a[SIZE * i + l];
    if (!plx_cholesky_decompose(of_pose, 6, PLX_CHOLESKY_ROUNDING, ret->lower))
        return false;
    memcpy(ret->gradient, b, sizeof ret->gradient);
    for (int k = 0; k < 2; k++) {
        double along[6];
        memcpy(ret->cross[k], &a[SIZE * (6 + k)], sizeof ret->cross[k]);
        plx_cholesky_solve(ret->lower, 6, ret->cross[k], along);
        ret->reduced_gradient[k] = b[6 + k];
        for (int l = 0; l <= k; l++)
            ret->reduced[k][l] = a[SIZE * (6 + k) + 6 + l];
        for (int i = 0; i < 6; i++) {
            ret->reduced_gradient[k] -= along[i] * b[i];
            for (int l = 0; l <= k; l++)
                ret->reduced[k][l] -= along[i] * ret->cross[l][i];
        }
    }
    ret->reduced[0][1] = ret->reduced[1][0];
    return true;
}

static bool invert(const double m[2][2], double ret[2][2])
{
    const double determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    if (!(determinant > 1e-9 * m[0][0] * m[1][1]))
        return false;
    ret[0][0] = m[1][1] / determinant;
    ret[1][1] = m[0][0] / determinant;
    ret[0][1] = ret[1][0] = -m[0][1] / determinant;
    return true;
}

/* The steps of an estimate in its iterations. */
struct solution {
    const struct plx_motion_steps *steps;
    int count;
    const struct plx_motion_step *step[PLX_STEPS];
    struct plx_pose pose[PLX_STEPS];
    bool used[PLX_STEPS];
    struct normal normal[PLX_STEPS];
    struct plx_disparity_error error;
    double inverse[2][2]; /* inverse of the reduced normal equations */
    int solved;
};

static void select_steps(const struct plx_motion_steps *steps, enum plx_motion_steps_part part, struct solution *ret)
{
    const int half = steps->count / 2;
    const int begin = part == PLX_STEPS_NEWER ? half : 0, end = part == PLX_STEPS_OLDER ? half : steps->count;

    ret->steps = steps;
    ret->count = end - begin;
    for (int i = begin; i < end; i++) {
        ret->step[i - begin] = &steps->step[(steps->next - steps->count + i + PLX_STEPS) % PLX_STEPS];
        ret->pose[i - begin] = ret->step[i - begin]->pose;
        ret->used[i - begin] = true;
    }
}

/* The poses that go with a move of offset and curve. */
static void move_poses(struct solution *s, const double move[2])
{
    for (int i = 0; i < s->count; i++) {
        double right[6];
        if (!s->used[i])
            continue;
        for (int k = 0; k < 6; k++)
            right[k] = s->normal[i].gradient[k] - s->normal[i].cross[0][k] * move[0] - s->normal[i].cross[1][k] * move[1];
        plx_cholesky_solve(s->normal[i].lower, 6, right, right);
        plx_pose_move(&s->pose[i], right);
    }
}

/* One iteration. False if the steps do not determine the numbers. */
static bool iterate(struct solution *s, double gate, double ret_move[2])
{
    double sum[2][2] = {{0}}, gradient[2] = {0};

    s->solved = 0;
    for (int i = 0; i < s->count; i++) {
        s->used[i] = s->used[i] && find_normal(&s->steps->camera, s->step[i], &s->error, &s->pose[i], gate, &s->normal[i]);
        s->solved += s->used[i];
        for (int k = 0; k < 2 && s->used[i]; k++) {
            gradient[k] += s->normal[i].reduced_gradient[k];
            for (int l = 0; l < 2; l++)
                sum[k][l] += s->normal[i].reduced[k][l];
        }
    }
    if (s->solved < MIN_SOLVED || !invert(sum, s->inverse))
        return false;
    for (int k = 0; k < 2; k++)
        ret_move[k] = fmax(-MAX_MOVE_PX, fmin(MAX_MOVE_PX, s->inverse[k][0] * gradient[0] + s->inverse[k][1] * gradient[1]));
    move_poses(s, ret_move);
    s->error.offset += ret_move[0];
    s->error.curve += ret_move[1];
    return true;
}

/* Sandwich covariance (Huber 1967) whose clusters are steps, and what all steps share: errors of matching that follow from the
 * scene, as fattened edges. */
static void find_covariance(const struct solution *s, double ret[2][2])
{
    double spread[2][2] = {{0}};
    const double share = CURVE_FLOOR_RATIO * s->error.curve;

    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < 4 && s->used[i]; k++)
            spread[k / 2][k % 2] +=
                s->normal[i].reduced_gradient[k / 2] * s->normal[i].reduced_gradient[k % 2] * s->solved / (s->solved - 2);
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) {
            ret[k][l] = 0;
            for (int i = 0; i < 4; i++)
                ret[k][l] += s->inverse[k][i / 2] * spread[i / 2][i % 2] * s->inverse[i % 2][l];
        }
    ret[0][0] += OFFSET_FLOOR_PX * OFFSET_FLOOR_PX;
    ret[1][1] += CURVE_FLOOR_PX * CURVE_FLOOR_PX + share * share;
}

bool plx_disparity_error_estimate(const struct plx_motion_steps *steps, enum plx_motion_steps_part part,
                                  struct plx_disparity_estimate *ret_estimate)
{
    struct solution solution = {.count = 0};
    double move[2];

    select_steps(steps, part, &solution);
    if (solution.count < (part == PLX_STEPS_ALL ? PLX_STEPS_MIN : PLX_STEPS_MIN / 2))
        return false;
    for (int i = 0; i < ITERATIONS; i++) {
        if (!iterate(&solution, gates[i], move))
            return false;
        if (i > 3 && fabs(move[0]) < CONVERGED_PX && fabs(move[1]) < CONVERGED_PX)
            break;
    }
    ret_estimate->error = solution.error;
    ret_estimate->steps = solution.solved;
    find_covariance(&solution, ret_estimate->covariance);
    return true;
}
