/* SPDX-License-Identifier: Apache-2.0 */
/* Stage filter against the oracle, and the weights of box and Gaussian. */
#include <math.h>

#include "core/pipeline/stages.h"
#include "tests/unit/image_cases.h"

static void equals_the_oracle(void **state)
{
    (void)state;
    static const int windows[][2] = {{1, 1}, {3, 3}, {5, 1}, {1, 7}, {31, 3}, {9, 31}, {31, 31}};
    for (int i = 0; i < COUNT(sizes) * PATTERNS; i++)
        for (int w = 0; w < 2 * COUNT(windows); w++) {
            const int *size = sizes[i / PATTERNS], *window = windows[w / 2];
            struct plx_filter filter;
            char what[64];
            snprintf(what, sizeof what, "%s, %s %d x %d", pattern_name[i % PATTERNS], w % 2 ? "Gaussian" : "box", window[0],
                     window[1]);
            struct plx_image src = pattern_new(size[0], size[1], PLX_U8, (enum pattern)(i % PATTERNS));
            struct plx_image got = test_image_new(size[0], size[1], PLX_U8, PADDING),
                             expected = test_image_new(size[0], size[1], PLX_U8, 0);
            assert_int_equal(plx_filter_make(w % 2, window[0], window[1], &filter), 0);
            assert_int_equal(stages->ops->filter(stages, &src, &filter, &got), 0);
            oracle_filter(&src, &filter, &expected);
            expect_equal(&got, &expected, what);
            test_image_free(&src);
        }
}

/* A filter keeps a flat image, whatever its level, and size 1 keeps any. */
static void keeps_what_is_flat(void **state)
{
    (void)state;
    struct plx_filter filter;
    assert_int_equal(plx_filter_make(true, 31, 31, &filter), 0);
    for (int level = 0; level < 256; level++) {
        struct plx_image src = test_image_new(33, 5, PLX_U8, 0), dst = test_image_new(33, 5, PLX_U8, PADDING);
        memset(src.data, level, 33 * 5);
        assert_int_equal(stages->ops->filter(stages, &src, &filter, &dst), 0);
        expect_equal(&dst, &src, "flat");
    }
}

static void weights_sum_to_one(void **state)
{
    (void)state;
    for (int size = 1; size <= 31; size += 2)
        for (int gaussian = 0; gaussian <= 1; gaussian++) {
            struct plx_filter filter;
            uint32_t sum_x = 0, sum_y = 0;
            assert_int_equal(plx_filter_make(gaussian, size, 32 - size, &filter), 0);
            for (int i = 0; i < size; i++) {
                sum_x += filter.weight_x[i];
                assert_int_equal(filter.weight_x[i], filter.weight_x[size - 1 - i]);
                const int far = i - size / 2, centre = size / 2;
                double sigma = 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
                double ratio = gaussian ? exp(-far * far / (2 * sigma * sigma)) : 1;
                assert_true(fabs(filter.weight_x[i] - ratio * filter.weight_x[centre]) <= 32); /* the centre takes the rest */
            }
            for (int i = 0; i < 32 - size; i++)
                sum_y += filter.weight_y[i];
            assert_int_equal(sum_x, 65536);
            assert_int_equal(sum_y, 65536);
        }
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct plx_filter filter, broken;
    assert_int_equal(plx_filter_make(false, 2, 3, &filter), PLX_ERR_RANGE);
    assert_int_equal(plx_filter_make(false, 3, 33, &filter), PLX_ERR_RANGE);
    assert_int_equal(plx_filter_make(false, 0, 3, &filter), PLX_ERR_RANGE);
    assert_int_equal(plx_filter_make(false, 3, 3, &filter), 0);

    struct plx_image src = pattern_new(7, 7, PLX_U8, NOISE), dst = test_image_new(7, 7, PLX_U8, 0),
                     narrow = test_image_new(6, 7, PLX_U8, 0);
    assert_int_equal(stages->ops->filter(stages, &src, &filter, &narrow), PLX_ERR_ARG);
    broken = filter;
    broken.weight_x[0]++;
    assert_int_equal(stages->ops->filter(stages, &src, &broken, &dst), PLX_ERR_ARG);
    broken = filter;
    broken.size_y = 33;
    assert_int_equal(stages->ops->filter(stages, &src, &broken, &dst), PLX_ERR_ARG);
    broken.size_y = 2;
    assert_int_equal(stages->ops->filter(stages, &src, &broken, &dst), PLX_ERR_ARG);
    test_image_free(&src);
    test_image_free(&dst);
    test_image_free(&narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_oracle),
        cmocka_unit_test(keeps_what_is_flat),
        cmocka_unit_test(weights_sum_to_one),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
