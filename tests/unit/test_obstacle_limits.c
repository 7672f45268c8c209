/* SPDX-License-Identifier: Apache-2.0 */
/* Regions in metres: what is no thing, how many there may be, and numbers beyond all reason. */
#include "oracle/test_image.h"
#include "tests/unit/obstacle_regions.h"

/* Sizes and heights on either side of each limit; 3 m away, a column is 6 mm and a row 7.5 mm. */
static void limits(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct plx_region region;
        const struct plx_ground_info *ground;
        int kept;
    } cases[] = {
        {"78 mm wide", rectangle(300, 100, 312, 199, 320), &no_ground, 0},
        {"84 mm wide", rectangle(300, 100, 313, 199, 320), &no_ground, 1},
        {"45 mm high", rectangle(300, 100, 399, 105, 320), &no_ground, 0},
        {"52.5 mm high", rectangle(300, 100, 399, 106, 320), &no_ground, 1},
        {"0.295 m over ground", rectangle(300, 334, 399, 399, 320), &level, 0},
        {"0.3025 m over ground", rectangle(300, 333, 399, 399, 320), &level, 1},
        {"under ground", rectangle(300, 400, 399, 460, 320), &level, 0},
        {"under ground, which is unknown", rectangle(300, 400, 399, 460, 320), &no_ground, 1},
        {"at infinity", rectangle(300, 100, 399, 199, 0), &no_ground, 0},
        {"960 m away", rectangle(300, 100, 399, 199, 1), &no_ground, 1},
        {"a single pixel, 15 m away", rectangle(300, 100, 300, 100, 64), &no_ground, 0},
        {"a column", rectangle(300, 0, 300, 479, 32), &no_ground, 0},
        {"nothing", {.p05 = 320, .median = 320, .p95 = 320}, &no_ground, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_obstacle o;
        if (measure(&cases[i].region, cases[i].ground, &o) != cases[i].kept)
            fail_msg("%s: %s", cases[i].what, cases[i].kept ? "left out" : "kept");
    }
    struct plx_region part = panel(); /* some of it at infinity, or no interior */
    struct plx_obstacle o;
    part.p05 = 0;
    assert_int_equal(measure(&part, &no_ground, &o), 0);
    part = panel();
    part.interior_area = 0;
    assert_int_equal(measure(&part, &no_ground, &o), 0);
}

/* All 256, of which every third is no thing; order and labels stay, and nothing is written beyond. */
static void many_regions(void **state)
{
    (void)state;
    static struct plx_region region[PLX_MAX_OBSTACLES];
    static struct plx_obstacle o[PLX_MAX_OBSTACLES + 1];
    for (int i = 0; i < PLX_MAX_OBSTACLES; i++) {
        region[i] = i % 3 == 1 ? rectangle(i, 10, i, 10, 320) : rectangle(i, 10, i + 99, 59, 320);
        region[i].label = (uint32_t)i + 1;
    }
    memset(o, 0x5A, sizeof o);
    const struct plx_obstacle untouched = o[0];
    assert_int_equal(plx_obstacles_measure(region, 0, &camera, 0, 480, &no_ground, &params, o), 0);
    assert_memory_equal(&o[0], &untouched, sizeof untouched);
    const int kept = plx_obstacles_measure(region, PLX_MAX_OBSTACLES, &camera, 0, 480, &no_ground, &params, o);
    assert_int_equal(kept, 171);
    for (int i = 0; i < kept; i++) {
        assert_int_equal(o[i].label, i / 2 * 3 + i % 2 * 2 + 1);
        assert_int_equal(o[i].x, o[i].label - 1);
    }
    for (int i = 0; i < PLX_MAX_OBSTACLES; i++)
        region[i] = panel();
    assert_int_equal(plx_obstacles_measure(region, PLX_MAX_OBSTACLES, &camera, 0, 480, &level, &params, o), PLX_MAX_OBSTACLES);
    assert_memory_equal(&o[PLX_MAX_OBSTACLES], &untouched, sizeof untouched);
}

/* The largest picture, full of one thing. */
static void largest_region(void **state)
{
    (void)state;
    const struct plx_region region = rectangle(0, 0, PLX_MAX_SIDE - 1, PLX_MAX_SIDE - 1, 16 * 256 - 1);
    struct plx_obstacle o;
    assert_int_equal(measure(&region, &no_ground, &o), 1);
    assert_int_equal(o.area_px, PLX_MAX_SIDE * PLX_MAX_SIDE);
    assert_near((double)o.centroid_x, (PLX_MAX_SIDE - 1) / 2.0);
    assert_near((double)o.extent_m[1], PLX_MAX_SIDE / 400.0 * 960 / 4095);
    assert_near((double)o.valid_ratio, 1);
}

/* Extreme images and percentiles still give finite numbers. */
static void never_a_wild_number(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    int kept = 0;
    for (int i = 0; i < 100000; i++) {
        const int x = (int)random_below(&seed, 600), y = (int)random_below(&seed, 440);
        const uint32_t median = random_below(&seed, 1024);
        struct plx_region region = rectangle(x, y, x + (int)random_below(&seed, 40), y + (int)random_below(&seed, 40), median);
        struct plx_refined *part[] = {&region.interior, &region.left, &region.right};
        struct plx_obstacle o;
        region.p05 -= random_below(&seed, median + 1);
        region.p95 += random_below(&seed, 1024 - median);
        for (int k = 0; k < 3; k++)
            *part[k] = (struct plx_refined){.weight = random_below(&seed, 100000) * (int64_t)random_below(&seed, 2),
                                            .sum = (int64_t)random_next(&seed) >> (1 + random_below(&seed, 62))};
        const int min_disparity = (int)random_below(&seed, 9) - 4;
        if (plx_obstacles_measure(&region, 1, &camera, min_disparity, 480, i % 2 ? &level : &no_ground, &params, &o) == 0)
            continue;
        kept++;
        const float number[] = {o.position_m[0], o.position_m[1], o.position_m[2], o.extent_m[0], o.extent_m[1],
                                o.extent_m[2],   o.nearest_m,     o.height_m,      o.valid_ratio, o.confidence};
        for (size_t k = 0; k < sizeof number / sizeof *number; k++)
            assert_true(isfinite(number[k]));
        assert_true(o.nearest_m > 0 && o.position_m[2] > 0 && o.extent_m[2] >= 0);
        assert_true(o.extent_m[0] >= 0.039f && o.extent_m[1] >= 0.05f);
        assert_true((double)o.position_m[2] >= 960.0 / (1024 + 8 + 64)); /* half a pixel nearer than any pixel can be */
    }
    print_message("%d of 100000 are things\n", kept);
    assert_true(kept > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(many_regions),
        cmocka_unit_test(largest_region),
        cmocka_unit_test(never_a_wild_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
