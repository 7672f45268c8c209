/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibration: rectification against OpenCV's numbers for a real stereo head, models against themselves and there and back,
 * maps, and every absurd number. tests/golden/opencv.py compares with OpenCV itself.
 */
#include <math.h>
#include <unistd.h>

#include "config/config.h"
#include "core/geometry/calibration.h"
#include "tests/unit/image_cases.h"

/* A stereo head of the kind that OpenCV's samples calibrate, its cameras parallel. */
static struct plx_stereo_calibration head(void)
{
    return (struct plx_stereo_calibration){
        .camera = {{640, 480, 521.3, 519.8, 322.7, 236.1, PLX_DISTORTION_PLUMB_BOB, {-0.28, 0.09, 0.0011, -0.0007, -0.012}},
                   {640, 480, 524.9, 523.0, 315.2, 245.9, PLX_DISTORTION_PLUMB_BOB, {-0.31, 0.12, -0.0009, 0.0004, -0.02}}},
        .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
        .translation = {-0.12, 0, 0},
    };
}

static void expect_numbers(const double *got, const double *expected, int count, const char *what)
{
    double scale = 1;
    for (int i = 0; i < count; i++)
        scale = fmax(scale, fabs(expected[i]));
    for (int i = 0; i < count; i++)
        if (!(fabs(got[i] - expected[i]) <= 1e-9 * scale))
            fail_msg("%s[%d] is %.17g, expected %.17g", what, i, got[i], expected[i]);
}

/* fx = fy, cx, cy of both rectified pictures, and P2's fourth number, by OpenCV 4.6, of the head with other models and alphas.
 */
struct answer {
    enum plx_distortion model;
    double k[PLX_EYES][8];
    double alpha, f, cx, cy, shift;
};

static const double relative_rotation[9] = {0.9997110168338578,   -0.007125677160047924, -0.02295882283621972,
                                            0.006872691896954579, 0.9999150049511346,    -0.011079213855771925,
                                            0.023035818351074214, 0.010918223233803434,  0.9996750189308089};
static const double relative_translation[3] = {-0.1203, 0.0017, -0.0023};
static const double rectification[PLX_EYES][9] = {
    {0.9997718067625002, -0.021041124647826055, -0.0036885602069981725, 0.021020083896130953, 0.9997630706873792,
     -0.005653190492260296, 0.0038066357647693148, 0.005574366627412652, 0.9999772177209127},
    {0.9997175068020002, -0.014127346313915337, 0.019113468542351346, 0.01401981116644924, 0.9998851932430298,
     0.005748497908662782, -0.019192485207754052, -0.005478906777405215, 0.9998007952047622}};
static const struct answer answers[] = {
    {PLX_DISTORTION_PLUMB_BOB,
     {{-0.28, 0.09, 0.0011, -0.0007, -0.012}, {-0.31, 0.12, -0.0009, 0.0004, -0.02}},
     0.0,
     491.8536019049495,
     312.0032272338867,
     241.74021911621094,
     -59.18670815163027},
    {PLX_DISTORTION_PLUMB_BOB,
     {{-0.28, 0.09, 0.0011, -0.0007, -0.012}, {-0.31, 0.12, -0.0009, 0.0004, -0.02}},
     1.0,
     402.2720413646841,
     312.0032272338867,
     241.74021911621094,
     -48.40700122475306},
    {PLX_DISTORTION_RATIONAL,
     {{0.31, -0.12, 0.0006, -0.0004, 0.011, 0.62, -0.05, 0.02}, {0.28, -0.1, -0.0003, 0.0005, 0.01, 0.6, -0.04, 0.018}},
     0.0,
     489.9589270100313,
     311.8762893676758,
     242.44640731811523,
     -58.95871435507489},
    {PLX_DISTORTION_RATIONAL,
     {{0.31, -0.12, 0.0006, -0.0004, 0.011, 0.62, -0.05, 0.02}, {0.28, -0.1, -0.0003, 0.0005, 0.01, 0.6, -0.04, 0.018}},
     1.0,
     366.6982152994667,
     311.8762893676758,
     242.44640731811523,
     -44.12626066901801},
    {PLX_DISTORTION_EQUIDISTANT,
     {{0.02, -0.011, 0.006, -0.002}, {0.018, -0.009, 0.004, -0.001}},
     0.0,
     486.4271026882823,
     314.07409899947373,
     241.05492448688824,
     -58.533715829975975},
    {PLX_DISTORTION_EQUIDISTANT,
     {{0.02, -0.011, 0.006, -0.002}, {0.018, -0.009, 0.004, -0.001}},
     1.0,
     456.5560297876959,
     314.48620095278284,
     240.98109073456754,
     -54.9392103366834},
};

static void rectification_as_opencv(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(answers); i++) {
        const struct answer *answer = &answers[i];
        struct plx_stereo_calibration calibration = head();
        struct plx_error_message message = {""};
        memcpy(calibration.rotation, relative_rotation, sizeof relative_rotation);
        memcpy(calibration.translation, relative_translation, sizeof relative_translation);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            struct plx_camera *camera = &calibration.camera[eye];
            camera->model = answer->model;
            memcpy(camera->k, answer->k[eye], sizeof camera->k);
            if (answer->model == PLX_DISTORTION_EQUIDISTANT)
                camera->fy = camera->fx; /* OpenCV 4.6 has a fault where they differ */
        }
        if (plx_calibration_rectify(&calibration, answer->alpha, &message) != 0)
            fail_msg("%s", message.text);
        double right[12] = {answer->f, 0, answer->cx, answer->shift, 0, answer->f, answer->cy, 0, 0, 0, 1, 0}, left[12];
        memcpy(left, right, sizeof left);
        left[3] = 0;
        expect_numbers(calibration.rectification[PLX_LEFT], rectification[PLX_LEFT], 9, "R1");
        expect_numbers(calibration.rectification[PLX_RIGHT], rectification[PLX_RIGHT], 9, "R2");
        expect_numbers(calibration.projection[PLX_LEFT], left, 12, "P1");
        expect_numbers(calibration.projection[PLX_RIGHT], right, 12, "P2");
        assert_true(calibration.rectified && calibration.rectified_width == 640 && calibration.rectified_height == 480);
    }
}

static void chessboard_as_opencv(void **state)
{
    (void)state;
    static const char path[] = PLX_TEST_DATA "/chessboard/stereo_ref.yml";
    if (access(path, R_OK) != 0) {
        print_message("skipped: no %s\n", path);
        skip();
    }
    struct plx_stereo_calibration stored, made;
    struct plx_error_message message = {""};
    if (plx_calibration_read(path, &(struct plx_calibration_options){.width = 640, .height = 480, .scale = 0.025}, &stored,
                             &message) != 0)
        fail_msg("%s", message.text);
    assert_true(stored.rectified);
    made = stored;
    made.rectified = false;
    assert_int_equal(plx_calibration_rectify(&made, 0, &message), 0);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        expect_numbers(made.rectification[eye], stored.rectification[eye], 9, "R");
        expect_numbers(made.projection[eye], stored.projection[eye], 12, "P");
    }
}

static void rows_are_aligned(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration = head();
    struct plx_error_message message = {""};
    const double angle = 0.02, c = cos(angle), s = sin(angle);
    memcpy(calibration.rotation, (double[9]){c, -s, 0, s, c, 0, 0, 0, 1}, sizeof calibration.rotation);
    memcpy(calibration.translation, (double[3]){-0.12, 0.003, -0.002}, sizeof calibration.translation);
    assert_int_equal(plx_calibration_rectify(&calibration, 0.5, &message), 0);

    /* any point in space lands on the same row of both pictures, at the disparity that its depth asks for */
    struct plx_calibration_info info;
    plx_calibration_info(&calibration, &info);
    for (int i = 0; i < 100; i++) {
        double point[PLX_EYES][3], pixel[PLX_EYES][3];
        for (int axis = 0; axis < 3; axis++)
            point[PLX_LEFT][axis] = random_normal(&random_state) + (axis == 2 ? 10 : 0);
        for (int row = 0; row < 3; row++) {
            const double *r = &calibration.rotation[3 * row], *p = point[PLX_LEFT];
            point[PLX_RIGHT][row] = r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + calibration.translation[row];
        }
        for (int eye = 0; eye < PLX_EYES; eye++) {
            const double *r = calibration.rectification[eye], *p = point[eye];
            double turned[3] = {r[0] * p[0] + r[1] * p[1] + r[2] * p[2], r[3] * p[0] + r[4] * p[1] + r[5] * p[2],
                                r[6] * p[0] + r[7] * p[1] + r[8] * p[2]};
            pixel[eye][0] = info.fx * turned[0] / turned[2] + (eye == PLX_LEFT ? info.cx : info.cx_right);
            pixel[eye][1] = info.fy * turned[1] / turned[2] + info.cy;
            pixel[eye][2] = turned[2];
        }
        assert_true(fabs(pixel[PLX_LEFT][1] - pixel[PLX_RIGHT][1]) < 1e-9);
        assert_true(fabs(pixel[PLX_LEFT][0] - pixel[PLX_RIGHT][0] - info.fx * info.baseline_m / pixel[PLX_LEFT][2]) < 1e-9);
    }
    assert_true(fabs(info.baseline_m - sqrt(0.12 * 0.12 + 0.003 * 0.003 + 0.002 * 0.002)) < 1e-12);
}

static void models_there_and_back(void **state)
{
    (void)state;
    const struct plx_camera cameras[] = {
        {640, 480, 500, 510, 320, 240, PLX_DISTORTION_NONE, {0}},
        {640, 480, 500, 510, 320, 240, PLX_DISTORTION_PLUMB_BOB, {-0.1, 0.02, 0.0005, -0.0003, 0.001}},
        {640, 480, 500, 510, 320, 240, PLX_DISTORTION_RATIONAL, {0.2, 0.05, 0.0005, -0.0003, 0.001, 0.25, 0.06, 0.002}},
        {640, 480, 280, 285, 320, 240, PLX_DISTORTION_EQUIDISTANT, {0.02, -0.01, 0.005, -0.001}},
    };
    for (int i = 0; i < COUNT(cameras); i++)
        for (int v = 0; v <= 480; v += 40)
            for (int u = 0; u <= 640; u += 40) {
                double x, y, back_u, back_v;
                plx_camera_unproject(&cameras[i], u, v, &x, &y);
                plx_camera_project(&cameras[i], x, y, &back_u, &back_v);
                if (fabs(back_u - u) > 2e-3 || fabs(back_v - v) > 2e-3) /* five steps, as OpenCV makes them */
                    fail_msg("model %d: (%d, %d) comes back as (%.4f, %.4f)", (int)cameras[i].model, u, v, back_u, back_v);
            }
}

/* Up to a radian from the axis, where the angle in the picture grows by a fourth of that outside: only steps by the right slope
 * come to rest. Each lens bends by one coefficient, and the last by all. */
static void a_strongly_bent_fisheye_comes_back_exactly(void **state)
{
    (void)state;
    static const double k[][4] = {
        {-0.25, 0, 0, 0}, {0, -0.15, 0, 0}, {0, 0, -0.11, 0}, {0, 0, 0, -0.09}, {0.3, -0.2, 0.1, -0.05}};
    for (int i = 0; i < COUNT(k); i++)
        for (int step = 1; step <= 10; step++) {
            struct plx_camera camera = {640, 480, 280, 285, 320, 240, PLX_DISTORTION_EQUIDISTANT, {0}};
            memcpy(camera.k, k[i], sizeof k[i]);
            const double x = 0.8 * tan(0.1 * step), y = -0.6 * tan(0.1 * step);
            double u, v, back_x, back_y;
            plx_camera_project(&camera, x, y, &u, &v);
            plx_camera_unproject(&camera, u, v, &back_x, &back_y);
            if (!(fabs(back_x - x) <= 1e-9 && fabs(back_y - y) <= 1e-9))
                fail_msg("lens %d: (%g, %g) comes back as (%.12g, %.12g)", i, x, y, back_x, back_y);
        }
}

static void pinhole_is_identity_and_fills_an_identity_map(void **state)
{
    (void)state;
    const struct plx_calibration_info info = {500.25, 500.25, 311.7, 233.1, 312.9, 0.12};
    struct plx_stereo_calibration calibration;
    struct plx_calibration_info back;
    plx_calibration_pinhole(513, 7, &info, &calibration);
    calibration.camera[PLX_LEFT].cy = calibration.camera[PLX_RIGHT].cy = calibration.projection[0][6] =
        calibration.projection[1][6] = 3;
    assert_int_equal(plx_calibration_check(&calibration, NULL), 0);
    plx_calibration_info(&calibration, &back);
    assert_true(back.fx == info.fx && back.cx == info.cx && back.cx_right == info.cx_right &&
                fabs(back.baseline_m - info.baseline_m) < 1e-12);

    struct plx_remap map = {malloc(513 * 7 * sizeof(struct plx_remap_entry)), 513, 7};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        assert_true(plx_calibration_is_identity(&calibration, (enum plx_eye)eye));
        assert_int_equal(plx_remap_fill(&calibration, (enum plx_eye)eye, NULL, &map), 0);
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 513; x++) {
                struct plx_remap_entry entry = map.entry[y * 513 + x];
                assert_true(entry.x == x && entry.y == y && entry.fx == 0 && entry.fy == 0);
            }
    }
    map.width = 512;
    assert_int_equal(plx_remap_fill(&calibration, PLX_LEFT, NULL, &map), PLX_ERR_ARG);
    map.width = 513;
    for (int i = 0; i < 9; i++) { /* one that turns the picture, whatever number says so */
        struct plx_stereo_calibration turned = calibration;
        turned.rectification[PLX_LEFT][i] += 1e-4;
        assert_false(plx_calibration_is_identity(&turned, PLX_LEFT));
        assert_true(plx_calibration_is_identity(&turned, PLX_RIGHT));
    }
    calibration.camera[PLX_LEFT].k[0] = 0.1;
    calibration.camera[PLX_LEFT].model = PLX_DISTORTION_PLUMB_BOB;
    assert_false(plx_calibration_is_identity(&calibration, PLX_LEFT));
    calibration.rectified = false;
    assert_int_equal(plx_remap_fill(&calibration, PLX_LEFT, NULL, &map), PLX_ERR_ARG);
    free(map.entry);
}

/* A camera that is turned away by more than 90 degrees sees nothing of the rectified picture. */
static void behind_the_camera_is_nowhere(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    plx_calibration_pinhole(7, 7, &(struct plx_calibration_info){5, 5, 3, 3, 3, 0.1}, &calibration);
    memcpy(calibration.rectification[PLX_LEFT], (double[9]){-1, 0, 0, 0, 1, 0, 0, 0, -1}, 9 * sizeof(double));
    struct plx_remap_entry entry[49];
    struct plx_remap map = {entry, 7, 7};
    assert_int_equal(plx_remap_fill(&calibration, PLX_LEFT, NULL, &map), 0);
    for (int i = 0; i < 49; i++)
        assert_true(entry[i].x == INT16_MIN && entry[i].y == INT16_MIN && entry[i].fx == 0 && entry[i].fy == 0);
}

static void expect_refused(const struct plx_stereo_calibration *calibration, int error, const char *word)
{
    struct plx_error_message message = {""};
    struct plx_stereo_calibration copy = *calibration;
    int result = calibration->rectified ? plx_calibration_check(&copy, &message) : plx_calibration_rectify(&copy, 0, &message);
    if (result != error || !strstr(message.text, word))
        fail_msg("expected %s with \"%s\", got %s: \"%s\"", plx_strerror(error), word, plx_strerror(result), message.text);
    assert_memory_equal(&copy, calibration, sizeof copy);
}

#define EXPECT_REFUSED(base, error, word, change)                                                                              \
    do {                                                                                                                       \
        struct plx_stereo_calibration c = base;                                                                                \
        change;                                                                                                                \
        expect_refused(&c, error, word);                                                                                       \
    } while (0)

static void absurd_numbers_are_refused(void **state)
{
    (void)state;
    struct plx_stereo_calibration good = head(), rectified = head();
    assert_int_equal(plx_calibration_rectify(&rectified, 0, NULL), 0);

    EXPECT_REFUSED(good, PLX_ERR_RANGE, "left camera: image size 0x480", c.camera[0].width = 0);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "image size", c.camera[1].height = 8193);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "right camera: focal length", c.camera[1].fx = 0);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "focal length", c.camera[0].fy = NAN);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "focal length", c.camera[0].fy = INFINITY);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "principal point", c.camera[0].cx = 641);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "principal point", c.camera[0].cy = NAN);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "not finite", c.camera[0].k[7] = INFINITY);
    EXPECT_REFUSED(good, PLX_ERR_ARG, "model", c.camera[0].model = (enum plx_distortion)4);
    EXPECT_REFUSED(good, PLX_ERR_UNSUPPORTED, "sizes", c.camera[1].width = 320; c.camera[1].cx = 160);
    EXPECT_REFUSED(good, PLX_ERR_UNSUPPORTED, "equidistant", c.camera[1].model = PLX_DISTORTION_EQUIDISTANT);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "orthonormal", c.rotation[0] = 0.9);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "orthonormal", c.rotation[8] = -1);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "orthonormal", c.rotation[1] = NAN);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "60 degrees", c.rotation[4] = c.rotation[8] = -1);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "baseline is 0", c.translation[0] = 0);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "baseline", c.translation[0] = -120);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "baseline", c.translation[1] = NAN);
    EXPECT_REFUSED(good, PLX_ERR_UNSUPPORTED, "side by side", c.translation[1] = 0.2);
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "swap", c.translation[0] = 0.12);
    for (int eye = 0; eye < PLX_EYES; eye++) /* sees more than half of the world */
        good.camera[eye] = (struct plx_camera){640, 480, 50, 50, 320, 240, PLX_DISTORTION_EQUIDISTANT, {0}};
    EXPECT_REFUSED(good, PLX_ERR_RANGE, "distortion may be too strong", (void)c);

    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "rectified size", c.rectified_width = 0);
    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "rectification is not", c.rectification[1][4] = 0.5);
    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "rectified focal length", c.projection[0][0] = -1);
    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "form", c.projection[0][1] = 0.1);
    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "principal point", c.projection[0][2] = 1e5);
    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "share", c.projection[1][6] += 1);
    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "baseline is 0", c.projection[1][3] = 0);
    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "swapped", c.projection[1][3] = 60);
    EXPECT_REFUSED(rectified, PLX_ERR_RANGE, "focal", c.projection[1][7] = NAN);

    struct plx_error_message message;
    assert_int_equal(plx_calibration_rectify(&good, 1.5, &message), PLX_ERR_RANGE);
    assert_int_equal(plx_calibration_rectify(&good, NAN, &message), PLX_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectification_as_opencv),
        cmocka_unit_test(chessboard_as_opencv),
        cmocka_unit_test(rows_are_aligned),
        cmocka_unit_test(models_there_and_back),
        cmocka_unit_test(a_strongly_bent_fisheye_comes_back_exactly),
        cmocka_unit_test(pinhole_is_identity_and_fills_an_identity_map),
        cmocka_unit_test(behind_the_camera_is_nowhere),
        cmocka_unit_test(absurd_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
