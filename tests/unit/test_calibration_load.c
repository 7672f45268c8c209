/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration files: the same rig in three forms, every mistake with its place, and back to a file without loss. */
#include "config/config.h"

#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "tests/cmocka.h"
#include "tests/scratch.h"
#include "tests/unit/calibration_texts.h"

static struct scratch file, second;
static char both[300]; /* "file,second" */
static const struct plx_calibration_options metres = {.scale = 1};

static int setup(void **state)
{
    (void)state;
    if (scratch_begin(&file, "a.yaml") < 0 || scratch_begin(&second, "b.yaml") < 0)
        return -1;
    snprintf(both, sizeof both, "%s,%s", file.path, second.path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_end(&file);
    scratch_end(&second);
    return 0;
}

static void write_text(const struct scratch *to, const char *text)
{
    assert_int_equal(scratch_write(to, text, strlen(text)), 0);
}

static void assert_read(const char *path, const struct plx_calibration_options *options,
                        struct plx_stereo_calibration *ret_calibration)
{
    struct plx_error_message message = {""};
    if (plx_calibration_read(path, options, ret_calibration, &message) != 0)
        fail_msg("%s", message.text);
}

/* TEXT with the first FIND replaced by REPLACE; good until the call after the next. */
static const char *edited(const char *text, const char *find, const char *replace)
{
    static char buffer[2][8192];
    static int turns;
    char *result = buffer[turns++ % 2], *end = result;
    const char *at = strstr(text, find);
    if (!at) {
        fail_msg("the test looks for \"%s\", which is not there", find);
        return text;
    }
    assert_true(strlen(text) + strlen(replace) < sizeof buffer[0]);
    end = mempcpy(end, text, (size_t)(at - text));
    end = stpcpy(end, replace);
    stpcpy(end, at + strlen(find)); /* not snprintf: gcc 11 takes the two buffers for one */
    return result;
}

/* Reading PATH fails with ERROR, a sentence that begins with the path of WHERE and SENTENCE, and leaves the result alone. */
static void assert_refused(const char *path, const struct scratch *where, int error, const char *sentence)
{
    static struct plx_stereo_calibration calibration, before;
    struct plx_error_message message = {""};
    char expected[sizeof message.text];
    memset(&calibration, 0x5A, sizeof calibration);
    memset(&before, 0x5A, sizeof before);
    int result = plx_calibration_read(path, &metres, &calibration, &message);
    snprintf(expected, sizeof expected, "%s%s", where ? where->path : both, sentence);
    if (result != error || strncmp(message.text, expected, strlen(expected)) != 0)
        fail_msg("%d \"%s\", not %d \"%s\"", result, message.text, error, expected);
    assert_memory_equal(&calibration, &before, sizeof calibration);
}

static void assert_near(const double *value, const double *expected, int count, double tolerance)
{
    for (int i = 0; i < count; i++)
        if (!(fabs(value[i] - expected[i]) <= tolerance))
            fail_msg("[%d] is %.17g, expected %.17g", i, value[i], expected[i]);
}

static const double turn[9] = {0.99980000666657776,   0, 0.019998666693333080, 0, 1, 0,
                               -0.019998666693333080, 0, 0.99980000666657776};

static void assert_rig(const struct plx_stereo_calibration *calibration)
{
    const struct plx_camera *left = &calibration->camera[PLX_LEFT], *right = &calibration->camera[PLX_RIGHT];
    assert_int_equal(left->width, 640);
    assert_int_equal(right->height, 480);
    assert_int_equal(left->model, PLX_DISTORTION_PLUMB_BOB);
    assert_near((const double[]){left->fx, left->fy, left->cx, left->cy}, (const double[]){510, 511, 330, 235}, 4, 0);
    assert_near((const double[]){right->fx, right->fy, right->cx, right->cy}, (const double[]){512, 513, 322, 238}, 4, 0);
    assert_near(left->k, (const double[8]){-0.25, 0.08, 1.5e-3, -4e-4, left->k[4]}, 8, 0);
    assert_near(right->k, (const double[8]){-0.24, 0.07, 1e-3, 2e-4, right->k[4]}, 8, 0);
    assert_near(calibration->rotation, turn, 9, 0);
    assert_near(calibration->translation, (const double[]){-0.12, 0.001, 0.002}, 3, 0);
    assert_int_equal(calibration->rectified_width, 640);
    assert_int_equal(calibration->rectified_height, 480);
}

static void opencv_without_rectification(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    write_text(&file, OPENCV_TEXT);
    assert_read(file.path, &metres, &calibration);
    assert_rig(&calibration);
    assert_near(calibration.camera[PLX_LEFT].k + 4, (const double[]){0.01}, 1, 0);
    struct plx_calibration_info info;
    plx_calibration_info(&calibration, &info);
    assert_near(&info.baseline_m, (const double[]){sqrt(0.12 * 0.12 + 0.001 * 0.001 + 0.002 * 0.002)}, 1, 1e-9);
}

static void opencv_names_and_sizes(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"M1:", "K1:"},
        {"M1:", "cameraMatrix1:"},
        {"D2:", "distCoeffs2:"},
        {"image_width: 640\nimage_height: 480", "imageSize: [ 640, 480 ]"},
        {"image_width: 640\nimage_height: 480", "width: 640\nheight: 480"},
        {"---\n", ""},
        {"rows: 3\n   cols: 1\n", "rows: 1\n   cols: 3\n"},
        {"cols: 5\n   dt: d\n   data: [ -0.25, 0.08, 1.5e-03, -4e-04, 0.01 ]",
         "cols: 4\n   dt: d\n   data: [ -0.25, 0.08, 1.5e-03, -4e-04 ]"},
    };
    struct plx_stereo_calibration calibration;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_text(&file, edited(OPENCV_TEXT, names[i][0], names[i][1]));
        assert_read(file.path, &metres, &calibration);
        assert_rig(&calibration);
    }
    /* 8 coefficients are the rational model; 14 as well, as long as prism and tilt are 0; 4 may be a fisheye */
    static const char left[] = "cols: 5\n   dt: d\n   data: [ -0.25, 0.08, 1.5e-03, -4e-04, 0.01 ]";
    static const char right[] = "rows: 5\n   cols: 1\n   dt: d\n   data: [ -0.24, 0.07, 1e-03, 2e-04, -0.02 ]";
    write_text(&file, edited(OPENCV_TEXT, left, "cols: 8\n   dt: d\n   data: [ .1, -.05, 1e-3, 2e-3, .01, .4, -.02, .03 ]"));
    assert_read(file.path, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_RATIONAL);
    assert_near(calibration.camera[PLX_LEFT].k, (const double[]){.1, -.05, 1e-3, 2e-3, .01, .4, -.02, .03}, 8, 0);
    write_text(&file,
               edited(OPENCV_TEXT, left, "cols: 14\n   dt: d\n   data: [ .1, 0, 0, 0, .01, .4, 0, .03, 0, 0, 0, 0, 0, 0 ]"));
    assert_read(file.path, &metres, &calibration);
    assert_near(calibration.camera[PLX_LEFT].k, (const double[]){.1, 0, 0, 0, .01, .4, 0, .03}, 8, 0);
    write_text(&file, edited(edited(OPENCV_TEXT, left, "cols: 4\n   dt: d\n   data: [ .01, .02, .03, .04 ]"), right,
                             "rows: 4\n   cols: 1\n   dt: d\n   data: [ 0, 0, 0, 0 ]\ndistortion_model: fisheye"));
    assert_read(file.path, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_EQUIDISTANT);
    assert_int_equal(calibration.camera[PLX_RIGHT].model, PLX_DISTORTION_EQUIDISTANT);
    assert_near(calibration.camera[PLX_LEFT].k, (const double[8]){.01, .02, .03, .04}, 8, 0);
}

static void kalibr(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration, other;
    write_text(&file, KALIBR_TEXT);
    assert_read(file.path, &metres, &calibration);
    assert_rig(&calibration);
    /* the same numbers in OpenCV's form give the same rectification */
    write_text(&file, edited(edited(OPENCV_TEXT, ", 0.01 ]", ", 0. ]"), ", -0.02 ]", ", 0. ]"));
    assert_read(file.path, &metres, &other);
    assert_near(calibration.projection[PLX_RIGHT], other.projection[PLX_RIGHT], 12, 0);
    assert_near(calibration.rectification[PLX_LEFT], other.rectification[PLX_LEFT], 9, 0);

    write_text(&file, edited(edited(KALIBR_TEXT, "radtan", "equidistant"), "radtan", "equidistant"));
    assert_read(file.path, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_EQUIDISTANT);
    write_text(&file, edited(KALIBR_TEXT, "[-0.25, 0.08, 1.5e-03, -4e-04]\n  distortion_model: radtan",
                             "[]\n  distortion_model: none"));
    assert_read(file.path, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_NONE);
}

static void ros(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    write_text(&file, ROS_LEFT_TEXT);
    write_text(&second, ROS_RIGHT_TEXT);
    assert_read(both, &metres, &calibration);
    assert_true(calibration.rectified);
    assert_near(calibration.rotation, turn, 9, 1e-15);
    /* R2' (-0.12, 0, 0), R2 a turn by -0.01 */
    assert_near(calibration.translation, (const double[]){-0.12 * 0.99995000041666526, 0, 0.12 * 0.0099998333341666645}, 3,
                1e-15);
    assert_near(&calibration.projection[PLX_RIGHT][3], (const double[]){-60}, 1, 0);
    struct plx_calibration_info info;
    plx_calibration_info(&calibration, &info);
    assert_near(&info.baseline_m, (const double[]){0.12}, 1, 1e-12);
    assert_near(&info.fx, (const double[]){500}, 1, 0);

    write_text(&file, edited(edited(ROS_LEFT_TEXT, "plumb_bob", "rational_polynomial"),
                             "cols: 5\n  data: [-0.25, 0.08, 0.0015, -0.0004, 0.0]",
                             "cols: 8\n  data: [.1, .2, 0, 0, .3, .1, .2, .3]"));
    assert_read(both, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_RATIONAL);
}

static void size_and_scale_from_outside(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    const struct plx_calibration_options millimetres = {.scale = 0.001, .width = 640, .height = 480};
    write_text(&file, edited(edited(OPENCV_TEXT, "image_width: 640\nimage_height: 480\n", ""), "[ -0.12, 0.001, 0.002 ]",
                             "[ -120, 1, 2 ]"));
    assert_read(file.path, &millimetres, &calibration);
    assert_near(calibration.translation, (const double[]){-0.12, 0.001, 0.002}, 3, 1e-15);
    assert_int_equal(calibration.camera[PLX_RIGHT].width, 640);
    struct plx_calibration_info info;
    plx_calibration_info(&calibration, &info);
    assert_true(info.baseline_m > 0.12 && info.baseline_m < 0.1201);
    const struct plx_calibration_options twice = {.scale = 1e-6, .width = 640, .height = 480};
    struct plx_error_message message = {""};
    assert_int_equal(plx_calibration_read(file.path, &twice, &calibration, &message), PLX_ERR_RANGE);
    assert_non_null(
        strstr(message.text, ":30:4: the baseline is 0.000120021 m, 120.021 times calibration_scale 1e-06; expected"));
    assert_non_null(strstr(message.text, "calibration_scale: 0.001"));
    write_text(&file, edited(OPENCV_TEXT, "image_width: 640\nimage_height: 480\n", ""));
    assert_refused(file.path, &file, PLX_ERR_FORMAT, ": does not say for which picture size it was made");
}

struct mistake {
    const char *find, *replace;
    int error;
    const char *sentence; /* its beginning, behind the path */
};

static const struct mistake opencv_mistakes[] = {
    {"M2: ", "M3: ", PLX_ERR_FORMAT, ":3:1: no key \"M2\"; expected an OpenCV stereo calibration"},
    {"D1: ", "X1: ", PLX_ERR_FORMAT, ":3:1: no key \"D1\""},
    {"R: ", "Q: ", PLX_ERR_FORMAT, ":3:1: no key \"R\""},
    {"T: ", "Q: ", PLX_ERR_FORMAT, ":3:1: no key \"T\""},
    {"   rows: 3\n", "", PLX_ERR_FORMAT, ":6:5: no key \"rows\" here"},
    {"rows: 3", "rows: 2", PLX_ERR_FORMAT, ":6:5: M1 is a 2 x 3 matrix; expected 3 x 3"},
    {", 1. ]", " ]", PLX_ERR_FORMAT, ":10:10: data has 8 numbers; expected 9"},
    {"rows: 5\n   cols: 1", "rows: 1\n   cols: 6", PLX_ERR_FORMAT, ":25:10: data has 5 numbers; expected 6"},
    {"rows: 5\n   cols: 1", "rows: 1\n   cols: 2000000", PLX_ERR_RANGE, ":23:10: cols is 2000000; expected a whole number"},
    {"rows: 5\n   cols: 1", "rows: 1\n   cols: 15", PLX_ERR_FORMAT, ":21:5: D2 is a 1 x 15 matrix; expected one row or column"},
    {"510.", ".Nan", PLX_ERR_FORMAT, ":10:12: \".Nan\"; expected a finite number"},
    {"510.", "nan", PLX_ERR_FORMAT, ":10:12: \"nan\"; expected a finite number"},
    {"510.", "1e400", PLX_ERR_FORMAT, ":10:12: \"1e400\"; expected a finite number"},
    {"510.", "[510]", PLX_ERR_FORMAT, ":10:12: a list or map; expected a number"},
    {"510.", "\"510.\"", PLX_ERR_FORMAT, ":10:12: \"510.\"; expected a finite number"},
    {"511.", "-511.", PLX_ERR_RANGE, ":6:5: the focal length fy in M1 is -511; expected pixels, more than 0"},
    {"510.", "0", PLX_ERR_RANGE, ":6:5: the focal length fx in M1 is 0"},
    {"0., 0., 1. ]", "0., 1., 1. ]", PLX_ERR_RANGE, ":6:5: M1 is no camera matrix"},
    {"data: [ 510., 0., 330., 0., 511., 235., 0., 0., 1. ]", "data: 510", PLX_ERR_FORMAT, ":10:10: data is no list"},
    {"M1: !!opencv-matrix\n", "M1: 3\nZ:\n", PLX_ERR_FORMAT, ":6:5: M1 is no matrix; expected a map with rows, cols and data"},
    {"0., 1., 0., -", "0., 1.1, 0., -", PLX_ERR_RANGE, ":26:4: R is no rotation"},
    {"0., 1., 0., -", "0., -1., 0., -", PLX_ERR_RANGE, ":26:4: R is no rotation"},
    {"image_width: 640", "image_width: 0", PLX_ERR_RANGE, ":4:14: image_width is 0; expected a whole number from 1 to 8192"},
    {"image_width: 640", "image_width: 640.5", PLX_ERR_RANGE, ":4:14: image_width is 640.5"},
    {"image_width: 640\n", "", PLX_ERR_FORMAT, ":4:1: width without height, or height without width"},
    {"image_width: 640\nimage_height: 480", "image_size: 640", PLX_ERR_FORMAT, ":4:13: image_size is no size"},
    {"M2: ", "M1: ", PLX_ERR_FORMAT, ":16:1: key \"M1\" is given twice, first at line 6"},
    {"M1: ", "M1: &m ", PLX_ERR_FORMAT, ":6:5: an anchor or alias"},
    {"-0.12, 0.001, 0.002", "0., 0., 0.", PLX_ERR_RANGE,
     ":32:4: the baseline is 0 m; expected 0.01 to 2 m; the unit is the metre"},
    {"-0.12, 0.001, 0.002", "-3.34, 0., 0.", PLX_ERR_RANGE,
     ":32:4: the baseline is 3.34 m; expected 0.01 to 2 m; it looks like squares of the chessboard: give the side of one"},
    {"-0.12, 0.001, 0.002", "-120, 1, 2", PLX_ERR_RANGE,
     ":32:4: the baseline is 120.021 m; expected 0.01 to 2 m; it looks like millimetres: calibration_scale: 0.001"},
    {"-0.12, 0.001, 0.002", "-0.0001, 0., 0.", PLX_ERR_RANGE,
     ":32:4: the baseline is 0.0001 m; expected 0.01 to 2 m; it looks like metres divided by a thousand: calibration_scale: "
     "1000"},
    {"T: ", "R1: ", PLX_ERR_FORMAT, ":3:1: no key \"T\""},
    {"calibration_time:", "distortion_model: kannala\nt:", PLX_ERR_UNSUPPORTED,
     ":3:19: distortion model \"kannala\"; expected"},
    {"calibration_time:", "distortion_model: equidistant\nt:", PLX_ERR_FORMAT,
     ":12:5: D1 has 5 coefficients; expected 4 for equidistant"},
    {"   cols: 5\n   dt: d\n   data: [ -0.25, 0.08, 1.5e-03, -4e-04, 0.01 ]",
     "   cols: 12\n   dt: d\n   data: [ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0 ]", PLX_ERR_UNSUPPORTED,
     ":11:5: coefficient 10 of D1 is 0.5; expected 0"},
};

static const struct mistake kalibr_mistakes[] = {
    {"cam0:", "cam2:", PLX_ERR_FORMAT, ":1:1: no key \"cam0\" here"},
    {"pinhole", "omni", PLX_ERR_UNSUPPORTED, ":3:17: camera model \"omni\"; expected pinhole"},
    {"radtan", "fov", PLX_ERR_UNSUPPORTED, ":5:21: distortion model \"fov\"; expected"},
    {"511.0, 330.0", "330.0", PLX_ERR_FORMAT, ":6:15: intrinsics has 3 numbers; expected 4"},
    {"[510.0", "[-510.0", PLX_ERR_RANGE, ":6:15: the focal length fx in intrinsics is -510"},
    {"[640, 480]", "[640]", PLX_ERR_FORMAT, ":7:15: resolution is no size; expected [width, height]"},
    {"[640, 480]", "[640, 9000]", PLX_ERR_RANGE, ":7:21: this is 9000; expected a whole number from 1 to 8192"},
    {"T_cn_cnm1", "T_cam_imu", PLX_ERR_FORMAT, ":10:3: no key \"T_cn_cnm1\" here"},
    {"  - [0.0, 0.0, 0.0, 1.0]\n", "", PLX_ERR_FORMAT, ":11:3: T_cn_cnm1 is no 4 x 4 matrix"},
    {"[0.0, 0.0, 0.0, 1.0]", "[0.0, 0.0, 0.0]", PLX_ERR_FORMAT, ":14:5: this has 3 numbers; expected 4"},
    {"[0.0, 0.0, 0.0, 1.0]", "[0.0, 0.0, 1.0, 1.0]", PLX_ERR_RANGE, ":11:3: the last row of T_cn_cnm1"},
    {"[0.0, 1.0, 0.0, 0.001]", "[0.0, 2.0, 0.0, 0.001]", PLX_ERR_RANGE, ":11:3: T_cn_cnm1 is no rotation"},
    {"-0.12", "0.12", PLX_ERR_RANGE, ":11:3: cam1 stands at x = -0.12 against cam0"},
    {"-0.12", "0", PLX_ERR_RANGE, ":11:3: cam1 stands at x = -0 against cam0"},
    {"-0.12", "-85", PLX_ERR_RANGE, ":11:3: the baseline is 85 m; expected 0.01 to 2 m; it looks like millimetres"},
};

static const struct mistake ros_mistakes[] = {
    {"image_width: 640\n", "", PLX_ERR_FORMAT, ":1:1: no key \"image_width\" here"},
    {"plumb_bob", "thin_prism", PLX_ERR_UNSUPPORTED, ":8:19: distortion model \"thin_prism\"; expected"},
    {"plumb_bob", "equidistant", PLX_ERR_FORMAT, ":10:3: distortion_coefficients has 5 coefficients; expected 4"},
    {"camera_matrix:", "camera:", PLX_ERR_FORMAT, ":1:1: not a ROS camera_info"},
    {"325.0, 0.0", "325.0, -60.0", PLX_ERR_RANGE, ":18:3: the fourth number of projection_matrix is -60; expected 0"},
    {"[500.0", "[0", PLX_ERR_RANGE, ":18:3: the focal length in projection_matrix is 0"},
    {"cols: 4", "cols: 3", PLX_ERR_FORMAT, ":18:3: projection_matrix is a 3 x 3 matrix; expected 3 x 4"},
};

/* Each of COUNT mistakes made in TEXT, which is the first file of PATH, is told with its place. */
static void assert_all_refused(const char *text, const struct mistake *mistake, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        write_text(&file, edited(text, mistake[i].find, mistake[i].replace));
        assert_refused(path, &file, mistake[i].error, mistake[i].sentence);
    }
}

static void each_mistake_has_its_place(void **state)
{
    (void)state;
    assert_all_refused(OPENCV_TEXT, opencv_mistakes, sizeof opencv_mistakes / sizeof *opencv_mistakes, file.path);
    assert_all_refused(KALIBR_TEXT, kalibr_mistakes, sizeof kalibr_mistakes / sizeof *kalibr_mistakes, file.path);
    write_text(&second, ROS_RIGHT_TEXT);
    assert_all_refused(ROS_LEFT_TEXT, ros_mistakes, sizeof ros_mistakes / sizeof *ros_mistakes, both);
    write_text(&file, ROS_LEFT_TEXT);
    write_text(&second, ROS_LEFT_TEXT); /* zero baseline */
    assert_refused(both, &second, PLX_ERR_RANGE, ":18:3: the fourth number of projection_matrix is 0; expected -fx * baseline");
}

static void other_files_are_no_calibrations(void **state)
{
    (void)state;
    static const unsigned char binary[] = {0x7F, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0xFF};
    write_text(&file, "");
    assert_refused(file.path, &file, PLX_ERR_FORMAT, ": not a calibration; expected an OpenCV stereo calibration");
    write_text(&file, "threads: 3\n");
    assert_refused(file.path, &file, PLX_ERR_FORMAT, ":1:1: not a calibration");
    write_text(&file, "P0: 7e+02 0 6e+02 0 0 7e+02 1e+02 0 0 0 1 0\nP1: 7e+02 0 6e+02 -3e+02 0 7e+02 1e+02 0 0 0 1 0\n");
    assert_refused(file.path, &file, PLX_ERR_UNSUPPORTED, ": is KITTI's calib.txt");
    write_text(&file, "[1, 2]\n");
    assert_refused(file.path, &file, PLX_ERR_FORMAT, ":1:1: not a calibration");
    write_text(&file, ROS_LEFT_TEXT);
    assert_refused(file.path, &file, PLX_ERR_FORMAT, ": is one ROS camera_info; expected two, separated by a comma");
    assert_int_equal(scratch_write(&file, binary, sizeof binary), 0);
    assert_refused(file.path, &file, PLX_ERR_FORMAT, ":1:1: control characters are not allowed");
    assert_int_equal(scratch_write(&file, OPENCV_TEXT, 700), 0);
    assert_refused(file.path, &file, PLX_ERR_FORMAT, ":");
    write_text(&second, ROS_RIGHT_TEXT);
    unlink(file.path);
    assert_refused(file.path, &file, PLX_ERR_NOT_FOUND, ": cannot be opened");
    assert_refused(both, &file, PLX_ERR_NOT_FOUND, ": cannot be opened");
}

/* Saved and read again, every number has the same bits. */
static void assert_survives(const struct plx_stereo_calibration *calibration)
{
    struct plx_stereo_calibration again;
    struct plx_error_message message = {""};
    assert_int_equal(plx_calibration_save(second.path, calibration, &message), 0);
    assert_read(second.path, &metres, &again);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_camera *a = &calibration->camera[eye], *b = &again.camera[eye];
        assert_int_equal(a->width, b->width);
        assert_int_equal(a->height, b->height);
        assert_int_equal(a->model, b->model);
        assert_near((const double[]){a->fx, a->fy, a->cx, a->cy}, (const double[]){b->fx, b->fy, b->cx, b->cy}, 4, 0);
        assert_near(a->k, b->k, 8, 0);
        assert_near(calibration->rectification[eye], again.rectification[eye], 9, 0);
        assert_near(calibration->projection[eye], again.projection[eye], 12, 0);
    }
    assert_near(calibration->rotation, again.rotation, 9, 0);
    assert_near(calibration->translation, again.translation, 3, 0);
    assert_int_equal(calibration->rectified_width, again.rectified_width);
    assert_int_equal(calibration->rectified_height, again.rectified_height);
    assert_true(again.rectified);
}

static void saving_loses_nothing(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    struct plx_error_message message = {""};
    write_text(&file, OPENCV_TEXT);
    assert_read(file.path, &metres, &calibration);
    assert_survives(&calibration);
    write_text(&file, edited(edited(KALIBR_TEXT, "radtan", "equidistant"), "radtan", "equidistant"));
    assert_read(file.path, &metres, &calibration);
    assert_survives(&calibration);
    const struct plx_calibration_info info = {
        .fx = 400, .fy = 401, .cx = 320.5, .cy = 200, .cx_right = 320.5, .baseline_m = 0.1};
    plx_calibration_pinhole(641, 400, &info, &calibration);
    assert_survives(&calibration);

    assert_int_equal(plx_calibration_save("/nowhere/c.yaml", &calibration, &message), PLX_ERR_NOT_FOUND);
    assert_string_equal(message.text, "/nowhere/c.yaml: cannot be written: No such file or directory");
    assert_int_equal(plx_calibration_save("/dev/full", &calibration, &message), PLX_ERR_IO);
    calibration.camera[PLX_RIGHT].width--;
    assert_int_equal(plx_calibration_save(second.path, &calibration, &message), PLX_ERR_UNSUPPORTED);
}

/* OpenCV's own file of the chessboard pairs; its T is in squares, here taken as 25 mm each. */
static void opencv_s_own_file(void **state)
{
    (void)state;
    static const char path[] = PLX_TEST_DATA "/chessboard/stereo_ref.yml";
    const struct plx_calibration_options options = {.scale = 0.025, .width = 640, .height = 480};
    struct plx_stereo_calibration calibration;
    if (access(path, R_OK) != 0) {
        print_message("skipped: no data at %s\n", path);
        skip();
    }
    assert_read(path, &options, &calibration);
    assert_true(calibration.rectified);
    assert_near(&calibration.camera[PLX_LEFT].fx, (const double[]){5.3573910953001734e+02}, 1, 0);
    assert_near(calibration.camera[PLX_RIGHT].k,
                (const double[8]){-2.8014778322996337e-01, 9.8540972283273950e-02, -4.1976803666695148e-04,
                                  1.0453466753738321e-03, -1.2093288064859353e-02},
                8, 0);
    struct plx_calibration_info info;
    plx_calibration_info(&calibration, &info);
    assert_near(&info.baseline_m, (const double[]){3.3381028 * 0.025}, 1, 1e-6);
    assert_survives(&calibration);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opencv_without_rectification),
        cmocka_unit_test(opencv_names_and_sizes),
        cmocka_unit_test(kalibr),
        cmocka_unit_test(ros),
        cmocka_unit_test(size_and_scale_from_outside),
        cmocka_unit_test(each_mistake_has_its_place),
        cmocka_unit_test(other_files_are_no_calibrations),
        cmocka_unit_test(saving_loses_nothing),
        cmocka_unit_test(opencv_s_own_file),
    };
    return cmocka_run_group_tests_name("calibration files", tests, setup, teardown);
}
