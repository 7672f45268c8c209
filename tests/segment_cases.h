/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the segments stage, for the unit test and the parity test: those of the columns stage with the stixels that it finds
 * there, or with stixels at random, and predictions at random. */
#ifndef PLX_TESTS_SEGMENT_CASES_H
#define PLX_TESTS_SEGMENT_CASES_H

#include "core/ground/segments.h"
#include "core/pipeline/stages.h"
#include "tests/column_cases.h"

/* As many cases with the stixels of the columns stage as with stixels at random, and then those that a prediction keeps
 * together. */
#define STEPPED_CASES 48
#define SEGMENT_CASES (2 * COLUMN_CASES + STEPPED_CASES)

enum segment_stixels { STIXELS_OF_COLUMNS, STIXELS_AT_RANDOM, STIXELS_STEPPED };

struct segment_case {
    struct column_case column;
    struct plx_segments_params params;
    enum segment_stixels stixels;
};

static inline struct segment_case segment_case(uint64_t *seed, int index)
{
    struct segment_case ret = {.column = column_case(seed, index),
                               .stixels = index < COLUMN_CASES       ? STIXELS_OF_COLUMNS
                                          : index < 2 * COLUMN_CASES ? STIXELS_AT_RANDOM
                                                                     : STIXELS_STEPPED};
    const struct plx_mask_params *mask = &ret.column.params.mask;
    static const int areas[] = {1, 1, 8, 100, 5000};

    ret.params = (struct plx_segments_params){
        .depth_scale = random_below(seed, 8) ? 1000 + random_below(seed, 20000000) : PLX_SEGMENTS_MAX_SCALE,
        .infinity = mask->infinity,
        .min_height_um = mask->min_height_um,
        .max_height_um = mask->max_height_um,
        .min_area = areas[random_below(seed, 5)],
    };
    if (ret.stixels == STIXELS_STEPPED) { /* boxes that stand free, each a few columns wide */
        const int size = COLUMN_SIZES - 4 + index % 3;
        ret.column.width = column_sizes[size][0];
        ret.column.height = column_sizes[size][1];
        ret.column.content = STREET;
        ret.column.ground = (struct plx_ground){0};
        ret.params.infinity = ret.column.params.mask.infinity = 0;
        ret.params.depth_scale = 6000000 + random_below(seed, 10000000);
        ret.params.min_area = areas[random_below(seed, 3)];
    }
    return ret;
}

/* Unused ones are all 0, as in a frame; the others have any rows, and disparities of a few surfaces. */
static inline void stixels_draw(uint64_t *seed, int height, const struct plx_image *stixels)
{
    for (int x = 0; x < stixels->height; x++) {
        struct plx_stixel *stixel = plx_row(stixels, x);
        const uint32_t count = random_below(seed, PLX_COLUMN_STIXELS + 1);
        for (uint32_t i = 0; i < PLX_COLUMN_STIXELS; i++) {
            const uint32_t y0 = random_below(seed, (uint32_t)height), rows = random_below(seed, 1 + (uint32_t)height / 3);
            const uint32_t surface = 20 + 150 * random_below(seed, 6) + random_below(seed, 4);
            const uint32_t d = random_below(seed, 40) ? surface : 1 + random_below(seed, 65535);
            stixel[i] = i < count
                            ? (struct plx_stixel){.y0 = (uint16_t)y0, .y1 = (uint16_t)(y0 + rows), .disparity = (uint16_t)d}
                            : (struct plx_stixel){0};
        }
    }
}

/* One tall stixel in each column, on what DISPARITY shows there, but for up to 3 %: neighbours come apart often. */
static inline void steps_draw(uint64_t *seed, const struct plx_image *disparity, int infinity, const struct plx_image *stixels)
{
    const uint32_t height = (uint32_t)disparity->height;

    for (int x = 0; x < stixels->height; x++) {
        struct plx_stixel *stixel = plx_row(stixels, x);
        const uint32_t y0 = random_below(seed, 1 + height / 4), y1 = height - 1 - random_below(seed, 1 + height / 4);
        const uint16_t *row = plx_row(disparity, (int)random_below(seed, height));
        const int here = row[PLX_COLUMN_WIDTH * x] - infinity, step = here / 32;
        const int d = step > 0 && here < 60000 ? here + (int)random_below(seed, 2 * (uint32_t)step + 1) - step : 320;
        memset(stixel, 0, PLX_COLUMN_STIXELS * sizeof *stixel);
        if (random_below(seed, 8))
            stixel[0] = (struct plx_stixel){.y0 = (uint16_t)y0, .y1 = (uint16_t)y1, .disparity = (uint16_t)d};
    }
}

/* Draws the disparity, and the stixels: at random, or those that CPU finds in the disparity. */
static inline int segment_draw(uint64_t *seed, const struct segment_case *c, struct plx_stages *cpu,
                               const struct plx_image *disparity, const struct plx_image *stixels)
{
    struct plx_image scan = test_image_new(stixels->height, 1, PLX_U64, 0);
    int result = 0;

    column_draw(seed, c->column.content, &c->column.params, &c->column.ground, disparity);
    if (c->stixels == STIXELS_STEPPED)
        steps_draw(seed, disparity, c->params.infinity, stixels);
    else if (c->stixels == STIXELS_AT_RANDOM)
        stixels_draw(seed, c->column.height, stixels);
    else
        result = cpu->ops->stixels(cpu, disparity, &c->column.ground, &c->column.params, &scan, stixels);
    test_image_free(&scan);
    return result;
}

/* A box about one of STIXELS that may reach beyond the picture, to negative numbers too. */
static inline struct plx_predicted_box box_draw(uint64_t *seed, const struct plx_image *stixels)
{
    const int x = (int)random_below(seed, (uint32_t)stixels->height);
    const struct plx_stixel *stixel =
        (const struct plx_stixel *)plx_row(stixels, x) + random_below(seed, random_below(seed, 2) ? 1 : PLX_COLUMN_STIXELS);
    const int wide = (int)random_below(seed, 200), high = (int)random_below(seed, 100), deep = (int)random_below(seed, 60);

    return (struct plx_predicted_box){.left = PLX_COLUMN_WIDTH * x - wide,
                                      .right = PLX_COLUMN_WIDTH * x + (int)random_below(seed, 200),
                                      .top = stixel->y0 + 20 - high,
                                      .bottom = stixel->y1 - 20 + (int)random_below(seed, 100),
                                      .far_disparity = stixel->disparity - deep,
                                      .near_disparity = stixel->disparity + (int)random_below(seed, 60)};
}

/* None, a few, or as many as there may be; also empty boxes, and one that contains everything. */
static inline void predictions_draw(uint64_t *seed, const struct plx_image *stixels, struct plx_predictions *ret_predictions)
{
    static const struct plx_predicted_box all = {INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX},
                                          empty = {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN},
                                          beside = {INT32_MIN, -1, INT32_MIN, -1, INT32_MIN, -1};
    const int counts[] = {0, 1, 1 + (int)random_below(seed, 20), PLX_MAX_OBSTACLES};

    memset(ret_predictions, 0xA5, sizeof *ret_predictions); /* nobody may read what is beyond the count */
    ret_predictions->count = counts[random_below(seed, 4)];
    for (int i = 0; i < ret_predictions->count; i++)
        ret_predictions->box[i] = box_draw(seed, stixels);
    if (ret_predictions->count > 1) {
        ret_predictions->box[0] = empty;
        ret_predictions->box[ret_predictions->count - 1] = random_below(seed, 8) ? beside : all;
    }
}

#endif
