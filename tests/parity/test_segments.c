/* SPDX-License-Identifier: Apache-2.0 */
/* The segments stage: the cases of unit/test_segments, and large images with many segments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/parity/parity.h"
#include "tests/segment_cases.h"

static uint64_t seed;

static void test_case(struct parity *parity, const struct segment_case *c, const char *what)
{
    const int width = c->column.width, height = c->column.height, columns = plx_columns_of(width);
    struct twin disparity = twin_new(parity->gpu, width, height, PLX_U16);
    struct twin ground = twin_new(parity->gpu, (int)sizeof c->column.ground / 8, 1, PLX_U64);
    struct twin predictions = twin_new(parity->gpu, (int)sizeof(struct plx_predictions) / 4, 1, PLX_U32);
    struct twin stixels = twin_new(parity->gpu, PLX_COLUMN_STIXELS, columns, PLX_U128);
    struct twin labels = twin_new(parity->gpu, width, height, PLX_U32);
    struct twin count = twin_new(parity->gpu, 1, 1, PLX_U32);

    if (segment_draw(&seed, c, parity->cpu, &disparity.want, &stixels.want) < 0)
        abort();
    predictions_draw(&seed, &stixels.want, predictions.want.data);
    twin_share(&disparity);
    twin_share(&predictions);
    twin_share(&stixels);
    memcpy(ground.want.data, &c->column.ground, sizeof c->column.ground);
    twin_share(&ground);
    parity_done(parity,
                parity->cpu->ops->segments(parity->cpu, &disparity.want, ground.want.data, &c->params, predictions.want.data,
                                           &stixels.want, &labels.want, count.want.data),
                parity->gpu->ops->segments(parity->gpu, &disparity.got, ground.got.data, &c->params, predictions.got.data,
                                           &stixels.got, &labels.got, count.got.data),
                what);
    parity_compare(parity, &stixels, what);
    parity_compare(parity, &labels, what);
    parity_compare(parity, &count, what);
    twin_free(parity->gpu, &disparity);
    twin_free(parity->gpu, &ground);
    twin_free(parity->gpu, &predictions);
    twin_free(parity->gpu, &stixels);
    twin_free(parity->gpu, &labels);
    twin_free(parity->gpu, &count);
}

/* test_gpu_segments [cases]: so many of the small ones only, for checkers that slow everything down. */
int main(int argc, char **argv)
{
    const struct plx_limits limits = {.width = 1920, .height = 1080, .disparities = 256};
    const int cases = argc == 2 ? atoi(argv[1]) : SEGMENT_CASES;
    struct parity parity;
    char what[80];

    parity_open(&limits, &parity);
    seed = test_seed();
    for (int i = 0; i < cases; i++) {
        const struct segment_case c = segment_case(&seed, i);
        snprintf(what, sizeof what, "segments, case %d, %d x %d, content %d", i, c.column.width, c.column.height,
                 (int)c.column.content);
        test_case(&parity, &c, what);
    }
    for (int i = 0; i < 2 * CONTENTS && argc != 2; i++) {
        struct segment_case c = segment_case(&seed, COLUMN_SIZES * (i % CONTENTS));
        c.stixels = i >= CONTENTS ? STIXELS_AT_RANDOM : STIXELS_OF_COLUMNS;
        c.column.width = 1917;
        c.column.height = limits.height;
        c.column.ground = column_ground(&seed, &c.column.params, c.column.height);
        snprintf(what, sizeof what, "segments, 1917 x 1080, content %d", (int)c.column.content);
        test_case(&parity, &c, what);
    }
    return parity_close(&parity);
}
