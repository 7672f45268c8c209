/* SPDX-License-Identifier: Apache-2.0 */
/* Depth and disparity of a rectified pair, against points that two pinhole cameras see. */
#include <math.h>

#include "core/geometry/stereo.h"
#include "core/ground/ground.h"
#include "tests/cmocka.h"

#define MIN_DISPARITY 24 /* px */

/* Powers of two, so that all numbers below are exact; fx and fy, cx and cx_right differ, so that a mixed-up one shows. */
static const struct plx_calibration_info calibration = {
    .fx = 512, .fy = 256, .cx = 320.5, .cy = 240, .cx_right = 310.25, .baseline_m = 0.125};

/* Column of POINT in the left camera, and in the right one, which stands a baseline to the right. */
static double left_column(const double point[3])
{
    return 512 * point[0] / point[2] + 320.5;
}

static double right_column(const double point[3])
{
    return 512 * (point[0] - 0.125) / point[2] + 310.25;
}

static void a_point_that_both_cameras_see_has_its_depth(void **state)
{
    (void)state;
    static const double points[][3] = {{0, 0, 1}, {-3, 1, 4}, {5, -2, 16}, {0.25, 0.5, 0.5}};
    for (int i = 0; i < 4; i++) {
        const double *p = points[i], between = left_column(p) - right_column(p), above = between - 10.25;
        const double plane = 16 * (between - MIN_DISPARITY);
        assert_true(plx_disparity_of_depth(&calibration, p[2]) == above);
        assert_true(plx_disparity_of_depth(&calibration, p[2]) + plx_disparity_shift(&calibration) == between);
        assert_true(plx_plane_of_depth(&calibration, MIN_DISPARITY, p[2]) == plane);
        assert_true(plx_disparity_of_plane(&calibration, MIN_DISPARITY, plane) == above);
        assert_true(plx_depth_of_disparity(&calibration, above) == p[2]);
        assert_true(plx_depth_scale_m(&calibration) / (16 * above) == p[2]);
        assert_true(plx_depth_scale_mm(&calibration) / (16 * above) == 1000 * p[2]);
        assert_true(plx_depth_scale_m(&calibration) / (plane - plx_plane_infinity(&calibration, MIN_DISPARITY)) == p[2]);
    }
}

static void one_pixel_is_one_focal_baseline_away(void **state)
{
    (void)state;
    assert_true(plx_focal_baseline(&calibration) == 64);
    assert_true(plx_depth_of_disparity(&calibration, 1) == 64 && plx_disparity_of_depth(&calibration, 1) == 64);
}

static void what_lies_not_before_the_cameras_is_infinitely_far(void **state)
{
    (void)state;
    static const double none[] = {0, -0.0, -0.0625, -100, -(double)INFINITY, (double)NAN};
    for (int i = 0; i < 6; i++)
        assert_true(isinf(plx_depth_of_disparity(&calibration, none[i])) && plx_depth_of_disparity(&calibration, none[i]) > 0);
    /* the first value of a plane that lies before infinity, and the last one that does not */
    const double infinity = plx_plane_infinity(&calibration, MIN_DISPARITY);
    const double above = plx_disparity_of_plane(&calibration, MIN_DISPARITY, infinity + 1);
    assert_true(plx_disparity_of_plane(&calibration, MIN_DISPARITY, infinity) == 0 && above == 0.0625);
    assert_true(plx_depth_of_disparity(&calibration, above) == 1024);
    assert_true(plx_disparity_of_plane(&calibration, MIN_DISPARITY, infinity - 1) == -0.0625);
    assert_true(plx_depth_of_disparity(&calibration, INFINITY) == 0);
}

static void infinity_of_a_plane_is_the_rounded_one_of_the_stages(void **state)
{
    (void)state;
    static const int smallest[] = {-40, 0, 10, 24};
    struct plx_calibration_info odd = calibration;
    odd.cx_right = 310.2; /* no multiple of 1/16 px from cx */
    assert_true(plx_plane_infinity(&calibration, MIN_DISPARITY) == 16 * (10.25 - 24));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(plx_disparity_at_infinity(&calibration, smallest[i]), plx_plane_infinity(&calibration, smallest[i]));
        assert_int_equal(plx_disparity_at_infinity(&odd, smallest[i]), lround(plx_plane_infinity(&odd, smallest[i])));
    }
}

/* The slope of the depth, by a difference. */
static void the_deviation_of_a_depth_follows_its_slope(void **state)
{
    (void)state;
    static const double step = 1e-6; /* px */
    for (double z = 0.5; z < 50; z *= 1.7) {
        const double d = plx_disparity_of_depth(&calibration, z);
        const double slope =
            (plx_depth_of_disparity(&calibration, d - step) - plx_depth_of_disparity(&calibration, d + step)) / (2 * step);
        assert_true(fabs(plx_depth_sigma(&calibration, z, 0.25) / (0.25 * slope) - 1) < 1e-6);
    }
    assert_true(plx_depth_sigma(&calibration, 8, 0) == 0);
}

static void pixels_of_the_left_picture_are_points(void **state)
{
    (void)state;
    double here[3], beside[3];
    plx_point_of_pixel(&calibration, 320.5 + 128, 240 - 64, 8, here);
    assert_true(here[0] == 2 && here[1] == -2 && here[2] == 8 && left_column(here) == 320.5 + 128);
    plx_point_of_pixel(&calibration, 320.5 + 129, 240 - 64, 8, beside);
    assert_true(beside[0] - here[0] == plx_pixel_width(&calibration, 8) && plx_pixel_width(&calibration, 8) == 0.015625);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_that_both_cameras_see_has_its_depth),
        cmocka_unit_test(one_pixel_is_one_focal_baseline_away),
        cmocka_unit_test(what_lies_not_before_the_cameras_is_infinitely_far),
        cmocka_unit_test(infinity_of_a_plane_is_the_rounded_one_of_the_stages),
        cmocka_unit_test(the_deviation_of_a_depth_follows_its_slope),
        cmocka_unit_test(pixels_of_the_left_picture_are_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
