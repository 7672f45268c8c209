/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCV FileStorage YAML, as OpenCV's stereo_calib.cpp and the many programs derived from it write it: one file, or one for
 * the cameras and one for their pose. ORB-SLAM2 has the same matrices under names of its own. */
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "config/calibration/reader.h"
#include "core/geometry/matrix3.h"

#define NAMES 5

/* The names that programs give each value, the usual one first; % is the eye's digit, @ is LEFT or RIGHT. */
static const char *const matrix_names[NAMES] = {"M%", "K%", "cameraMatrix%", "camera_matrix_%", "@.K"};
static const char *const distortion_names[NAMES] = {"D%", "distCoeffs%", "dist_coeffs_%", "distortion_coefficients_%", "@.D"};
static const char *const model_names[NAMES] = {"distortion_model%", "distortion_model"};
static const char *const rectification_names[NAMES] = {"R%", "@.R"};
static const char *const projection_names[NAMES] = {"P%", "@.P"};
static const char *const width_names[NAMES] = {"image_width", "width", "imageWidth", "@.width"};
static const char *const height_names[NAMES] = {"image_height", "height", "imageHeight", "@.height"};
static const char *const size_names[NAMES] = {"image_size", "imageSize", "size"};

static const struct plx_yaml_node *find(const struct plx_yaml_node *root, const char *const names[NAMES], enum plx_eye eye)
{
    for (int i = 0; i < NAMES && names[i]; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%s",
                 names[i][0] != '@' ? ""
                 : eye == PLX_LEFT  ? "LEFT"
                                    : "RIGHT",
                 names[i] + (names[i][0] == '@'));
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

bool plx_is_opencv_pose(const struct plx_yaml_node *root)
{
    return (plx_yaml_get(root, "R") && plx_yaml_get(root, "T")) || (plx_yaml_get(root, "R1") && plx_yaml_get(root, "P1"));
}

static const struct plx_yaml_node *need(struct plx_reader *reader, const char *const names[NAMES], enum plx_eye eye)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml), *node = find(root, names, eye);
    if (!node)
        plx_reader_fail(reader, root, PLX_ERR_FORMAT,
                        "no key \"%.*s%d\"; expected an OpenCV stereo calibration with M1, D1, M2, D2, R and T",
                        (int)strcspn(names[0], "%"), names[0], (int)eye + 1);
    return node;
}

static void read_camera(struct plx_reader *reader, enum plx_eye eye, struct plx_camera *camera)
{
    plx_read_camera_matrix(reader, need(reader, matrix_names, eye), camera);
    const struct plx_yaml_node *distortion = need(reader, distortion_names, eye);
    plx_read_distortion(reader, find(plx_yaml_root(reader->yaml), model_names, eye), distortion, plx_read_vector, camera);
}

static void read_size(struct plx_reader *reader, const char *const size[NAMES], const char *const widths[NAMES],
                      const char *const heights[NAMES], int *width, int *height)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    const struct plx_yaml_node *w = find(root, widths, PLX_LEFT), *h = find(root, heights, PLX_LEFT);
    const struct plx_yaml_node *both = find(root, size, PLX_LEFT);
    if (both && both->kind == PLX_YAML_LIST && both->count == 2) {
        w = both->child;
        h = w->next;
    } else if (!w && !h && both) {
        plx_reader_fail(reader, both, PLX_ERR_FORMAT, "%s is no size; expected [width, height]", both->key->text);
    }
    const struct plx_yaml_node *one = w ? w : h;
    if (!one)
        return;
    if (!w || !h)
        plx_reader_fail(reader, one->key, PLX_ERR_FORMAT, "width without height, or height without width; expected both");
    *width = plx_read_side(reader, w);
    *height = plx_read_side(reader, h);
}

/* R1, R2, P1, P2: all or none. */
static void read_rectification(struct plx_reader *reader, struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    static const char *const width_of_rectified[NAMES] = {"rectified_width"};
    static const char *const height_of_rectified[NAMES] = {"rectified_height"};
    static const char *const size_of_rectified[NAMES] = {"rectified_size"};
    for (int eye = 0; eye < PLX_EYES; eye++)
        if (find(root, rectification_names, eye) || find(root, projection_names, eye))
            calibration->rectified = true;
    if (!calibration->rectified)
        return;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        plx_read_rotation(reader, need(reader, rectification_names, eye), calibration->rectification[eye]);
        plx_read_matrix(reader, need(reader, projection_names, eye), 3, 4, calibration->projection[eye]);
    }
    read_size(reader, size_of_rectified, width_of_rectified, height_of_rectified, &calibration->rectified_width,
              &calibration->rectified_height);
}

/* Checks the baseline of the rectification if the file has one, because that baseline is published; else the baseline of the
 * pose. plx_calibration_check finds swapped eyes. */
static void check_baseline(struct plx_reader *reader, const struct plx_yaml_node *pose,
                           const struct plx_stereo_calibration *calibration)
{
    const double *t = calibration->translation, *right = calibration->projection[PLX_RIGHT];
    if (!calibration->rectified) {
        plx_check_baseline(reader, pose, plx_vec3_length(t));
        return;
    }
    const double baseline = (calibration->projection[PLX_LEFT][3] - right[3]) / right[0];
    if (baseline >= 0)
        plx_check_baseline(reader, find(plx_yaml_root(reader->yaml), projection_names, PLX_RIGHT), baseline);
}

/* R and T. A file with only the rectification has the pose in it. */
static void read_pose(struct plx_reader *reader, struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    const struct plx_yaml_node *rotation = plx_yaml_get(root, "R"), *translation = plx_yaml_get(root, "T");
    const bool only_rectified = !rotation && !translation && find(root, projection_names, PLX_LEFT);
    if (!only_rectified) {
        if (!rotation && !translation)
            plx_reader_fail(reader, root, PLX_ERR_FORMAT,
                            "no key \"R\" here; expected R and T, or R1, R2, P1 and P2; if another file has them, name it "
                            "behind a comma: intrinsics.yml,extrinsics.yml");
        plx_read_rotation(reader, plx_need(reader, root, "R"), calibration->rotation);
        translation = plx_need(reader, root, "T");
        plx_read_vector(reader, translation, 3, 3, calibration->translation);
    }
    read_rectification(reader, calibration);
    if (only_rectified && reader->error == 0)
        plx_calibration_recover_pose(calibration);
    check_baseline(reader, translation, calibration);
}

int plx_read_opencv(struct plx_reader *cameras, struct plx_reader *pose, struct plx_stereo_calibration *calibration)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_camera *camera = &calibration->camera[eye];
        read_camera(cameras, eye, camera);
        read_size(cameras, size_names, width_names, height_names, &camera->width, &camera->height);
    }
    if (cameras->error == 0)
        read_pose(pose, calibration);
    return cameras->error < 0 ? cameras->error : pose->error;
}
