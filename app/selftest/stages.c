/* SPDX-License-Identifier: Apache-2.0 */
/* Every stage that has an oracle, on random images of awkward sizes, in memory of the backend. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/selftest/check.h"
#include "core/image.h"
#include "core/stages.h"
#include "oracle/components.h"
#include "oracle/image.h"
#include "oracle/matching.h"
#include "oracle/oracle.h"
#include "oracle/test_image.h"

#define SIDE 520
#define PADDING 3
#define BLOCKS 64
#define FILL 0xA5 /* as test_image_new has it */

static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 7}, {7, 2}, {33, 31}, {513, 3}, {3, 130}, {2, 513}, {200, 40}};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

/* A backend, what it does of one case, and the memory of that case. */
struct fixture {
    struct plx_stages *stages;
    struct check_outcome *outcome;
    uint64_t random;
    int width, height, error; /* of the case; the first failure of its stages */
    void *block[BLOCKS];
    int blocks;
};

static void *block_new(struct fixture *fixture, size_t bytes)
{
    void *data = NULL;
    if (fixture->blocks == BLOCKS || fixture->stages->ops->alloc(fixture->stages, bytes, &data) < 0) {
        fputs("parallax-selftest: no memory for a case\n", stderr);
        exit(1);
    }
    return fixture->block[fixture->blocks++] = data;
}

static struct plx_image image_new(struct fixture *fixture, int width, int height, enum plx_type type)
{
    struct plx_image image = {
        .width = width, .height = height, .type = type, .pitch = (size_t)(width + PADDING) * (size_t)type};
    image.data = block_new(fixture, image.pitch * (size_t)height);
    memset(image.data, FILL, image.pitch * (size_t)height);
    return image;
}

static struct plx_image noise_new(struct fixture *fixture, enum plx_type type)
{
    struct plx_image image = image_new(fixture, fixture->width, fixture->height, type);
    for (int y = 0; y < image.height; y++)
        for (size_t i = 0; i < (size_t)image.width * type; i++)
            ((uint8_t *)plx_row(&image, y))[i] = (uint8_t)random_next(&fixture->random);
    return image;
}

static void try(struct fixture *fixture, int result)
{
    if (result < 0 && fixture->error == 0)
        fixture->error = result;
}

/* Waits for the backend; a stage that failed ends the comparison. */
static bool finish(struct fixture *fixture, const char *what)
{
    try(fixture, fixture->stages->ops->finish(fixture->stages));
    if (fixture->error < 0)
        check_fail(fixture->outcome, "%s, %d x %d: %s. %s", what, fixture->width, fixture->height, plx_strerror(fixture->error),
                   fixture->stages->message.text);
    return fixture->error == 0;
}

static void compare(struct fixture *fixture, const char *what, const struct plx_image *got, const struct plx_image *want)
{
    if (!test_image_equal(got, want))
        check_fail(fixture->outcome, "%s, %d x %d: differs from the oracle", what, want->width, want->height);
    else if (!test_image_padding_intact(got))
        check_fail(fixture->outcome, "%s, %d x %d: wrote between the rows", what, want->width, want->height);
}

static void case_convert(struct fixture *s)
{
    const enum plx_format format = (enum plx_format)random_below(&s->random, PLX_FORMAT_COUNT);
    const struct plx_format_layout *layout = plx_format_layout(format);
    struct plx_raw raw = {.width = s->width, .height = s->height, .format = format, .eye_width = s->width};
    if (layout->bayer && (s->width < 2 || s->height < 2))
        return;
    const size_t row = plx_raw_row_bytes(format, s->width),
                 rows = (size_t)s->height + (layout->chroma_plane ? ((size_t)s->height + 1) / 2 : 0);
    raw.pitch = row + 6;
    raw.bytes = rows * raw.pitch;
    raw.bayer = (enum plx_bayer)random_below(&s->random, 4);
    raw.msb_aligned = layout->words && random_below(&s->random, 2);
    uint8_t *data = block_new(s, raw.bytes);
    for (size_t i = 0; i < raw.bytes; i++)
        data[i] = (uint8_t)random_next(&s->random);
    raw.data = data;
    struct plx_image got = image_new(s, s->width, s->height, PLX_U8), want = image_new(s, s->width, s->height, PLX_U8);
    try(s, s->stages->ops->convert(s->stages, &raw, &got));
    oracle_convert(&raw, &want);
    if (finish(s, "convert"))
        compare(s, layout->name, &got, &want);
}

static void case_histogram(struct fixture *s)
{
    const struct plx_image grey = noise_new(s, PLX_U8);
    struct plx_image got = image_new(s, 256, 65, PLX_U32), want = image_new(s, 256, 65, PLX_U32);
    try(s, s->stages->ops->histogram(s->stages, &grey, 256, &got));
    oracle_histogram(&grey, 256, &want);
    if (finish(s, "histogram"))
        compare(s, "histogram", &got, &want);
}

static void case_rectify(struct fixture *s)
{
    const struct plx_image src = noise_new(s, PLX_U8);
    const int width = 97, height = 33;
    struct plx_remap map = {block_new(s, (size_t)width * (size_t)height * sizeof(struct plx_remap_entry)), width, height};
    for (int i = 0; i < width * height; i++)
        map.entry[i] = (struct plx_remap_entry){(int16_t)((int)random_below(&s->random, (uint32_t)s->width + 6) - 3),
                                                (int16_t)((int)random_below(&s->random, (uint32_t)s->height + 6) - 3),
                                                (uint8_t)random_below(&s->random, 32), (uint8_t)random_below(&s->random, 32)};
    struct plx_image got = image_new(s, width, height, PLX_U8), want = image_new(s, width, height, PLX_U8);
    uint32_t *masked = block_new(s, sizeof *masked), masked_want;
    try(s, s->stages->ops->rectify(s->stages, &src, &map, &got, masked));
    oracle_rectify(&src, &map, &want, &masked_want);
    if (!finish(s, "rectify"))
        return;
    compare(s, "rectify", &got, &want);
    if (*masked != masked_want)
        check_fail(s->outcome, "rectify: %u pixels masked, expected %u", *masked, masked_want);
}

static void case_filter(struct fixture *s)
{
    const struct plx_image src = noise_new(s, PLX_U8);
    struct plx_filter *filter = block_new(s, sizeof *filter);
    struct plx_image got = image_new(s, s->width, s->height, PLX_U8), want = image_new(s, s->width, s->height, PLX_U8);
    try(s, plx_filter_make(random_below(&s->random, 2), 1 + 2 * (int)random_below(&s->random, 16),
                           1 + 2 * (int)random_below(&s->random, 16), filter));
    try(s, s->stages->ops->filter(s->stages, &src, filter, &got));
    oracle_filter(&src, filter, &want);
    if (finish(s, "filter"))
        compare(s, "filter", &got, &want);
}

/* The right picture is the left one, a few pixels on, with some noise: candidates of every kind. */
static void draw_pair(struct fixture *s, struct plx_image grey[PLX_EYES])
{
    for (int eye = 0; eye < PLX_EYES; eye++)
        grey[eye] = noise_new(s, PLX_U8);
    for (int y = 0; y < s->height; y++) {
        const uint8_t *left = plx_row(&grey[PLX_LEFT], y);
        uint8_t *right = plx_row(&grey[PLX_RIGHT], y);
        for (int x = 0; x + 7 < s->width; x++)
            right[x] = right[x] > 200 ? right[x] : left[x + 7];
    }
}

static void case_matching(struct fixture *s)
{
    struct plx_image grey[PLX_EYES], got[MATCHING_PLANES], want[MATCHING_PLANES];
    struct plx_match m;
    if (random_below(&s->random, 2))
        plx_match_default(&m);
    else
        plx_match_classic(&m);
    m.disparities = 64 << random_below(&s->random, 3);
    m.paths = random_below(&s->random, 2) ? 4 : 8;
    draw_pair(s, grey);
    for (int i = 0; i < MATCHING_PLANES; i++) {
        const enum plx_type type = matching_type(&m, (enum matching_plane)i);
        got[i] = image_new(s, s->width, s->height, type);
        want[i] = image_new(s, s->width, s->height, type);
    }
    try(s, matching_run(s->stages, grey, &m, got));
    if (!finish(s, "matching"))
        return;
    matching_oracle(grey, &m, want);
    for (int i = 0; i < MATCHING_PLANES; i++)
        compare(s, matching_names[i], &got[i], &want[i]);
}

static void case_components(struct fixture *s)
{
    const struct plx_label_params params = {(int)random_below(&s->random, 20), 1 + (int)random_below(&s->random, 10)};
    const struct plx_image mask = noise_new(s, PLX_U8), disparity = image_new(s, s->width, s->height, PLX_U16);
    const uint32_t density = random_below(&s->random, 256);
    for (int y = 0; y < s->height; y++)
        for (int x = 0; x < s->width; x++) {
            uint8_t *on = (uint8_t *)plx_row(&mask, y) + x;
            *on = *on < density ? 255 : 0;
            ((uint16_t *)plx_row(&disparity, y))[x] = (uint16_t)(300 + random_below(&s->random, 24));
        }
    struct plx_image labels = image_new(s, s->width, s->height, PLX_U32), wanted = image_new(s, s->width, s->height, PLX_U32);
    struct plx_image clean = image_new(s, s->width, s->height, PLX_U16),
                     clean_want = image_new(s, s->width, s->height, PLX_U16);
    const struct plx_speckle speckle = {params.min_area * 4, params.max_step};
    uint32_t *count = block_new(s, sizeof *count), count_want;
    try(s, s->stages->ops->label(s->stages, &mask, &disparity, &params, &labels, count));
    try(s, s->stages->ops->speckle(s->stages, &disparity, &speckle, &clean));
    oracle_label(&mask, &disparity, &params, &wanted, &count_want);
    oracle_speckle(&disparity, speckle.max_size, speckle.max_step, &clean_want);
    if (!finish(s, "label"))
        return;
    compare(s, "label", &labels, &wanted);
    compare(s, "speckle", &clean, &clean_want);
    if (*count != count_want)
        check_fail(s->outcome, "label: %u components, expected %u", *count, count_want);
}

static void check_stages(enum plx_backend_kind kind, const struct check_options *options, struct check_outcome *ret)
{
    static void (*const cases[])(struct fixture *) = {case_convert, case_histogram, case_rectify,
                                                      case_filter,  case_matching,  case_components};
    const int kinds = sizeof cases / sizeof *cases, rounds = options->full ? 20 : 2;
    const struct plx_limits limits = {SIDE, SIDE, 256, 0};
    struct fixture fixture = {.outcome = ret, .random = options->seed};

    if (!check_backend(kind, &limits, &fixture.stages, ret))
        return;
    for (int i = 0; i < rounds * SIZES * kinds && ret->verdict == CHECK_PASSED; i++) {
        fixture.width = sizes[i / kinds % SIZES][0];
        fixture.height = sizes[i / kinds % SIZES][1];
        cases[i % kinds](&fixture);
        while (fixture.blocks > 0)
            fixture.stages->ops->free(fixture.stages, fixture.block[--fixture.blocks]);
    }
    check_note(ret, "%d cases, seed %llu", rounds * SIZES * kinds, (unsigned long long)options->seed);
    fixture.stages->ops->destroy(fixture.stages);
}

void check_stages_cpu(const struct check_options *options, struct check_outcome *ret)
{
    check_stages(PLX_BACKEND_CPU, options, ret);
}

void check_stages_gpu(const struct check_options *options, struct check_outcome *ret)
{
    check_stages(PLX_BACKEND_GPU, options, ret);
}
