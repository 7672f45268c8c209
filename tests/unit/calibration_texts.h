/* SPDX-License-Identifier: Apache-2.0 */
/* One pair of cameras, 640 x 480, baseline about 0.12 m, in the three forms that people have. */
#ifndef PLX_TESTS_CALIBRATION_TEXTS_H
#define PLX_TESTS_CALIBRATION_TEXTS_H

/* cos and sin of 0.02 and of 0.01 to 17 digits */
#define C2 "0.99980000666657776"
#define S2 "0.019998666693333080"
#define C1 "0.99995000041666526"
#define S1 "0.0099998333341666645"

/* The right camera turned by 0.02 rad about y; no rectification. */
#define OPENCV_TEXT                                                                                                            \
    "%YAML:1.0\n"                                                                                                              \
    "---\n"                                                                                                                    \
    "calibration_time: \"Thu 01 Jan 2026 10:00:00\"\n"                                                                         \
    "image_width: 640\n"                                                                                                       \
    "image_height: 480\n"                                                                                                      \
    "M1: !!opencv-matrix\n"                                                                                                    \
    "   rows: 3\n"                                                                                                             \
    "   cols: 3\n"                                                                                                             \
    "   dt: d\n"                                                                                                               \
    "   data: [ 510., 0., 330., 0., 511., 235., 0., 0., 1. ]\n"                                                                \
    "D1: !!opencv-matrix\n"                                                                                                    \
    "   rows: 1\n"                                                                                                             \
    "   cols: 5\n"                                                                                                             \
    "   dt: d\n"                                                                                                               \
    "   data: [ -0.25, 0.08, 1.5e-03, -4e-04, 0.01 ]\n"                                                                        \
    "M2: !!opencv-matrix\n"                                                                                                    \
    "   rows: 3\n"                                                                                                             \
    "   cols: 3\n"                                                                                                             \
    "   dt: d\n"                                                                                                               \
    "   data: [ 512., 0., 322., 0., 513., 238., 0., 0., 1. ]\n"                                                                \
    "D2: !!opencv-matrix\n"                                                                                                    \
    "   rows: 5\n"                                                                                                             \
    "   cols: 1\n"                                                                                                             \
    "   dt: d\n"                                                                                                               \
    "   data: [ -0.24, 0.07, 1e-03, 2e-04, -0.02 ]\n"                                                                          \
    "R: !!opencv-matrix\n"                                                                                                     \
    "   rows: 3\n"                                                                                                             \
    "   cols: 3\n"                                                                                                             \
    "   dt: d\n"                                                                                                               \
    "   data: [ " C2 ", 0., " S2 ",\n"                                                                                         \
    "       0., 1., 0., -" S2 ", 0., " C2 " ]\n"                                                                               \
    "T: !!opencv-matrix\n"                                                                                                     \
    "   rows: 3\n"                                                                                                             \
    "   cols: 1\n"                                                                                                             \
    "   dt: d\n"                                                                                                               \
    "   data: [ -0.12, 0.001, 0.002 ]\n"

#define KALIBR_TEXT                                                                                                            \
    "cam0:\n"                                                                                                                  \
    "  cam_overlaps: [1]\n"                                                                                                    \
    "  camera_model: pinhole\n"                                                                                                \
    "  distortion_coeffs: [-0.25, 0.08, 1.5e-03, -4e-04]\n"                                                                    \
    "  distortion_model: radtan\n"                                                                                             \
    "  intrinsics: [510.0, 511.0, 330.0, 235.0]\n"                                                                             \
    "  resolution: [640, 480]\n"                                                                                               \
    "  rostopic: /cam0/image_raw\n"                                                                                            \
    "cam1:\n"                                                                                                                  \
    "  T_cn_cnm1:\n"                                                                                                           \
    "  - [" C2 ", 0.0, " S2 ", -0.12]\n"                                                                                       \
    "  - [0.0, 1.0, 0.0, 0.001]\n"                                                                                             \
    "  - [-" S2 ", 0.0, " C2 ", 0.002]\n"                                                                                      \
    "  - [0.0, 0.0, 0.0, 1.0]\n"                                                                                               \
    "  cam_overlaps: [0]\n"                                                                                                    \
    "  camera_model: pinhole\n"                                                                                                \
    "  distortion_coeffs: [-0.24, 0.07, 1e-03, 2e-04]\n"                                                                       \
    "  distortion_model: radtan\n"                                                                                             \
    "  intrinsics: [512.0, 513.0, 322.0, 238.0]\n"                                                                             \
    "  resolution: [640, 480]\n"                                                                                               \
    "  rostopic: /cam1/image_raw\n"

/* T_c1_c2 is the inverse of the pose of the right camera. */
#define ORBSLAM3_TEXT                                                                                                          \
    "%YAML:1.0\n"                                                                                                              \
    "File.version: \"1.0\"\n"                                                                                                  \
    "Camera.type: \"PinHole\"\n"                                                                                               \
    "Camera1.fx: 510.0\n"                                                                                                      \
    "Camera1.fy: 511.0\n"                                                                                                      \
    "Camera1.cx: 330.0\n"                                                                                                      \
    "Camera1.cy: 235.0\n"                                                                                                      \
    "Camera1.k1: -0.25\n"                                                                                                      \
    "Camera1.k2: 0.08\n"                                                                                                       \
    "Camera1.p1: 1.5e-03\n"                                                                                                    \
    "Camera1.p2: -4e-04\n"                                                                                                     \
    "Camera2.fx: 512.0\n"                                                                                                      \
    "Camera2.fy: 513.0\n"                                                                                                      \
    "Camera2.cx: 322.0\n"                                                                                                      \
    "Camera2.cy: 238.0\n"                                                                                                      \
    "Camera2.k1: -0.24\n"                                                                                                      \
    "Camera2.k2: 0.07\n"                                                                                                       \
    "Camera2.p1: 1e-03\n"                                                                                                      \
    "Camera2.p2: 2e-04\n"                                                                                                      \
    "Camera.width: 640\n"                                                                                                      \
    "Camera.height: 480\n"                                                                                                     \
    "Stereo.T_c1_c2: !!opencv-matrix\n"                                                                                        \
    "   rows: 4\n"                                                                                                             \
    "   cols: 4\n"                                                                                                             \
    "   dt: f\n"                                                                                                               \
    "   data: [ " C2 ", 0., -" S2 ", 0.120015998133,\n"                                                                        \
    "       0., 1., 0., -0.001, " S2 ", 0., " C2 ", 0.000400239989867, 0., 0., 0., 1. ]\n"

/* SIGN: of the rotation about y; TX: -fx * baseline; the pose of the right camera is then a turn of 0.02. */
#define ROS_TEXT(NAME, FX, SIGN_A, SIGN_B, TX)                                                                                 \
    "image_width: 640\n"                                                                                                       \
    "image_height: 480\n"                                                                                                      \
    "camera_name: " NAME "\n"                                                                                                  \
    "camera_matrix:\n"                                                                                                         \
    "  rows: 3\n"                                                                                                              \
    "  cols: 3\n"                                                                                                              \
    "  data: [" FX ", 0.0, 330.0, 0.0, 511.0, 235.0, 0.0, 0.0, 1.0]\n"                                                         \
    "distortion_model: plumb_bob\n"                                                                                            \
    "distortion_coefficients:\n"                                                                                               \
    "  rows: 1\n"                                                                                                              \
    "  cols: 5\n"                                                                                                              \
    "  data: [-0.25, 0.08, 0.0015, -0.0004, 0.0]\n"                                                                            \
    "rectification_matrix:\n"                                                                                                  \
    "  rows: 3\n"                                                                                                              \
    "  cols: 3\n"                                                                                                              \
    "  data: [" C1 ", 0.0, " SIGN_A S1 ", 0.0, 1.0, 0.0, " SIGN_B S1 ", 0.0, " C1 "]\n"                                        \
    "projection_matrix:\n"                                                                                                     \
    "  rows: 3\n"                                                                                                              \
    "  cols: 4\n"                                                                                                              \
    "  data: [500.0, 0.0, 325.0, " TX ", 0.0, 500.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0]\n"

#define ROS_LEFT_TEXT ROS_TEXT("left", "510.0", "", "-", "0.0")
#define ROS_RIGHT_TEXT ROS_TEXT("right", "512.0", "-", "", "-60.0")

#endif
