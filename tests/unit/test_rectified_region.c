/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the raw pictures a rectification keeps, by looking where pixels of the rectified picture come from: lenses
 * whose axis lies near one side of the sensor, so that another side decides in each case. */
#include <math.h>
#include <string.h>

#include "core/geometry/calibration.h"
#include "tests/cmocka.h"

#define WIDTH 320
#define HEIGHT 200
#define TOLERANCE_PX 1.0 /* between the samples of an outline that the product takes */

/* Off the middle of the sensor to each side, and towards a corner. */
static const double centre[][2] = {{-40, 0}, {40, 0}, {0, -30}, {0, 30}, {35, 20}, {-35, -20}};

/* Two parallel cameras with one lens: their rectification does not turn anything. */
static struct plx_stereo_calibration head(enum plx_distortion model, const double k[8], double f, const double off[2])
{
    struct plx_stereo_calibration made = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {-0.1, 0, 0}};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_camera *camera = &made.camera[eye];
        *camera = (struct plx_camera){.width = WIDTH,
                                      .height = HEIGHT,
                                      .fx = f,
                                      .fy = f,
                                      .cx = WIDTH / 2 + off[0],
                                      .cy = HEIGHT / 2 + off[1],
                                      .model = model};
        memcpy(camera->k, k, sizeof camera->k);
    }
    return made;
}

static void rectify(struct plx_stereo_calibration *calibration, double alpha)
{
    struct plx_error_message message = {""};
    if (plx_calibration_rectify(calibration, alpha, &message) != 0)
        fail_msg("%s", message.text);
}

/* Where the rectified pixel (u, v) of the left picture lies in the raw one. */
static void to_raw(const struct plx_stereo_calibration *c, double u, double v, double ret[2])
{
    const double *p = c->projection[PLX_LEFT];
    plx_camera_project(&c->camera[PLX_LEFT], (u - p[2]) / p[0], (v - p[6]) / p[5], &ret[0], &ret[1]);
}

/* How far raw positions lie outside of the raw picture at worst; negative: so much room is left everywhere. */
static double outside(const double raw[2])
{
    return fmax(fmax(-raw[0], raw[0] - WIDTH), fmax(-raw[1], raw[1] - HEIGHT));
}

/* A walk along the border of the rectified picture: step I of COUNT on side SIDE. */
static void border(int side, int i, int count, double ret[2])
{
    const double along = (double)i / count;
    ret[0] = side == 0 ? 0 : side == 1 ? WIDTH : along * WIDTH;
    ret[1] = side == 2 ? 0 : side == 3 ? HEIGHT : along * HEIGHT;
}

/* Distortions of Brown-Conrady's model. */
static const double barrel[8] = {-0.2, 0.03, 0.001, -0.0008}, pincushion[8] = {0.15, 0.02, -0.0007, 0.0009};

/* Brown-Conrady, alpha 0: each pixel of the border comes from within the raw picture, and one from its very border. */
static void only_valid_pixels_are_kept_and_as_many_as_possible(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof centre / sizeof *centre; i++) {
        struct plx_stereo_calibration c = head(PLX_DISTORTION_PLUMB_BOB, i % 2 ? barrel : pincushion, 260, centre[i / 2]);
        double worst = -INFINITY;
        rectify(&c, 0);
        for (int step = 0; step < 4 * 64; step++) {
            double at[2], raw[2];
            border(step / 64, step % 64, 64, at);
            to_raw(&c, at[0], at[1], raw);
            worst = fmax(worst, outside(raw));
        }
        if (!(worst < TOLERANCE_PX && worst > -TOLERANCE_PX))
            fail_msg("lens %zu: the border lies up to %g px outside of the raw picture", i, worst);
    }
}

/* Brown-Conrady, alpha 1: each raw pixel of the border lies in the rectified picture, and one at its very border. */
static void every_raw_pixel_is_kept_and_no_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof centre / sizeof *centre; i++) {
        struct plx_stereo_calibration c = head(PLX_DISTORTION_PLUMB_BOB, i % 2 ? barrel : pincushion, 260, centre[i / 2]);
        double worst = -INFINITY;
        rectify(&c, 1);
        const double *p = c.projection[PLX_LEFT];
        for (int step = 0; step < 4 * 64; step++) {
            double at[2], x, y;
            border(step / 64, step % 64, 64, at);
            plx_camera_unproject(&c.camera[PLX_LEFT], at[0], at[1], &x, &y);
            worst = fmax(worst, outside((const double[2]){p[0] * x + p[2], p[5] * y + p[6]}));
        }
        if (!(worst < TOLERANCE_PX && worst > -TOLERANCE_PX))
            fail_msg("lens %zu: raw pixels lie up to %g px outside", i, worst);
    }
}

/* How far the middles of the four raw sides lie outside of their sides of the rectified picture, px, and the mean of the four.
 */
static void find_middles(const struct plx_stereo_calibration *c, double ret_outside[4], double ret_mean[2])
{
    const struct plx_camera *camera = &c->camera[PLX_LEFT];
    const double *p = c->projection[PLX_LEFT], width = camera->width, height = camera->height;
    const double middle[4][2] = {{0, height / 2}, {width, height / 2}, {width / 2, 0}, {width / 2, height}};
    ret_mean[0] = ret_mean[1] = 0;
    for (int side = 0; side < 4; side++) {
        double x, y;
        plx_camera_unproject(camera, middle[side][0], middle[side][1], &x, &y);
        const double at[2] = {p[0] * x + p[2], p[5] * y + p[6]};
        const double outside_of[4] = {-at[0], at[0] - width, -at[1], at[1] - height};
        ret_outside[side] = outside_of[side];
        ret_mean[0] += at[0] / 4;
        ret_mean[1] += at[1] / 4;
    }
}

/* The focal length of a rectification with ALPHA, whose middles are checked: with alpha 0 none lies inside of the rectified
 * picture, with alpha 1 none outside, and one of them on its side. Returns in RET_SIDE which. */
static double check_middles(struct plx_stereo_calibration c, double alpha, int *ret_side)
{
    double beyond[4], mean[2];
    int least = 0, most = 0;
    rectify(&c, alpha);
    find_middles(&c, beyond, mean);
    for (int side = 1; side < 4; side++) {
        least = beyond[side] < beyond[least] ? side : least;
        most = beyond[side] > beyond[most] ? side : most;
    }
    *ret_side = alpha > 0.5 ? most : least;
    if (alpha == 0 || alpha == 1)
        assert_float_equal(beyond[*ret_side], 0, 1e-3);
    assert_float_equal(mean[0], 0.5 * c.camera[PLX_LEFT].width, 1e-9);
    assert_float_equal(mean[1], 0.5 * c.camera[PLX_LEFT].height, 1e-9);
    return c.projection[PLX_LEFT][0];
}

/* Equidistant, pictures that are wide and those that are tall, so that each side decides in some case. */
static void the_middles_of_the_sides_of_a_fisheye_decide(void **state)
{
    (void)state;
    static const double k[8] = {0.02, -0.011, 0.006, -0.002};
    int decided[2][4] = {{0}}; /* with alpha 0 and 1, by each side */
    for (size_t i = 0; i < 2 * sizeof centre / sizeof *centre; i++) {
        const double *off = centre[i / 2];
        struct plx_stereo_calibration c = head(PLX_DISTORTION_EQUIDISTANT, k, 140, off);
        for (int eye = 0; eye < PLX_EYES && i % 2; eye++) {
            struct plx_camera *camera = &c.camera[eye];
            *camera = (struct plx_camera){HEIGHT,        WIDTH, camera->fx, camera->fy, HEIGHT / 2 + off[1], WIDTH / 2 + off[0],
                                          camera->model, {0}};
            memcpy(camera->k, k, sizeof k);
        }
        int side[3];
        const double valid = check_middles(c, 0, &side[0]), half = check_middles(c, 0.5, &side[2]),
                     all = check_middles(c, 1, &side[1]);
        assert_float_equal(half, 0.5 * (valid + all), 1e-9);
        assert_true(valid > all);
        for (int n = 0; n < 2; n++)
            decided[n][side[n]]++;
    }
    for (int n = 0; n < 8; n++)
        assert_true(decided[n / 4][n % 4] > 0);
}

/* Both eyes get the smaller focal length and the mean of both principal points. */
static void both_eyes_of_a_fisheye_share_a_pinhole(void **state)
{
    (void)state;
    static const double k[8] = {0.02, -0.011, 0.006, -0.002};
    struct plx_stereo_calibration left = head(PLX_DISTORTION_EQUIDISTANT, k, 140, centre[0]),
                                  right = head(PLX_DISTORTION_EQUIDISTANT, k, 150, centre[4]), both = left;
    both.camera[PLX_RIGHT] = right.camera[PLX_RIGHT];
    rectify(&left, 0.3);
    rectify(&right, 0.3);
    rectify(&both, 0.3);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const double *p = both.projection[eye], *a = left.projection[eye], *b = right.projection[eye];
        assert_float_equal(p[0], fmin(a[0], b[0]), 1e-9);
        assert_float_equal(p[5], p[0], 1e-9);
        assert_float_equal(p[2], 0.5 * (a[2] + b[2]), 1e-9);
        assert_float_equal(p[6], 0.5 * (a[6] + b[6]), 1e-9);
    }
    assert_float_equal(both.projection[PLX_RIGHT][3], -0.1 * both.projection[PLX_RIGHT][0], 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_valid_pixels_are_kept_and_as_many_as_possible),
        cmocka_unit_test(every_raw_pixel_is_kept_and_no_more),
        cmocka_unit_test(the_middles_of_the_sides_of_a_fisheye_decide),
        cmocka_unit_test(both_eyes_of_a_fisheye_share_a_pinhole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
