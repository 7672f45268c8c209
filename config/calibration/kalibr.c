/* SPDX-License-Identifier: Apache-2.0 */
/* A Kalibr camchain: cam0 is the left camera, cam1 the right one. T_cn_cnm1 takes points from the left camera to the right one;
 * where it is missing, both cameras have T_cam_imu (from the IMU) or T_imu_cam (to the IMU, OpenVINS). EuRoC's recordings have
 * a sensor.yaml for each camera with the same fields, and T_BS, which takes points from the camera to the body. */
#include <string.h>

#include <parallax/error.h>

#include "config/calibration/reader.h"
#include "config/text.h"
#include "core/geometry/matrix3.h"
#include "core/motion/pose.h"

bool plx_is_kalibr(const struct plx_yaml_node *root)
{
    return plx_yaml_get(root, "cam0") || plx_yaml_get(root, "cam1");
}

static void read_pinhole(struct plx_reader *reader, const struct plx_yaml_node *map, struct plx_camera *camera)
{
    const struct plx_yaml_node *model = plx_need(reader, map, "camera_model");
    char quoted[PLX_QUOTED_TEXT];
    double value[4] = {0};
    if (model && strcmp(model->text, "pinhole") != 0)
        plx_reader_fail(reader, model, PLX_ERR_UNSUPPORTED,
                        "camera model \"%s\"; expected pinhole; run Kalibr again with --models pinhole-equi (wide lenses) or "
                        "pinhole-radtan for both cameras",
                        plx_quote(model->text, quoted));
    const struct plx_yaml_node *intrinsics = plx_need(reader, map, "intrinsics");
    plx_read_list(reader, intrinsics, 4, 4, value);
    plx_check_pinhole(reader, intrinsics, value, camera);
}

static void read_resolution(struct plx_reader *reader, const struct plx_yaml_node *map, struct plx_camera *camera)
{
    const struct plx_yaml_node *node = plx_need(reader, map, "resolution");
    if (node && (node->kind != PLX_YAML_LIST || node->count != 2))
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "resolution is no size; expected [width, height]");
    if (!node || reader->error < 0)
        return;
    camera->width = plx_read_side(reader, node->child);
    camera->height = plx_read_side(reader, node->child->next);
}

static void read_camera(struct plx_reader *reader, const struct plx_yaml_node *map, const char *coefficients,
                        struct plx_camera *camera)
{
    read_pinhole(reader, map, camera);
    read_resolution(reader, map, camera);
    const struct plx_yaml_node *model = plx_need(reader, map, "distortion_model");
    plx_read_distortion(reader, model, plx_need(reader, map, coefficients), plx_read_list, camera);
}

/* The 4x4 matrix ROW, read at NODE. */
static void take_transform(struct plx_reader *reader, const struct plx_yaml_node *node, const double row[4][4],
                           struct plx_pose *ret_pose)
{
    if (reader->error < 0)
        return;
    if (row[3][0] != 0 || row[3][1] != 0 || row[3][2] != 0 || row[3][3] != 1)
        plx_reader_fail(reader, node, PLX_ERR_RANGE, "the last row of %s is not 0 0 0 1", node->key->text);
    for (int i = 0; i < 3; i++) {
        memcpy(&ret_pose->rotation[3 * i], row[i], 3 * sizeof row[i][0]);
        ret_pose->translation[i] = row[i][3];
    }
    plx_check_rotation(reader, node, ret_pose->rotation);
}

/* A list of four rows. */
static void read_transform(struct plx_reader *reader, const struct plx_yaml_node *node, struct plx_pose *ret_pose)
{
    double row[4][4] = {{0}};
    int i = 0;
    if (reader->error == 0 && (node->kind != PLX_YAML_LIST || node->count != 4))
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "%s is no 4 x 4 matrix; expected four rows", node->key->text);
    if (reader->error < 0)
        return;
    for (const struct plx_yaml_node *child = node->child; child; child = child->next)
        plx_read_list(reader, child, 4, 4, row[i++]);
    take_transform(reader, node, row, ret_pose);
}

/* right_from_left. Returns the node of the right camera that it comes from. */
static const struct plx_yaml_node *read_pose(struct plx_reader *reader, const struct plx_yaml_node *left,
                                             const struct plx_yaml_node *right, struct plx_pose *ret_pose)
{
    static const char *const by_imu[] = {"T_cam_imu", "T_imu_cam"};
    for (int i = 0; i < 2 && !plx_yaml_get(right, "T_cn_cnm1"); i++) {
        const struct plx_yaml_node *node = plx_yaml_get(right, by_imu[i]);
        struct plx_pose pose[PLX_EYES] = {PLX_POSE_IDENTITY, PLX_POSE_IDENTITY}, inverse;
        if (!node)
            continue;
        read_transform(reader, plx_need(reader, left, by_imu[i]), &pose[PLX_LEFT]);
        read_transform(reader, node, &pose[PLX_RIGHT]);
        plx_pose_invert(&pose[i == 0 ? PLX_LEFT : PLX_RIGHT], &inverse);
        if (i == 0)
            plx_pose_compose(&pose[PLX_RIGHT], &inverse, ret_pose);
        else
            plx_pose_compose(&inverse, &pose[PLX_LEFT], ret_pose);
        return node;
    }
    const struct plx_yaml_node *node = plx_need(reader, right, "T_cn_cnm1");
    read_transform(reader, node, ret_pose);
    return node;
}

/* POSE: right_from_left, read at NODE. */
static void set_pose(struct plx_reader *reader, const struct plx_yaml_node *node, const struct plx_pose *pose,
                     struct plx_stereo_calibration *calibration)
{
    const double *t = pose->translation;
    if (!(t[0] < 0))
        plx_reader_fail(reader, node, PLX_ERR_RANGE,
                        "cam1 is at x = %g of cam0; expected cam1 to the right, above 0; are left and right swapped?", -t[0]);
    plx_check_baseline(reader, node, plx_vec3_length(t));
    memcpy(calibration->rotation, pose->rotation, sizeof pose->rotation);
    memcpy(calibration->translation, pose->translation, sizeof pose->translation);
}

int plx_read_kalibr(struct plx_reader *reader, struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    const struct plx_yaml_node *left = plx_need(reader, root, "cam0"), *right = plx_need(reader, root, "cam1");
    struct plx_pose pose = PLX_POSE_IDENTITY;
    read_camera(reader, left, "distortion_coeffs", &calibration->camera[PLX_LEFT]);
    read_camera(reader, right, "distortion_coeffs", &calibration->camera[PLX_RIGHT]);
    const struct plx_yaml_node *node = read_pose(reader, left, right, &pose);
    set_pose(reader, node, &pose, calibration);
    return reader->error;
}

bool plx_is_euroc(const struct plx_yaml_node *root)
{
    return plx_yaml_get(root, "T_BS") && plx_yaml_get(root, "intrinsics");
}

int plx_read_euroc(struct plx_reader reader[PLX_EYES], struct plx_stereo_calibration *calibration)
{
    struct plx_pose body_from[PLX_EYES] = {PLX_POSE_IDENTITY, PLX_POSE_IDENTITY}, right_from_body, right_from_left;
    const struct plx_yaml_node *node = NULL;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_yaml_node *root = plx_yaml_root(reader[eye].yaml);
        double row[4][4] = {{0}};
        if (!plx_is_euroc(root))
            plx_reader_fail(&reader[eye], root, PLX_ERR_FORMAT, "not a sensor.yaml of EuRoC; expected T_BS and intrinsics");
        read_camera(&reader[eye], root, "distortion_coefficients", &calibration->camera[eye]);
        node = plx_need(&reader[eye], root, "T_BS");
        plx_read_matrix(&reader[eye], node, 4, 4, row[0]);
        take_transform(&reader[eye], node, row, &body_from[eye]);
        if (reader[eye].error < 0)
            return reader[eye].error;
    }
    plx_pose_invert(&body_from[PLX_RIGHT], &right_from_body);
    plx_pose_compose(&right_from_body, &body_from[PLX_LEFT], &right_from_left);
    set_pose(&reader[PLX_RIGHT], node, &right_from_left, calibration);
    return reader[PLX_RIGHT].error;
}
