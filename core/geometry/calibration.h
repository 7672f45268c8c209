/* SPDX-License-Identifier: Apache-2.0 */
/* Camera models, rectification (computed where the file has none) and the maps made from them. All in double. */
#ifndef PLX_CORE_GEOMETRY_CALIBRATION_H
#define PLX_CORE_GEOMETRY_CALIBRATION_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/base/text.h"

enum plx_distortion {
    PLX_DISTORTION_NONE,
    PLX_DISTORTION_PLUMB_BOB,  /* k1 k2 p1 p2 k3 */
    PLX_DISTORTION_RATIONAL,   /* k1 k2 p1 p2 k3 k4 k5 k6 */
    PLX_DISTORTION_EQUIDISTANT /* k1 k2 k3 k4, Kannala-Brandt */
};

struct plx_camera {
    int width, height; /* raw image, pixels */
    double fx, fy, cx, cy;
    enum plx_distortion model;
    double k[8]; /* in the order above, unused ones 0 */
};

/* The camera models, from a ray (x, y, 1) to a pixel and back: Brown-Conrady with 5 or 8 coefficients (plumb_bob, rational) and
 * Kannala-Brandt with 4 (equidistant), as defined by OpenCV's calib3d. */

/* Pixel of the ray (x, y, 1). */
void plx_camera_project(const struct plx_camera *camera, double x, double y, double *ret_u, double *ret_v);

/* Ray (x, y, 1) of a pixel, by as many iterations as OpenCV makes (5 fixed-point, or up to 10 Newton steps). An equidistant
 * pixel 90 degrees or more off the axis has no such ray and gives 90 degrees. */
void plx_camera_unproject(const struct plx_camera *camera, double u, double v, double *ret_x, double *ret_y);

/* All zeros: there is none. */
struct plx_stereo_calibration {
    struct plx_camera camera[PLX_EYES];
    double rotation[9];                /* right camera against the left: x_right = R x_left + t; row-major */
    double translation[3];             /* metres */
    bool rectified;                    /* rectification and projection below came from the file */
    double rectification[PLX_EYES][9]; /* R1, R2 */
    double projection[PLX_EYES][12];   /* P1, P2; row-major 3x4 */
    int rectified_width, rectified_height;
    bool corrected; /* the pictures were recorded as a service corrected them: nothing is corrected again */
};

static inline bool plx_calibration_exists(const struct plx_stereo_calibration *calibration)
{
    return calibration->rectified_width > 0;
}

/* True if every number of A is that of B. */
bool plx_calibration_equals(const struct plx_stereo_calibration *a, const struct plx_stereo_calibration *b);

/* The baselines of stereo cameras that people mount on one body. Wider or narrower ones are a wrong unit. */
#define PLX_MIN_BASELINE_M 0.01
#define PLX_MAX_BASELINE_M 2.0

/* RANGE unless METRES lies between them. */
int plx_baseline_check(double metres, struct plx_error_message *message);

/* RANGE unless a projection as of ROS camera_info, fx 0 cx tx ..., has a focal length and tx of EYE: 0 of the left one,
 * -fx * baseline of the right one. The message does not name the projection. */
int plx_projection_check_shift(const double p[12], enum plx_eye eye, struct plx_error_message *message);

#define PLX_MAX_FOCAL_LENGTH 1e6    /* pixels */
#define PLX_ROTATION_TOLERANCE 1e-3 /* deviation in products of rows; files print as few as four digits */

/* Checks every number: finite, focal lengths 1..1e6 px, principal points inside, and then, where the rectification is there,
 * that it is orthonormal, shares focal length and rows, and has a baseline within the bounds above with the left camera on the
 * left; else the same of the pose. The other of the two is not looked at. RANGE, UNSUPPORTED, ARG. */
int plx_calibration_check(const struct plx_stereo_calibration *calibration, struct plx_error_message *message);

/* Fills rectification, projection and rectified size when the file holds only intrinsics and extrinsics: both views turned by
 * half the rotation, rows aligned with the baseline (Bouguet's method, as OpenCV stereoRectify with CALIB_ZERO_DISPARITY;
 * equidistant: as fisheye::stereoRectify with that balance). ALPHA 0: only valid pixels; 1: all source pixels kept. Does
 * nothing where the file had them. The rectified size is the raw one. RANGE, UNSUPPORTED, and what the check says of the
 * result; unchanged on failure. */
int plx_calibration_rectify(struct plx_stereo_calibration *calibration, double alpha, struct plx_error_message *message);

/* Fills rotation and translation from rectification and projection, for files that have only those. */
void plx_calibration_recover_pose(struct plx_stereo_calibration *calibration);

/* A calibration of already rectified images. */
void plx_calibration_pinhole(int width, int height, const struct plx_calibration_info *info,
                             struct plx_stereo_calibration *ret_calibration);

/* The published numbers of a rectified calibration. */
void plx_calibration_info(const struct plx_stereo_calibration *calibration, struct plx_calibration_info *ret_info);

/* True if rectifying EYE changes nothing: no distortion, identity rotation, same matrix. */
bool plx_calibration_is_identity(const struct plx_stereo_calibration *calibration, enum plx_eye eye);

/* By how many px a match at (X, Y) of the right image, in focal lengths FY, lies too low by the numbers of CORRECTION. */
double plx_correction_rows(const struct plx_correction *correction, double fy, double x, double y);

/* True if A and B correct rows alike. */
static inline bool plx_correction_same_rows(const struct plx_correction *a, const struct plx_correction *b)
{
    return a->pitch_rad == b->pitch_rad && a->roll_rad == b->roll_rad && a->bend_rad == b->bend_rad && a->scale == b->scale;
}

/* Beside recorded pictures: the correction that they show, from which on a replay corrects nothing. */
#define PLX_CORRECTED "corrected"
#define PLX_CORRECTED_TEXT 192

/* Number and numbers of the correction in force, for people: "2 pitch 0.001 roll 0 bend 0 rad scale 0 offset 0.1 px
 * curve 0 px" */
void plx_corrected_text(const struct plx_correction_info *corrections, char ret[PLX_CORRECTED_TEXT]);

/* A + FACTOR B, number by number: corrections are small enough to add. */
struct plx_correction plx_correction_add(const struct plx_correction *a, const struct plx_correction *b, float factor);

/* Fills MAP (its entries owned by the caller, rectified_width x rectified_height) for EYE; the numbers of OpenCV's
 * initUndistortRectifyMap (CV_32FC1) after convertMaps. CORRECTION moves the right image; NULL, or all zeros: none. Nowhere
 * (behind the camera, beyond 16 bits) is x = y = INT16_MIN. ARG where sizes differ or there is no rectification. */
int plx_remap_fill(const struct plx_stereo_calibration *calibration, enum plx_eye eye, const struct plx_correction *correction,
                   struct plx_remap *map);

#endif
