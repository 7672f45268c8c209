/* SPDX-License-Identifier: Apache-2.0 */
/* The calib.txt of KITTI's odometry sequences (Geiger, Lenz, Urtasun, CVPR 2012): projections of rectified cameras. Parallax
 * marks pictures that are not rectified by a line of its own there. */
#ifndef PLX_DRIVERS_FILES_KITTI_H
#define PLX_DRIVERS_FILES_KITTI_H

#include <parallax/frame.h>

#include "core/text.h"

#define PLX_KITTI_RAW "rectified: 0" /* the line of calib.txt that says so */

/* Reads the 3x4 matrices FIRST (left) and FIRST + 1 (right) of PATH: lines "P0: ..." or, without names, counted from 0. Other
 * lines are ignored. NOT_FOUND (no file, or no such matrices in it), UNSUPPORTED (the pictures are not rectified), FORMAT,
 * RANGE (not a rectified pair), IO, PERMISSION. */
int plx_kitti_calibration(const char *path, int first, struct plx_calibration_info *ret_info,
                          struct plx_error_message *message);

#endif
