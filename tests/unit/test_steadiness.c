/* SPDX-License-Identifier: Apache-2.0 */
/* The measure of a steady list, of lists made by hand whose figures are known; and what a list for people shows. */
#include <math.h>
#include <string.h>

#include "app/evaluate/steadiness.h"
#include "core/motion/pose.h"
#include "core/tracks/confirmed.h"
#include "tests/cmocka.h"

#define START_M 9.0 /* distance of the things in the first frame */
#define STEP_M 1.0  /* more than a tenth of it: without the step nothing continues */
#define FRAMES 4

static struct plx_frame frame; /* large */
static const struct plx_calibration_info calibration = {500, 500, 320, 240, 320, 0.1};

static void clear(void)
{
    memset(&frame, 0, sizeof frame);
    frame.width = 640;
    frame.height = 480;
    frame.calibration = calibration;
}

/* A thing of 1 x 1 m at X_M across and Z_M ahead. */
static struct plx_obstacle *add(uint32_t track, enum plx_track_status status, double x_m, double z_m)
{
    struct plx_obstacle *o = &frame.obstacle[frame.obstacle_count++];
    *o = (struct plx_obstacle){.track = track,
                               .status = status,
                               .position_m = {(float)x_m, 0, (float)z_m},
                               .nearest_m = (float)z_m,
                               .x = (int)lround(320 + 500 * (x_m - 0.5) / z_m),
                               .y = (int)lround(240 - 500 * 0.5 / z_m),
                               .width = (int)lround(500 / z_m),
                               .height = (int)lround(500 / z_m)};
    return o;
}

/* Frame NUMBER of a drive towards four things: 1 stays, 2 comes again as 3 and goes, 4 is confirmed and lost at once, 5 comes
 * in the last frame. */
static void see(int number)
{
    const double z_m = START_M - (number - 1) * STEP_M;
    clear();
    add(1, number == 1 ? PLX_TRACK_NEW : PLX_TRACK_TRACKED, 0, z_m);
    if (number <= 2)
        add(number == 1 ? 2 : 3, PLX_TRACK_NEW, -3, z_m);
    add(4, number == 1 ? PLX_TRACK_NEW : number == 2 ? PLX_TRACK_TRACKED : PLX_TRACK_LOST, 3, z_m);
    if (number == FRAMES)
        add(5, PLX_TRACK_NEW, 1.5, z_m);
}

static void drive(const struct plx_pose *step, struct plx_steadiness_figures *ret_figures)
{
    struct plx_steadiness *steadiness;
    assert_int_equal(plx_steadiness_create(&steadiness), 0);
    for (int i = 1; i <= FRAMES; i++) {
        see(i);
        assert_int_equal(plx_steadiness_add(steadiness, &frame, step), 0);
    }
    plx_steadiness_figures(steadiness, ret_figures);
    plx_steadiness_destroy(steadiness);
}

static const struct plx_pose forward = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, STEP_M}};

static void lives_of_tracks(void **state)
{
    (void)state;
    struct plx_steadiness_figures f;
    drive(&forward, &f);
    assert_int_equal(f.frames, FRAMES);
    assert_int_equal(f.tracks, 5);
    assert_int_equal(f.one_frame, 2); /* 2 and 3; 5 may go on */
    assert_true(fabs(f.life_frames - 9 / 5.0) < 1e-12);
    assert_int_equal(f.shown, 2);
    assert_int_equal(f.shown_short, 1); /* 4: TRACKED in frame 2, shown once more in frame 3, and not in frame 4 */
}

/* A thing that is shown for two frames up to the end is not short: it may go on. */
static void what_ends_with_the_drive_is_not_short(void **state)
{
    (void)state;
    struct plx_steadiness_figures f;
    struct plx_steadiness *steadiness;
    assert_int_equal(plx_steadiness_create(&steadiness), 0);
    for (int i = 1; i < FRAMES; i++) {
        see(i);
        assert_int_equal(plx_steadiness_add(steadiness, &frame, &forward), 0);
    }
    plx_steadiness_figures(steadiness, &f);
    assert_int_equal(f.shown, 2);
    assert_int_equal(f.shown_short, 0);
    plx_steadiness_destroy(steadiness);
}

static void identities_follow_the_step_of_the_camera(void **state)
{
    (void)state;
    struct plx_steadiness_figures f;
    drive(&forward, &f);
    assert_int_equal(f.continued, 5); /* 1, 2 as 3, and 4 in frame 2; 1 in frames 3 and 4 */
    assert_true(fabs(f.changed_percent - 20) < 1e-12);
    assert_int_equal(f.continued_nearest, 3); /* all are as near: the first counts */
    assert_true(f.changed_nearest_percent == 0);

    const struct plx_pose none = PLX_POSE_IDENTITY;
    drive(&none, &f); /* nothing is where it would be */
    assert_int_equal(f.continued, 0);
    assert_true(isnan(f.changed_percent));
    drive(NULL, &f); /* nobody knows */
    assert_int_equal(f.continued, 0);
    assert_int_equal(f.tracks, 5);
}

/* The way across or the distance may differ by a little only. */
static void a_thing_elsewhere_is_another(void **state)
{
    (void)state;
    static const struct {
        double x_m, z_m;
        uint32_t continued;
    } cases[] = {{0, 5, 1}, {0.4, 5, 1}, {0.7, 5, 0}, {0, 5.4, 1}, {0, 5.6, 0}, {0, 4.6, 1}, {0, 4.4, 0}};
    const struct plx_pose none = PLX_POSE_IDENTITY;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plx_steadiness *steadiness;
        struct plx_steadiness_figures f;
        assert_int_equal(plx_steadiness_create(&steadiness), 0);
        clear();
        add(1, PLX_TRACK_NEW, 0, 5);
        assert_int_equal(plx_steadiness_add(steadiness, &frame, NULL), 0);
        clear();
        add(2, PLX_TRACK_NEW, cases[i].x_m, cases[i].z_m);
        assert_int_equal(plx_steadiness_add(steadiness, &frame, &none), 0);
        plx_steadiness_figures(steadiness, &f);
        if (f.continued != cases[i].continued)
            fail_msg("%.1f m across, %.1f m ahead: %u continue", cases[i].x_m, cases[i].z_m, f.continued);
        assert_true(cases[i].continued == 0 || f.changed_percent == 100);
        plx_steadiness_destroy(steadiness);
    }
}

/* 20 things that stand have 0.01 to 0.20 m/s, 20 move at 5 m/s; up and down does not count. */
static void speeds_over_the_ground(void **state)
{
    (void)state;
    struct plx_steadiness *steadiness;
    struct plx_steadiness_figures f;
    assert_int_equal(plx_steadiness_create(&steadiness), 0);
    clear();
    for (uint32_t i = 1; i <= 40; i++) {
        struct plx_obstacle *o = add(i, PLX_TRACK_TRACKED, 0, 5);
        const float speed = i <= 20 ? 0.01F * (float)i : 5;
        o->world_velocity_mps[0] = 0.6F * speed;
        o->world_velocity_mps[1] = 100;
        o->world_velocity_mps[2] = -0.8F * speed;
        o->world_velocity_variance[0] = 1;
        o->moving = i > 20;
    }
    const struct plx_obstacle fast = {.track = 41, .world_velocity_mps = {100}, .world_velocity_variance = {1}};
    *add(41, 0, 0, 5) = fast;
    frame.obstacle[40].status = PLX_TRACK_NEW;
    *add(42, 0, 0, 5) = fast;
    frame.obstacle[41].status = PLX_TRACK_LOST;
    add(43, PLX_TRACK_TRACKED, 0, 5)->world_velocity_mps[0] = 100; /* not known: no variance */
    assert_int_equal(plx_steadiness_add(steadiness, &frame, NULL), 0);
    plx_steadiness_figures(steadiness, &f);
    assert_int_equal(f.speeds, 40);
    assert_int_equal(f.moving, 20);
    assert_true(fabs(f.speed_median_mps - 0.20) < 1e-6 && fabs(f.speed_p95_mps - 5) < 1e-6);
    assert_true(fabs(f.standing_p95_mps - 0.19) < 1e-6);
    plx_steadiness_destroy(steadiness);
}

static void no_frames_have_no_figures(void **state)
{
    (void)state;
    struct plx_steadiness *steadiness;
    struct plx_steadiness_figures f;
    assert_int_equal(plx_steadiness_create(&steadiness), 0);
    plx_steadiness_figures(steadiness, &f);
    assert_true(f.tracks == 0 && f.shown == 0 && isnan(f.life_frames) && isnan(f.changed_percent) &&
                isnan(f.speed_median_mps) && isnan(f.standing_p95_mps));
    plx_steadiness_destroy(steadiness);
    plx_steadiness_destroy(NULL);
}

/* More tracks than the first allocation holds, whose numbers fall within a frame. */
static void many_tracks(void **state)
{
    (void)state;
    struct plx_steadiness *steadiness;
    struct plx_steadiness_figures f;
    assert_int_equal(plx_steadiness_create(&steadiness), 0);
    for (int i = 0; i < 10; i++) {
        clear();
        for (uint32_t k = 0; k < PLX_MAX_OBSTACLES; k++)
            add(100U * (uint32_t)i + PLX_MAX_OBSTACLES - k, PLX_TRACK_NEW, 0, 5);
        assert_int_equal(plx_steadiness_add(steadiness, &frame, NULL), 0);
    }
    plx_steadiness_figures(steadiness, &f);
    assert_int_equal(f.tracks, 900 + PLX_MAX_OBSTACLES);
    assert_true(fabs(f.life_frames - 10.0 * PLX_MAX_OBSTACLES / (900 + PLX_MAX_OBSTACLES)) < 1e-9);
    plx_steadiness_destroy(steadiness);
}

/* New ones are hidden, lost ones stay for one frame more. */
static void a_list_shows_confirmed_things(void **state)
{
    (void)state;
    static const struct {
        enum plx_track_status status;
        bool is_shown;
    } frames[] = {{PLX_TRACK_NEW, false}, {PLX_TRACK_LOST, false}, {PLX_TRACK_NEW, false},    {PLX_TRACK_TRACKED, true},
                  {PLX_TRACK_LOST, true}, {PLX_TRACK_LOST, false}, {PLX_TRACK_TRACKED, true}, {PLX_TRACK_LOST, true}};
    struct plx_confirmed confirmed = {0};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        clear();
        add(7, PLX_TRACK_LOST, 0, 5);
        add(8, frames[i].status, 0, 5);
        assert_false(plx_confirmed_shows(&confirmed, &frame.obstacle[0]));
        assert_int_equal(plx_confirmed_shows(&confirmed, &frame.obstacle[1]), frames[i].is_shown);
        plx_confirmed_keep(&confirmed, frame.obstacle, frame.obstacle_count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_of_tracks),
        cmocka_unit_test(what_ends_with_the_drive_is_not_short),
        cmocka_unit_test(identities_follow_the_step_of_the_camera),
        cmocka_unit_test(a_thing_elsewhere_is_another),
        cmocka_unit_test(speeds_over_the_ground),
        cmocka_unit_test(no_frames_have_no_figures),
        cmocka_unit_test(many_tracks),
        cmocka_unit_test(a_list_shows_confirmed_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
