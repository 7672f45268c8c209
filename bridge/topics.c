/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/topics.h"

#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

const struct plx_topic plx_topics[PLX_TOPICS] = {
    [PLX_TOPIC_LEFT] = {"left", "left/image_rect", "left/image_raw", &ros_image_type},
    [PLX_TOPIC_RIGHT] = {"right", "right/image_rect", "right/image_raw", &ros_image_type},
    [PLX_TOPIC_LEFT_INFO] = {"left", "left/camera_info", NULL, &ros_camera_info_type},
    [PLX_TOPIC_RIGHT_INFO] = {"right", "right/camera_info", NULL, &ros_camera_info_type},
    [PLX_TOPIC_DISPARITY] = {"disparity", "disparity", NULL, &ros_disparity_image_type},
    [PLX_TOPIC_DEPTH] = {"depth", "depth/image_rect", NULL, &ros_image_type},
    [PLX_TOPIC_DEPTH_INFO] = {"depth", "depth/camera_info", NULL, &ros_camera_info_type},
    [PLX_TOPIC_POINTS] = {"points", "points", NULL, &ros_point_cloud2_type},
    [PLX_TOPIC_OBSTACLE_POINTS] = {"points_obstacles", "points_obstacles", NULL, &ros_point_cloud2_type},
    [PLX_TOPIC_SCAN] = {"scan", "scan", NULL, &ros_laser_scan_type},
    [PLX_TOPIC_DROPS] = {"drops", "drops", NULL, &ros_laser_scan_type},
    [PLX_TOPIC_MAP] = {"map", "map", NULL, &ros_occupancy_grid_type},
    [PLX_TOPIC_VERDICT] = {"verdict", "verdict", NULL, &ros_string_type},
    [PLX_TOPIC_OBSTACLES] = {"obstacles", "obstacles", NULL, &ros_detection_3d_array_type},
    [PLX_TOPIC_MARKERS] = {"markers", "obstacles_markers", NULL, &ros_marker_array_type},
    [PLX_TOPIC_ODOMETRY] = {"odom", "odom", NULL, &ros_odometry_type},
    [PLX_TOPIC_FRAME_INFO] = {"frame_info", "frame_info", "frame_info", &ros_diagnostic_array_type},
    [PLX_TOPIC_TF] = {"tf", "/tf", NULL, &ros_tf_message_type},
    [PLX_TOPIC_TF_STATIC] = {"tf", "/tf_static", "/tf_static", &ros_tf_message_type},
    [PLX_TOPIC_DIAGNOSTICS] = {"diagnostics", "/diagnostics", "/diagnostics", &ros_diagnostic_array_type},
};

void plx_topic_name(enum plx_topic_id topic, bool raw, char ret_name[PLX_TOPIC_NAME])
{
    const char *name = raw ? plx_topics[topic].raw_name : plx_topics[topic].name;
    snprintf(ret_name, PLX_TOPIC_NAME, "%s%s", !name || *name == '/' ? "" : "/parallax/", name ? name : "");
}

uint32_t plx_topics_named(const char *word, size_t length)
{
    uint32_t named = 0;
    for (int i = 0; i < PLX_TOPICS; i++)
        if (strlen(plx_topics[i].word) == length && strncmp(plx_topics[i].word, word, length) == 0)
            named |= 1u << i;
    return named;
}

int plx_topic_fill(enum plx_topic_id topic, const struct plx_frame_messages *messages, union plx_topic_message *ret_message)
{
    const bool raw = (messages->frame->health & PLX_HEALTH_NOT_CALIBRATED) != 0;
    if (raw && topic < PLX_TOPICS && !plx_topics[topic].raw_name)
        return PLX_ERR_NOT_FOUND;
    const bool about_obstacles =
        topic == PLX_TOPIC_OBSTACLES || topic == PLX_TOPIC_MARKERS || topic == PLX_TOPIC_OBSTACLE_POINTS;
    if (messages->frame->blind && about_obstacles) /* an empty message would say that nothing stands there */
        return PLX_ERR_NOT_FOUND;
    switch (topic) {
    case PLX_TOPIC_LEFT:
    case PLX_TOPIC_RIGHT:
        return plx_message_image(messages, topic == PLX_TOPIC_LEFT ? PLX_LEFT : PLX_RIGHT, &ret_message->image);
    case PLX_TOPIC_LEFT_INFO:
    case PLX_TOPIC_DEPTH_INFO:
        return plx_message_camera_info(messages, PLX_LEFT, &ret_message->camera_info);
    case PLX_TOPIC_RIGHT_INFO:
        return plx_message_camera_info(messages, PLX_RIGHT, &ret_message->camera_info);
    case PLX_TOPIC_DISPARITY:
        return plx_message_disparity(messages, &ret_message->disparity);
    case PLX_TOPIC_DEPTH:
        return plx_message_depth(messages, &ret_message->image);
    case PLX_TOPIC_POINTS:
        return plx_message_points(messages, &ret_message->points);
    case PLX_TOPIC_OBSTACLE_POINTS:
        return plx_message_obstacle_points(messages, &ret_message->points);
    case PLX_TOPIC_SCAN:
        return plx_message_scan(messages, &ret_message->scan);
    case PLX_TOPIC_DROPS:
        return plx_message_drops(messages, &ret_message->scan);
    case PLX_TOPIC_MAP:
        return plx_message_map(messages, &ret_message->map);
    case PLX_TOPIC_VERDICT:
        plx_message_verdict(messages, &ret_message->verdict);
        return 0;
    case PLX_TOPIC_OBSTACLES:
        plx_message_obstacles(messages, &ret_message->obstacles);
        return 0;
    case PLX_TOPIC_MARKERS:
        plx_message_markers(messages, &ret_message->markers);
        return 0;
    case PLX_TOPIC_ODOMETRY:
        return plx_message_odometry(messages, &ret_message->odometry);
    case PLX_TOPIC_FRAME_INFO:
        plx_message_frame_info(messages, &ret_message->frame_info);
        return 0;
    case PLX_TOPIC_TF:
        plx_message_scan_transform(messages, &ret_message->transforms);
        return 0;
    case PLX_TOPIC_TF_STATIC:
        plx_message_optical_transform(messages, &ret_message->transforms);
        return 0;
    case PLX_TOPIC_DIAGNOSTICS:
        return PLX_ERR_NOT_FOUND;
    case PLX_TOPICS:
        break;
    }
    return PLX_ERR_ARG;
}
