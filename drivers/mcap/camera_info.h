/* SPDX-License-Identifier: Apache-2.0 */
/* sensor_msgs/CameraInfo of ROS 2 as a calibration. */
#ifndef PLX_DRIVERS_MCAP_CAMERA_INFO_H
#define PLX_DRIVERS_MCAP_CAMERA_INFO_H

#include <stdbool.h>

#include "core/geometry/calibration.h"
#include "formats/cdr/ros_types.h"

/* True if INFO says that its camera was never calibrated, as drivers publish it: P is zero, or K where the pictures are not
 * RECTIFIED. */
bool plx_info_is_empty(const struct ros_camera_info *info, bool rectified);

/* The calibration of both eyes for pictures of WIDTH x HEIGHT: K, D, R and P of raw pictures; of RECTIFIED ones only P. Binning
 * and region of interest are applied, as the message's definition says. RANGE, UNSUPPORTED, and what plx_calibration_check
 * returns: the numbers are none of a stereo camera, or of pictures of another size. */
int plx_info_calibration(const struct ros_camera_info info[PLX_EYES], int width, int height, bool rectified,
                         struct plx_stereo_calibration *ret_calibration, struct plx_error_message *error);

#endif
