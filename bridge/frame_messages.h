/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame as ROS 2 messages. Pictures and obstacles are in axes of parallax_left_optical_frame (REP-103: x right, y down, z
 * forward), motion in those of parallax_link (x forward, y left, z up), both at the left camera. The messages of the right eye
 * carry the left frame's id too, as image_geometry demands. Stamps are the middle of the exposure by the wall clock, the same
 * in all messages of a frame.
 *
 * FRAME is a whole frame, as plx_copy gives: its planes follow its header, and its plane table is checked. The messages point
 * into it, into SCRATCH and at constants, and are valid as long as these.
 */
#ifndef PLX_BRIDGE_FRAME_MESSAGES_H
#define PLX_BRIDGE_FRAME_MESSAGES_H

#include <parallax/frame.h>

#include "core/tracks/confirmed.h"
#include "formats/cdr/ros_types.h"

/* The coordinate frames of the messages. */
enum plx_frame_id {
    PLX_FRAME_LINK,
    PLX_FRAME_OPTICAL,
    PLX_FRAME_SCAN, /* levelled: the link, turned so that up is up from the ground */
    PLX_FRAME_ODOM,
    PLX_FRAME_IDS
};

/* Their names; those that recordings have are "parallax_link" and so on. */
struct plx_frame_names {
    const char *name[PLX_FRAME_IDS];
};
extern const struct plx_frame_names plx_frame_names;

struct plx_frame_messages {
    const struct plx_frame *frame;
    int64_t realtime_ns; /* the stamp's time */
    const struct plx_frame_names *names;
    void *scratch; /* plx_frame_messages_scratch bytes, aligned to 8; one message at a time uses it */
    /* For detections and markers that people watch: confirmed obstacles, and lost ones for one frame more; of the frame before
     * FRAME. NULL: all that are seen in this frame, as in recordings. */
    const struct plx_confirmed *confirmed;
};

/* Bytes of scratch that every message of a frame as large as FRAME can do with. */
size_t plx_frame_messages_scratch(const struct plx_frame *frame);

struct ros_time plx_ros_time(int64_t realtime_ns);

/* The header of all messages of the frame. */
struct ros_header plx_message_header(const struct plx_frame_messages *messages, enum plx_frame_id id);

/* The picture of EYE, mono8. NOT_FOUND: the frame has none (publish.right is off). */
int plx_message_image(const struct plx_frame_messages *messages, enum plx_eye eye, struct ros_image *ret_image);

/* The left picture in colour, rgb8. NOT_FOUND: the frame has none (colour.enabled is off). */
int plx_message_colour(const struct plx_frame_messages *messages, struct ros_image *ret_image);

/* The rectified camera of EYE. NOT_FOUND: the frame is raw. */
int plx_message_camera_info(const struct plx_frame_messages *messages, enum plx_eye eye, struct ros_camera_info *ret_info);

/* The strict disparity, 32FC1, with disparity 0 at infinity; what is unknown is 1 less than min_disparity. NOT_FOUND: the frame
 * has none. */
int plx_message_disparity(const struct plx_frame_messages *messages, struct ros_disparity_image *ret_disparity);

/* Z of each pixel, 32FC1 metres; NAN where it is unknown, +Inf at infinity (REP-118). NOT_FOUND: the frame has no disparity. */
int plx_message_depth(const struct plx_frame_messages *messages, struct ros_image *ret_image);

/* Points whose depth is known: of every second column of every second row; or all those of the obstacles in the list.
 * NOT_FOUND: the frame has no disparity; or it has no labels or is blind. */
int plx_message_points(const struct plx_frame_messages *messages, struct ros_point_cloud2 *ret_cloud);
int plx_message_obstacle_points(const struct plx_frame_messages *messages, struct ros_point_cloud2 *ret_cloud);

/* What stands in each column up to 10 m along the ground, in frame parallax_scan: as many beams as columns. +Inf: free to the
 * end of the range; NAN: not known (REP-117). NOT_FOUND: the frame has no scan, or no ground. */
int plx_message_scan(const struct plx_frame_messages *messages, struct ros_laser_scan *ret_scan);

/* Likewise, the edge at which the ground falls away in each column. +Inf: the ground is free to the end of the range; NAN: no
 * drop is seen, but free ground ends before, or nothing is known. */
int plx_message_drops(const struct plx_frame_messages *messages, struct ros_laser_scan *ret_scan);

/* The ground around the robot, in frame parallax_scan: -1 unknown, 0 free, 100 occupied or a drop. The pose of the origin is
 * that of the corner of cell [0][0]: rows run along y of the map, which is turned about up against the frame, and the ground is
 * below it. NOT_FOUND: the frame has no map. */
int plx_message_map(const struct plx_frame_messages *messages, struct ros_occupancy_grid *ret_map);

/* The same for Nav2, whose readers take no turned raster: a raster along the axes of parallax_scan with the same middle. A cell
 * is lethal (254; also a drop) or unknown (255) if one of the four that it lies between is. Unknown beyond the map. NOT_FOUND.
 */
int plx_message_costmap(const struct plx_frame_messages *messages, struct ros_costmap *ret_costmap);

/* Outlines for the collision monitor of Nav2, in axes of parallax_link, with LIMIT as their id. While the verdict is LIMIT or
 * stricter: a square of half a metre around the origin of the robot's base, and the zone that decides. Else, as a sign of life,
 * a tiny one a kilometre behind. */
int plx_message_zone(const struct plx_frame_messages *messages, enum plx_verdict_kind limit,
                     struct ros_polygon_instance_stamped *ret_zone);

/* 100 % while the verdict is go, else SLOW_PERCENT; never 0, which means no limit. */
int plx_message_speed_limit(const struct plx_frame_messages *messages, double slow_percent, struct ros_speed_limit *ret_limit);

/* The frame's verdict as one word: "go", "slow" or "stop"; what this program does not know is "stop". */
int plx_message_verdict(const struct plx_frame_messages *messages, struct ros_string *ret_verdict);

/* The obstacles of this frame, as messages->confirmed says: id = track, class "obstacle", score = confidence. NOT_FOUND: the
 * frame is blind, where an empty list would say that nothing stands there. */
int plx_message_obstacles(const struct plx_frame_messages *messages, struct ros_detection_3d_array *ret_obstacles);

/* Likewise, a box and its track's number and distance for each, which viewers drop after half a second. */
int plx_message_markers(const struct plx_frame_messages *messages, struct ros_marker_array *ret_markers);

/* Pose in the axes of parallax_link at the start (frame "odom"), with variances of 1e6 because a frame does not hold what the
 * drift has summed up to, and the velocity with its covariance. NOT_FOUND: the motion is not known. */
int plx_message_odometry(const struct plx_frame_messages *messages, struct ros_odometry *ret_odometry);

/* What the pictures do not say, as one status of diagnostic_msgs, "parallax: frame": state, flags, verdict, sequence, and of
 * each eye the camera's frame number, drops, exposure and gain; keys end with their unit. Its level is that of the state. */
int plx_message_frame_info(const struct plx_frame_messages *messages, struct ros_diagnostic_array *ret_info);

/* parallax_left_optical_frame, which never changes, and parallax_scan, which follows the ground, both in parallax_link. */
int plx_message_optical_transform(const struct plx_frame_messages *messages, struct ros_tf_message *ret_transforms);
int plx_message_scan_transform(const struct plx_frame_messages *messages, struct ros_tf_message *ret_transforms);

#endif
