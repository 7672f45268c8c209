/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks from a moving camera, on made-up obstacles: identity, velocity over the ground, what moves, size and class. */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/motion/pose.h"
#include "core/tracks/tracks.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define NOISE_M 0.02

struct thing {
    double x, z, vx, vz; /* over the ground: of the start, and its velocity */
    double width, height;
};

static const struct plx_calibration_info calibration = {512, 512, 320, 240, 320, 0.12};
static const struct plx_track_params params = {.min_hits = 3, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1};
static struct plx_tracks *tracks;
static struct plx_obstacle list[PLX_MAX_OBSTACLES];
static int count;
static uint64_t noise;
static double period = 0.1; /* seconds between frames */

static int set_up(void **state)
{
    (void)state;
    noise = test_seed();
    period = 0.1;
    return plx_tracks_create(&params, &tracks);
}

static int tear_down(void **state)
{
    (void)state;
    plx_tracks_destroy(tracks);
    return 0;
}

/* start_from_now of a camera that drives and turns evenly. */
static struct plx_pose camera_at(int frame, double speed, double turn)
{
    struct plx_pose pose = PLX_POSE_IDENTITY;
    const struct plx_pose step = {
        {cos(turn * period), 0, sin(turn * period), 0, 1, 0, -sin(turn * period), 0, cos(turn * period)},
        {0, 0, speed * period}};
    for (int i = 0; i < frame; i++)
        plx_pose_compose(&pose, &step, &pose);
    return pose;
}

static void see(const struct plx_pose *camera, const struct thing *thing, int frame)
{
    const double world[3] = {thing->x + thing->vx * frame * period, 0.3, thing->z + thing->vz * frame * period};
    struct plx_pose inverse;
    double p[3];
    plx_pose_invert(camera, &inverse);
    plx_pose_apply(&inverse, world, p);
    struct plx_obstacle *o = &list[count++];
    *o = (struct plx_obstacle){.label = (uint32_t)count, .extent_m = {(float)thing->width, (float)thing->height, 0.3f}};
    for (int i = 0; i < 3; i++)
        o->position_m[i] = (float)(p[i] + NOISE_M * random_normal(&noise));
    o->width = (int)(thing->width / p[2] * calibration.fx);
    o->height = (int)(thing->height / p[2] * calibration.fy);
    o->x = (int)(p[0] / p[2] * calibration.fx + calibration.cx) - o->width / 2;
    o->y = (int)(p[1] / p[2] * calibration.fy + calibration.cy) - o->height / 2;
}

/* One frame of THINGS; VALID: the camera's motion is known. */
static void look(const struct thing *thing, int things, int frame, double speed, double turn, bool valid)
{
    const struct plx_pose now = camera_at(frame, speed, turn), then = camera_at(frame > 0 ? frame - 1 : 0, speed, turn);
    struct plx_motion_info motion = {.valid = valid && frame > 0, .source = PLX_MOTION_VISUAL};
    if (motion.valid) {
        motion.interval_ns = (int64_t)(period * PLX_NS_PER_S);
        plx_pose_invert(&then, &motion.motion);
        plx_pose_compose(&motion.motion, &now, &motion.motion);
        for (int i = 0; i < 6; i++)
            motion.covariance[7 * i] = i < 3 ? 1e-4 : 1e-8;
    }
    count = 0;
    for (int i = 0; i < things; i++)
        see(&now, &thing[i], frame);
    plx_tracks_update(tracks, PLX_NS_PER_S + (int64_t)(frame * period * PLX_NS_PER_S), &calibration, &motion, list, &count,
                      PLX_MAX_OBSTACLES);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 3; i++)
            assert_true(isfinite(list[k].velocity_mps[i]) && isfinite(list[k].world_velocity_mps[i]) &&
                        isfinite(list[k].velocity_variance[i]) && list[k].world_velocity_variance[i] >= 0);
}

static double world_speed(const struct plx_obstacle *o)
{
    return hypot((double)o->world_velocity_mps[0], (double)o->world_velocity_mps[2]);
}

static const struct thing posts[] = {
    {-2, 40, 0, 0, 0.3, 1.8}, {2.5, 40, 0, 0, 0.3, 1.8}, {-3, 44, 0, 0, 1.8, 1.5}, {3, 47, 0, 0, 0.6, 1.7}};
#define POSTS ((int)(sizeof posts / sizeof posts[0]))

static void standing_things_keep_their_ids_at_12_mps(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 0; i < 30; i++) {
        look(posts, POSTS, i, 12, 0, true);
        assert_int_equal(count, POSTS);
        for (int k = 0; k < POSTS && i >= 2; k++) { /* in the first frame nothing is known of the camera */
            assert_int_equal(list[k].track, list[k].age_frames == (uint32_t)i + 1 ? k + 1 : POSTS + k + 1);
            assert_int_equal(list[k].moving, 0);
            worst = i < 8 ? 0 : fmax(worst, world_speed(&list[k]));
        }
    }
    for (int k = 0; k < POSTS; k++) {
        assert_in_range(list[k].age_frames, 29, 30);
        assert_float_equal(list[k].velocity_mps[2], -12, 0.6);
    }
    print_message("world velocity of standing things: worst %.2f m/s\n", worst);
    assert_true(worst < 0.3);
}

static void a_walk_is_seen_from_a_turning_camera(void **state)
{
    (void)state;
    const struct thing things[] = {{-4, 20, 1.5, 0, 0.6, 1.7}, {3, 22, 0, 0, 0.3, 1.8}, {-6, 25, 0, 0, 1.8, 1.5}};
    int moving_from = -1;
    for (int i = 0; i < 30; i++) {
        const double turn = 0.1;
        look(things, 3, i, 4, turn, true);
        assert_int_equal(count, 3);
        assert_true(!list[1].moving && !list[2].moving);
        if (list[0].moving && moving_from < 0)
            moving_from = i;
        if (i < 10)
            continue;
        assert_int_equal(list[0].moving, 1);
        /* Its velocity turns against the camera. */
        assert_float_equal(list[0].world_velocity_mps[0], 1.5 * cos(turn * i * period), 0.3);
        assert_float_equal(list[0].world_velocity_mps[2], 1.5 * sin(turn * i * period), 0.3);
    }
    print_message("moving from frame %d on\n", moving_from);
    assert_in_range(moving_from, 2, 10);
}

/* A walk of 1.5 m/s, 8 m from a camera that drives at 3 m/s, is seen within half a second if it goes across the view, and
 * within 0.7 s along it, where a tenth of a pixel is a tenth of a metre. */
static void a_walk_is_seen_in_half_a_second(void **state)
{
    (void)state;
    static const double rate[] = {10, 15, 30};
    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++) {
        int moving_from[2] = {-1, -1};
        plx_tracks_destroy(tracks);
        assert_int_equal(plx_tracks_create(&params, &tracks), 0);
        period = 1 / rate[i];
        for (int frame = 0; frame < (int)rate[i]; frame++) {
            const struct thing things[] = {
                {-2, 8, 1.5, 0, 0.6, 1.7}, {2, 8, 0, 1.5, 0.6, 1.7}, {0, 9, 0, 0, 0.6, 1.7}, {-4, 9, 0, 0, 1.8, 1.5}};
            look(things, 4, frame, 3, 0, true);
            for (int k = 0; k < 4; k++) {
                if (k < 2 && list[k].moving && moving_from[k] < 0)
                    moving_from[k] = frame;
                assert_true(k < 2 || !list[k].moving);
            }
        }
        print_message("%2.0f Hz: moving after %.2f and %.2f s\n", rate[i], moving_from[0] * period, moving_from[1] * period);
        for (int k = 0; k < 2; k++)
            assert_true(moving_from[k] > 0 && moving_from[k] * period <= (k == 0 ? 0.5 : 0.7) + 1e-9);
    }
}

/* It stands for 3 s, walks for 2 s, and stands again. */
static void one_that_stands_begins_to_walk_and_stops(void **state)
{
    (void)state;
    int moving_from = -1, still_from = -1;
    for (int i = 0; i < 100; i++) {
        const double walked = i < 30 ? 0 : i < 50 ? (i - 30) * period : 20 * period;
        const struct thing thing = {-1 + 1.5 * walked, 8, 0, 0, 0.6, 1.7};
        look(&thing, 1, i, 0, 0, true);
        assert_int_equal(list[0].track, list[0].age_frames == (uint32_t)i + 1 ? 1 : 2);
        assert_true(i >= 30 || !list[0].moving);
        if (list[0].moving && moving_from < 0)
            moving_from = i;
        if (moving_from >= 0 && i >= 50 && !list[0].moving && still_from < 0)
            still_from = i;
        assert_true(i != 45 || fabs(world_speed(&list[0]) - 1.5) < 0.3);
        assert_true(i < 70 || world_speed(&list[0]) < 0.2);
    }
    print_message("moving after %.1f s, stands again after %.1f s\n", (moving_from - 30) * period, (still_from - 50) * period);
    assert_in_range(moving_from, 31, 37);
    assert_in_range(still_from, 51, 70);
}

/* A velocity of 0.4 m/s cannot be told from wandering at once, but the way of some seconds shows it. */
static void slow_motion_shows_in_time(void **state)
{
    (void)state;
    const struct thing things[] = {{-1, 6, 0.4, 0, 0.6, 1.7}, {3, 6, 0, 0, 0.6, 1.7}};
    for (int i = 0; i < 50; i++) {
        look(things, 2, i, 0.2, 0, true);
        assert_true(!list[1].moving && world_speed(&list[1]) < 0.1);
    }
    assert_int_equal(list[0].moving, 1);
    assert_float_equal(list[0].world_velocity_mps[0], 0.4, 0.2);
}

/* A pole whose region joins a hedge behind it, and parts again: the centre jumps, but nothing moves. */
static void joining_and_parting_is_no_motion(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        const bool joined = i % 10 >= 6;
        const struct thing thing = {joined ? -1 : -2, 30, 0, 0, joined ? 2.4 : 0.3, 1.8};
        look(&thing, 1, i, 6, 0, true);
        assert_int_equal(list[0].moving, 0);
        assert_true(world_speed(&list[0]) < 0.5);
    }
    assert_in_range(list[0].age_frames, 38, 40);
}

static void crossing_things_keep_their_ids(void **state)
{
    (void)state;
    const struct thing things[] = {{-3, 25, 1.5, 0, 0.6, 1.7}, {3, 26.2, -1.5, 0, 0.6, 1.7}};
    uint32_t id[2] = {0};
    for (int i = 0; i < 40; i++) {
        look(things, 2, i, 3, 0, true);
        for (int k = 0; k < 2; k++) {
            id[k] = i == 2 ? list[k].track : id[k];
            if (i >= 2)
                assert_int_equal(list[k].track, id[k]);
        }
    }
}

static void motion_is_missing_for_some_frames(void **state)
{
    (void)state;
    uint32_t id[POSTS] = {0};
    for (int i = 0; i < 25; i++) {
        const bool valid = i < 10 || i > 12;
        look(posts, POSTS, i, 12, 0, valid);
        for (int k = 0; k < POSTS && i >= 2; k++) {
            id[k] = i == 2 ? list[k].track : id[k];
            assert_int_equal(list[k].track, id[k]);
            assert_int_equal(list[k].moving, 0);
            assert_true((list[k].world_velocity_variance[0] > 0) == valid);
            assert_true(valid || world_speed(&list[k]) == 0);
        }
    }
}

/* The size is steady under outliers, and the class does not flicker at its bound. */
static void size_and_class_are_steady(void **state)
{
    (void)state;
    const uint32_t expected[POSTS] = {PLX_SIZE_NARROW, PLX_SIZE_NARROW, PLX_SIZE_LARGE, PLX_SIZE_MEDIUM};
    struct thing thing[POSTS];
    for (int i = 0; i < 20; i++) {
        memcpy(thing, posts, sizeof thing);
        for (int k = 0; k < POSTS; k++)
            thing[k].width *= i > 3 && i % 5 == 0 ? 1.3 : i % 2 ? 1.05 : 0.95;
        look(thing, POSTS, i, 0, 0, true);
        for (int k = 0; k < POSTS; k++) {
            assert_int_equal(list[k].size_class, expected[k]);
            assert_float_equal((double)list[k].size_m[0] / posts[k].width, 1, 0.12);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(standing_things_keep_their_ids_at_12_mps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_walk_is_seen_from_a_turning_camera, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_walk_is_seen_in_half_a_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_stands_begins_to_walk_and_stops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slow_motion_shows_in_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joining_and_parting_is_no_motion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(crossing_things_keep_their_ids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(motion_is_missing_for_some_frames, set_up, tear_down),
        cmocka_unit_test_setup_teardown(size_and_class_are_steady, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
