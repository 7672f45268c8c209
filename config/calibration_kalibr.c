/* SPDX-License-Identifier: Apache-2.0 */
/* A Kalibr camchain: cam0 is the left camera, cam1 the right one, T_cn_cnm1 takes points from the left to the right. */
#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "config/calibration_formats.h"
#include "config/text.h"

bool plx_is_kalibr(const struct plx_yaml_node *root)
{
    return plx_yaml_get(root, "cam0") || plx_yaml_get(root, "cam1");
}

static int read_pinhole(const struct plx_reader *reader, const struct plx_yaml_node *map, struct plx_camera *camera)
{
    const struct plx_yaml_node *model, *intrinsics;
    char quoted[PLX_QUOTED_TEXT];
    double value[4];
    int count;
    int result = plx_need(reader, map, "camera_model", &model);
    if (result < 0)
        return result;
    if (strcmp(model->text, "pinhole") != 0)
        return plx_yaml_fail(reader->yaml, model, reader->message, PLX_ERR_UNSUPPORTED, "camera model \"%s\"; expected pinhole",
                             plx_quote(model->text, quoted));
    result = plx_need(reader, map, "intrinsics", &intrinsics);
    if (result == 0)
        result = plx_read_list(reader, intrinsics, 4, 4, value, &count);
    if (result == 0)
        result = plx_check_pinhole(reader, intrinsics, value, camera);
    return result;
}

static int read_resolution(const struct plx_reader *reader, const struct plx_yaml_node *map, struct plx_camera *camera)
{
    const struct plx_yaml_node *node;
    int result = plx_need(reader, map, "resolution", &node);
    if (result < 0)
        return result;
    if (node->kind != PLX_YAML_LIST || node->count != 2)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT,
                             "resolution is no size; expected [width, height]");
    result = plx_read_side(reader, node->child, &camera->width);
    return result < 0 ? result : plx_read_side(reader, node->child->next, &camera->height);
}

static int read_camera(const struct plx_reader *reader, const struct plx_yaml_node *map, struct plx_camera *camera)
{
    const struct plx_yaml_node *model, *distortion;
    double value[14];
    int count;
    int result = read_pinhole(reader, map, camera);
    if (result == 0)
        result = read_resolution(reader, map, camera);
    if (result == 0)
        result = plx_need(reader, map, "distortion_model", &model);
    if (result == 0)
        result = plx_need(reader, map, "distortion_coeffs", &distortion);
    if (result == 0)
        result = plx_read_list(reader, distortion, 0, 14, value, &count);
    if (result == 0)
        result = plx_set_distortion(reader, model, distortion, value, count, camera);
    return result;
}

/* The 4x4 matrix as a list of four rows. */
static int read_pose(const struct plx_reader *reader, const struct plx_yaml_node *node,
                     struct plx_stereo_calibration *calibration)
{
    double row[4][4] = {{0}};
    int i = 0, count;
    if (node->kind != PLX_YAML_LIST || node->count != 4)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT,
                             "T_cn_cnm1 is no 4 x 4 matrix; expected four rows");
    for (const struct plx_yaml_node *child = node->child; child; child = child->next) {
        int result = plx_read_list(reader, child, 4, 4, row[i++], &count);
        if (result < 0)
            return result;
    }
    if (row[3][0] != 0 || row[3][1] != 0 || row[3][2] != 0 || row[3][3] != 1)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_RANGE, "the last row of T_cn_cnm1 is not 0 0 0 1");
    for (i = 0; i < 3; i++) {
        memcpy(&calibration->rotation[3 * i], row[i], 3 * sizeof row[i][0]);
        calibration->translation[i] = row[i][3];
    }
    if (!(calibration->translation[0] < 0))
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_RANGE,
                             "cam1 is at x = %g against cam0; expected cam1 to the right, that is the first number of the last "
                             "column below 0; are left and right swapped?",
                             -calibration->translation[0]);
    return plx_check_rotation(reader, node, calibration->rotation);
}

int plx_read_kalibr(const struct plx_reader *reader, struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml), *camera[PLX_EYES], *pose;
    int result = plx_need(reader, root, "cam0", &camera[PLX_LEFT]);
    if (result == 0)
        result = plx_need(reader, root, "cam1", &camera[PLX_RIGHT]);
    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result = read_camera(reader, camera[eye], &calibration->camera[eye]);
    if (result == 0)
        result = plx_need(reader, camera[PLX_RIGHT], "T_cn_cnm1", &pose);
    if (result == 0)
        result = read_pose(reader, pose, calibration);
    if (result == 0) {
        const double *t = calibration->translation;
        result = plx_check_baseline(reader, pose, sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]));
    }
    return result;
}
