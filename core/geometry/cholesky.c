/* SPDX-License-Identifier: Apache-2.0 */
#include "core/geometry/cholesky.h"

#include <math.h>

bool plx_cholesky_decompose(const double *a, int n, double min_pivot, double *ret_lower)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[n * i + j];
            for (int k = 0; k < j; k++)
                sum -= ret_lower[n * i + k] * ret_lower[n * j + k];
            if (i == j && !(sum > min_pivot * a[n * i + i]))
                return false;
            ret_lower[n * i + j] = i == j ? sqrt(sum) : sum / ret_lower[n * j + j];
        }
    return true;
}

void plx_cholesky_solve(const double *lower, int n, const double *b, double *ret_x)
{
    for (int i = 0; i < n; i++) {
        double sum = b[i];
        for (int k = 0; k < i; k++)
            sum -= lower[n * i + k] * ret_x[k];
        ret_x[i] = sum / lower[n * i + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = ret_x[i];
        for (int k = i + 1; k < n; k++)
            sum -= lower[n * k + i] * ret_x[k];
        ret_x[i] = sum / lower[n * i + i];
    }
}
