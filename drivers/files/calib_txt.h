/* SPDX-License-Identifier: Apache-2.0 */
/* The calibration that lies beside recorded pictures, which it takes as rectified: calib.txt of KITTI's odometry sequences and
 * calib_cam_to_cam.txt of its raw recordings (Geiger, Lenz, Urtasun, CVPR 2012), calib.txt of the Middlebury stereo datasets
 * (Scharstein et al., GCPR 2014). docs/sources.md. */
#ifndef PLX_DRIVERS_FILES_CALIB_TXT_H
#define PLX_DRIVERS_FILES_CALIB_TXT_H

#include <parallax/frame.h>

#include "core/base/text.h"
#include "core/geometry/calibration.h"

/* A line of Parallax in calib.txt: the pictures are not rectified. */
#define PLX_KITTI_RAW "rectified: 0"
/* Likewise, with the correction in force: drift of the calibration was dealt with when the pictures were taken. */
#define PLX_KITTI_CORRECTED PLX_CORRECTED ":"

/* Reads PATH: the 3x4 matrices FIRST (left) and FIRST + 1 (right) of KITTI, lines "P0: ...", "P_rect_00: ..." or, without
 * names, counted from 0; or cam0, cam1 and the baseline in millimetres of Middlebury. Other lines are ignored. NOT_FOUND (no
 * file), UNSUPPORTED (the pictures are not rectified), FORMAT, RANGE (not a rectified pair), IO, PERMISSION. */
int plx_calib_txt_read(const char *path, int first, struct plx_calibration_info *ret_info, struct plx_error_message *message);

/* Reads what lies beside the pictures of DIRECTORY, of WIDTH x HEIGHT. NOT_FOUND: there is nothing. The same errors else. */
int plx_calib_txt_find(const char *directory, int first, int width, int height, struct plx_stereo_calibration *ret_calibration,
                       struct plx_error_message *message);

#endif
