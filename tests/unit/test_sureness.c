/* SPDX-License-Identifier: Apache-2.0 */
/* Reliability, coverage and sparsification on a frame small enough to count by hand; what the tables of confidence promise. */
#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "app/evaluate/sureness.h"
#include "core/pipeline/confidence.h"
#include "core/pipeline/pipeline.h"
#include "tests/cmocka.h"

#define WIDTH 10
#define NONE PLX_DISPARITY_INVALID

struct small {
    struct plx_frame frame;
    uint16_t dense[WIDTH], strict[WIDTH];
    uint8_t confidence[WIDTH];
};

static uint16_t truth_row[WIDTH];
static uint8_t mask_row[WIDTH];
static const struct plx_image truth = {truth_row, WIDTH, 1, sizeof truth_row, PLX_U16};
static const struct plx_image mask = {mask_row, WIDTH, 1, sizeof mask_row, PLX_U8};

static void set_plane(struct small *small, enum plx_plane_id id, void *data)
{
    small->frame.plane[id] = (struct plx_plane){.offset = (uint32_t)((char *)data - (char *)small),
                                                .pitch = WIDTH * plx_plane_element(id),
                                                .width = WIDTH,
                                                .height = 1,
                                                .element = plx_plane_element(id)};
}

/* True disparities of 20 px; the first pixel has no truth, the last lies outside the mask. */
static struct small small_frame(void)
{
    struct small small = {.frame.min_disparity = 4,
                          /* px - 4: right, exactly 1 px off, 17/16 off, wrong, right, right, none, right, wrong, wrong */
                          .dense = {256, 272, 273, 400, 256, 256, NONE, 256, 0, 0},
                          .strict = {256, 256, 264, NONE, 258, 288, NONE, 256, 0, 0},
                          .confidence = {9, 51, 51, 51, 204, 204, 0, 255, 0, 255},
                          .frame.errors = {.known = 1}};
    for (int i = 1; i < PLX_CONFIDENCES; i++) {
        small.frame.errors.sigma_px[i] = 0.25F;
        small.frame.errors.bound_px[i] = 1;
    }
    for (int x = 0; x < WIDTH; x++) {
        truth_row[x] = x == 0 ? 0 : 20 * 256;
        mask_row[x] = x == WIDTH - 1 ? 254 : 255;
    }
    return small;
}

static void place(struct small *small)
{
    set_plane(small, PLX_PLANE_DENSE, small->dense);
    set_plane(small, PLX_PLANE_DISPARITY, small->strict);
    set_plane(small, PLX_PLANE_CONFIDENCE, small->confidence);
}

static void counts_by_what_was_said(void **state)
{
    (void)state;
    struct small small = small_frame();
    struct plx_sureness sum = {.strict = 0}, twice = {.strict = 0};
    struct plx_sureness_figures f;

    place(&small);
    assert_int_equal(plx_sureness_add(&small.frame, &truth, 256, &mask, &sum), 0);
    assert_int_equal(sum.pixels[0], 2); /* the confidence says nothing of them */
    assert_int_equal(sum.pixels[51], 3);
    assert_int_equal(sum.right[51], 1); /* an error of exactly 1 px is within it */
    assert_int_equal(sum.pixels[204], 2);
    assert_int_equal(sum.right[204], 2);
    assert_int_equal(sum.pixels[255], 1); /* not that outside the mask */
    assert_int_equal(sum.pixels[9], 0);
    assert_int_equal(sum.strict, 5); /* errors of 0, 0.5, 0.125, 2, 0 */
    assert_int_equal(sum.in_sigma, 3);
    assert_int_equal(sum.in_bound, 4);

    plx_sureness_join(&sum, &twice);
    plx_sureness_join(&sum, &twice);
    plx_sureness_figures(&twice, &f);
    assert_float_equal(f.class[1].said, 0.2, 1e-9);
    assert_float_equal(f.class[1].right, 1.0 / 3, 1e-9);
    assert_float_equal(f.class[1].share, 3.0 / 6, 1e-9);
    assert_float_equal(f.class[7].said, 0.8, 1e-9);
    assert_float_equal(f.class[7].right, 1, 1e-9);
    assert_float_equal(f.class[9].said, 1, 1e-9);
    assert_true(isnan(f.class[0].said) && f.class[0].share == 0);
    assert_float_equal(f.unknown, 2.0 / 8, 1e-9);
    assert_float_equal(f.sigma, 3.0 / 5, 1e-9);
    assert_float_equal(f.bound, 4.0 / 5, 1e-9);
    /* The least sure pixels, three, are two wrong ones and a right one. */
    assert_float_equal(f.wrong[0], 1.0 / 3, 1e-9);
    assert_float_equal(f.wrong[2], (2 - 0.6 * 2 / 3) / (6 * 0.9), 1e-9);
    assert_float_equal(f.wrong[5], 0, 1e-9);
    /* A third is wrong; after the half with the least confidence nothing is. */
    assert_float_equal(f.area, (1.0 / 3 + 0) / 2 / 2, 1e-9);
    assert_float_equal(f.least_area, 1.0 / 3 + 2.0 / 3 * log(2.0 / 3), 1e-9);
}

static void nothing_is_known_of_nothing(void **state)
{
    (void)state;
    struct small small = small_frame();
    struct plx_sureness sum = {.strict = 0};
    struct plx_sureness_figures f;

    plx_sureness_figures(&sum, &f);
    assert_true(isnan(f.unknown) && isnan(f.sigma) && isnan(f.bound) && isnan(f.area) && isnan(f.least_area));
    assert_int_equal(plx_sureness_add(&small.frame, &truth, 256, NULL, &sum), PLX_ERR_ARG); /* no planes */
    place(&small);
    assert_int_equal(plx_sureness_add(&small.frame, &truth, 0, NULL, &sum), PLX_ERR_ARG);
    memset(&small.frame.errors, 0, sizeof small.frame.errors);
    assert_int_equal(plx_sureness_add(&small.frame, &truth, 256, NULL, &sum), 0);
    plx_sureness_figures(&sum, &f);
    assert_true(isnan(f.sigma) && f.class[9].right == 0.5); /* the mask is gone */
}

/* A higher score is never less probable, and its error never larger; 0 says nothing. */
static void tables_are_monotone(void **state)
{
    (void)state;
    struct plx_match match;
    struct plx_error_info errors;

    for (int preset = 0; preset < 2; preset++) {
        (preset == 0 ? plx_match_default : plx_match_classic)(&match);
        const uint8_t *probability = plx_confidence_probability(&match);
        plx_confidence_errors(&match, &errors);
        assert_int_equal(errors.known, 1);
        assert_true(errors.sigma_px[0] == 0 && errors.bound_px[0] == 0);
        for (int i = 0; i < PLX_CONFIDENCES; i++) {
            assert_true(probability[i] >= 1 && probability[i] >= probability[i > 0 ? i - 1 : 0]);
            if (i == 0)
                continue;
            assert_true(errors.sigma_px[i] > 0 && errors.bound_px[i] > errors.sigma_px[i]);
            assert_true(i == 1 || errors.sigma_px[i] <= errors.sigma_px[i - 1]);
            assert_true(i == 1 || errors.bound_px[i] <= errors.bound_px[i - 1]);
        }
        assert_true(probability[0] < 128 && probability[255] > 240);
        assert_true(errors.sigma_px[1] > 3 && errors.sigma_px[255] < 0.3F);
    }
}

/* Settings that nobody measured have no errors, but for those that choose which pixels have a disparity, and the search. */
static void errors_of_other_settings_are_unknown(void **state)
{
    (void)state;
    struct plx_match preset;
    struct plx_error_info known, errors;

    plx_match_default(&preset);
    plx_confidence_errors(&preset, &known);
    struct plx_match match = preset;
    match.disparities = 64;
    match.min_disparity = -3;
    match.paths = 4;
    match.uniqueness = 0;
    match.repeats = false;
    plx_confidence_errors(&match, &errors);
    assert_memory_equal(&errors, &known, sizeof errors);
    for (int i = 0; i < 6; i++) {
        match = preset;
        if (i == 0)
            match.p1_straight++;
        else if (i == 1)
            match.smooth = false;
        else if (i == 2)
            match.subpixel = PLX_SUBPIXEL_PARABOLA;
        else if (i == 3)
            match.cross_validate = false;
        else if (i == 4)
            match.lr_max_diff = 2;
        else
            match.gradient_cap = 0;
        plx_confidence_errors(&match, &errors);
        assert_int_equal(errors.known, 0);
        assert_true(errors.sigma_px[255] == 0 && errors.bound_px[255] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_by_what_was_said),
        cmocka_unit_test(nothing_is_known_of_nothing),
        cmocka_unit_test(tables_are_monotone),
        cmocka_unit_test(errors_of_other_settings_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
