/* SPDX-License-Identifier: Apache-2.0 */
/* Capture times of the v4l2 source: which clock a driver stamps with, and stamps that jump. */
#include <stdlib.h>

#include "core/base/clock.h"
#include "drivers/v4l2/clock.h"
#include "tests/cmocka.h"

#define MS PLX_NS_PER_MS
#define S PLX_NS_PER_S

static int64_t read_clock(struct plx_v4l2_clock *clock, int64_t stamp_ns, int64_t arrival_ns, bool *ret_implausible)
{
    const struct plx_v4l2_stamp stamp = {
        .stamp_ns = stamp_ns, .arrival_ns = arrival_ns, .realtime_ns = arrival_ns + 1000000 * S, .tegra_ns = 77 * S};
    return plx_v4l2_clock_read(clock, &stamp, ret_implausible);
}

static void the_clock_is_found_by_the_arrival(void **state)
{
    (void)state;
    static const struct {
        int64_t ahead_ns; /* how far ahead of CLOCK_MONOTONIC */
        enum plx_clock kind;
    } cases[] = {
        {0, PLX_CLOCK_MONOTONIC},
        {1000000 * S, PLX_CLOCK_REALTIME},
        {77 * S, PLX_CLOCK_DEVICE},
        {-5000 * S, PLX_CLOCK_DEVICE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool unknown = cases[i].ahead_ns < 0; /* then its offset is the smallest delay */
        struct plx_v4l2_clock clock;
        plx_v4l2_clock_init(&clock, 40 * MS);
        for (int64_t k = 0; k < 200; k++) {
            bool wild;
            const int64_t true_ns = 9000 * S + k * 40 * MS, delay = 3 * MS + (k * 7919 % 5) * MS;
            const int64_t capture = read_clock(&clock, true_ns + cases[i].ahead_ns, true_ns + delay, &wild);
            assert_false(wild);
            assert_int_equal(clock.kind, cases[i].kind);
            const int64_t error = capture - true_ns, least = unknown ? 3 * MS : 0;
            assert_true(error >= least - MS / 10 && error <= least + (unknown ? 5 * MS >> (k > 5 ? 3 : 0) : 0));
        }
        assert_true(llabs(clock.offset_ns + cases[i].ahead_ns) <= 4 * MS);
    }
}

static void a_jump_is_flagged_and_then_followed(void **state)
{
    (void)state;
    static const int64_t jumps[] = {-10 * S, 10 * S, -1500 * MS, INT64_MIN / 2};
    for (size_t j = 0; j < sizeof jumps / sizeof *jumps; j++) {
        struct plx_v4l2_clock clock;
        int wild_count = 0;
        plx_v4l2_clock_init(&clock, 40 * MS);
        for (int64_t k = 0; k < 20; k++) {
            bool wild;
            const int64_t now = 9000 * S + k * 40 * MS;
            read_clock(&clock, now - MS + (k >= 10 ? jumps[j] : 0), now, &wild);
            wild_count += wild;
            assert_true(!wild || k >= 10);
        }
        assert_int_equal(wild_count, 3);
    }
}

/* Pictures that waited while nobody took them are late, not wrong. */
static void a_hold_up_is_no_fault_of_the_clock(void **state)
{
    (void)state;
    struct plx_v4l2_clock clock;
    plx_v4l2_clock_init(&clock, 40 * MS);
    for (int64_t k = 0; k < 200; k++) {
        bool wild;
        const int64_t true_ns = 9000 * S + k * 40 * MS, held_until = 9000 * S + 50 * 40 * MS;
        const int64_t arrival = true_ns < held_until && k >= 20 ? held_until : true_ns + MS;
        assert_true(read_clock(&clock, true_ns, arrival, &wild) == true_ns);
        assert_false(wild);
        assert_int_equal(clock.kind, PLX_CLOCK_MONOTONIC);
    }
}

/* A small jump back looks like a hold-up at first, but no hold-up lasts for more pictures than there are buffers. */
static void a_small_jump_is_followed_too(void **state)
{
    (void)state;
    struct plx_v4l2_clock clock;
    int64_t capture = 0, now = 0;
    plx_v4l2_clock_init(&clock, 40 * MS);
    for (int64_t k = 0; k < 60; k++) {
        bool wild;
        now = 9000 * S + k * 40 * MS;
        capture = read_clock(&clock, now - MS - (k >= 10 ? 560 * MS : 0), now, &wild);
    }
    assert_true(now - capture < 40 * MS);
}

/* One single wild stamp costs one picture, whatever it is. */
static void a_wild_stamp_costs_one_picture(void **state)
{
    (void)state;
    struct plx_v4l2_clock clock;
    plx_v4l2_clock_init(&clock, 40 * MS);
    for (int64_t k = 0; k < 20; k++) {
        bool wild;
        const int64_t now = 9000 * S + k * 40 * MS;
        read_clock(&clock, k == 10 ? INT64_MAX : now - MS, now, &wild);
        assert_int_equal(wild, k == 10);
    }
}

/* Stamps that wrap as 64-bit nanoseconds do go on without a fault. */
static void a_wrap_of_the_numbers_is_no_jump(void **state)
{
    (void)state;
    struct plx_v4l2_clock clock;
    plx_v4l2_clock_init(&clock, 40 * MS);
    int64_t last = 0;
    for (uint64_t k = 0; k < 50; k++) {
        bool wild;
        const int64_t now = 9000 * S + (int64_t)k * 40 * MS;
        const int64_t capture = read_clock(&clock, (int64_t)((uint64_t)INT64_MAX - 1000 * MS + k * 40 * MS), now, &wild);
        assert_false(wild);
        assert_true(k == 0 || capture - last == 40 * MS);
        last = capture;
    }
    assert_int_equal(plx_v4l2_stamp_ns(INT64_MAX / S, 900000), (int64_t)((uint64_t)(INT64_MAX / S) * S + 900000000u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_is_found_by_the_arrival),  cmocka_unit_test(a_jump_is_flagged_and_then_followed),
        cmocka_unit_test(a_hold_up_is_no_fault_of_the_clock), cmocka_unit_test(a_small_jump_is_followed_too),
        cmocka_unit_test(a_wild_stamp_costs_one_picture),     cmocka_unit_test(a_wrap_of_the_numbers_is_no_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
