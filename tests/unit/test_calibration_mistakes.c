/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong calibration files: every mistake is refused with its place. */
#include <string.h>

#include "tests/unit/calibration_files.h"

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
    {"pinhole", "omni", PLX_ERR_UNSUPPORTED, ":3:17: camera model \"omni\"; expected pinhole; run Kalibr again with --models"},
    {"radtan", "fov", PLX_ERR_UNSUPPORTED, ":5:21: distortion model \"fov\"; expected"},
    {"511.0, 330.0", "330.0", PLX_ERR_FORMAT, ":6:15: intrinsics has 3 numbers; expected 4"},
    {"[510.0", "[-510.0", PLX_ERR_RANGE, ":6:15: the focal length fx in intrinsics is -510"},
    {"[640, 480]", "[640]", PLX_ERR_FORMAT, ":7:15: resolution is no size; expected [width, height]"},
    {"[640, 480]", "[640, 9000]", PLX_ERR_RANGE, ":7:21: this is 9000; expected a whole number from 1 to 8192"},
    {"T_cn_cnm1", "T_x", PLX_ERR_FORMAT, ":10:3: no key \"T_cn_cnm1\" here"},
    {"T_cn_cnm1", "T_cam_imu", PLX_ERR_FORMAT, ":2:3: no key \"T_cam_imu\" here"},
    {"T_cn_cnm1", "T_imu_cam", PLX_ERR_FORMAT, ":2:3: no key \"T_imu_cam\" here"},
    {"  - [0.0, 0.0, 0.0, 1.0]\n", "", PLX_ERR_FORMAT, ":11:3: T_cn_cnm1 is no 4 x 4 matrix"},
    {"[0.0, 0.0, 0.0, 1.0]", "[0.0, 0.0, 0.0]", PLX_ERR_FORMAT, ":14:5: this has 3 numbers; expected 4"},
    {"[0.0, 0.0, 0.0, 1.0]", "[0.0, 0.0, 1.0, 1.0]", PLX_ERR_RANGE, ":11:3: the last row of T_cn_cnm1"},
    {"[0.0, 1.0, 0.0, 0.001]", "[0.0, 2.0, 0.0, 0.001]", PLX_ERR_RANGE, ":11:3: T_cn_cnm1 is no rotation"},
    {"-0.12", "0.12", PLX_ERR_RANGE, ":11:3: cam1 is at x = -0.12 of cam0"},
    {"-0.12", "0", PLX_ERR_RANGE, ":11:3: cam1 is at x = -0 of cam0"},
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

static const struct mistake orbslam3_mistakes[] = {
    {"PinHole", "Rectified", PLX_ERR_UNSUPPORTED, ":3:14: an ORB-SLAM3 file for rectified pictures"},
    {"PinHole", "Fisheye", PLX_ERR_UNSUPPORTED, ":3:14: camera type \"Fisheye\"; expected PinHole or KannalaBrandt8"},
    {"PinHole", "KannalaBrandt8", PLX_ERR_FORMAT, ":2:1: no key \"Camera1.k3\" here"},
    {"Camera2.fy", "Camera2.f", PLX_ERR_FORMAT, ":2:1: no key \"Camera2.fy\" here"},
    {"Camera1.fx: 510.0", "Camera1.fx: -510", PLX_ERR_RANGE, ":4:13: the focal length fx in Camera1.fx is -510"},
    {"Camera1.k2: 0.08", "Camera1.k2: x", PLX_ERR_FORMAT, ":9:13: \"x\"; expected a finite number"},
    {"Camera.width: 640\n", "", PLX_ERR_FORMAT, ":2:1: no key \"Camera.width\" here"},
    {"rows: 4", "rows: 3", PLX_ERR_FORMAT, ":22:17: Stereo.T_c1_c2 is a 3 x 4 matrix; expected 4 x 4"},
    {"0., 1., 0.,", "0., 2., 0.,", PLX_ERR_RANGE, ":22:17: Stereo.T_c1_c2 is no rotation"},
    {"0.1200", "-0.1200", PLX_ERR_RANGE, ":22:17: Camera2 is at x = -0.12"},
    {"0.1200", "120.0", PLX_ERR_RANGE, ":22:17: the baseline is 120"},
};

/* Each of COUNT mistakes in TEXT, the first file of PATH, gives an error with its place. */
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
    assert_all_refused(ORBSLAM3_TEXT, orbslam3_mistakes, sizeof orbslam3_mistakes / sizeof *orbslam3_mistakes, file.path);
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

/* Kinds of files that hold a calibration, but not one that is read: the error names the kind and the way. */
static void foreign_files_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"<?xml version=\"1.0\"?>\n<opencv_storage>\n<M1 type_id=\"opencv-matrix\">\n", ": is XML, as OpenCV's FileStorage"},
        {"[LEFT_CAM_2K]\nfx=1066.7\nfy=1066.9\n", ": is a calibration of a ZED camera"},
        {"\xEF\xBB\xBF\r\n[STEREO]\r\nBaseline=120.0\r\n", ": is a calibration of a ZED camera"},
        {"%YAML:1.0\nimu: 1\ncam0_calib: \"left.yaml\"\n", ": is a configuration of VINS-Fusion; expected a Kalibr camchain"},
        {"%YAML:1.0\nmodel_type: PINHOLE\nprojection_parameters:\n   fx: 500\n", ": is one camera of VINS-Fusion"},
        {"%YAML:1.0\nrelative_config_imucam: \"kalibr_imucam_chain.yaml\"\n", ": is OpenVINS' estimator configuration"},
        {"%YAML:1.0\nCamera.fx: 718.8\nCamera.bf: 386.1\n", ": is an ORB-SLAM file for rectified pictures"},
        {"%YAML:1.0\nCamera.fx: 718.8\n", ": is an ORB-SLAM file of one camera"},
        {"%YAML:1.0\ncamera_matrix: 1\ndistortion_coefficients: 2\n", ": is the calibration of one camera by OpenCV"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(&file, cases[i].text);
        write_text(&second, cases[i].text);
        assert_refused(file.path, &file, PLX_ERR_UNSUPPORTED, cases[i].said);
        assert_refused(both, &file, PLX_ERR_UNSUPPORTED, cases[i].said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_place),
        cmocka_unit_test(other_files_are_no_calibrations),
        cmocka_unit_test(foreign_files_are_named),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
