/* SPDX-License-Identifier: Apache-2.0 */
/* The error of a point that was seen in two frames, at a motion between them, and its part of normal equations. The disparity
 * in the key frame has an error of its own, which moves the prediction: the weights know it. */
#ifndef PLX_CORE_MOTION_RESIDUAL_H
#define PLX_CORE_MOTION_RESIDUAL_H

#include "core/motion/fit_point.h"
#include "core/motion/pose.h"

#define PLX_RESIDUAL_CAUCHY 4 /* a squared error of this many variances counts half */

struct plx_residual {
    double r[3];      /* measured minus predicted: u, v, disparity, pixels */
    double moved[3];  /* the point in axes of the frame now */
    double across[3]; /* d predicted / d disparity in the key frame, whose error moves the prediction */
    double error;     /* squared, in variances */
    double shrink;    /* makes the inverse covariance W - shrink (W across) (W across)' (Sherman and Morrison 1950) */
};

#define PLX_RESIDUAL_FLOW_PX 0.25      /* standard deviation of a tracked pixel, each axis */
#define PLX_RESIDUAL_DISPARITY_PX 0.35 /* standard deviation of a disparity */

/* Inverse variances of u, v and disparity. */
static const double plx_residual_weight[3] = {1 / (PLX_RESIDUAL_FLOW_PX * PLX_RESIDUAL_FLOW_PX),
                                              1 / (PLX_RESIDUAL_FLOW_PX * PLX_RESIDUAL_FLOW_PX),
                                              1 / (PLX_RESIDUAL_DISPARITY_PX * PLX_RESIDUAL_DISPARITY_PX)};

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

/* M JACOBIAN of POINT, M the inverse covariance of its RESIDUAL times WEIGHT. Both [3][SIZE]. */
static inline void plx_residual_weigh(const struct plx_fit_point *point, const struct plx_residual *residual,
                                      const double *jacobian, int size, double weight, double *ret)
{
    double w[3], along[3];
    for (int k = 0; k < 3; k++) {
        w[k] = k < plx_residual_parts(point) ? plx_residual_weight[k] : 0;
        along[k] = w[k] * residual->across[k];
    }
    for (int i = 0; i < size; i++) {
        const double *j = &jacobian[i];
        const double shrunk = residual->shrink * (along[0] * j[0] + along[1] * j[size] + along[2] * j[2 * size]);
        for (int k = 0; k < 3; k++)
            ret[size * k + i] = weight * (w[k] * j[size * k] - along[k] * shrunk);
    }
}

/* Adds JACOBIAN' WEIGHTED, plx_residual_weigh's, to A [SIZE][SIZE], of which the lower triangle counts. */
static inline void plx_residual_add(const double *jacobian, const double *weighted, int size, double *a)
{
    for (int i = 0; i < size; i++)
        for (int l = 0; l < size; l++)
            a[size * i + l] += jacobian[i] * weighted[l] + jacobian[size + i] * weighted[size + l] +
                               jacobian[2 * size + i] * weighted[2 * size + l];
}

/* WEIGHTED' ERROR, the gradient that an error of u, v and disparity has; RET [SIZE]. */
static inline void plx_residual_gradient(const double *weighted, const double error[3], int size, double *ret)
{
    for (int i = 0; i < size; i++)
        ret[i] = weighted[i] * error[0] + weighted[size + i] * error[1] + weighted[2 * size + i] * error[2];
}

#endif
