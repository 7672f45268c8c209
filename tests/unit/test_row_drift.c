/* SPDX-License-Identifier: Apache-2.0 */
/* The four numbers of the rows from matches drawn at random: found with the deviations that they say, also among outliers. */
#include <math.h>

#include "core/drift/rows.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define FOCAL 530.0
#define DRAWS 200
#define NOISE_PX 0.15

static double uniform(uint64_t *seed, double low, double high)
{
    return low + (high - low) * random_below(seed, 1 << 24) / (1 << 24);
}

/* Nearly normal: twelve of them have a variance of 1. */
static double normal(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(seed, 0, 1);
    return sum;
}

/* Pitch, roll, bend, scale. */
static double rows_at(const double number[4], double x, double y)
{
    return FOCAL * (number[0] * (1 + y * y) - number[1] * x - number[2] * x * y + number[3] * y);
}

/* Adds COUNT matches of a picture of 640 x 480, OUTLIERS of each hundred up to 5 px off. */
static void add(uint64_t *seed, const double number[4], int count, int outliers, struct plx_row_drift *drift)
{
    for (int i = 0; i < count; i++) {
        const double x = uniform(seed, -0.6, 0.6), y = uniform(seed, -0.45, 0.45);
        const bool wrong = (int)random_below(seed, 100) < outliers;
        const double off = wrong ? uniform(seed, -5, 5) : NOISE_PX * normal(seed);
        const struct plx_row_match match = {(float)x, (float)y, (float)(rows_at(number, x, y) + off),
                                            random_below(seed, 2) == 0};
        plx_row_drift_add(drift, &match);
    }
    plx_row_drift_estimate(drift);
}

static void draw_numbers(uint64_t *seed, double ret[4])
{
    for (int i = 0; i < 3; i++)
        ret[i] = uniform(seed, -0.005, 0.005);
    ret[3] = uniform(seed, -0.003, 0.003);
}

static void expect_covered(int outliers)
{
    static struct plx_row_drift drift;
    uint64_t seed = 7;
    int covered = 0;
    double squared = 0;

    for (int draw = 0; draw < DRAWS; draw++) {
        double number[4];
        draw_numbers(&seed, number);
        plx_row_drift_init(&drift, FOCAL);
        add(&seed, number, PLX_ROW_MATCHES, outliers, &drift);
        const struct plx_drift_info *info = &drift.info;
        const float found[] = {info->pitch_rad, info->roll_rad, info->bend_rad, info->scale},
                    deviation[] = {info->pitch_deviation_rad, info->roll_deviation_rad, info->bend_deviation_rad,
                                   info->scale_deviation};
        assert_int_equal(info->matches, PLX_ROW_MATCHES);
        for (int i = 0; i < 4; i++) {
            const double off = ((double)found[i] - number[i]) / (double)deviation[i];
            covered += fabs(off) < 1.96;
            squared += off * off / (4 * DRAWS);
        }
        assert_true((double)info->pitch_deviation_rad < 5e-5 && (double)info->bend_deviation_rad < 4e-4);
        assert_true((double)info->rows_left < (outliers > 0 ? 0.2 : 0.12) && (double)info->rows_left > 0.08);
    }
    print_message("    %d %% outliers: %.1f %% covered, mean squared error %.2f\n", outliers, 100.0 * covered / (4 * DRAWS),
                  squared);
    assert_true(covered >= 4 * DRAWS * 90 / 100);
}

static void deviations_cover_the_errors(void **state)
{
    (void)state;
    expect_covered(0);
    expect_covered(20);
}

static void the_newest_matches_count(void **state)
{
    (void)state;
    static struct plx_row_drift drift;
    static const double before[4] = {0.002, 0, 0, 0}, after[4] = {-0.001, 0.001, 0, 0.002};
    uint64_t seed = 3;

    plx_row_drift_init(&drift, FOCAL);
    add(&seed, before, 40, 0, &drift);
    assert_int_equal(drift.info.matches, 0); /* too few */
    add(&seed, before, PLX_ROW_MATCHES, 0, &drift);
    assert_true(fabs((double)drift.info.pitch_rad - before[0]) < 1e-4 &&
                fabs((double)drift.info.rows - FOCAL * 0.002 * 1.06) < 0.05);
    add(&seed, after, PLX_ROW_MATCHES, 0, &drift);
    assert_true(fabs((double)drift.info.pitch_rad - after[0]) < 1e-4 && fabs((double)drift.info.scale - after[3]) < 2e-4);
    assert_true((double)drift.info.worst_rows > 1 && (double)drift.info.worst_rows < 2);
}

/* All in one column: nothing tells roll from pitch. */
static void matches_in_one_place_determine_nothing(void **state)
{
    (void)state;
    static struct plx_row_drift drift;

    plx_row_drift_init(&drift, FOCAL);
    for (int i = 0; i < 200; i++) {
        const struct plx_row_match match = {0.1F, 0.2F, 0.5F, i % 2 == 0};
        plx_row_drift_add(&drift, &match);
    }
    plx_row_drift_estimate(&drift);
    assert_int_equal(drift.info.matches, 0);
    assert_true(drift.info.pitch_rad == 0 && drift.info.pitch_deviation_rad == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deviations_cover_the_errors),
        cmocka_unit_test(the_newest_matches_count),
        cmocka_unit_test(matches_in_one_place_determine_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
