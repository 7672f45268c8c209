/* SPDX-License-Identifier: Apache-2.0 */
/* Symmetric positive definite systems A x = b of up to a few dozen unknowns, by A = L L' (Cholesky). Matrices are row-major,
 * N x N; only their lower triangles are read and written. No function of libm but sqrt, in a fixed order, so that all machines
 * give the same bits. */
#ifndef PLX_CORE_GEOMETRY_CHOLESKY_H
#define PLX_CORE_GEOMETRY_CHOLESKY_H

#include <stdbool.h>

#define PLX_CHOLESKY_ROUNDING 1e-12 /* a relative pivot that is smaller is rounding error */

/* Fills RET_LOWER, which may be A, with L. False unless A is positive definite, with each pivot above MIN_PIVOT times the
 * element of A on the diagonal (0: above 0); then RET_LOWER has only its first rows. */
bool plx_cholesky_decompose(const double *a, int n, double min_pivot, double *ret_lower);

/* Solves L L' x = B; B may be RET_X. */
void plx_cholesky_solve(const double *lower, int n, const double *b, double *ret_x);

#endif
