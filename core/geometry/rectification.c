/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rectification by Bouguet's method: each camera is turned by half of the rotation between them, then both by the smallest
 * rotation that lays the rows along the baseline. Focal length and principal point are chosen as OpenCV does: stereoRectify
 * with CALIB_ZERO_DISPARITY for Brown-Conrady cameras, as of 4.6, and fisheye::stereoRectify for equidistant ones, as of 4.7.
 * Intermediate results are rounded to float where OpenCV does it, to give the same numbers.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "core/geometry/calibration.h"
#include "core/geometry/matrix3.h"
#include "core/geometry/row_numbers.h"

#define GRID 9 /* points per side that sample the image's outline */

/* Pinhole of the new pictures: one focal length and one principal point for both. */
struct pinhole {
    double f, cx, cy;
};

/* Fills both rectification matrices; *ret_shift is the x of the right camera's translation after it. */
static void align_rows(struct plx_stereo_calibration *calibration, double *ret_shift)
{
    double rotation[9], vector[3], half[9], half_back[9], t[3], align[9];
    plx_mat3_orthonormalize(calibration->rotation, rotation);
    plx_mat3_to_vector(rotation, vector);
    for (int i = 0; i < 3; i++)
        vector[i] *= -0.5;
    plx_mat3_from_vector(vector, half);
    plx_mat3_transpose(half, half_back);
    plx_mat3_apply(half, calibration->translation, t);

    /* about t x (+-1, 0, 0), by the angle between t and the x axis */
    double side = t[0] > 0 ? 1 : -1, off_axis = hypot(t[1], t[2]);
    double turn = off_axis > 0 ? side * atan2(off_axis, fabs(t[0])) / off_axis : 0;
    plx_mat3_from_vector((const double[3]){0, t[2] * turn, -t[1] * turn}, align);
    plx_mat3_multiply(align, half_back, calibration->rectification[PLX_LEFT]);
    plx_mat3_multiply(align, half, calibration->rectification[PLX_RIGHT]);
    plx_mat3_apply(calibration->rectification[PLX_RIGHT], calibration->translation, t);
    *ret_shift = t[0];
}

/* Where the raw pixel (u, v) lies in a rectified image of focal length 1 and principal point 0. */
static void rectify_point(const struct plx_stereo_calibration *calibration, int eye, double u, double v, double *ret_x,
                          double *ret_y)
{
    double ray[3] = {0, 0, 1}, turned[3];
    plx_camera_unproject(&calibration->camera[eye], u, v, &ray[0], &ray[1]);
    plx_mat3_apply(calibration->rectification[eye], ray, turned);
    *ret_x = turned[0] / turned[2];
    *ret_y = turned[1] / turned[2];
}

/* Mean of the four corners of the image of EYE at focal length F. */
static void corner_mean(const struct plx_stereo_calibration *calibration, int eye, double f, double *ret_x, double *ret_y)
{
    const struct plx_camera *camera = &calibration->camera[eye];
    double sum_x = 0, sum_y = 0;
    for (int corner = 0; corner < 4; corner++) {
        int right = corner % 2, bottom = corner / 2;
        double ray[3] = {0, 0, 1}, turned[3];
        plx_camera_unproject(camera, right * (camera->width - 1), bottom * (camera->height - 1), &ray[0], &ray[1]);
        ray[0] = (float)ray[0];
        ray[1] = (float)ray[1];
        plx_mat3_apply(calibration->rectification[eye], ray, turned);
        sum_x += (float)(f * turned[0] / turned[2]);
        sum_y += (float)(f * turned[1] / turned[2]);
    }
    *ret_x = sum_x / 4;
    *ret_y = sum_y / 4;
}

struct rectangle {
    double left, right, top, bottom;
};

/* Largest upright rectangle inside the rectified outline of EYE's image, and the smallest around it. */
static void outline(const struct plx_stereo_calibration *calibration, int eye, const struct pinhole *pinhole,
                    struct rectangle *ret_inner, struct rectangle *ret_outer)
{
    const struct plx_camera *camera = &calibration->camera[eye];
    struct rectangle inner = {-FLT_MAX, FLT_MAX, -FLT_MAX, FLT_MAX}, outer = {FLT_MAX, -FLT_MAX, FLT_MAX, -FLT_MAX};
    for (int i = 0; i < GRID * GRID; i++) {
        int column = i % GRID, row = i / GRID;
        double x, y;
        rectify_point(calibration, eye, (float)(column * camera->width) / (GRID - 1),
                      (float)(row * camera->height) / (GRID - 1), &x, &y);
        x = (float)(pinhole->f * x + pinhole->cx);
        y = (float)(pinhole->f * y + pinhole->cy);
        outer.left = fmin(outer.left, x);
        outer.right = fmax(outer.right, x);
        outer.top = fmin(outer.top, y);
        outer.bottom = fmax(outer.bottom, y);
        if (column == 0)
            inner.left = fmax(inner.left, x);
        if (column == GRID - 1)
            inner.right = fmin(inner.right, x);
        if (row == 0)
            inner.top = fmax(inner.top, y);
        if (row == GRID - 1)
            inner.bottom = fmin(inner.bottom, y);
    }
    *ret_inner = inner;
    *ret_outer = outer;
}

/* The four enlargements about the principal point at which a side of R meets the side of the image. */
static void side_scales(const struct pinhole *pinhole, int width, int height, const struct rectangle *r, double ret[4])
{
    ret[0] = pinhole->cx / (pinhole->cx - r->left);
    ret[1] = pinhole->cy / (pinhole->cy - r->top);
    ret[2] = (width - pinhole->cx) / (r->right - pinhole->cx);
    ret[3] = (height - pinhole->cy) / (r->bottom - pinhole->cy);
}

/* Brown-Conrady cameras: vertical focal lengths averaged, principal point such that the corners are centred, then enlarged
 * between "only valid pixels" (alpha 0) and "every raw pixel" (alpha 1). */
static void choose_brown(const struct plx_stereo_calibration *calibration, double alpha, struct pinhole *ret_pinhole)
{
    const struct plx_camera *camera = calibration->camera;
    int width = camera[PLX_LEFT].width, height = camera[PLX_LEFT].height;
    struct pinhole pinhole = {(camera[PLX_LEFT].fy + camera[PLX_RIGHT].fy) * 0.5, 0, 0};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        double x, y;
        corner_mean(calibration, eye, pinhole.f, &x, &y);
        pinhole.cx += ((width - 1) * 0.5 - x) * 0.5;
        pinhole.cy += ((height - 1) * 0.5 - y) * 0.5;
    }

    double enlarge_inner = 0, enlarge_outer = DBL_MAX;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct rectangle inner, outer;
        double from_inner[4], from_outer[4];
        outline(calibration, eye, &pinhole, &inner, &outer);
        side_scales(&pinhole, width, height, &inner, from_inner);
        side_scales(&pinhole, width, height, &outer, from_outer);
        for (int side = 0; side < 4; side++) {
            enlarge_inner = fmax(enlarge_inner, from_inner[side]);
            enlarge_outer = fmin(enlarge_outer, from_outer[side]);
        }
    }
    pinhole.f *= enlarge_inner * (1 - alpha) + enlarge_outer * alpha;
    *ret_pinhole = pinhole;
}

/* One equidistant camera: the middles of the four sides decide. */
static struct pinhole choose_equidistant_eye(const struct plx_stereo_calibration *calibration, int eye, double alpha)
{
    const struct plx_camera *camera = &calibration->camera[eye];
    int width = camera->width, height = camera->height;
    const int middle[4][2] = {{width / 2, 0}, {width, height / 2}, {width / 2, height}, {0, height / 2}};
    double aspect = camera->fx / camera->fy, mean_x = 0, mean_y = 0;
    struct rectangle box = {DBL_MAX, -DBL_MAX, DBL_MAX, -DBL_MAX};
    for (int i = 0; i < 4; i++) {
        double x, y;
        rectify_point(calibration, eye, middle[i][0], middle[i][1], &x, &y);
        y *= aspect;
        mean_x += x / 4;
        mean_y += y / 4;
        box = (struct rectangle){fmin(box.left, x), fmax(box.right, x), fmin(box.top, y), fmax(box.bottom, y)};
    }
    const double f[4] = {width * 0.5 / (mean_x - box.left), width * 0.5 / (box.right - mean_x),
                         height * 0.5 * aspect / (mean_y - box.top), height * 0.5 * aspect / (box.bottom - mean_y)};
    double all = fmin(fmin(f[0], f[1]), fmin(f[2], f[3])), valid = fmax(fmax(f[0], f[1]), fmax(f[2], f[3]));
    double chosen = alpha * all + (1 - alpha) * valid;
    return (struct pinhole){chosen / aspect, width * 0.5 - mean_x * chosen, (height * aspect * 0.5 - mean_y * chosen) / aspect};
}

static void choose_equidistant(const struct plx_stereo_calibration *calibration, double alpha, struct pinhole *ret_pinhole)
{
    struct pinhole left = choose_equidistant_eye(calibration, PLX_LEFT, alpha);
    struct pinhole right = choose_equidistant_eye(calibration, PLX_RIGHT, alpha);
    *ret_pinhole = (struct pinhole){fmin(left.f, right.f), (left.cx + right.cx) * 0.5, (left.cy + right.cy) * 0.5};
}

int plx_calibration_rectify(struct plx_stereo_calibration *calibration, double alpha, struct plx_error_message *message)
{
    int result = plx_calibration_check(calibration, message);
    if (result < 0 || calibration->rectified)
        return result;
    if (!(alpha >= 0 && alpha <= 1))
        return plx_fail(message, PLX_ERR_RANGE, "rectification alpha is %g, expected 0 (only valid pixels) to 1 (all pixels)",
                        alpha);

    struct plx_stereo_calibration made = *calibration;
    struct pinhole pinhole;
    double shift;
    align_rows(&made, &shift);
    if (made.camera[PLX_LEFT].model == PLX_DISTORTION_EQUIDISTANT)
        choose_equidistant(&made, alpha, &pinhole);
    else
        choose_brown(&made, alpha, &pinhole);

    for (int eye = 0; eye < PLX_EYES; eye++) {
        double projection[12] = {
            pinhole.f, 0, pinhole.cx, eye == PLX_RIGHT ? shift * pinhole.f : 0, 0, pinhole.f, pinhole.cy, 0, 0, 0, 1, 0};
        memcpy(made.projection[eye], projection, sizeof projection);
    }
    made.rectified_width = made.camera[PLX_LEFT].width;
    made.rectified_height = made.camera[PLX_LEFT].height;
    made.rectified = true;
    result = plx_calibration_check(&made, message);
    if (result == 0)
        *calibration = made;
    return result;
}

/*
 * Resampling maps from a rectified calibration. Positions are rounded to float and then to 1/32 px, as OpenCV does between
 * initUndistortRectifyMap with its default type of map and remap.
 */
#define NOWHERE INT32_MAX /* beyond what an entry holds, 1/32 px */

static int64_t to_parts(double position)
{
    return fabs(position) < PLX_MAX_SIDE * 8 ? lrintf((float)position * PLX_REMAP_ONE) : NOWHERE; /* half to even */
}

double plx_correction_rows(const struct plx_correction *correction, double fy, double x, double y)
{
    const struct plx_row_numbers numbers = plx_row_numbers_of_correction(correction);
    return plx_row_numbers_at(&numbers, fy, x, y);
}

void plx_corrected_text(const struct plx_correction_info *corrections, char ret[PLX_CORRECTED_TEXT])
{
    const struct plx_correction *c = &corrections->applied;
    snprintf(ret, PLX_CORRECTED_TEXT, "%u pitch %.9g roll %.9g bend %.9g rad scale %.9g offset %.9g px curve %.9g px",
             corrections->number, (double)c->pitch_rad, (double)c->roll_rad, (double)c->bend_rad, (double)c->scale,
             (double)c->disparity_offset_px, (double)c->curve_px);
}

struct plx_correction plx_correction_add(const struct plx_correction *a, const struct plx_correction *b, float factor)
{
    return (struct plx_correction){a->pitch_rad + factor * b->pitch_rad,
                                   a->roll_rad + factor * b->roll_rad,
                                   a->bend_rad + factor * b->bend_rad,
                                   a->scale + factor * b->scale,
                                   a->disparity_offset_px + factor * b->disparity_offset_px,
                                   a->curve_px + factor * b->curve_px};
}

static bool is_none(const struct plx_correction *c)
{
    return c->pitch_rad == 0 && c->roll_rad == 0 && c->bend_rad == 0 && c->scale == 0 && c->disparity_offset_px == 0 &&
           c->curve_px == 0;
}

/* Where the corrected image's pixel (u, v) lies in the rectified image of projection P. */
static void uncorrect(const double p[12], const struct plx_correction *correction, double pixel[2])
{
    const double x = (pixel[0] - p[2]) / p[0], y = (pixel[1] - p[6]) / p[5];
    pixel[0] += (double)correction->disparity_offset_px + (double)correction->curve_px * x * x;
    pixel[1] += plx_correction_rows(correction, p[5], x, y);
}

int plx_remap_fill(const struct plx_stereo_calibration *calibration, enum plx_eye eye, const struct plx_correction *correction,
                   struct plx_remap *map)
{
    if (!calibration->rectified || !map->entry || map->width != calibration->rectified_width ||
        map->height != calibration->rectified_height)
        return PLX_ERR_ARG;

    if (eye == PLX_LEFT || (correction && is_none(correction)))
        correction = NULL;
    const double *p = calibration->projection[eye];
    const double pinhole[9] = {p[0], p[1], p[2], p[4], p[5], p[6], p[8], p[9], p[10]};
    double forward[9], back[9]; /* from a ray of the raw camera to a rectified pixel, and from a rectified pixel to the ray */
    plx_mat3_multiply(pinhole, calibration->rectification[eye], forward);
    plx_mat3_invert(forward, back);

    for (int y = 0; y < map->height; y++) {
        for (int x = 0; x < map->width; x++) {
            double pixel[3] = {x, y, 1}, ray[3], u, v;
            if (correction)
                uncorrect(p, correction, pixel);
            plx_mat3_apply(back, pixel, ray);
            struct plx_remap_entry *entry = &map->entry[(size_t)y * (size_t)map->width + (size_t)x];
            if (ray[2] > 0) {
                plx_camera_project(&calibration->camera[eye], ray[0] / ray[2], ray[1] / ray[2], &u, &v);
                *entry = plx_remap_at(to_parts(u), to_parts(v));
            } else { /* behind the camera */
                *entry = plx_remap_at(NOWHERE, NOWHERE);
            }
        }
    }
    return 0;
}
