/* SPDX-License-Identifier: Apache-2.0 */
/* The four numbers of the rows from matches drawn at random: found with the deviations that they say, also among outliers. */
#include <math.h>

#include "core/base/clock.h"
#include "core/drift/correction.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define FOCAL 530.0
#define DRAWS 200
#define NOISE_PX 0.15
#define EACH_NS (130 * PLX_NS_PER_MS) /* from match to match */
#define DEGREE 0.017453292519943295

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

static int64_t now_ns; /* time of the newest match */

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
        const struct plx_row_match match = {
            (float)x, (float)y, (float)(rows_at(number, x, y) + off), random_below(seed, 2) == 0, 2, now_ns += EACH_NS};
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
        assert_true((double)info->residual_px < (outliers > 0 ? 0.2 : 0.12) && (double)info->residual_px > 0.08);
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
                fabs((double)drift.info.epipolar_error_px - FOCAL * 0.002 * 1.06) < 0.05);
    add(&seed, after, PLX_ROW_MATCHES, 0, &drift);
    assert_true(fabs((double)drift.info.pitch_rad - after[0]) < 1e-4 && fabs((double)drift.info.scale - after[3]) < 2e-4);
    assert_true((double)drift.info.max_epipolar_error_px > 1 && (double)drift.info.max_epipolar_error_px < 2);
}

/* All in one column: nothing tells roll from pitch. */
static void matches_in_one_place_determine_nothing(void **state)
{
    (void)state;
    static struct plx_row_drift drift;

    plx_row_drift_init(&drift, FOCAL);
    for (int i = 0; i < 200; i++) {
        const struct plx_row_match match = {0.1F, 0.2F, 0.5F, i % 2 == 0, 2, i};
        plx_row_drift_add(&drift, &match);
    }
    plx_row_drift_estimate(&drift);
    assert_int_equal(drift.info.matches, 0);
    assert_true(drift.info.pitch_rad == 0 && drift.info.pitch_deviation_rad == 0);
}

static const struct plx_calibration_info picture = {
    .fx = FOCAL, .fy = FOCAL, .cx = 320, .cy = 240, .cx_right = 320, .baseline_m = 0.1};

/* Median over the picture of the rows that NUMBER leaves when CORRECTION is in force. */
static double rows_with(const double number[4], const struct plx_correction *c)
{
    const double left[4] = {number[0] - (double)c->pitch_rad, number[1] - (double)c->roll_rad, number[2] - (double)c->bend_rad,
                            number[3] - (double)c->scale};
    double rows[15 * 11];
    int count = 0;
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 11; j++) {
            const double at = fabs(rows_at(left, (i - 7) * 0.085, (j - 5) * 0.09));
            int place = count++;
            for (; place > 0 && rows[place - 1] > at; place--)
                rows[place] = rows[place - 1];
            rows[place] = at;
        }
    return rows[count / 2];
}

/* Judges COUNT matches of NUMBER, a fifth of them wrong; corrects where that holds. */
static enum plx_correction_verdict judge(uint64_t *seed, const double number[4], int count, struct plx_correction *ret)
{
    static struct plx_row_drift drift;
    static const struct plx_correction none;
    plx_row_drift_init(&drift, FOCAL);
    add(seed, number, count, 20, &drift);
    return plx_correction_of_rows(&drift, &none, &picture, 640, 480, ret);
}

static void errors_are_corrected(void **state)
{
    (void)state;
    uint64_t seed = 11;
    double worst = 0;
    int held = 0;

    for (int draw = 0; draw < DRAWS; draw++) {
        const int which = (int)random_below(&seed, 4); /* one of three, or all */
        double number[4] = {0};
        for (int i = 0; i < 2; i++)
            if (which == i || which == 3)
                number[i] = (random_below(&seed, 2) ? 1 : -1) * uniform(&seed, 0.05, 0.3) * DEGREE;
        if (which >= 2)
            number[3] = (random_below(&seed, 2) ? 1 : -1) * uniform(&seed, 0.001, 0.003);
        struct plx_correction correction = {0};
        if (judge(&seed, number, 256, &correction) != PLX_CORRECTION_HOLDS)
            continue;
        held++;
        worst = fmax(worst, rows_with(number, &correction));
    }
    print_message("    %d of %d corrected by 256 matches, at worst %.3f px of rows left\n", held, DRAWS, worst);
    assert_true(held >= DRAWS * 98 / 100);
    assert_true(worst <= 0.05);
}

/* A thousand rigs without an error: what is corrected all the same does no harm. */
static void no_error_is_made(void **state)
{
    (void)state;
    static const double none[4];
    uint64_t seed = 5;
    double worst = 0;
    int held = 0;

    for (int draw = 0; draw < 1000; draw++) {
        struct plx_correction correction = {0};
        held += judge(&seed, none, draw % 2 ? PLX_ROW_MATCHES : 192, &correction) == PLX_CORRECTION_HOLDS;
        worst = fmax(worst, rows_with(none, &correction));
    }
    print_message("    %d of 1000 corrected without an error, at worst %.3f px of rows\n", held, worst);
    assert_true(worst <= 0.01);
}

static void what_does_not_hold_is_told(void **state)
{
    (void)state;
    static const double large[4] = {0.05, 0, 0, 0};
    static const double one[4] = {0.002, 0, 0, 0}, other[4] = {-0.002, 0, 0, 0};
    static const struct plx_correction nothing;
    static struct plx_row_drift drift;
    struct plx_correction correction;
    uint64_t seed = 9;

    assert_int_equal(judge(&seed, large, 40, &correction), PLX_CORRECTION_UNKNOWN);
    assert_int_equal(judge(&seed, large, 400, &correction), PLX_CORRECTION_IMPLAUSIBLE);
    plx_row_drift_init(&drift, FOCAL); /* the camera is bumped meanwhile */
    add(&seed, one, 400, 0, &drift);
    add(&seed, other, 300, 0, &drift);
    assert_int_equal(plx_correction_of_rows(&drift, &nothing, &picture, 640, 480, &correction), PLX_CORRECTION_UNSTEADY);
    plx_row_drift_init(&drift, FOCAL);
    for (int i = 0; i < 400; i++) { /* all in the middle: the corners are not known */
        const double x = uniform(&seed, -0.1, 0.1), y = uniform(&seed, -0.1, 0.1);
        const struct plx_row_match match = {(float)x,   (float)y, (float)(rows_at(one, x, y) + NOISE_PX * normal(&seed)),
                                            i % 2 == 0, 2,        now_ns += EACH_NS};
        plx_row_drift_add(&drift, &match);
    }
    plx_row_drift_estimate(&drift);
    assert_int_equal(plx_correction_of_rows(&drift, &nothing, &picture, 640, 480, &correction), PLX_CORRECTION_UNCERTAIN);
}

/* From COUNT matches, EACH_NS apart, of a robot that rocks: rows differ by AMPLITUDE_PX with PERIOD_S, and 0 on average. */
static enum plx_correction_verdict rock(uint64_t *seed, int count, int64_t each_ns, double amplitude_px, double period_s,
                                        struct plx_correction *ret)
{
    static struct plx_row_drift drift;
    static const struct plx_correction none;
    const double phase = uniform(seed, 0, 6.283185307179586);
    plx_row_drift_init(&drift, FOCAL);
    for (int i = 0; i < count; i++) {
        const double x = uniform(seed, -0.6, 0.6), y = uniform(seed, -0.45, 0.45), seconds = (double)(i * each_ns) / 1e9;
        const double rows = amplitude_px * sin(6.283185307179586 * seconds / period_s + phase);
        const struct plx_row_match match = {(float)x,   (float)y, (float)(rows + NOISE_PX * normal(seed)),
                                            i % 2 == 0, 2,        i * each_ns};
        plx_row_drift_add(&drift, &match);
    }
    plx_row_drift_estimate(&drift);
    return plx_correction_of_rows(&drift, &none, &picture, 640, 480, ret);
}

/* Movements of pictures that were not taken at the same time are no drift, nor is a shock. */
static void what_rocks_is_no_drift(void **state)
{
    (void)state;
    static const double none[4];
    uint64_t seed = 17;
    double worst = 0;
    int held = 0;
    struct plx_correction correction = {0};

    for (int draw = 0; draw < 1000; draw++) {
        correction = (struct plx_correction){0};
        held += rock(&seed, PLX_ROW_MATCHES, 24 * PLX_NS_PER_MS, uniform(&seed, 0.2, 3), uniform(&seed, 0.3, 12),
                     &correction) == PLX_CORRECTION_HOLDS;
        worst = fmax(worst, rows_with(none, &correction));
    }
    print_message("    %d of 1000 robots that rock were corrected, at worst by %.3f px of rows\n", held, worst);
    assert_true(held <= 5 && worst <= 0.15);
    /* One second in one direction: all matches say the same, for too short a time. */
    assert_int_equal(rock(&seed, 400, PLX_NS_PER_MS, 2, 1000, &correction), PLX_CORRECTION_BRIEF);
}

/* Both halves of the steps and all of them, in px and standard deviations. */
static struct plx_disparity_drift disparities_of(double older, double newer, double curve, double deviation, bool is_full)
{
    const double square = deviation * deviation;
    struct plx_disparity_drift drift = {.is_full = is_full};

    for (int part = 0; part < PLX_STEPS_PARTS; part++)
        drift.part[part] = (struct plx_disparity_estimate){.error = {part == PLX_STEPS_OLDER ? older : newer, curve},
                                                           .covariance = {{square, 0}, {0, 9 * square}},
                                                           .steps = 12};
    return drift;
}

#define SIDE 0.36

static void disparities_need_both_halves_of_the_steps(void **state)
{
    (void)state;
    static const struct plx_disparity_error none, far = {3.9, 0}, near = {0.35, 0};
    const struct {
        struct plx_disparity_drift drift;
        const struct plx_disparity_error *in_force;
        bool refines;
        enum plx_correction_verdict verdict;
    } cases[] = {
        {disparities_of(0.5, 0.5, 0, 0.06, false), &none, false, PLX_CORRECTION_HOLDS},
        {disparities_of(0.05, 0.06, 0, 0.001, false), &none, false, PLX_CORRECTION_INSIGNIFICANT},
        {disparities_of(0.5, 0.5, 0, 0.2, false), &none, false, PLX_CORRECTION_INSIGNIFICANT},
        {disparities_of(-0.5, 1.5, 0, 0.06, false), &none, false, PLX_CORRECTION_UNSTEADY},
        {disparities_of(0, 0, 1.5, 0.06, false), &none, false, PLX_CORRECTION_HOLDS}, /* at the sides only */
        {disparities_of(0.05, 0.05, 0.1, 0.06, false), &none, false, PLX_CORRECTION_INSIGNIFICANT},
        {disparities_of(0.5, 0.5, 0, 0.06, false), &near, false, PLX_CORRECTION_INSIGNIFICANT},
        {disparities_of(0.5, 0.5, 0, 0.06, false), &near, true, PLX_CORRECTION_INSIGNIFICANT}, /* by as few steps as before */
        {disparities_of(0.5, 0.5, 0, 0.06, true), &near, false, PLX_CORRECTION_INSIGNIFICANT},
        {disparities_of(0.5, 0.5, 0, 0.06, true), &near, true, PLX_CORRECTION_HOLDS},
        {disparities_of(4.5, 4.5, 0, 0.06, false), &far, false, PLX_CORRECTION_IMPLAUSIBLE},
    };
    struct plx_disparity_error change = {-1, -1};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (plx_correction_of_disparities(&cases[i].drift, cases[i].in_force, cases[i].refines, SIDE, &change) !=
            cases[i].verdict)
            fail_msg("case %zu", i);
    for (int part = 0; part < PLX_STEPS_PARTS; part++) {
        struct plx_disparity_drift drift = cases[0].drift;
        drift.part[part].steps = 0;
        assert_int_equal(plx_correction_of_disparities(&drift, &none, false, SIDE, &change), PLX_CORRECTION_UNKNOWN);
    }
    assert_int_equal(plx_correction_of_disparities(&cases[9].drift, &near, true, SIDE, &change), PLX_CORRECTION_HOLDS);
    assert_float_equal(change.offset, 0.15, 1e-9);
    assert_float_equal(change.curve, 0, 1e-9);
    assert_int_equal(plx_correction_of_disparities(&cases[4].drift, &none, false, SIDE, &change), PLX_CORRECTION_HOLDS);
    assert_float_equal(change.offset, 0, 1e-9);
    assert_float_equal(change.curve, 1.5, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deviations_cover_the_errors),
        cmocka_unit_test(the_newest_matches_count),
        cmocka_unit_test(matches_in_one_place_determine_nothing),
        cmocka_unit_test(errors_are_corrected),
        cmocka_unit_test(no_error_is_made),
        cmocka_unit_test(what_does_not_hold_is_told),
        cmocka_unit_test(what_rocks_is_no_drift),
        cmocka_unit_test(disparities_need_both_halves_of_the_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
