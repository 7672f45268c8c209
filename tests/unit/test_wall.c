/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a wall, on drawn disparities whose answers are known. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/evaluate/wall_measurement.h"
#include "core/geometry/stereo.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

#define WIDTH 323 /* odd, and no multiple of three */
#define HEIGHT 241
#define PITCH (WIDTH + 13)
#define FRAMES 8
#define MIN_DISPARITY 2
#define DISTANCE_M 2.5

static const struct plx_calibration_info calibration = {300, 310, 165, 118, 165.75, 0.2}; /* at infinity: -0.75 px */
static uint16_t memory[HEIGHT][PITCH];
static struct plx_image disparity = {memory, WIDTH, HEIGHT, PITCH * sizeof memory[0][0], PLX_U16};
static const struct plx_wall_light bright = {100, 10};
static uint64_t seed;

/* A wall at DISTANCE_M, its normal turned by these slopes of the disparity, px a pixel. */
struct drawn {
    double slope_x, slope_y, bias_px, scale, noise_px, bend_px; /* bend: at the left and right edge */
    double holes, outliers;                                     /* shares of the pixels */
    double worst_px;                                            /* noise beyond this is a hole; 0: none is */
    double blinking;                                            /* share of the pixels that are holes in every second frame */
};

static double uniform(void)
{
    return ((double)(scratch_random(&seed) >> 11) + 1) / 9007199254740993.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* The disparity above infinity where the optical axis meets the wall. */
static double true_disparity(const struct drawn *drawn)
{
    const double normal_px = plx_focal_baseline(&calibration) / DISTANCE_M; /* length of (a fx, b fy, c) */
    const double across = hypot(drawn->slope_x * calibration.fx, drawn->slope_y * calibration.fy);
    return sqrt(normal_px * normal_px - across * across);
}

static void draw(const struct drawn *drawn, int frame)
{
    for (int y = 0; y < disparity.height; y++)
        for (int x = 0; x < disparity.width; x++) {
            const double side = (x - calibration.cx) / (0.5 * WIDTH), noise = drawn->noise_px * normal();
            const double plane =
                true_disparity(drawn) + drawn->slope_x * (x - calibration.cx) + drawn->slope_y * (y - calibration.cy);
            double d = plane * (1 + drawn->scale) + drawn->bias_px + drawn->bend_px * side * side + noise;
            if (uniform() < drawn->outliers)
                d += 5 + 20 * uniform();
            const double value = PLX_DISPARITY_ONE * (d + plx_disparity_shift(&calibration) - MIN_DISPARITY);
            const bool is_hole = uniform() < drawn->holes || (drawn->worst_px > 0 && fabs(noise) > drawn->worst_px) ||
                                 (frame % 2 == 1 && (7 * x + 13 * y) % 100 < 100 * drawn->blinking);
            memory[y][x] = is_hole ? PLX_DISPARITY_INVALID : (uint16_t)lround(value);
        }
}

static struct plx_wall *make_wall(struct plx_box region, double distance_m)
{
    struct plx_wall *wall = NULL;
    assert_int_equal(
        plx_wall_create(disparity.width, disparity.height, &region, &calibration, MIN_DISPARITY, distance_m, &wall), 0);
    return wall;
}

static struct plx_wall_report measure(const struct drawn *drawn)
{
    struct plx_wall *wall = make_wall((struct plx_box){.width = WIDTH, .height = HEIGHT}, DISTANCE_M);
    struct plx_wall_report report;
    for (int frame = 0; frame < FRAMES; frame++) {
        draw(drawn, frame);
        assert_int_equal(plx_wall_add(wall, &disparity, NULL, NULL), 0);
    }
    plx_wall_report(wall, &report);
    plx_wall_destroy(wall);
    return report;
}

static int begin(void **state)
{
    (void)state;
    disparity.width = WIDTH;
    disparity.height = HEIGHT;
    seed = scratch_seed();
    return 0;
}

#define expect_near(number, expected, tolerance) expect_near_(#number, number, expected, tolerance)
static void expect_near_(const char *name, double number, double expected, double tolerance)
{
    if (!(fabs(number - expected) <= tolerance))
        fail_msg("%s is %g, expected %g within %g (PLX_TEST_SEED=%llu)", name, number, expected, tolerance,
                 (unsigned long long)scratch_seed());
}

/* Noise of 0.2 px, stated as 0.2 px in the upper half, 0.4 in the lower one, and not at all in the left third. */
static void the_stated_deviation_is_judged(void **state)
{
    (void)state;
    static uint8_t sure[HEIGHT][WIDTH + 2];
    const struct plx_image confidence = {sure, WIDTH, HEIGHT, sizeof sure[0], PLX_U8};
    static struct plx_error_info errors = {.known = 1, .sigma_px = {[1] = 0.2F, [2] = 0.4F}};
    struct plx_wall *wall = make_wall((struct plx_box){.width = WIDTH, .height = HEIGHT}, DISTANCE_M);
    struct plx_wall_report report;

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            sure[y][x] = (uint8_t)(3 * x / WIDTH == 0 ? 0 : 2 * y / HEIGHT == 0 ? 1 : 2);
    draw(&(struct drawn){.noise_px = 0.2, .slope_x = 0.01}, 0);
    assert_int_equal(plx_wall_add(wall, &disparity, &confidence, &errors), 0);
    plx_wall_report(wall, &report);
    expect_near(report.part[2].covered, 0.683, 0.02); /* top, middle */
    expect_near(report.part[9].covered, 0.954, 0.02); /* bottom, right */
    expect_near(report.part[0].covered, (0.683 + 0.954) / 2, 0.02);
    assert_true(isnan(report.part[1].covered) && isnan(report.part[4].covered));
    const struct plx_image narrow = {sure, WIDTH - 1, HEIGHT, sizeof sure[0], PLX_U8};
    assert_int_equal(plx_wall_add(wall, &disparity, &narrow, &errors), PLX_ERR_ARG);
    plx_wall_destroy(wall);
    report = measure(&(struct drawn){.noise_px = 0.2});
    assert_true(isnan(report.part[0].covered)); /* nothing is stated */
}

static void bias_and_noise_are_found(void **state)
{
    (void)state;
    static const struct drawn drawn[] = {
        {.noise_px = 0.1},
        {.noise_px = 0.2, .bias_px = 0.3},
        {.noise_px = 0.1, .bias_px = -0.5, .slope_x = 0.01},
        {.noise_px = 0.4, .bias_px = 0.05, .slope_x = -0.005, .slope_y = 0.008},
        {.noise_px = 0.15, .bias_px = 0.3, .outliers = 0.04, .slope_y = -0.01},
    };
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        const struct plx_wall_report report = measure(&drawn[i]);
        const double noise = drawn[i].noise_px;
        expect_near(report.bias_px, drawn[i].bias_px, 0.02);
        expect_near(report.bias_percent, 100 * (true_disparity(&drawn[i]) / (true_disparity(&drawn[i]) + drawn[i].bias_px) - 1),
                    0.1);
        for (int p = 0; p < PLX_WALL_PARTS; p++) {
            expect_near(report.part[p].fill, 1, 0);
            expect_near(report.part[p].offset_px, 0, 0.02);
            expect_near(report.part[p].outliers, drawn[i].outliers + erfc(1 / noise / M_SQRT2), 0.005);
            if (drawn[i].outliers == 0) {
                expect_near(report.part[p].noise_px, noise, 0.05 * noise);
                expect_near(report.part[p].temporal_px, noise, 0.05 * noise);
            }
            assert_true(report.part[p].sometimes == 0 && report.part[p].never == 0);
        }
        if (drawn[i].outliers == 0)
            expect_near(report.realsense.subpixel_rms_px, noise, 0.05 * noise);
        expect_near(report.realsense.fill_percent, 100, 0);
    }
}

/* The tape gives the shortest distance; the report says how the wall is turned. */
static void tilt_is_found(void **state)
{
    (void)state;
    const struct drawn drawn = {.noise_px = 0.1, .slope_x = 0.012, .slope_y = -0.004};
    const struct plx_wall_report report = measure(&drawn);
    const double across = hypot(drawn.slope_x * calibration.fx, drawn.slope_y * calibration.fy);
    expect_near(report.disparity_px, true_disparity(&drawn), 0.02);
    expect_near(report.distance_m, DISTANCE_M, 0.003);
    expect_near(report.angle_deg, atan2(across, true_disparity(&drawn)) * 180 / M_PI, 0.1);
    expect_near(report.span_px, 0.012 * (WIDTH - 1) + 0.004 * (HEIGHT - 1), 0.02);
    expect_near(report.expected_px, report.disparity_px - report.bias_px, 1e-9);
    expect_near(report.realsense.z_accuracy_percent, 0, 0.2);
    assert_int_equal(plx_wall_judge(&report, &bright, 0.1), PLX_WALL_GOOD);
}

/* A matcher that hides its worst pixels looks better by RealSense's definition, not by ours. */
static void holes_do_not_improve_the_noise(void **state)
{
    (void)state;
    const struct plx_wall_report whole = measure(&(struct drawn){.noise_px = 0.2, .slope_x = 0.005});
    const struct plx_wall_report worst = measure(&(struct drawn){.noise_px = 0.2, .slope_x = 0.005, .worst_px = 0.3});
    const struct plx_wall_report any = measure(&(struct drawn){.noise_px = 0.2, .slope_x = 0.005, .holes = 0.13});

    expect_near(worst.part[0].fill, 1 - erfc(1.5 / M_SQRT2), 0.005);
    expect_near(worst.part[0].noise_px, 0.2, 0.01);
    assert_true(worst.realsense.subpixel_rms_px < 0.8 * whole.realsense.subpixel_rms_px);
    assert_true(any.part[0].noise_px > whole.part[0].noise_px);
    expect_near(any.bias_px, 0, 0.02);
    const struct plx_wall_report most = measure(&(struct drawn){.noise_px = 0.2, .holes = 0.4});
    assert_true(isnan(most.part[0].noise_px)); /* too few are known */
    expect_near(most.part[0].temporal_px, 0.2, 0.02);
    expect_near(most.bias_px, 0, 0.02);
    assert_int_equal(plx_wall_judge(&most, &bright, NAN), PLX_WALL_TEXTURE);
}

static void pixels_that_come_and_go_are_counted_apart(void **state)
{
    (void)state;
    const struct plx_wall_report report = measure(&(struct drawn){.noise_px = 0.2, .slope_y = 0.005, .blinking = 0.25});
    for (int p = 0; p < PLX_WALL_PARTS; p++) {
        expect_near(report.part[p].fill, 1 - 0.25 / 2, 0.01);
        expect_near(report.part[p].sometimes, 0.25, 0.02);
        expect_near(report.part[p].never, 0, 0);
        expect_near(report.part[p].temporal_px, 0.2, 0.01);
    }
}

static void bent_and_uneven_walls_are_told(void **state)
{
    (void)state;
    const struct plx_wall_report bent = measure(&(struct drawn){.noise_px = 0.1, .bend_px = 1.5});
    assert_true(fabs(bent.part[1].offset_px) > 0.2 && bent.part[1].offset_px * bent.part[2].offset_px < 0);
    assert_int_equal(plx_wall_judge(&bent, &bright, NAN), PLX_WALL_CALIBRATE);
    const struct plx_wall_report uneven = measure(&(struct drawn){.noise_px = 0.1, .outliers = 0.2});
    expect_near(uneven.part[0].outliers, 0.2, 0.01);
    expect_near(uneven.bias_px, 0, 0.02);
    assert_int_equal(plx_wall_judge(&uneven, &bright, NAN), PLX_WALL_NOT_FLAT);
}

static void verdict_names_the_first_fault(void **state)
{
    (void)state;
    struct plx_wall_report report = measure(&(struct drawn){.noise_px = 0.1, .bias_px = 0.3, .slope_x = 0.01});
    assert_int_equal(plx_wall_judge(&report, &(struct plx_wall_light){10, 20}, NAN), PLX_WALL_DARK);
    assert_int_equal(plx_wall_judge(&report, &(struct plx_wall_light){255, 0.5}, NAN), PLX_WALL_TEXTURE);
    assert_int_equal(plx_wall_judge(&report, &bright, NAN), PLX_WALL_CALIBRATE);
    report.tape_px = 0.5; /* so near that a tape cannot say it */
    assert_int_equal(plx_wall_judge(&report, &bright, 0.1), PLX_WALL_GOOD);
    assert_int_equal(plx_wall_judge(&report, &bright, -0.6), PLX_WALL_CALIBRATE);
    for (int verdict = PLX_WALL_GOOD; verdict <= PLX_WALL_NOT_FLAT; verdict++)
        assert_true(strlen(plx_wall_verdict_words((enum plx_wall_verdict)verdict)) > 3);
}

static void expect_verdict(const struct plx_wall_report *report, double rows_px, unsigned missing, const char *line)
{
    const enum plx_wall_verdict verdict = plx_wall_judge(report, &bright, rows_px);
    char text[PLX_WALL_LINE_BYTES];
    unsigned read = ~0U;

    assert_int_equal(plx_wall_missing(report, rows_px), missing);
    assert_int_equal(verdict, missing ? PLX_WALL_UNPROVEN : PLX_WALL_GOOD);
    plx_wall_verdict_line(verdict, missing, text);
    assert_string_equal(text, line);
    cJSON *list = plx_wall_missing_json(missing);
    assert_true(plx_wall_missing_read(list, &read));
    assert_int_equal(read, missing);
    cJSON_AddItemToArray(list, cJSON_CreateString("colour"));
    assert_false(plx_wall_missing_read(list, &read));
    cJSON_Delete(list);
    assert_int_equal(read, missing);
    const struct plx_wall_result result = {
        .report = *report, .distance_m = NAN, .rows_px = rows_px, .verdict = verdict, .missing = missing};
    const char *advice = plx_wall_advice(&result);
    assert_true(missing == 0 ? !advice
                             : strstr(advice, missing & PLX_WALL_NO_BIAS ? "tape" : "again") || strstr(advice, "--roi"));
}

/* What is not measured is not good, and never hides a fault. */
static void what_is_not_measured_is_unproven(void **state)
{
    (void)state;
    const struct plx_wall_report all = measure(&(struct drawn){.noise_px = 0.1, .slope_x = 0.01});
    struct plx_wall_report report = all;

    expect_verdict(&report, 0.1, 0, "good");
    expect_verdict(&report, NAN, PLX_WALL_NO_ROWS, "unproven: good as far as measured; not measured: rows");
    report.part[PLX_WALL_PARTS - 1].offset_px = NAN;
    expect_verdict(&report, 0.1, PLX_WALL_NO_OFFSET, "unproven: good as far as measured; not measured: offset");
    report.part[1].offset_px = 0.4;
    assert_int_equal(plx_wall_judge(&report, &bright, NAN), PLX_WALL_CALIBRATE);
    report = all;
    report.bias_px = NAN;
    expect_verdict(&report, 0.1, PLX_WALL_NO_BIAS, "unproven: good as far as measured; not measured: bias");
    expect_verdict(&report, NAN, PLX_WALL_NO_BIAS | PLX_WALL_NO_ROWS,
                   "unproven: good as far as measured; not measured: bias, rows");
    assert_false(plx_wall_missing_read(NULL, &(unsigned){0}));
    char text[PLX_WALL_LINE_BYTES];
    plx_wall_verdict_line(PLX_WALL_UNPROVEN, ~0U, text);
    assert_string_equal(text, "unproven: good as far as measured; not measured: bias, rows, offset, split");
    plx_wall_verdict_line(PLX_WALL_CALIBRATE, PLX_WALL_NO_ROWS, text);
    assert_string_equal(text, "calibrate again");
}

/* Without a distance there is no bias, and the rest is the same. */
static void without_a_distance_there_is_no_bias(void **state)
{
    (void)state;
    struct plx_wall *wall = make_wall((struct plx_box){20, 10, 200, 150, NULL, 0}, NAN);
    struct plx_wall_report report;
    draw(&(struct drawn){.noise_px = 0.1, .slope_x = 0.01}, 0);
    assert_int_equal(plx_wall_add(wall, &disparity, NULL, NULL), 0);
    plx_wall_report(wall, &report);
    assert_true(isnan(report.bias_px) && isnan(report.bias_percent) && isnan(report.expected_px));
    assert_true(isnan(report.realsense.z_accuracy_percent) && isnan(report.part[0].temporal_px));
    expect_near(report.disparity_px, true_disparity(&(struct drawn){.slope_x = 0.01}), 0.03);
    expect_near(report.part[0].noise_px, 0.1, 0.005);
    assert_int_equal(plx_wall_judge(&report, &bright, 0.1), PLX_WALL_UNPROVEN);
    assert_true(isnan(plx_wall_residual(wall, 19, 10)) && fabs(plx_wall_residual(wall, 20, 10)) < 1);
    assert_true(isnan(plx_wall_residual(wall, 219, 160)) && fabs(plx_wall_residual(wall, 219, 159)) < 1);
    plx_wall_destroy(wall);
}

/* A constant in px is of the calibration, a constant share of the baseline or the focal length. */
static void distances_split_the_bias(void **state)
{
    (void)state;
    const double expected[] = {60, 30, 20, 10}, measured[] = {60.9, 30.6, 20.5, 10.4}; /* 0.3 px and 1 % */
    double offset = 7, scale = 7;
    assert_true(plx_wall_split(4, measured, expected, &offset, &scale));
    expect_near(offset, 0.3, 1e-9);
    expect_near(scale, 0.01, 1e-9);
    assert_true(plx_wall_split(2, measured, expected, &offset, &scale));
    expect_near(offset, 0.3, 1e-9);
    const double same[] = {20, 20.1};
    assert_false(plx_wall_split(1, measured, expected, &offset, &scale));
    assert_false(plx_wall_split(2, same, same, &offset, &scale));
    expect_near(offset, 0.3, 1e-9);
}

/* Sizes at which there are no halves, no parts or no plane. */
static void small_and_empty_regions_are_unknown(void **state)
{
    (void)state;
    static const int sides[][2] = {{1, 1}, {2, 2}, {1, 9}, {3, 5}, {7, 4}, {31, 1}, {33, 35}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (int known = 0; known < 2; known++) {
            struct plx_wall_report report;
            disparity.width = sides[i][0];
            disparity.height = sides[i][1];
            draw(&(struct drawn){.holes = known ? 0 : 1}, 0);
            struct plx_wall *wall = make_wall((struct plx_box){.width = sides[i][0], .height = sides[i][1]}, DISTANCE_M);
            plx_wall_report(wall, &report); /* without a frame */
            assert_true(isnan(report.part[0].fill) && isnan(report.part[0].never) && isnan(report.disparity_px));
            for (int frame = 0; frame < 2; frame++)
                assert_int_equal(plx_wall_add(wall, &disparity, NULL, NULL), 0);
            plx_wall_report(wall, &report);
            expect_near(report.part[0].fill, known, 0);
            expect_near(report.part[0].never, !known, 0);
            if (!known) {
                assert_true(isnan(report.disparity_px) && isnan(report.part[0].noise_px) && isnan(report.bias_px));
                assert_int_equal(plx_wall_judge(&report, &bright, NAN), PLX_WALL_TEXTURE);
                assert_true(isnan(plx_wall_residual(wall, 0, 0)));
            } else if (sides[i][0] > 30 && sides[i][1] > 30) {
                expect_near(report.disparity_px, true_disparity(&(struct drawn){0}), 0.04);
            }
            plx_wall_destroy(wall);
        }
}

static void wrong_regions_and_planes_are_refused(void **state)
{
    (void)state;
    static const struct plx_box wrong[] = {
        {.x = -1, .width = 5, .height = 5},
        {.y = -1, .width = 5, .height = 5},
        {.width = 0, .height = 5},
        {.width = 5, .height = -1},
        {.width = WIDTH + 1, .height = 5},
        {.x = WIDTH, .width = 1, .height = 1},
        {.x = INT32_MAX, .width = 5, .height = 5},
        {.y = 5, .width = 5, .height = HEIGHT - 4},
    };
    struct plx_wall *wall = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(plx_wall_create(WIDTH, HEIGHT, &wrong[i], &calibration, 0, NAN, &wall), PLX_ERR_RANGE);
    assert_null(wall);
    wall = make_wall((struct plx_box){.width = 5, .height = 5}, NAN);
    disparity.width--;
    assert_int_equal(plx_wall_add(wall, &disparity, NULL, NULL), PLX_ERR_ARG);
    plx_wall_destroy(wall);
    plx_wall_destroy(NULL);
}

static void light_is_measured_in_the_region(void **state)
{
    (void)state;
    static uint8_t grey[4][8] = {
        {9, 9, 9, 9, 9, 9, 9, 9}, {9, 10, 20, 30, 40, 50, 9, 9}, {9, 10, 20, 30, 40, 50, 9, 9}, {9, 9, 9, 9, 9, 9, 9, 9}};
    const struct plx_image left = {grey, 7, 4, sizeof grey[0], PLX_U8};
    const struct plx_wall_light light = plx_wall_light(&left, &(struct plx_box){1, 1, 5, 2, NULL, 0});
    expect_near(light.grey, 30, 1e-9);
    expect_near(light.contrast, 20, 1e-9);
    expect_near(plx_wall_light(&left, &(struct plx_box){1, 1, 1, 1, NULL, 0}).contrast, 0, 0);
}

/* The right camera does not see the first columns; nothing at infinity or unknown hides any. */
static void default_region_leaves_out_hidden_columns(void **state)
{
    (void)state;
    draw(&(struct drawn){0}, 0);
    struct plx_box region = plx_wall_default_region(&disparity, &calibration, MIN_DISPARITY);
    const int hidden = (int)(true_disparity(&(struct drawn){0}) + plx_disparity_shift(&calibration)) + 2;
    expect_near(region.x, hidden, 1);
    assert_true(region.y == 0 && region.x + region.width == WIDTH && region.height == HEIGHT);
    draw(&(struct drawn){.holes = 1}, 0);
    region = plx_wall_default_region(&disparity, &calibration, MIN_DISPARITY);
    assert_true(region.x == 0 && region.width == WIDTH && region.height == HEIGHT);
}

/* --- live frames --------------------------------------------------------------------------------------------------- */

/* Makes *frame one of WIDTH_PX x HEIGHT with the disparities that are drawn, and a grey left picture. */
static void make_frame(int width_px, struct plx_frame *frame)
{
    const uint32_t width = (uint32_t)width_px, at = sizeof *frame, pixels = width * HEIGHT;
    *frame = (struct plx_frame){.calibration = calibration, .min_disparity = MIN_DISPARITY, .width = width, .height = HEIGHT};
    frame->plane[PLX_PLANE_DISPARITY] =
        (struct plx_plane){.offset = at, .pitch = 2 * width, .width = width, .height = HEIGHT, .element = 2};
    frame->plane[PLX_PLANE_LEFT] =
        (struct plx_plane){.offset = at + 2 * pixels, .pitch = width, .width = width, .height = HEIGHT, .element = 1};
    for (uint32_t y = 0; y < HEIGHT; y++)
        memcpy((uint8_t *)frame + at + (size_t)(2 * width * y), memory[y], (size_t)(2 * width));
    memset((uint8_t *)frame + at + (size_t)(2 * pixels), 100, pixels);
}

static void expect_refusal(struct plx_wall_measurement *measurement, struct plx_frame *frame, int error, const char *words)
{
    struct plx_error_message message = {""};
    assert_int_equal(plx_wall_measurement_add(measurement, frame, &message), error);
    assert_non_null(strstr(message.text, words));
}

static void frames_that_cannot_be_measured_are_named(void **state)
{
    (void)state;
    struct plx_frame *frame = malloc(sizeof *frame + (size_t)(3 * WIDTH * HEIGHT));
    struct plx_wall_measurement measurement;
    struct plx_error_message message = {""};

    assert_non_null(frame);
    draw(&(struct drawn){0}, 0);
    plx_wall_measurement_begin(DISTANCE_M, &measurement);
    make_frame(WIDTH, frame);
    frame->health = PLX_HEALTH_NOT_CALIBRATED;
    expect_refusal(&measurement, frame, PLX_ERR_UNSUPPORTED, "no calibration");
    make_frame(WIDTH, frame);
    frame->plane[PLX_PLANE_DISPARITY] = (struct plx_plane){0};
    expect_refusal(&measurement, frame, PLX_ERR_FORMAT, "no disparity");
    make_frame(WIDTH, frame);
    measurement.roi = (struct plx_box){.x = WIDTH - 5, .width = 10, .height = 10};
    expect_refusal(&measurement, frame, PLX_ERR_RANGE, "is not inside");
    measurement.roi = (struct plx_box){0};
    assert_int_equal(plx_wall_measurement_add(&measurement, frame, &message), 0);
    make_frame(WIDTH - 3, frame);
    expect_refusal(&measurement, frame, PLX_ERR_LOST, "changed");
    plx_wall_measurement_judge(&measurement);
    assert_int_equal(measurement.result.report.frames, 1);
    expect_near(measurement.result.report.distance_m, DISTANCE_M, 0.01);
    plx_wall_measurement_end(&measurement);
    free(frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(bias_and_noise_are_found, begin),
        cmocka_unit_test_setup(the_stated_deviation_is_judged, begin),
        cmocka_unit_test_setup(tilt_is_found, begin),
        cmocka_unit_test_setup(holes_do_not_improve_the_noise, begin),
        cmocka_unit_test_setup(pixels_that_come_and_go_are_counted_apart, begin),
        cmocka_unit_test_setup(bent_and_uneven_walls_are_told, begin),
        cmocka_unit_test_setup(verdict_names_the_first_fault, begin),
        cmocka_unit_test_setup(what_is_not_measured_is_unproven, begin),
        cmocka_unit_test_setup(without_a_distance_there_is_no_bias, begin),
        cmocka_unit_test_setup(distances_split_the_bias, begin),
        cmocka_unit_test_setup(small_and_empty_regions_are_unknown, begin),
        cmocka_unit_test_setup(wrong_regions_and_planes_are_refused, begin),
        cmocka_unit_test_setup(light_is_measured_in_the_region, begin),
        cmocka_unit_test_setup(default_region_leaves_out_hidden_columns, begin),
        cmocka_unit_test_setup(frames_that_cannot_be_measured_are_named, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
