/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of plx_locate for a box of 200 x 200 pixels, and for one of 40 x 40, which has as many samples.
 *
 *   bench_locate
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/client.h>

#include "core/base/clock.h"

#define WIDTH 640
#define HEIGHT 480
#define COLUMNS (WIDTH / PLX_COLUMN_WIDTH)
#define ROUNDS 1001

static uint16_t dense[HEIGHT][WIDTH], labels[HEIGHT][WIDTH];
static uint8_t confidence[HEIGHT][WIDTH], filled[HEIGHT][WIDTH];
static struct plx_stixel stixels[COLUMNS][PLX_COLUMN_STIXELS];

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Median of ROUNDS, microseconds. */
static double time_of(const struct plx_view *view, const struct plx_box *box)
{
    static int64_t ns[ROUNDS];
    struct plx_location location = {.state = PLX_LOCATION_RAW};
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t begun = plx_now_ns();
        plx_locate(view, box, 1, &location);
        ns[i] = plx_now_ns() - begun;
    }
    if (location.state != PLX_LOCATION_KNOWN)
        exit(EXIT_FAILURE);
    qsort(ns, ROUNDS, sizeof *ns, ascending);
    return (double)ns[ROUNDS / 2] / 1e3;
}

static void show(struct plx_view *view, enum plx_plane_id id, const void *memory, uint32_t width, uint32_t height)
{
    const uint32_t element = plx_plane_element(id);
    view->plane[id] = memory;
    view->layout[id] = (struct plx_plane){.pitch = width * element, .width = width, .height = height, .element = element};
}

int main(void)
{
    static struct plx_frame frame = {
        .calibration = {.fx = 500, .fy = 500, .cx = 320, .cy = 240, .cx_right = 320, .baseline_m = 0.12},
        .ground = {.valid = 1, .camera_height_m = 1, .normal = {0, 1, 0}},
        .obstacle = {{.label = 1, .track = 1}},
    };
    struct plx_view view = {.frame = &frame, .obstacle_count = 1};
    uint32_t seed = 1;
    for (int i = 0; i < WIDTH * HEIGHT; i++) { /* a fifth is invalid, a fifth lies behind */
        seed = seed * 1664525 + 1013904223;
        const uint16_t disparity = (uint16_t)((seed >> 24) % 5 == 1 ? 160 : 480 + (seed >> 28));
        dense[i / WIDTH][i % WIDTH] = (seed >> 24) % 5 == 0 ? PLX_DISPARITY_INVALID : disparity;
        labels[i / WIDTH][i % WIDTH] = 1;
    }
    memset(confidence, 200, sizeof confidence);
    for (int i = 0; i < COLUMNS; i++)
        for (int k = 0; k < 3; k++)
            stixels[i][k] = (struct plx_stixel){.y0 = 100, .y1 = 300, .disparity = (uint16_t)(480 - 100 * k)};
    show(&view, PLX_PLANE_DENSE, dense, WIDTH, HEIGHT);
    show(&view, PLX_PLANE_LABELS, labels, WIDTH, HEIGHT);
    show(&view, PLX_PLANE_CONFIDENCE, confidence, WIDTH, HEIGHT);
    show(&view, PLX_PLANE_FILLED, filled, WIDTH, HEIGHT);
    show(&view, PLX_PLANE_STIXELS, stixels, PLX_COLUMN_STIXELS, COLUMNS);
    const struct plx_box large = {.x = 220, .y = 140, .width = 200, .height = 200};
    const struct plx_box small = {.x = 300, .y = 220, .width = 40, .height = 40};
    printf("plx_locate: %.1f us for 200 x 200, %.1f us for 40 x 40\n", time_of(&view, &large), time_of(&view, &small));
    return 0;
}
