/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of a client's depth image and point cloud, 640 x 480, beside a loop over plx_point.
 *
 *   bench_points
 */
#include <stdio.h>
#include <stdlib.h>

#include <parallax/client.h>

#include "core/base/clock.h"

#define WIDTH 640
#define HEIGHT 480
#define ROUNDS 101

static uint16_t disparity[HEIGHT][WIDTH];
static float cloud[HEIGHT][WIDTH][3], depth[HEIGHT][WIDTH];

static void one_by_one(const struct plx_view *view)
{
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            if (plx_point(view, x, y, cloud[y][x]) < 0)
                cloud[y][x][2] = 0;
}

static void all_points(const struct plx_view *view)
{
    plx_points(view, cloud[0][0], sizeof cloud[0]);
}

static void all_depths(const struct plx_view *view)
{
    plx_depth(view, depth[0], sizeof depth[0]);
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Median of ROUNDS, milliseconds. */
static double time_of(void (*work)(const struct plx_view *view), const struct plx_view *view)
{
    int64_t ns[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t begun = plx_now_ns();
        work(view);
        ns[i] = plx_now_ns() - begun;
    }
    qsort(ns, ROUNDS, sizeof *ns, ascending);
    return (double)ns[ROUNDS / 2] / 1e6;
}

int main(void)
{
    static const struct plx_frame frame = {
        .disparities = 64, .calibration = {.fx = 500, .fy = 500, .cx = 320, .cy = 240, .cx_right = 320, .baseline_m = 0.12}};
    struct plx_view view = {.frame = &frame};
    view.plane[PLX_PLANE_DISPARITY] = disparity;
    view.layout[PLX_PLANE_DISPARITY] =
        (struct plx_plane){.pitch = sizeof disparity[0], .width = WIDTH, .height = HEIGHT, .element = 2};
    uint32_t seed = 1;
    for (int i = 0; i < WIDTH * HEIGHT; i++) { /* a fifth is invalid */
        seed = seed * 1664525 + 1013904223;
        disparity[i / WIDTH][i % WIDTH] = seed % 5 == 0 ? PLX_DISPARITY_INVALID : (uint16_t)(seed >> 22);
    }
    const double single = time_of(one_by_one, &view), points = time_of(all_points, &view), depths = time_of(all_depths, &view);
    printf("plx_point, %d x %d: %.3f ms; plx_points: %.3f ms, %.1f times as fast; plx_depth: %.3f ms\n", WIDTH, HEIGHT, single,
           points, single / points, depths);
    return 0;
}
