/* SPDX-License-Identifier: Apache-2.0 */
/* Ego-motion on the CPU backend, as a pipeline runs it: stages of the left image, then the motion. */
#ifndef PLX_TESTS_MOTION_CAMERA_H
#define PLX_TESTS_MOTION_CAMERA_H

#include "core/motion/motion.h"

struct motion_camera;

/* As plx_motion_create. */
int motion_camera_create(int width, int height, const struct plx_calibration_info *calibration, struct motion_camera **ret);
void motion_camera_destroy(struct motion_camera *camera); /* NULL is fine */

struct plx_motion *motion_camera_motion(const struct motion_camera *camera);

/* The next frame: LEFT U8 and DISPARITY U16 of the size at creation. The error of a stage, or of plx_motion_update. */
int motion_camera_see(struct motion_camera *camera, const struct plx_image *left, const struct plx_image *disparity,
                      int64_t capture_ns, struct plx_motion_info *ret_info);

#endif
