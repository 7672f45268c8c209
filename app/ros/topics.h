/* SPDX-License-Identifier: Apache-2.0 */
/* What parallax-ros publishes and reads, and the names that the section `ros` of the configuration gives it. */
#ifndef PLX_APP_ROS_TOPICS_H
#define PLX_APP_ROS_TOPICS_H

#include "bridge/topics.h"
#include "config/config.h"
#include "core/base/text.h"

#define PLX_ROS_NAME 256

/* Topics of ROS alone, behind those of bridge/topics.h: compressed pictures; for Nav2; and the boxes of a detector, which are
 * read, and the answers. */
enum plx_ros_topic_id {
    PLX_ROS_TOPIC_LEFT_JPEG = PLX_TOPICS,
    PLX_ROS_TOPIC_COLOUR_JPEG,
    PLX_ROS_TOPIC_DEPTH_PNG,
    PLX_ROS_TOPIC_COSTMAP,
    PLX_ROS_TOPIC_ZONE_STOP,
    PLX_ROS_TOPIC_ZONE_SLOW,
    PLX_ROS_TOPIC_SPEED_LIMIT,
    PLX_ROS_TOPIC_BOXES,
    PLX_ROS_TOPIC_LOCATED,
    PLX_ROS_TOPIC_LOCATE_INFO,
    PLX_ROS_TOPICS
};

struct plx_ros_topic {
    const char *word, *name; /* as in struct plx_topic */
    const struct plx_cdr_type *type;
};

union plx_ros_message {
    union plx_topic_message common;
    struct ros_compressed_image compressed;
    struct ros_costmap costmap;
    struct ros_polygon_instance_stamped zone;
    struct ros_speed_limit speed_limit;
};

/* TOPIC is an enum plx_topic_id or plx_ros_topic_id. */
struct plx_ros_topic plx_ros_topic_of(int topic);

struct plx_ros_names {
    char topic[PLX_ROS_TOPICS][PLX_ROS_NAME]; /* with a leading slash; "" if it is not offered */
    char frame[PLX_FRAME_IDS][PLX_ROS_NAME];
    struct plx_frame_names frames; /* FRAME, for messages */
    int slow_percent;              /* ros.slow_percent */
};

struct plx_ros_compressor;

/* What topics of ROS alone need besides the frame. */
struct plx_ros_tools {
    double slow_percent; /* ros.slow_percent */
    struct plx_ros_compressor *compressor;
};

/* Fills the message of a frame for TOPIC. NOT_FOUND: it has none, or no frame fills that topic; errors of app/ros/compressor.h.
 */
int plx_ros_topic_fill(int topic, const struct plx_frame_messages *messages, const struct plx_ros_tools *tools,
                       union plx_ros_message *ret_message);

/* Names from CONFIG. ARG: a key is wrong; the sentence names it. RET_NAMES must not be copied. */
int plx_ros_names(const struct plx_config *config, struct plx_ros_names *ret_names, struct plx_error_message *message);

#endif
