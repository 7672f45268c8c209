/* SPDX-License-Identifier: Apache-2.0 */
/* Stage histogram against the oracle. */
#include "tests/unit/image_cases.h"

static void equals_the_oracle(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(sizes) * PATTERNS; i++)
        for (int bins = 1; bins <= 256; bins *= 2) {
            struct plx_image grey =
                pattern_new(sizes[i / PATTERNS][0], sizes[i / PATTERNS][1], PLX_U8, (enum pattern)(i % PATTERNS));
            struct plx_image got = test_image_new(bins, 65, PLX_U32, PADDING), expected = test_image_new(bins, 65, PLX_U32, 0);
            assert_int_equal(stages->ops->histogram(stages, &grey, bins, &got), 0);
            oracle_histogram(&grey, bins, &expected);
            expect_equal(&got, &expected, pattern_name[i % PATTERNS]);
            test_image_free(&grey);
        }
}

static void counts_every_pixel_once(void **state)
{
    (void)state;
    struct plx_image grey = pattern_new(513, 7, PLX_U8, NOISE), bins = test_image_new(256, 65, PLX_U32, 0);
    uint64_t whole = 0, zones = 0;
    assert_int_equal(stages->ops->histogram(stages, &grey, 256, &bins), 0);
    for (int row = 0; row < 65; row++)
        for (int bin = 0; bin < 256; bin++)
            *(row == 0 ? &whole : &zones) += ((uint32_t *)plx_row(&bins, row))[bin];
    assert_int_equal(whole, 513 * 7);
    assert_int_equal(zones, 513 * 7);
    test_image_free(&grey);
    test_image_free(&bins);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct plx_image grey = pattern_new(7, 7, PLX_U8, NOISE), deep = pattern_new(7, 7, PLX_U16, NOISE);
    struct plx_image bins = test_image_new(100, 65, PLX_U32, 0), few = test_image_new(256, 64, PLX_U32, 0);
    assert_int_equal(stages->ops->histogram(stages, &grey, 100, &bins), PLX_ERR_ARG);
    assert_int_equal(stages->ops->histogram(stages, &grey, 0, &bins), PLX_ERR_ARG);
    assert_int_equal(stages->ops->histogram(stages, &grey, 256, &few), PLX_ERR_ARG);
    bins.width = 64;
    assert_int_equal(stages->ops->histogram(stages, &deep, 64, &bins), PLX_ERR_ARG);
    assert_int_equal(stages->ops->histogram(stages, &grey, 32, &bins), PLX_ERR_ARG);
    test_image_free(&grey);
    test_image_free(&deep);
    test_image_free(&bins);
    test_image_free(&few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_oracle),
        cmocka_unit_test(counts_every_pixel_once),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
