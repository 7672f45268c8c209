/* SPDX-License-Identifier: Apache-2.0 */
/* The image operations against their oracles. */
#include "tests/affine.h"
#include "tests/unit/image_cases.h"

static void binary_operations(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(sizes) * PATTERNS * PATTERNS; i++) {
        const int *size = sizes[i / (PATTERNS * PATTERNS)];
        struct plx_image a = pattern_new(size[0], size[1], PLX_U8, (enum pattern)(i / PATTERNS % PATTERNS));
        struct plx_image b = pattern_new(size[0], size[1], PLX_U8, (enum pattern)(i % PATTERNS));
        for (int op = PLX_OP_ABSDIFF; op <= PLX_OP_XOR; op++) {
            struct plx_image got = test_image_new(size[0], size[1], PLX_U8, PADDING),
                             expected = test_image_new(size[0], size[1], PLX_U8, 0);
            char what[32];
            snprintf(what, sizeof what, "binary operation %d", op);
            assert_int_equal(stages->ops->image.binary(stages, (enum plx_binary_op)op, &a, &b, &got), 0);
            oracle_binary((enum plx_binary_op)op, &a, &b, &expected);
            expect_equal(&got, &expected, what);
        }
        test_image_free(&a);
        test_image_free(&b);
    }
}

static void invert_threshold_and_sum(void **state)
{
    (void)state;
    static const int thresholds[] = {-1, 0, 1, 127, 254, 255, 256};
    for (int i = 0; i < COUNT(sizes) * PATTERNS; i++) {
        const int *size = sizes[i / PATTERNS];
        const char *what = pattern_name[i % PATTERNS];
        struct plx_image src = pattern_new(size[0], size[1], PLX_U8, (enum pattern)(i % PATTERNS));
        struct plx_image got = test_image_new(size[0], size[1], PLX_U8, PADDING),
                         expected = test_image_new(size[0], size[1], PLX_U8, 0);
        uint64_t sum = 77;
        assert_int_equal(stages->ops->image.sum(stages, &src, &sum), 0);
        assert_int_equal(sum, oracle_sum(&src));
        assert_int_equal(stages->ops->image.invert(stages, &src, &got), 0);
        oracle_invert(&src, &expected);
        expect_equal(&got, &expected, what);
        for (int t = 0; t < COUNT(thresholds); t++) {
            got = test_image_new(size[0], size[1], PLX_U8, PADDING), expected = test_image_new(size[0], size[1], PLX_U8, 0);
            assert_int_equal(stages->ops->image.threshold(stages, &src, thresholds[t], &got), 0);
            oracle_threshold(&src, thresholds[t], &expected);
            expect_equal(&got, &expected, what);
        }
        test_image_free(&src);
    }
}

static void morphology(void **state)
{
    (void)state;
    static const int windows[][2] = {{1, 1}, {3, 3}, {5, 1}, {1, 7}, {31, 3}, {3, 31}};
    for (int i = 0; i < COUNT(sizes) * PATTERNS; i++)
        for (int w = 0; w < COUNT(windows) * 4; w++) {
            const int *size = sizes[i / PATTERNS], *window = windows[w / 4];
            struct plx_image src = pattern_new(size[0], size[1], PLX_U8, (enum pattern)(i % PATTERNS));
            struct plx_image got = test_image_new(size[0], size[1], PLX_U8, PADDING),
                             expected = test_image_new(size[0], size[1], PLX_U8, 0);
            char what[64];
            snprintf(what, sizeof what, "%s, morphology %d, %d x %d", pattern_name[i % PATTERNS], w % 4, window[0], window[1]);
            assert_int_equal(
                stages->ops->image.morphology(stages, (enum plx_morphology)(w % 4), &src, window[0], window[1], &got), 0);
            oracle_morphology((enum plx_morphology)(w % 4), &src, window[0], window[1], &expected);
            expect_equal(&got, &expected, what);
            test_image_free(&src);
        }
}

static void affine(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(sizes) * PATTERNS; i++)
        for (int m = 0; m < COUNT(affine_matrices); m++) {
            const int *size = sizes[i / PATTERNS], *target = sizes[COUNT(sizes) - 1 - i / PATTERNS];
            struct plx_image src = pattern_new(size[0], size[1], PLX_U8, (enum pattern)(i % PATTERNS));
            struct plx_image got = test_image_new(target[0], target[1], PLX_U8, PADDING);
            struct plx_image expected = test_image_new(target[0], target[1], PLX_U8, 0);
            assert_int_equal(stages->ops->image.affine(stages, &src, affine_matrices[m], &got), 0);
            oracle_affine(&src, affine_matrices[m], &expected);
            expect_equal(&got, &expected, "affine");
            test_image_free(&src);
        }
}

static void template_matching(void **state)
{
    (void)state;
    static const int cases[][4] = {{1, 1, 1, 1},  {7, 7, 1, 1},   {7, 7, 7, 7},   {7, 7, 3, 2},
                                   {64, 9, 9, 9}, {513, 7, 8, 5}, {37, 41, 11, 1}};
    for (int i = 0; i < COUNT(cases) * PATTERNS; i++) {
        const int *size = cases[i / PATTERNS];
        struct plx_image image = pattern_new(size[0], size[1], PLX_U8, (enum pattern)(i % PATTERNS));
        struct plx_image patch = pattern_new(size[2], size[3], PLX_U8, NOISE);
        struct plx_template_match got, expected;
        assert_int_equal(stages->ops->image.match_template(stages, &image, &patch, &got), 0);
        oracle_match_template(&image, &patch, &expected);
        if (got.x != expected.x || got.y != expected.y || got.score != expected.score)
            fail_msg("%s %d x %d in %d x %d: (%d, %d) %d instead of (%d, %d) %d; PLX_TEST_SEED=%llu",
                     pattern_name[i % PATTERNS], size[2], size[3], size[0], size[1], got.x, got.y, got.score, expected.x,
                     expected.y, expected.score, (unsigned long long)test_seed());
        test_image_free(&image);
        test_image_free(&patch);
    }
}

/* A patch cut out of the image is found where it was, also when contrast and brightness changed. */
static void template_is_found(void **state)
{
    (void)state;
    struct plx_image image = pattern_new(200, 100, PLX_U8, NOISE), patch = test_image_new(16, 12, PLX_U8, 0);
    struct plx_template_match best;
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 16; x++)
            ((uint8_t *)plx_row(&patch, y))[x] = (uint8_t)(((uint8_t *)plx_row(&image, 61 + y))[143 + x] / 2 + 90);
    assert_int_equal(stages->ops->image.match_template(stages, &image, &patch, &best), 0);
    assert_int_equal(best.x, 143);
    assert_int_equal(best.y, 61);
    assert_true(best.score > 32700);
    test_image_free(&image);
    test_image_free(&patch);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    const struct plx_image_ops *ops = &stages->ops->image;
    struct plx_image a = pattern_new(300, 300, PLX_U8, NOISE), b = pattern_new(299, 300, PLX_U8, NOISE);
    struct plx_image deep = pattern_new(300, 300, PLX_U16, NOISE), dst = test_image_new(300, 300, PLX_U8, 0);
    struct plx_template_match best;
    uint64_t sum;
    assert_int_equal(ops->binary(stages, PLX_OP_ADD, &a, &b, &dst), PLX_ERR_ARG);
    assert_int_equal(ops->binary(stages, (enum plx_binary_op)8, &a, &a, &dst), PLX_ERR_ARG);
    assert_int_equal(ops->invert(stages, &deep, &dst), PLX_ERR_ARG);
    assert_int_equal(ops->threshold(stages, &b, 3, &dst), PLX_ERR_ARG);
    assert_int_equal(ops->morphology(stages, PLX_OPEN, &a, 2, 3, &dst), PLX_ERR_ARG);
    assert_int_equal(ops->morphology(stages, PLX_OPEN, &a, 3, 33, &dst), PLX_ERR_ARG);
    assert_int_equal(ops->morphology(stages, (enum plx_morphology)4, &a, 3, 3, &dst), PLX_ERR_ARG);
    assert_int_equal(ops->affine(stages, &a, NULL, &dst), PLX_ERR_ARG);
    assert_int_equal(ops->sum(stages, &deep, &sum), PLX_ERR_ARG);
    assert_int_equal(ops->match_template(stages, &b, &a, &best), PLX_ERR_ARG);
    assert_int_equal(ops->match_template(stages, &a, &a, &best), PLX_ERR_RANGE);
    test_image_free(&a);
    test_image_free(&b);
    test_image_free(&deep);
    test_image_free(&dst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_operations),
        cmocka_unit_test(invert_threshold_and_sum),
        cmocka_unit_test(morphology),
        cmocka_unit_test(affine),
        cmocka_unit_test(template_matching),
        cmocka_unit_test(template_is_found),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
