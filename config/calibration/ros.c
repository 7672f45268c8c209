/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ROS camera_info files (REP-104; sensor_msgs/CameraInfo). They hold the rectification of each camera, not the relative
 * pose. The pose is computed: R1 x_left and R2 x_right differ by the baseline along x, P2[3] / P2[0].
 */
#include <string.h>

#include <parallax/error.h>

#include "config/calibration/reader.h"

bool plx_is_ros(const struct plx_yaml_node *root)
{
    return plx_yaml_get(root, "camera_matrix") && plx_yaml_get(root, "projection_matrix");
}

/* The name of the distortion model; NULL: the number of coefficients decides. Some tools write camera_model alone, or both. */
static const struct plx_yaml_node *find_model(struct plx_reader *reader, const struct plx_yaml_node *root)
{
    const struct plx_yaml_node *distortion = plx_yaml_get(root, "distortion_model"),
                               *camera = plx_yaml_get(root, "camera_model");
    if (!camera || strcmp(camera->text, "pinhole") == 0)
        return distortion;
    if (distortion && strcmp(distortion->text, "equidistant") != 0 && strcmp(distortion->text, "fisheye") != 0)
        plx_reader_fail(reader, camera, PLX_ERR_FORMAT,
                        "camera_model is not pinhole, and distortion_model is not equidistant; expected pinhole, or one model");
    return distortion ? distortion : camera;
}

static void read_camera(struct plx_reader *reader, struct plx_camera *camera)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    camera->width = plx_read_side(reader, plx_need(reader, root, "image_width"));
    camera->height = plx_read_side(reader, plx_need(reader, root, "image_height"));
    plx_read_camera_matrix(reader, plx_need(reader, root, "camera_matrix"), camera);
    const struct plx_yaml_node *model = find_model(reader, root);
    plx_read_distortion(reader, model, plx_need(reader, root, "distortion_coefficients"), plx_read_vector, camera);
}

static void read_eye(struct plx_reader *reader, enum plx_eye eye, struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *root = plx_yaml_root(reader->yaml);
    double *p = calibration->projection[eye];
    if (!plx_is_ros(root))
        plx_reader_fail(reader, root, PLX_ERR_FORMAT, "not a ROS camera_info; expected camera_matrix and projection_matrix");
    read_camera(reader, &calibration->camera[eye]);
    plx_read_rotation(reader, plx_need(reader, root, "rectification_matrix"), calibration->rectification[eye]);
    const struct plx_yaml_node *projection = plx_need(reader, root, "projection_matrix");
    plx_read_matrix(reader, projection, 3, 4, p);
    if (reader->error < 0)
        return;
    if (!(p[0] > 0))
        plx_reader_fail(reader, projection, PLX_ERR_RANGE, "the focal length in projection_matrix is %g; expected more than 0",
                        p[0]);
    else if (eye == PLX_LEFT ? p[3] != 0 : !(p[3] < 0))
        plx_reader_fail(reader, projection, PLX_ERR_RANGE,
                        "the fourth number of projection_matrix is %g; expected %s; are left and right swapped?", p[3],
                        eye == PLX_LEFT ? "0 for the left camera" : "-fx * baseline, below 0, for the right camera");
    else if (eye == PLX_RIGHT)
        plx_check_baseline(reader, projection, -p[3] / p[0]);
}

int plx_read_ros(struct plx_reader reader[PLX_EYES], struct plx_stereo_calibration *calibration)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        read_eye(&reader[eye], eye, calibration);
        if (reader[eye].error < 0)
            return reader[eye].error;
    }
    plx_calibration_recover_pose(calibration);
    calibration->rectified = true;
    return 0;
}
