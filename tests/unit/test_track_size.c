/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a track: the limits of its classes, the mean, its outliers, and when parts that come apart begin another size. */
#include "core/tracks/size.h"

#include <math.h>

#include "tests/cmocka.h"

#define MARGIN 1e-9

static struct plx_track_size size;

static struct plx_obstacle extent(float width, float height, float depth)
{
    return (struct plx_obstacle){.extent_m = {width, height, depth}};
}

static void begin(float width, float height, float depth)
{
    const struct plx_obstacle obstacle = extent(width, height, depth);
    plx_track_size_begin(&size, &obstacle);
}

static bool update(float width, float height, float depth)
{
    const struct plx_obstacle obstacle = extent(width, height, depth);
    return plx_track_size_update(&size, &obstacle);
}

static void expect(double width, double height, double depth)
{
    if (!(fabs(size.m[0] - width) < MARGIN && fabs(size.m[1] - height) < MARGIN && fabs(size.m[2] - depth) < MARGIN))
        fail_msg("%g x %g x %g, expected %g x %g x %g", size.m[0], size.m[1], size.m[2], width, height, depth);
}

static void classes_have_their_limits(void **state)
{
    (void)state;
    static const struct {
        float width, height;
        enum plx_size_class size_class;
    } cases[] = {
        {0, 1, PLX_SIZE_UNKNOWN},        {1, 0, PLX_SIZE_UNKNOWN},        {-1, 1, PLX_SIZE_UNKNOWN},
        {1, -1, PLX_SIZE_UNKNOWN},       {0.01F, 1, PLX_SIZE_MEDIUM},     {1, 0.01F, PLX_SIZE_LOW},
        {6.01F, 3, PLX_SIZE_WIDE},       {6.01F, 0.1F, PLX_SIZE_WIDE},    {6, 3, PLX_SIZE_LARGE},
        {6, 0.79F, PLX_SIZE_LOW},        {6, 0.81F, PLX_SIZE_LARGE},      {1.21F, 0.81F, PLX_SIZE_LARGE},
        {1.19F, 0.81F, PLX_SIZE_MEDIUM}, {1.19F, 3, PLX_SIZE_MEDIUM},     {0.36F, 1.8F, PLX_SIZE_MEDIUM},
        {0.34F, 1.8F, PLX_SIZE_NARROW},  {0.34F, 1.21F, PLX_SIZE_NARROW}, {0.34F, 1.19F, PLX_SIZE_MEDIUM},
        {0.34F, 0.79F, PLX_SIZE_LOW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].width, cases[i].height, 1);
        if (size.size_class != cases[i].size_class)
            fail_msg("%g x %g m has class %u, expected %u", (double)cases[i].width, (double)cases[i].height, size.size_class,
                     cases[i].size_class);
    }
}

/* A class that changes with every frame says nothing. */
static void a_class_stays_near_its_limit(void **state)
{
    (void)state;
    static const struct {
        float width, height;             /* at first, */
        float still_width, still_height; /* when it is grown or shrunk by less than the margin, */
        float width_now, height_now;     /* and by more */
        enum plx_size_class before, after;
    } cases[] = {
        {1.3F, 1, 1.1F, 1, 1, 1, PLX_SIZE_LARGE, PLX_SIZE_MEDIUM},
        {1.1F, 1, 1.35F, 1, 1.42F, 1, PLX_SIZE_MEDIUM, PLX_SIZE_LARGE},
        {0.5F, 0.7F, 0.5F, 0.9F, 0.5F, 0.95F, PLX_SIZE_LOW, PLX_SIZE_MEDIUM},
        {0.5F, 0.9F, 0.5F, 0.72F, 0.5F, 0.66F, PLX_SIZE_MEDIUM, PLX_SIZE_LOW},
        {0.3F, 1.8F, 0.38F, 1.8F, 0.43F, 1.8F, PLX_SIZE_NARROW, PLX_SIZE_MEDIUM},
        {0.3F, 1.3F, 0.38F, 1.1F, 0.38F, 1, PLX_SIZE_NARROW, PLX_SIZE_MEDIUM}, /* both at once */
        {5.9F, 0.7F, 6.5F, 0.85F, 7.5F, 0.85F, PLX_SIZE_LOW, PLX_SIZE_WIDE},
        {6.1F, 3, 5.5F, 3, 5, 3, PLX_SIZE_WIDE, PLX_SIZE_LARGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].width, cases[i].height, 1);
        assert_int_equal(size.size_class, cases[i].before);
        for (int frame = 0; frame < 100; frame++)
            update(cases[i].still_width, cases[i].still_height, 1);
        if (size.size_class != cases[i].before)
            fail_msg("case %zu: class %u near the limit, expected %u", i, size.size_class, cases[i].before);
        for (int frame = 0; frame < 100; frame++)
            update(cases[i].width_now, cases[i].height_now, 1);
        if (size.size_class != cases[i].after)
            fail_msg("case %zu: class %u beyond the margin, expected %u", i, size.size_class, cases[i].after);
    }
    begin(0, 1, 1);
    update(0.5F, 1, 1);
    assert_int_equal(size.size_class, PLX_SIZE_MEDIUM); /* what is not known has no margin */
}

/* A mean of all frames so far, and of eight at most. */
static void the_size_is_a_mean(void **state)
{
    (void)state;
    begin(1, 2, 4);
    expect(1, 2, 4);
    assert_false(update(1.25F, 2.25F, 4.5F));
    expect(1.125, 2.125, 4.25);
    assert_false(update(1.125F, 2.125F, 4.25F));
    expect(1.125, 2.125, 4.25);
    for (int frame = 4; frame <= 8; frame++)
        update(1.125F, 2.125F, 4.25F);
    for (int frame = 0; frame < 2; frame++) {
        const double m = size.m[0], outlier = m + 0.125;
        update((float)outlier, 2.125F, 4.25F);
        assert_float_equal(size.m[0], m + 0.125 / 8, 1e-6);
    }
}

/* An extent counts at most as a quarter more or less. */
static void an_outlier_counts_as_a_quarter(void **state)
{
    (void)state;
    begin(1, 1, 1);
    update(1.5F, 0.5F, 8);
    expect(1.125, 0.875, 1.125);
    begin(1, 1, 1);
    update(0.75F, 1.25F, -8);
    expect(0.875, 1.125, 0.875);
    begin(1, 1, 0); /* nothing was seen of it: no share of that is a limit */
    update(1, 1, 3);
    expect(1, 1, 1.5);
}

/* Twice as wide and 0.1 m is still the same thing; and so half. */
static void what_jumps_three_times_is_another_size(void **state)
{
    (void)state;
    static const struct {
        float width, height, depth;
        bool jumps;
    } cases[] = {
        {2.09F, 1, 1, false}, {2.11F, 1, 1, true},  {0.46F, 1, 1, false}, {0.44F, 1, 1, true}, {1, 2.09F, 1, false},
        {1, 2.11F, 1, true},  {1, 0.46F, 1, false}, {1, 0.44F, 1, true},  {1, 1, 9, false},    {1, 1, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(1, 1, 1);
        if (update(cases[i].width, cases[i].height, cases[i].depth) != cases[i].jumps)
            fail_msg("case %zu: expected %s", i, cases[i].jumps ? "a jump" : "no jump");
    }
    begin(1, 1, 1);
    for (int round = 0; round < 2; round++) { /* a frame without a jump begins the count anew */
        assert_true(update(9, 1, 1) && update(9, 1, 1));
        assert_true(size.m[0] < 2);
        assert_false(update(1, 1, 1));
    }
    assert_true(update(9, 1, 2) && update(9, 1, 2) && update(9, 1, 2));
    expect(9, 1, 2);
    assert_int_equal(size.size_class, PLX_SIZE_WIDE);
    assert_false(update(10, 1, 2)); /* the second frame of its mean */
    expect(9.5, 1, 2);
}

static void wide_and_large_count_width_or_depth(void **state)
{
    (void)state;
    static const struct {
        double width, height, depth;
        bool wide, large;
    } cases[] = {{6, 9, 6, false, true},   {6.01, 9, 1, true, true},      {1, 9, 6.01, true, true}, {1.2, 9, 1, false, true},
                 {1, 9, 1.2, false, true}, {1.19, 9, 1.19, false, false}, {0, 9, 0, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size = (struct plx_track_size){.m = {cases[i].width, cases[i].height, cases[i].depth}};
        assert_int_equal(plx_track_size_is_wide(&size), cases[i].wide);
        assert_int_equal(plx_track_size_is_large(&size), cases[i].large);
    }
    begin(1, 3, 2);
    const struct plx_obstacle twice = extent(2.09F, 9, 9), more = extent(2.11F, 1, 1);
    assert_false(plx_track_size_is_outgrown(&size, &twice));
    assert_true(plx_track_size_is_outgrown(&size, &more));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_have_their_limits),
        cmocka_unit_test(a_class_stays_near_its_limit),
        cmocka_unit_test(the_size_is_a_mean),
        cmocka_unit_test(an_outlier_counts_as_a_quarter),
        cmocka_unit_test(what_jumps_three_times_is_another_size),
        cmocka_unit_test(wide_and_large_count_width_or_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
