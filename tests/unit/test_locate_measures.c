/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of plx_locate against LiDAR, of a drawn frame whose answers are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/evaluate/locate_measures.h"
#include "tests/cmocka.h"
#include "tests/unit/frame_plane.h"

#define WIDTH 640
#define HEIGHT 400
#define FOCAL_BASELINE 400.0 /* px m */

struct drawn {
    struct plx_frame frame;
    uint16_t dense[HEIGHT][WIDTH];
};

static struct plx_lidar_truth truth = {.width = WIDTH, .height = HEIGHT, .scored = true};

/* A thing of LiDAR at TRUTH_M, 1 m above the road, where the dense disparity says FOUND_M. */
static void draw(struct drawn *drawn, int x0, int y0, int width, int height, double truth_m, double found_m)
{
    for (int y = y0; y < y0 + height; y++)
        for (int x = x0; x < x0 + width; x++) {
            truth.point[y * WIDTH + x] = (struct plx_lidar_point){.depth_m = (float)truth_m, .height_m = 1};
            drawn->dense[y][x] = (uint16_t)lround(FOCAL_BASELINE / found_m * PLX_DISPARITY_ONE);
        }
}

/* Four clusters that count: right, 8 % wrong, without disparity, and half hidden by something nearer. Others are too narrow,
 * too wide, too far or too near the road. */
static struct drawn *make_frame(void)
{
    struct drawn *drawn = malloc(sizeof *drawn);
    truth.point = calloc(WIDTH * HEIGHT, sizeof *truth.point);
    assert_true(drawn && truth.point);
    init_frame(&drawn->frame, sizeof *drawn, WIDTH, HEIGHT);
    drawn->frame.calibration = (struct plx_calibration_info){400, 400, 320, 170, 320, 1};
    memset(drawn->dense, 0xFF, sizeof drawn->dense);
    place_plane(&drawn->frame, PLX_PLANE_DENSE, drawn->dense, sizeof drawn->dense[0], WIDTH, HEIGHT);
    draw(drawn, 20, 50, 40, 40, 10, 10);
    draw(drawn, 100, 50, 40, 40, 10, 10.8);
    draw(drawn, 180, 50, 40, 40, 10, 10);
    for (int y = 50; y < 90; y++)
        memset(&drawn->dense[y][180], 0xFF, 40 * sizeof drawn->dense[0][0]);
    draw(drawn, 260, 50, 40, 40, 10, 10);
    for (int y = 50; y < 90; y++)
        for (int x = 260; x < 280; x++)
            drawn->dense[y][x] = (uint16_t)(FOCAL_BASELINE / 5 * PLX_DISPARITY_ONE);
    draw(drawn, 340, 50, 8, 40, 10, 10);   /* 20 cm */
    draw(drawn, 360, 50, 170, 40, 10, 10); /* 4.2 m */
    draw(drawn, 20, 150, 40, 40, 45, 45);
    draw(drawn, 100, 150, 40, 40, 10, 10);
    for (int i = 0; i < WIDTH * 40; i++)
        truth.point[150 * WIDTH + i].height_m = 0.1F;
    return drawn;
}

static void figures_of_a_frame(void **state)
{
    (void)state;
    struct drawn *drawn = make_frame();
    struct plx_locate_boxes boxes = {0};
    struct plx_locate_figures figures;
    assert_int_equal(plx_locate_measures_add(&drawn->frame, &truth, &boxes), 0);
    assert_int_equal(boxes.count, 4);
    assert_int_equal(plx_locate_measures_figures(&boxes, &figures), 0);
    assert_true(figures.known == 50); /* that without disparity and the hidden one are unknown */
    assert_true(figures.within_5[PLX_LOCATE_LOCATE] == 25 && figures.within_10[PLX_LOCATE_LOCATE] == 50);
    assert_true(figures.known_within_5[PLX_LOCATE_LOCATE] == 50 && figures.known_within_5[PLX_LOCATE_MEDIAN] == 50);
    assert_true(figures.within_5[PLX_LOCATE_CENTRE] == 50 && figures.within_10[PLX_LOCATE_CENTRE] == 75);
    assert_true(fabs(figures.p95[PLX_LOCATE_LOCATE] - 8) < 0.3);
    assert_true(figures.sigma_covers == 50);

    truth.scored = false; /* nobody knows the road */
    assert_int_equal(plx_locate_measures_add(&drawn->frame, &truth, &boxes), 0);
    truth.scored = true;
    drawn->frame.plane[PLX_PLANE_DENSE].width = 0;
    assert_int_equal(plx_locate_measures_add(&drawn->frame, &truth, &boxes), PLX_ERR_ARG);
    assert_int_equal(boxes.count, 4);
    free(boxes.box);
    free(truth.point);
    free(drawn);
}

static void no_box_has_no_figures(void **state)
{
    (void)state;
    const struct plx_locate_boxes none = {0};
    struct plx_locate_figures figures;
    assert_int_equal(plx_locate_measures_figures(&none, &figures), 0);
    assert_true(isnan(figures.known) && isnan(figures.within_5[PLX_LOCATE_LOCATE]) && isnan(figures.sigma_covers));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_a_frame),
        cmocka_unit_test(no_box_has_no_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
