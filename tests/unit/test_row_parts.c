/* SPDX-License-Identifier: Apache-2.0 */
/* The store of matches that rows are fitted to: which of them each part, quarter and half holds, and what a correction and
 * forgetting leave of them, beside a plain list. */
#include <math.h>

#include "core/drift/rows.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define FOCAL 500.0
#define SECOND INT64_C(1000000000)
#define MATCHES 300

static struct plx_row_drift drift;
static struct plx_row_match list[PLX_ROW_MATCHES + MATCHES]; /* all that were added, the oldest first */
static int added;

static const struct plx_correction none;

static void begin(bool single)
{
    plx_row_drift_init(&drift, FOCAL);
    drift.single = single;
    added = 0;
}

static double uniform(uint64_t *seed, double low, double high)
{
    return low + (high - low) * random_below(seed, 1 << 24) / (1 << 24);
}

static void add(struct plx_row_match match)
{
    list[added++] = match;
    plx_row_drift_add(&drift, &match);
}

/* COUNT matches anywhere, EACH_NS apart, but the first 41 times that before the second, so that parts of the time differ in
 * size.
 */
static void add_random(uint64_t *seed, int count, int64_t each_ns)
{
    for (int i = 0; i < count; i++)
        add((struct plx_row_match){.x = (float)uniform(seed, -0.6, 0.6),
                                   .y = (float)uniform(seed, -0.5, 0.5),
                                   .rows = (float)uniform(seed, -4, 4),
                                   .odd = random_below(seed, 3) == 0,
                                   .z_m = 2,
                                   .capture_ns = each_ns * (i == 0 ? 1000 : 1040 + i)});
}

static bool is_in_time(int i, int first, int part)
{
    const int count = added - first, times = drift.single ? 2 : 4;
    const int64_t begin_ns = list[first].capture_ns, span = list[added - 1].capture_ns - begin_ns;
    int time = (int)floor((double)times * (i - first) / count);
    if (!drift.single && span > 0)
        time = (int)floor((double)times * (double)(list[i].capture_ns - begin_ns) / (double)span);
    return (time < times ? time : times - 1) == part - PLX_ROWS_TIME;
}

static bool is_in(int i, int first, int part, int quarter)
{
    const int at = (list[i].x > 0) + 2 * (list[i].y > 0);
    if (quarter >= 0 && quarter != at)
        return false;
    return part == PLX_ROWS_ALL || (part == PLX_ROWS_EVEN && !list[i].odd) || (part == PLX_ROWS_ODD && list[i].odd) ||
           (part == PLX_ROWS_NEWEST && i >= added - 64) || (part >= PLX_ROWS_TIME && is_in_time(i, first, part));
}

/* The number in the middle: as many are smaller as larger, or one more. */
static double plain_median(const double *value, int count)
{
    for (int i = 0; i < count; i++) {
        int smaller = 0, equal = 0;
        for (int j = 0; j < count; j++) {
            smaller += value[j] < value[i];
            equal += value[j] == value[i];
        }
        if (smaller <= count / 2 && count / 2 < smaller + equal)
            return value[i];
    }
    return INFINITY;
}

static double plain_rows(const struct plx_correction *c, const struct plx_row_match *match)
{
    const double x = (double)match->x, y = (double)match->y;
    return FOCAL *
           ((double)c->pitch_rad * (1 + y * y) - (double)c->roll_rad * x - (double)c->bend_rad * x * y + (double)c->scale * y);
}

/* Every part and quarter of the newest COUNT matches. */
static void compare(int count, const struct plx_correction *number)
{
    static double left[PLX_ROW_MATCHES];
    const struct plx_row_numbers numbers = plx_row_numbers_of_correction(number);
    const int first = added - count;
    for (int part = 0; part < PLX_ROWS_TIME + plx_row_drift_times(&drift); part++)
        for (int quarter = -1; quarter < 4; quarter++) {
            int expected = 0, got = -1;
            for (int i = first; i < added; i++)
                if (is_in(i, first, part, quarter))
                    left[expected++] = (double)(float)fabs((double)list[i].rows - plain_rows(number, &list[i]));
            const double median = plx_row_drift_median(&drift, (enum plx_row_part)part, quarter, &numbers, &got);
            const double middle = plain_median(left, expected);
            assert_int_equal(got, expected);
            if (expected > 0 ? !(fabs(median - middle) < 1e-6) : !isinf(median))
                fail_msg("part %d, quarter %d: %g, expected %g", part, quarter, median, middle);
        }
}

static void each_part_holds_its_matches(void **state)
{
    (void)state;
    static const struct plx_correction number = {0.002F, -0.003F, 0.004F, 0.001F, 0, 0};
    uint64_t seed = test_seed();
    for (int single = 0; single < 2; single++) {
        begin(single);
        assert_int_equal(plx_row_drift_times(&drift), single ? 2 : 4);
        compare(0, &none);
        add_random(&seed, 1, SECOND);
        compare(1, &none);
        begin(single);
        add_random(&seed, MATCHES, SECOND);
        compare(MATCHES, &none);
        compare(MATCHES, &number);
        begin(single);
        add_random(&seed, MATCHES, 0); /* all at one time */
        compare(MATCHES, &number);
        begin(single);
        add_random(&seed, PLX_ROW_MATCHES + MATCHES, SECOND); /* the oldest are gone */
        compare(PLX_ROW_MATCHES, &number);
    }
}

static void the_span_is_that_of_the_matches_that_are_kept(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    begin(false);
    assert_true(plx_row_drift_span(&drift) == 0);
    add_random(&seed, 1, SECOND);
    assert_true(plx_row_drift_span(&drift) == 0);
    begin(false);
    add_random(&seed, MATCHES, SECOND);
    assert_true(plx_row_drift_span(&drift) == (40 + MATCHES - 1) * SECOND);
    assert_int_equal(drift.unsolved, MATCHES);
    plx_row_drift_forget(&drift, MATCHES);
    assert_true(plx_row_drift_span(&drift) == (40 + MATCHES - 1) * SECOND);
    plx_row_drift_forget(&drift, 100);
    assert_true(plx_row_drift_span(&drift) == 99 * SECOND);
    compare(100, &none);
    plx_row_drift_forget(&drift, 101); /* what is gone does not come back */
    assert_int_equal(drift.count, 100);
    begin(false);
    add_random(&seed, PLX_ROW_MATCHES + MATCHES, SECOND);
    assert_true(plx_row_drift_span(&drift) == (PLX_ROW_MATCHES - 1) * SECOND);
    plx_row_drift_forget(&drift, 0);
    assert_true(plx_row_drift_span(&drift) == 0);
}

static void a_correction_is_taken_from_the_matches(void **state)
{
    (void)state;
    static const struct plx_correction correction = {0.002F, -0.003F, 0.004F, 0.001F, 0, 0};
    uint64_t seed = test_seed();
    begin(false);
    add_random(&seed, PLX_ROW_MATCHES + MATCHES, SECOND);
    plx_row_drift_forget(&drift, MATCHES);
    drift.info = (struct plx_drift_info){.pitch_rad = 0.01F,
                                         .roll_rad = 0.02F,
                                         .bend_rad = 0.03F,
                                         .scale = 0.04F,
                                         .epipolar_error_px = 5,
                                         .residual_px = 0.5F,
                                         .max_epipolar_error_px = 7};
    plx_row_drift_correct(&drift, &correction);
    for (int i = added - MATCHES; i < added; i++)
        list[i].rows -= (float)plain_rows(&correction, &list[i]);
    compare(MATCHES, &none);
    const struct plx_drift_info *info = &drift.info;
    assert_true(fabs((double)info->pitch_rad - 0.008) < 1e-6 && fabs((double)info->roll_rad - 0.023) < 1e-6 &&
                fabs((double)info->bend_rad - 0.026) < 1e-6 && fabs((double)info->scale - 0.039) < 1e-6);
    assert_true(info->epipolar_error_px == 0.5F && info->residual_px == 0.5F && info->max_epipolar_error_px == 0);
}

/* Both halves say different things, and some matches are far off. */
static void an_estimate_tells_what_it_leaves(void **state)
{
    (void)state;
    static const struct plx_correction half[2] = {{0.002F, 0.001F, 0, 0, 0, 0}, {0.003F, 0.001F, 0, 0, 0, 0}};
    static double rows[MATCHES], left[MATCHES];
    uint64_t seed = test_seed();
    double worst = 0;
    begin(false);
    for (int i = 0; i < MATCHES; i++) {
        struct plx_row_match match = {.x = (float)uniform(&seed, -0.6, 0.6),
                                      .y = (float)uniform(&seed, -0.5, 0.5),
                                      .odd = i % 2 == 1,
                                      .capture_ns = i * SECOND};
        match.rows = (float)plain_rows(&half[i % 2], &match);
        if (i % 30 == 0)
            match.rows += 20; /* farther than any number makes */
        add(match);
    }
    plx_row_drift_estimate(&drift);
    const struct plx_drift_info *info = &drift.info;
    const struct plx_correction all = {info->pitch_rad, info->roll_rad, info->bend_rad, info->scale, 0, 0};
    for (int i = 0; i < MATCHES; i++) {
        rows[i] = fabs((double)list[i].rows);
        left[i] = fabs((double)list[i].rows - plain_rows(&half[1 - i % 2], &list[i]));
        worst = fmax(worst, fabs(plain_rows(&all, &list[i])));
    }
    assert_int_equal(drift.unsolved, 0);
    assert_int_equal(info->matches, MATCHES);
    assert_true(fabs((double)info->epipolar_error_px - plain_median(rows, MATCHES)) < 1e-6);
    assert_true(fabs((double)info->residual_px - plain_median(left, MATCHES)) < 0.02);
    assert_true(fabs((double)info->max_epipolar_error_px - worst) < 1e-3);
    assert_true(info->pitch_rad > 0.002F && info->pitch_rad < 0.003F);
}

static void a_fit_needs_24_matches(void **state)
{
    (void)state;
    static const struct plx_correction truth = {0.002F, -0.001F, 0.003F, 0.001F, 0, 0};
    uint64_t seed = test_seed();
    struct plx_row_numbers fitted, deviations;
    begin(false);
    for (int i = 0; i < 24; i++) {
        assert_false(plx_row_drift_fit(&drift, PLX_ROWS_ALL, &fitted, &deviations));
        struct plx_row_match match = {.x = (float)uniform(&seed, -0.6, 0.6), .y = (float)uniform(&seed, -0.5, 0.5)};
        match.rows = (float)plain_rows(&truth, &match);
        add(match);
    }
    assert_true(plx_row_drift_fit(&drift, PLX_ROWS_ALL, &fitted, &deviations));
    const struct plx_correction number = plx_row_numbers_to_correction(&fitted),
                                deviation = plx_row_numbers_to_correction(&deviations);
    assert_true(fabsf(number.pitch_rad - truth.pitch_rad) < 1e-5F && fabsf(number.roll_rad - truth.roll_rad) < 1e-5F &&
                fabsf(number.bend_rad - truth.bend_rad) < 1e-5F && fabsf(number.scale - truth.scale) < 1e-5F);
    /* Without noise, what all matches may share is left: 0.006 px at 1, 0.5, 0.2 and 0.4 focal lengths. */
    const float shared = (float)(0.006 / FOCAL);
    assert_true(fabsf(deviation.pitch_rad - shared) < 1e-7F && fabsf(deviation.roll_rad - shared / 0.5F) < 1e-7F &&
                fabsf(deviation.bend_rad - shared / 0.2F) < 1e-6F && fabsf(deviation.scale - shared / 0.4F) < 1e-6F);
    assert_false(plx_row_drift_fit(&drift, PLX_ROWS_ODD, &fitted, &deviations));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_holds_its_matches),
        cmocka_unit_test(the_span_is_that_of_the_matches_that_are_kept),
        cmocka_unit_test(a_correction_is_taken_from_the_matches),
        cmocka_unit_test(an_estimate_tells_what_it_leaves),
        cmocka_unit_test(a_fit_needs_24_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
