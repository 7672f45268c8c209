/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of ORB-SLAM3 for a stereo camera: Camera1 is the left camera, Camera2 the right one, and Stereo.T_c1_c2 takes
 * points from the right camera to the left one. */
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "config/calibration/reader.h"
#include "config/text.h"
#include "core/geometry/matrix3.h"
#include "core/motion/pose.h"

#define KINDS 2

/* The types of cameras, their distortion model and the names of its coefficients. */
static const struct kind {
    const char *type;
    enum plx_distortion model;
    const char *coefficient[5];
    int needed; /* coefficients that must be there; the others are 0 where they are missing */
} kinds[KINDS] = {
    {"PinHole", PLX_DISTORTION_PLUMB_BOB, {"k1", "k2", "p1", "p2", "k3"}, 0},
    {"KannalaBrandt8", PLX_DISTORTION_EQUIDISTANT, {"k1", "k2", "k3", "k4"}, 4},
};

bool plx_is_orbslam(const struct plx_yaml_node *root)
{
    return plx_yaml_get(root, "Camera1.fx") || plx_yaml_get(root, "Camera2.fx");
}

static const struct kind *find_kind(struct plx_reader *reader, const struct plx_yaml_node *root)
{
    const struct plx_yaml_node *type = plx_need(reader, root, "Camera.type");
    char quoted[PLX_QUOTED_TEXT];
    for (int i = 0; i < KINDS && type; i++)
        if (strcmp(type->text, kinds[i].type) == 0)
            return &kinds[i];
    if (type && strcmp(type->text, "Rectified") == 0)
        plx_reader_fail(reader, type, PLX_ERR_UNSUPPORTED,
                        "an ORB-SLAM3 file for rectified pictures; name the file that the pictures were rectified with");
    else if (type)
        plx_reader_fail(reader, type, PLX_ERR_UNSUPPORTED, "camera type \"%s\"; expected PinHole or KannalaBrandt8",
                        plx_quote(type->text, quoted));
    return NULL;
}

static void read_camera(struct plx_reader *reader, const struct kind *kind, enum plx_eye eye, struct plx_camera *camera)
{
    static const char *const pinhole[4] = {"fx", "fy", "cx", "cy"};
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml), *node = NULL;
    double value[4] = {0};
    char key[32];
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "Camera%d.%s", (int)eye + 1, pinhole[3 - i]);
        node = plx_need(reader, root, key); /* fx last: errors of the numbers are at its place */
        value[3 - i] = plx_read_real(reader, node);
    }
    plx_check_pinhole(reader, node, value, camera);
    camera->model = kind->model;
    for (int i = 0; i < 5 && kind->coefficient[i]; i++) {
        snprintf(key, sizeof key, "Camera%d.%s", (int)eye + 1, kind->coefficient[i]);
        node = i < kind->needed ? plx_need(reader, root, key) : plx_yaml_get(root, key);
        camera->k[i] = node ? plx_read_real(reader, node) : 0;
    }
    camera->width = plx_read_side(reader, plx_need(reader, root, "Camera.width"));
    camera->height = plx_read_side(reader, plx_need(reader, root, "Camera.height"));
}

static void read_pose(struct plx_reader *reader, struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *node = plx_need(reader, plx_yaml_root(reader->yaml), "Stereo.T_c1_c2");
    struct plx_pose left_from_right = {.translation = {0}}, right_from_left;
    double m[16] = {0};
    plx_read_matrix(reader, node, 4, 4, m);
    for (int i = 0; i < 3; i++) {
        memcpy(&left_from_right.rotation[3 * i], &m[4 * i], 3 * sizeof *m);
        left_from_right.translation[i] = m[4 * i + 3];
    }
    plx_check_rotation(reader, node, left_from_right.rotation);
    const double *t = left_from_right.translation;
    if (!(t[0] > 0))
        plx_reader_fail(
            reader, node, PLX_ERR_RANGE,
            "Camera2 is at x = %g of Camera1; expected Camera2 to the right, above 0; are left and right swapped, or "
            "is the matrix the inverse?",
            t[0]);
    plx_check_baseline(reader, node, plx_vec3_length(t));
    plx_pose_invert(&left_from_right, &right_from_left);
    memcpy(calibration->rotation, right_from_left.rotation, sizeof right_from_left.rotation);
    memcpy(calibration->translation, right_from_left.translation, sizeof right_from_left.translation);
}

int plx_read_orbslam(struct plx_reader *reader, struct plx_stereo_calibration *calibration)
{
    const struct kind *kind = find_kind(reader, plx_yaml_root(reader->yaml));
    for (int eye = 0; eye < PLX_EYES && kind; eye++)
        read_camera(reader, kind, eye, &calibration->camera[eye]);
    if (kind)
        read_pose(reader, calibration);
    return reader->error;
}
