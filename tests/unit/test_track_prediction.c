/* SPDX-License-Identifier: Apache-2.0 */
/* Where tracks say that the next frame will show their obstacles: before a camera that stands, drives or turns, of things that
 * stand or move; and which tracks say nothing. */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/motion/pose.h"
#include "core/tracks/tracks.h"
#include "tests/cmocka.h"

#define FRAME_NS (PLX_NS_PER_S / 10)
#define MARGIN_PX 4
#define ONE_M (16 * 512 * 0.12) /* the disparity of a metre, 1/16 px */
#define LIMIT (1 << 20)

static const struct plx_calibration_info calibration = {512, 512, 320, 240, 320, 0.12};
static const struct plx_track_params params = {.min_hits = 2, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1};
static struct plx_tracks *tracks;
static struct plx_obstacle list[PLX_MAX_OBSTACLES];
static int count;
static int64_t now_ns;
static struct plx_predictions predictions;

static int set_up(void **state)
{
    (void)state;
    now_ns = 1000 * PLX_NS_PER_S;
    memset(&predictions, 0xA5, sizeof predictions);
    return plx_tracks_create(&params, &tracks);
}

static int tear_down(void **state)
{
    (void)state;
    plx_tracks_destroy(tracks);
    return 0;
}

/* A thing 1 m wide, 2 m high and DEPTH metres deep whose front is at (X, 0, Z). */
static struct plx_obstacle thing(double x, double z, double depth)
{
    const int width = (int)(512 / z), height = (int)(1024 / z);
    return (struct plx_obstacle){.label = 1,
                                 .x = (int)(320 + 512 * x / z) - width / 2,
                                 .y = 240 - height / 2,
                                 .width = width,
                                 .height = height,
                                 .nearest_m = (float)z,
                                 .position_m = {(float)x, 0, (float)z},
                                 .extent_m = {1, 2, (float)depth}};
}

/* The next frame shows OBSTACLE, or nothing if it is NULL. STEP: how the camera moved, then_from_now; NULL: not known. */
static void update(const struct plx_obstacle *obstacle, const struct plx_pose *step)
{
    struct plx_motion_info motion = {.valid = step != NULL, .source = PLX_MOTION_VISUAL};

    if (step) {
        motion.motion = *step;
        motion.interval_ns = FRAME_NS;
        for (int i = 0; i < 6; i++)
            motion.covariance[7 * i] = i < 3 ? 1e-6 : 1e-8;
    }
    count = obstacle ? 1 : 0;
    if (obstacle)
        list[0] = *obstacle;
    now_ns += FRAME_NS;
    plx_tracks_update(tracks, now_ns, &calibration, &motion, list, &count, PLX_MAX_OBSTACLES);
}

static int predict(int64_t step_ns)
{
    plx_tracks_predict(tracks, now_ns + step_ns, &calibration, &predictions);
    return predictions.count;
}

/* The only prediction is the box of EXPECTED with the margins, within PX and within SHARE of the disparities. */
static void assert_predicted(const struct plx_obstacle *expected, double px, double share)
{
    const struct plx_predicted_box *box = &predictions.box[0];
    const double nearest = (double)expected->nearest_m, farthest = nearest + (double)expected->extent_m[2];

    assert_int_equal(predictions.count, 1);
    assert_float_equal(box->left, expected->x - MARGIN_PX, px);
    assert_float_equal(box->right, expected->x + expected->width + MARGIN_PX, px);
    assert_float_equal(box->top, expected->y - MARGIN_PX, px);
    assert_float_equal(box->bottom, expected->y + expected->height + MARGIN_PX, px);
    assert_float_equal(box->far_disparity, floor(0.97 * ONE_M / farthest - 4), share * ONE_M / farthest);
    assert_float_equal(box->near_disparity, floor(1.03 * ONE_M / nearest + 4), share * ONE_M / nearest);
}

static void what_stands_is_seen_where_it_was(void **state)
{
    (void)state;
    const struct plx_obstacle box = thing(-0.5, 4, 1);

    update(&box, NULL);
    update(&box, NULL);
    assert_int_equal(predict(FRAME_NS), 1);
    assert_predicted(&box, 0, 0);
}

static void one_that_was_seen_once_or_is_lost_is_not_predicted(void **state)
{
    (void)state;
    const struct plx_obstacle box = thing(0, 4, 0);

    assert_int_equal(predict(FRAME_NS), 0); /* before the first frame */
    update(&box, NULL);
    assert_int_equal(predict(FRAME_NS), 0);
    update(&box, NULL);
    assert_int_equal(predict(FRAME_NS), 1);
    update(NULL, NULL);
    assert_int_equal(count, 1); /* as LOST */
    assert_int_equal(predict(FRAME_NS), 0);
    update(&box, NULL);
    assert_int_equal(predict(FRAME_NS), 1);
}

static void time_that_stands_or_leaps_predicts_nothing(void **state)
{
    (void)state;
    const struct plx_obstacle box = thing(0, 4, 0);

    update(&box, NULL);
    update(&box, NULL);
    assert_int_equal(predict(PLX_NS_PER_S / 2), 1);
    assert_int_equal(predict(PLX_NS_PER_S / 2 + 1), 0);
    assert_int_equal(predict(0), 0);
    assert_int_equal(predict(-FRAME_NS), 0);
}

/* 5 m/s towards a thing that stands: it grows, also over a frame that was left out. */
static void a_camera_that_drives_sees_it_nearer(void **state)
{
    (void)state;
    const struct plx_pose step = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0.5}};

    for (int i = 0; i < 6; i++) {
        const struct plx_obstacle box = thing(1, 8 - 0.5 * i, 0);
        update(&box, i > 0 ? &step : NULL);
    }
    const struct plx_obstacle next = thing(1, 5, 0), second = thing(1, 4.5, 0);
    predict(FRAME_NS);
    assert_predicted(&next, 3, 0.02);
    predict(2 * FRAME_NS);
    assert_predicted(&second, 4, 0.02);
}

/* To the right by 0.1 rad a frame: the thing moves to the left by 51 px. */
static void a_camera_that_turns_sees_it_beside(void **state)
{
    (void)state;
    const struct plx_pose step = {{cos(0.1), 0, sin(0.1), 0, 1, 0, -sin(0.1), 0, cos(0.1)}, {0, 0, 0}};

    for (int i = 0; i < 4; i++) {
        const struct plx_obstacle box = thing(8 * sin(0.3 - 0.1 * i), 8 * cos(0.3 - 0.1 * i), 0);
        update(&box, i > 0 ? &step : NULL);
    }
    const struct plx_obstacle next = thing(8 * sin(-0.1), 8 * cos(-0.1), 0);
    predict(FRAME_NS);
    assert_predicted(&next, 2, 0.02);
}

/* 3 m/s across the view: 31 px a frame. */
static void what_moves_is_seen_where_it_goes(void **state)
{
    (void)state;
    const struct plx_pose still = PLX_POSE_IDENTITY;

    for (int i = 0; i < 10; i++) {
        const struct plx_obstacle box = thing(-1.5 + 0.3 * i, 5, 0);
        update(&box, &still);
    }
    assert_int_equal(list[0].moving, 1);
    const struct plx_obstacle next = thing(1.5, 5, 0);
    predict(FRAME_NS);
    assert_predicted(&next, 3, 0.02);
}

static void what_reaches_the_camera_is_not_predicted(void **state)
{
    (void)state;
    const struct plx_pose step = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0.5}};

    for (int i = 0; i < 4; i++) {
        const struct plx_obstacle box = thing(0, 2.2 - 0.5 * i, 0);
        update(&box, i > 0 ? &step : NULL);
    }
    assert_int_equal(predict(FRAME_NS), 1);     /* at 0.2 m */
    assert_int_equal(predict(2 * FRAME_NS), 0); /* behind */
}

static void numbers_stay_within_limits(void **state)
{
    (void)state;
    struct plx_obstacle box = thing(0, 0.06, 0);

    box.x = -2000000000;
    box.y = 2000000000;
    update(&box, NULL);
    update(&box, NULL);
    assert_int_equal(predict(FRAME_NS), 1);
    assert_int_equal(predictions.box[0].left, -LIMIT);
    assert_int_equal(predictions.box[0].right, -LIMIT);
    assert_int_equal(predictions.box[0].top, LIMIT);
    assert_int_equal(predictions.box[0].bottom, LIMIT);
}

static void as_many_as_there_may_be_obstacles(void **state)
{
    (void)state;
    const struct plx_motion_info unknown = {0};

    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < PLX_MAX_OBSTACLES; k++)
            list[k] = thing(3 * (k % 16), 4 + 3 * (k / 16), 0);
        count = PLX_MAX_OBSTACLES;
        now_ns += FRAME_NS;
        plx_tracks_update(tracks, now_ns, &calibration, &unknown, list, &count, PLX_MAX_OBSTACLES);
    }
    assert_int_equal(predict(FRAME_NS), PLX_MAX_OBSTACLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_stands_is_seen_where_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_was_seen_once_or_is_lost_is_not_predicted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_that_stands_or_leaps_predicts_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_camera_that_drives_sees_it_nearer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_camera_that_turns_sees_it_beside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_moves_is_seen_where_it_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_reaches_the_camera_is_not_predicted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_stay_within_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_many_as_there_may_be_obstacles, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
