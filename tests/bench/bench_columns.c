/* SPDX-License-Identifier: Apache-2.0 */
/* Stage columns, one core, with each instruction set: a street with things on it, and noise, in which nothing connects. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/ground/stixels.h"
#include "cpu/internal.h"
#include "oracle/test_image.h"

#define ROUNDS 40

static uint64_t random_state = 1;

/* Ground below the middle row, a thing in every second column of a tenth of the width, one pixel in thirty invalid. */
static void paint(const struct plx_image *disparity, bool street)
{
    const int width = disparity->width, height = disparity->height;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int tenth = 10 * x / width, thing = tenth % 2 && y > height / 4 ? 200 + 60 * tenth : 16,
                      road = y - height / 3;
            const int d = road > thing ? road : thing;
            ((uint16_t *)plx_row(disparity, y))[x] = (uint16_t)(random_below(&random_state, 30) == 0 ? PLX_DISPARITY_INVALID
                                                                : street ? (uint32_t)d + random_below(&random_state, 5)
                                                                         : random_below(&random_state, 1024));
        }
}

static void measure(struct plx_stages *stages, const struct plx_image *disparity, int disparities, const char *isa,
                    const char *name)
{
    const struct plx_columns_params params = {.mask = {.near_disparity = 16 * disparities - 1,
                                                       .far_disparity = 40,
                                                       .min_height_um = 200000,
                                                       .max_height_um = 3000000,
                                                       .focal_px = disparity->width},
                                              .disparities = disparities,
                                              .min_drop_mm = 100};
    const struct plx_ground ground = {
        .b = 65536, .c = -65536 * (disparity->height / 3), .camera_height_um = 1650000, .valid = 1};
    const int columns = plx_columns_of(disparity->width);
    struct plx_image scan = test_image_new(columns, 1, PLX_U64, 0);
    struct plx_image stixels = test_image_new(PLX_COLUMN_STIXELS, columns, PLX_U128, 0);
    int64_t best = INT64_MAX;
    int count = 0;

    for (int i = 0; i < ROUNDS; i++) {
        const int64_t begun = plx_now_ns();
        if (stages->ops->stixels(stages, disparity, &ground, &params, &scan, &stixels) < 0)
            exit(1);
        const int64_t taken = plx_now_ns() - begun;
        best = taken < best ? taken : best;
    }
    for (int x = 0; x < columns; x++)
        count += ((const struct plx_scan *)scan.data)[x].stixels;
    printf("%4dx%-4d D %3d %-8s %-7s %5d stixels %6.2f ms\n", disparity->width, disparity->height, disparities, isa, name,
           count, (double)best / PLX_NS_PER_MS);
    test_image_free(&scan);
    test_image_free(&stixels);
}

static void measure_size(int width, int height, int disparities, enum plx_isa isa)
{
    const struct plx_limits limits = {width, height, disparities, 1};
    struct plx_image disparity = test_image_new(width, height, PLX_U16, 0);
    struct plx_stages *stages;

    if (plx_isa_kernels(isa) && plx_cpu_create_isa(&limits, isa, &stages) == 0) {
        for (int street = 1; street >= 0; street--) {
            random_state = 1;
            paint(&disparity, street);
            measure(stages, &disparity, disparities, plx_isa_kernels(isa)->name, street ? "street" : "noise");
        }
        stages->ops->destroy(stages);
    }
    test_image_free(&disparity);
}

int main(void)
{
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++) {
        measure_size(640, 480, 64, (enum plx_isa)isa);
        measure_size(1240, 374, 128, (enum plx_isa)isa);
    }
    return 0;
}
