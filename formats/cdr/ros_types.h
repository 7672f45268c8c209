/* SPDX-License-Identifier: Apache-2.0 */
/* The ROS 2 messages that Parallax writes and reads, as Humble to Jazzy define them (packages common_interfaces, geometry2,
 * vision_msgs 4 and nav2_msgs), and the tables of their fields. Units and conventions are those of the message definitions. */
#ifndef PLX_FORMATS_CDR_ROS_TYPES_H
#define PLX_FORMATS_CDR_ROS_TYPES_H

#include <stdbool.h>

#include "formats/cdr/cdr.h"

struct ros_time {
    int32_t sec;
    uint32_t nanosec;
};

struct ros_duration {
    int32_t sec;
    uint32_t nanosec;
};

struct ros_header {
    struct ros_time stamp;
    const char *frame_id;
};

struct ros_string {
    const char *data;
};

struct ros_color {
    float r, g, b, a;
};

struct ros_vector3 {
    double x, y, z;
};

struct ros_point {
    double x, y, z;
};

struct ros_quaternion {
    double x, y, z, w;
};

struct ros_pose {
    struct ros_point position;
    struct ros_quaternion orientation;
};

struct ros_pose_with_covariance {
    struct ros_pose pose;
    double covariance[36];
};

struct ros_twist {
    struct ros_vector3 linear, angular;
};

struct ros_twist_with_covariance {
    struct ros_twist twist;
    double covariance[36];
};

struct ros_transform {
    struct ros_vector3 translation;
    struct ros_quaternion rotation;
};

struct ros_transform_stamped {
    struct ros_header header;
    const char *child_frame_id;
    struct ros_transform transform;
};

struct ros_tf_message {
    PLX_CDR_SEQUENCE_OF(struct ros_transform_stamped) transforms;
};

struct ros_image {
    struct ros_header header;
    uint32_t height, width;
    const char *encoding;
    uint8_t is_bigendian;
    uint32_t step;
    PLX_CDR_SEQUENCE_OF(uint8_t) data;
};

struct ros_compressed_image {
    struct ros_header header;
    const char *format;
    PLX_CDR_SEQUENCE_OF(uint8_t) data;
};

struct ros_region_of_interest {
    uint32_t x_offset, y_offset, height, width;
    bool do_rectify;
};

struct ros_camera_info {
    struct ros_header header;
    uint32_t height, width;
    const char *distortion_model;
    PLX_CDR_SEQUENCE_OF(double) d;
    double k[9], r[9], p[12];
    uint32_t binning_x, binning_y;
    struct ros_region_of_interest roi;
};

struct ros_point_field {
    const char *name;
    uint32_t offset;
    uint8_t datatype; /* ROS_POINT_FLOAT32 */
    uint32_t count;
};

#define ROS_POINT_FLOAT32 7

struct ros_point_cloud2 {
    struct ros_header header;
    uint32_t height, width;
    PLX_CDR_SEQUENCE_OF(struct ros_point_field) fields;
    bool is_bigendian;
    uint32_t point_step, row_step;
    PLX_CDR_SEQUENCE_OF(uint8_t) data;
    bool is_dense;
};

struct ros_laser_scan {
    struct ros_header header;
    float angle_min, angle_max, angle_increment, time_increment, scan_time, range_min, range_max;
    PLX_CDR_SEQUENCE_OF(float) ranges;
    PLX_CDR_SEQUENCE_OF(float) intensities;
};

struct ros_disparity_image {
    struct ros_header header;
    struct ros_image image;
    float f, t;
    struct ros_region_of_interest valid_window;
    float min_disparity, max_disparity, delta_d;
};

struct ros_object_hypothesis {
    const char *class_id;
    double score;
};

struct ros_object_hypothesis_with_pose {
    struct ros_object_hypothesis hypothesis;
    struct ros_pose_with_covariance pose;
};

struct ros_point_2d {
    double x, y;
};

struct ros_pose_2d {
    struct ros_point_2d position;
    double theta;
};

struct ros_bounding_box_2d {
    struct ros_pose_2d center;
    double size_x, size_y;
};

struct ros_detection_2d {
    struct ros_header header;
    PLX_CDR_SEQUENCE_OF(struct ros_object_hypothesis_with_pose) results;
    struct ros_bounding_box_2d bbox;
    const char *id;
};

struct ros_detection_2d_array {
    struct ros_header header;
    PLX_CDR_SEQUENCE_OF(struct ros_detection_2d) detections;
};

struct ros_bounding_box_3d {
    struct ros_pose center;
    struct ros_vector3 size;
};

struct ros_detection_3d {
    struct ros_header header;
    PLX_CDR_SEQUENCE_OF(struct ros_object_hypothesis_with_pose) results;
    struct ros_bounding_box_3d bbox;
    const char *id;
};

struct ros_detection_3d_array {
    struct ros_header header;
    PLX_CDR_SEQUENCE_OF(struct ros_detection_3d) detections;
};

struct ros_uv_coordinate {
    float u, v;
};

struct ros_mesh_file {
    const char *filename;
    PLX_CDR_SEQUENCE_OF(uint8_t) data;
};

struct ros_marker {
    struct ros_header header;
    const char *ns;
    int32_t id, type, action;
    struct ros_pose pose;
    struct ros_vector3 scale;
    struct ros_color color;
    struct ros_duration lifetime;
    bool frame_locked;
    PLX_CDR_SEQUENCE_OF(struct ros_point) points;
    PLX_CDR_SEQUENCE_OF(struct ros_color) colors;
    const char *texture_resource;
    struct ros_compressed_image texture;
    PLX_CDR_SEQUENCE_OF(struct ros_uv_coordinate) uv_coordinates;
    const char *text, *mesh_resource;
    struct ros_mesh_file mesh_file;
    bool mesh_use_embedded_materials;
};

struct ros_marker_array {
    PLX_CDR_SEQUENCE_OF(struct ros_marker) markers;
};

struct ros_odometry {
    struct ros_header header;
    const char *child_frame_id;
    struct ros_pose_with_covariance pose;
    struct ros_twist_with_covariance twist;
};

struct ros_map_meta_data {
    struct ros_time map_load_time;
    float resolution;
    uint32_t width, height;
    struct ros_pose origin;
};

struct ros_occupancy_grid {
    struct ros_header header;
    struct ros_map_meta_data info;
    PLX_CDR_SEQUENCE_OF(int8_t) data;
};

struct ros_costmap_meta_data {
    struct ros_time map_load_time, update_time;
    const char *layer;
    float resolution;
    uint32_t size_x, size_y;
    struct ros_pose origin;
};

struct ros_costmap {
    struct ros_header header;
    struct ros_costmap_meta_data metadata;
    PLX_CDR_SEQUENCE_OF(uint8_t) data;
};

struct ros_point32 {
    float x, y, z;
};

struct ros_polygon {
    PLX_CDR_SEQUENCE_OF(struct ros_point32) points;
};

struct ros_polygon_instance {
    struct ros_polygon polygon;
    int64_t id;
};

struct ros_polygon_instance_stamped {
    struct ros_header header;
    struct ros_polygon_instance polygon;
};

struct ros_speed_limit {
    struct ros_header header;
    bool percentage;
    double speed_limit;
};

struct ros_key_value {
    const char *key, *value;
};

struct ros_diagnostic_status {
    uint8_t level;
    const char *name, *message, *hardware_id;
    PLX_CDR_SEQUENCE_OF(struct ros_key_value) values;
};

struct ros_diagnostic_array {
    struct ros_header header;
    PLX_CDR_SEQUENCE_OF(struct ros_diagnostic_status) status;
};

extern const struct plx_cdr_type ros_camera_info_type, ros_detection_2d_array_type, ros_detection_3d_array_type,
    ros_diagnostic_array_type, ros_disparity_image_type, ros_image_type, ros_laser_scan_type, ros_marker_array_type,
    ros_occupancy_grid_type, ros_odometry_type, ros_point_cloud2_type, ros_string_type, ros_costmap_type,
    ros_compressed_image_type, ros_polygon_instance_stamped_type, ros_speed_limit_type, ros_tf_message_type;

/* All of these, and NULL. */
extern const struct plx_cdr_type *const ros_message_types[];

#endif
