/* SPDX-License-Identifier: Apache-2.0 */
/* The matching stages of every instruction set beside the plain scalar oracle: random keys, odd sizes, pitch unlike width. */
#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "cpu/internal.h"
#include "oracle/matching.h"
#include "oracle/oracle.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define CASES 120 /* cases for each instruction set */
#define PADDING 3

enum content { NOISE, BLACK, WHITE, STEPS, SHIFTED, CONTENTS };

static const struct {
    int width, height;
} sizes[] = {{1, 1}, {2, 1}, {1, 7}, {7, 2}, {31, 9}, {33, 31}, {513, 3}, {3, 130}, {2, 513}, {200, 40}};

#define SIZES ((int)(sizeof sizes / sizeof *sizes))

static void random_match(uint64_t *seed, struct plx_match *ret)
{
    (random_below(seed, 2) ? plx_match_default : plx_match_classic)(ret);
    ret->disparities = 64 << random_below(seed, 3);
    ret->paths = random_below(seed, 2) ? 4 : 8;
    ret->min_disparity = random_below(seed, 3) ? (int)random_below(seed, 81) - 16 : 0;
    if (random_below(seed, 4) == 0)
        return; /* a preset as it is */
    ret->smooth = random_below(seed, 2);
    ret->census = (enum plx_census_kind)random_below(seed, 4);
    ret->census_zero_border = random_below(seed, 2);
    ret->gradient_cap = (int)random_below(seed, 33);
    ret->gradient_cap_y = (int)random_below(seed, 17);
    ret->p2 = random_below(seed, 4) ? (int)random_below(seed, 121) : 120;
    ret->p2_min = (int)random_below(seed, (uint32_t)ret->p2 + 1);
    ret->p2_scale = random_below(seed, 2) ? (int)random_below(seed, 40) : 0;
    ret->p1_straight = (int)random_below(seed, (uint32_t)ret->p2_min + 1);
    ret->p1_diagonal = (int)random_below(seed, (uint32_t)ret->p2_min + 1);
    ret->uniqueness = (int)random_below(seed, 1001);
    ret->subpixel = (enum plx_subpixel)random_below(seed, 3);
    ret->median_left = (enum plx_median)random_below(seed, 3);
    ret->median_right = (enum plx_median)random_below(seed, 2);
    ret->lr_max_diff = (int)random_below(seed, 4) - 1;
    ret->lr_round = random_below(seed, 2);
    ret->invalid_border = random_below(seed, 2);
    ret->facing = random_below(seed, 2);
    ret->local_mean = random_below(seed, 2);
    ret->cross_validate = random_below(seed, 2);
    ret->repeats = random_below(seed, 2);
}

static uint8_t grey_at(uint64_t *seed, enum content content, int x, int y)
{
    switch (content) {
    case BLACK:
        return 0;
    case WHITE:
        return 255;
    case STEPS:
        return (uint8_t)((x / 5 * 37 + y / 3 * 11) & 0xF8);
    default:
        return (uint8_t)random_next(seed);
    }
}

/* SHIFTED: the right image is the left one, 7 pixels on. */
static void draw_pair(uint64_t *seed, enum content content, const struct plx_image *left, const struct plx_image *right)
{
    for (int y = 0; y < left->height; y++) {
        uint8_t *l = plx_row(left, y), *r = plx_row(right, y);
        for (int x = 0; x < left->width; x++)
            l[x] = grey_at(seed, content, x, y);
        for (int x = 0; x < left->width; x++)
            r[x] = content != SHIFTED ? grey_at(seed, content, x, y) : l[x + 7 < left->width ? x + 7 : left->width - 1];
    }
}

static void new_planes(int width, int height, const struct plx_match *match, struct plx_image *ret)
{
    for (int i = 0; i < MATCHING_PLANES; i++)
        ret[i] = test_image_new(width, height, matching_type(match, (enum matching_plane)i), PADDING);
}

static void compare_case(struct plx_stages *stages, const char *isa, int number, uint64_t *seed)
{
    const int width = sizes[number % SIZES].width, height = sizes[number % SIZES].height;
    struct plx_image grey[2], got[MATCHING_PLANES], want[MATCHING_PLANES];
    struct plx_match match;

    random_match(seed, &match);
    assert_int_equal(plx_match_check(&match, NULL), 0);
    for (int i = 0; i < 2; i++)
        grey[i] = test_image_new(width, height, PLX_U8, PADDING);
    draw_pair(seed, (enum content)random_below(seed, CONTENTS), &grey[0], &grey[1]);
    new_planes(width, height, &match, got);
    new_planes(width, height, &match, want);
    assert_int_equal(matching_run(stages, grey, &match, got), 0);
    matching_oracle(grey, &match, want);
    for (int i = 0; i < MATCHING_PLANES; i++) {
        if (!test_image_equal(&got[i], &want[i]) || !test_image_padding_intact(&got[i]))
            fail_msg("%s: %s differs in case %d, %dx%d, PLX_TEST_SEED=%llu", isa, matching_names[i], number, width, height,
                     (unsigned long long)test_seed());
        test_image_free(&got[i]);
        test_image_free(&want[i]);
    }
    for (int i = 0; i < 2; i++)
        test_image_free(&grey[i]);
}

/* Compares and frees both. */
static void expect_same(struct plx_image *got, struct plx_image *want, const char *isa, const char *what)
{
    if (!test_image_equal(got, want) || !test_image_padding_intact(got))
        fail_msg("%s: %s of any numbers differs, %dx%d, PLX_TEST_SEED=%llu", isa, what, got->width, got->height,
                 (unsigned long long)test_seed());
    test_image_free(got);
    test_image_free(want);
}

/* Median and fill of any 16 bits, from no to all pixels invalid, which matching would never give. */
static void compare_any_numbers(struct plx_stages *stages, const char *isa, int number, uint64_t *seed)
{
    const int width = sizes[number % SIZES].width, height = sizes[number % SIZES].height;
    const uint32_t invalid = random_below(seed, 101), range = random_below(seed, 2) ? 65536 : 1024;
    struct plx_image src = test_image_new(width, height, PLX_U16, PADDING), got, want;

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            ((uint16_t *)plx_row(&src, y))[x] =
                (uint16_t)(random_below(seed, 100) < invalid ? PLX_DISPARITY_INVALID : random_below(seed, range));
    for (int kind = PLX_MEDIAN_NONE; kind <= PLX_MEDIAN_VALID_5X5; kind++) {
        got = test_image_new(width, height, PLX_U16, PADDING), want = test_image_new(width, height, PLX_U16, 0);
        assert_int_equal(stages->ops->median(stages, &src, (enum plx_median)kind, &got), 0);
        oracle_median(&src, (enum plx_median)kind, &want);
        expect_same(&got, &want, isa, "median");
    }
    got = test_image_new(width, height, PLX_U16, PADDING), want = test_image_new(width, height, PLX_U16, 0);
    struct plx_image filled = test_image_new(width, height, PLX_U8, PADDING),
                     want_filled = test_image_new(width, height, PLX_U8, 0);
    assert_int_equal(stages->ops->fill(stages, &src, &got, &filled), 0);
    oracle_fill(&src, &want, &want_filled);
    expect_same(&got, &want, isa, "fill");
    expect_same(&filled, &want_filled, isa, "filled");
    test_image_free(&src);
}

/* Even and agree of noise around one disparity, from no to all pixels invalid. */
static void compare_refined(struct plx_stages *stages, const char *isa, int number, uint64_t *seed)
{
    const int width = sizes[number % SIZES].width, height = sizes[number % SIZES].height;
    const uint32_t invalid = random_below(seed, 101), range = 2 + random_below(seed, 150), base = random_below(seed, 3900);
    struct plx_image grey = test_image_new(width, height, PLX_U8, PADDING), src[3], got, want;

    for (int i = 0; i < 3; i++) {
        src[i] = test_image_new(width, height, PLX_U16, PADDING);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                ((uint16_t *)plx_row(&src[i], y))[x] =
                    (uint16_t)(i == 2                              ? (base + random_below(seed, 40)) / PLX_DISPARITY_ONE
                               : random_below(seed, 100) < invalid ? PLX_DISPARITY_INVALID
                                                                   : base + random_below(seed, range));
    }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            ((uint8_t *)plx_row(&grey, y))[x] = (uint8_t)random_below(seed, 5);
    got = test_image_new(width, height, PLX_U16, PADDING), want = test_image_new(width, height, PLX_U16, 0);
    assert_int_equal(stages->ops->local_mean(stages, &src[0], &got), 0);
    oracle_local_mean(&src[0], &want);
    expect_same(&got, &want, isa, "local_mean");
    got = test_image_new(width, height, PLX_U16, PADDING), want = test_image_new(width, height, PLX_U16, 0);
    assert_int_equal(stages->ops->cross_validate(stages, &src[0], &src[1], &src[2], &grey, &got), 0);
    oracle_cross_validate(&src[0], &src[1], &src[2], &grey, &want);
    expect_same(&got, &want, isa, "cross_validate");
    for (int i = 0; i < 3; i++)
        test_image_free(&src[i]);
    test_image_free(&grey);
}

/* Facing surfaces and others, seen with any texture, noise and difference in brightness. Returns how many pixels take a step.
 */
static int compare_facing(struct plx_stages *stages, const char *isa, int number, uint64_t *seed)
{
    const int width = sizes[number % SIZES].width, height = sizes[number % SIZES].height;
    const uint32_t invalid = random_below(seed, 2) * random_below(seed, 80), range = 1 + random_below(seed, 14),
                   noise = random_below(seed, 50);
    const int base = (int)random_below(seed, 16 * 20), slant = (int)random_below(seed, 3),
              brighter = (int)random_below(seed, 9);
    struct plx_image src = test_image_new(width, height, PLX_U16, PADDING),
                     got = test_image_new(width, height, PLX_U16, PADDING), want = test_image_new(width, height, PLX_U16, 0),
                     grey[PLX_EYES];
    struct plx_match match;
    int steps = 0;

    plx_match_default(&match);
    match.min_disparity = (int)random_below(seed, 20) - 10;
    for (int eye = 0; eye < PLX_EYES; eye++)
        grey[eye] = test_image_new(width, height, PLX_U8, PADDING);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int v = base + y * slant + (x / 20 % 3 == 2 ? 60 : 0) + (int)random_below(seed, range);
            ((uint16_t *)plx_row(&src, y))[x] = random_below(seed, 100) < invalid ? PLX_DISPARITY_INVALID : (uint16_t)v;
            for (int eye = 0; eye < PLX_EYES; eye++) {
                const double at = x + (eye ? base / 16.0 + match.min_disparity : 0) + 0.3 * y;
                const int value = (int)(128 + 90 * sin(0.9 * at)) + (eye ? brighter : 0) + (int)random_below(seed, 1 + noise);
                ((uint8_t *)plx_row(&grey[eye], y))[x] = (uint8_t)(value < 255 ? value : 255);
            }
        }
    assert_int_equal(stages->ops->facing(stages, &src, &grey[PLX_LEFT], &grey[PLX_RIGHT], &match, &got), 0);
    oracle_facing(&src, &grey[PLX_LEFT], &grey[PLX_RIGHT], &match, &want);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            steps += ((const uint16_t *)plx_row(&want, y))[x] != ((const uint16_t *)plx_row(&src, y))[x];
    expect_same(&got, &want, isa, "facing");
    test_image_free(&src);
    for (int eye = 0; eye < PLX_EYES; eye++)
        test_image_free(&grey[eye]);
    return steps;
}

/* Bars of any period, contrast and noise on every size. Returns how many pixels repeat. */
static int compare_repeats(struct plx_stages *stages, const char *isa, uint64_t *seed)
{
    static const int widths[] = {1, 2, 7, 47, 48, 55, 56, 88, 513, 600}, heights[] = {1, 2, 7, 8, 9, 23};
    const int width = widths[random_below(seed, 10)], height = heights[random_below(seed, 6)];
    const uint32_t period = 4 + random_below(seed, 330), contrast = 1 + random_below(seed, 255), noise = random_below(seed, 30);
    const int from = (int)random_below(seed, 2) * width / 3, to = width - (int)random_below(seed, 2) * width / 3;
    struct plx_image src = test_image_new(width, height, PLX_U8, PADDING), got = test_image_new(width, height, PLX_U8, PADDING),
                     want = test_image_new(width, height, PLX_U8, 0);
    int repeating = 0;

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const bool bar = x >= from && x < to && (uint32_t)x * 10 % period * 2 < period;
            const uint32_t grey = (bar ? contrast : 0) + random_below(seed, noise + 1);
            ((uint8_t *)plx_row(&src, y))[x] = (uint8_t)(grey < 1 ? 1 : grey > 255 ? 255 : grey);
        }
    assert_int_equal(stages->ops->repeats(stages, &src, &got), 0);
    oracle_repeats(&src, &want);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            repeating += ((const uint8_t *)plx_row(&want, y))[x] == 0;
    expect_same(&got, &want, isa, "repeats");
    test_image_free(&src);
    return repeating;
}

static void same_bits_as_the_oracle(void **state)
{
    const enum plx_isa isa = *(const enum plx_isa *)*state;
    const struct plx_limits limits = {600, 520, 256, 2};
    const struct plx_kernels *kernels = plx_isa_kernels(isa);
    struct plx_stages *stages;
    uint64_t seed = test_seed();

    if (!kernels) {
        skip();
        return;
    }
    assert_int_equal(plx_cpu_create_isa(&limits, isa, &stages), 0);
    for (int i = 0; i < CASES; i++)
        compare_case(stages, kernels->name, i, &seed);
    for (int i = 0; i < CASES; i++)
        compare_any_numbers(stages, kernels->name, i, &seed);
    for (int i = 0; i < CASES; i++)
        compare_refined(stages, kernels->name, i, &seed);
    int with_steps = 0;
    for (int i = 0; i < 2 * CASES; i++)
        with_steps += compare_facing(stages, kernels->name, i, &seed) > 0;
    assert_in_range(with_steps, CASES / 4, CASES);
    int with_repeats = 0;
    for (int i = 0; i < CASES; i++)
        with_repeats += compare_repeats(stages, kernels->name, &seed) > 0;
    assert_in_range(with_repeats, CASES / 20, CASES / 2);
    stages->ops->destroy(stages);
}

/* Each argument of sgm that has another size or type than the left picture is refused, and right ones are not. */
static void sgm_refuses_what_does_not_fit(void **state)
{
    (void)state;
    const int width = 70, height = 9;
    struct plx_match match;
    struct plx_image grey = test_image_new(width, height, PLX_U8, 0), small = test_image_new(width - 1, height, PLX_U32, 0);
    struct plx_image word = test_image_new(width, height, PLX_U32, 0), half = test_image_new(width, height, PLX_U16, 0);

    plx_match_default(&match);
    const struct plx_features good = {word, half}, other_size = {small, half}, other_type = {word, word};
    const struct plx_candidates to = {half, half, half, half, half};
    assert_int_equal(plx_sgm_check(&good, &good, &grey, &match, &to), 0);
    assert_int_equal(plx_sgm_check(&other_size, &good, &grey, &match, &to), PLX_ERR_ARG);
    assert_int_equal(plx_sgm_check(&good, &other_size, &grey, &match, &to), PLX_ERR_ARG);
    assert_int_equal(plx_sgm_check(&good, &other_type, &grey, &match, &to), PLX_ERR_ARG);
    for (int i = 0; i < 5; i++) {
        struct plx_candidates wrong = to;
        struct plx_image *const image[] = {&wrong.left, &wrong.right, &wrong.raw, &wrong.s1, &wrong.s2};
        *image[i] = word;
        assert_int_equal(plx_sgm_check(&good, &good, &grey, &match, &wrong), PLX_ERR_ARG);
    }
    test_image_free(&grey);
    test_image_free(&small);
    test_image_free(&word);
    test_image_free(&half);
}

/* Grey value of the pixel at column X of a wall of bars 6.9 columns apart, with a TEXTURE of its own. */
static uint8_t wall_at(const uint8_t *texture, double x)
{
    int bright = 0;
    for (int i = -2; i <= 2; i++)
        bright += fmod(x + 0.5 + 0.2 * i, 6.9) < 3.45;
    return (uint8_t)(55 + 28 * bright + texture[(int)x] / 32);
}

/* How many strict disparities of the wall, which are 4.6 px, are one or more bars too near. */
static int count_ghosts(struct plx_stages *stages, bool repeats)
{
    const int width = 320, height = 40;
    struct plx_image grey[2], plane[MATCHING_PLANES];
    uint8_t texture[330];
    uint64_t seed = 1;
    struct plx_match match;
    int ghosts = 0;

    plx_match_default(&match);
    match.disparities = 64;
    match.repeats = repeats;
    new_planes(width, height, &match, plane);
    for (int i = 0; i < 2; i++)
        grey[i] = test_image_new(width, height, PLX_U8, PADDING);
    for (int y = 0; y < height; y++) {
        for (int i = 0; i < 330; i++)
            texture[i] = (uint8_t)random_next(&seed);
        for (int x = 0; x < width; x++) {
            ((uint8_t *)plx_row(&grey[0], y))[x] = wall_at(texture, x);
            ((uint8_t *)plx_row(&grey[1], y))[x] = wall_at(texture, x + 4.6);
        }
    }
    assert_int_equal(matching_run(stages, grey, &match, plane), 0);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const uint16_t value = ((const uint16_t *)plx_row(&plane[MATCHING_STRICT], y))[x];
            ghosts += value != PLX_DISPARITY_INVALID && value > 8 * PLX_DISPARITY_ONE;
        }
    for (int i = 0; i < MATCHING_PLANES; i++)
        test_image_free(&plane[i]);
    for (int i = 0; i < 2; i++)
        test_image_free(&grey[i]);
    return ghosts;
}

static void bars_are_unknown_and_not_near(void **state)
{
    (void)state;
    const struct plx_limits limits = {320, 40, 64, 2};
    struct plx_stages *stages;

    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    assert_true(count_ghosts(stages, false) > 320 * 40 / 50);
    assert_int_equal(count_ghosts(stages, true), 0);
    stages->ops->destroy(stages);
}

int main(void)
{
    static enum plx_isa isa[] = {PLX_ISA_GENERIC, PLX_ISA_NEON, PLX_ISA_AVX2, PLX_ISA_AVX512};
    const struct CMUnitTest tests[] = {
        {"generic", same_bits_as_the_oracle, NULL, NULL, &isa[0]}, {"neon", same_bits_as_the_oracle, NULL, NULL, &isa[1]},
        {"avx2", same_bits_as_the_oracle, NULL, NULL, &isa[2]},    {"avx512", same_bits_as_the_oracle, NULL, NULL, &isa[3]},
        cmocka_unit_test(sgm_refuses_what_does_not_fit),           cmocka_unit_test(bars_are_unknown_and_not_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
