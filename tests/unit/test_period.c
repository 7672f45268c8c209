/* SPDX-License-Identifier: Apache-2.0 */
/* The period that was seen: a median, beside one that is sorted by the C library. */
#include <stdlib.h>

#include "core/base/period.h"
#include "tests/cmocka.h"

static int compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void it_is_the_median_of_the_last_intervals(void **state)
{
    (void)state;
    struct plx_period period = {0};
    int64_t seen[500];

    assert_int_equal(plx_period_ns(&period), 0);
    srand(1);
    for (int i = 0; i < 500; i++) {
        seen[i] = 1 + rand() % (i % 3 == 0 ? 4 : 100000);
        plx_period_add(&period, seen[i]);
        const int count = i + 1 < PLX_PERIOD_INTERVALS ? i + 1 : PLX_PERIOD_INTERVALS;
        int64_t last[PLX_PERIOD_INTERVALS];
        for (int k = 0; k < count; k++)
            last[k] = seen[i - k];
        qsort(last, (size_t)count, sizeof *last, compare);
        assert_int_equal(plx_period_ns(&period), last[(count - 1) / 2]);
    }
}

static void a_stall_does_not_lengthen_it(void **state)
{
    (void)state;
    struct plx_period period = {0};

    plx_period_add(&period, 50);
    plx_period_add(&period, 8000);
    assert_int_equal(plx_period_ns(&period), 50);
    for (int i = 0; i < 100; i++)
        plx_period_add(&period, 50);
    for (int i = 0; i < PLX_PERIOD_INTERVALS / 2; i++)
        plx_period_add(&period, 8000);
    assert_int_equal(plx_period_ns(&period), 50);
    plx_period_add(&period, 8000); /* no stall any more, but the rate */
    assert_int_equal(plx_period_ns(&period), 8000);
}

static void what_is_no_interval_is_ignored(void **state)
{
    (void)state;
    struct plx_period period = {0};

    plx_period_add(&period, 0);
    plx_period_add(&period, -5);
    plx_period_add(&period, INT64_MIN);
    assert_int_equal(plx_period_ns(&period), 0);
    plx_period_add(&period, INT64_MAX);
    assert_int_equal(plx_period_ns(&period), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_median_of_the_last_intervals),
        cmocka_unit_test(a_stall_does_not_lengthen_it),
        cmocka_unit_test(what_is_no_interval_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
