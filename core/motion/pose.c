/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/pose.h"

#include <math.h>

void plx_pose_compose(const struct plx_pose *c_from_b, const struct plx_pose *b_from_a, struct plx_pose *ret)
{
    struct plx_pose pose = PLX_POSE_IDENTITY;
    plx_mat3_multiply(c_from_b->rotation, b_from_a->rotation, pose.rotation);
    plx_pose_apply(c_from_b, b_from_a->translation, pose.translation);
    *ret = pose;
}

void plx_pose_invert(const struct plx_pose *pose, struct plx_pose *ret)
{
    struct plx_pose inverse = PLX_POSE_IDENTITY;
    plx_mat3_transpose(pose->rotation, inverse.rotation);
    plx_mat3_apply(inverse.rotation, pose->translation, inverse.translation);
    for (int i = 0; i < 3; i++)
        inverse.translation[i] = -inverse.translation[i];
    *ret = inverse;
}

/* The rotation of the unit quaternion in direction (1, HALF): HALF is the axis times the tangent of half the angle. */
static void cayley(const double half[3], double ret[9])
{
    const double x = half[0], y = half[1], z = half[2];
    const double scale = 2 / (1 + x * x + y * y + z * z);
    ret[0] = 1 - scale * (y * y + z * z);
    ret[1] = scale * (x * y - z);
    ret[2] = scale * (x * z + y);
    ret[3] = scale * (x * y + z);
    ret[4] = 1 - scale * (x * x + z * z);
    ret[5] = scale * (y * z - x);
    ret[6] = scale * (x * z - y);
    ret[7] = scale * (y * z + x);
    ret[8] = 1 - scale * (x * x + y * y);
}

void plx_pose_move(struct plx_pose *pose, const double move[6])
{
    const double half[3] = {0.5 * move[3], 0.5 * move[4], 0.5 * move[5]};
    struct plx_pose step = {.translation = {move[0], move[1], move[2]}};
    cayley(half, step.rotation);
    plx_pose_compose(&step, pose, pose);
}

/* [6][6]: a move's translation turns with the pose and gains the lever arm of its rotation, which turns too. */
static void adjoint(const struct plx_pose *pose, double ret[36])
{
    const double *r = pose->rotation, *t = pose->translation;
    const double arm[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0}; /* arm x = t cross x */
    double turned[9];
    plx_mat3_multiply(arm, r, turned);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            ret[6 * i + j] = ret[6 * (i + 3) + j + 3] = r[3 * i + j];
            ret[6 * i + j + 3] = turned[3 * i + j];
            ret[6 * (i + 3) + j] = 0;
        }
}

void plx_pose_move_axes(const struct plx_pose *b_from_a, const double move[6], double ret_move[6])
{
    double by[36];
    adjoint(b_from_a, by);
    for (int i = 0; i < 6; i++) {
        ret_move[i] = 0;
        for (int k = 0; k < 6; k++)
            ret_move[i] += by[6 * i + k] * move[k];
    }
}

void plx_pose_move_covariance(const struct plx_pose *b_from_a, const double covariance[36], double ret_covariance[36])
{
    double by[36], half[36] = {0};
    adjoint(b_from_a, by);
    for (int i = 0; i < 36; i++)
        for (int k = 0; k < 6; k++)
            half[i] += by[i / 6 * 6 + k] * covariance[6 * k + i % 6];
    for (int i = 0; i < 36; i++) {
        double sum = 0;
        for (int k = 0; k < 6; k++)
            sum += half[i / 6 * 6 + k] * by[i % 6 * 6 + k];
        ret_covariance[i] = sum;
    }
}

void plx_pose_normalize(struct plx_pose *pose)
{
    struct plx_pose copy = *pose;
    plx_mat3_orthonormalize(copy.rotation, pose->rotation);
}

bool plx_pose_is_rigid(const struct plx_pose *pose)
{
    const double *t = pose->translation;
    return plx_mat3_is_rotation(pose->rotation, PLX_RIGID_ERROR) && isfinite(t[0]) && isfinite(t[1]) && isfinite(t[2]);
}

void plx_pose_scale(const struct plx_pose *pose, double factor, struct plx_pose *ret)
{
    const double *r = pose->rotation;
    const double scale = factor / (1 + r[0] + r[4] + r[8]); /* the inverse of cayley, where the angle is below pi */
    const double half[3] = {scale * (r[7] - r[5]), scale * (r[2] - r[6]), scale * (r[3] - r[1])};
    struct plx_pose scaled;
    cayley(half, scaled.rotation);
    for (int i = 0; i < 3; i++)
        scaled.translation[i] = factor * pose->translation[i];
    *ret = scaled;
}

double plx_pose_half_sine(const struct plx_pose *pose)
{
    const double *r = pose->rotation;
    const double rest = 3 - r[0] - r[4] - r[8]; /* 4 sin^2 of half the angle */
    return rest > 0 ? 0.5 * sqrt(rest) : 0;
}

double plx_pose_distance(const struct plx_pose *pose)
{
    return plx_vec3_length(pose->translation);
}
