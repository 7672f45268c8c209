/* SPDX-License-Identifier: Apache-2.0 */
/* The error of a point that was seen in two frames, at a motion between them, and its part of normal equations. The disparity
 * in the key frame has an error of its own, which moves the prediction: the weights know it. */
#ifndef PLX_CORE_MOTION_RESIDUAL_H
#define PLX_CORE_MOTION_RESIDUAL_H

#include "core/motion/fit_point.h"
#include "core/motion/pose.h"

#define PLX_RESIDUAL_CAUCHY 4   /* a squared error of this many variances counts half */
#define PLX_RESIDUAL_MAX_SIZE 8 /* unknowns of normal equations */

struct plx_residual {
    double r[3];      /* measured minus predicted: u, v, disparity, pixels */
    double moved[3];  /* the point in axes of the frame now */
    double across[3]; /* d predicted / d disparity in the key frame, whose error moves the prediction */
    double error;     /* squared, in variances */
    double shrink;    /* makes the inverse covariance W - shrink (W across) (W across)' (Sherman and Morrison 1950) */
};

extern const double plx_residual_variance[3]; /* variances in u, v and disparity, whose inverse are the weights W */

/* How many of u, v and disparity were measured. */
static inline int plx_residual_parts(const struct plx_fit_point *point)
{
    return point->has_disparity ? 3 : 2;
}

/* False if the point would be behind the camera. */
bool plx_residual_at(const struct plx_fit_camera *camera, const struct plx_fit_point *point, const struct plx_pose *pose,
                     struct plx_residual *ret);

/* d (u, v, disparity) / d (translation, rotation) of the point P in axes of the frame now. RET [3][SIZE]: the first 6 of each
 * row are set. */
void plx_residual_jacobian(const struct plx_fit_camera *camera, const double p[3], int size, double *ret);

/* Adds POINT's part to the normal equations in SIZE unknowns: A [SIZE][SIZE], lower triangle; its gradient is *ret_gradient,
 * [SIZE]. JACOBIAN [3][SIZE]. */
void plx_residual_add(const struct plx_fit_point *point, const struct plx_residual *residual, const double *jacobian, int size,
                      double weight, double *a, double *ret_gradient);

#endif
