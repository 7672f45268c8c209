/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any kind of calibration file, scales it to metres, completes and checks it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "config/calibration/reader.h"
#include "config/config.h"
#include "config/file.h"

/* Kinds of files that are recognised by a key and refused with the way to a file that can be read. */
static const struct {
    const char *key, *text;
} refused[] = {
    {"P0", "is KITTI's calib.txt, which replay finds in its directory by itself; leave the key calibration empty, or name "
           "another kind of file"},
    {"P2", "is KITTI's calib.txt, which replay finds in its directory by itself; leave the key calibration empty, or name "
           "another kind of file"},
    {"cam0_calib", "is a configuration of VINS-Fusion; expected a Kalibr camchain, which can hold the same numbers: "
                   "\"VINS-Fusion\" in calibration.md says how"},
    {"body_T_cam0", "is a configuration of VINS-Fusion; expected a Kalibr camchain, which can hold the same numbers: "
                    "\"VINS-Fusion\" in calibration.md says how"},
    {"projection_parameters", "is one camera of VINS-Fusion, without the pose of the other; expected a Kalibr camchain, which "
                              "can hold the same numbers: \"VINS-Fusion\" in calibration.md says how"},
    {"relative_config_imucam", "is OpenVINS' estimator configuration; name the file that its key relative_config_imucam names"},
    {"Camera.bf", "is an ORB-SLAM file for rectified pictures, without the cameras (LEFT.K, RIGHT.K, or Camera1.fx, "
                  "Camera2.fx); name the file that the pictures were rectified with"},
    {"Camera.fx", "is an ORB-SLAM file of one camera; expected two (LEFT.K, RIGHT.K, or Camera1.fx, Camera2.fx)"},
    {"camera_matrix", "is the calibration of one camera by OpenCV; expected both and their pose, as stereoCalibrate gives them "
                      "(M1, D1, M2, D2, R, T)"},
};

/* Kinds of files that are no YAML, by their first characters. */
static const struct {
    const char *begin, *text;
} other_forms[] = {
    {"<?xml", "is XML, as OpenCV's FileStorage writes it; expected YAML: \"OpenCV XML\" in calibration.md has the command "
              "that converts it"},
    {"[LEFT_CAM_", "is a calibration of a ZED camera; expected an OpenCV file: \"ZED\" in calibration.md has the program "
                   "that converts it"},
    {"[STEREO]", "is a calibration of a ZED camera; expected an OpenCV file: \"ZED\" in calibration.md has the program "
                 "that converts it"},
};

static int refuse_other_forms(const char *path, struct plx_error_message *message)
{
    char *text;
    size_t size;
    int result = plx_file_read(path, PLX_YAML_MAX_BYTES, &text, &size, message);
    if (result < 0)
        return result;
    const char *first = plx_without_bom(text);
    first += strspn(first, " \t\r\n");
    for (size_t i = 0; i < sizeof other_forms / sizeof *other_forms && result == 0; i++)
        if (strncmp(first, other_forms[i].begin, strlen(other_forms[i].begin)) == 0)
            result = plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: %s", path, other_forms[i].text);
    free(text);
    return result;
}

static int read_yaml(const char *path, struct plx_yaml **ret_yaml, struct plx_error_message *message)
{
    const int result = refuse_other_forms(path, message);
    return result < 0 ? result : plx_yaml_read(path, ret_yaml, message);
}

/* Fails if YAML is of a kind of the table above. */
static int refuse_known(const struct plx_yaml *yaml, struct plx_error_message *message)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (plx_yaml_get(plx_yaml_root(yaml), refused[i].key))
            return plx_yaml_fail(yaml, NULL, message, PLX_ERR_UNSUPPORTED, "%s", refused[i].text);
    return 0;
}

static int refuse(const struct plx_yaml *yaml, struct plx_error_message *message)
{
    const struct plx_yaml_node *root = plx_yaml_root(yaml);
    if (plx_is_ros(root))
        return plx_yaml_fail(yaml, NULL, message, PLX_ERR_FORMAT,
                             "is one ROS camera_info; expected two, separated by a comma: left.yaml,right.yaml");
    if (plx_is_euroc(root))
        return plx_yaml_fail(yaml, NULL, message, PLX_ERR_FORMAT,
                             "is one camera of EuRoC; expected two files, separated by a comma: "
                             "cam0/sensor.yaml,cam1/sensor.yaml");
    if (plx_is_opencv_pose(root))
        return plx_yaml_fail(
            yaml, NULL, message, PLX_ERR_FORMAT,
            "holds the pose of OpenCV's cameras, but not the cameras (M1, D1, M2, D2); expected the other file "
            "before it, separated by a comma: intrinsics.yml,extrinsics.yml");
    const int result = refuse_known(yaml, message);
    if (result < 0)
        return result;
    return plx_yaml_fail(yaml, root, message, PLX_ERR_FORMAT,
                         "not a calibration; expected an OpenCV stereo calibration (M1, D1, M2, D2, R, T), a Kalibr "
                         "camchain (cam0, cam1), ORB-SLAM settings, or two ROS camera_info files");
}

static int read_one(const char *path, double scale, struct plx_stereo_calibration *calibration,
                    struct plx_error_message *message)
{
    struct plx_yaml *yaml = NULL;
    int result = read_yaml(path, &yaml, message);
    if (result < 0)
        return result;
    struct plx_reader reader = {yaml, message, scale, 0};
    const struct plx_yaml_node *root = plx_yaml_root(yaml);
    if (plx_is_opencv(root))
        result = plx_read_opencv(&reader, &reader, calibration);
    else if (plx_is_kalibr(root))
        result = plx_read_kalibr(&reader, calibration);
    else if (plx_is_orbslam(root))
        result = plx_read_orbslam(&reader, calibration);
    else
        result = refuse(yaml, message);
    plx_yaml_destroy(yaml);
    return result;
}

/* Cameras and pose of OpenCV in any order, or the left and the right camera of ROS or EuRoC. */
static int read_pair(struct plx_reader reader[2], struct plx_stereo_calibration *calibration)
{
    const struct plx_yaml_node *first = plx_yaml_root(reader[0].yaml), *second = plx_yaml_root(reader[1].yaml);
    if (plx_is_opencv(first))
        return plx_read_opencv(&reader[0], &reader[1], calibration);
    if (plx_is_opencv_pose(first) && plx_is_opencv(second))
        return plx_read_opencv(&reader[1], &reader[0], calibration);
    if (plx_is_euroc(first))
        return plx_read_euroc(reader, calibration);
    const int result = plx_is_ros(first) ? 0 : refuse_known(reader[0].yaml, reader[0].message);
    return result < 0 ? result : plx_read_ros(reader, calibration);
}

/* PATHS: two paths, separated by the comma at COMMA. */
static int read_two(const char *paths, const char *comma, double scale, struct plx_stereo_calibration *calibration,
                    struct plx_error_message *message)
{
    struct plx_yaml *first = NULL, *second = NULL;
    char *path = strndup(paths, (size_t)(comma - paths));
    int result = path ? read_yaml(path, &first, message) : plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", paths);
    if (result == 0)
        result = read_yaml(comma + 1, &second, message);
    if (result == 0) {
        struct plx_reader reader[] = {{first, message, scale, 0}, {second, message, scale, 0}};
        result = read_pair(reader, calibration);
    }
    plx_yaml_destroy(second);
    plx_yaml_destroy(first);
    free(path);
    return result;
}

/* The comma between two paths; NULL where PATH is one. A file may have commas in its name: one that is there wins. */
static const char *find_comma(const char *path)
{
    const char *first = strchr(path, ',');
    if (!first || access(path, F_OK) == 0)
        return NULL;
    for (const char *comma = first; comma; comma = strchr(comma + 1, ',')) {
        char *before = strndup(path, (size_t)(comma - path));
        const bool both = before && access(before, F_OK) == 0 && access(comma + 1, F_OK) == 0;
        free(before);
        if (both)
            return comma;
    }
    return first;
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
    const char *comma = find_comma(path);
    int result = comma ? read_two(path, comma, options->scale, &calibration, message)
                       : read_one(path, options->scale, &calibration, message);
    if (result == 0)
        result = complete(path, options, &calibration, message);
    if (result == 0)
        *ret_calibration = calibration;
    return result;
}

int plx_calibration_read_beside(const char *directory, const struct plx_calibration_options *options,
                                struct plx_stereo_calibration *ret_calibration, struct plx_error_message *message)
{
    static const char *const names[][PLX_EYES] = {{"cam0/sensor.yaml", "cam1/sensor.yaml"},
                                                  {"mav0/cam0/sensor.yaml", "mav0/cam1/sensor.yaml"}};
    int result = plx_fail(message, PLX_ERR_NOT_FOUND, "%s: no calibration beside the pictures", directory);
    for (size_t i = 0; i < sizeof names / sizeof *names && result == PLX_ERR_NOT_FOUND; i++) {
        char *paths;
        if (asprintf(&paths, "%s/%s,%s/%s", directory, names[i][PLX_LEFT], directory, names[i][PLX_RIGHT]) < 0)
            return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
        result = plx_calibration_read(paths, options, ret_calibration, message);
        free(paths);
    }
    return result;
}
