/* SPDX-License-Identifier: Apache-2.0 */
/* The pyramid against plain loops, how corners are taken, and the tracker on images whose shift is known; odd sizes and
 * padded rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/frame.h>

#include "core/motion/corners.h"
#include "core/motion/flow.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

static const int side[] = {1, 2, 7, 33, 130, 513};
#define SIDES (sizeof side / sizeof side[0])

/* Smooth grey levels at a real place. */
static double grey_at(double x, double y)
{
    return 128 + 30 * sin(0.31 * x + 0.2 * sin(0.13 * y)) + 30 * sin(0.27 * y - 0.11 * x) + 25 * sin(0.07 * x + 0.09 * y) +
           20 * sin(0.043 * x - 0.05 * y + 1);
}

static void draw(const struct plx_image *image, double dx, double dy, double brightness)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            ((uint8_t *)plx_row(image, y))[x] = (uint8_t)(grey_at(x - dx, y - dy) + brightness + 0.5);
}

static void draw_noise(const struct plx_image *image, uint64_t *state)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            ((uint8_t *)plx_row(image, y))[x] = (uint8_t)random_below(state, 256);
}

static struct plx_pyramid new_pyramid(int width, int height)
{
    struct plx_pyramid pyramid;
    void *memory = calloc(1, plx_pyramid_bytes(width, height));
    assert_non_null(memory);
    plx_pyramid_lay_out(memory, width, height, &pyramid);
    return pyramid;
}

static void build(const struct plx_pyramid *pyramid, const struct plx_image *image)
{
    for (int y = 0; y < image->height; y += PLX_PYRAMID_STRIP)
        plx_pyramid_build_strip(pyramid, image, y);
}

static void check_level(const struct plx_image *fine, const struct plx_image *coarse)
{
    assert_int_equal(coarse->width, fine->width / 2);
    assert_int_equal(coarse->height, fine->height / 2);
    for (int y = 0; y < coarse->height; y++)
        for (int x = 0; x < coarse->width; x++) {
            int sum = 2;
            for (int k = 0; k < 4; k++)
                sum += ((const uint8_t *)plx_row(fine, 2 * y + k / 2))[2 * x + k % 2];
            assert_int_equal(((const uint8_t *)plx_row(coarse, y))[x], sum / 4);
        }
}

static void pyramid_is_means(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    for (size_t i = 0; i < SIDES * SIDES; i++) {
        const int width = side[i % SIDES], height = side[i / SIDES];
        struct plx_image image = test_image_new(width, height, PLX_U8, 5);
        struct plx_pyramid pyramid;
        draw_noise(&image, &state);
        pyramid = new_pyramid(width, height);
        build(&pyramid, &image);
        assert_true(test_image_equal(&pyramid.level[0], &image));
        assert_true(pyramid.levels == PLX_PYRAMID_LEVELS || width >> pyramid.levels == 0 || height >> pyramid.levels == 0);
        for (int n = 1; n < pyramid.levels; n++)
            check_level(&pyramid.level[n - 1], &pyramid.level[n]);
        free(pyramid.level[0].data);
        test_image_free(&image);
    }
}

/* Each corner is that of its cell, has a disparity, and is far enough from all others. */
static void check_corners(const struct plx_corners *corners, const struct plx_image *cells, double disparity)
{
    for (int i = 0; i < corners->count; i++) {
        const struct plx_corner *corner = &corners->corner[i];
        const struct plx_corner_cell *cell =
            (const struct plx_corner_cell *)plx_row(cells, corner->y / PLX_CORNER_CELL) + corner->x / PLX_CORNER_CELL;
        assert_true(cell->strength > 0 && cell->x == corner->x && cell->y == corner->y);
        assert_true(corner->disparity == disparity);
        for (int k = 0; k < i; k++) /* corners do not crowd, across the bounds of cells either */
            assert_true(abs(corner->x - corners->corner[k].x) >= 4 || abs(corner->y - corners->corner[k].y) >= 4);
    }
}

/* Cells with corners in some nine of ten, anywhere in them where the tracker's window fits. */
static struct plx_image draw_cells(int width, int height, uint64_t *state)
{
    const struct plx_image cells = test_image_new(plx_corner_cells(width), plx_corner_cells(height), PLX_U128, 1);
    for (int i = 0; i < cells.width * cells.height; i++) {
        const int column = i % cells.width, row = i / cells.width, x = PLX_CORNER_CELL * column + (int)random_below(state, 8),
                  y = PLX_CORNER_CELL * row + (int)random_below(state, 8), m = PLX_CORNER_MARGIN;
        const bool fits = x >= m && y >= m && x < width / 2 - m && y < height / 2 - m && random_below(state, 10) > 0;
        ((struct plx_corner_cell *)plx_row(&cells, row))[column] =
            fits ? (struct plx_corner_cell){401 + (float)random_below(state, 1000), x < width / 4 ? 320 : -1, (uint16_t)x,
                                            (uint16_t)y, 0}
                 : (struct plx_corner_cell){.strength = 0};
    }
    return cells;
}

static void corners_are_spread(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    for (size_t i = 0; i < SIDES * SIDES; i++) {
        const int width = 2 * side[i % SIDES] + 1, height = 2 * side[i / SIDES];
        struct plx_image cells = draw_cells(width, height, &state);
        struct plx_corners *corners = calloc(1, sizeof *corners);
        assert_non_null(corners);
        assert_int_equal(plx_corners_create(width, height, corners), 0);
        plx_corners_take(corners, &cells);
        check_corners(corners, &cells, 320);
        assert_true(corners->count <= PLX_MAX_CORNERS);
        for (int k = 0; k < corners->count; k++)
            assert_true(corners->corner[k].x < width / 4);
        if (width >= 1026 && height >= 260)
            assert_true(corners->count >= 200);
        assert_true(test_image_padding_intact(&cells));
        plx_corners_destroy(corners);
        free(corners);
        test_image_free(&cells);
    }
}

static void disparity_between_pixels(void **unused)
{
    (void)unused;
    uint16_t value[3][3] = {{100, 116, 116}, {108, 124, 0xFFFF}, {108, 200, 124}};
    const struct plx_image image = {value, 3, 3, sizeof value[0], PLX_U16};
    assert_true(plx_disparity_between(&image, 0, 0) == 100);
    assert_true(plx_disparity_between(&image, 0.5, 0.5) == 112);
    assert_true(plx_disparity_between(&image, 0.25, 0) == 104);
    assert_true(plx_disparity_between(&image, 1.5, 0.5) < 0); /* invalid */
    assert_true(plx_disparity_between(&image, 0.5, 1.5) < 0); /* an edge */
    assert_true(plx_disparity_between(&image, -0.1, 0) < 0);
    assert_true(plx_disparity_between(&image, 2, 0) < 0);
    assert_true(plx_disparity_between(&image, NAN, 0) < 0);
}

/* Tracks a grid of points from the image to itself moved by (DX, DY); returns the share that is found, all within 0.1 px. */
static double track_shift(double dx, double dy, double brightness, int levels)
{
    const int width = 321, height = 243;
    struct plx_image image = test_image_new(width, height, PLX_U8, 11);
    struct plx_pyramid key, now;
    int found = 0, tried = 0;
    key = new_pyramid(width, height);
    now = new_pyramid(width, height);
    draw(&image, 0, 0, -brightness / 2); /* half of it each, so that neither image saturates */
    build(&key, &image);
    draw(&image, dx, dy, brightness / 2);
    build(&now, &image);
    for (int row = 0; row < 15; row++)
        for (int column = 0; column < 25; column++) {
            const double x = 60.5 + 8 * column, y = 60.5 + 8 * row, from[2] = {x, y};
            double to[2] = {x, y};
            tried++;
            if (!plx_flow_track(&key, &now, levels, from, to))
                continue;
            found++;
            if (fabs(to[0] - x - dx) > 0.1 || fabs(to[1] - y - dy) > 0.1)
                fail_msg("(%g, %g) by (%g, %g): found at (%g, %g)", x, y, dx, dy, to[0] - x, to[1] - y);
        }
    free(key.level[0].data);
    free(now.level[0].data);
    test_image_free(&image);
    return (double)found / tried;
}

static void known_shifts(void **unused)
{
    (void)unused;
    assert_true(track_shift(0, 0, 0, 3) == 1);
    assert_true(track_shift(0.37, -0.71, 0, 3) == 1);
    assert_true(track_shift(2.5, 1.25, -15, 3) == 1); /* darker */
    assert_true(track_shift(0, 0, 40, 3) == 1);       /* brighter by more than the window may look different */
    assert_true(track_shift(-6.2, 4.9, 0, 5) >= 0.9);
    assert_true(track_shift(0.5, 0.5, 0, 1) == 1);
}

/* Whether the window at (60.5, 60.5) is found again in the same image with a stripe of GREY in it. */
static bool finds_beside(int first_column, int columns, uint8_t grey)
{
    struct plx_image image = test_image_new(160, 120, PLX_U8, 1);
    struct plx_pyramid key, now;
    const double from[2] = {60.5, 60.5};
    double to[2] = {60.5, 60.5};
    key = new_pyramid(160, 120);
    now = new_pyramid(160, 120);
    draw(&image, 0, 0, 0);
    build(&key, &image);
    for (int y = 0; y < image.height; y++)
        memset((uint8_t *)plx_row(&image, y) + first_column, grey, (size_t)columns);
    build(&now, &image);
    const bool found = plx_flow_track(&key, &now, 1, from, to);
    free(key.level[0].data);
    free(now.level[0].data);
    test_image_free(&image);
    return found;
}

/* The window is the columns 55 to 66. Samples of its rows reach beyond it, and say nothing. */
static void what_is_beside_the_window_does_not_count(void **unused)
{
    (void)unused;
    assert_true(finds_beside(67, 5, 255));
    assert_true(finds_beside(67, 5, 0));
    assert_true(finds_beside(50, 5, 255));
    assert_false(finds_beside(55, 12, 255));
}

static void what_cannot_be_found(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    for (size_t i = 0; i < SIDES * SIDES; i++) { /* no image is too small to ask */
        const int width = side[i % SIDES], height = side[i / SIDES];
        struct plx_image image = test_image_new(width, height, PLX_U8, 1);
        struct plx_pyramid key, now;
        key = new_pyramid(width, height);
        now = new_pyramid(width, height);
        draw_noise(&image, &state);
        build(&key, &image);
        draw_noise(&image, &state);
        build(&now, &image);
        const double place[][2] = {{0.5 * width, 0.5 * height}, {-5, 3}, {width + 1e6, 0}, {1e300, -1e300}, {NAN, 1}};
        for (size_t k = 0; k < sizeof place / sizeof place[0]; k++) {
            double to[2] = {3, 4};
            assert_false(plx_flow_track(&key, &now, 5, place[k], to)); /* noise looks different everywhere */
            assert_true(to[0] == 3 && to[1] == 4);
            double guess[2] = {place[k][0], place[k][1]};
            const double middle[2] = {0.5 * width, 0.5 * height};
            assert_false(plx_flow_track(&key, &now, 5, middle, guess));
        }
        free(key.level[0].data);
        free(now.level[0].data);
        test_image_free(&image);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pyramid_is_means),
        cmocka_unit_test(corners_are_spread),
        cmocka_unit_test(disparity_between_pixels),
        cmocka_unit_test(known_shifts),
        cmocka_unit_test(what_is_beside_the_window_does_not_count),
        cmocka_unit_test(what_cannot_be_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
