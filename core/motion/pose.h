/* SPDX-License-Identifier: Apache-2.0 */
/* Rigid motions of the camera. No function of libm but sqrt, so that all machines give the same bits. */
#ifndef PLX_CORE_MOTION_POSE_H
#define PLX_CORE_MOTION_POSE_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "core/geometry/matrix3.h"

#define PLX_POSE_IDENTITY ((struct plx_pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}})

static inline void plx_pose_apply(const struct plx_pose *pose, const double point[3], double ret_point[3])
{
    plx_mat3_apply(pose->rotation, point, ret_point);
    for (int i = 0; i < 3; i++)
        ret_point[i] += pose->translation[i];
}

/* c_from_a of C_FROM_B and B_FROM_A; RET may be one of them. */
void plx_pose_compose(const struct plx_pose *c_from_b, const struct plx_pose *b_from_a, struct plx_pose *ret);
void plx_pose_invert(const struct plx_pose *pose, struct plx_pose *ret);

/* Moves POSE by a small motion in its target's axes: translation (m), then rotation vector (rad). Rotations are Cayley's, which
 * differ from the rotation vector's by a twelfth of its third power. */
void plx_pose_move(struct plx_pose *pose, const double move[6]);

/* The same small motion as MOVE, in axes of A, in axes of B: the adjoint of the pose (Murray, Li, Sastry, A Mathematical
 * Introduction to Robotic Manipulation, 1994). */
void plx_pose_move_axes(const struct plx_pose *b_from_a, const double move[6], double ret_move[6]);

/* The covariance [6][6] of a MOVE in axes of B, from COVARIANCE of the same move in axes of A. */
void plx_pose_move_covariance(const struct plx_pose *b_from_a, const double covariance[36], double ret_covariance[36]);

/* Makes the rotation orthonormal again, after the rounding of many products. */
void plx_pose_normalize(struct plx_pose *pose);

/* True if all numbers are finite and the rotation is one, but for errors of PLX_RIGID_ERROR. */
#define PLX_RIGID_ERROR 1e-3
bool plx_pose_is_rigid(const struct plx_pose *pose);

/* The same motion FACTOR times as far, for rotations well below pi: as at constant velocity. */
void plx_pose_scale(const struct plx_pose *pose, double factor, struct plx_pose *ret);

/* Sine of half the angle of rotation, and the length of the translation. */
double plx_pose_half_sine(const struct plx_pose *pose);
double plx_pose_distance(const struct plx_pose *pose);

#endif
