/* SPDX-License-Identifier: Apache-2.0 */
/* Stage temporal against the oracle, over several frames. */
#include "tests/unit/image_cases.h"

/* Values near each other and near both ends, some invalid. */
static struct plx_image disparity_new(int width, int height)
{
    struct plx_image image = test_image_new(width, height, PLX_U16, PADDING);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uint32_t kind = random_below(&random_state, 4);
            ((uint16_t *)plx_row(&image, y))[x] = (uint16_t)(kind == 0   ? PLX_DISPARITY_INVALID
                                                             : kind == 1 ? 65534 - random_below(&random_state, 40)
                                                                         : random_below(&random_state, 60));
        }
    return image;
}

static void equals_the_oracle(void **state)
{
    (void)state;
    static const struct plx_temporal parameters[] = {{0, 64}, {16, 1}, {16, 128}, {40, 256}, {65535, 77}};
    for (int i = 0; i < COUNT(sizes); i++)
        for (int p = 0; p < COUNT(parameters); p++) {
            int width = sizes[i][0], height = sizes[i][1];
            struct plx_image history = disparity_new(width, height),
                             expected_history = test_image_new(width, height, PLX_U16, 0);
            for (int y = 0; y < height; y++)
                memcpy(plx_row(&expected_history, y), plx_row(&history, y), (size_t)width * 2);
            for (int frame = 0; frame < 3; frame++) {
                struct plx_image src = disparity_new(width, height), got = test_image_new(width, height, PLX_U16, PADDING);
                struct plx_image expected = test_image_new(width, height, PLX_U16, 0);
                assert_int_equal(stages->ops->temporal(stages, &src, &parameters[p], &history, &got), 0);
                oracle_temporal(&src, &parameters[p], &expected_history, &expected);
                assert_true(test_image_equal(&history, &got));
                expect_equal(&got, &expected, "temporal");
                test_image_free(&src);
            }
            expect_equal(&history, &expected_history, "history");
        }
}

static void known_pixels(void **state)
{
    (void)state;
    /* near: 3/4 old; far: new; unknown before: new; invalid now: invalid */
    uint16_t now[4] = {108, 200, 100, 0xFFFF}, before[4] = {100, 100, 0xFFFF, 100}, out[4];
    struct plx_image src = {now, 4, 1, 8, PLX_U16}, history = {before, 4, 1, 8, PLX_U16}, dst = {out, 4, 1, 8, PLX_U16};
    assert_int_equal(stages->ops->temporal(stages, &src, &(struct plx_temporal){16, 64}, &history, &dst), 0);
    assert_memory_equal(out, ((uint16_t[4]){102, 200, 100, 0xFFFF}), sizeof out);
    assert_memory_equal(before, out, sizeof out);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    uint16_t a[4] = {0}, b[4] = {0}, c[4] = {0};
    struct plx_image src = {a, 4, 1, 8, PLX_U16}, history = {b, 4, 1, 8, PLX_U16}, dst = {c, 2, 2, 4, PLX_U16};
    assert_int_equal(stages->ops->temporal(stages, &src, &(struct plx_temporal){16, 64}, &history, &dst), PLX_ERR_ARG);
    assert_int_equal(stages->ops->temporal(stages, &src, &(struct plx_temporal){16, 0}, &history, &src), PLX_ERR_ARG);
    assert_int_equal(stages->ops->temporal(stages, &src, &(struct plx_temporal){16, 257}, &history, &src), PLX_ERR_ARG);
    assert_int_equal(stages->ops->temporal(stages, &src, &(struct plx_temporal){-1, 64}, &history, &src), PLX_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_oracle),
        cmocka_unit_test(known_pixels),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
