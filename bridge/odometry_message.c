/* SPDX-License-Identifier: Apache-2.0 */
/* Ego-motion as nav_msgs/Odometry, in axes of parallax_link. */
#include <math.h>

#include <parallax/error.h>

#include "bridge/frame_messages.h"
#include "bridge/frame_parts.h"
#include "core/base/clock.h"
#include "core/motion/pose.h"

#define UNKNOWN_VARIANCE 1e6 /* m², rad²: filters read zeros as a perfect pose */

/* The motion POSE of the camera as one of parallax_link. */
static struct plx_pose link_motion(const struct plx_pose *pose)
{
    struct plx_pose result;
    plx_pose_invert(&plx_link_from_camera, &result);
    plx_pose_compose(pose, &result, &result);
    plx_pose_compose(&plx_link_from_camera, &result, &result);
    return result;
}

/* The rotation vector of a unit quaternion with w >= 0, times SCALE. */
static struct ros_vector3 rotation_vector(const struct ros_quaternion *q, double scale)
{
    const double sine = sqrt(q->x * q->x + q->y * q->y + q->z * q->z);
    const double factor = sine > 0 ? 2 * atan2(sine, q->w) / sine * scale : 0;
    return (struct ros_vector3){q->x * factor, q->y * factor, q->z * factor};
}

int plx_message_odometry(const struct plx_frame_messages *messages, struct ros_odometry *ret_odometry)
{
    const struct plx_motion_info *motion = &messages->frame->motion;
    if (!motion->valid || motion->interval_ns <= 0)
        return PLX_ERR_NOT_FOUND;
    const double rate = (double)PLX_NS_PER_S / (double)motion->interval_ns;
    const struct plx_pose link = link_motion(&motion->pose), step = link_motion(&motion->motion);
    const struct ros_quaternion turn = plx_quaternion(step.rotation);
    struct plx_pose back; /* its translation is where the robot was, in axes of the robot now */
    plx_pose_invert(&step, &back);

    *ret_odometry = (struct ros_odometry){
        .header = plx_message_header(messages, PLX_FRAME_ODOM),
        .child_frame_id = messages->names->name[PLX_FRAME_LINK],
        .pose.pose = {{link.translation[0], link.translation[1], link.translation[2]}, plx_quaternion(link.rotation)},
        .twist.twist = {{-back.translation[0] * rate, -back.translation[1] * rate, -back.translation[2] * rate},
                        rotation_vector(&turn, rate)},
    };
    plx_pose_move_covariance(&plx_link_from_camera, motion->covariance, ret_odometry->twist.covariance);
    for (int i = 0; i < 36; i++)
        ret_odometry->twist.covariance[i] *= rate * rate;
    for (int i = 0; i < 6; i++)
        ret_odometry->pose.covariance[7 * i] = UNKNOWN_VARIANCE;
    return 0;
}
