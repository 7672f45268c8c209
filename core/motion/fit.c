/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/fit.h"

#include <string.h>

#include "core/base/random.h"
#include "core/geometry/cholesky.h"
#include "core/motion/residual.h"

#define GATE 12       /* variances: a point with a larger squared error is no inlier */
#define FINAL_GATE 24 /* variances: a point with a larger one has no weight in the final steps */
#define HYPOTHESES 60
#define HYPOTHESIS_STEPS 6
#define MAX_SCORED 256  /* points that score a hypothesis */
#define MAX_MISSED 1e-3 /* the search ends when the chance that every sample had an outlier is smaller */
#define FINAL_STEPS 10
#define INFLATION 1.3   /* factor on the covariance: neighbouring corners share errors, which the estimate does not know */
#define CONVERGED 1e-10 /* squared step: 10 um, 1e-5 rad; what is left behind it is much smaller still */
#define MIN_INLIERS 12
#define MIN_INLIER_PERCENT 30

/* Normal equations. */
struct normal {
    double a[36]; /* lower triangle */
    double b[6];
};

/* A point's derivatives, alone and weighted. */
struct derivatives {
    double jacobian[3 * 6], weighted[3 * 6];
};

static inline void derive(const struct plx_fit_camera *camera, const struct plx_fit_point *point,
                          const struct plx_residual *residual, double weight, struct derivatives *ret)
{
    plx_residual_jacobian(camera, residual->moved, 6, ret->jacobian);
    plx_residual_weigh(point, residual, ret->jacobian, 6, weight, ret->weighted);
}

/* Adds POINT with its RESIDUAL and WEIGHT to the normal equations. */
static void add_point(const struct plx_fit_camera *camera, const struct plx_fit_point *point,
                      const struct plx_residual *residual, double weight, struct normal *normal)
{
    struct derivatives d;
    double b[6];
    derive(camera, point, residual, weight, &d);
    plx_residual_add(d.jacobian, d.weighted, 6, normal->a);
    plx_residual_gradient(d.weighted, residual->r, 6, b);
    for (int i = 0; i < 6; i++)
        normal->b[i] += b[i];
}

/* One Gauss-Newton step on the three points of SAMPLE. False if they do not determine it, or if one is behind the camera. */
static bool step_on_sample(const struct plx_fit_camera *camera, const struct plx_fit_point *point, const int sample[3],
                           struct plx_pose *pose)
{
    struct normal normal = {.b = {0}};
    double lower[36], move[6];
    for (int i = 0; i < 3; i++) {
        struct plx_residual residual;
        if (!plx_residual_at(camera, &point[sample[i]], pose, &residual))
            return false;
        add_point(camera, &point[sample[i]], &residual, 1, &normal);
    }
    if (!plx_cholesky_decompose(normal.a, 6, PLX_CHOLESKY_ROUNDING, lower))
        return false;
    plx_cholesky_solve(lower, 6, normal.b, move);
    plx_pose_move(pose, move);
    return true;
}

/* Inliers among every STRIDE-th point. */
static int count_inliers(const struct plx_fit_camera *camera, const struct plx_fit_point *point, int count, int stride,
                         const struct plx_pose *pose)
{
    int inliers = 0;
    for (int i = 0; i < count; i += stride) {
        struct plx_residual residual;
        inliers += plx_residual_at(camera, &point[i], pose, &residual) && residual.error < GATE;
    }
    return inliers;
}

static int draw_below(uint32_t *state, int limit)
{
    return (int)(((uint64_t)plx_random_next(state) * (uint64_t)limit) >> 32);
}

/* Draws three different points. */
static void draw_sample(uint32_t *state, int count, int ret_sample[3])
{
    do {
        ret_sample[0] = draw_below(state, count);
        ret_sample[1] = draw_below(state, count);
        ret_sample[2] = draw_below(state, count);
    } while (ret_sample[0] == ret_sample[1] || ret_sample[0] == ret_sample[2] || ret_sample[1] == ret_sample[2]);
}

/* The pose that most points agree with. */
static void search(const struct plx_fit_camera *camera, const struct plx_fit_point *point, int count,
                   const struct plx_pose *prior, struct plx_pose *ret_pose)
{
    const int stride = (count + MAX_SCORED - 1) / MAX_SCORED, scored = (count + stride - 1) / stride;
    uint32_t state = 2463534242u;
    int best = 0;
    *ret_pose = *prior;
    double missed = 1; /* chance that every sample so far had an outlier */
    for (int h = 0; h < HYPOTHESES && missed > MAX_MISSED; h++) {
        struct plx_pose pose = *prior;
        int sample[3];
        bool solved = true;
        draw_sample(&state, count, sample);
        for (int step = 0; step < HYPOTHESIS_STEPS && solved; step++)
            solved = step_on_sample(camera, point, sample, &pose);
        const int inliers = solved ? count_inliers(camera, point, count, stride, &pose) : 0;
        if (inliers > best) {
            best = inliers;
            *ret_pose = pose;
        }
        const double share = (double)best / scored;
        missed *= 1 - share * share * share;
    }
}

static double weight_of(const struct plx_residual *residual)
{
    return 1 / (1 + residual->error / PLX_RESIDUAL_CAUCHY);
}

static void add_all(const struct plx_fit_camera *camera, const struct plx_fit_point *point, int count,
                    const struct plx_pose *pose, struct normal *ret_normal)
{
    *ret_normal = (struct normal){.b = {0}};
    for (int i = 0; i < count; i++) {
        struct plx_residual residual;
        if (plx_residual_at(camera, &point[i], pose, &residual) && residual.error < FINAL_GATE)
            add_point(camera, &point[i], &residual, weight_of(&residual), ret_normal);
    }
}

/* Covariance of the estimate from the residuals (Huber's sandwich, 1967): H^-1 SPREAD H^-1 with the derivative H of the
 * weighted errors, where a weight 1 / (1 + e / 4) takes half of SPREAD from A. SPREAD: sum of the points' gradients times
 * themselves. */
static bool spread_covariance(const double a[36], const double spread[36], double ret_covariance[36])
{
    double h[36], lower[36], half[36];
    for (int i = 0; i < 36; i++)
        h[i] = a[i] - 2.0 / PLX_RESIDUAL_CAUCHY * spread[i];
    if (!plx_cholesky_decompose(h, 6, PLX_CHOLESKY_ROUNDING, lower))
        return false;
    for (int i = 0; i < 6; i++) /* rows of SPREAD H^-1 */
        plx_cholesky_solve(lower, 6, &spread[6 * i], &half[6 * i]);
    for (int l = 0; l < 6; l++) {
        double column[6];
        for (int i = 0; i < 6; i++)
            column[i] = INFLATION * half[6 * i + l];
        plx_cholesky_solve(lower, 6, column, &ret_covariance[6 * l]);
    }
    return true;
}

/* E' M E of an error E of POINT, with the weights M of its RESIDUAL. */
static double square(const struct plx_fit_point *point, const struct plx_residual *residual, const double e[3])
{
    double ee = 0, eg = 0;
    for (int i = 0; i < plx_residual_parts(point); i++) {
        const double w = plx_residual_weight[i];
        ee += w * e[i] * e[i];
        eg += w * e[i] * residual->across[i];
    }
    return ee - residual->shrink * eg * eg;
}

/* What each shared error makes of the residual of POINT, px. */
static void shared_errors(const struct plx_fit_camera *camera, const struct plx_fit_point *point,
                          const struct plx_residual *residual, double ret[PLX_FIT_SHARED][3])
{
    const double *across = residual->across, *seen = point->seen, *at = point->at;
    const double was = plx_fit_right_square(camera, camera->fx * at[0] / at[2] + camera->cx, point->disparity);
    const double is = point->has_disparity ? plx_fit_right_square(camera, seen[0], seen[2]) : 0;
    const double errors[PLX_FIT_SHARED][3] = {
        [PLX_FIT_DISPARITY] = {across[0], across[1], across[2] - 1},
        [PLX_FIT_CURVE] = {was * across[0], was * across[1], was * across[2] - is},
        [PLX_FIT_COLUMN] = {1, 0, 0},
        [PLX_FIT_ROW] = {0, 1, 0},
        [PLX_FIT_TURN] = {(camera->cy - seen[1]) / camera->fy, (seen[0] - camera->cx) / camera->fx, 0},
    };
    memcpy(ret, errors, sizeof errors);
}

/* What the points say of the pose at the minimum, all together. */
struct minimum {
    double spread[36];                  /* as in spread_covariance */
    double gradient[PLX_FIT_SHARED][6]; /* each shared error's */
    double offset_weight;               /* how well they would show an offset of disparities if the pose were known */
};

static void add_to_minimum(const struct plx_fit_camera *camera, const struct plx_fit_point *point,
                           const struct plx_residual *residual, struct minimum *minimum)
{
    const double weight = weight_of(residual);
    double error[PLX_FIT_SHARED][3], b[6];
    struct derivatives d;

    derive(camera, point, residual, weight, &d);
    plx_residual_gradient(d.weighted, residual->r, 6, b);
    for (int i = 0; i < 6; i++)
        for (int l = 0; l < 6; l++)
            minimum->spread[6 * i + l] += b[i] * b[l];
    shared_errors(camera, point, residual, error);
    minimum->offset_weight += weight * square(point, residual, error[PLX_FIT_DISPARITY]);
    for (int kind = 0; kind < PLX_FIT_SHARED; kind++) {
        plx_residual_gradient(d.weighted, error[kind], 6, b);
        for (int i = 0; i < 6; i++)
            minimum->gradient[kind][i] += b[i];
    }
}

/* The covariance of the pose; how much the pose moves if all points share an error, one more step, on what that error makes of
 * the residuals; and how well the points would show an offset of disparities, less what the pose takes up. NORMAL and LOWER,
 * its decomposition: of the last step. */
static bool find_errors(const struct plx_fit_camera *camera, const struct plx_fit_point *point, int count,
                        const struct normal *normal, const double lower[36], struct plx_fit *fit)
{
    struct minimum minimum = {.offset_weight = 0};

    for (int i = 0; i < count; i++) {
        struct plx_residual residual;
        if (plx_residual_at(camera, &point[i], &fit->pose, &residual) && residual.error < FINAL_GATE)
            add_to_minimum(camera, &point[i], &residual, &minimum);
    }
    for (int kind = 0; kind < PLX_FIT_SHARED; kind++)
        plx_cholesky_solve(lower, 6, minimum.gradient[kind], fit->shared[kind]);
    fit->offset_weight = minimum.offset_weight;
    for (int i = 0; i < 6; i++)
        fit->offset_weight -= minimum.gradient[PLX_FIT_DISPARITY][i] * fit->shared[PLX_FIT_DISPARITY][i];
    return spread_covariance(normal->a, minimum.spread, fit->covariance);
}

/* Gauss-Newton on all points. False if they do not determine the motion. */
static bool refine(const struct plx_fit_camera *camera, const struct plx_fit_point *point, int count, struct plx_fit *fit)
{
    struct normal normal;
    double lower[36];
    for (int step = 0; step < FINAL_STEPS; step++) {
        double move[6], squared = 0;
        add_all(camera, point, count, &fit->pose, &normal);
        if (!plx_cholesky_decompose(normal.a, 6, PLX_CHOLESKY_ROUNDING, lower))
            return false;
        plx_cholesky_solve(lower, 6, normal.b, move);
        plx_pose_move(&fit->pose, move);
        for (int i = 0; i < 6; i++)
            squared += move[i] * move[i];
        if (squared < CONVERGED)
            break;
    }
    return find_errors(camera, point, count, &normal, lower, fit);
}

bool plx_fit_motion(const struct plx_fit_camera *camera, struct plx_fit_point *point, int count, const struct plx_pose *prior,
                    struct plx_fit *ret_fit)
{
    struct plx_fit fit = {.inliers = 0};
    if (count < MIN_INLIERS)
        return false;
    search(camera, point, count, prior, &fit.pose);
    if (!refine(camera, point, count, &fit))
        return false;
    for (int i = 0; i < count; i++) {
        struct plx_residual residual;
        point[i].inlier = plx_residual_at(camera, &point[i], &fit.pose, &residual) && residual.error < GATE;
        fit.inliers += point[i].inlier;
    }
    plx_pose_normalize(&fit.pose);
    *ret_fit = fit;
    return fit.inliers >= MIN_INLIERS && fit.inliers * 100 >= count * MIN_INLIER_PERCENT;
}
