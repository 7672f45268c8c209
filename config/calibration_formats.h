/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of calibration files, and the checked numbers that they read from YAML. Every error names the place, what stands
 * there and what was expected.
 */
#ifndef PLX_CONFIG_CALIBRATION_FORMATS_H
#define PLX_CONFIG_CALIBRATION_FORMATS_H

#include "config/yaml.h"
#include "core/calibration.h"

/* Where errors go, of which file they speak, and what its lengths are to be multiplied with. */
struct plx_reader {
    const struct plx_yaml *yaml;
    struct plx_error_message *message;
    double scale;
};

/* The child of MAP under KEY. FORMAT if there is none. */
int plx_need(const struct plx_reader *reader, const struct plx_yaml_node *map, const char *key,
             const struct plx_yaml_node **ret_node);

/* A plain list of LEAST to MOST finite numbers. */
int plx_read_list(const struct plx_reader *reader, const struct plx_yaml_node *node, int least, int most, double *ret_value,
                  int *ret_count);

/* A map of rows, cols and data (OpenCV, ROS): exactly ROWS x COLS finite numbers, row-major. */
int plx_read_matrix(const struct plx_reader *reader, const struct plx_yaml_node *node, int rows, int cols, double *ret_value);

/* The same for a row or a column of LEAST to MOST numbers. */
int plx_read_vector(const struct plx_reader *reader, const struct plx_yaml_node *node, int least, int most, double *ret_value,
                    int *ret_count);

/* A picture's side: a whole number of pixels, 1 to PLX_MAX_SIDE. */
int plx_read_side(const struct plx_reader *reader, const struct plx_yaml_node *node, int *ret_side);

/* Four numbers fx, fy, cx, cy that stand at NODE, into CAMERA. */
int plx_check_pinhole(const struct plx_reader *reader, const struct plx_yaml_node *node, const double value[4],
                      struct plx_camera *camera);

/* A 3x3 camera matrix. */
int plx_read_camera_matrix(const struct plx_reader *reader, const struct plx_yaml_node *node, struct plx_camera *camera);

/* RANGE unless the 3x3 numbers at NODE are a rotation. */
int plx_check_rotation(const struct plx_reader *reader, const struct plx_yaml_node *node, const double rotation[9]);

/* RANGE unless BASELINE, in the file's own unit at NODE, is one in metres once it is scaled. */
int plx_check_baseline(const struct plx_reader *reader, const struct plx_yaml_node *node, double baseline);

/* A 3x3 rotation matrix. */
int plx_read_rotation(const struct plx_reader *reader, const struct plx_yaml_node *node, double ret_rotation[9]);

/* The distortion model named by the scalar NODE, in the words of ROS, OpenCV or Kalibr; NODE NULL: by COUNT as OpenCV does.
 * Then COUNT coefficients in that model's order, which stand at PLACE, into CAMERA. */
int plx_set_distortion(const struct plx_reader *reader, const struct plx_yaml_node *node, const struct plx_yaml_node *place,
                       const double *value, int count, struct plx_camera *camera);

/* The three kinds of files. Each reader fills sizes (0 where the file says none), camera models, extrinsics and, if the file
 * has it, the rectification, in the file's own unit of length, and leaves the rest of *calibration as it was. */
bool plx_is_opencv(const struct plx_yaml_node *root);
int plx_read_opencv(const struct plx_reader *reader, struct plx_stereo_calibration *calibration);

bool plx_is_kalibr(const struct plx_yaml_node *root);
int plx_read_kalibr(const struct plx_reader *reader, struct plx_stereo_calibration *calibration);

bool plx_is_ros(const struct plx_yaml_node *root);
int plx_read_ros(const struct plx_reader reader[PLX_EYES], struct plx_stereo_calibration *calibration);

#endif
