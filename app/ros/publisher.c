/* SPDX-License-Identifier: Apache-2.0 */
#include "app/ros/publisher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dds/dds.h>
#include <dds/ddsc/dds_statistics.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <parallax/error.h>

#include "app/ros/environment.h"
#include "app/ros/pacing.h"
#include "messages.h"

#define KEPT 5 /* messages for readers that are behind */

/* The C structures of formats/cdr/ros_types.h are those that idlc makes: writers take them as they are. */
#define SAME(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), "the layout of " #ours " is that of idlc")
SAME(ros_compressed_image, sensor_msgs_msg_dds__CompressedImage_);
SAME(ros_costmap, nav2_msgs_msg_dds__Costmap_);
SAME(ros_polygon_instance_stamped, geometry_msgs_msg_dds__PolygonInstanceStamped_);
SAME(ros_point32, geometry_msgs_msg_dds__Point32_);
SAME(ros_speed_limit, nav2_msgs_msg_dds__SpeedLimit_);
SAME(ros_camera_info, sensor_msgs_msg_dds__CameraInfo_);
SAME(ros_detection_3d_array, vision_msgs_msg_dds__Detection3DArray_);
SAME(ros_detection_3d, vision_msgs_msg_dds__Detection3D_);
SAME(ros_object_hypothesis_with_pose, vision_msgs_msg_dds__ObjectHypothesisWithPose_);
SAME(ros_diagnostic_array, diagnostic_msgs_msg_dds__DiagnosticArray_);
SAME(ros_diagnostic_status, diagnostic_msgs_msg_dds__DiagnosticStatus_);
SAME(ros_disparity_image, stereo_msgs_msg_dds__DisparityImage_);
SAME(ros_image, sensor_msgs_msg_dds__Image_);
SAME(ros_laser_scan, sensor_msgs_msg_dds__LaserScan_);
SAME(ros_marker_array, visualization_msgs_msg_dds__MarkerArray_);
SAME(ros_marker, visualization_msgs_msg_dds__Marker_);
SAME(ros_occupancy_grid, nav_msgs_msg_dds__OccupancyGrid_);
SAME(ros_odometry, nav_msgs_msg_dds__Odometry_);
SAME(ros_point_cloud2, sensor_msgs_msg_dds__PointCloud2_);
SAME(ros_point_field, sensor_msgs_msg_dds__PointField_);
SAME(ros_string, std_msgs_msg_dds__String_);
SAME(ros_tf_message, tf2_msgs_msg_dds__TFMessage_);
SAME(ros_transform_stamped, geometry_msgs_msg_dds__TransformStamped_);

static const struct {
    const struct plx_cdr_type *type;
    const dds_topic_descriptor_t *descriptor;
} descriptors[] = {
    {&ros_compressed_image_type, &sensor_msgs_msg_dds__CompressedImage__desc},
    {&ros_costmap_type, &nav2_msgs_msg_dds__Costmap__desc},
    {&ros_polygon_instance_stamped_type, &geometry_msgs_msg_dds__PolygonInstanceStamped__desc},
    {&ros_speed_limit_type, &nav2_msgs_msg_dds__SpeedLimit__desc},
    {&ros_camera_info_type, &sensor_msgs_msg_dds__CameraInfo__desc},
    {&ros_detection_2d_array_type, &vision_msgs_msg_dds__Detection2DArray__desc},
    {&ros_detection_3d_array_type, &vision_msgs_msg_dds__Detection3DArray__desc},
    {&ros_diagnostic_array_type, &diagnostic_msgs_msg_dds__DiagnosticArray__desc},
    {&ros_disparity_image_type, &stereo_msgs_msg_dds__DisparityImage__desc},
    {&ros_image_type, &sensor_msgs_msg_dds__Image__desc},
    {&ros_laser_scan_type, &sensor_msgs_msg_dds__LaserScan__desc},
    {&ros_marker_array_type, &visualization_msgs_msg_dds__MarkerArray__desc},
    {&ros_occupancy_grid_type, &nav_msgs_msg_dds__OccupancyGrid__desc},
    {&ros_odometry_type, &nav_msgs_msg_dds__Odometry__desc},
    {&ros_point_cloud2_type, &sensor_msgs_msg_dds__PointCloud2__desc},
    {&ros_string_type, &std_msgs_msg_dds__String__desc},
    {&ros_tf_message_type, &tf2_msgs_msg_dds__TFMessage__desc},
};

struct plx_ros_publisher {
    dds_entity_t domain, participant;
    dds_entity_t writer[PLX_ROS_TOPICS]; /* 0: not offered */
    dds_entity_t boxes;                  /* the reader; 0: none */
    size_t bytes[PLX_ROS_TOPICS];        /* in datagrams, of the last message */
    int64_t spread_ns;
    struct dds_statistics *statistics[PLX_ROS_TOPICS]; /* the writers' own */
    uint64_t sent, dropped, sent_bytes;
};

static const dds_topic_descriptor_t *descriptor_of(const struct plx_cdr_type *type)
{
    size_t i = 0;
    while (descriptors[i].type != type)
        i++;
    return descriptors[i].descriptor;
}

static int fail(struct plx_error_message *message, const char *what, dds_return_t result)
{
    return plx_fail(message, PLX_ERR_IO, "DDS: %s: %s; see $CYCLONEDDS_URI and the network interfaces (parallax-ros(8))", what,
                    dds_strretcode(-result));
}

/* What rclcpp's publishers offer by default, so that reliable and best-effort readers match; the last transform stays for those
 * who come late. The reader asks for best effort, so that it matches writers of both kinds. */
static dds_qos_t *qos_of(int topic)
{
    char user_data[128];
    const int length = snprintf(user_data, sizeof user_data, "typehash=%s;", plx_ros_topic_of(topic).type->hash);
    const bool latched = topic == PLX_TOPIC_TF_STATIC;
    dds_qos_t *qos = dds_create_qos();
    if (topic == PLX_ROS_TOPIC_BOXES)
        dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
    else
        dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_MSECS(10));
    dds_qset_durability(qos, latched ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
    dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, latched ? 1 : KEPT);
    dds_qset_writer_data_lifecycle(qos, false);
    dds_qset_userdata(qos, user_data, (size_t)length);
    return qos;
}

static int create_endpoint(struct plx_ros_publisher *publisher, int topic, const char *name, struct plx_error_message *message)
{
    char dds_name[PLX_ROS_NAME + 4];
    snprintf(dds_name, sizeof dds_name, "rt%s", name);
    const bool reads = topic == PLX_ROS_TOPIC_BOXES;
    const dds_topic_descriptor_t *descriptor = descriptor_of(plx_ros_topic_of(topic).type);
    dds_qos_t *qos = qos_of(topic);
    dds_entity_t result = dds_create_topic(publisher->participant, descriptor, dds_name, NULL, NULL);
    if (result > 0)
        result = reads ? dds_create_reader(publisher->participant, result, qos, NULL)
                       : dds_create_writer(publisher->participant, result, qos, NULL);
    dds_delete_qos(qos);
    if (result < 0)
        return fail(message, name, result);
    *(reads ? &publisher->boxes : &publisher->writer[topic]) = result;
    publisher->statistics[topic] = reads ? NULL : dds_create_statistics(result);
    return 0;
}

int plx_ros_publisher_create(const struct plx_ros_names *names, struct plx_ros_publisher **ret_publisher,
                             struct plx_error_message *message)
{
    struct plx_ros_environment environment;
    int result = plx_ros_environment(&environment, message);
    struct plx_ros_publisher *publisher = calloc(1, sizeof *publisher);
    if (!publisher)
        result = plx_fail(message, PLX_ERR_NOMEM, "out of memory");
    if (result < 0)
        goto fail;
    publisher->domain = dds_create_domain(environment.domain, environment.configuration);
    if (publisher->domain < 0) {
        result = fail(message, "its configuration", publisher->domain);
        goto fail;
    }
    publisher->participant = dds_create_participant(environment.domain, NULL, NULL);
    if (publisher->participant < 0)
        result = fail(message, "joining the domain", publisher->participant);
    for (int i = 0; i < PLX_ROS_TOPICS && result == 0; i++)
        if (names->topic[i][0])
            result = create_endpoint(publisher, i, names->topic[i], message);
    if (result < 0)
        goto fail;
    *ret_publisher = publisher;
    return 0;

fail:
    plx_ros_publisher_destroy(publisher);
    return result;
}

void plx_ros_publisher_destroy(struct plx_ros_publisher *publisher)
{
    if (!publisher)
        return;
    for (int i = 0; i < PLX_ROS_TOPICS; i++)
        dds_delete_statistics(publisher->statistics[i]);
    if (publisher->participant > 0)
        dds_delete(publisher->participant);
    if (publisher->domain > 0)
        dds_delete(publisher->domain);
    free(publisher);
}

bool plx_ros_is_read(const struct plx_ros_publisher *publisher, int topic)
{
    dds_publication_matched_status_t status;
    return publisher->writer[topic] > 0 && dds_get_publication_matched_status(publisher->writer[topic], &status) == 0 &&
           status.current_count > 0;
}

void plx_ros_set_spread(struct plx_ros_publisher *publisher, int64_t spread_ns)
{
    publisher->spread_ns = spread_ns;
}

bool plx_ros_is_large(const struct plx_ros_publisher *publisher, int topic)
{
    return publisher->bytes[topic] > PLX_PACING_PORTION;
}

void plx_ros_publish(struct plx_ros_publisher *publisher, int topic, const void *message)
{
    if (publisher->writer[topic] <= 0)
        return;
    plx_pacing_begin(publisher->spread_ns, publisher->bytes[topic]);
    if (dds_write(publisher->writer[topic], message) < 0)
        publisher->dropped++;
    else
        publisher->sent++;
    publisher->bytes[topic] = plx_pacing_end();
    publisher->sent_bytes += publisher->bytes[topic];
}

bool plx_ros_has_boxes(const struct plx_ros_publisher *publisher)
{
    dds_subscription_matched_status_t status;
    return publisher->boxes > 0 && dds_get_subscription_matched_status(publisher->boxes, &status) == 0 &&
           status.current_count > 0;
}

/* Copies the CDR of SAMPLE. RANGE: it is larger than CAPACITY. */
static int copy_cdr(const struct ddsi_serdata *sample, void *ret_data, size_t capacity, size_t *ret_bytes)
{
    const size_t bytes = ddsi_serdata_size(sample);
    if (bytes > capacity)
        return PLX_ERR_RANGE;
    ddsi_serdata_to_ser(sample, 0, bytes, ret_data);
    *ret_bytes = bytes;
    return 0;
}

int plx_ros_take_boxes(struct plx_ros_publisher *publisher, void *ret_data, size_t capacity, size_t *ret_bytes)
{
    struct ddsi_serdata *sample = NULL;
    dds_sample_info_t info;
    if (publisher->boxes <= 0)
        return PLX_ERR_NOT_FOUND;
    const dds_return_t taken = dds_takecdr(publisher->boxes, &sample, 1, &info, DDS_ANY_STATE);
    if (taken <= 0 || !sample)
        return taken < 0 && taken != DDS_RETCODE_NO_DATA ? PLX_ERR_IO : PLX_ERR_NOT_FOUND;
    /* A sample without data tells that a writer went away. */
    const int result = info.valid_data ? copy_cdr(sample, ret_data, capacity, ret_bytes) : PLX_ERR_NOT_FOUND;
    ddsi_serdata_unref(sample);
    return result;
}

uint64_t plx_ros_sent(const struct plx_ros_publisher *publisher)
{
    return publisher->sent;
}

uint64_t plx_ros_dropped(const struct plx_ros_publisher *publisher)
{
    return publisher->dropped;
}

void plx_ros_count_bytes(struct plx_ros_publisher *publisher, uint64_t *ret_sent, uint64_t *ret_resent)
{
    uint64_t resent = 0;
    for (int i = 0; i < PLX_ROS_TOPICS; i++) {
        struct dds_statistics *statistics = publisher->statistics[i];
        const struct dds_stat_keyvalue *bytes = NULL;
        if (statistics && dds_refresh_statistics(statistics) == 0)
            bytes = dds_lookup_statistic(statistics, "rexmit_bytes");
        resent += bytes ? bytes->u.u64 : 0;
    }
    *ret_sent = publisher->sent_bytes;
    *ret_resent = resent;
}

int64_t plx_ros_now_ns(void)
{
    return dds_time();
}
