/* SPDX-License-Identifier: Apache-2.0 */
/* The obstacle mask and what the pipeline makes of it: mask, opening, closing, each beside its plain scalar oracle. */
#include "core/ground/ground.h"
#include "oracle/ground.h"
#include "tests/unit/image_cases.h"

static const struct plx_ground grounds[] = {
    {0},
    {.a = 20000, .b = 250000, .c = -30000000, .camera_height_um = 1000000, .valid = 1},
    {.a = -9000, .b = 310000, .c = 1234567, .camera_height_um = 700000, .valid = 1},
    {.a = 65536, .b = 131072, .c = 6553600, .camera_height_um = 1000000, .valid = 1}, /* whole: heights of exactly 0 */
    {.a = 3000000, .b = 655360000, .c = -4000000000, .camera_height_um = 5999999, .valid = 1},
};

static const struct plx_mask_params params[] = {
    {900, 60, 0, 0, 200000, 2000000, 0, false},
    {65535, 0, 0, 0, 0, 2000000000, 700, true},
    {900, 60, -80, 0, 300000, 900000, 40, false},
    {900, 0, 77, 0, 50000, 1500000, 8192, true},
    {400, 400, 399, 0, 0, 0, 0, true},
    {65535, 0, -1, 0, 0, 0, 100, false},
};

enum content { INVALID, ZERO, EQUAL, TOP, ANY, BOXES, CONTENTS };
static const char *const content_name[] = {"all invalid", "all zero", "all equal", "all 65534", "noise", "boxes"};

/* BOXES: the ground itself, that is height 0 to within the disparity's step, with things of any height on it. */
static struct plx_image disparity_new(int width, int height, enum content content, const struct plx_ground *ground)
{
    struct plx_image image = test_image_new(width, height, PLX_U16, PADDING);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int64_t plane = (ground->a * x + ground->b * y + ground->c) >> 16;
            const int64_t value[CONTENTS] = {PLX_DISPARITY_INVALID,
                                             0,
                                             400,
                                             65534,
                                             random_below(&random_state, 4) ? random_below(&random_state, 1100) : 65535,
                                             plane + (x / 5 % 3 == 0 && y / 4 % 2 ? random_below(&random_state, 200) : 0)};
            const int64_t here = value[content];
            ((uint16_t *)plx_row(&image, y))[x] = (uint16_t)(here < 0 || here > 65535 ? (int)PLX_DISPARITY_INVALID : here);
        }
    return image;
}

static void compare(const struct plx_image *disparity, const struct plx_ground *ground, const struct plx_mask_params *mask,
                    const char *what)
{
    const int width = disparity->width, height = disparity->height;
    struct plx_image got[3], expected[3];
    for (int i = 0; i < 3; i++) {
        got[i] = test_image_new(width, height, PLX_U8, PADDING);
        expected[i] = test_image_new(width, height, PLX_U8, 0);
    }
    assert_int_equal(stages->ops->mask(stages, disparity, ground, mask, &got[0]), 0);
    assert_int_equal(stages->ops->image.morphology(stages, PLX_OPEN, &got[0], 3, 3, &got[1]), 0);
    assert_int_equal(stages->ops->image.morphology(stages, PLX_CLOSE, &got[1], 5, 5, &got[2]), 0);
    oracle_mask(disparity, ground, mask, &expected[0]);
    oracle_morphology(PLX_OPEN, &expected[0], 3, 3, &expected[1]);
    oracle_morphology(PLX_CLOSE, &expected[1], 5, 5, &expected[2]);
    for (int i = 0; i < 3; i++)
        expect_equal(&got[i], &expected[i], what);
}

static void mask_open_and_close_equal_the_oracle(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(sizes) * CONTENTS; i++)
        for (int g = 0; g < COUNT(grounds); g++)
            for (int p = 0; p < COUNT(params); p++) {
                const enum content content = (enum content)(i % CONTENTS);
                char what[64];
                snprintf(what, sizeof what, "mask of %s, ground %d, range %d", content_name[content], g, p);
                struct plx_image disparity =
                    disparity_new(sizes[i / CONTENTS][0], sizes[i / CONTENTS][1], content, &grounds[g]);
                compare(&disparity, &grounds[g], &params[p], what);
                test_image_free(&disparity);
            }
}

/* fx 500 px, baseline 0.1 m, camera 1 m over level ground, horizon on row 0: at row 200 the ground is 2.5 m away, which is 20
 * px, less a hair. Both ends of the range are kept; 480 is 1/3 m above ground. */
static void known_pixels(void **state)
{
    (void)state;
    const struct plx_ground level = {.b = 16 * 6554 /* 0.1 px a row */, .camera_height_um = 1000000, .valid = 1};
    const struct plx_mask_params range = {
        .near_disparity = 480, .far_disparity = 320, .min_height_um = 0, .max_height_um = 333200};
    const struct {
        uint16_t disparity;
        uint8_t with_ground, without;
    } cases[] = {{319, 0, 0},     {320, 0, 255}, {321, 255, 255}, {400, 255, 255},
                 {479, 255, 255}, {480, 0, 255}, {481, 0, 0},     {0xFFFF, 0, 0}};

    struct plx_image disparity = test_image_new(1, 201, PLX_U16, 0), mask = test_image_new(1, 201, PLX_U8, 0);
    for (int i = 0; i < COUNT(cases); i++) {
        ((uint16_t *)disparity.data)[200] = cases[i].disparity;
        assert_int_equal(stages->ops->mask(stages, &disparity, &grounds[0], &range, &mask), 0);
        assert_int_equal(((uint8_t *)mask.data)[200], cases[i].without);
        assert_int_equal(stages->ops->mask(stages, &disparity, &level, &range, &mask), 0);
        assert_int_equal(((uint8_t *)mask.data)[200], cases[i].with_ground);
    }
    test_image_free(&disparity);
    test_image_free(&mask);
}

/* fx 500 px: at 20 px a veil begins where the disparity changes by more than 2.4 px over 6 columns. */
static void veils_are_no_obstacles(void **state)
{
    (void)state;
    const struct plx_mask_params range = {
        .near_disparity = 900, .far_disparity = 20, .max_height_um = 2000000, .focal_px = 500};
    const struct {
        uint16_t left, right;
        uint8_t expected;
    } cases[] = {{320, 320, 255}, {339, 301, 255}, {301, 339, 255},    {339, 300, 0},
                 {300, 339, 0},   {900, 100, 0},   {339, 0xFFFF, 255}, {0xFFFF, 300, 255}};
    struct plx_image disparity = test_image_new(7, 1, PLX_U16, 0), mask = test_image_new(7, 1, PLX_U8, 0);
    uint16_t *value = disparity.data;
    for (int i = 0; i < COUNT(cases); i++) {
        for (int x = 0; x < 7; x++)
            value[x] = 320;
        value[0] = cases[i].left;
        value[6] = cases[i].right;
        assert_int_equal(stages->ops->mask(stages, &disparity, &grounds[0], &range, &mask), 0);
        assert_int_equal(((uint8_t *)mask.data)[3], cases[i].expected);
    }
    test_image_free(&disparity);
    test_image_free(&mask);
}

static void nothing_stands_on_a_ground_that_is_not_found(void **state)
{
    (void)state;
    struct plx_mask_params range = {.near_disparity = 900, .far_disparity = 20, .max_height_um = 2000000};
    struct plx_image disparity = test_image_new(1, 1, PLX_U16, 0), mask = test_image_new(1, 1, PLX_U8, 0);
    *(uint16_t *)disparity.data = 320;
    for (int needed = 0; needed < 2; needed++) {
        range.ground_needed = needed == 1;
        assert_int_equal(stages->ops->mask(stages, &disparity, &grounds[0], &range, &mask), 0);
        assert_int_equal(*(uint8_t *)mask.data, needed ? 0 : 255);
    }
    test_image_free(&disparity);
    test_image_free(&mask);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct plx_image disparity = test_image_new(8, 8, PLX_U16, 0), mask = test_image_new(8, 8, PLX_U8, 0);
    struct plx_image tall = test_image_new(8, 9, PLX_U8, 0), wide = test_image_new(SIDE + 1, 1, PLX_U16, 0);
    struct plx_image wide_mask = test_image_new(SIDE + 1, 1, PLX_U8, 0);
    assert_int_equal(stages->ops->mask(stages, &disparity, &grounds[0], &params[0], &tall), PLX_ERR_ARG);
    assert_int_equal(stages->ops->mask(stages, &mask, &grounds[0], &params[0], &mask), PLX_ERR_ARG);
    assert_int_equal(stages->ops->mask(stages, &disparity, &grounds[0], &params[0], &disparity), PLX_ERR_ARG);
    assert_int_equal(stages->ops->mask(stages, &wide, &grounds[0], &params[0], &wide_mask), PLX_ERR_RANGE);
    test_image_free(&disparity);
    test_image_free(&mask);
    test_image_free(&tall);
    test_image_free(&wide);
    test_image_free(&wide_mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mask_open_and_close_equal_the_oracle),
        cmocka_unit_test(known_pixels),
        cmocka_unit_test(veils_are_no_obstacles),
        cmocka_unit_test(nothing_stands_on_a_ground_that_is_not_found),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
