/* SPDX-License-Identifier: Apache-2.0 */
/* How far a thing has come and whether it stands, beside the densities of two normal distributions over the ground plane. */
#include "core/tracks/displacement.h"

#include <math.h>
#include <string.h>

#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define SEEDS 200
#define CAMERA_SHARE 0.01 /* share of the camera's way: its error */

static const double no_noise[36];

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * random_below(seed, 1000001) / 1e6;
}

static void random_covariance(uint64_t *seed, double ret[9])
{
    double root[9];
    for (int i = 0; i < 9; i++)
        root[i] = between(seed, -0.05, 0.05) + 0.1 * (i % 4 == 0);
    for (int i = 0; i < 9; i++)
        ret[i] = root[i / 3 * 3] * root[i % 3 * 3] + root[i / 3 * 3 + 1] * root[i % 3 * 3 + 1] +
                 root[i / 3 * 3 + 2] * root[i % 3 * 3 + 2];
}

/* Density at (x, z) of a normal distribution whose covariance has the elements xx, xz, zz: its logarithm without 2 pi. */
static double log_density(const double c[3], double x, double z)
{
    const double determinant = c[0] * c[2] - c[1] * c[1];
    return -0.5 * log(determinant) - 0.5 * (x * x * c[2] - 2 * x * z * c[1] + z * z * c[0]) / determinant;
}

/* The error of the product's series of e^(x / 256), whose first term beyond its end is y^7 / 5040, and of its 256th power. */
static double series_error(double x)
{
    return 256 * 1.2 * pow(x / 256, 7) / 5040 + 1e-9;
}

/* The displacement (x, z) whose covariance is C, with odds so small that the probability keeps their digits. */
static void compare(const struct plx_track_displacement *displacement, const struct plx_track_state *state, const double c[3],
                    double x, double z, double seconds, double speed)
{
    const double odds = 1e-3, spread = speed * seconds * speed * seconds, moves[3] = {c[0] + spread, c[1], c[2] + spread};
    const double sigmas = sqrt(-2 * (log_density(c, x, z) - log_density(c, 0, 0)));
    const double got_sigmas = plx_track_displacement_sigmas(displacement, state);
    if (!(fabs(got_sigmas - sigmas) <= 1e-9 * (1 + sigmas)))
        fail_msg("%g standard deviations, expected %g", got_sigmas, sigmas);
    const double exponent = 0.5 * (sigmas * sigmas + 2 * (log_density(moves, x, z) - log_density(moves, 0, 0)));
    const double p = plx_track_displacement_standing(displacement, state, speed, odds);
    const double ratio = odds * exp(log_density(c, x, z) - log_density(moves, x, z)), got = p / (1 - p);
    if (exponent >= 100)
        assert_true(p == 0);
    else if (!(fabs(got / ratio - 1) <= series_error(exponent)))
        fail_msg("odds of %.12g, expected %.12g, at %g", got, ratio, exponent);
}

static void standing_is_as_probable_as_the_densities_say(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    int far = 0;
    for (int round = 0; round < SEEDS; round++) {
        const double begin[3] = {between(&seed, -2, 2), 0, between(&seed, 3, 9)}, share = between(&seed, 0, 0.5);
        const double seconds = between(&seed, 0.3, 1.9), reach = between(&seed, 0, 2.5);
        double noise[3][9];
        struct plx_track_displacement displacement;
        struct plx_track_state now;
        for (int i = 0; i < 3; i++)
            random_covariance(&seed, noise[i]);
        plx_track_displacement_begin(&displacement, begin, noise[0]);
        plx_track_displacement_add(&displacement, begin, noise[1], share, seconds);
        const double x = between(&seed, -reach, reach), z = between(&seed, -reach, reach);
        plx_track_state_begin(&now, (const double[3]){begin[0] + x, 5, begin[2] + z}, noise[2], 1);
        const double c[3] = {noise[0][0] + share * noise[1][0] + noise[2][0], noise[0][2] + share * noise[1][2] + noise[2][2],
                             noise[0][8] + share * noise[1][8] + noise[2][8]};
        compare(&displacement, &now, c, x, z, seconds, between(&seed, 1, 3));
        far += plx_track_displacement_sigmas(&displacement, &now) > 10;
    }
    assert_true(far > 10);
}

/* The earlier place is replaced after 2 s, by the one of 2 s ago. */
static void the_earlier_place_is_two_to_four_seconds_old(void **state)
{
    (void)state;
    static const double noise[9] = {0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01};
    struct plx_track_displacement displacement;
    double seconds[2] = {0, 0}, place[2] = {0, 0};
    plx_track_displacement_begin(&displacement, (const double[3]){0, 0, 5}, noise);
    for (int i = 1; i <= 40; i++) {
        plx_track_displacement_add(&displacement, (const double[3]){0.1 * i, 0, 5}, noise, 0.5, 0.25);
        seconds[0] += 0.25;
        seconds[1] += 0.25;
        if (i % 8 == 0) {
            seconds[0] = 2;
            seconds[1] = 0;
            place[0] = place[1];
            place[1] = 0.1 * i;
        }
        for (int k = 0; k < 2; k++) {
            assert_float_equal(displacement.seconds[k], seconds[k], 1e-12);
            assert_float_equal(displacement.from[k].position[0], place[k], 1e-12);
        }
        assert_float_equal(displacement.wander.xx, 0.005, 1e-12);
    }
}

/* A camera that drives D metres adds (D / 100)^2 to the variances, and what stands moves in its axes; a shift is no motion. */
static void the_cameras_way_makes_places_uncertain(void **state)
{
    (void)state;
    static const double noise[9] = {0.01, 0, 0.002, 0, 0.01, 0, 0.002, 0, 0.02};
    const struct plx_pose forward = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0.6, 0, -0.8}}; /* 1 m */
    const double drift = CAMERA_SHARE * 3;
    const double c[3] = {0.02 + drift * drift, 0.004, 0.04 + drift * drift};
    struct plx_track_displacement displacement;
    struct plx_track_state now;
    plx_track_displacement_begin(&displacement, (const double[3]){0, 0, 5}, noise);
    plx_track_displacement_add(&displacement, (const double[3]){0, 0, 5}, noise, 0, 1);
    for (int i = 0; i < 3; i++)
        plx_track_displacement_turn(&displacement, &forward, no_noise);
    for (int i = 0; i < 2; i++)
        assert_float_equal(displacement.camera_m[i], 3, 1e-9);
    plx_track_state_begin(&now, (const double[3]){1.8 + 0.3, 0, 5 - 2.4 - 0.1}, noise, 1);
    compare(&displacement, &now, c, 0.3, -0.1, 1, 2);
    plx_track_displacement_shift(&displacement, (const double[3]){0.1, 7, -0.3});
    compare(&displacement, &now, c, 0.2, 0.2, 1, 2);
    for (int i = 0; i < 2; i++) /* both places were shifted */
        for (int k = 0; k < 3; k++)
            assert_float_equal(displacement.from[i].position[k], ((const double[3]){1.9, 7, 2.3})[k], 1e-9);
    plx_track_displacement_add(&displacement, (const double[3]){2, 0, 2}, noise, 0,
                               1); /* the later place becomes the earlier */
    plx_track_displacement_turn(&displacement, &forward, no_noise);
    assert_float_equal(displacement.camera_m[0], 4, 1e-9);
    assert_float_equal(displacement.camera_m[1], 1, 1e-9);
    plx_track_displacement_add(&displacement, (const double[3]){2, 0, 2}, noise, 0, 2);
    assert_float_equal(displacement.camera_m[0], 1, 1e-9);
    assert_true(displacement.camera_m[1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standing_is_as_probable_as_the_densities_say),
        cmocka_unit_test(the_earlier_place_is_two_to_four_seconds_old),
        cmocka_unit_test(the_cameras_way_makes_places_uncertain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
