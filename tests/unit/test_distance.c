/* SPDX-License-Identifier: Apache-2.0 */
/* Distances of pixels, stixels and the scan, and of obstacles, with the errors that the frame states. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <parallax/client.h>
#include <parallax/error.h>

#include "core/ground/obstacles.h"
#include "tests/cmocka.h"

#define WIDTH 40
#define HEIGHT 30
#define COLUMNS (WIDTH / PLX_COLUMN_WIDTH)
#define NONE PLX_DISPARITY_INVALID
#define INFINITY_PX 3 /* cx - cx_right */

static struct plx_frame frame;
static uint16_t disparity[HEIGHT][WIDTH + 5], labels[HEIGHT][WIDTH];
static uint8_t confidence[HEIGHT][WIDTH + 3];
static struct plx_stixel stixels[COLUMNS][PLX_COLUMN_STIXELS];
static struct plx_scan scan[COLUMNS];
static struct plx_view view;

static void show(enum plx_plane_id id, const void *data, uint32_t width, uint32_t height, uint32_t pitch)
{
    view.plane[id] = data;
    view.layout[id] = (struct plx_plane){.pitch = pitch, .width = width, .height = height, .element = plx_plane_element(id)};
}

/* f b = 100 px m, min_disparity 2: the value 16 (d + 3 - 2) is d px above infinity. Nothing is valid; sigma_px = 1 /
 * confidence, the bound three times that. */
static int begin(void **state)
{
    (void)state;
    memset(&frame, 0, sizeof frame);
    frame.calibration = (struct plx_calibration_info){
        .fx = 1000, .fy = 1000, .cx = 20, .cy = 15, .cx_right = 20 - INFINITY_PX, .baseline_m = 0.1};
    frame.errors.known = 1;
    for (int i = 1; i < PLX_CONFIDENCES; i++) {
        frame.errors.sigma_px[i] = 1 / (float)i;
        frame.errors.bound_px[i] = 3 / (float)i;
    }
    memset(disparity, 0xFF, sizeof disparity);
    memset(labels, 0, sizeof labels);
    memset(confidence, 0, sizeof confidence);
    memset(stixels, 0, sizeof stixels);
    memset(scan, 0, sizeof scan);
    view = (struct plx_view){.frame = &frame, .min_disparity = 2};
    show(PLX_PLANE_DISPARITY, disparity, WIDTH, HEIGHT, sizeof disparity[0]);
    show(PLX_PLANE_CONFIDENCE, confidence, WIDTH, HEIGHT, sizeof confidence[0]);
    show(PLX_PLANE_STIXELS, stixels, PLX_COLUMN_STIXELS, COLUMNS, sizeof stixels[0]);
    show(PLX_PLANE_SCAN, scan, COLUMNS, 1, sizeof scan);
    return 0;
}

static uint16_t value_of(double px)
{
    return (uint16_t)(16 * (px + INFINITY_PX - 2));
}

static void expect(const struct plx_distance *got, double metres, double sigma, double bound)
{
    assert_float_equal((double)got->distance_m, metres, 1e-5 * metres);
    assert_true(isnan(sigma) ? isnan(got->sigma_m) : fabs((double)got->sigma_m - sigma) < 1e-5);
    assert_true(isnan(bound) ? isnan(got->bound_m) : fabs((double)got->bound_m - bound) < 1e-5);
}

/* 20 px: 5 m. A pixel of confidence 4 errs by 0.25 px: 5 m 0.25 / 20 = 0.0625 m. */
static void a_pixel_has_the_error_of_its_confidence(void **state)
{
    (void)state;
    struct plx_distance got = {-1, -1, -1};

    assert_int_equal(plx_pixel_distance(&view, 7, 9, &got), PLX_ERR_NOT_FOUND);
    assert_true(got.distance_m == -1);
    disparity[9][7] = value_of(20);
    confidence[9][7] = 4;
    assert_int_equal(plx_pixel_distance(&view, 7, 9, &got), 0);
    expect(&got, 5, 0.0625, 3 * 0.0625);
    confidence[9][7] = 0; /* no statement */
    assert_int_equal(plx_pixel_distance(&view, 7, 9, &got), 0);
    expect(&got, 5, NAN, NAN);
    confidence[9][7] = 4;
    view.layout[PLX_PLANE_CONFIDENCE].width--; /* another size */
    assert_int_equal(plx_pixel_distance(&view, 7, 9, &got), 0);
    expect(&got, 5, NAN, NAN);
    view.layout[PLX_PLANE_CONFIDENCE].width++;
    memset(&frame.errors, 0, sizeof frame.errors); /* settings that nobody measured */
    assert_int_equal(plx_pixel_distance(&view, 7, 9, &got), 0);
    expect(&got, 5, NAN, NAN);
    disparity[9][7] = value_of(0);
    assert_int_equal(plx_pixel_distance(&view, 7, 9, &got), PLX_ERR_NOT_FOUND); /* at infinity */
    assert_int_equal(plx_pixel_distance(&view, WIDTH, 9, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_pixel_distance(NULL, 0, 0, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_pixel_distance(&view, 7, 9, NULL), PLX_ERR_ARG);
}

/* Column 2 is pixels 8 to 11. Its stixel of 20 px, rows 10 to 13, shows in two pixels of confidence 8, and one each of 2 and
 * 50; a pixel of it is more than 1 px off, others lie beside it. */
static void draw_stixel(void)
{
    stixels[2][0] = (struct plx_stixel){.y0 = 10, .y1 = 13, .disparity = 16 * 20, .near_disparity = 16 * 25};
    static const struct {
        int x, y, confidence;
        double px;
    } pixel[] = {{8, 10, 8, 20},   {9, 11, 8, 21},    {11, 13, 2, 19}, {10, 12, 50, 20.5}, {8, 12, 90, 21.25},
                 {7, 11, 100, 20}, {12, 11, 100, 20}, {9, 9, 100, 20}, {9, 14, 100, 20},   {8, 13, 30, 25}};
    for (size_t i = 0; i < sizeof pixel / sizeof pixel[0]; i++) {
        disparity[pixel[i].y][pixel[i].x] = value_of(pixel[i].px);
        confidence[pixel[i].y][pixel[i].x] = (uint8_t)pixel[i].confidence;
    }
}

static void a_stixel_has_the_median_of_its_pixels(void **state)
{
    (void)state;
    struct plx_distance got = {-1, -1, -1};

    draw_stixel();
    assert_int_equal(plx_stixel_distance(&view, 2, 0, &got), 0);
    expect(&got, 5, 5 * 0.125 / 20, 3 * 5 * 0.125 / 20);
    assert_int_equal(plx_stixel_distance(&view, 2, 1, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_stixel_distance(&view, 3, 0, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_stixel_distance(&view, 2, PLX_COLUMN_STIXELS, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_stixel_distance(&view, COLUMNS, 0, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_stixel_distance(&view, 2, 0, NULL), PLX_ERR_ARG);
    stixels[2][0].y1 = 65535; /* as from damaged memory */
    stixels[2][0].y0 = 65000;
    assert_int_equal(plx_stixel_distance(&view, 2, 0, &got), 0);
    expect(&got, 5, NAN, NAN);
    view.plane[PLX_PLANE_DISPARITY] = NULL;
    assert_int_equal(plx_stixel_distance(&view, 2, 0, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_stixel_distance(NULL, 2, 0, &got), PLX_ERR_NOT_FOUND);
}

/* The nearest thing is the near part of the second stixel: 25 px, 4 m, seen in one pixel of confidence 30. */
static void the_scan_has_the_error_of_the_stixel_it_is_from(void **state)
{
    (void)state;
    struct plx_distance got = {-1, -1, -1};

    draw_stixel();
    stixels[2][1] = stixels[2][0];
    stixels[2][0] = (struct plx_stixel){.y0 = 0, .y1 = 5, .disparity = 16 * 10, .near_disparity = 16 * 10};
    scan[2].nearest = 16 * 25;
    assert_int_equal(plx_scan_distance(&view, 2, &got), 0);
    expect(&got, 4, 4 / 30.0 / 25, 3 * 4 / 30.0 / 25);
    scan[2].nearest = 16 * 24; /* no stixel's */
    assert_int_equal(plx_scan_distance(&view, 2, &got), 0);
    expect(&got, 100.0 / 24, NAN, NAN);
    assert_int_equal(plx_scan_distance(&view, 1, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_scan_distance(&view, COLUMNS, &got), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_scan_distance(&view, 2, NULL), PLX_ERR_ARG);
    assert_int_equal(plx_scan_distance(NULL, 2, &got), PLX_ERR_NOT_FOUND);
}

/* A box of 30 x 20 pixels, of which its label has the left half; its nearest part is 20 px, 5 m. */
static void an_obstacle_has_the_error_of_its_nearest_part(void **state)
{
    (void)state;
    const struct plx_image label = {labels, WIDTH, HEIGHT, sizeof labels[0], PLX_U16};
    const struct plx_image strict = {disparity, WIDTH, HEIGHT, sizeof disparity[0], PLX_U16};
    const struct plx_image sure = {confidence, WIDTH, HEIGHT, sizeof confidence[0], PLX_U8};
    const struct plx_image none = {.data = NULL};
    struct plx_sure_images images = {&label, &strict, &sure};
    const struct plx_obstacle seen = {
        .label = 3, .x = 5, .y = 5, .width = 30, .height = 20, .disparity_near = 20 + INFINITY_PX, .nearest_m = 5};
    struct plx_obstacle obstacle[2] = {seen, {.label = 9, .x = 0, .y = 0, .width = 3, .height = 3, .nearest_m = 5}};

    for (int y = 5; y < 25; y++)
        for (int x = 5; x < 35; x++) {
            labels[y][x] = x < 20 ? 3 : 4;
            disparity[y][x] = value_of(x < 20 && y < 20 ? 20.5 : 25);
            confidence[y][x] = x < 20 && y < 20 ? 10 : 200; /* 0.1 px */
        }
    plx_obstacles_sigma(&images, &frame.errors, &frame.calibration, 2, obstacle, 2);
    assert_float_equal((double)obstacle[0].nearest_sigma_m, 5 * 0.1 / 20, 1e-6);
    assert_true(obstacle[1].nearest_sigma_m == 0); /* nothing has its label */
    obstacle[0].nearest_sigma_m = 0;
    images.confidence = &none;
    plx_obstacles_sigma(&images, &frame.errors, &frame.calibration, 2, obstacle, 1);
    assert_true(obstacle[0].nearest_sigma_m == 0);
    images.confidence = &sure;
    memset(&frame.errors, 0, sizeof frame.errors);
    plx_obstacles_sigma(&images, &frame.errors, &frame.calibration, 2, obstacle, 1);
    assert_true(obstacle[0].nearest_sigma_m == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_pixel_has_the_error_of_its_confidence, begin),
        cmocka_unit_test_setup(a_stixel_has_the_median_of_its_pixels, begin),
        cmocka_unit_test_setup(the_scan_has_the_error_of_the_stixel_it_is_from, begin),
        cmocka_unit_test_setup(an_obstacle_has_the_error_of_its_nearest_part, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
