/* SPDX-License-Identifier: Apache-2.0 */
/* Where the left camera sits on the robot. */
#ifndef PLX_CORE_GEOMETRY_MOUNT_H
#define PLX_CORE_GEOMETRY_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

/* Pose of the left camera (rectified) in the robot's base of REP-103: x forward, y left, z up, the origin on the ground. Turned
 * about x, then y, then z; with no angle the camera looks along x. */
struct plx_mount {
    double x_m, y_m, z_m;                /* z_m 0: the mount is not known */
    double roll_deg, pitch_deg, yaw_deg; /* roll: clockwise about the view axis; pitch: down; yaw: to the left */
};

/* The mount as a frame has it: height, pitch and roll are those of GROUND where it is valid. */
void plx_mount_info(const struct plx_mount *mount, const struct plx_ground_info *ground, struct plx_mount_info *ret_info);

#endif
