/* SPDX-License-Identifier: Apache-2.0 */
/* Symmetric positive definite systems of a few dozen unknowns: A = L L' (Cholesky). Matrices are row-major, N x N. */
#ifndef PLX_APP_CALIBRATE_CHOLESKY_H
#define PLX_APP_CALIBRATE_CHOLESKY_H

#include <math.h>
#include <stdbool.h>

/* Replaces the lower triangle of A by L. False if A is not positive definite. */
static inline bool plx_cholesky(double *a, int n)
{
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i > j)
                a[i * n + j] = sum / a[j * n + j];
            else if (sum > 0)
                a[j * n + j] = sqrt(sum);
            else
                return false;
        }
    return true;
}

/* Replaces B by the solution of L L' x = B. */
static inline void plx_cholesky_solve(const double *l, int n, double *b)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= l[i * n + k] * b[k];
        b[i] /= l[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= l[k * n + i] * b[k];
        b[i] /= l[i * n + i];
    }
}

#endif
