/* SPDX-License-Identifier: Apache-2.0 */
/* Symmetric positive definite systems of six unknowns, by Cholesky's decomposition in a fixed order. */
#ifndef PLX_CORE_MOTION_SOLVE_H
#define PLX_CORE_MOTION_SOLVE_H

#include <stdbool.h>

#define PLX_SOLVE_SIZE 6

/* The lower triangle L with A = L L'. A is row-major; only its lower triangle is read. False unless A is positive definite,
 * with pivots larger than rounding errors. */
bool plx_solve_decompose(const double a[36], double ret_lower[36]);

/* Solves L L' x = B; B may be RET_X. */
void plx_solve(const double lower[36], const double b[6], double ret_x[6]);

#endif
