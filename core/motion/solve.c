/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/solve.h"

#include <math.h>

#define N PLX_SOLVE_SIZE
#define MIN_PIVOT 1e-12 /* relative to the element of A on the diagonal: a smaller pivot is rounding error */

bool plx_solve_decompose(const double a[36], double ret_lower[36])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[N * i + j];
            for (int k = 0; k < j; k++)
                sum -= ret_lower[N * i + k] * ret_lower[N * j + k];
            if (i == j && !(sum > MIN_PIVOT * a[N * i + i]))
                return false;
            ret_lower[N * i + j] = i == j ? sqrt(sum) : sum / ret_lower[N * j + j];
        }
    return true;
}

void plx_solve(const double lower[36], const double b[6], double ret_x[6])
{
    for (int i = 0; i < N; i++) {
        double sum = b[i];
        for (int k = 0; k < i; k++)
            sum -= lower[N * i + k] * ret_x[k];
        ret_x[i] = sum / lower[N * i + i];
    }
    for (int i = N - 1; i >= 0; i--) {
        double sum = ret_x[i];
        for (int k = i + 1; k < N; k++)
            sum -= lower[N * k + i] * ret_x[k];
        ret_x[i] = sum / lower[N * i + i];
    }
}
