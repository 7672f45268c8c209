/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three kinds of calibration files. Each reader fills sizes (0 where the file says none), camera models, extrinsics and,
 * if the file has it, the rectification, in the file's own unit of length, and leaves the rest of *calibration as it was.
 */
#ifndef PLX_CONFIG_CALIBRATION_FORMATS_H
#define PLX_CONFIG_CALIBRATION_FORMATS_H

#include "config/numbers.h"

bool plx_is_opencv(const struct plx_yaml_node *root);
int plx_read_opencv(const struct plx_reader *reader, struct plx_stereo_calibration *calibration);

bool plx_is_kalibr(const struct plx_yaml_node *root);
int plx_read_kalibr(const struct plx_reader *reader, struct plx_stereo_calibration *calibration);

bool plx_is_ros(const struct plx_yaml_node *root);
int plx_read_ros(const struct plx_reader reader[PLX_EYES], struct plx_stereo_calibration *calibration);

#endif
