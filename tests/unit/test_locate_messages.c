/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of a detector as boxes of plx_locate, and the answers as messages: an unknown place never looks like a position. */
#include <math.h>
#include <string.h>

#include "bridge/locate_messages.h"
#include "tests/cmocka.h"

static struct plx_locate_scratch scratch;
static struct plx_boxes_answer answer;

static struct ros_bounding_box_2d box(double x, double y, double width, double height)
{
    return (struct ros_bounding_box_2d){{{x + width / 2, y + height / 2}, 0}, width, height};
}

static void edges_are_rounded(void **state)
{
    (void)state;
    struct plx_box got;
    const struct ros_bounding_box_2d whole = box(-3, 7, 10, 5), part = box(1.4, 2.6, 3.2, 0.01);
    assert_true(plx_box_of_message(&whole, &got));
    assert_true(got.x == -3 && got.y == 7 && got.width == 10 && got.height == 5 && !got.mask);
    assert_true(plx_box_of_message(&part, &got));
    assert_true(got.x == 1 && got.y == 3 && got.width == 4 && got.height == 1);
}

static void numbers_of_no_box_are_invalid(void **state)
{
    (void)state;
    const double wrong[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -1e300, 1e7};
    struct plx_box got;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int field = 0; field < 4; field++) {
            struct ros_bounding_box_2d each = box(0, 0, 10, 10);
            double *number[4] = {&each.center.position.x, &each.center.position.y, &each.size_x, &each.size_y};
            *number[field] = wrong[i];
            assert_false(plx_box_of_message(&each, &got));
            assert_true(got.x == 0 && got.y == 0 && got.width == 0 && got.height == 0);
        }
    const struct ros_bounding_box_2d empty = box(5, 5, 0, 10), negative = box(5, 5, 10, -1);
    assert_false(plx_box_of_message(&empty, &got));
    assert_false(plx_box_of_message(&negative, &got));
}

static void too_many_do_not_fit(void **state)
{
    (void)state;
    static struct ros_detection_2d detection[PLX_LOCATE_MAX_BOXES + 1];
    struct ros_detection_2d_array boxes = {.detections = {.data = detection, .count = PLX_LOCATE_MAX_BOXES}};
    assert_true(plx_boxes_fit(&boxes));
    detection[3].results.count = PLX_LOCATE_MAX_HYPOTHESES;
    assert_true(plx_boxes_fit(&boxes));
    detection[200].results.count = 1;
    assert_false(plx_boxes_fit(&boxes));
    detection[200].results.count = UINT32_MAX;
    detection[201].results.count = UINT32_MAX;
    assert_false(plx_boxes_fit(&boxes));
    memset(detection, 0, sizeof detection);
    boxes.detections.count++;
    assert_false(plx_boxes_fit(&boxes));
}

/* A box at (1, -2, 4), known with a sigma of 0.5 m, and one hypothesis. */
static void answer_one(struct ros_detection_3d_array *ret_detections, struct ros_diagnostic_array *ret_info)
{
    static const struct ros_object_hypothesis_with_pose person = {.hypothesis = {"person", 0.5}};
    static const struct ros_detection_2d detection = {.results = {.data = &person, .count = 1}, .id = "7"};
    static const struct ros_detection_2d_array boxes = {.header = {{3, 4}, "camera"},
                                                        .detections = {.data = &detection, .count = 1}};
    plx_message_located(&boxes, &answer, "optical", &scratch, ret_detections, ret_info);
    assert_int_equal(ret_detections->detections.count, 1);
    assert_int_equal(ret_info->status.count, 1);
    assert_string_equal(ret_detections->detections.data[0].id, "7");
    assert_string_equal(ret_info->status.data[0].name, "7");
    assert_true(ret_detections->header.stamp.sec == 3 && ret_info->header.stamp.nanosec == 4);
    assert_string_equal(ret_detections->detections.data[0].header.frame_id, "optical");
    assert_string_equal(ret_detections->detections.data[0].results.data[0].hypothesis.class_id, "person");
}

static int set_known(void **state)
{
    (void)state;
    answer = (struct plx_boxes_answer){.frame = PLX_BOXES_FRAME_FOUND, .fx = 400};
    answer.location[0] = (struct plx_location){.state = PLX_LOCATION_KNOWN,
                                               .position_m = {1, -2, 4},
                                               .size_m = {0.5F, 1.5F},
                                               .distance_m = 4,
                                               .sigma_m = 0.5F,
                                               .track = 9};
    return 0;
}

static void a_known_place_has_its_covariance(void **state)
{
    (void)state;
    struct ros_detection_3d_array detections;
    struct ros_diagnostic_array info;
    answer_one(&detections, &info);
    const struct ros_detection_3d *one = &detections.detections.data[0];
    const double *covariance = one->results.data[0].pose.covariance;
    assert_true(one->bbox.center.position.x == 1 && one->bbox.center.position.y == -2 && one->bbox.center.position.z == 4);
    assert_true(one->bbox.size.x == 0.5 && one->bbox.size.y == 1.5 && one->bbox.size.z == 0);
    assert_true(one->results.data[0].pose.pose.position.z == 4);
    assert_true(covariance[14] == 0.25 && covariance[2] == 0.0625 && covariance[12] == 0.0625 && covariance[8] == -0.125);
    assert_true(fabs(covariance[0] - 0.015625 - 0.0001) < 1e-12 && covariance[21] == 1e6 && covariance[35] == 1e6);
    assert_true(info.status.data[0].level == 0 && info.status.data[0].values.count == 4);
    assert_string_equal(info.status.data[0].values.data[0].value, "known");
    assert_string_equal(info.status.data[0].values.data[1].value, "0.500");
    assert_string_equal(info.status.data[0].values.data[3].value, "9");
}

static void expect_unknown(const char *word)
{
    struct ros_detection_3d_array detections;
    struct ros_diagnostic_array info;
    answer_one(&detections, &info);
    const struct ros_detection_3d *one = &detections.detections.data[0];
    const struct ros_pose_with_covariance *pose = &one->results.data[0].pose;
    assert_true(isnan(one->bbox.center.position.x) && isnan(one->bbox.center.position.y) && isnan(one->bbox.center.position.z));
    assert_true(isnan(one->bbox.size.x) && isnan(one->bbox.size.y) && isnan(one->bbox.size.z));
    assert_true(isnan(pose->pose.position.x) && isnan(pose->pose.position.y) && isnan(pose->pose.position.z));
    assert_true(pose->covariance[0] == -1);
    assert_true(info.status.data[0].level == 1 && info.status.data[0].values.count == 1);
    assert_string_equal(info.status.data[0].values.data[0].value, word);
}

static void unknown_is_no_position(void **state)
{
    (void)state;
    answer.frame = PLX_BOXES_TOO_LATE; /* whatever else the answer holds from the message before */
    expect_unknown("too_late");
    answer.frame = PLX_BOXES_NO_FRAME;
    expect_unknown("no_frame");
    answer.frame = PLX_BOXES_FRAME_FOUND;
    answer.is_invalid[0] = true;
    expect_unknown("invalid_box");
    answer.is_invalid[0] = false;
    answer.location[0].state = PLX_LOCATION_AMBIGUOUS;
    expect_unknown("ambiguous");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_rounded),
        cmocka_unit_test(numbers_of_no_box_are_invalid),
        cmocka_unit_test(too_many_do_not_fit),
        cmocka_unit_test_setup(a_known_place_has_its_covariance, set_known),
        cmocka_unit_test_setup(unknown_is_no_position, set_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
