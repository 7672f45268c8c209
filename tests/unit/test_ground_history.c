/* SPDX-License-Identifier: Apache-2.0 */
/* The ground over time: which plane is held and for how long, when the camera's height is known, and when all is forgotten. */
#include <math.h>
#include <string.h>

#include "core/ground/fit.h"
#include "core/ground/history.h"
#include "tests/cmocka.h"

#define MS INT64_C(1000000)

static const struct plx_ground_params params = {
    .enabled = true, .disparities = 64, .calibration = {512, 512, 319.5, 239.5, 319.5, 0.12}};
static const struct plx_ground nothing;

/* A level ground HEIGHT metres below the camera. */
static struct plx_ground found(double height)
{
    const int64_t slope = plx_ground_round(0.12 / height * 16 * 65536);
    return (struct plx_ground){0, slope, -200 * slope, (int32_t)(height * 1e6), PLX_GROUND_FOUND, 1000, 900};
}

/* A frame at NOW_NS that shows GROUND; returns what it is told. */
static struct plx_ground_prior frame(struct plx_ground_history *history, int64_t now_ns, struct plx_ground ground)
{
    struct plx_ground_prior prior;
    plx_ground_history_prior(history, &params, now_ns, &prior);
    plx_ground_history_add(history, &ground);
    return prior;
}

static int64_t show(struct plx_ground_history *history, int64_t now_ns, int frames, double height)
{
    for (int i = 0; i < frames; i++, now_ns += 33 * MS)
        frame(history, now_ns, found(height));
    return now_ns;
}

static bool is_empty(struct plx_ground_prior prior)
{
    static const struct plx_ground_prior none;
    return memcmp(&prior, &none, sizeof none) == 0;
}

static void the_first_frame_knows_nothing(void **state)
{
    (void)state;
    struct plx_ground_history history = {.heights = 0};
    assert_true(is_empty(frame(&history, 0, nothing)));
    assert_true(is_empty(frame(&history, 33 * MS, found(1))));
    const struct plx_ground_prior prior = frame(&history, 66 * MS, nothing);
    assert_int_equal(prior.held.valid, PLX_GROUND_HELD);
    assert_int_equal(prior.held.b, found(1).b);
    assert_true(prior.slope_max == 0 && prior.height_max_um == 0);
}

/* Frames PERIOD_NS apart without ground: how many of them hold the plane of the one before. */
static int held_frames(int64_t period_ns)
{
    struct plx_ground_history history = {.heights = 0};
    int held = 0;
    frame(&history, 1, found(1));
    for (int i = 1; i <= 20; i++)
        if (frame(&history, 1 + i * period_ns, nothing).held.valid) {
            held++;
            assert_int_equal(held, i); /* not again later */
        }
    return held;
}

static void a_plane_is_held_for_8_frames_and_half_a_second(void **state)
{
    (void)state;
    assert_int_equal(held_frames(33 * MS), 8);
    assert_int_equal(held_frames(100 * MS), 5);
    assert_int_equal(held_frames(600 * MS), 0);
}

static void a_held_plane_is_no_news(void **state)
{
    (void)state;
    struct plx_ground_history history = {.heights = 0};
    struct plx_ground_prior prior = {.slope_max = 0};
    frame(&history, 0, found(1));
    for (int i = 1; i <= 9; i++)
        prior =
            frame(&history, i * 33 * MS, prior.held.valid || i == 1 ? (struct plx_ground){.valid = PLX_GROUND_HELD} : nothing);
    assert_false(prior.held.valid);
    assert_int_equal(history.heights, 1);
}

static void the_height_is_the_median_of_many(void **state)
{
    (void)state;
    struct plx_ground_history history = {.heights = 0};
    int64_t now = show(&history, 0, 9, 1);
    assert_int_equal(frame(&history, now, found(1)).height_max_um, 0); /* 9 frames are too few */
    now = show(&history, now + 33 * MS, 8, 2.5);
    struct plx_ground_prior prior = frame(&history, now, found(1));
    assert_in_range(prior.height_min_um, 740000, 760000);
    assert_in_range(prior.height_max_um, 1240000, 1260000);
    prior = frame(&history, now + 33 * MS, found(1));
    assert_true(prior.slope_min < plx_ground_slope(&params, 1) && prior.slope_max > plx_ground_slope(&params, 1));
    assert_in_range(prior.slope_max, plx_ground_slope(&params, 0.76), plx_ground_slope(&params, 0.74));
    assert_in_range(prior.slope_min, plx_ground_slope(&params, 1.26), plx_ground_slope(&params, 1.24));
    now = show(&history, now + 66 * MS, 30, 1.5); /* and follows */
    prior = frame(&history, now, found(1.5));
    assert_in_range(prior.height_min_um, 1120000, 1130000);
}

/* However the heights come one after another. */
static void the_median_is_that_of_all_heights(void **state)
{
    (void)state;
    struct plx_ground_history history = {.heights = 0};
    for (int i = 0; i < 11; i++)
        frame(&history, i * 33 * MS, found(1 + 0.1 * (i * 7 % 11)));
    const struct plx_ground_prior prior = frame(&history, 11 * 33 * MS, nothing);
    assert_in_range(prior.height_min_um, 1124990, 1125010); /* the sixth of 1.0 to 2.0 m is 1.5 m */
    assert_in_range(prior.height_max_um, 1874990, 1875010);
}

/* With a mount its height counts, from the first frame on and whatever was seen; a plane that was found is held all the same.
 */
static void a_mount_says_where_the_ground_is(void **state)
{
    (void)state;
    struct plx_ground_history history = {.heights = 0};
    struct plx_ground_params mounted = params;
    struct plx_ground_prior prior;
    mounted.mount = found(1);
    for (int i = 0; i < 20; i++) {
        plx_ground_history_prior(&history, &mounted, i * 33 * MS, &prior);
        assert_in_range(prior.height_min_um, 899990, 900010);
        assert_in_range(prior.height_max_um, 1099990, 1100010);
        assert_in_range(prior.slope_min, plx_ground_slope(&params, 1.1) - 1, plx_ground_slope(&params, 1.1) + 1);
        assert_in_range(prior.slope_max, plx_ground_slope(&params, 0.9) - 1, plx_ground_slope(&params, 0.9) + 1);
        assert_true(prior.held.valid);
        assert_int_equal(prior.held.b, found(i == 0 ? 1 : 2).b);
        const struct plx_ground seen = found(2);
        plx_ground_history_add(&history, &seen);
    }
    plx_ground_history_prior(&history, &mounted, 20 * 33 * MS + 1000 * MS, &prior); /* too long ago */
    assert_int_equal(prior.held.b, found(1).b);
}

static void all_is_forgotten_after_long_and_when_time_stands_still(void **state)
{
    (void)state;
    struct plx_ground_history history = {.heights = 0};
    int64_t now = show(&history, 0, 12, 1);
    for (int i = 0; i < 30; i++, now += 33 * MS)
        assert_int_not_equal(frame(&history, now, nothing).height_max_um, 0);
    assert_true(is_empty(frame(&history, now, nothing)));
    now = show(&history, now + 33 * MS, 12, 1);
    assert_false(is_empty(frame(&history, now, found(1))));
    assert_true(is_empty(frame(&history, now, found(1))));
    assert_true(is_empty(frame(&history, now - 1, found(1))));
    assert_false(is_empty(frame(&history, now, found(1))));
}

/* --- a plane as disparities ----------------------------------------------------------------------------------------------- */

/* Disparity of the ground at a pixel, from where its ray meets the plane that lies HEIGHT below the camera along NORMAL. */
static double disparity_of(const struct plx_calibration_info *c, const double normal[3], double height, double u, double v)
{
    const double ray[3] = {(u - c->cx) / c->fx, (v - c->cy) / c->fy, 1};
    const double depth = height / (normal[0] * ray[0] + normal[1] * ray[1] + normal[2] * ray[2]);
    return c->fx * c->baseline_m / depth;
}

static void a_tilted_plane_has_the_disparities_of_its_rays(void **state)
{
    (void)state;
    static const struct plx_calibration_info calibration = {410, 330, 251, 187, 243, 0.12}; /* axes differ */
    static const double heights[] = {0.15, 1.4}, angles[] = {-0.3, 0, 0.2};
    static const int infinities[] = {0, -40, 128};
    for (int i = 0; i < 54; i++) {
        const double height = heights[i % 2], pitch = angles[i / 2 % 3], roll = angles[i / 6 % 3];
        const int infinity = infinities[i / 18];
        const double normal[3] = {-sin(roll) * cos(pitch), cos(roll) * cos(pitch), sin(pitch)};
        const struct plx_ground ground = plx_ground_of(normal, height, &calibration, infinity);
        assert_int_equal(ground.camera_height_um, (int)lround(height * 1e6));
        assert_int_equal(ground.valid, PLX_GROUND_HELD);
        for (int k = 0; k < 9; k++) {
            const int u = k % 3 * 300, v = k / 3 * 200;
            const double expected = 16 * disparity_of(&calibration, normal, height, u, v) + infinity;
            const double got = (double)(ground.a * u + ground.b * v + ground.c) / 65536;
            if (!(fabs(got - expected) < 0.01)) /* 1/16 px; the numbers are rounded to 1/65536 of that, times 600 px */
                fail_msg("plane %d at (%d, %d): %g, expected %g", i, u, v, got, expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_frame_knows_nothing),
        cmocka_unit_test(a_plane_is_held_for_8_frames_and_half_a_second),
        cmocka_unit_test(a_held_plane_is_no_news),
        cmocka_unit_test(the_height_is_the_median_of_many),
        cmocka_unit_test(the_median_is_that_of_all_heights),
        cmocka_unit_test(a_mount_says_where_the_ground_is),
        cmocka_unit_test(all_is_forgotten_after_long_and_when_time_stands_still),
        cmocka_unit_test(a_tilted_plane_has_the_disparities_of_its_rays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
