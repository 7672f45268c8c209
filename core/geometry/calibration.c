/* SPDX-License-Identifier: Apache-2.0 */
#include "core/geometry/calibration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "core/geometry/matrix3.h"
#include "core/geometry/stereo.h"

#define ROW_TOLERANCE 1e-6 /* relative difference of numbers that must be the same in both projections */

static const char *const eye_name[PLX_EYES] = {"left", "right"};

static bool all_finite(const double *value, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(value[i]))
            return false;
    return true;
}

static bool size_ok(int width, int height)
{
    return width >= 1 && width <= PLX_MAX_SIDE && height >= 1 && height <= PLX_MAX_SIDE;
}

static int check_camera(const struct plx_camera *camera, const char *name, struct plx_error_message *message)
{
    if (!size_ok(camera->width, camera->height))
        return plx_fail(message, PLX_ERR_RANGE, "%s camera: image size %dx%d, expected 1..%d pixels per side", name,
                        camera->width, camera->height, PLX_MAX_SIDE);
    if (!(camera->fx >= 1 && camera->fx <= PLX_MAX_FOCAL_LENGTH && camera->fy >= 1 && camera->fy <= PLX_MAX_FOCAL_LENGTH))
        return plx_fail(message, PLX_ERR_RANGE, "%s camera: focal length %g, %g, expected 1..%g pixels", name, camera->fx,
                        camera->fy, PLX_MAX_FOCAL_LENGTH);
    if (!(camera->cx >= 0 && camera->cx <= camera->width && camera->cy >= 0 && camera->cy <= camera->height))
        return plx_fail(message, PLX_ERR_RANGE, "%s camera: principal point %g, %g lies outside the image of %dx%d pixels",
                        name, camera->cx, camera->cy, camera->width, camera->height);
    if ((unsigned)camera->model > PLX_DISTORTION_EQUIDISTANT)
        return plx_fail(message, PLX_ERR_ARG, "%s camera: distortion model %d is unknown", name, (int)camera->model);
    if (!all_finite(camera->k, 8))
        return plx_fail(message, PLX_ERR_RANGE, "%s camera: a distortion coefficient is not finite", name);
    return 0;
}

int plx_baseline_check(double metres, struct plx_error_message *message)
{
    if (metres >= PLX_MIN_BASELINE_M && metres <= PLX_MAX_BASELINE_M)
        return 0;
    const bool is_in_mm = metres / 1000 >= PLX_MIN_BASELINE_M && metres / 1000 <= PLX_MAX_BASELINE_M;
    return plx_fail(message, PLX_ERR_RANGE, "the baseline is %g m; expected %g to %g m%s", metres, PLX_MIN_BASELINE_M,
                    PLX_MAX_BASELINE_M, is_in_mm ? "; is it in millimetres?" : "");
}

/* Checks the pose of the right camera against the left one. */
static int check_pose(const struct plx_stereo_calibration *calibration, struct plx_error_message *message)
{
    const struct plx_camera *left = &calibration->camera[PLX_LEFT], *right = &calibration->camera[PLX_RIGHT];
    const double *t = calibration->translation, *r = calibration->rotation;
    if (left->width != right->width || left->height != right->height)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "left and right images have different sizes, %dx%d and %dx%d",
                        left->width, left->height, right->width, right->height);
    if ((left->model == PLX_DISTORTION_EQUIDISTANT) != (right->model == PLX_DISTORTION_EQUIDISTANT))
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "one camera is equidistant and the other is not; calibrate both with the same model");
    if (!plx_mat3_is_rotation(r, PLX_ROTATION_TOLERANCE))
        return plx_fail(message, PLX_ERR_RANGE, "the rotation between the cameras is not an orthonormal matrix");
    if (r[0] + r[4] + r[8] < 2) /* trace = 1 + 2 cos(angle) */
        return plx_fail(message, PLX_ERR_RANGE, "the cameras are turned against each other by more than 60 degrees");
    int result = plx_baseline_check(plx_vec3_length(t), message);
    if (result < 0)
        return result;
    if (!(fabs(t[0]) > fabs(t[1]) && fabs(t[0]) > fabs(t[2])))
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "the baseline %g, %g, %g is not along x: the cameras do not stand side by side", t[0], t[1], t[2]);
    if (t[0] > 0)
        return plx_fail(message, PLX_ERR_RANGE, "the right camera lies %g m to the left of the left one: swap the two", t[0]);
    return 0;
}

static bool same(double a, double b)
{
    return fabs(a - b) <= ROW_TOLERANCE * (fabs(a) + 1);
}

static int check_projection(const double p[12], const char *name, struct plx_error_message *message)
{
    if (!all_finite(p, 12) || !(p[0] >= 1 && p[0] <= PLX_MAX_FOCAL_LENGTH && p[5] >= 1 && p[5] <= PLX_MAX_FOCAL_LENGTH))
        return plx_fail(message, PLX_ERR_RANGE,
                        "%s camera: rectified focal length %g, %g, expected 1..%g pixels; the distortion may be too strong for "
                        "a flat picture",
                        name, p[0], p[5], PLX_MAX_FOCAL_LENGTH);
    if (p[1] != 0 || p[4] != 0 || p[7] != 0 || p[8] != 0 || p[9] != 0 || p[10] != 1 || p[11] != 0)
        return plx_fail(message, PLX_ERR_RANGE, "%s camera: the projection is not of the form fx 0 cx tx, 0 fy cy 0, 0 0 1 0",
                        name);
    if (fabs(p[2]) > PLX_MAX_SIDE || fabs(p[6]) > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "%s camera: rectified principal point %g, %g is far outside the image", name,
                        p[2], p[6]);
    return 0;
}

int plx_projection_check_shift(const double p[12], enum plx_eye eye, struct plx_error_message *message)
{
    if (!(p[0] > 0))
        return plx_fail(message, PLX_ERR_RANGE, "the focal length is %g; expected more than 0", p[0]);
    if (eye == PLX_LEFT ? p[3] != 0 : !(p[3] < 0))
        return plx_fail(message, PLX_ERR_RANGE, "the fourth number is %g; expected %s; are left and right swapped?", p[3],
                        eye == PLX_LEFT ? "0 for the left camera" : "-fx * baseline, below 0, for the right camera");
    return eye == PLX_LEFT ? 0 : plx_baseline_check(-p[3] / p[0], message);
}

static int check_rectification(const struct plx_stereo_calibration *calibration, struct plx_error_message *message)
{
    const double *left = calibration->projection[PLX_LEFT], *right = calibration->projection[PLX_RIGHT];
    if (!size_ok(calibration->rectified_width, calibration->rectified_height))
        return plx_fail(message, PLX_ERR_RANGE, "rectified size %dx%d, expected 1..%d pixels per side",
                        calibration->rectified_width, calibration->rectified_height, PLX_MAX_SIDE);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        if (!plx_mat3_is_rotation(calibration->rectification[eye], PLX_ROTATION_TOLERANCE))
            return plx_fail(message, PLX_ERR_RANGE, "%s camera: the rectification is not an orthonormal matrix", eye_name[eye]);
        int result = check_projection(calibration->projection[eye], eye_name[eye], message);
        if (result < 0)
            return result;
    }
    if (!same(left[0], right[0]) || !same(left[5], right[5]) || !same(left[6], right[6]))
        return plx_fail(message, PLX_ERR_RANGE,
                        "the rectified pictures do not share focal length and rows: fx %g and %g, fy %g and %g, cy %g and %g",
                        left[0], right[0], left[5], right[5], left[6], right[6]);
    const double baseline = (left[3] - right[3]) / right[0];
    if (baseline < 0)
        return plx_fail(message, PLX_ERR_RANGE, "the rectified baseline is %g m, below 0: left and right are swapped",
                        baseline);
    return plx_baseline_check(baseline, message);
}

static bool are_same(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return false;
    return true;
}
#define ARE_SAME(a, b) are_same(a, b, sizeof(a) / sizeof *(a))

static bool camera_equals(const struct plx_camera *a, const struct plx_camera *b)
{
    return a->width == b->width && a->height == b->height && a->fx == b->fx && a->fy == b->fy && a->cx == b->cx &&
           a->cy == b->cy && a->model == b->model && ARE_SAME(a->k, b->k);
}

bool plx_calibration_equals(const struct plx_stereo_calibration *a, const struct plx_stereo_calibration *b)
{
    for (int eye = 0; eye < PLX_EYES; eye++)
        if (!camera_equals(&a->camera[eye], &b->camera[eye]) || !ARE_SAME(a->rectification[eye], b->rectification[eye]) ||
            !ARE_SAME(a->projection[eye], b->projection[eye]))
            return false;
    return ARE_SAME(a->rotation, b->rotation) && ARE_SAME(a->translation, b->translation) && a->rectified == b->rectified &&
           a->rectified_width == b->rectified_width && a->rectified_height == b->rectified_height;
}

int plx_calibration_check(const struct plx_stereo_calibration *calibration, struct plx_error_message *message)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        int result = check_camera(&calibration->camera[eye], eye_name[eye], message);
        if (result < 0)
            return result;
    }
    return calibration->rectified ? check_rectification(calibration, message) : check_pose(calibration, message);
}

/* x_right = R2' (R1 x_left + (b, 0, 0)). */
void plx_calibration_recover_pose(struct plx_stereo_calibration *calibration)
{
    const double *r1 = calibration->rectification[PLX_LEFT], *r2 = calibration->rectification[PLX_RIGHT];
    const double b = calibration->projection[PLX_RIGHT][3] / calibration->projection[PLX_RIGHT][0];
    double back[9];
    plx_mat3_transpose(r2, back);
    plx_mat3_multiply(back, r1, calibration->rotation);
    for (int i = 0; i < 3; i++)
        calibration->translation[i] = r2[i] * b;
}

void plx_calibration_pinhole(int width, int height, const struct plx_calibration_info *info,
                             struct plx_stereo_calibration *ret_calibration)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    struct plx_stereo_calibration made = {
        .translation = {-info->baseline_m, 0, 0}, .rectified = true, .rectified_width = width, .rectified_height = height};
    memcpy(made.rotation, identity, sizeof identity);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        double cx = eye == PLX_LEFT ? info->cx : info->cx_right;
        double shift = eye == PLX_LEFT ? 0 : -plx_focal_baseline(info);
        double projection[12] = {info->fx, 0, cx, shift, 0, info->fy, info->cy, 0, 0, 0, 1, 0};
        made.camera[eye] = (struct plx_camera){width, height, info->fx, info->fy, cx, info->cy, PLX_DISTORTION_NONE, {0}};
        memcpy(made.rectification[eye], identity, sizeof identity);
        memcpy(made.projection[eye], projection, sizeof projection);
    }
    *ret_calibration = made;
}

void plx_calibration_info(const struct plx_stereo_calibration *calibration, struct plx_calibration_info *ret_info)
{
    const double *left = calibration->projection[PLX_LEFT], *right = calibration->projection[PLX_RIGHT];
    *ret_info = (struct plx_calibration_info){
        .fx = left[0],
        .fy = left[5],
        .cx = left[2],
        .cy = left[6],
        .cx_right = right[2],
        .baseline_m = (left[3] - right[3]) / right[0],
    };
}

bool plx_calibration_is_identity(const struct plx_stereo_calibration *calibration, enum plx_eye eye)
{
    const struct plx_camera *camera = &calibration->camera[eye];
    const double *r = calibration->rectification[eye], *p = calibration->projection[eye];
    bool straight = camera->model == PLX_DISTORTION_NONE || camera->model == PLX_DISTORTION_PLUMB_BOB ||
                    camera->model == PLX_DISTORTION_RATIONAL;
    for (int i = 0; i < 8; i++)
        straight = straight && camera->k[i] == 0;
    for (int i = 0; i < 9; i++)
        straight = straight && r[i] == (i % 4 == 0);
    return straight && p[0] == camera->fx && p[5] == camera->fy && p[2] == camera->cx && p[6] == camera->cy &&
           calibration->rectified_width == camera->width && calibration->rectified_height == camera->height;
}
