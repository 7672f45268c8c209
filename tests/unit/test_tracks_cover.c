/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks of things that a nearer one hides in part, on records by hand: what stands does not move, what moves does. */
#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/tracks/tracks.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define RATE 10
#define NOISE_M 0.01
#define MIN_PX 8       /* narrower parts are no obstacles */
#define STANDS_MPS 0.1 /* largest published speed of what stands */

struct thing {
    double x, z, vx; /* centre at time 0, m and m/s */
    double width, height;
};

static const struct plx_calibration_info calibration = {512, 512, 320, 240, 320, 0.12};
static const struct plx_track_params params = {.min_hits = 3, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1};
static struct plx_tracks *tracks;
static struct plx_obstacle list[PLX_MAX_OBSTACLES];
static int count, frame;
static uint64_t noise;

static int set_up(void **state)
{
    (void)state;
    noise = test_seed();
    frame = 0;
    return plx_tracks_create(&params, &tracks);
}

static int tear_down(void **state)
{
    (void)state;
    plx_tracks_destroy(tracks);
    return 0;
}

static double column(double x, double z)
{
    return calibration.cx + x / z * calibration.fx;
}

/* A record of the columns LEFT to RIGHT of THING, which stands on the ground 1 m below the camera. */
static void add(const struct thing *thing, double left, double right)
{
    const double width = (right - left) / calibration.fx * thing->z, x = ((left + right) / 2 - calibration.cx) / calibration.fx;
    if (right - left < MIN_PX)
        return;
    list[count] = (struct plx_obstacle){
        .label = (uint32_t)count + 1,
        .x = (int)lround(left),
        .y = (int)lround(calibration.cy + (1 - thing->height) / thing->z * calibration.fy),
        .width = (int)lround(right) - (int)lround(left),
        .height = (int)lround(thing->height / thing->z * calibration.fy),
        .position_m = {(float)(x * thing->z + NOISE_M * random_normal(&noise)), (float)(1 - thing->height / 2),
                       (float)(thing->z + NOISE_M * random_normal(&noise))},
        .extent_m = {(float)width, (float)thing->height, 0.1f},
    };
    count++;
}

/* One frame of FAR with NEAR before it: what is seen of FAR first, at most two parts of it. To the left of NEAR the right
 * camera sees less of FAR. */
static void look(const struct thing *near, const struct thing *far)
{
    const double time = (double)frame / RATE;
    const double near_x = near->x + near->vx * time, far_x = far->x + far->vx * time;
    const double left = column(far_x - far->width / 2, far->z), right = column(far_x + far->width / 2, far->z);
    const double shadow = calibration.fx * calibration.baseline_m * (1 / near->z - 1 / far->z);
    const double hidden_left = column(near_x - near->width / 2, near->z) - shadow;
    const double hidden_right = column(near_x + near->width / 2, near->z);
    struct plx_motion_info motion = {.valid = frame > 0, .source = PLX_MOTION_VISUAL, .interval_ns = PLX_NS_PER_S / RATE};

    motion.motion = motion.pose = (struct plx_pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0}};
    for (int i = 0; i < 6; i++)
        motion.covariance[7 * i] = i < 3 ? 1e-6 : 1e-8;
    count = 0;
    if (hidden_right < left || hidden_left > right) {
        add(far, left, right);
    } else {
        add(far, left, hidden_left);
        add(far, hidden_right, right);
    }
    add(near, column(near_x - near->width / 2, near->z), hidden_right);
    plx_tracks_update(tracks, PLX_NS_PER_S + frame * (PLX_NS_PER_S / RATE), &calibration, &motion, list, &count,
                      PLX_MAX_OBSTACLES);
    frame++;
}

static bool is_far(const struct plx_obstacle *obstacle)
{
    return obstacle->position_m[2] > 6;
}

static double speed_of(const struct plx_obstacle *o)
{
    return hypot((double)o->world_velocity_mps[0], (double)o->world_velocity_mps[2]);
}

/* The track of FAR while it is seen whole at the end, after NEAR has passed; it was seen whole for 1 s at the beginning. */
static void pass(const struct thing *near, const struct thing *far, double seconds)
{
    uint32_t before = 0;
    int parts = 0, near_moves = 0;
    while (frame < seconds * RATE) {
        look(near, far);
        for (int k = 0; k < count; k++) {
            if (!is_far(&list[k])) {
                near_moves += list[k].moving != 0;
                continue;
            }
            parts += list[k].status != PLX_TRACK_LOST && (double)list[k].extent_m[0] < 0.9 * far->width;
            before = frame == RATE ? list[k].track : before;
            if (list[k].moving || speed_of(&list[k]) > STANDS_MPS)
                fail_msg("frame %d: track %u, %.2f m of the thing, moves at %.2f m/s", frame, list[k].track,
                         (double)list[k].extent_m[0], speed_of(&list[k]));
        }
    }
    assert_true(parts > RATE / 2); /* it was hidden in part for long enough to look like motion */
    assert_true(near_moves > RATE);
    assert_true(is_far(&list[0]) && list[0].status == PLX_TRACK_TRACKED);
    assert_int_equal(list[0].track, before);
    assert_float_equal((double)list[0].size_m[0], far->width, 0.1);
}

static void what_stands_does_not_move_when_a_near_thing_passes(void **state)
{
    (void)state;
    static const struct thing far[] = {{0, 9, 0, 1.6, 1.4}, {0.8, 8, 0, 2.5, 1.4}, {-0.5, 12, 0, 3, 1.6}};
    static const double speed[] = {0.6, 0.8, 1.2};
    for (int i = 0; i < 18; i++) {
        const struct thing *thing = &far[i % 3];
        const double vx = (i / 9 ? -1 : 1) * speed[i / 3 % 3], middle = thing->x / thing->z * 4;
        const struct thing near = {middle - vx * 3.5, 4, vx, 0.5, 1.7};
        plx_tracks_destroy(tracks);
        assert_int_equal(plx_tracks_create(&params, &tracks), 0);
        frame = 0;
        print_message("far thing %.1f m wide, %.0f m away; near thing at %.1f m/s\n", thing->width, thing->z, vx);
        pass(&near, thing, 7);
    }
}

/* It comes into view from behind a near thing, which leaves: its track began with a part of it. */
static void what_is_uncovered_does_not_move(void **state)
{
    (void)state;
    const struct thing near = {0.1, 4, 0.4, 1.0, 1.7}, far = {0, 9, 0, 1.6, 1.4};
    int seen = 0;
    while (frame < 6 * RATE) {
        look(&near, &far);
        for (int k = 0; k < count; k++) {
            if (!is_far(&list[k]))
                continue;
            seen++;
            assert_int_equal(list[k].moving, 0);
            assert_true(speed_of(&list[k]) <= STANDS_MPS);
        }
    }
    assert_true(seen > 4 * RATE);
    assert_float_equal((double)list[0].size_m[0], far.width, 0.1);
}

/* A thing that moves behind a near one that stands, or passes the other way, is still called moving. */
static void what_moves_behind_a_near_thing_moves(void **state)
{
    (void)state;
    static const struct thing near[] = {
        {0, 4, 0, 0.2, 1.8}, {0, 4, 0, 0.5, 1.7}, {-0.2, 4, 0, 0.5, 1.7}, {1.5, 4, -0.6, 0.4, 1.7}};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        const struct thing far = {-2.5, 8, 1.0, 1.6, 1.6};
        int seen = 0, moving = 0, hidden = 0;
        plx_tracks_destroy(tracks);
        assert_int_equal(plx_tracks_create(&params, &tracks), 0);
        frame = 0;
        while (frame < 5 * RATE) {
            look(&near[i], &far);
            bool any = false;
            for (int k = 0; k < count; k++)
                any |= is_far(&list[k]) && list[k].status != PLX_TRACK_LOST && list[k].moving;
            if (frame <= RATE) /* it takes so long to tell */
                continue;
            seen++;
            moving += any;
            hidden += is_far(&list[0]) && (double)list[0].extent_m[0] < 0.9 * far.width;
        }
        print_message("near thing %zu: hidden in part in %d, moving in %d of %d frames\n", i, hidden, moving, seen);
        assert_true(hidden > RATE / 2);
        assert_int_equal(moving, seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_stands_does_not_move_when_a_near_thing_passes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_uncovered_does_not_move, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_moves_behind_a_near_thing_moves, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
