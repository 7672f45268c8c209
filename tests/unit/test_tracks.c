/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks on made-up obstacles: identity, states, velocity, crowds, and hours without a second use of an id. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/tracks/tracks.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

static const struct plx_calibration_info calibration = {512, 512, 320, 240, 320, 0.12};
static const struct plx_track_params params = {.min_hits = 3, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1};

static struct plx_tracks *tracks;
static struct plx_obstacle list[PLX_MAX_OBSTACLES];
static int count;
static int64_t now_ns;
static struct plx_motion_info motion; /* motion in the next update; not valid unless a test says so */

static int set_up(void **state)
{
    (void)state;
    now_ns = 1000 * PLX_NS_PER_S;
    memset(&motion, 0, sizeof motion);
    return plx_tracks_create(&params, &tracks);
}

static int tear_down(void **state)
{
    (void)state;
    plx_tracks_destroy(tracks);
    plx_tracks_destroy(NULL);
    return 0;
}

static void begin(void)
{
    memset(list, 0, sizeof list);
    count = 0;
}

static void see(double x, double z)
{
    list[count] = (struct plx_obstacle){.label = (uint32_t)count + 1, .position_m = {(float)x, 0.3f, (float)z}};
    count++;
}

static void update(double seconds)
{
    now_ns += (int64_t)(seconds * 1e9);
    plx_tracks_update(tracks, now_ns, &calibration, &motion, list, &count, PLX_MAX_OBSTACLES);
}

static void new_then_tracked_then_lost(void **state)
{
    (void)state;
    for (int i = 0; i < params.max_missed + 1; i++) { /* seen often enough to be lost as long as may be */
        begin();
        see(1, 4);
        list[0].confidence = 0.75F;
        for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
            list[0].outline[part] = 240;
        update(0.1);
        assert_int_equal(count, 1);
        assert_int_equal(list[0].track, 1);
        assert_int_equal(list[0].age_frames, i + 1);
        assert_true(list[0].confidence == 0.75F && list[0].outline[0] == 240);
        assert_int_equal(list[0].status, i + 1 < params.min_hits ? PLX_TRACK_NEW : PLX_TRACK_TRACKED);
    }
    for (int i = 0; i < params.max_missed; i++) {
        begin();
        update(0.1);
        assert_int_equal(count, 1);
        assert_int_equal(list[0].track, 1);
        assert_int_equal(list[0].label, 0);
        assert_int_equal(list[0].status, PLX_TRACK_LOST);
        assert_float_equal(list[0].position_m[2], 4, 0.05);
        assert_true(list[0].confidence == 0); /* nothing of it is seen */
        for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
            assert_int_equal(list[0].outline[part], 0);
    }
    begin();
    update(0.1);
    assert_int_equal(count, 0);

    begin();
    see(1, 4);
    update(0.1);
    assert_int_equal(list[0].track, 2); /* back too late: somebody else */
}

/* Without a motion of the camera nothing is known of velocities over the ground; those that the camera sees are as sure as the
 * measurements make them. */
static void a_thing_at_rest_has_a_sure_velocity(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        begin();
        see(1, 4);
        for (int k = 0; k < 3; k++) /* as left by whoever had the memory before */
            list[0].world_velocity_mps[k] = list[0].world_velocity_variance[k] = 7;
        update(0.1);
        for (int k = 0; k < 3; k++)
            assert_true(list[0].world_velocity_mps[k] == 0 && list[0].world_velocity_variance[k] == 0);
    }
    for (int k = 0; k < 3; k++) {
        assert_float_equal(list[0].velocity_mps[k], 0, 0.01);
        assert_in_range((int)(1000 * list[0].velocity_variance[k]), 0, 500);
    }
}

static void comes_back_in_time(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) { /* 1 m/s to the right, hidden in frames 15 to 18 */
        begin();
        if (i < 15 || i > 18)
            see(i * 0.1, 5);
        update(0.1);
        assert_int_equal(count, 1);
        assert_int_equal(list[0].track, 1);
        assert_int_equal(list[0].status, i < 2 ? PLX_TRACK_NEW : i < 15 || i > 18 ? PLX_TRACK_TRACKED : PLX_TRACK_LOST);
        assert_float_equal(list[0].position_m[0], i * 0.1, 0.05);
    }
}

/* One that is seen once only is noise: it leaves no trace. */
static void flicker_is_not_lost(void **state)
{
    (void)state;
    begin();
    see(1, 4);
    update(0.1);
    assert_int_equal(list[0].status, PLX_TRACK_NEW);
    begin();
    update(0.1);
    assert_int_equal(count, 0);
}

/* Frames without it: how many of them list it as LOST, always in front of the camera. */
static int count_lost(int frames, double period)
{
    int lost = 0;

    for (int i = 0; i < frames; i++) {
        begin();
        update(period);
        assert_in_range(count, 0, lost == i); /* one that is over does not come again */
        lost += count;
        if (count > 0) {
            assert_int_equal(list[0].status, PLX_TRACK_LOST);
            assert_true(list[0].position_m[2] > 0);
        }
    }
    return lost;
}

static void nothing_is_lost_for_longer_than_it_was_seen(void **state)
{
    (void)state;
    for (int seen = 3; seen < 10; seen++) {
        for (int i = 0; i < seen; i++) {
            begin();
            see(1, 4);
            update(0.05);
        }
        assert_int_equal(list[0].status, PLX_TRACK_TRACKED);
        assert_int_equal(count_lost(10, 0.05), seen - 1 < params.max_missed ? seen - 1 : params.max_missed);
    }
}

static void a_track_is_lost_from_min_hits_on(void **state)
{
    (void)state;
    for (int min_hits = 1; min_hits <= 3; min_hits++) {
        const struct plx_track_params each = {.min_hits = min_hits, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1};
        plx_tracks_destroy(tracks);
        assert_int_equal(plx_tracks_create(&each, &tracks), 0);
        for (int i = 0; i < 2; i++) {
            begin();
            see(1, 4);
            update(0.1);
        }
        assert_int_equal(count_lost(3, 0.1), min_hits <= 2); /* seen in two frames, it may miss one */
    }
}

/* The box of what was seen last begins at column X. */
static void give_box(int x)
{
    struct plx_obstacle *last = &list[count - 1];
    last->x = x;
    last->y = 100;
    last->width = 100;
    last->height = 200;
}

/* A young track that missed MISSED frames, and then something at the same place whose box lies PX beside its own: which track
 * that is. */
static uint32_t take_up(int missed, int px)
{
    plx_tracks_destroy(tracks);
    assert_int_equal(plx_tracks_create(&params, &tracks), 0);
    begin();
    see(1, 4);
    give_box(400);
    update(0.05);
    assert_int_equal(list[0].track, 1);
    for (int i = 0; i < missed; i++) {
        begin();
        update(0.05);
        assert_int_equal(count, 0);
    }
    begin();
    see(1, 4);
    give_box(400 + px);
    update(0.05);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].status, PLX_TRACK_NEW);
    assert_int_equal(list[0].age_frames, list[0].track == 1 ? missed + 2 : 1);
    return list[0].track;
}

static void a_young_track_misses_one_frame_where_its_box_is(void **state)
{
    (void)state;
    assert_int_equal(take_up(1, 0), 1);
    assert_int_equal(take_up(1, 53), 1); /* 47 of 153 px in common */
    assert_int_equal(take_up(1, 54), 2); /* 46 of 154 */
    assert_int_equal(take_up(0, 54), 1); /* nothing was missed: the place is enough */
    assert_int_equal(take_up(2, 0), 2);
}

/* Once it was seen often enough, the place is enough after a miss too. */
static void a_track_that_is_known_is_taken_up_by_its_place(void **state)
{
    (void)state;
    for (int i = 0; i < params.min_hits + 2; i++) {
        begin();
        if (i != params.min_hits) {
            see(1, 4);
            give_box(i < params.min_hits ? 400 : 460);
        }
        update(0.05);
    }
    assert_int_equal(list[0].track, 1);
    assert_int_equal(list[0].status, PLX_TRACK_TRACKED);
}

static void velocity_of_a_noisy_walk(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    double worst = 0, mean = 0;
    const double vx = 0.8, vz = -0.6;
    for (int i = 0; i < 150; i++) {
        begin();
        see(-2 + vx * i / 30 + 0.01 * random_normal(&random), 8 + vz * i / 30 + 0.05 * random_normal(&random));
        update(1.0 / 30);
        if (i < 60)
            continue;
        const double error = hypot((double)list[0].velocity_mps[0] - vx, (double)list[0].velocity_mps[2] - vz);
        worst = fmax(worst, error);
        mean += error / 90;
        assert_true(list[0].velocity_variance[0] > 0 && list[0].velocity_variance[2] >= list[0].velocity_variance[0]);
    }
    print_message("velocity error: mean %.3f, worst %.3f m/s of 1 m/s\n", mean, worst);
    assert_true(mean < 0.15);
    assert_true(worst < 0.4);
}

/* Two obstacles move past each other a metre apart, listed in changing order. */
static void passing_keeps_identity(void **state)
{
    (void)state;
    uint32_t id[2] = {0, 0};
    for (int i = 0; i < 60; i++) {
        const bool swapped = i % 3 == 1;
        const double x = -1.5 + i * 0.05;
        begin();
        see(swapped ? -x : x, swapped ? 5 : 4);
        see(swapped ? x : -x, swapped ? 4 : 5);
        update(0.05);
        assert_int_equal(count, 2);
        for (int k = 0; k < 2; k++) {
            const uint32_t got = list[swapped ? 1 - k : k].track;
            if (i == 0)
                id[k] = got;
            assert_int_equal(got, id[k]);
        }
    }
    assert_int_not_equal(id[0], id[1]);
}

/* The nearest pair is taken first, not the first listed. */
static void nearest_pair_first(void **state)
{
    (void)state;
    begin();
    see(0, 4);
    see(0.5, 4);
    update(0.1);
    begin();
    see(0.30, 4); /* between both, nearer to the second, which has a better one */
    see(0.52, 4);
    update(0.1);
    assert_int_equal(list[0].track, 1);
    assert_int_equal(list[1].track, 2);
}

static void a_crowd_of_256(void **state)
{
    (void)state;
    static bool used[1 << 16];
    uint64_t random = test_seed();
    uint32_t highest = 0;
    memset(used, 0, sizeof used);
    for (int i = 0; i < 40; i++) {
        begin();
        const bool jump = i % 4 == 3; /* everyone is somewhere else: all lost, all new */
        for (int k = 0; k < PLX_MAX_OBSTACLES; k++)
            see((k % 16) * 2.0 + (jump ? 1000.0 * (i + 1) : 0) + 0.01 * random_normal(&random), 3 + k / 16 * 2.0);
        update(0.1);
        assert_int_equal(count, PLX_MAX_OBSTACLES);
        for (int k = 0; k < count; k++) {
            assert_int_not_equal(list[k].track, 0);
            for (int other = 0; other < k; other++)
                assert_int_not_equal(list[k].track, list[other].track);
            if (list[k].age_frames == 1) { /* an id begins once */
                assert_false(used[list[k].track]);
                used[list[k].track] = true;
            }
            highest = list[k].track > highest ? list[k].track : highest;
        }
    }
    assert_true(highest > 10 * PLX_MAX_OBSTACLES);
}

/* COUNT frames of one that comes nearer: it begins at START metres and moves by STEP metres a frame of PERIOD seconds. */
/* PLX_MAX_OBSTACLES things in a row Z metres ahead, seen for FRAMES frames; the last frame's numbers. */
static void see_row(double z, int frames, uint32_t ret_track[PLX_MAX_OBSTACLES])
{
    for (int i = 0; i < frames; i++) {
        begin();
        for (int k = 0; k < PLX_MAX_OBSTACLES; k++)
            see(3 * k - 1.5 * PLX_MAX_OBSTACLES, z);
        update(0.02);
    }
    for (int k = 0; k < PLX_MAX_OBSTACLES; k++)
        ret_track[k] = list[k].track;
}

/* More things than there is room for tracks: those that are lost for the longest make room, and no other. */
static void those_lost_for_the_longest_make_room(void **state)
{
    (void)state;
    static uint32_t first[PLX_MAX_OBSTACLES], second[PLX_MAX_OBSTACLES], third[PLX_MAX_OBSTACLES], again[PLX_MAX_OBSTACLES];
    see_row(5, 8, first);
    see_row(10, 3, second);
    see_row(15, 1, third);
    see_row(15, 1, again);
    assert_memory_equal(again, third, sizeof third); /* each has its own place */
    see_row(10, 1, again);
    int kept = 0;
    for (int k = 0; k < PLX_MAX_OBSTACLES; k++)
        kept += again[k] == second[k];
    assert_int_equal(kept, PLX_MAX_OBSTACLES);
}

static void see_it_come(int frames, double start, double step, double period)
{
    for (int i = 0; i < frames; i++) {
        begin();
        see(0, start - i * step);
        update(period);
        assert_int_equal(list[0].status, i + 1 < params.min_hits ? PLX_TRACK_NEW : PLX_TRACK_TRACKED);
    }
}

/* tracks.max_missed may be 1000 frames: half a second ends a LOST track all the same. */
static void lost_for_half_a_second_at_most(void **state)
{
    (void)state;
    static const struct {
        double period;
        int lost; /* frames, of which max_missed allows 1000 */
    } rate[] = {{0.01, 50}, {0.1, 5}, {0.2, 2}, {0.4, 1}, {0.6, 0}, {1, 0}};
    const struct plx_track_params patient = {.min_hits = 3, .max_missed = 1000, .gate_m = 0.8, .accel_mps2 = 1};

    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++) {
        plx_tracks_destroy(tracks);
        assert_int_equal(plx_tracks_create(&patient, &tracks), 0);
        see_it_come(60, 60, rate[i].period / 2, rate[i].period); /* 0.5 m/s */
        assert_int_equal(count_lost(1200, rate[i].period), rate[i].lost);
    }
}

/* At 1 Hz an obstacle that is seen keeps its number; after a gap nobody knows whose number it would be. */
static void a_gap_ends_all_tracks(void **state)
{
    (void)state;
    see_it_come(10, 12, 0.1, 1);
    assert_int_equal(list[0].track, 1);
    begin();
    see(0, 11);
    update(3);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].track, 2);
    assert_int_equal(list[0].status, PLX_TRACK_NEW);
    assert_int_equal(list[0].age_frames, 1);
}

/* One that comes at 5 m/s from 1.5 m would be behind the camera before its time is over. */
static void nothing_is_extrapolated_to_the_camera(void **state)
{
    (void)state;
    see_it_come(20, 2.45, 0.05, 0.01);
    assert_in_range(count_lost(10, 0.1), 1, 3);
}

static void numbers_go_on_after_those_of_others(void **state)
{
    (void)state;
    assert_int_equal(plx_tracks_last(tracks), 0);
    plx_tracks_continue(tracks, 41);
    begin();
    see(1, 4);
    see(-1, 4);
    update(0.1);
    assert_int_equal(list[0].track, 42);
    assert_int_equal(list[1].track, 43);
    assert_int_equal(plx_tracks_last(tracks), 43);
    plx_tracks_continue(tracks, UINT32_MAX);
    begin();
    see(5, 9);
    update(0.1);
    assert_int_equal(list[0].track, 1); /* never 0 */
}

/* A clock that stops or goes back must not break anything. */
static void strange_times(void **state)
{
    (void)state;
    static const double step[] = {0.1, 0, -5, 0.1, 0, 0.1, -100, 0.1, 1.5};
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++) {
        begin();
        see(1, 4);
        update(step[i]);
        assert_int_equal(count, 1);
        assert_int_equal(list[0].track, 1);
        for (int k = 0; k < 3; k++)
            assert_true(isfinite(list[0].velocity_mps[k]) && fabsf(list[0].velocity_mps[k]) < 0.1f &&
                        list[0].velocity_variance[k] >= 0);
    }
}

/* A recording may begin at 0: that is a time, too. */
static void time_begins_at_zero(void **state)
{
    (void)state;
    now_ns = 0;
    for (int i = 0; i < 3; i++) {
        begin();
        see(1 + 0.1 * i, 4);
        update(i == 0 ? 0 : 0.1);
        assert_true(i == 0 || list[0].velocity_mps[0] > 0.3f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(new_then_tracked_then_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comes_back_in_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_thing_at_rest_has_a_sure_velocity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(those_lost_for_the_longest_make_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flicker_is_not_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_lost_for_longer_than_it_was_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_track_is_lost_from_min_hits_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_young_track_misses_one_frame_where_its_box_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_track_that_is_known_is_taken_up_by_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(velocity_of_a_noisy_walk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(passing_keeps_identity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nearest_pair_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_crowd_of_256, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_for_half_a_second_at_most, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_gap_ends_all_tracks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_extrapolated_to_the_camera, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_go_on_after_those_of_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strange_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_begins_at_zero, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
