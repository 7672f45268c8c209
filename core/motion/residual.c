/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/residual.h"

#include <string.h>

bool plx_residual_at(const struct plx_fit_camera *camera, const struct plx_fit_point *point, const struct plx_pose *pose,
                     struct plx_residual *ret)
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

void plx_residual_jacobian(const struct plx_fit_camera *camera, const double p[3], int size, double *ret)
{
    const double inverse = 1 / p[2], x = p[0] * inverse, y = p[1] * inverse;
    const double fx = camera->fx, fy = camera->fy, d = camera->focal_baseline * inverse;
    const double rows[3][6] = {{fx * inverse, 0, -fx * x * inverse, -fx * x * y, fx * (1 + x * x), -fx * y},
                               {0, fy * inverse, -fy * y * inverse, -fy * (1 + y * y), fy * x * y, fy * x},
                               {0, 0, -d * inverse, -d * y, d * x, 0}};
    for (int k = 0; k < 3; k++)
        memcpy(&ret[size * k], rows[k], sizeof rows[k]);
}
