/* SPDX-License-Identifier: Apache-2.0 */
/* Stage rectify against the oracle, on maps that leave the image on every side. */
#include "tests/unit/image_cases.h"

static struct plx_remap map_new(int width, int height)
{
    struct plx_remap map = {malloc((size_t)width * (size_t)height * sizeof(struct plx_remap_entry)), width, height};
    assert_non_null(map.entry);
    return map;
}

/* Positions in and around a source of SIZE, some at the very ends of what an entry can say. */
static int16_t random_position(int size)
{
    static const int16_t ends[] = {INT16_MIN, INT16_MAX, -1, 0};
    if (random_below(&random_state, 8) == 0)
        return ends[random_below(&random_state, 4)];
    return (int16_t)((int)random_below(&random_state, (uint32_t)size + 6) - 3);
}

static void equals_the_oracle(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(sizes) * PATTERNS; i++)
        for (int type = PLX_U8; type <= PLX_U16; type++) {
            const int *size = sizes[i / PATTERNS], *target = sizes[COUNT(sizes) - 1 - i / PATTERNS];
            struct plx_image src = pattern_new(size[0], size[1], (enum plx_type)type, (enum pattern)(i % PATTERNS));
            struct plx_image got = test_image_new(target[0], target[1], (enum plx_type)type, PADDING);
            struct plx_image expected = test_image_new(target[0], target[1], (enum plx_type)type, 0);
            struct plx_remap map = map_new(target[0], target[1]);
            uint32_t masked = 1, expected_masked;
            for (int n = 0; n < target[0] * target[1]; n++)
                map.entry[n] = (struct plx_remap_entry){
                    random_position(size[0]), random_position(size[1]), (uint8_t)random_below(&random_state, 32),
                    (uint8_t)(random_below(&random_state, 2) ? random_below(&random_state, 32) : 0)};
            assert_int_equal(stages->ops->rectify(stages, &src, &map, &got, &masked), 0);
            oracle_rectify(&src, &map, &expected, &expected_masked);
            assert_int_equal(masked, expected_masked);
            expect_equal(&got, &expected, pattern_name[i % PATTERNS]);
            test_image_free(&src);
            free(map.entry);
        }
}

static void identity_changes_nothing_and_masks_nothing(void **state)
{
    (void)state;
    struct plx_image src = pattern_new(513, 7, PLX_U16, NOISE), dst = test_image_new(513, 7, PLX_U16, PADDING);
    struct plx_remap map = map_new(513, 7);
    uint32_t masked = 1;
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 513; x++)
            map.entry[y * 513 + x] = (struct plx_remap_entry){(int16_t)x, (int16_t)y, 0, 0};
    assert_int_equal(stages->ops->rectify(stages, &src, &map, &dst, &masked), 0);
    assert_int_equal(masked, 0);
    expect_equal(&dst, &src, "identity");
    free(map.entry);
}

/* Halves are rounded up; a neighbour outside counts as 0; the position half a pixel outside is masked. */
static void known_pixels(void **state)
{
    (void)state;
    uint8_t pixels[4] = {10, 13, 20, 40}, out[4];
    struct plx_image src = {pixels, 2, 2, 2, PLX_U8}, dst = {out, 4, 1, 4, PLX_U8};
    struct plx_remap_entry entry[4] = {{0, 0, 16, 0}, {0, 0, 16, 16}, {1, 1, 16, 0}, {1, 1, 0, 0}};
    struct plx_remap map = {entry, 4, 1};
    uint32_t masked;
    assert_int_equal(stages->ops->rectify(stages, &src, &map, &dst, &masked), 0);
    assert_int_equal(out[0], 12); /* 11.5 */
    assert_int_equal(out[1], 21); /* 20.75 */
    assert_int_equal(out[2], 20); /* half of 40 */
    assert_int_equal(out[3], 40);
    assert_int_equal(masked, 1);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct plx_image src = pattern_new(7, 7, PLX_U8, NOISE), dst = test_image_new(7, 7, PLX_U8, 0),
                     deep = test_image_new(7, 7, PLX_U16, 0);
    struct plx_remap map = map_new(7, 7), narrow = {map.entry, 6, 7}, empty = {NULL, 7, 7};
    uint32_t masked = 77;
    assert_int_equal(stages->ops->rectify(stages, &src, &map, &deep, &masked), PLX_ERR_ARG);
    assert_int_equal(stages->ops->rectify(stages, &src, &narrow, &dst, &masked), PLX_ERR_ARG);
    assert_int_equal(stages->ops->rectify(stages, &src, &empty, &dst, &masked), PLX_ERR_ARG);
    assert_int_equal(stages->ops->rectify(stages, &src, &map, &dst, NULL), PLX_ERR_ARG);
    assert_int_equal(masked, 77);
    test_image_free(&src);
    test_image_free(&dst);
    test_image_free(&deep);
    free(map.entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_oracle),
        cmocka_unit_test(identity_changes_nothing_and_masks_nothing),
        cmocka_unit_test(known_pixels),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
