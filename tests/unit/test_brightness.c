/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of brightness at the very numbers that their header promises, on histograms of a hundred pixels, and the check of
 * sharpness on pictures of steps. */
#include <string.h>

#include "core/checks/picture_check.h"
#include "oracle/image.h"
#include "tests/cmocka.h"

#define FRAMES 5 /* that a fault lasts before it is reported */
#define PIXELS 100

static uint32_t bins[2][PLX_HISTOGRAM_EYE_ROWS][256];

static uint32_t update(struct plx_brightness_check *check)
{
    const struct plx_image plane = {bins, 256, 2 * PLX_HISTOGRAM_EYE_ROWS, sizeof bins[0][0], PLX_U32};
    return plx_brightness_check_update(check, &plane);
}

/* The pixels of EYE have the levels A, B, C and D: of 100 as many as SHARE says. */
static void fill(int eye, const int level[4], const int share[4])
{
    memset(bins[eye], 0, sizeof bins[eye]);
    for (int zone = 1; zone < PLX_HISTOGRAM_EYE_ROWS; zone++)
        bins[eye][zone][zone % 256] = 77; /* zones do not count */
    for (int i = 0; i < 4; i++)
        bins[eye][0][level[i]] += (uint32_t)share[i];
}

static void fill_all(int eye, int level)
{
    fill(eye, (const int[4]){level, level, level, level}, (const int[4]){PIXELS, 0, 0, 0});
}

/* The flags after FRAMES frames; none before. */
static uint32_t settle(void)
{
    struct plx_brightness_check check = {{0}};
    for (int i = 1; i < FRAMES; i++)
        assert_int_equal(update(&check), 0);
    const uint32_t health = update(&check);
    assert_int_equal(update(&check), health); /* while it lasts */
    return health;
}

/* Either eye alone, the other one fine: as bright, but for the flag that is looked for. */
static void expect(uint32_t flag, const int level[4], const int share[4], bool reported)
{
    static const int fine[4] = {100, 100, 100, 100}, all[4] = {PIXELS, 0, 0, 0};
    for (int eye = 0; eye < 2; eye++) {
        fill(eye, level, share);
        fill(1 - eye, fine, all);
        assert_int_equal((settle() & flag) != 0, reported);
    }
}

static void dark_is_99_of_100_pixels_below_16(void **state)
{
    (void)state;
    expect(PLX_HEALTH_DARK, (const int[4]){0, 15, 16, 255}, (const int[4]){50, 49, 0, 1}, true);
    expect(PLX_HEALTH_DARK, (const int[4]){0, 15, 16, 255}, (const int[4]){50, 48, 1, 1}, false);
    expect(PLX_HEALTH_DARK, (const int[4]){0, 15, 16, 255}, (const int[4]){100, 0, 0, 0}, true);
    expect(PLX_HEALTH_DARK, (const int[4]){0, 15, 16, 255}, (const int[4]){0, 0, 100, 0}, false);
}

static void overexposed_is_more_than_60_of_100_pixels_from_250_on(void **state)
{
    (void)state;
    expect(PLX_HEALTH_OVEREXPOSED, (const int[4]){0, 249, 250, 255}, (const int[4]){20, 19, 61, 0}, true);
    expect(PLX_HEALTH_OVEREXPOSED, (const int[4]){0, 249, 250, 255}, (const int[4]){20, 19, 0, 61}, true);
    expect(PLX_HEALTH_OVEREXPOSED, (const int[4]){0, 249, 250, 255}, (const int[4]){20, 20, 60, 0}, false);
    expect(PLX_HEALTH_OVEREXPOSED, (const int[4]){0, 249, 250, 255}, (const int[4]){0, 0, 0, 100}, true);
    expect(PLX_HEALTH_OVEREXPOSED, (const int[4]){0, 249, 250, 255}, (const int[4]){0, 100, 0, 0}, false);
}

/* A quarter and 8 levels, up to the last level that there is. */
static void a_mismatch_is_a_quarter_and_8_levels(void **state)
{
    (void)state;
    static const struct {
        int brighter, darker;
        bool reported;
    } cases[] = {{100, 80, true}, {100, 81, false}, {40, 32, true},    {39, 32, false},   {28, 20, true},
                 {27, 20, false}, {255, 204, true}, {254, 204, false}, {255, 205, false}, {60, 60, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int eye = 0; eye < 2; eye++) {
            fill_all(eye, cases[i].brighter);
            fill_all(1 - eye, cases[i].darker);
            const bool reported = settle() & PLX_HEALTH_BRIGHTNESS_MISMATCH;
            if (reported != cases[i].reported)
                fail_msg("%d beside %d: %d", cases[i].brighter, cases[i].darker, reported);
        }
}

/* All three quartiles differ, at the pixel that is the last of each quarter. */
static void a_mismatch_is_one_of_all_quartiles(void **state)
{
    (void)state;
    static const int darker[4] = {40, 60, 80, 110}, brighter[4] = {60, 90, 120, 200};
    static const struct {
        int share[4]; /* shares in the darker picture */
        bool reported;
    } cases[] = {
        {{25, 25, 25, 25}, true},  /* quartiles of 40, 60, 80 */
        {{24, 26, 25, 25}, false}, /* 60, 60, 80 */
        {{25, 24, 26, 25}, false}, /* 40, 80, 80 */
        {{25, 25, 24, 26}, false}, /* 40, 60, 110 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int eye = 0; eye < 2; eye++) {
            fill(eye, brighter, (const int[4]){25, 25, 25, 25});
            fill(1 - eye, darker, cases[i].share);
            const bool reported = settle() & PLX_HEALTH_BRIGHTNESS_MISMATCH;
            if (reported != cases[i].reported)
                fail_msg("case %zu: %d", i, reported);
        }
}

static void a_good_frame_ends_a_fault(void **state)
{
    (void)state;
    struct plx_brightness_check check = {{0}};
    for (int round = 0; round < 2; round++) {
        fill_all(0, 255);
        fill_all(1, 255);
        for (int i = 1; i < FRAMES; i++)
            assert_int_equal(update(&check), 0);
        for (int i = 0; i < 2 * FRAMES * round; i++)
            assert_int_equal(update(&check), PLX_HEALTH_OVEREXPOSED);
        fill_all(0, 100);
        fill_all(1, 100);
        assert_int_equal(update(&check), 0);
    }
}

/* --- sharpness ----------------------------------------------------------------------------------------------------------- */

#define WIDTH 240
#define HEIGHT 48

static uint8_t picture[2][HEIGHT][WIDTH];

/* Only rows 8, 24 and 40 are read, of 16 one. Stripes of 16 px, which steps over 8 px see, and fine ones of 2 px, which cancel
 * there: with a contrast of F to C, steps over 2 px are 1 + 7 F / C times as large as without fine stripes. */
static void stripe(int eye, int contrast, int fine)
{
    memset(picture[eye], 0, sizeof picture[eye]);
    for (int y = 8; y < HEIGHT; y += 16)
        for (int x = 0; x < WIDTH; x++)
            picture[eye][y][x] = (uint8_t)(20 + contrast * (x / 16 % 2) + fine * (x / 2 % 2));
}

/* The sums of steps of the pictures LEFT and RIGHT, 0 or 1. */
static struct plx_image steps_of(int left, int right, uint32_t sum[4][HEIGHT / 16])
{
    for (int eye = 0; eye < 2; eye++) {
        const struct plx_image grey = {picture[eye == 0 ? left : right], WIDTH, HEIGHT, WIDTH, PLX_U8},
                               own = {sum[2 * eye], HEIGHT / 16, 2, sizeof sum[0], PLX_U32};
        oracle_sharpness(&grey, &own);
    }
    return (struct plx_image){sum, HEIGHT / 16, 4, sizeof sum[0], PLX_U32};
}

static bool is_unsharp(void)
{
    uint32_t sum[4][HEIGHT / 16];
    const struct plx_image steps = steps_of(0, 1, sum);
    struct plx_sharpness_check check = {0};
    for (int i = 1; i < FRAMES; i++)
        assert_false(plx_sharpness_check_update(&check, &steps, WIDTH, HEIGHT));
    const bool reported = plx_sharpness_check_update(&check, &steps, WIDTH, HEIGHT);
    assert_int_equal(plx_sharpness_check_update(&check, &steps, WIDTH, HEIGHT), reported);
    return reported;
}

static void a_sharp_pair_begins_the_count_anew(void **state)
{
    (void)state;
    uint32_t sum[2][4][HEIGHT / 16];
    struct plx_sharpness_check check = {0};
    stripe(0, 200, 0);
    stripe(1, 200, 12);
    const struct plx_image sharp = steps_of(0, 0, sum[0]), unlike = steps_of(0, 1, sum[1]);
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i < FRAMES; i++)
            assert_false(plx_sharpness_check_update(&check, &unlike, WIDTH, HEIGHT));
        assert_false(plx_sharpness_check_update(&check, &sharp, WIDTH, HEIGHT));
    }
    for (int i = 1; i <= 3 * FRAMES; i++)
        assert_int_equal(plx_sharpness_check_update(&check, &unlike, WIDTH, HEIGHT), i >= FRAMES);
    assert_false(plx_sharpness_check_update(&check, &sharp, WIDTH, HEIGHT));
}

static void one_eye_that_is_less_sharp_is_told_whatever_its_contrast(void **state)
{
    (void)state;
    static const struct {
        int contrast[2], fine[2];
        bool reported;
    } cases[] = {
        {{200, 200}, {0, 0}, false}, {{200, 200}, {0, 8}, false}, {{200, 200}, {0, 12}, true},   {{200, 100}, {0, 4}, false},
        {{200, 100}, {0, 6}, true},  {{100, 200}, {0, 12}, true}, {{100, 200}, {12, 24}, false}, {{3, 200}, {0, 40}, false},
        {{5, 200}, {0, 40}, true}, /* 3 levels are noise: a mean step over 8 px of less than 2 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int eye = 0; eye < 2; eye++) {
            stripe(eye, cases[i].contrast[0], cases[i].fine[0]);
            stripe(1 - eye, cases[i].contrast[1], cases[i].fine[1]);
            if (is_unsharp() != cases[i].reported)
                fail_msg("case %zu: %d", i, !cases[i].reported);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dark_is_99_of_100_pixels_below_16),
        cmocka_unit_test(overexposed_is_more_than_60_of_100_pixels_from_250_on),
        cmocka_unit_test(a_mismatch_is_a_quarter_and_8_levels),
        cmocka_unit_test(a_mismatch_is_one_of_all_quartiles),
        cmocka_unit_test(a_good_frame_ends_a_fault),
        cmocka_unit_test(a_sharp_pair_begins_the_count_anew),
        cmocka_unit_test(one_eye_that_is_less_sharp_is_told_whatever_its_contrast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
