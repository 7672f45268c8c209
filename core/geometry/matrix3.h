/* SPDX-License-Identifier: Apache-2.0 */
/* 3x3 matrices, row-major, vectors of three, and rotations as axis times angle (Rodrigues). Results never overlap the
 * arguments. Published bits depend on the order of operations here. */
#ifndef PLX_CORE_GEOMETRY_MATRIX3_H
#define PLX_CORE_GEOMETRY_MATRIX3_H

#include <math.h>
#include <stdbool.h>

static inline double plx_vec3_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* The cross product A x B. */
static inline void plx_vec3_cross(const double a[3], const double b[3], double ret[3])
{
    for (int i = 0; i < 3; i++)
        ret[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static inline void plx_mat3_multiply(const double a[9], const double b[9], double ret[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            ret[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

/* A B', with B transposed. */
static inline void plx_mat3_multiply_transposed(const double a[9], const double b[9], double ret[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            ret[3 * i + j] = a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
}

static inline void plx_mat3_apply(const double a[9], const double v[3], double ret[3])
{
    for (int i = 0; i < 3; i++)
        ret[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
}

/* A' V, with A transposed: by the inverse of a rotation. */
static inline void plx_mat3_apply_transposed(const double a[9], const double v[3], double ret[3])
{
    for (int i = 0; i < 3; i++)
        ret[i] = a[i] * v[0] + a[3 + i] * v[1] + a[6 + i] * v[2];
}

static inline void plx_mat3_transpose(const double a[9], double ret[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            ret[3 * i + j] = a[3 * j + i];
}

static inline double plx_mat3_determinant(const double a[9])
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
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

/* The inverse of a symmetric A, of which only the upper triangle is read; A must not be singular. */
static inline void plx_mat3_invert_symmetric(const double a[9], double ret[9])
{
    const double c0 = a[4] * a[8] - a[5] * a[5], c1 = a[2] * a[5] - a[1] * a[8], c2 = a[1] * a[5] - a[2] * a[4];
    const double determinant = a[0] * c0 + a[1] * c1 + a[2] * c2;
    ret[0] = c0 / determinant;
    ret[1] = ret[3] = c1 / determinant;
    ret[2] = ret[6] = c2 / determinant;
    ret[4] = (a[0] * a[8] - a[2] * a[2]) / determinant;
    ret[5] = ret[7] = (a[1] * a[2] - a[0] * a[5]) / determinant;
    ret[8] = (a[0] * a[4] - a[1] * a[1]) / determinant;
}

/* The largest difference between R R' and the identity. It passes over NAN, which the determinant shows. */
static inline double plx_mat3_rotation_error(const double r[9])
{
    double product[9], worst = 0;
    plx_mat3_multiply_transposed(r, r, product);
    for (int i = 0; i < 9; i++)
        worst = fmax(worst, fabs(product[i] - (i % 4 == 0)));
    return worst;
}

/* Whether R is a rotation, no reflection, but for TOLERANCE in products of its rows; false if a number is NAN. */
static inline bool plx_mat3_is_rotation(const double r[9], double tolerance)
{
    return plx_mat3_rotation_error(r) <= tolerance && plx_mat3_determinant(r) > 0;
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

/* Axis times sine of the angle of rotation R; for a small one, its rotation vector. */
static inline void plx_mat3_sine_axis(const double r[9], double ret[3])
{
    ret[0] = 0.5 * (r[7] - r[5]);
    ret[1] = 0.5 * (r[2] - r[6]);
    ret[2] = 0.5 * (r[3] - r[1]);
}

/* Axis times angle of rotation R, for angles well below pi. */
static inline void plx_mat3_to_vector(const double r[9], double ret[3])
{
    double sine_axis[3];
    plx_mat3_sine_axis(r, sine_axis);
    double sine = plx_vec3_length(sine_axis);
    double angle = atan2(sine, 0.5 * (r[0] + r[4] + r[8] - 1));
    double scale = sine > 0 ? angle / sine : 1;
    for (int i = 0; i < 3; i++)
        ret[i] = sine_axis[i] * scale;
}

/* The rotation by |V| about V. */
static inline void plx_mat3_from_vector(const double v[3], double ret[9])
{
    double angle = plx_vec3_length(v);
    double scale = angle > 0 ? 1 / angle : 0;
    double x = v[0] * scale, y = v[1] * scale, z = v[2] * scale;
    double c = cos(angle), s = sin(angle), d = 1 - c;
    double r[9] = {c + d * x * x,     d * x * y - s * z, d * x * z + s * y, d * x * y + s * z, c + d * y * y,
                   d * y * z - s * x, d * x * z - s * y, d * y * z + s * x, c + d * z * z};
    for (int i = 0; i < 9; i++)
        ret[i] = r[i];
}

#endif
