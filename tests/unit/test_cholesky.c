/* SPDX-License-Identifier: Apache-2.0 */
/* Systems of each size against their known solutions; systems that are not positive definite. */
#include <math.h>
#include <string.h>

#include "core/geometry/cholesky.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define MAX_SIZE 12

/* A positive definite A of N unknowns: a random matrix times its transpose, and a little on the diagonal. What lies above the
 * diagonal is NAN: it is not read. FULL has both triangles. */
static void make_system(uint64_t *state, int n, double *a, double *full)
{
    double root[MAX_SIZE * MAX_SIZE];
    for (int i = 0; i < n * n; i++)
        root[i] = random_normal(state);
    for (int i = 0; i < n * n; i++) {
        full[i] = i % (n + 1) == 0 ? 0.1 : 0;
        for (int k = 0; k < n; k++)
            full[i] += root[i / n * n + k] * root[i % n * n + k];
        a[i] = i % n > i / n ? (double)NAN : full[i];
    }
}

static void systems_are_solved(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    for (int draw = 0; draw < 50 * MAX_SIZE; draw++) {
        const int n = 1 + draw % MAX_SIZE;
        double a[MAX_SIZE * MAX_SIZE], full[MAX_SIZE * MAX_SIZE], lower[MAX_SIZE * MAX_SIZE];
        double x[MAX_SIZE], b[MAX_SIZE] = {0}, solved[MAX_SIZE];
        make_system(&state, n, a, full);
        for (int i = 0; i < n; i++)
            x[i] = random_normal(&state);
        for (int i = 0; i < n * n; i++)
            b[i / n] += full[i] * x[i % n];
        assert_true(plx_cholesky_decompose(a, n, PLX_CHOLESKY_ROUNDING, lower));
        plx_cholesky_solve(lower, n, b, solved);
        for (int i = 0; i < n; i++)
            assert_true(fabs(solved[i] - x[i]) <= 1e-8);
        /* in place, with the same bits */
        assert_true(plx_cholesky_decompose(a, n, PLX_CHOLESKY_ROUNDING, a));
        plx_cholesky_solve(a, n, b, b);
        assert_memory_equal(b, solved, (size_t)n * sizeof *b);
    }
}

static void the_factor_of_a_known_matrix(void **unused)
{
    (void)unused;
    const double a[9] = {4, 0, 0, 12, 37, 0, -16, -43, 98}, want[9] = {2, 0, 0, 6, 1, 0, -8, 5, 3};
    double lower[9] = {0};
    assert_true(plx_cholesky_decompose(a, 3, PLX_CHOLESKY_ROUNDING, lower));
    assert_memory_equal(lower, want, sizeof want);
}

static void what_is_not_positive_definite_is_an_error(void **unused)
{
    (void)unused;
    static const double bad[][9] = {
        {0},                                        /* nothing */
        {1, 0, 0, 0, -1, 0, 0, 0, 1},               /* negative on the diagonal */
        {1, 0, 0, 2, 1, 0, 0, 0, 1},                /* indefinite: eigenvalues -1, 1, 3 */
        {1, 0, 0, 1, 1, 0, 0, 0, 1},                /* singular in the second unknown, */
        {1, 0, 0, 0, 1, 0, 1, 0, 1},                /* in the last one */
        {1, 0, 0, 0, (double)NAN, 0, 0, 0, 1},      /* not a number */
        {(double)-INFINITY, 0, 0, 0, 1, 0, 0, 0, 1} /* not finite */
    };
    double lower[9];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(plx_cholesky_decompose(bad[i], 3, PLX_CHOLESKY_ROUNDING, lower));
        assert_false(plx_cholesky_decompose(bad[i], 3, 0, lower));
    }
}

/* What is left of a diagonal element of 1 is a pivot of about 1e-13: above 0, but rounding error. */
static void a_pivot_of_rounding_errors_is_an_error_where_the_caller_says_so(void **unused)
{
    (void)unused;
    const double a[4] = {1, 0, 1, 1 + 1e-13};
    double lower[4];
    assert_true(plx_cholesky_decompose(a, 2, 0, lower));
    assert_false(plx_cholesky_decompose(a, 2, PLX_CHOLESKY_ROUNDING, lower));
    const double scaled[4] = {1e-20, 0, 0, 1e-20}; /* small is not singular */
    assert_true(plx_cholesky_decompose(scaled, 2, PLX_CHOLESKY_ROUNDING, lower));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_are_solved),
        cmocka_unit_test(the_factor_of_a_known_matrix),
        cmocka_unit_test(what_is_not_positive_definite_is_an_error),
        cmocka_unit_test(a_pivot_of_rounding_errors_is_an_error_where_the_caller_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
