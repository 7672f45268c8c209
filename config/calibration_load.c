/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any kind of calibration file, scales it to metres, completes and checks it. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "config/calibration_reader.h"
#include "config/config.h"

static int read_one(const char *path, double scale, struct plx_stereo_calibration *calibration,
                    struct plx_error_message *message)
{
    struct plx_yaml *yaml = NULL;
    int result = plx_yaml_read(path, &yaml, message);
    if (result < 0)
        return result;
    struct plx_reader reader = {yaml, message, scale, 0};
    const struct plx_yaml_node *root = plx_yaml_root(yaml);
    if (plx_is_opencv(root))
        result = plx_read_opencv(&reader, calibration);
    else if (plx_is_kalibr(root))
        result = plx_read_kalibr(&reader, calibration);
    else if (plx_is_ros(root))
        result = plx_yaml_fail(yaml, NULL, message, PLX_ERR_FORMAT,
                               "is one ROS camera_info; expected two, separated by a comma: left.yaml,right.yaml");
    else if (plx_yaml_get(root, "P0") || plx_yaml_get(root, "P2"))
        result = plx_yaml_fail(yaml, NULL, message, PLX_ERR_UNSUPPORTED,
                               "is KITTI's calib.txt, which replay finds in its directory by itself; leave the key calibration "
                               "empty, or name another kind of file");
    else
        result = plx_yaml_fail(yaml, root, message, PLX_ERR_FORMAT,
                               "not a calibration; expected an OpenCV stereo calibration (M1, D1, M2, D2, R, T), a Kalibr "
                               "camchain (cam0, cam1), or two ROS camera_info files");
    plx_yaml_destroy(yaml);
    return result;
}

/* PATHS: two paths, separated by the comma at COMMA. */
static int read_two(const char *paths, const char *comma, double scale, struct plx_stereo_calibration *calibration,
                    struct plx_error_message *message)
{
    struct plx_yaml *left = NULL, *right = NULL;
    char *left_path = strndup(paths, (size_t)(comma - paths));
    int result =
        left_path ? plx_yaml_read(left_path, &left, message) : plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", paths);
    if (result == 0)
        result = plx_yaml_read(comma + 1, &right, message);
    if (result == 0)
        result = plx_read_ros((struct plx_reader[]){{left, message, scale, 0}, {right, message, scale, 0}}, calibration);
    plx_yaml_destroy(right);
    plx_yaml_destroy(left);
    free(left_path);
    return result;
}

static void scale_lengths(struct plx_stereo_calibration *calibration, double scale)
{
    for (int i = 0; i < 3; i++)
        calibration->translation[i] *= scale;
    for (int eye = 0; eye < PLX_EYES; eye++)
        for (int row = 0; row < 3; row++)
            calibration->projection[eye][4 * row + 3] *= scale;
}

/* Adds sizes that the file does not give: the raw size is that of the source's pictures, the rectified size is the raw size. */
static int complete_sizes(const char *path, const struct plx_calibration_options *options,
                          struct plx_stereo_calibration *calibration, struct plx_error_message *message)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_camera *camera = &calibration->camera[eye];
        if (camera->width > 0)
            continue;
        camera->width = options->width;
        camera->height = options->height;
        if (camera->width < 1 || camera->height < 1)
            return plx_fail(message, PLX_ERR_FORMAT,
                            "%s: does not say for which picture size it was made; add image_width and "
                            "image_height",
                            path);
    }
    if (calibration->rectified && calibration->rectified_width == 0) {
        calibration->rectified_width = calibration->camera[PLX_LEFT].width;
        calibration->rectified_height = calibration->camera[PLX_LEFT].height;
    }
    return 0;
}

static int complete(const char *path, const struct plx_calibration_options *options, struct plx_stereo_calibration *calibration,
                    struct plx_error_message *message)
{
    struct plx_error_message reason;
    scale_lengths(calibration, options->scale);
    int result = complete_sizes(path, options, calibration, message);
    if (result < 0)
        return result;
    result = plx_calibration_check(calibration, &reason);
    if (result == 0)
        result = plx_calibration_rectify(calibration, options->alpha, &reason);
    return result < 0 ? plx_fail(message, result, "%s: %s", path, reason.text) : 0;
}

int plx_calibration_read(const char *path, const struct plx_calibration_options *options,
                         struct plx_stereo_calibration *ret_calibration, struct plx_error_message *message)
{
    struct plx_stereo_calibration calibration = {0};
    const char *comma = strchr(path, ',');
    int result = comma ? read_two(path, comma, options->scale, &calibration, message)
                       : read_one(path, options->scale, &calibration, message);
    if (result == 0)
        result = complete(path, options, &calibration, message);
    if (result == 0)
        *ret_calibration = calibration;
    return result;
}
