/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of calibration files, and the checked numbers that they read from YAML. Every error names the place, the value
 * there and what was expected. A reader keeps its first error: the calls after it do nothing and return 0 or NULL, so that only
 * the end of a file's reader looks at it. A NULL node is allowed after an error.
 */
#ifndef PLX_CONFIG_CALIBRATION_READER_H
#define PLX_CONFIG_CALIBRATION_READER_H

#include "config/yaml.h"
#include "core/geometry/calibration.h"

struct plx_reader {
    const struct plx_yaml *yaml;
    struct plx_error_message *message; /* gets the first error */
    double scale;                      /* metres per unit of length of the file */
    int error;                         /* the first plx_error; 0 = none */
};

/* Reports ERROR at NODE (the file, if NULL) unless there is an earlier one. */
void plx_reader_fail(struct plx_reader *reader, const struct plx_yaml_node *node, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The child of MAP under KEY. FORMAT if there is none. */
const struct plx_yaml_node *plx_need(struct plx_reader *reader, const struct plx_yaml_node *map, const char *key);

/* A finite number. */
double plx_read_real(struct plx_reader *reader, const struct plx_yaml_node *node);

typedef int plx_read_numbers(struct plx_reader *reader, const struct plx_yaml_node *node, int min_count, int max_count,
                             double *ret_value);
/* A plain list of MIN_COUNT to MAX_COUNT finite numbers; returns how many. */
plx_read_numbers plx_read_list;

/* A map of rows, cols and data (OpenCV, ROS): exactly ROWS x COLS finite numbers, row-major. */
void plx_read_matrix(struct plx_reader *reader, const struct plx_yaml_node *node, int rows, int cols, double *ret_value);

/* The same for a row or a column of MIN_COUNT to MAX_COUNT numbers; returns how many. */
plx_read_numbers plx_read_vector;

/* A picture's side: a whole number of pixels, 1 to PLX_MAX_SIDE. */
int plx_read_side(struct plx_reader *reader, const struct plx_yaml_node *node);

/* Reads a 3x3 camera matrix, or takes fx, fy, cx, cy from VALUE, read at NODE; checks them and stores them in CAMERA. */
void plx_read_camera_matrix(struct plx_reader *reader, const struct plx_yaml_node *node, struct plx_camera *camera);
void plx_check_pinhole(struct plx_reader *reader, const struct plx_yaml_node *node, const double value[4],
                       struct plx_camera *camera);

/* Reads a 3x3 rotation matrix, or only checks that the numbers of NODE are a rotation. RANGE if they are not. */
void plx_read_rotation(struct plx_reader *reader, const struct plx_yaml_node *node, double ret_rotation[9]);
void plx_check_rotation(struct plx_reader *reader, const struct plx_yaml_node *node, const double rotation[9]);

/* RANGE unless BASELINE, in the file's own unit at NODE, is plausible in metres once it is scaled. */
void plx_check_baseline(struct plx_reader *reader, const struct plx_yaml_node *node, double baseline);

/* The coefficients at NODE, which READ (plx_read_list or plx_read_vector) reads, into CAMERA, with the distortion model that
 * the scalar NAME names in the words of ROS, OpenCV or Kalibr; NAME NULL: by their number, as OpenCV does. */
void plx_read_distortion(struct plx_reader *reader, const struct plx_yaml_node *name, const struct plx_yaml_node *node,
                         plx_read_numbers *read, struct plx_camera *camera);

/* The kinds of files. Each reader fills sizes (0 where the file says none), camera models, extrinsics and, if the file
 * has it, the rectification, in the file's own unit of length, and leaves the rest of *calibration as it was. After an error
 * *calibration is undefined. Returns the reader's error. */
bool plx_is_opencv(const struct plx_yaml_node *root); /* has the cameras */
bool plx_is_opencv_pose(const struct plx_yaml_node *root);
/* CAMERAS and POSE are one reader, or those of two files. */
int plx_read_opencv(struct plx_reader *cameras, struct plx_reader *pose, struct plx_stereo_calibration *calibration);

bool plx_is_kalibr(const struct plx_yaml_node *root);
int plx_read_kalibr(struct plx_reader *reader, struct plx_stereo_calibration *calibration);

bool plx_is_euroc(const struct plx_yaml_node *root);
int plx_read_euroc(struct plx_reader reader[PLX_EYES], struct plx_stereo_calibration *calibration);

bool plx_is_orbslam(const struct plx_yaml_node *root); /* 3; the files of 2 are read as OpenCV's */
int plx_read_orbslam(struct plx_reader *reader, struct plx_stereo_calibration *calibration);

bool plx_is_ros(const struct plx_yaml_node *root);
int plx_read_ros(struct plx_reader reader[PLX_EYES], struct plx_stereo_calibration *calibration);

#endif
