/* SPDX-License-Identifier: Apache-2.0 */
/* The topics that a frame fills: what recordings hold and parallax-ros publishes. */
#ifndef PLX_BRIDGE_TOPICS_H
#define PLX_BRIDGE_TOPICS_H

#include "bridge/frame_messages.h"

enum plx_topic_id {
    PLX_TOPIC_LEFT,
    PLX_TOPIC_RIGHT,
    PLX_TOPIC_COLOUR,
    PLX_TOPIC_LEFT_INFO,
    PLX_TOPIC_RIGHT_INFO,
    PLX_TOPIC_DISPARITY,
    PLX_TOPIC_DEPTH,
    PLX_TOPIC_DEPTH_INFO,
    PLX_TOPIC_POINTS,
    PLX_TOPIC_OBSTACLE_POINTS,
    PLX_TOPIC_SCAN,
    PLX_TOPIC_DROPS,
    PLX_TOPIC_MAP,
    PLX_TOPIC_VERDICT,
    PLX_TOPIC_OBSTACLES,
    PLX_TOPIC_MARKERS,
    PLX_TOPIC_ODOMETRY,
    PLX_TOPIC_FRAME_INFO,
    PLX_TOPIC_TF, /* these have names of their own, outside of the namespace */
    PLX_TOPIC_TF_STATIC,
    PLX_TOPIC_DIAGNOSTICS,
    PLX_TOPICS
};

#define PLX_NAMESPACE_TOPICS PLX_TOPIC_TF /* topics before these */

/* A message of any topic. */
union plx_topic_message {
    struct ros_image image;
    struct ros_camera_info camera_info;
    struct ros_disparity_image disparity;
    struct ros_point_cloud2 points;
    struct ros_laser_scan scan;
    struct ros_occupancy_grid map;
    struct ros_string verdict;
    struct ros_detection_3d_array obstacles;
    struct ros_marker_array markers;
    struct ros_odometry odometry;
    struct ros_diagnostic_array frame_info;
    struct ros_tf_message transforms;
};

struct plx_topic {
    const char *word;     /* what a person calls it; a picture and its camera info share it */
    const char *name;     /* below the namespace: "left/image_rect"; or absolute: "/tf" */
    const char *raw_name; /* in a raw frame; NULL: it has none */
    const struct plx_cdr_type *type;
    /* Fills the message of a frame; NULL: the topic is about the service. Errors of bridge/frame_messages.h. */
    int (*fill)(const struct plx_frame_messages *messages, union plx_topic_message *ret_message);
};

extern const struct plx_topic plx_topics[PLX_TOPICS];

/* All words, for people. */
#define PLX_NAMESPACE_TOPIC_WORDS                                                                                              \
    "left,right,colour,disparity,depth,points,points_obstacles,scan,drops,map,verdict,obstacles,markers,odom,frame_info"
#define PLX_TOPIC_WORDS PLX_NAMESPACE_TOPIC_WORDS ",tf,diagnostics"

#define PLX_TOPIC_NAME 64

/* The name of TOPIC in a recording and on the live page, below "/parallax": "" if a RAW frame has none. */
void plx_topic_name(enum plx_topic_id topic, bool raw, char ret_name[PLX_TOPIC_NAME]);

/* The topics whose word the LENGTH characters at WORD are: bit 1 << enum plx_topic_id; 0: there is none. */
uint32_t plx_topics_named(const char *word, size_t length);

/* Fills *ret_message, valid as the functions of bridge/frame_messages.h say. NOT_FOUND: this frame has nothing for TOPIC, as
 * for PLX_TOPIC_DIAGNOSTICS, which is about the service (bridge/diagnostics_message.h). ARG: there is no such topic. */
int plx_topic_fill(enum plx_topic_id topic, const struct plx_frame_messages *messages, union plx_topic_message *ret_message);

#endif
