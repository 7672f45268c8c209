/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/equations.h"

#include <math.h>
#include <string.h>

#include "core/geometry/cholesky.h"
#include "core/geometry/matrix3.h"

#define STEP 1e-6 /* for numeric derivatives; rays and coefficients are about 1 */

/* --- one corner ----------------------------------------------------------------------------------------------------- */

bool plx_rig_project(const struct plx_rig_problem *problem, int p, enum plx_eye eye, int k, struct plx_rig_corner *ret)
{
    const struct plx_pose *pose = &problem->pose[p], *right = &problem->rig.right_from_left;
    double point[3], u, v;
    plx_board_point(problem->board, k, point);
    plx_mat3_apply(pose->rotation, point, ret->turned);
    for (int i = 0; i < 3; i++)
        ret->left[i] = ret->turned[i] + pose->translation[i];
    plx_mat3_apply(right->rotation, ret->left, ret->turned_again);
    for (int i = 0; i < 3; i++)
        ret->point[i] = eye == PLX_LEFT ? ret->left[i] : ret->turned_again[i] + right->translation[i];
    if (!(ret->point[2] > 1e-9))
        return false;
    plx_camera_project(&problem->rig.camera[eye], ret->point[0] / ret->point[2], ret->point[1] / ret->point[2], &u, &v);
    ret->residual[0] = u - problem->pair[p].corner[eye][k][0];
    ret->residual[1] = v - problem->pair[p].corner[eye][k][1];
    return isfinite(u) && isfinite(v);
}

/* Derivatives of both coordinates by the point in the eye. */
static void by_point(const struct plx_camera *camera, const double point[3], double ret[2][3])
{
    const double x = point[0] / point[2], y = point[1] / point[2];
    double plus[2], minus[2];
    for (int axis = 0; axis < 2; axis++) {
        const double dx = axis == 0 ? STEP : 0, dy = axis == 1 ? STEP : 0;
        plx_camera_project(camera, x + dx, y + dy, &plus[0], &plus[1]);
        plx_camera_project(camera, x - dx, y - dy, &minus[0], &minus[1]);
        for (int i = 0; i < 2; i++)
            ret[i][axis] = (plus[i] - minus[i]) / (2 * STEP) / point[2];
    }
    for (int i = 0; i < 2; i++)
        ret[i][2] = -(ret[i][0] * x + ret[i][1] * y);
}

/* Derivatives by focal lengths, principal point and coefficients, at RET[coordinate][0 ...]. */
static void by_camera(const struct plx_camera *camera, int coefficients, const double point[3], double ret[2][4 + 8])
{
    const double x = point[0] / point[2], y = point[1] / point[2];
    struct plx_camera changed = *camera;
    double u, v, plus[2], minus[2];
    plx_camera_project(camera, x, y, &u, &v);
    memset(ret, 0, 2 * sizeof ret[0]);
    ret[0][0] = (u - camera->cx) / camera->fx;
    ret[1][1] = (v - camera->cy) / camera->fy;
    ret[0][2] = ret[1][3] = 1;
    for (int c = 0; c < coefficients; c++) {
        changed.k[c] = camera->k[c] + STEP;
        plx_camera_project(&changed, x, y, &plus[0], &plus[1]);
        changed.k[c] = camera->k[c] - STEP;
        plx_camera_project(&changed, x, y, &minus[0], &minus[1]);
        changed.k[c] = camera->k[c];
        for (int i = 0; i < 2; i++)
            ret[i][4 + c] = (plus[i] - minus[i]) / (2 * STEP);
    }
}

/* Derivatives of one coordinate by all parameters and by the pose; J: by the point, so that A x J is by a turn of A. */
static void row_of(const struct plx_rig_problem *problem, enum plx_eye eye, const struct plx_rig_corner *corner,
                   const double camera[4 + 8], const double j[3], double ret_g[PLX_RIG_MAX_PARAMETERS],
                   double ret_p[PLX_RIG_POSE])
{
    const int own = 4 + problem->coefficients, last = problem->parameters - PLX_RIG_POSE;
    double in_left[3] = {j[0], j[1], j[2]};
    memset(ret_g, 0, PLX_RIG_MAX_PARAMETERS * sizeof *ret_g);
    memcpy(ret_g + eye * own, camera, (size_t)own * sizeof *camera);
    if (eye == PLX_RIGHT) {
        plx_vec3_cross(corner->turned_again, j, ret_g + last);
        memcpy(ret_g + last + 3, j, 3 * sizeof *j);
        plx_mat3_apply_transposed(problem->rig.right_from_left.rotation, j, in_left);
    }
    plx_vec3_cross(corner->turned, in_left, ret_p);
    memcpy(ret_p + 3, in_left, sizeof in_left);
}

/* --- all corners ---------------------------------------------------------------------------------------------------- */

static double weight_of(const struct plx_rig_problem *problem, const double residual[2])
{
    const double length = hypot(residual[0], residual[1]);
    return length > problem->huber_px ? problem->huber_px / length : 1;
}

static double cost_of(const struct plx_rig_problem *problem, const double residual[2])
{
    const double length = hypot(residual[0], residual[1]), h = problem->huber_px;
    return length > h ? h * (2 * length - h) : length * length;
}

double plx_rig_cost(const struct plx_rig_problem *problem)
{
    double cost = 0;
    struct plx_rig_corner corner;
    for (int p = 0; p < problem->pairs; p++)
        for (int eye = 0; eye < PLX_EYES; eye++)
            for (int k = 0; k < plx_board_corners(problem->board); k++) {
                if (!plx_rig_is_found(problem, p, (enum plx_eye)eye, k))
                    continue;
                if (!plx_rig_project(problem, p, (enum plx_eye)eye, k, &corner))
                    return INFINITY;
                cost += cost_of(problem, corner.residual);
            }
    return cost;
}

static void add_corner(struct plx_rig_problem *problem, int p, enum plx_eye eye, const struct plx_rig_corner *corner)
{
    const struct plx_camera *camera = &problem->rig.camera[eye];
    const int n = problem->parameters;
    struct plx_rig_block *block = &problem->block[p];
    double j[2][3], own[2][4 + 8], g[PLX_RIG_MAX_PARAMETERS], pose[PLX_RIG_POSE];
    const double weight = weight_of(problem, corner->residual);
    by_point(camera, corner->point, j);
    by_camera(camera, problem->coefficients, corner->point, own);
    for (int i = 0; i < 2; i++) {
        row_of(problem, eye, corner, own[i], j[i], g, pose);
        for (int a = 0; a < n; a++) {
            if (g[a] == 0)
                continue;
            for (int b = 0; b <= a; b++)
                problem->gg[a * n + b] += weight * g[a] * g[b];
            for (int b = 0; b < PLX_RIG_POSE; b++)
                block->gp[a * PLX_RIG_POSE + b] += weight * g[a] * pose[b];
            problem->b[a] -= weight * g[a] * corner->residual[i];
        }
        for (int a = 0; a < PLX_RIG_POSE; a++) {
            for (int b = 0; b <= a; b++)
                block->pp[a * PLX_RIG_POSE + b] += weight * pose[a] * pose[b];
            block->b[a] -= weight * pose[a] * corner->residual[i];
        }
    }
}

void plx_rig_build(struct plx_rig_problem *problem)
{
    struct plx_rig_corner corner;
    memset(problem->gg, 0, sizeof problem->gg);
    memset(problem->b, 0, sizeof problem->b);
    memset(problem->block, 0, (size_t)problem->pairs * sizeof *problem->block);
    for (int p = 0; p < problem->pairs; p++)
        for (int eye = 0; eye < PLX_EYES; eye++)
            for (int k = 0; k < plx_board_corners(problem->board); k++)
                if (plx_rig_is_found(problem, p, (enum plx_eye)eye, k) &&
                    plx_rig_project(problem, p, (enum plx_eye)eye, k, &corner))
                    add_corner(problem, p, (enum plx_eye)eye, &corner);
}

/* --- without the poses ---------------------------------------------------------------------------------------------- */

bool plx_rig_reduce(const struct plx_rig_problem *problem, double damping,
                    double s[PLX_RIG_MAX_PARAMETERS * PLX_RIG_MAX_PARAMETERS], double b[PLX_RIG_MAX_PARAMETERS],
                    double (*l)[PLX_RIG_POSE * PLX_RIG_POSE])
{
    const int n = problem->parameters;
    memcpy(s, problem->gg, (size_t)(n * n) * sizeof *s);
    memcpy(b, problem->b, (size_t)n * sizeof *b);
    for (int a = 0; a < n; a++)
        s[a * n + a] *= 1 + damping;
    for (int p = 0; p < problem->pairs; p++) {
        const struct plx_rig_block *block = &problem->block[p];
        memcpy(l[p], block->pp, sizeof block->pp);
        for (int a = 0; a < PLX_RIG_POSE; a++)
            l[p][a * PLX_RIG_POSE + a] *= 1 + damping;
        if (!plx_cholesky_decompose(l[p], PLX_RIG_POSE, 0, l[p]))
            return false;
        for (int a = 0; a < n; a++) {
            double row[PLX_RIG_POSE];
            memcpy(row, block->gp + a * PLX_RIG_POSE, sizeof row);
            plx_cholesky_solve(l[p], PLX_RIG_POSE, row, row);
            for (int c = 0; c < PLX_RIG_POSE; c++)
                b[a] -= row[c] * block->b[c];
            for (int c = 0; c <= a; c++)
                for (int d = 0; d < PLX_RIG_POSE; d++)
                    s[a * n + c] -= row[d] * block->gp[c * PLX_RIG_POSE + d];
        }
    }
    return true;
}
