/* SPDX-License-Identifier: Apache-2.0 */
/* The error of a point that was seen in two frames, at a motion between them, and its part of normal equations. The disparity
 * in the key frame has an error of its own, which moves the prediction: the weights know it. */
#ifndef PLX_CORE_MOTION_RESIDUAL_H
#define PLX_CORE_MOTION_RESIDUAL_H

#include <string.h>

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
static inline bool plx_residual_at(const struct plx_fit_camera *camera, const struct plx_fit_point *point,
                                   const struct plx_pose *pose, struct plx_residual *ret)
{
    plx_pose_apply(pose, point->at, ret->moved);
    const double *m = ret->moved;
    if (!(m[2] > PLX_FIT_MIN_DEPTH_M))
        return false;
    const double inverse = 1 / m[2], x = m[0] * inverse, y = m[1] * inverse;
    const double disparity = camera->focal_baseline * inverse;
    ret->r[0] = point->seen[0] - (camera->fx * x + camera->cx);
    ret->r[1] = point->seen[1] - (camera->fy * y + camera->cy);
    ret->r[2] = point->seen[2] - disparity;
    /* a larger disparity brings the point nearer to the key frame's camera, along its ray */
    const double scale = -inverse / point->disparity, *t = pose->translation;
    const double dx = (m[0] - t[0]) * scale, dy = (m[1] - t[1]) * scale, dz = (m[2] - t[2]) * scale;
    ret->across[0] = camera->fx * (dx - x * dz);
    ret->across[1] = camera->fy * (dy - y * dz);
    ret->across[2] = -disparity * dz;

    double rr = 0, rg = 0, gg = 0;
    for (int i = 0; i < plx_residual_parts(point); i++) {
        const double w = plx_residual_weight[i];
        rr += w * ret->r[i] * ret->r[i];
        rg += w * ret->r[i] * ret->across[i];
        gg += w * ret->across[i] * ret->across[i];
    }
    ret->shrink = 1 / (plx_residual_weight[2] + gg);
    ret->error = rr - ret->shrink * rg * rg;
    return true;
}

/* d (u, v, disparity) / d (translation, rotation) of the point P in axes of the frame now. RET [3][SIZE]: the first 6 of each
 * row are set. */
static inline void plx_residual_jacobian(const struct plx_fit_camera *camera, const double p[3], int size, double *ret)
{
    const double inverse = 1 / p[2], x = p[0] * inverse, y = p[1] * inverse;
    const double fx = camera->fx, fy = camera->fy, d = camera->focal_baseline * inverse;
    const double rows[3][6] = {{fx * inverse, 0, -fx * x * inverse, -fx * x * y, fx * (1 + x * x), -fx * y},
                               {0, fy * inverse, -fy * y * inverse, -fy * (1 + y * y), fy * x * y, fy * x},
                               {0, 0, -d * inverse, -d * y, d * x, 0}};
    for (int k = 0; k < 3; k++)
        memcpy(&ret[size * k], rows[k], sizeof rows[k]);
}

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
        for (int l = 0; l < (i | 1) + 1; l++) /* up to the diagonal, and to whole vectors of two */
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
