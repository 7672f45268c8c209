/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration files: the same pair of cameras in three forms, and back to a file without loss. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "tests/unit/calibration_files.h"

static void assert_read(const char *path, const struct plx_calibration_options *options,
                        struct plx_stereo_calibration *ret_calibration)
{
    struct plx_error_message message = {""};
    if (plx_calibration_read(path, options, ret_calibration, &message) != 0)
        fail_msg("%s", message.text);
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

/* ROS itself does not ask for it. */
static void ros_without_distortion_model(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    write_text(&file, edited(ROS_LEFT_TEXT, "distortion_model: plumb_bob\n", ""));
    write_text(&second, ROS_RIGHT_TEXT);
    assert_read(both, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_PLUMB_BOB);
    assert_near(calibration.camera[PLX_LEFT].k, (const double[8]){-0.25, 0.08, 1.5e-3, -4e-4}, 8, 0);
}

/* As older tools wrote it; read as plumb_bob, the same four numbers give wrong depth. */
static void ros_with_a_camera_model(void **state)
{
    (void)state;
#define OF_FISHEYE                                                                                                             \
    "camera_model: fisheye\ndistortion_coefficients:\n  rows: 1\n  cols: 4\n  data: [-0.25, 0.08, 0.0015, -0.0004]\n"
#define OF_PLUMB_BOB                                                                                                           \
    "distortion_model: plumb_bob\ndistortion_coefficients:\n  rows: 1\n  cols: 5\n  data: [-0.25, 0.08, 0.0015, -0.0004, "     \
    "0.0]\n"
    struct plx_stereo_calibration calibration;
    write_text(&file, edited(ROS_LEFT_TEXT, OF_PLUMB_BOB, OF_FISHEYE));
    write_text(&second, edited(ROS_RIGHT_TEXT, OF_PLUMB_BOB, OF_FISHEYE));
    assert_read(both, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_EQUIDISTANT);
    assert_int_equal(calibration.camera[PLX_RIGHT].model, PLX_DISTORTION_EQUIDISTANT);
    assert_near(calibration.camera[PLX_LEFT].k, (const double[8]){-0.25, 0.08, 1.5e-3, -4e-4}, 8, 0);
    write_text(&file, edited(ROS_LEFT_TEXT, "distortion_model:", "camera_model: fisheye\ndistortion_model:"));
    assert_refused(both, &file, PLX_ERR_FORMAT, ":8:15: camera_model is not pinhole, and distortion_model is not equidistant");
    write_text(&file, edited(ROS_LEFT_TEXT, "distortion_model:", "camera_model: pinhole\ndistortion_model:"));
    write_text(&second, ROS_RIGHT_TEXT);
    assert_read(both, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_PLUMB_BOB);
}

/* OpenCV's samples write the cameras into one file and their pose into another; any order, and any first line. */
static void opencv_in_two_files(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    static char cameras[4096];
    const char *pose = strstr(OPENCV_TEXT, "R: ");
    memcpy(cameras, OPENCV_TEXT, (size_t)(pose - OPENCV_TEXT));
    write_text(&file, edited(cameras, "%YAML:1.0", "%YAML 1.2"));
    write_text(&second, pose);
    assert_read(both, &metres, &calibration);
    assert_rig(&calibration);
    assert_refused(file.path, &file, PLX_ERR_FORMAT, ":3:1: no key \"R\" here; expected R and T, or R1, R2, P1 and P2; if");
    assert_refused(second.path, &second, PLX_ERR_FORMAT, ": holds the pose of OpenCV's cameras, but not the cameras");
    write_text(&file, pose);
    write_text(&second, cameras);
    assert_read(both, &metres, &calibration);
    assert_rig(&calibration);
}

#define RECTIFICATION(R1, R2, P1, P2)                                                                                          \
    R1 ": {rows: 3, cols: 3, data: [" C1 ", 0, " S1 ", 0, 1, 0, -" S1 ", 0, " C1 "]}\n" R2 ": {rows: 3, cols: 3, data: [" C1   \
       ", 0, -" S1 ", 0, 1, 0, " S1 ", 0, " C1 "]}\n" P1                                                                       \
       ": {rows: 3, cols: 4, data: [500, 0, 325, 0, 0, 500, 240, 0, 0, 0, 1, 0]}\n" P2                                         \
       ": {rows: 3, cols: 4, data: [500, 0, 325, -60, 0, 500, 240, 0, 0, 0, 1, 0]}\n"

/* Without R and T, the pose is that of the rectification. ORB-SLAM2 writes the same under its own names. */
static void opencv_with_only_the_rectification(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    static char text[4096];
    const char *pose = strstr(OPENCV_TEXT, "R: ");
    snprintf(text, sizeof text, "%.*s%s", (int)(pose - OPENCV_TEXT), OPENCV_TEXT, RECTIFICATION("R1", "R2", "P1", "P2"));
    write_text(&file, text);
    for (int slam = 0; slam < 2; slam++) {
        assert_read(file.path, &metres, &calibration);
        assert_true(calibration.rectified);
        assert_int_equal(calibration.camera[PLX_RIGHT].width, 640);
        assert_near(&calibration.camera[PLX_RIGHT].fx, (const double[]){512}, 1, 0);
        assert_near(calibration.rotation, turn, 9, 1e-15);
        assert_near(calibration.translation, (const double[]){-0.12 * 0.99995000041666526, 0, 0.12 * 0.0099998333341666645}, 3,
                    1e-15);
        write_text(&file,
                   "%YAML:1.0\n"
                   "Camera.fx: 500.0\nCamera.bf: 60.0\nLEFT.width: 640\nLEFT.height: 480\n"
                   "LEFT.D: {rows: 1, cols: 5, data: [-0.25, 0.08, 1.5e-03, -4e-04, 0.01]}\n"
                   "LEFT.K: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data:[510, 0, 330, 0, 511, 235, 0, 0, 1]\n"
                   "RIGHT.width: 640\nRIGHT.height: 480\n"
                   "RIGHT.D: {rows: 1, cols: 5, data: [-0.24, 0.07, 1e-03, 2e-04, -0.02]}\n"
                   "RIGHT.K: {rows: 3, cols: 3, data: [512, 0, 322, 0, 513, 238, 0, 0, 1]}\n" RECTIFICATION(
                       "LEFT.R", "RIGHT.R", "LEFT.P", "RIGHT.P"));
    }
}

/* The poses of both cameras against the IMU: here both are turned and moved, the right one by T_cn_cnm1 more. */
static void kalibr_with_an_imu(void **state)
{
    (void)state;
    static const char t_cn_cnm1[] = "  T_cn_cnm1:\n"
                                    "  - [" C2 ", 0.0, " S2 ", -0.12]\n"
                                    "  - [0.0, 1.0, 0.0, 0.001]\n"
                                    "  - [-" S2 ", 0.0, " C2 ", 0.002]\n";
    /* T_cam_imu: the left camera looks along the IMU's x; the right one is T_cn_cnm1 times that. */
    static const char left[] = "cam0:\n  T_cam_imu:\n  - [0, -1, 0, 0.03]\n  - [0, 0, -1, 0.02]\n  - [1, 0, 0, 0.01]\n"
                               "  - [0, 0, 0, 1]\n";
    static const char right[] = "  T_cam_imu:\n"
                                "  - [" S2 ", -" C2 ", 0, -0.089806013] # 0.03 C2 + 0.01 S2 - 0.12\n"
                                "  - [0, 0, -1, 0.021]\n"
                                "  - [" C2 ", " S2 ", 0, 0.011398040]\n";
    struct plx_stereo_calibration calibration;
    write_text(&file, edited(edited(KALIBR_TEXT, "cam0:\n", left), t_cn_cnm1, right));
    assert_read(file.path, &metres, &calibration);
    assert_near(calibration.rotation, turn, 9, 1e-15);
    assert_near(calibration.translation, (const double[]){-0.12, 0.001, 0.002}, 3, 1e-8);

    /* T_imu_cam of OpenVINS: both from the cameras */
    write_text(&file, edited(edited(KALIBR_TEXT, "cam0:\n",
                                    "cam0:\n  T_imu_cam:\n  - [0, 0, 1, -0.01]\n  - [-1, 0, 0, 0.03]\n  - [0, -1, 0, 0.02]\n"
                                    "  - [0, 0, 0, 1]\n"),
                             t_cn_cnm1,
                             "  T_imu_cam:\n"
                             "  - [0, 0, 1, -0.01]\n"
                             "  - [-1, 0, 0, -0.09]\n"
                             "  - [0, -1, 0, 0.02]\n"));
    assert_read(file.path, &metres, &calibration);
    assert_near(calibration.rotation, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9, 1e-15);
    assert_near(calibration.translation, (const double[]){-0.12, 0, 0}, 3, 1e-15);
}

/* Its pose is the inverse of T_cn_cnm1: R' and -R' t. */
static void orbslam3(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    write_text(&file, ORBSLAM3_TEXT);
    assert_read(file.path, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_RIGHT].height, 480);
    assert_int_equal(calibration.camera[PLX_LEFT].model, PLX_DISTORTION_PLUMB_BOB);
    assert_near(&calibration.camera[PLX_LEFT].fx, (const double[]){510, 511, 330, 235}, 4, 0);
    assert_near(calibration.camera[PLX_RIGHT].k, (const double[8]){-0.24, 0.07, 1e-3, 2e-4}, 8, 0);
    assert_near(calibration.rotation, turn, 9, 1e-15);
    assert_near(calibration.translation, (const double[]){-0.12, 0.001, 0.002}, 3, 1e-9);
    write_text(&file,
               edited(edited(edited(edited(edited(ORBSLAM3_TEXT, "PinHole", "KannalaBrandt8"), "1.p1", "1.k3"), "1.p2", "1.k4"),
                             "2.p1", "2.k3"),
                      "2.p2", "2.k4"));
    assert_read(file.path, &metres, &calibration);
    assert_int_equal(calibration.camera[PLX_RIGHT].model, PLX_DISTORTION_EQUIDISTANT);
    assert_near(calibration.camera[PLX_LEFT].k, (const double[8]){-0.25, 0.08, 1.5e-3, -4e-4}, 8, 0);
}

/* A file whose whole name is there wins; between two files, the comma with a file on both sides. */
static void commas_in_names(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    struct scratch one, left, right;
    char pair[300];
    assert_int_equal(scratch_begin(&one, "front,rear.yaml"), 0);
    assert_int_equal(scratch_begin(&left, "front,left.yaml"), 0);
    assert_int_equal(scratch_begin(&right, "front,right.yaml"), 0);
    write_text(&one, OPENCV_TEXT);
    assert_read(one.path, &metres, &calibration);
    assert_rig(&calibration);
    write_text(&left, ROS_LEFT_TEXT);
    write_text(&right, ROS_RIGHT_TEXT);
    snprintf(pair, sizeof pair, "%s,%s", left.path, right.path);
    assert_read(pair, &metres, &calibration);
    scratch_end(&right);
    scratch_end(&left);
    scratch_end(&one);
}

/* The body's y is the cameras' x; the right one is 0.11 m to the right. */
#define EUROC_TEXT(x)                                                                                                          \
    "# General sensor definitions.\nsensor_type: camera\nT_BS:\n  cols: 4\n  rows: 4\n"                                        \
    "  data: [0.0, -1.0, 0.0, 0.3,\n         1.0, 0.0, 0.0, " x                                                                \
    ",\n         0.0, 0.0, 1.0, 0.2,\n         0.0, 0.0, 0.0, 1.0]\n"                                                          \
    "rate_hz: 20\nresolution: [752, 480]\ncamera_model: pinhole\nintrinsics: [458.6, 457.3, 367.2, 248.4]\n"                   \
    "distortion_model: radial-tangential\ndistortion_coefficients: [-0.28, 0.07, 0.0002, 0.00001]\n"

static void euroc(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    struct plx_error_message message;
    char folder[] = "/tmp/plx-euroc-XXXXXX", path[PLX_EYES][64];
    assert_non_null(mkdtemp(folder));
    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(path[eye], sizeof path[eye], "%s/cam%d", folder, eye);
        assert_int_equal(mkdir(path[eye], 0700), 0);
    }
    assert_int_equal(plx_calibration_read_beside(folder, &metres, &calibration, &message), PLX_ERR_NOT_FOUND);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(path[eye], sizeof path[eye], "%s/cam%d/sensor.yaml", folder, eye);
        FILE *sensor = fopen(path[eye], "w");
        fputs(eye == PLX_LEFT ? EUROC_TEXT("0.05") : EUROC_TEXT("0.16"), sensor);
        fclose(sensor);
    }
    if (plx_calibration_read_beside(folder, &metres, &calibration, &message) < 0)
        fail_msg("%s", message.text);
    assert_near(calibration.translation, (const double[]){-0.11, 0, 0}, 3, 1e-12);
    assert_near(calibration.rotation, (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9, 1e-12);
    assert_near(calibration.camera[PLX_RIGHT].k, (const double[]){-0.28, 0.07, 0.0002, 0.00001}, 4, 0);
    assert_true(calibration.camera[PLX_LEFT].width == 752 && calibration.camera[PLX_LEFT].fy == 457.3);
    assert_true(plx_calibration_read(path[PLX_LEFT], &metres, &calibration, &message) == PLX_ERR_FORMAT &&
                strstr(message.text, "is one camera of EuRoC; expected two files"));
    for (int eye = 0; eye < PLX_EYES; eye++) {
        unlink(path[eye]);
        *strrchr(path[eye], '/') = '\0';
        rmdir(path[eye]);
    }
    rmdir(folder);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    write_text(&file, edited(OPENCV_TEXT, "%YAML", "\xEF\xBB\xBF%YAML"));
    assert_read(file.path, &metres, &calibration);
    assert_rig(&calibration);
}

/* The two files of OpenCV's sample, as OpenCV 5 writes them. */
static void opencv_s_own_two_files(void **state)
{
    (void)state;
    static const char folder[] = PLX_TEST_DATA "/../cases/calibration", name[] = "intrinsics.yml";
    const struct plx_calibration_options options = {.scale = 1, .width = 320, .height = 240};
    struct plx_stereo_calibration calibration;
    char pair[2 * sizeof folder + 64];
    snprintf(pair, sizeof pair, "%s/%s", folder, name);
    if (access(pair, R_OK) != 0) {
        print_message("skipped: no data at %s\n", pair);
        skip();
    }
    snprintf(pair, sizeof pair, "%s/%s,%s/extrinsics.yml", folder, name, folder);
    assert_read(pair, &options, &calibration);
    assert_near(calibration.translation, (const double[]){-0.12, 0.0005, 0.0002}, 3, 1e-12);
    assert_near(&calibration.camera[PLX_LEFT].fx, (const double[]){300}, 1, 0);
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
        cmocka_unit_test(ros_without_distortion_model),
        cmocka_unit_test(ros_with_a_camera_model),
        cmocka_unit_test(opencv_in_two_files),
        cmocka_unit_test(opencv_with_only_the_rectification),
        cmocka_unit_test(kalibr_with_an_imu),
        cmocka_unit_test(orbslam3),
        cmocka_unit_test(commas_in_names),
        cmocka_unit_test(euroc),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(opencv_s_own_two_files),
        cmocka_unit_test(size_and_scale_from_outside),
        cmocka_unit_test(saving_loses_nothing),
        cmocka_unit_test(opencv_s_own_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
