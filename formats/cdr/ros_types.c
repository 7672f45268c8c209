/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/cdr/ros_types.h"

/* Kinds come from the C types, so that table and structure cannot differ. */
#define KIND_OF(value)                                                                                                         \
    _Generic((value),                       \
        bool: PLX_CDR_BOOL,                 \
        uint8_t: PLX_CDR_UINT8,             \
        int8_t: PLX_CDR_INT8,               \
        int32_t: PLX_CDR_INT32,             \
        uint32_t: PLX_CDR_UINT32,           \
        int64_t: PLX_CDR_INT64,             \
        float: PLX_CDR_FLOAT32,             \
        double: PLX_CDR_FLOAT64,            \
        const char *: PLX_CDR_STRING)
#define MEMBER(structure, member) (((struct structure *)0)->member)

#define ONE(structure, member)                                                                                                 \
    {                                                                                                                          \
#        member, KIND_OF(MEMBER(structure, member)), PLX_CDR_ONE, 1, offsetof(struct structure, member), NULL                  \
    }
#define ARRAY(structure, member)                                                                                               \
    {                                                                                                                          \
#        member, KIND_OF(MEMBER(structure, member)[0]), PLX_CDR_ARRAY,                                                         \
            sizeof MEMBER(structure, member) / sizeof MEMBER(structure, member)[0], offsetof(struct structure, member), NULL   \
    }
#define SEQUENCE(structure, member)                                                                                            \
    {                                                                                                                          \
#        member, KIND_OF(((void)0, *MEMBER(structure, member).data)), PLX_CDR_SEQUENCE, 1, offsetof(struct structure, member), \
            NULL                                                                                                               \
    }
#define MESSAGE(structure, member, type)                                                                                       \
    {                                                                                                                          \
#        member, PLX_CDR_MESSAGE, PLX_CDR_ONE, 1, offsetof(struct structure, member), &(type)                                  \
    }
#define MESSAGES(structure, member, type)                                                                                      \
    {                                                                                                                          \
#        member, PLX_CDR_MESSAGE, PLX_CDR_SEQUENCE, 1, offsetof(struct structure, member), &(type)                             \
    }

#define TYPE(structure, ros_name, ros_hash)                                                                                    \
    const struct plx_cdr_type structure##_type = {ros_name, ros_hash, sizeof(struct structure), structure##_fields,            \
                                                  (int)(sizeof structure##_fields / sizeof *structure##_fields)}
#define FIELDS(structure) static const struct plx_cdr_field structure##_fields[]

FIELDS(ros_time) = {ONE(ros_time, sec), ONE(ros_time, nanosec)};
static TYPE(ros_time, "builtin_interfaces/msg/Time", NULL);

FIELDS(ros_duration) = {ONE(ros_duration, sec), ONE(ros_duration, nanosec)};
static TYPE(ros_duration, "builtin_interfaces/msg/Duration", NULL);

FIELDS(ros_header) = {MESSAGE(ros_header, stamp, ros_time_type), ONE(ros_header, frame_id)};
static TYPE(ros_header, "std_msgs/msg/Header", NULL);

FIELDS(ros_string) = {ONE(ros_string, data)};
TYPE(ros_string, "std_msgs/msg/String", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");

FIELDS(ros_color) = {ONE(ros_color, r), ONE(ros_color, g), ONE(ros_color, b), ONE(ros_color, a)};
static TYPE(ros_color, "std_msgs/msg/ColorRGBA", NULL);

FIELDS(ros_vector3) = {ONE(ros_vector3, x), ONE(ros_vector3, y), ONE(ros_vector3, z)};
static TYPE(ros_vector3, "geometry_msgs/msg/Vector3", NULL);

FIELDS(ros_point) = {ONE(ros_point, x), ONE(ros_point, y), ONE(ros_point, z)};
static TYPE(ros_point, "geometry_msgs/msg/Point", NULL);

FIELDS(ros_quaternion) = {ONE(ros_quaternion, x), ONE(ros_quaternion, y), ONE(ros_quaternion, z), ONE(ros_quaternion, w)};
static TYPE(ros_quaternion, "geometry_msgs/msg/Quaternion", NULL);

FIELDS(ros_pose) = {MESSAGE(ros_pose, position, ros_point_type), MESSAGE(ros_pose, orientation, ros_quaternion_type)};
static TYPE(ros_pose, "geometry_msgs/msg/Pose", NULL);

FIELDS(ros_pose_with_covariance) = {MESSAGE(ros_pose_with_covariance, pose, ros_pose_type),
                                    ARRAY(ros_pose_with_covariance, covariance)};
static TYPE(ros_pose_with_covariance, "geometry_msgs/msg/PoseWithCovariance", NULL);

FIELDS(ros_twist) = {MESSAGE(ros_twist, linear, ros_vector3_type), MESSAGE(ros_twist, angular, ros_vector3_type)};
static TYPE(ros_twist, "geometry_msgs/msg/Twist", NULL);

FIELDS(ros_twist_with_covariance) = {MESSAGE(ros_twist_with_covariance, twist, ros_twist_type),
                                     ARRAY(ros_twist_with_covariance, covariance)};
static TYPE(ros_twist_with_covariance, "geometry_msgs/msg/TwistWithCovariance", NULL);

FIELDS(ros_transform) = {MESSAGE(ros_transform, translation, ros_vector3_type),
                         MESSAGE(ros_transform, rotation, ros_quaternion_type)};
static TYPE(ros_transform, "geometry_msgs/msg/Transform", NULL);

FIELDS(ros_transform_stamped) = {MESSAGE(ros_transform_stamped, header, ros_header_type),
                                 ONE(ros_transform_stamped, child_frame_id),
                                 MESSAGE(ros_transform_stamped, transform, ros_transform_type)};
static TYPE(ros_transform_stamped, "geometry_msgs/msg/TransformStamped", NULL);

FIELDS(ros_tf_message) = {MESSAGES(ros_tf_message, transforms, ros_transform_stamped_type)};
TYPE(ros_tf_message, "tf2_msgs/msg/TFMessage", "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087");

FIELDS(ros_image) = {MESSAGE(ros_image, header, ros_header_type),
                     ONE(ros_image, height),
                     ONE(ros_image, width),
                     ONE(ros_image, encoding),
                     ONE(ros_image, is_bigendian),
                     ONE(ros_image, step),
                     SEQUENCE(ros_image, data)};
TYPE(ros_image, "sensor_msgs/msg/Image", "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47");

FIELDS(ros_compressed_image) = {MESSAGE(ros_compressed_image, header, ros_header_type), ONE(ros_compressed_image, format),
                                SEQUENCE(ros_compressed_image, data)};
TYPE(ros_compressed_image, "sensor_msgs/msg/CompressedImage",
     "RIHS01_15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a");

FIELDS(ros_region_of_interest) = {ONE(ros_region_of_interest, x_offset), ONE(ros_region_of_interest, y_offset),
                                  ONE(ros_region_of_interest, height), ONE(ros_region_of_interest, width),
                                  ONE(ros_region_of_interest, do_rectify)};
static TYPE(ros_region_of_interest, "sensor_msgs/msg/RegionOfInterest", NULL);

FIELDS(ros_camera_info) = {MESSAGE(ros_camera_info, header, ros_header_type),
                           ONE(ros_camera_info, height),
                           ONE(ros_camera_info, width),
                           ONE(ros_camera_info, distortion_model),
                           SEQUENCE(ros_camera_info, d),
                           ARRAY(ros_camera_info, k),
                           ARRAY(ros_camera_info, r),
                           ARRAY(ros_camera_info, p),
                           ONE(ros_camera_info, binning_x),
                           ONE(ros_camera_info, binning_y),
                           MESSAGE(ros_camera_info, roi, ros_region_of_interest_type)};
TYPE(ros_camera_info, "sensor_msgs/msg/CameraInfo", "RIHS01_b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275");

FIELDS(ros_point_field) = {ONE(ros_point_field, name), ONE(ros_point_field, offset), ONE(ros_point_field, datatype),
                           ONE(ros_point_field, count)};
static TYPE(ros_point_field, "sensor_msgs/msg/PointField", NULL);

FIELDS(ros_point_cloud2) = {MESSAGE(ros_point_cloud2, header, ros_header_type),
                            ONE(ros_point_cloud2, height),
                            ONE(ros_point_cloud2, width),
                            MESSAGES(ros_point_cloud2, fields, ros_point_field_type),
                            ONE(ros_point_cloud2, is_bigendian),
                            ONE(ros_point_cloud2, point_step),
                            ONE(ros_point_cloud2, row_step),
                            SEQUENCE(ros_point_cloud2, data),
                            ONE(ros_point_cloud2, is_dense)};
TYPE(ros_point_cloud2, "sensor_msgs/msg/PointCloud2",
     "RIHS01_9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5");

FIELDS(ros_laser_scan) = {MESSAGE(ros_laser_scan, header, ros_header_type),
                          ONE(ros_laser_scan, angle_min),
                          ONE(ros_laser_scan, angle_max),
                          ONE(ros_laser_scan, angle_increment),
                          ONE(ros_laser_scan, time_increment),
                          ONE(ros_laser_scan, scan_time),
                          ONE(ros_laser_scan, range_min),
                          ONE(ros_laser_scan, range_max),
                          SEQUENCE(ros_laser_scan, ranges),
                          SEQUENCE(ros_laser_scan, intensities)};
TYPE(ros_laser_scan, "sensor_msgs/msg/LaserScan", "RIHS01_64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828");

FIELDS(ros_disparity_image) = {MESSAGE(ros_disparity_image, header, ros_header_type),
                               MESSAGE(ros_disparity_image, image, ros_image_type),
                               ONE(ros_disparity_image, f),
                               ONE(ros_disparity_image, t),
                               MESSAGE(ros_disparity_image, valid_window, ros_region_of_interest_type),
                               ONE(ros_disparity_image, min_disparity),
                               ONE(ros_disparity_image, max_disparity),
                               ONE(ros_disparity_image, delta_d)};
TYPE(ros_disparity_image, "stereo_msgs/msg/DisparityImage",
     "RIHS01_1ec1ff6b5bace919e4544a37f2d96ead9f81783701b7b7a4d97a09325ecf2711");

FIELDS(ros_object_hypothesis) = {ONE(ros_object_hypothesis, class_id), ONE(ros_object_hypothesis, score)};
static TYPE(ros_object_hypothesis, "vision_msgs/msg/ObjectHypothesis", NULL);

FIELDS(ros_object_hypothesis_with_pose) = {MESSAGE(ros_object_hypothesis_with_pose, hypothesis, ros_object_hypothesis_type),
                                           MESSAGE(ros_object_hypothesis_with_pose, pose, ros_pose_with_covariance_type)};
static TYPE(ros_object_hypothesis_with_pose, "vision_msgs/msg/ObjectHypothesisWithPose", NULL);

FIELDS(ros_point_2d) = {ONE(ros_point_2d, x), ONE(ros_point_2d, y)};
static TYPE(ros_point_2d, "vision_msgs/msg/Point2D", NULL);

FIELDS(ros_pose_2d) = {MESSAGE(ros_pose_2d, position, ros_point_2d_type), ONE(ros_pose_2d, theta)};
static TYPE(ros_pose_2d, "vision_msgs/msg/Pose2D", NULL);

FIELDS(ros_bounding_box_2d) = {MESSAGE(ros_bounding_box_2d, center, ros_pose_2d_type), ONE(ros_bounding_box_2d, size_x),
                               ONE(ros_bounding_box_2d, size_y)};
static TYPE(ros_bounding_box_2d, "vision_msgs/msg/BoundingBox2D", NULL);

FIELDS(ros_detection_2d) = {MESSAGE(ros_detection_2d, header, ros_header_type),
                            MESSAGES(ros_detection_2d, results, ros_object_hypothesis_with_pose_type),
                            MESSAGE(ros_detection_2d, bbox, ros_bounding_box_2d_type), ONE(ros_detection_2d, id)};
static TYPE(ros_detection_2d, "vision_msgs/msg/Detection2D", NULL);

FIELDS(ros_detection_2d_array) = {MESSAGE(ros_detection_2d_array, header, ros_header_type),
                                  MESSAGES(ros_detection_2d_array, detections, ros_detection_2d_type)};
TYPE(ros_detection_2d_array, "vision_msgs/msg/Detection2DArray",
     "RIHS01_214274120007f4a683866481336b70310268cfa107aebe9d594a6acf75bda968");

FIELDS(ros_bounding_box_3d) = {MESSAGE(ros_bounding_box_3d, center, ros_pose_type),
                               MESSAGE(ros_bounding_box_3d, size, ros_vector3_type)};
static TYPE(ros_bounding_box_3d, "vision_msgs/msg/BoundingBox3D", NULL);

FIELDS(ros_detection_3d) = {MESSAGE(ros_detection_3d, header, ros_header_type),
                            MESSAGES(ros_detection_3d, results, ros_object_hypothesis_with_pose_type),
                            MESSAGE(ros_detection_3d, bbox, ros_bounding_box_3d_type), ONE(ros_detection_3d, id)};
static TYPE(ros_detection_3d, "vision_msgs/msg/Detection3D", NULL);

FIELDS(ros_detection_3d_array) = {MESSAGE(ros_detection_3d_array, header, ros_header_type),
                                  MESSAGES(ros_detection_3d_array, detections, ros_detection_3d_type)};
TYPE(ros_detection_3d_array, "vision_msgs/msg/Detection3DArray",
     "RIHS01_793f5eab9595ac1c0da07873cc859db42eae51f0ee76056db8562515d830e018");

FIELDS(ros_uv_coordinate) = {ONE(ros_uv_coordinate, u), ONE(ros_uv_coordinate, v)};
static TYPE(ros_uv_coordinate, "visualization_msgs/msg/UVCoordinate", NULL);

FIELDS(ros_mesh_file) = {ONE(ros_mesh_file, filename), SEQUENCE(ros_mesh_file, data)};
static TYPE(ros_mesh_file, "visualization_msgs/msg/MeshFile", NULL);

FIELDS(ros_marker) = {MESSAGE(ros_marker, header, ros_header_type),
                      ONE(ros_marker, ns),
                      ONE(ros_marker, id),
                      ONE(ros_marker, type),
                      ONE(ros_marker, action),
                      MESSAGE(ros_marker, pose, ros_pose_type),
                      MESSAGE(ros_marker, scale, ros_vector3_type),
                      MESSAGE(ros_marker, color, ros_color_type),
                      MESSAGE(ros_marker, lifetime, ros_duration_type),
                      ONE(ros_marker, frame_locked),
                      MESSAGES(ros_marker, points, ros_point_type),
                      MESSAGES(ros_marker, colors, ros_color_type),
                      ONE(ros_marker, texture_resource),
                      MESSAGE(ros_marker, texture, ros_compressed_image_type),
                      MESSAGES(ros_marker, uv_coordinates, ros_uv_coordinate_type),
                      ONE(ros_marker, text),
                      ONE(ros_marker, mesh_resource),
                      MESSAGE(ros_marker, mesh_file, ros_mesh_file_type),
                      ONE(ros_marker, mesh_use_embedded_materials)};
static TYPE(ros_marker, "visualization_msgs/msg/Marker", NULL);

FIELDS(ros_marker_array) = {MESSAGES(ros_marker_array, markers, ros_marker_type)};
TYPE(ros_marker_array, "visualization_msgs/msg/MarkerArray",
     "RIHS01_86cb8800b6fb05b5eff1abd7a56f62a5641d3ae9a1c29e78e67e704f1d067dcf");

FIELDS(ros_odometry) = {MESSAGE(ros_odometry, header, ros_header_type), ONE(ros_odometry, child_frame_id),
                        MESSAGE(ros_odometry, pose, ros_pose_with_covariance_type),
                        MESSAGE(ros_odometry, twist, ros_twist_with_covariance_type)};
TYPE(ros_odometry, "nav_msgs/msg/Odometry", "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0");

FIELDS(ros_map_meta_data) = {MESSAGE(ros_map_meta_data, map_load_time, ros_time_type), ONE(ros_map_meta_data, resolution),
                             ONE(ros_map_meta_data, width), ONE(ros_map_meta_data, height),
                             MESSAGE(ros_map_meta_data, origin, ros_pose_type)};
static TYPE(ros_map_meta_data, "nav_msgs/msg/MapMetaData", NULL);

FIELDS(ros_occupancy_grid) = {MESSAGE(ros_occupancy_grid, header, ros_header_type),
                              MESSAGE(ros_occupancy_grid, info, ros_map_meta_data_type), SEQUENCE(ros_occupancy_grid, data)};
TYPE(ros_occupancy_grid, "nav_msgs/msg/OccupancyGrid",
     "RIHS01_8d348150c12913a31ee0ec170fbf25089e4745d17035792a1ba94d6f0bc0cfc7");

FIELDS(ros_costmap_meta_data) = {MESSAGE(ros_costmap_meta_data, map_load_time, ros_time_type),
                                 MESSAGE(ros_costmap_meta_data, update_time, ros_time_type),
                                 ONE(ros_costmap_meta_data, layer),
                                 ONE(ros_costmap_meta_data, resolution),
                                 ONE(ros_costmap_meta_data, size_x),
                                 ONE(ros_costmap_meta_data, size_y),
                                 MESSAGE(ros_costmap_meta_data, origin, ros_pose_type)};
static TYPE(ros_costmap_meta_data, "nav2_msgs/msg/CostmapMetaData", NULL);

FIELDS(ros_costmap) = {MESSAGE(ros_costmap, header, ros_header_type),
                       MESSAGE(ros_costmap, metadata, ros_costmap_meta_data_type), SEQUENCE(ros_costmap, data)};
TYPE(ros_costmap, "nav2_msgs/msg/Costmap", "RIHS01_d51bf7aecafdbb3f8f98215de648abe6d53f8db69156d6e143125d2ad2bf0027");

FIELDS(ros_point32) = {ONE(ros_point32, x), ONE(ros_point32, y), ONE(ros_point32, z)};
static TYPE(ros_point32, "geometry_msgs/msg/Point32", NULL);

FIELDS(ros_polygon) = {MESSAGES(ros_polygon, points, ros_point32_type)};
static TYPE(ros_polygon, "geometry_msgs/msg/Polygon", NULL);

FIELDS(ros_polygon_instance) = {MESSAGE(ros_polygon_instance, polygon, ros_polygon_type), ONE(ros_polygon_instance, id)};
static TYPE(ros_polygon_instance, "geometry_msgs/msg/PolygonInstance", NULL);

FIELDS(ros_polygon_instance_stamped) = {MESSAGE(ros_polygon_instance_stamped, header, ros_header_type),
                                        MESSAGE(ros_polygon_instance_stamped, polygon, ros_polygon_instance_type)};
TYPE(ros_polygon_instance_stamped, "geometry_msgs/msg/PolygonInstanceStamped",
     "RIHS01_802f37ea4398d7ce547936aab1fd278923716a13c63373887cd896957434ce2f");

FIELDS(ros_speed_limit) = {MESSAGE(ros_speed_limit, header, ros_header_type), ONE(ros_speed_limit, percentage),
                           ONE(ros_speed_limit, speed_limit)};
TYPE(ros_speed_limit, "nav2_msgs/msg/SpeedLimit", "RIHS01_83d8e4e842559f4d9a988b19d31b162216ec738536389f98438d1a166f91845a");

FIELDS(ros_key_value) = {ONE(ros_key_value, key), ONE(ros_key_value, value)};
static TYPE(ros_key_value, "diagnostic_msgs/msg/KeyValue", NULL);

FIELDS(ros_diagnostic_status) = {{"level", PLX_CDR_BYTE, PLX_CDR_ONE, 1, offsetof(struct ros_diagnostic_status, level), NULL},
                                 ONE(ros_diagnostic_status, name),
                                 ONE(ros_diagnostic_status, message),
                                 ONE(ros_diagnostic_status, hardware_id),
                                 MESSAGES(ros_diagnostic_status, values, ros_key_value_type)};
static TYPE(ros_diagnostic_status, "diagnostic_msgs/msg/DiagnosticStatus", NULL);

FIELDS(ros_diagnostic_array) = {MESSAGE(ros_diagnostic_array, header, ros_header_type),
                                MESSAGES(ros_diagnostic_array, status, ros_diagnostic_status_type)};
TYPE(ros_diagnostic_array, "diagnostic_msgs/msg/DiagnosticArray",
     "RIHS01_5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e");

const struct plx_cdr_type *const ros_message_types[] = {
    &ros_camera_info_type,
    &ros_compressed_image_type,
    &ros_costmap_type,
    &ros_detection_2d_array_type,
    &ros_detection_3d_array_type,
    &ros_diagnostic_array_type,
    &ros_disparity_image_type,
    &ros_image_type,
    &ros_laser_scan_type,
    &ros_marker_array_type,
    &ros_occupancy_grid_type,
    &ros_odometry_type,
    &ros_point_cloud2_type,
    &ros_polygon_instance_stamped_type,
    &ros_speed_limit_type,
    &ros_string_type,
    &ros_tf_message_type,
    NULL,
};
