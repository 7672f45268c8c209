/* SPDX-License-Identifier: Apache-2.0 */
#include "core/geometry/calibration.h"

#include <math.h>

#define UNDISTORT_STEPS 5
#define NEWTON_STEPS 10
#define NEWTON_EPSILON 1e-8

/* theta (1 + k1 theta^2 + k2 theta^4 + k3 theta^6 + k4 theta^8) */
static double equidistant_angle(const double k[8], double theta)
{
    double theta2 = theta * theta;
    return theta * (1 + theta2 * (k[0] + theta2 * (k[1] + theta2 * (k[2] + theta2 * k[3]))));
}

static double equidistant_slope(const double k[8], double theta)
{
    double theta2 = theta * theta;
    return 1 + theta2 * (3 * k[0] + theta2 * (5 * k[1] + theta2 * (7 * k[2] + theta2 * 9 * k[3])));
}

static double radial_up(const double k[8], double r2)
{
    return 1 + ((k[4] * r2 + k[1]) * r2 + k[0]) * r2;
}

static double radial_down(const double k[8], double r2)
{
    return 1 + ((k[7] * r2 + k[6]) * r2 + k[5]) * r2;
}

static double tangential(double p, double q, double a, double b, double r2)
{
    return 2 * p * a * b + q * (r2 + 2 * a * a);
}

static void distort(const struct plx_camera *camera, double *x, double *y)
{
    const double *k = camera->k, a = *x, b = *y, r2 = a * a + b * b;
    if (camera->model == PLX_DISTORTION_EQUIDISTANT) {
        double r = sqrt(r2), scale = r > 0 ? equidistant_angle(k, atan(r)) / r : 1;
        *x = a * scale;
        *y = b * scale;
        return;
    }
    double radial = radial_up(k, r2) / radial_down(k, r2);
    *x = a * radial + tangential(k[2], k[3], a, b, r2);
    *y = b * radial + tangential(k[3], k[2], b, a, r2);
}

void plx_camera_project(const struct plx_camera *camera, double x, double y, double *ret_u, double *ret_v)
{
    if (camera->model != PLX_DISTORTION_NONE)
        distort(camera, &x, &y);
    *ret_u = camera->fx * x + camera->cx;
    *ret_v = camera->fy * y + camera->cy;
}

static void undistort_equidistant(const double k[8], double *x, double *y)
{
    double distorted = fmin(sqrt(*x * *x + *y * *y), M_PI_2), theta = distorted;
    if (distorted <= NEWTON_EPSILON)
        return;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double fix = (equidistant_angle(k, theta) - distorted) / equidistant_slope(k, theta);
        theta -= fix;
        if (fabs(fix) < NEWTON_EPSILON)
            break;
    }
    double scale = tan(theta) / distorted;
    *x *= scale;
    *y *= scale;
}

static void undistort_brown(const double k[8], double *x, double *y)
{
    double a = *x, b = *y;
    for (int step = 0; step < UNDISTORT_STEPS; step++) {
        double r2 = a * a + b * b, radial = radial_down(k, r2) / radial_up(k, r2);
        if (radial < 0) /* beyond the polynomial's first zero: no answer there */
            return;
        double tx = tangential(k[2], k[3], a, b, r2), ty = tangential(k[3], k[2], b, a, r2);
        a = (*x - tx) * radial;
        b = (*y - ty) * radial;
    }
    *x = a;
    *y = b;
}

void plx_camera_unproject(const struct plx_camera *camera, double u, double v, double *ret_x, double *ret_y)
{
    double x = (u - camera->cx) / camera->fx, y = (v - camera->cy) / camera->fy;
    if (camera->model == PLX_DISTORTION_EQUIDISTANT)
        undistort_equidistant(camera->k, &x, &y);
    else if (camera->model != PLX_DISTORTION_NONE)
        undistort_brown(camera->k, &x, &y);
    *ret_x = x;
    *ret_y = y;
}
