/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the records stage, for the unit test and the parity test: those of the columns stage with the stixels that it finds
 * there, or with stixels at random. */
#ifndef PLX_TESTS_RECORD_CASES_H
#define PLX_TESTS_RECORD_CASES_H

#include "core/ground/records.h"
#include "core/pipeline/stages.h"
#include "tests/column_cases.h"

#define RECORD_CASES (2 * COLUMN_CASES) /* the second half with stixels at random */

struct record_case {
    struct column_case column;
    struct plx_records_params params;
    bool random_stixels;
};

static inline struct record_case record_case(uint64_t *seed, int index)
{
    struct record_case ret = {.column = column_case(seed, index), .random_stixels = index >= COLUMN_CASES};
    const struct plx_mask_params *mask = &ret.column.params.mask;
    static const int areas[] = {1, 1, 8, 100, 5000};

    ret.params = (struct plx_records_params){
        .depth_scale = random_below(seed, 8) ? 1000 + random_below(seed, 20000000) : PLX_RECORDS_MAX_SCALE,
        .infinity = mask->infinity,
        .min_height_um = mask->min_height_um,
        .max_height_um = mask->max_height_um,
        .min_area = areas[random_below(seed, 5)],
    };
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

/* Draws the disparity, and the stixels: at random, or those that CPU finds in the disparity. */
static inline int record_draw(uint64_t *seed, const struct record_case *c, struct plx_stages *cpu,
                              const struct plx_image *disparity, const struct plx_image *stixels)
{
    struct plx_image scan = test_image_new(stixels->height, 1, PLX_U64, 0);
    int result = 0;

    column_draw(seed, c->column.content, &c->column.params, &c->column.ground, disparity);
    if (c->random_stixels)
        stixels_draw(seed, c->column.height, stixels);
    else
        result = cpu->ops->columns(cpu, disparity, &c->column.ground, &c->column.params, &scan, stixels);
    test_image_free(&scan);
    return result;
}

#endif
