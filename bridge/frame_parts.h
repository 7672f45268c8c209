/* SPDX-License-Identifier: Apache-2.0 */
/* What the messages of a frame share: its planes, its scratch and the axes of ROS. */
#ifndef PLX_BRIDGE_FRAME_PARTS_H
#define PLX_BRIDGE_FRAME_PARTS_H

#include <parallax/frame.h>

#include "core/motion/pose.h"
#include "formats/cdr/ros_types.h"

#define PLX_OBSTACLE_SCRATCH 327680 /* bytes, for the obstacles of one frame */
#define PLX_POINT_BYTES 16          /* x, y, z, intensity */

const void *plx_message_row(const struct plx_frame *frame, enum plx_plane_id id, uint32_t y);

/* Z of a value of the disparity plane, metres; NAN where that is unknown, INFINITY at infinity and beyond. */
double plx_message_depth_of(const struct plx_frame *frame, uint16_t disparity);

/* From axes of the camera (x right, y down, z forward) to those of parallax_link (x forward, y left, z up). */
extern const struct plx_pose plx_link_from_camera;

/* Moves points of the robot's base, which FRAME must know, to axes of parallax_link. */
struct plx_pose plx_link_from_base(const struct plx_frame *frame);

/* The rotation from axes of parallax_scan to those of parallax_link, row-major: up is up from the ground, forward is forward
 * along it. The identity while no ground is known, or the camera looks straight down or up. */
void plx_link_from_scan(const struct plx_ground_info *ground, double ret_rotation[9]);

/* Covariance of a pose whose position POINT, m in axes of the camera, lies at a distance with standard deviation SIGMA_M: along
 * the ray by that, across it by a pixel of focal length FX; its turn is unknown. SIGMA_M 0 or NAN, not known: the first element
 * is -1, and the others are 0. */
void plx_position_covariance(const double point[3], double sigma_m, double fx, double ret_covariance[36]);

/* The unit quaternion of rotation R, row-major, with w >= 0. */
struct ros_quaternion plx_quaternion(const double r[9]);

#endif
