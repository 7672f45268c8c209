/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/uncertainty.h"

#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "core/geometry/cholesky.h"
#include "core/geometry/matrix3.h"
#include "core/motion/pose.h"

#define N PLX_RIG_MAX_PARAMETERS
#define STEP 1e-6 /* for numeric derivatives: relative for lengths in pixels */

const double plx_rig_distances[PLX_RIG_DISTANCES] = {1, 2, 5, 10};

/* Adds STEP to parameter A; returns by how much it changed. */
static double change(struct plx_rig *rig, int coefficients, int a)
{
    const int own = 4 + coefficients, eye = a / own, number = a % own;
    if (eye < PLX_EYES) {
        struct plx_camera *camera = &rig->camera[eye];
        double *const value[4] = {&camera->fx, &camera->fy, &camera->cx, &camera->cy};
        const double by = number < 4 ? STEP * camera->fx : STEP;
        *(number < 4 ? value[number] : &camera->k[number - 4]) += by;
        return by;
    }
    const int last = a - PLX_EYES * own;
    double turn[3] = {0}, rotation[9], turned[9];
    if (last >= 3) {
        rig->right_from_left.translation[last - 3] += STEP;
        return STEP;
    }
    turn[last] = STEP;
    plx_mat3_from_vector(turn, rotation);
    plx_mat3_multiply(rotation, rig->right_from_left.rotation, turned);
    memcpy(rig->right_from_left.rotation, turned, sizeof turned);
    return STEP;
}

/* Pixels of a point straight ahead of the left camera at Z metres. */
static void see(const struct plx_rig *rig, double z, double ret[PLX_EYES][2])
{
    const double point[3] = {0, 0, z};
    double in[3];
    plx_pose_apply(&rig->right_from_left, point, in);
    plx_camera_project(&rig->camera[PLX_LEFT], 0, 0, &ret[PLX_LEFT][0], &ret[PLX_LEFT][1]);
    plx_camera_project(&rig->camera[PLX_RIGHT], in[0] / in[2], in[1] / in[2], &ret[PLX_RIGHT][0], &ret[PLX_RIGHT][1]);
}

/* Distance along the left camera's view at which its ray of a pixel comes nearest to the right camera's (Hartley and Zisserman
 * 2004, chapter 12). */
static double triangulate(const struct plx_rig *rig, double pixel[PLX_EYES][2])
{
    double left[3] = {0, 0, 1}, right[3] = {0, 0, 1}, turned[3];
    const double *t = rig->right_from_left.translation;
    plx_camera_unproject(&rig->camera[PLX_LEFT], pixel[PLX_LEFT][0], pixel[PLX_LEFT][1], &left[0], &left[1]);
    plx_camera_unproject(&rig->camera[PLX_RIGHT], pixel[PLX_RIGHT][0], pixel[PLX_RIGHT][1], &right[0], &right[1]);
    plx_mat3_apply(rig->right_from_left.rotation, left, turned);
    /* z turned + t = w right, in the least-squares sense. */
    double aa = 0, ab = 0, bb = 0, at = 0, bt = 0;
    for (int i = 0; i < 3; i++) {
        aa += turned[i] * turned[i];
        ab += turned[i] * right[i];
        bb += right[i] * right[i];
        at += turned[i] * t[i];
        bt += right[i] * t[i];
    }
    return (ab * bt - bb * at) / (aa * bb - ab * ab);
}

/* Standard deviation of what is V' parameters. S: the Cholesky factor of the inverse covariance, but for VARIANCE. */
static double sigma_of(const double *s, int n, double variance, const double v[N])
{
    double solved[N], sum = 0;
    memcpy(solved, v, sizeof solved);
    plx_cholesky_solve(s, n, solved, solved);
    for (int a = 0; a < n; a++)
        sum += v[a] * solved[a];
    return sqrt(sum * variance);
}

static double distance_sigma(const struct plx_rig_problem *problem, const double *s, double variance, double z)
{
    double pixel[PLX_EYES][2], by[N] = {0};
    see(&problem->rig, z, pixel);
    const double here = triangulate(&problem->rig, pixel);
    for (int a = 0; a < problem->parameters; a++) {
        struct plx_rig changed = problem->rig;
        const double step = change(&changed, problem->coefficients, a);
        by[a] = (triangulate(&changed, pixel) - here) / step;
    }
    return sigma_of(s, problem->parameters, variance, by) / z;
}

int plx_rig_uncertainty(struct plx_rig_problem *problem, double (*l)[PLX_RIG_POSE * PLX_RIG_POSE], struct plx_rig_fit *fit,
                        struct plx_error_message *message)
{
    const int n = problem->parameters;
    int found = 0;
    const double *t = problem->rig.right_from_left.translation, baseline = plx_vec3_length(t);
    double s[N * N], b[N], along[N] = {0};
    plx_rig_build(problem);
    if (!plx_rig_reduce(problem, 0, s, b, l) || !plx_cholesky_decompose(s, n, 0, s))
        return plx_fail(
            message, PLX_ERR_FORMAT,
            "the boards do not determine the cameras; tilt the board more, and move it to all parts of both pictures");
    for (int p = 0; p < problem->pairs; p++)
        found += plx_board_found(problem->board, &problem->pair[p]);
    const double variance = plx_rig_cost(problem) / (2.0 * found - n - PLX_RIG_POSE * problem->pairs);
    for (int a = 0; a < n; a++) {
        double unit[N] = {0};
        unit[a] = 1;
        fit->sigma[a] = sigma_of(s, n, variance, unit);
    }
    for (int i = 0; i < 3; i++)
        along[n - 3 + i] = t[i] / baseline;
    fit->baseline_sigma_m = sigma_of(s, n, variance, along);
    for (int i = 0; i < PLX_RIG_DISTANCES; i++)
        fit->distance_sigma[i] = distance_sigma(problem, s, variance, plx_rig_distances[i]);
    return 0;
}
