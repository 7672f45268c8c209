/* SPDX-License-Identifier: Apache-2.0 */
/* 3x3 matrices, row-major, and rotations as axis times angle (Rodrigues). Results never overlap the arguments. */
#ifndef PLX_CORE_GEOMETRY_MATRIX3_H
#define PLX_CORE_GEOMETRY_MATRIX3_H

#include <math.h>

static inline void plx_mat3_multiply(const double a[9], const double b[9], double ret[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            ret[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static inline void plx_mat3_apply(const double a[9], const double v[3], double ret[3])
{
    for (int i = 0; i < 3; i++)
        ret[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
}

static inline void plx_mat3_transpose(const double a[9], double ret[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            ret[3 * i + j] = a[3 * j + i];
}

/* The inverse by cofactors; A must not be singular. Returns the determinant. */
static inline double plx_mat3_invert(const double a[9], double ret[9])
{
    double cofactor[9];
    for (int i = 0; i < 3; i++) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cofactor[3 * i + j] = a[3 * i1 + j1] * a[3 * i2 + j2] - a[3 * i1 + j2] * a[3 * i2 + j1];
        }
    }
    double determinant = a[0] * cofactor[0] + a[1] * cofactor[1] + a[2] * cofactor[2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            ret[3 * i + j] = cofactor[3 * j + i] / determinant;
    return determinant;
}

/* The rotation nearest to A, itself nearly one: Newton's iteration for the polar decomposition (Higham 1986). */
static inline void plx_mat3_orthonormalize(const double a[9], double ret[9])
{
    for (int i = 0; i < 9; i++)
        ret[i] = a[i];
    for (int step = 0; step < 8; step++) {
        double inverse[9];
        plx_mat3_invert(ret, inverse);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                ret[3 * i + j] = 0.5 * (ret[3 * i + j] + inverse[3 * j + i]);
    }
}

/* Axis times angle of rotation R, for angles well below pi. */
static inline void plx_mat3_to_vector(const double r[9], double ret[3])
{
    double sine_axis[3] = {0.5 * (r[7] - r[5]), 0.5 * (r[2] - r[6]), 0.5 * (r[3] - r[1])};
    double sine = sqrt(sine_axis[0] * sine_axis[0] + sine_axis[1] * sine_axis[1] + sine_axis[2] * sine_axis[2]);
    double angle = atan2(sine, 0.5 * (r[0] + r[4] + r[8] - 1));
    double scale = sine > 0 ? angle / sine : 1;
    for (int i = 0; i < 3; i++)
        ret[i] = sine_axis[i] * scale;
}

/* The rotation by |V| about V. */
static inline void plx_mat3_from_vector(const double v[3], double ret[9])
{
    double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double scale = angle > 0 ? 1 / angle : 0;
    double x = v[0] * scale, y = v[1] * scale, z = v[2] * scale;
    double c = cos(angle), s = sin(angle), d = 1 - c;
    double r[9] = {c + d * x * x,     d * x * y - s * z, d * x * z + s * y, d * x * y + s * z, c + d * y * y,
                   d * y * z - s * x, d * x * z - s * y, d * y * z + s * x, c + d * z * z};
    for (int i = 0; i < 9; i++)
        ret[i] = r[i];
}

#endif
