/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/topics.h"

#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

/* fill_NAME fills MEMBER of the union. */
#define FILL(name, member)                                                                                                     \
    static int fill_##name(const struct plx_frame_messages *messages, union plx_topic_message *ret_message)                    \
    {                                                                                                                          \
        return plx_message_##name(messages, &ret_message->member);                                                             \
    }
/* fill_WHICH fills MEMBER by the function of that name for EYE. */
#define FILL_EYE(which, member, eye)                                                                                           \
    static int fill_##which(const struct plx_frame_messages *messages, union plx_topic_message *ret_message)                   \
    {                                                                                                                          \
        return plx_message_##member(messages, eye, &ret_message->member);                                                      \
    }

/* clang-format off */
FILL_EYE(left, image, PLX_LEFT)
FILL_EYE(right, image, PLX_RIGHT)
FILL(colour, image)
FILL_EYE(left_info, camera_info, PLX_LEFT)
FILL_EYE(right_info, camera_info, PLX_RIGHT)
FILL(disparity, disparity)
FILL(depth, image)
FILL(points, points)
FILL(obstacle_points, points)
FILL(scan, scan)
FILL(drops, scan)
FILL(map, map)
FILL(verdict, verdict)
FILL(obstacles, obstacles)
FILL(markers, markers)
FILL(odometry, odometry)
FILL(frame_info, frame_info)
FILL(scan_transform, transforms)
FILL(optical_transform, transforms)
/* clang-format on */

const struct plx_topic plx_topics[PLX_TOPICS] = {
    [PLX_TOPIC_LEFT] = {"left", "left/image_rect", "left/image_raw", &ros_image_type, fill_left},
    [PLX_TOPIC_RIGHT] = {"right", "right/image_rect", "right/image_raw", &ros_image_type, fill_right},
    [PLX_TOPIC_COLOUR] = {"colour", "left/image_rect_color", NULL, &ros_image_type, fill_colour},
    [PLX_TOPIC_LEFT_INFO] = {"left", "left/camera_info", NULL, &ros_camera_info_type, fill_left_info},
    [PLX_TOPIC_RIGHT_INFO] = {"right", "right/camera_info", NULL, &ros_camera_info_type, fill_right_info},
    [PLX_TOPIC_DISPARITY] = {"disparity", "disparity", NULL, &ros_disparity_image_type, fill_disparity},
    [PLX_TOPIC_DEPTH] = {"depth", "depth/image_rect", NULL, &ros_image_type, fill_depth},
    [PLX_TOPIC_DEPTH_INFO] = {"depth", "depth/camera_info", NULL, &ros_camera_info_type, fill_left_info},
    [PLX_TOPIC_POINTS] = {"points", "points", NULL, &ros_point_cloud2_type, fill_points},
    [PLX_TOPIC_OBSTACLE_POINTS] = {"points_obstacles", "points_obstacles", NULL, &ros_point_cloud2_type, fill_obstacle_points},
    [PLX_TOPIC_SCAN] = {"scan", "scan", NULL, &ros_laser_scan_type, fill_scan},
    [PLX_TOPIC_DROPS] = {"drops", "drops", NULL, &ros_laser_scan_type, fill_drops},
    [PLX_TOPIC_MAP] = {"map", "map", NULL, &ros_occupancy_grid_type, fill_map},
    [PLX_TOPIC_VERDICT] = {"verdict", "verdict", NULL, &ros_string_type, fill_verdict},
    [PLX_TOPIC_OBSTACLES] = {"obstacles", "obstacles", NULL, &ros_detection_3d_array_type, fill_obstacles},
    [PLX_TOPIC_MARKERS] = {"markers", "obstacles_markers", NULL, &ros_marker_array_type, fill_markers},
    [PLX_TOPIC_ODOMETRY] = {"odom", "odom", NULL, &ros_odometry_type, fill_odometry},
    [PLX_TOPIC_FRAME_INFO] = {"frame_info", "frame_info", "frame_info", &ros_diagnostic_array_type, fill_frame_info},
    [PLX_TOPIC_TF] = {"tf", "/tf", NULL, &ros_tf_message_type, fill_scan_transform},
    [PLX_TOPIC_TF_STATIC] = {"tf", "/tf_static", "/tf_static", &ros_tf_message_type, fill_optical_transform},
    [PLX_TOPIC_DIAGNOSTICS] = {"diagnostics", "/diagnostics", "/diagnostics", &ros_diagnostic_array_type, NULL},
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
    if (topic >= PLX_TOPICS)
        return PLX_ERR_ARG;
    const struct plx_topic *row = &plx_topics[topic];
    return row->fill && (!raw || row->raw_name) ? row->fill(messages, ret_message) : PLX_ERR_NOT_FOUND;
}
