/* SPDX-License-Identifier: Apache-2.0 */
/* What parallax-ros publishes, and the names that the section `ros` of the configuration gives it. */
#ifndef PLX_BRIDGE_ROS_TOPICS_H
#define PLX_BRIDGE_ROS_TOPICS_H

#include "bridge/topics.h"
#include "config/config.h"
#include "core/text.h"

/* The topics of a frame (enum plx_topic_id), then these. */
enum plx_ros_topic_id { PLX_ROS_TF = PLX_TOPICS, PLX_ROS_TF_STATIC, PLX_ROS_DIAGNOSTICS, PLX_ROS_TOPICS };

#define PLX_ROS_NAME 256

struct plx_ros_names {
    char topic[PLX_ROS_TOPICS][PLX_ROS_NAME]; /* with a leading slash; "" if it is not offered */
    char frame[PLX_FRAME_IDS][PLX_ROS_NAME];
    struct plx_frame_names frames; /* FRAME, for messages */
};

/* Names from CONFIG. ARG: a key is wrong; the sentence names it. RET_NAMES must not be copied. */
int plx_ros_names(const struct plx_config *config, struct plx_ros_names *ret_names, struct plx_error_message *message);

/* The type of a topic's messages. */
const struct plx_cdr_type *plx_ros_topic_type(int topic);

#endif
