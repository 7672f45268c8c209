/* SPDX-License-Identifier: Apache-2.0 */
/* Bad-pixel rates on images small enough to count by hand. */
#include <math.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "app/evaluate/evaluate.h"
#include "tests/cmocka.h"

#define WIDTH 7
#define NONE PLX_DISPARITY_INVALID

/* True disparities 10 px (x 256), one unknown; found ones off by 0, 1, 1 1/16, 2, 2.5 and 3 1/16 px. */
static uint16_t truth_row[2][WIDTH + 3] = {{2560, 2560, 2560, 2560, 2560, 2560, 0}, {2560, 2560, 2560, 2560, 2560, 2560, 2560}};
static uint16_t found_row[2][WIDTH + 1] = {{160, 176, 177, 128, 120, 209, 500}, {NONE, 160, 160, 160, 160, 160, 160}};
static uint8_t mask_row[2][WIDTH + 2] = {{255, 255, 255, 255, 255, 255, 255}, {255, 0, 0, 0, 0, 0, 254}};

static const struct plx_image truth = {truth_row, WIDTH, 2, sizeof truth_row[0], PLX_U16};
static const struct plx_image found = {found_row, WIDTH, 2, sizeof found_row[0], PLX_U16};
static const struct plx_image mask = {mask_row, WIDTH, 2, sizeof mask_row[0], PLX_U8};

static void counts_within_the_mask(void **state)
{
    (void)state;
    struct plx_accuracy sum;
    assert_int_equal(plx_evaluate(&found, 0, &truth, 256, &mask, &sum), 0);
    assert_int_equal(sum.counted, 7);
    assert_int_equal(sum.valid, 6);
    assert_int_equal(sum.bad[0], 4); /* an error of exactly 1 px is not above it */
    assert_int_equal(sum.bad[1], 2);
    assert_int_equal(sum.bad[2], 1);

    struct plx_error_rates rates;
    plx_accuracy_rates(&sum, &rates);
    assert_float_equal(rates.density, 100.0 * 6 / 7, 1e-9);
    assert_float_equal(rates.bad[0], 100.0 * 4 / 6, 1e-9);
    assert_float_equal(rates.bad_or_invalid, 100.0 * 2 / 7, 1e-9);
}

static void counts_everything_without_one(void **state)
{
    (void)state;
    struct plx_accuracy sum;
    assert_int_equal(plx_evaluate(&found, 0, &truth, 256, NULL, &sum), 0);
    assert_int_equal(sum.counted, 13);
    assert_int_equal(sum.valid, 12);
    assert_int_equal(sum.bad[0], 4);
}

static void minimum_disparity_and_scale_count(void **state)
{
    (void)state;
    struct plx_accuracy sum;
    assert_int_equal(plx_evaluate(&found, 10, &truth, 128, &mask, &sum), 0); /* both 10 px more */
    assert_int_equal(sum.bad[0], 4);
    assert_int_equal(plx_evaluate(&found, -4, &truth, 256, &mask, &sum), 0);
    assert_int_equal(sum.bad[2], 3); /* off by -4, -3, -2 15/16, -6, -6.5, -15/16 */
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct plx_accuracy sum = {.counted = 99};
    struct plx_image narrow = truth, wrong_type = mask;
    narrow.width--;
    wrong_type.type = PLX_U16;
    assert_int_equal(plx_evaluate(&found, 0, &narrow, 256, NULL, &sum), PLX_ERR_ARG);
    assert_int_equal(plx_evaluate(&found, 0, &truth, 0, NULL, &sum), PLX_ERR_ARG);
    assert_int_equal(plx_evaluate(&found, 0, &truth, NAN, NULL, &sum), PLX_ERR_ARG);
    assert_int_equal(plx_evaluate(&found, 0, &truth, 256, &wrong_type, &sum), PLX_ERR_ARG);
    assert_int_equal(sum.counted, 99);
}

static void means_are_image_by_image(void **state)
{
    (void)state;
    const struct plx_error_rates rates[2] = {{.density = 100, .bad = {10, 4, 2}, .bad_or_invalid = 2},
                                             {.density = 50, .bad = {0, 0, 0}, .bad_or_invalid = 50}};
    struct plx_error_rates mean;
    plx_rates_mean(rates, 2, &mean);
    assert_float_equal(mean.density, 75, 1e-9);
    assert_float_equal(mean.bad[0], 5, 1e-9);
    assert_float_equal(mean.bad[2], 1, 1e-9);
    assert_float_equal(mean.bad_or_invalid, 26, 1e-9);
}

static void nothing_to_divide_by_is_not_a_number(void **state)
{
    (void)state;
    struct plx_error_rates rates;
    plx_accuracy_rates(&(struct plx_accuracy){.counted = 0}, &rates);
    assert_true(isnan(rates.density) && isnan(rates.bad[0]) && isnan(rates.bad_or_invalid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_within_the_mask),
        cmocka_unit_test(counts_everything_without_one),
        cmocka_unit_test(minimum_disparity_and_scale_count),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(means_are_image_by_image),
        cmocka_unit_test(nothing_to_divide_by_is_not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
