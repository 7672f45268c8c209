/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First the number of passes of three labelling schemes (label_passes.h) on random images, beside the averages that their study
 * gives, and the time of stage label, union-find in one pass, on the same images. Then the times of stages label, regions,
 * speckle and ground on one core: typical masks, noise of every density, and random disparities, the worst case for runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/ground/obstacles.h"
#include "cpu/cpu.h"
#include "oracle/test_image.h"
#include "tests/bench/label_passes.h"

#define ROUNDS 40

struct bench {
    struct plx_stages *stages;
    struct plx_image mask, disparity, labels, published, clean;
    struct plx_region region[PLX_MAX_OBSTACLES];
};

static uint64_t random_state = 1;

/* Boxes at their own depths over slanted ground, one pixel of disparity in thirty invalid. */
static void boxes(int x, int y, int width, int height, int *mask, int *disparity)
{
    const int column = x * 8 / width, left = width * column / 8;
    const bool box = column % 2 == 1 && x - left < width / 12 && y > height / 4 && y < height * (5 + column / 2 % 3) / 8;
    *mask = box;
    *disparity = (int)random_below(&random_state, 30) == 0 ? (int)PLX_DISPARITY_INVALID
                 : box                                     ? 200 + 64 * column + (int)random_below(&random_state, 5)
                                                           : y + (int)random_below(&random_state, 5);
}

static void noise(int percent, int *mask, int *disparity)
{
    *mask = (int)random_below(&random_state, 100) < percent;
    *disparity = 300 + (int)random_below(&random_state, 8);
}

/* Every pixel is a run of its own: the mask is full, and neighbours agree only by chance. */
static void random_disparity(int *mask, int *disparity)
{
    *mask = 1;
    *disparity = (int)random_below(&random_state, 1024);
}

/* KIND: negative: boxes; up to 100: noise with so many percent of the mask set; above: random disparities. */
static void paint(struct bench *b, int kind)
{
    for (int y = 0; y < b->mask.height; y++)
        for (int x = 0; x < b->mask.width; x++) {
            int mask, disparity;
            if (kind < 0)
                boxes(x, y, b->mask.width, b->mask.height, &mask, &disparity);
            else if (kind > 100)
                random_disparity(&mask, &disparity);
            else
                noise(kind, &mask, &disparity);
            ((uint8_t *)plx_row(&b->mask, y))[x] = mask ? 255 : 0;
            ((uint16_t *)plx_row(&b->disparity, y))[x] = (uint16_t)disparity;
        }
}

static double milliseconds(int64_t ns)
{
    return (double)ns / PLX_NS_PER_MS;
}

static void measure(struct bench *b, const char *name)
{
    const struct plx_label_params label = {.max_step = 8, .min_area = 100};
    const struct plx_speckle speckle = {.max_size = 100, .max_step = 16};
    const struct plx_ground_params ground = {.enabled = true,
                                             .disparities = 64,
                                             .tolerance = 12,
                                             .horizon_min = -b->mask.height / 2,
                                             .horizon_max = b->mask.height * 3 / 4,
                                             .calibration = {512, 512, 319.5, 239.5, 319.5, 0.12}};
    const struct plx_stages_ops *ops = b->stages->ops;
    const struct plx_region_input input = {&b->labels, &b->disparity, &b->mask, &b->mask, 0};
    int64_t best[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    const struct plx_ground_prior alone = {.slope_max = 0};
    struct plx_ground plane;
    uint32_t count = 0;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t time[5];
        time[0] = plx_now_ns();
        ops->label(b->stages, &b->mask, &b->disparity, &label, &b->labels, &count);
        time[1] = plx_now_ns();
        ops->regions(b->stages, &input, &count, b->region, &b->published);
        time[2] = plx_now_ns();
        ops->speckle(b->stages, &b->disparity, &speckle, &b->clean);
        time[3] = plx_now_ns();
        ops->ground(b->stages, &b->disparity, &ground, &alone, &plane);
        time[4] = plx_now_ns();
        for (int k = 0; k < 4; k++)
            best[k] = time[k + 1] - time[k] < best[k] ? time[k + 1] - time[k] : best[k];
    }
    printf("%4dx%-4d %-10s %6u regions   label %6.2f  regions %6.2f  speckle %6.2f  ground %6.2f ms\n", b->mask.width,
           b->mask.height, name, count, milliseconds(best[0]), milliseconds(best[1]), milliseconds(best[2]),
           milliseconds(best[3]));
}

/* Milliseconds of stage label on MASK with equal disparities, so that it finds 8-connected components. */
static double union_find_ms(uint8_t *mask, int side)
{
    const struct plx_limits limits = {side, side, 64, 1};
    const struct plx_label_params params = {.max_step = 8, .min_area = 1};
    const struct plx_image image = {mask, side, side, (size_t)side, PLX_U8};
    struct plx_image disparity = test_image_new(side, side, PLX_U16, 0), labels = test_image_new(side, side, PLX_U32, 0);
    struct plx_stages *stages;
    int64_t best = INT64_MAX;
    uint32_t count;

    memset(disparity.data, 1, disparity.pitch * (size_t)side);
    if (plx_cpu_create(&limits, &stages) < 0)
        exit(1);
    for (int i = 0; i < 5; i++) {
        const int64_t begun = plx_now_ns();
        stages->ops->label(stages, &image, &disparity, &params, &labels, &count);
        const int64_t taken = plx_now_ns() - begun;
        best = taken < best ? taken : best;
    }
    stages->ops->destroy(stages);
    test_image_free(&disparity);
    test_image_free(&labels);
    return milliseconds(best);
}

/* Every second pixel is set at random; the study does not say how its images were drawn. */
static void compare_schemes(void)
{
    static const char *const name[LABEL_SCHEMES] = {"8 neighbours", "alternating 4", "shifted 2x2 blocks"};
    static const struct {
        int side, images;
        double study[LABEL_SCHEMES];
    } row[] = {{32, 200, {37.6, 75.3, 78.1}}, {128, 40, {157, 315, 299}}, {1024, 1, {1257, 2515, 2321}}};

    puts("passes until labels stop spreading, random images, mean (the study's)");
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const int side = row[i].side, images = row[i].images;
        uint8_t *mask = malloc((size_t)side * (size_t)side);
        long passes[LABEL_SCHEMES] = {0};
        double ms = 0;
        if (!mask)
            exit(1);
        for (int image = 0; image < images; image++) {
            for (int k = 0; k < side * side; k++)
                mask[k] = random_below(&random_state, 2) ? 255 : 0;
            for (int scheme = 0; scheme < LABEL_SCHEMES; scheme++)
                passes[scheme] += label_count_passes(mask, side, (enum label_scheme)scheme);
            ms += union_find_ms(mask, side);
        }
        printf("%4dx%-4d ", side, side);
        for (int scheme = 0; scheme < LABEL_SCHEMES; scheme++)
            printf("  %s %.1f (%.1f)", name[scheme], (double)passes[scheme] / images, row[i].study[scheme]);
        printf("  union-find 1 pass, %.3f ms\n", ms / images);
        fflush(stdout);
        free(mask);
    }
}

int main(void)
{
    compare_schemes();
    static const int size[][2] = {{640, 480}, {1240, 374}, {1920, 1080}};
    static const struct {
        const char *name;
        int kind;
    } kind[] = {{"boxes", -1},     {"noise 10%", 10}, {"noise 41%", 41}, {"noise 50%", 50},
                {"noise 59%", 59}, {"noise 90%", 90}, {"random", 101}};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        const int w = size[i][0], h = size[i][1];
        const struct plx_limits limits = {w, h, 64, 1};
        struct bench b = {.mask = test_image_new(w, h, PLX_U8, 0),
                          .disparity = test_image_new(w, h, PLX_U16, 0),
                          .labels = test_image_new(w, h, PLX_U32, 0),
                          .published = test_image_new(w, h, PLX_U16, 0),
                          .clean = test_image_new(w, h, PLX_U16, 0)};
        if (plx_cpu_create(&limits, &b.stages) < 0)
            return 1;
        for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
            paint(&b, kind[k].kind);
            measure(&b, kind[k].name);
        }
        b.stages->ops->destroy(b.stages);
        test_image_free(&b.mask);
        test_image_free(&b.disparity);
        test_image_free(&b.labels);
        test_image_free(&b.published);
        test_image_free(&b.clean);
    }
    return 0;
}
