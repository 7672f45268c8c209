/* SPDX-License-Identifier: Apache-2.0 */
/* Stage sharpness against the oracle. */
#include "core/checks/picture_sums.h"
#include "tests/unit/image_cases.h"

static void equals_the_oracle(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(sizes) * PATTERNS; i++) {
        const int width = sizes[i / PATTERNS][0], height = sizes[i / PATTERNS][1], columns = plx_sharpness_columns(height);
        struct plx_image grey = pattern_new(width, height, PLX_U8, (enum pattern)(i % PATTERNS));
        struct plx_image got = test_image_new(columns, 2, PLX_U32, PADDING), expected = test_image_new(columns, 2, PLX_U32, 0);
        assert_int_equal(stages->ops->sharpness(stages, &grey, &got), 0);
        oracle_sharpness(&grey, &expected);
        expect_equal(&got, &expected, pattern_name[i % PATTERNS]);
        test_image_free(&grey);
    }
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct plx_image grey = pattern_new(7, 33, PLX_U8, NOISE), deep = pattern_new(7, 33, PLX_U16, NOISE);
    struct plx_image wide = pattern_new(SIDE + 1, 33, PLX_U8, NOISE);
    struct plx_image steps = test_image_new(3, 2, PLX_U32, 0), few = test_image_new(2, 2, PLX_U32, 0);
    assert_int_equal(stages->ops->sharpness(stages, &grey, &steps), 0);
    assert_int_equal(stages->ops->sharpness(stages, &deep, &steps), PLX_ERR_ARG);
    assert_int_equal(stages->ops->sharpness(stages, &grey, &few), PLX_ERR_ARG);
    assert_int_equal(stages->ops->sharpness(stages, &wide, &steps), PLX_ERR_RANGE);
    test_image_free(&grey);
    test_image_free(&deep);
    test_image_free(&wide);
    test_image_free(&steps);
    test_image_free(&few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_oracle),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
