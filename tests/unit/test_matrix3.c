/* SPDX-License-Identifier: Apache-2.0 */
/* Products, inverses and rotations of random 3x3 matrices, each against its definition or another way to the same result. */
#include <math.h>

#include "core/geometry/matrix3.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define DRAWS 200

static void draw(uint64_t *state, double *ret, int count)
{
    for (int i = 0; i < count; i++)
        ret[i] = random_normal(state);
}

static void assert_near(const double *a, const double *b, int count, double tolerance)
{
    for (int i = 0; i < count; i++)
        assert_true(fabs(a[i] - b[i]) <= tolerance);
}

static void products_are_sums_over_rows_and_columns(void **unused)
{
    (void)unused;
    static const double a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 10}, b[9] = {0, 1, -1, 2, 0, 3, -2, 1, 0}, v[3] = {1, -1, 2};
    static const double ab[9] = {-2, 4, 5, -2, 10, 11, -4, 17, 17}, ab_[9] = {-1, 11, 0, -1, 26, -3, -2, 44, -6};
    static const double av[3] = {5, 11, 19}, a_v[3] = {11, 13, 17};
    double got[9];
    plx_mat3_multiply(a, b, got);
    assert_near(got, ab, 9, 0);
    plx_mat3_multiply_transposed(a, b, got);
    assert_near(got, ab_, 9, 0);
    plx_mat3_apply(a, v, got);
    assert_near(got, av, 3, 0);
    plx_mat3_apply_transposed(a, v, got);
    assert_near(got, a_v, 3, 0);
    assert_true(plx_mat3_determinant(a) == -3);
}

static void inverses_undo(void **unused)
{
    (void)unused;
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    uint64_t state = test_seed();
    for (int i = 0; i < DRAWS; i++) {
        double a[9], square[9], inverse[9], product[9];
        draw(&state, a, 9);
        for (int k = 0; k < 9; k += 4)
            a[k] += 6; /* far from singular */
        assert_true(plx_mat3_invert(a, inverse) == plx_mat3_determinant(a));
        plx_mat3_multiply(a, inverse, product);
        assert_near(product, identity, 9, 1e-11);
        plx_mat3_multiply_transposed(a, a, square);
        for (int k = 0; k < 3; k++)
            square[3 * k + (k + 1) % 3] = square[3 * ((k + 1) % 3) + k]; /* to the last bit */
        plx_mat3_invert_symmetric(square, inverse);
        plx_mat3_multiply(square, inverse, product);
        assert_near(product, identity, 9, 1e-9);
        for (int k = 0; k < 9; k++)
            assert_true(inverse[k] == inverse[k % 3 * 3 + k / 3]);
    }
}

static void cross_products_are_perpendicular_and_right_handed(void **unused)
{
    (void)unused;
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    uint64_t state = test_seed();
    double got[3];
    plx_vec3_cross(x, y, got);
    assert_near(got, z, 3, 0);
    plx_vec3_cross(y, z, got);
    assert_near(got, x, 3, 0);
    for (int i = 0; i < DRAWS; i++) {
        double m[9];
        draw(&state, m, 6);
        plx_vec3_cross(m, m + 3, m + 6);
        const double area = plx_vec3_length(m + 6); /* area of the parallelogram; the volume over it is its square */
        assert_true(fabs(plx_mat3_determinant(m) - area * area) <= 1e-10);
        assert_true(fabs(m[0] * m[6] + m[1] * m[7] + m[2] * m[8]) <= 1e-12);
    }
    assert_true(plx_vec3_length((const double[3]){2, -3, 6}) == 7);
}

static void rotations_are_told_from_other_matrices(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    for (int i = 0; i < DRAWS; i++) {
        double vector[3], r[9], axis[3];
        draw(&state, vector, 3);
        plx_mat3_from_vector(vector, r);
        assert_true(plx_mat3_rotation_error(r) <= 1e-14 && plx_mat3_is_rotation(r, 1e-14));
        const double angle = plx_vec3_length(vector);
        plx_mat3_sine_axis(r, axis);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(axis[k] - vector[k] / angle * sin(angle)) <= 1e-14);
        r[i % 9] += 0.01;
        assert_true(plx_mat3_rotation_error(r) > 1e-5 && !plx_mat3_is_rotation(r, 1e-5));
        r[i % 9] = (double)(i % 2 == 0 ? NAN : INFINITY);
        assert_false(plx_mat3_is_rotation(r, 1e-3));
    }
    static const double mirror[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1}, longer[9] = {1.01, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_true(plx_mat3_rotation_error(mirror) == 0);
    assert_false(plx_mat3_is_rotation(mirror, 1e-3));
    assert_true(fabs(plx_mat3_rotation_error(longer) - 0.0201) < 1e-15);
    assert_true(plx_mat3_is_rotation(longer, 0.021) && !plx_mat3_is_rotation(longer, 0.02));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_sums_over_rows_and_columns),
        cmocka_unit_test(inverses_undo),
        cmocka_unit_test(cross_products_are_perpendicular_and_right_handed),
        cmocka_unit_test(rotations_are_told_from_other_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
