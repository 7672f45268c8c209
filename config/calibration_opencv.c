/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCV FileStorage YAML, as stereo_calib.cpp and its many descendants write it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "config/calibration_formats.h"

#define NAMES 4

/* The names under which people store each thing, the usual one first; the eye's digit stands where the % is. */
static const char *const matrix_names[NAMES] = {"M%", "K%", "cameraMatrix%", "camera_matrix_%"};
static const char *const distortion_names[NAMES] = {"D%", "distCoeffs%", "dist_coeffs_%", "distortion_coefficients_%"};
static const char *const model_names[NAMES] = {"distortion_model%", "distortion_model"};
static const char *const rectification_names[NAMES] = {"R%"};
static const char *const projection_names[NAMES] = {"P%"};
static const char *const width_names[NAMES] = {"image_width", "width", "imageWidth"};
static const char *const height_names[NAMES] = {"image_height", "height", "imageHeight"};
static const char *const size_names[NAMES] = {"image_size", "imageSize", "size"};

static const struct plx_yaml_node *find(const struct plx_yaml_node *root, const char *const names[NAMES], enum plx_eye eye)
{
    for (int i = 0; i < NAMES && names[i]; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s", names[i]);
        char *digit = strchr(name, '%');
        if (digit)
            *digit = eye == PLX_LEFT ? '1' : '2';
        const struct plx_yaml_node *node = plx_yaml_get(root, name);
        if (node)
            return node;
    }
    return NULL;
}

bool plx_is_opencv(const struct plx_yaml_node *root)
{
    return find(root, matrix_names, PLX_LEFT) || find(root, matrix_names, PLX_RIGHT);
}

static int need(const struct plx_reader *reader, const char *const names[NAMES], enum plx_eye eye,
                const struct plx_yaml_node **ret_node)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    *ret_node = find(root, names, eye);
    if (!*ret_node)
        return plx_yaml_fail(reader->yaml, root, reader->message, PLX_ERR_FORMAT,
                             "no key \"%.*s%d\"; expected an OpenCV stereo calibration with M1, D1, M2, D2, R and T",
                             (int)strcspn(names[0], "%"), names[0], (int)eye + 1);
    return 0;
}

static int read_camera(const struct plx_reader *reader, enum plx_eye eye, struct plx_camera *camera)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml), *matrix, *distortion;
    double value[14];
    int count;
    int result = need(reader, matrix_names, eye, &matrix);
    if (result == 0)
        result = plx_read_camera_matrix(reader, matrix, camera);
    if (result == 0)
        result = need(reader, distortion_names, eye, &distortion);
    if (result == 0)
        result = plx_read_vector(reader, distortion, 0, 14, value, &count);
    if (result == 0)
        result = plx_set_distortion(reader, find(root, model_names, eye), distortion, value, count, camera);
    return result;
}

static int read_size(const struct plx_reader *reader, const char *const size[NAMES], const char *const widths[NAMES],
                     const char *const heights[NAMES], int *width, int *height)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    const struct plx_yaml_node *w = find(root, widths, PLX_LEFT), *h = find(root, heights, PLX_LEFT);
    const struct plx_yaml_node *both = find(root, size, PLX_LEFT);
    if (both && both->kind == PLX_YAML_LIST && both->count == 2) {
        w = both->child;
        h = w->next;
    } else if (!w && !h && both) {
        return plx_yaml_fail(reader->yaml, both, reader->message, PLX_ERR_FORMAT, "%s is no size; expected [width, height]",
                             both->key->text);
    }
    if (!w && !h)
        return 0;
    if (!w || !h)
        return plx_yaml_fail(reader->yaml, w ? w->key : h->key, reader->message, PLX_ERR_FORMAT,
                             "width without height, or height without width; expected both");
    int result = plx_read_side(reader, w, width);
    return result < 0 ? result : plx_read_side(reader, h, height);
}

/* R1, R2, P1, P2: all or none. */
static int read_rectification(const struct plx_reader *reader, struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    static const char *const width_of_rectified[NAMES] = {"rectified_width"};
    static const char *const height_of_rectified[NAMES] = {"rectified_height"};
    static const char *const size_of_rectified[NAMES] = {"rectified_size"};
    bool any = false;
    for (int eye = 0; eye < PLX_EYES; eye++)
        any = any || find(root, rectification_names, eye) || find(root, projection_names, eye);
    if (!any)
        return 0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_yaml_node *node;
        int result = need(reader, rectification_names, eye, &node);
        if (result == 0)
            result = plx_read_rotation(reader, node, calibration->rectification[eye]);
        if (result == 0)
            result = need(reader, projection_names, eye, &node);
        if (result == 0)
            result = plx_read_matrix(reader, node, 3, 4, calibration->projection[eye]);
        if (result < 0)
            return result;
    }
    calibration->rectified = true;
    return read_size(reader, size_of_rectified, width_of_rectified, height_of_rectified, &calibration->rectified_width,
                     &calibration->rectified_height);
}

/* Of the rectification where the file has one, for that is published; else of the pose. Left and right swapped: found later. */
static int check_baseline(const struct plx_reader *reader, const struct plx_yaml_node *pose,
                          const struct plx_stereo_calibration *calibration)
{
    const double *t = calibration->translation, *right = calibration->projection[PLX_RIGHT];
    if (!calibration->rectified)
        return plx_check_baseline(reader, pose, sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]));
    const double baseline = (calibration->projection[PLX_LEFT][3] - right[3]) / right[0];
    const struct plx_yaml_node *projection = find(plx_yaml_root(reader->yaml), projection_names, PLX_RIGHT);
    return baseline >= 0 ? plx_check_baseline(reader, projection, baseline) : 0;
}

int plx_read_opencv(const struct plx_reader *reader, struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml), *node;
    struct plx_camera *camera = calibration->camera;
    int count;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        int result = read_camera(reader, eye, &camera[eye]);
        if (result == 0)
            result = read_size(reader, size_names, width_names, height_names, &camera[eye].width, &camera[eye].height);
        if (result < 0)
            return result;
    }
    int result = plx_need(reader, root, "R", &node);
    if (result == 0)
        result = plx_read_rotation(reader, node, calibration->rotation);
    if (result == 0)
        result = plx_need(reader, root, "T", &node);
    if (result == 0)
        result = plx_read_vector(reader, node, 3, 3, calibration->translation, &count);
    const struct plx_yaml_node *pose = node;
    if (result == 0)
        result = read_rectification(reader, calibration);
    if (result == 0)
        result = check_baseline(reader, pose, calibration);
    return result;
}
