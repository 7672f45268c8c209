/* SPDX-License-Identifier: Apache-2.0 */
/* What parallax-ros publishes, and the names that the section `ros` of the configuration gives it. */
#ifndef PLX_APP_ROS_TOPICS_H
#define PLX_APP_ROS_TOPICS_H

#include "bridge/topics.h"
#include "config/config.h"
#include "core/base/text.h"

#define PLX_ROS_NAME 256

struct plx_ros_names {
    char topic[PLX_TOPICS][PLX_ROS_NAME]; /* with a leading slash; "" if it is not offered */
    char frame[PLX_FRAME_IDS][PLX_ROS_NAME];
    struct plx_frame_names frames; /* FRAME, for messages */
};

/* Names from CONFIG. ARG: a key is wrong; the sentence names it. RET_NAMES must not be copied. */
int plx_ros_names(const struct plx_config *config, struct plx_ros_names *ret_names, struct plx_error_message *message);

#endif
