/* SPDX-License-Identifier: Apache-2.0 */
/* A frame as ROS 2 messages: pictures with padded rows, disparity from infinity on, obstacles, and motion in other axes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "bridge/topics.h"
#include "tests/cmocka.h"
#include "tests/unit/frame_plane.h"

#define WIDTH 3
#define HEIGHT 2
#define PITCH 8
#define STAMP (INT64_C(1700000000) * 1000000000 + 5)

/* A frame and its planes, as the service lays them out. */
static struct {
    struct plx_frame frame;
    uint8_t left[HEIGHT][PITCH];
    _Alignas(8) uint16_t disparity[HEIGHT][PITCH / 2], labels[HEIGHT][PITCH / 2];
} published;

static struct plx_frame_messages messages;

static int setup(void **state)
{
    (void)state;
    struct plx_frame *f = init_frame(&published.frame, sizeof published, WIDTH, HEIGHT);
    f->min_disparity = 4;
    f->disparities = 64;
    f->calibration = (struct plx_calibration_info){.fx = 500, .fy = 400, .cx = 2, .cy = 1, .cx_right = 0.5, .baseline_m = 0.2};
    place_plane(f, PLX_PLANE_LEFT, published.left, PITCH, WIDTH, HEIGHT);
    place_plane(f, PLX_PLANE_DISPARITY, published.disparity, PITCH, WIDTH, HEIGHT);
    place_plane(f, PLX_PLANE_LABELS, published.labels, PITCH, WIDTH, HEIGHT);
    messages = (struct plx_frame_messages){f, STAMP, &plx_frame_names, malloc(plx_frame_messages_scratch(f)), NULL};
    return messages.scratch ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(messages.scratch);
    return 0;
}

static void pictures_have_no_padding(void **state)
{
    (void)state;
    const uint8_t rows[HEIGHT][PITCH] = {{1, 2, 3, 99}, {4, 5, 6, 99}}, expected[] = {1, 2, 3, 4, 5, 6};
    struct ros_image image;
    memcpy(published.left, rows, sizeof rows);
    assert_int_equal(plx_message_image(&messages, PLX_LEFT, &image), 0);
    assert_true(image.width == WIDTH && image.height == HEIGHT && image.step == WIDTH && image.data.count == sizeof expected);
    assert_memory_equal(image.data.data, expected, sizeof expected);
    assert_true(image.header.stamp.sec == 1700000000 && image.header.stamp.nanosec == 5);
    assert_string_equal(image.header.frame_id, "parallax_left_optical_frame");
    assert_int_equal(plx_message_image(&messages, PLX_RIGHT, &image), PLX_ERR_NOT_FOUND);
}

static void camera_info_of_both_eyes(void **state)
{
    (void)state;
    const double left_p[12] = {500, 0, 2, 0, 0, 400, 1, 0, 0, 0, 1, 0},
                 right_p[12] = {500, 0, 0.5, -100, 0, 400, 1, 0, 0, 0, 1, 0};
    struct ros_camera_info info, right;
    assert_int_equal(plx_message_camera_info(&messages, PLX_LEFT, &info), 0);
    assert_memory_equal(info.p, left_p, sizeof left_p);
    assert_true(info.k[0] == 500 && info.k[2] == 2 && info.k[4] == 400 && info.k[5] == 1 && info.k[8] == 1 &&
                info.d.count == 5);
    assert_int_equal(plx_message_camera_info(&messages, PLX_RIGHT, &right), 0);
    assert_memory_equal(right.p, right_p, sizeof right_p);
    /* image_geometry and stereo_image_proc: one frame, one stamp, one size, the same focal lengths and rows; P[3] is -fx b. */
    assert_string_equal(right.header.frame_id, info.header.frame_id);
    assert_memory_equal(&right.header.stamp, &info.header.stamp, sizeof info.header.stamp);
    assert_true(right.width == info.width && right.height == info.height && right.p[3] == -info.p[0] * 0.2);
    for (int i = 0; i < 12; i++) /* all but cx and the shift */
        assert_true(i == 2 || i == 3 || right.p[i] == info.p[i]);
    for (int i = 0; i < 9; i++) {
        assert_true(right.k[i] == right.p[i / 3 * 4 + i % 3] && info.k[i] == info.p[i / 3 * 4 + i % 3]);
        /* Pictures are rectified already: a reader that rectifies them again turns nothing. */
        assert_true(info.r[i] == (i % 4 == 0) && right.r[i] == (i % 4 == 0));
    }
    for (uint32_t i = 0; i < info.d.count; i++)
        assert_true(info.d.data[i] == 0);
    published.frame.health = PLX_HEALTH_NOT_CALIBRATED;
    assert_int_equal(plx_message_camera_info(&messages, PLX_LEFT, &info), PLX_ERR_NOT_FOUND);
}

/* 1/16 px above min_disparity 4; infinity is at 1.5. */
static void disparity_counts_from_infinity(void **state)
{
    (void)state;
    const uint16_t rows[HEIGHT][PITCH / 2] = {{0, 1, PLX_DISPARITY_INVALID, 7}, {16, 1023, 8, 7}};
    const float expected[] = {2.5F, 2.5625F, 1.5F, 3.5F, 66.4375F, 3};
    struct ros_disparity_image disparity;
    memcpy(published.disparity, rows, sizeof rows);
    assert_int_equal(plx_message_disparity(&messages, &disparity), 0);
    assert_int_equal(disparity.image.data.count, sizeof expected);
    assert_memory_equal(disparity.image.data.data, expected, sizeof expected);
    assert_true(disparity.f == 500 && disparity.t == 0.2F && disparity.min_disparity == 2.5F &&
                disparity.max_disparity == 65.5F);
    assert_true(disparity.delta_d == 0.0625F && disparity.valid_window.width == WIDTH && disparity.image.step == 4 * WIDTH);
}

/* fx b = 100; infinity is at 1.5 px, min_disparity is 4. */
static void depth_is_unknown_or_in_metres(void **state)
{
    (void)state;
    const uint16_t rows[HEIGHT][PITCH / 2] = {{0, 24, PLX_DISPARITY_INVALID, 7}, {120, 1023, 8, 7}};
    const float expected[] = {40, 25, NAN, 10, (float)(100 / 66.4375), (float)(100.0 / 3)};
    struct ros_image image;
    memcpy(published.disparity, rows, sizeof rows);
    assert_int_equal(plx_message_depth(&messages, &image), 0);
    assert_string_equal(image.encoding, "32FC1");
    assert_true(image.data.count == sizeof expected && image.step == 4 * WIDTH);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const float got = ((const float *)(const void *)image.data.data)[i];
        if (isnan(expected[i]) ? !isnan(got) : got != expected[i])
            fail_msg("pixel %zu: %g m, expected %g", i, (double)got, (double)expected[i]);
    }
    published.frame.min_disparity = 0; /* at infinity and beyond */
    assert_int_equal(plx_message_depth(&messages, &image), 0);
    for (int i = 0; i < 2; i++) {
        const float got = ((const float *)(const void *)image.data.data)[i];
        assert_true(isinf(got) && got > 0); /* REP-118 */
    }
    published.frame.plane[PLX_PLANE_DISPARITY].width = 0;
    assert_int_equal(plx_message_depth(&messages, &image), PLX_ERR_NOT_FOUND);
}

static void assert_cloud(const struct ros_point_cloud2 *cloud, const float (*expected)[4], uint32_t points)
{
    assert_true(cloud->width == points && cloud->height == 1 && cloud->point_step == 16 && cloud->is_dense);
    assert_true(cloud->row_step == 16 * points && cloud->data.count == 16 * points);
    assert_memory_equal(cloud->data.data, expected, 16 * points);
    assert_true(cloud->fields.count == 4 && cloud->fields.data[3].offset == 12);
    assert_string_equal(cloud->fields.data[3].name, "intensity");
}

static void points_of_every_second_pixel(void **state)
{
    (void)state;
    const uint16_t rows[HEIGHT][PITCH / 2] = {{24, 24, 120, 7}, {24, 24, 24, 7}};
    const uint8_t grey[HEIGHT][PITCH] = {{1, 2, 3}, {4, 5, 6}};
    const float expected[][4] = {{-0.1F, -0.0625F, 25, 1}, {0, -0.025F, 10, 3}};
    struct ros_point_cloud2 cloud;
    memcpy(published.disparity, rows, sizeof rows);
    memcpy(published.left, grey, sizeof grey);
    assert_int_equal(plx_message_points(&messages, &cloud), 0);
    assert_cloud(&cloud, expected, 2);
    published.disparity[0][0] = PLX_DISPARITY_INVALID;
    assert_int_equal(plx_message_points(&messages, &cloud), 0);
    assert_cloud(&cloud, expected + 1, 1);
}

/* The list has only region 2 of regions 1, 2 and an unpublished one. */
static void points_of_the_list(void **state)
{
    (void)state;
    const uint16_t rows[HEIGHT][PITCH / 2] = {{24, 120, 120, 7}, {120, 24, PLX_DISPARITY_INVALID, 7}};
    const uint16_t labels[HEIGHT][PITCH / 2] = {{1, 2, 0xFFFF, 2}, {0, 2, 2, 2}};
    const float expected[][4] = {{-0.02F, -0.025F, 10, 0}, {-0.05F, 0, 25, 0}};
    struct ros_point_cloud2 cloud;
    memset(published.left, 0, sizeof published.left);
    memcpy(published.disparity, rows, sizeof rows);
    memcpy(published.labels, labels, sizeof labels);
    published.frame.obstacle_count = 2;
    published.frame.obstacle[0] = (struct plx_obstacle){.track = 5, .status = PLX_TRACK_LOST};
    published.frame.obstacle[1] = (struct plx_obstacle){.label = 2, .track = 6, .status = PLX_TRACK_NEW};
    assert_int_equal(plx_message_obstacle_points(&messages, &cloud), 0);
    assert_cloud(&cloud, expected, 2);
    published.frame.plane[PLX_PLANE_LABELS].width = 0;
    assert_int_equal(plx_message_obstacle_points(&messages, &cloud), PLX_ERR_NOT_FOUND);
}

static void markers_are_a_box_and_a_text(void **state)
{
    (void)state;
    struct ros_marker_array list;
    published.frame.obstacle_count = PLX_MAX_OBSTACLES;
    for (uint32_t i = 0; i < PLX_MAX_OBSTACLES; i++)
        published.frame.obstacle[i] = (struct plx_obstacle){.track = i + 1,
                                                            .status = i ? PLX_TRACK_TRACKED : PLX_TRACK_LOST,
                                                            .nearest_m = 3,
                                                            .position_m = {1, 2, 3.5F},
                                                            .extent_m = {0.5F, 1.5F, 2}};
    plx_message_markers(&messages, &list);
    assert_int_equal(list.markers.count, 2 * (PLX_MAX_OBSTACLES - 1));
    const struct ros_marker *box = list.markers.data, *text = box + 1;
    assert_true(box->type == 1 && box->id == 2 && box->pose.position.z == 4 && box->scale.y == 1.5 &&
                box->lifetime.nanosec == 500000000);
    assert_true(text->type == 9 && text->id == 2 && text->pose.position.y < 2 - 1.5 / 2);
    assert_string_equal(text->text, "2  3.0 m");
    assert_string_not_equal(box->ns, text->ns); /* a viewer keeps one marker of a namespace and number */
    assert_int_equal(list.markers.data[list.markers.count - 1].id, PLX_MAX_OBSTACLES);
}

static void obstacles_that_are_seen(void **state)
{
    (void)state;
    struct ros_detection_3d_array list;
    published.frame.obstacle_count = 2;
    published.frame.obstacle[0] = (struct plx_obstacle){.track = 5, .status = PLX_TRACK_LOST};
    published.frame.obstacle[1] = (struct plx_obstacle){.track = 4000000000,
                                                        .status = PLX_TRACK_TRACKED,
                                                        .nearest_m = 3,
                                                        .position_m = {1, 2, 3.5F},
                                                        .extent_m = {0.5F, 1.5F, 2},
                                                        .confidence = 0.25F};
    plx_message_obstacles(&messages, &list);
    assert_int_equal(list.detections.count, 1);
    const struct ros_detection_3d *one = list.detections.data;
    assert_string_equal(one->id, "4000000000");
    assert_string_equal(one->results.data->hypothesis.class_id, "obstacle");
    assert_true(one->results.count == 1 && one->results.data->hypothesis.score == 0.25);
    assert_true(one->bbox.center.position.x == 1 && one->bbox.center.position.y == 2 && one->bbox.center.position.z == 4);
    assert_true(one->bbox.size.x == 0.5 && one->bbox.size.y == 1.5 && one->bbox.size.z == 2 &&
                one->bbox.center.orientation.w == 1);
    assert_true(one->results.data->pose.covariance[0] == -1); /* nothing is known of its error */

    /* 0.09 m at 3 m are 0.16 m at 4 m, along the ray (1/4, 1/2, 1); a pixel there is 4 m / fx wide. */
    published.frame.calibration.fx = 400;
    published.frame.obstacle[1].nearest_sigma_m = 0.09F;
    plx_message_obstacles(&messages, &list);
    const double *covariance = list.detections.data->results.data->pose.covariance;
    assert_float_equal(covariance[14], 0.0256, 1e-7);
    assert_float_equal(covariance[0], 0.0256 / 16 + 1e-4, 1e-7);
    assert_float_equal(covariance[8], 0.0256 / 2, 1e-7);
    assert_true(covariance[21] == 1e6 && covariance[28] == 1e6 && covariance[35] == 1e6);
}

/* A new, a tracked and two lost tracks: a recording has what is seen, what people watch has what is confirmed. */
static void lists_for_people_show_what_is_confirmed(void **state)
{
    (void)state;
    static const uint32_t status[] = {PLX_TRACK_NEW, PLX_TRACK_TRACKED, PLX_TRACK_LOST, PLX_TRACK_LOST};
    const struct plx_confirmed confirmed = {.count = 2, .track = {9, 3}};
    struct ros_detection_3d_array list;
    struct ros_marker_array markers;
    published.frame.obstacle_count = 4;
    for (uint32_t i = 0; i < 4; i++)
        published.frame.obstacle[i] = (struct plx_obstacle){.track = i + 1, .status = status[i], .nearest_m = 3};
    plx_message_obstacles(&messages, &list);
    assert_int_equal(list.detections.count, 2);
    assert_string_equal(list.detections.data[0].id, "1");
    assert_string_equal(list.detections.data[1].id, "2");
    plx_message_markers(&messages, &markers);
    assert_int_equal(markers.markers.count, 4);

    messages.confirmed = &confirmed;
    plx_message_obstacles(&messages, &list);
    assert_int_equal(list.detections.count, 2);
    assert_string_equal(list.detections.data[0].id, "2");
    assert_string_equal(list.detections.data[1].id, "3"); /* TRACKED in the frame before */
    plx_message_markers(&messages, &markers);
    assert_int_equal(markers.markers.count, 4);
    assert_true(markers.markers.data[0].id == 2 && markers.markers.data[2].id == 3);
    messages.confirmed = NULL;
}

/* An empty list would say that nothing stands there. */
static void a_blind_frame_has_no_list_of_obstacles(void **state)
{
    (void)state;
    static const enum plx_topic_id about_obstacles[] = {PLX_TOPIC_OBSTACLES, PLX_TOPIC_MARKERS, PLX_TOPIC_OBSTACLE_POINTS};
    union plx_topic_message message;
    for (size_t i = 0; i < sizeof about_obstacles / sizeof *about_obstacles; i++) {
        published.frame.blind = 0;
        assert_int_equal(plx_topic_fill(about_obstacles[i], &messages, &message), 0);
        published.frame.blind = PLX_BLIND_NO_GROUND;
        assert_int_equal(plx_topic_fill(about_obstacles[i], &messages, &message), PLX_ERR_NOT_FOUND);
    }
    assert_int_equal(plx_topic_fill(PLX_TOPIC_DISPARITY, &messages, &message), 0);
}

static void every_topic_of_a_frame_has_a_message(void **state)
{
    (void)state;
    union plx_topic_message message;
    for (int i = 0; i < PLX_TOPICS; i++)
        assert_true((plx_topics[i].fill == NULL) == (i == PLX_TOPIC_DIAGNOSTICS));
    assert_int_equal(plx_topic_fill(PLX_TOPIC_DIAGNOSTICS, &messages, &message), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_topic_fill(PLX_TOPICS, &messages, &message), PLX_ERR_ARG);
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12))
        fail_msg("%.17g, expected %.17g", got, expected);
}

/* The camera turns right by 90 degrees (about y, which points down) and goes 2 m forward, 1 m right, 3 m down in 0.5 s. */
static void motion_in_axes_of_the_robot(void **state)
{
    (void)state;
    struct ros_odometry odometry;
    struct plx_motion_info *motion = &published.frame.motion;
    const struct plx_pose pose = {{0, 0, 1, 0, 1, 0, -1, 0, 0}, {1, 3, 2}}; /* then_from_now */

    assert_int_equal(plx_message_odometry(&messages, &odometry), PLX_ERR_NOT_FOUND);
    *motion = (struct plx_motion_info){.valid = 1, .interval_ns = 500000000, .motion = pose, .pose = pose};
    for (int i = 0; i < 36; i++)
        motion->covariance[i] = i + 1;
    assert_int_equal(plx_message_odometry(&messages, &odometry), 0);
    assert_string_equal(odometry.header.frame_id, "odom");
    assert_string_equal(odometry.child_frame_id, "parallax_link");
    const struct ros_pose *at = &odometry.pose.pose;
    assert_near(at->position.x, 2); /* forward, left, up */
    assert_near(at->position.y, -1);
    assert_near(at->position.z, -3);
    assert_near(at->orientation.w, sqrt(0.5)); /* to the right is negative about up */
    assert_near(at->orientation.z, -sqrt(0.5));
    assert_near(at->orientation.x, 0);
    assert_near(at->orientation.y, 0);
    const struct ros_twist *twist = &odometry.twist.twist; /* in axes of the robot that has turned: forward is what was right */
    assert_near(twist->linear.x, 2);
    assert_near(twist->linear.y, 4);
    assert_near(twist->linear.z, -6);
    assert_near(twist->angular.x, 0);
    assert_near(twist->angular.y, 0);
    assert_near(twist->angular.z, -M_PI);
    for (int i = 0; i < 36; i++) /* unknown, and not perfect */
        assert_true(odometry.pose.covariance[i] == (i % 7 == 0 ? 1e6 : 0));
    /* Rates are twice the motion. z is forward; left is -x: its covariance with forward is that of z and x, turned. */
    assert_near(odometry.twist.covariance[0], 4 * 15);
    assert_near(odometry.twist.covariance[1], -4 * 13);
    assert_near(odometry.twist.covariance[6 * 3 + 5], -4 * 35);
    assert_near(odometry.twist.covariance[2 * 6 + 4], 4 * 10);
}

/* The rotation matrix of the rotation vector V (Rodrigues). */
static void rotate(const double v[3], double ret[9])
{
    const double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), c = cos(angle), s = sin(angle);
    const double n[3] = {v[0] / angle, v[1] / angle, v[2] / angle};
    const double cross[9] = {0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0};
    for (int i = 0; i < 9; i++)
        ret[i] = (i % 4 == 0 ? c : 0) + (1 - c) * n[i / 3] * n[i % 3] + s * cross[i];
}

/* Turns about one axis and about several at once, in 0.5 s: the rates are twice the rotation vector, forward, left and up. */
static void turns_about_several_axes(void **state)
{
    (void)state;
    const double turns[][3] = {{0.4, 0, 0},         {0, 0.4, 0},     {0, 0, 0.4},     {0.2, -0.3, 0.6},
                               {-0.01, 0.02, 0.02}, {-1.2, 0.4, -2}, {0, 1e-5, -1e-6}};
    struct plx_motion_info *motion = &published.frame.motion;
    struct ros_odometry odometry;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        const double *link = turns[i], camera[3] = {-link[1], -link[2], link[0]}; /* right, down, forward */
        *motion = (struct plx_motion_info){.valid = 1, .interval_ns = 500000000, .pose.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        rotate(camera, motion->motion.rotation);
        assert_int_equal(plx_message_odometry(&messages, &odometry), 0);
        assert_near(odometry.twist.twist.angular.x, 2 * link[0]);
        assert_near(odometry.twist.twist.angular.y, 2 * link[1]);
        assert_near(odometry.twist.twist.angular.z, 2 * link[2]);
    }
    /* The turn about up is that about the camera's y, negative twice. */
    motion->covariance[6 * 4 + 4] = 3;
    assert_int_equal(plx_message_odometry(&messages, &odometry), 0);
    assert_near(odometry.twist.covariance[35], 4 * 3);
    motion->valid = 0;
    assert_int_equal(plx_message_odometry(&messages, &odometry), PLX_ERR_NOT_FOUND);
    motion->valid = 1;
    motion->interval_ns = 0;
    assert_int_equal(plx_message_odometry(&messages, &odometry), PLX_ERR_NOT_FOUND);
    motion->interval_ns = 500000000;
    /* No turn at all has no axis, and is 0. */
    motion->motion = (struct plx_pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 1}};
    assert_int_equal(plx_message_odometry(&messages, &odometry), 0);
    assert_true(odometry.twist.twist.angular.x == 0 && odometry.twist.twist.angular.y == 0 &&
                odometry.twist.twist.angular.z == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pictures_have_no_padding, setup, teardown),
        cmocka_unit_test_setup_teardown(camera_info_of_both_eyes, setup, teardown),
        cmocka_unit_test_setup_teardown(disparity_counts_from_infinity, setup, teardown),
        cmocka_unit_test_setup_teardown(depth_is_unknown_or_in_metres, setup, teardown),
        cmocka_unit_test_setup_teardown(points_of_every_second_pixel, setup, teardown),
        cmocka_unit_test_setup_teardown(points_of_the_list, setup, teardown),
        cmocka_unit_test_setup_teardown(markers_are_a_box_and_a_text, setup, teardown),
        cmocka_unit_test_setup_teardown(obstacles_that_are_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_for_people_show_what_is_confirmed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_blind_frame_has_no_list_of_obstacles, setup, teardown),
        cmocka_unit_test_setup_teardown(every_topic_of_a_frame_has_a_message, setup, teardown),
        cmocka_unit_test_setup_teardown(motion_in_axes_of_the_robot, setup, teardown),
        cmocka_unit_test_setup_teardown(turns_about_several_axes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
