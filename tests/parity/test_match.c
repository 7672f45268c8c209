/* SPDX-License-Identifier: Apache-2.0 */
/* The matching stages around aggregation: census, facing, median, local_mean, check, cross_validate, fill and confidence, on
 * noise and on structure.
 */
#include <stdio.h>

#include <parallax/frame.h>

#include "tests/parity/parity.h"

static const int sizes[][2] = {{1, 1},   {2, 1},   {1, 2},  {2, 2},   {7, 1},   {1, 7},    {7, 7},     {31, 33},
                               {33, 31}, {64, 64}, {65, 9}, {513, 2}, {2, 513}, {513, 33}, {200, 150}, {1241, 377}};

static uint64_t state;

/* NOISE, or steps with equal values side by side; black pixels among them either way. */
static void fill_grey(struct twin *twin, bool noise)
{
    for (int y = 0; y < twin->want.height; y++) {
        uint8_t *row = plx_row(&twin->want, y);
        for (int x = 0; x < twin->want.width; x++)
            row[x] = noise ? (uint8_t)random_next(&state) : (uint8_t)((x / 5 * 37 + y / 3 * 11) & 0xF8);
    }
    twin_share(twin);
}

/* Values below LIMIT, a share of SIXTEENTHS invalid. Neighbours are alike, as in a disparity image. */
static void fill_disparity(struct twin *twin, uint32_t limit, uint32_t sixteenths)
{
    for (int y = 0; y < twin->want.height; y++) {
        uint16_t *row = plx_row(&twin->want, y);
        const uint32_t base = random_below(&state, limit);
        for (int x = 0; x < twin->want.width; x++) {
            uint32_t value = random_below(&state, 4) == 0 ? random_below(&state, limit) : base + random_below(&state, 20);
            row[x] = random_below(&state, 16) < sixteenths ? PLX_DISPARITY_INVALID : (uint16_t)(value < limit ? value : base);
        }
    }
    twin_share(twin);
}

/* Adds 2048 to one small disparity of 2000. The GPU's kernels treat a block of pixels that has such a one in another way: both
 * kinds of blocks come to stand side by side. */
static void raise_some(struct twin *twin)
{
    for (int y = 0; y < twin->want.height; y++) {
        uint16_t *row = plx_row(&twin->want, y);
        for (int x = 0; x < twin->want.width; x++)
            if (random_below(&state, 2000) == 0 && row[x] < 2048)
                row[x] += 2048;
    }
    twin_share(twin);
}

static void test_census(struct parity *parity, int width, int height)
{
    struct plx_match match;
    char what[128];

    plx_match_default(&match);
    for (int variant = 0; variant < 4 * 2 * 2 * 2 * 2; variant++) {
        const bool noise = variant / 16 % 2;
        match.census = (enum plx_census_kind)(variant % 4);
        match.smooth = variant / 4 % 2;
        match.census_zero_border = variant / 8 % 2;
        match.gradient_cap = variant / 32 % 2 ? 8 : 0;
        struct twin grey = twin_new(parity->gpu, width, height, PLX_U8),
                    gradient = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin words = twin_new(parity->gpu, width, height, match.census == PLX_CENSUS_FULL_9X7 ? PLX_U64 : PLX_U32);
        const struct plx_features cpu = {words.want, gradient.want}, gpu = {words.got, gradient.got};

        fill_grey(&grey, noise);
        snprintf(what, sizeof what, "census %d, smooth %d, zero border %d, gradient %d, noise %d", match.census, match.smooth,
                 match.census_zero_border, match.gradient_cap, noise);
        parity_done(parity, parity->cpu->ops->census(parity->cpu, &grey.want, &match, &cpu),
                    parity->gpu->ops->census(parity->gpu, &grey.got, &match, &gpu), what);
        parity_compare(parity, &words, what);
        parity_compare(parity, &gradient, what);
        twin_free(parity->gpu, &grey);
        twin_free(parity->gpu, &gradient);
        twin_free(parity->gpu, &words);
    }
}

static void test_median(struct parity *parity, int width, int height)
{
    static const uint32_t invalid[] = {0, 2, 8, 14, 16}; /* sixteenths */

    for (int i = 0; i < 3 * PARITY_COUNT(invalid); i++) {
        const uint32_t sixteenths = invalid[i / 3], limit = i % 3 == 2 ? 4096 : 2048;
        for (enum plx_median kind = PLX_MEDIAN_NONE; kind <= PLX_MEDIAN_VALID_5X5; kind++) {
            struct twin src = twin_new(parity->gpu, width, height, PLX_U16),
                        dst = twin_new(parity->gpu, width, height, PLX_U16);
            char what[96];

            fill_disparity(&src, limit, sixteenths);
            if (i % 3 == 1)
                raise_some(&src);
            snprintf(what, sizeof what, "median %d, below %u, some raised %d, %u/16 invalid", kind, limit, i % 3 == 1,
                     sixteenths);
            parity_done(parity, parity->cpu->ops->median(parity->cpu, &src.want, kind, &dst.want),
                        parity->gpu->ops->median(parity->gpu, &src.got, kind, &dst.got), what);
            parity_compare(parity, &dst, what);
            twin_free(parity->gpu, &src);
            twin_free(parity->gpu, &dst);
        }
    }
}

static void test_check(struct parity *parity, int width, int height)
{
    struct plx_match match;
    char what[64];

    plx_match_default(&match);
    for (int variant = 0; variant < 12; variant++) {
        struct twin left = twin_new(parity->gpu, width, height, PLX_U16), right = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin grey = twin_new(parity->gpu, width, height, PLX_U8), dst = twin_new(parity->gpu, width, height, PLX_U16);

        match.lr_max_diff = variant % 3 - 1;
        match.lr_round = variant / 3 % 2;
        match.invalid_border = variant / 6;
        fill_disparity(&left, variant % 2 ? 64 : 1024, 3);
        fill_disparity(&right, variant % 2 ? 4 : 64, 0);
        fill_grey(&grey, false);
        snprintf(what, sizeof what, "check, largest difference %d, round %d, frame %d", match.lr_max_diff, match.lr_round,
                 match.invalid_border);
        parity_done(parity, parity->cpu->ops->check(parity->cpu, &left.want, &right.want, &grey.want, &match, &dst.want),
                    parity->gpu->ops->check(parity->gpu, &left.got, &right.got, &grey.got, &match, &dst.got), what);
        parity_compare(parity, &dst, what);
        twin_free(parity->gpu, &left);
        twin_free(parity->gpu, &right);
        twin_free(parity->gpu, &grey);
        twin_free(parity->gpu, &dst);
    }
}

/* Noise around one disparity: a share of the neighbours is nearly equal. */
static void fill_near(struct twin *twin, uint32_t base, uint32_t range, uint32_t sixteenths)
{
    for (int y = 0; y < twin->want.height; y++)
        for (int x = 0; x < twin->want.width; x++)
            ((uint16_t *)plx_row(&twin->want, y))[x] =
                (uint16_t)(random_below(&state, 16) < sixteenths ? PLX_DISPARITY_INVALID : base + random_below(&state, range));
    twin_share(twin);
}

static void test_even(struct parity *parity, int width, int height)
{
    static const uint32_t base[] = {0, 1234, 4000, 2020}, range[] = {1, 30, 90, 400}, invalid[] = {0, 4, 15}; /* sixteenths */

    for (int i = 0; i < 4 * 4 * 3 * 2; i++) {
        const uint32_t from = base[i % 4], count = range[i / 4 % 4], sixteenths = invalid[i / 16 % 3];
        struct twin src = twin_new(parity->gpu, width, height, PLX_U16), dst = twin_new(parity->gpu, width, height, PLX_U16);
        char what[96];

        fill_near(&src, from, count, sixteenths);
        if (i >= 48)
            raise_some(&src);
        snprintf(what, sizeof what, "local_mean, %u + %u, some raised %d, %u/16 invalid", from, count, i >= 48, sixteenths);
        parity_done(parity, parity->cpu->ops->local_mean(parity->cpu, &src.want, &dst.want),
                    parity->gpu->ops->local_mean(parity->gpu, &src.got, &dst.got), what);
        parity_compare(parity, &dst, what);
        twin_free(parity->gpu, &src);
        twin_free(parity->gpu, &dst);
    }
}

/* Facing surfaces of any noise, with others beside them, before a picture and its shifted copy, both with noise. */
static void test_facing(struct parity *parity, int width, int height)
{
    static const uint32_t range[] = {1, 6, 14, 60}, invalid[] = {0, 3, 15}; /* sixteenths */
    struct plx_match match;

    plx_match_default(&match);
    for (int i = 0; i < 4 * 3 * 2; i++) {
        const uint32_t sixteenths = invalid[i / 4 % 3], noise = 1 + 30 * (uint32_t)(i / 12),
                       base = 16 * random_below(&state, 9) + 5;
        struct twin src = twin_new(parity->gpu, width, height, PLX_U16), dst = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin left = twin_new(parity->gpu, width, height, PLX_U8), right = twin_new(parity->gpu, width, height, PLX_U8);
        char what[96];

        match.min_disparity = (int)random_below(&state, 9) - 4;
        fill_near(&src, base, range[i % 4], sixteenths);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const int shifted = x + (int)base / PLX_DISPARITY_ONE + match.min_disparity + 10;
                ((uint16_t *)plx_row(&src.want, y))[x] += x / 40 % 4 == 3 ? 100 : 0;
                ((uint8_t *)plx_row(&left.want, y))[x] =
                    (uint8_t)((x + 10 + y / 2) % 9 * 20 + (int)random_below(&state, noise));
                ((uint8_t *)plx_row(&right.want, y))[x] =
                    (uint8_t)((shifted + y / 2) % 9 * 20 + 4 + (int)random_below(&state, noise));
            }
        twin_share(&src);
        twin_share(&left);
        twin_share(&right);
        snprintf(what, sizeof what, "facing, %u + %u, noise %u, %u/16 invalid", base, range[i % 4], noise, sixteenths);
        parity_done(parity, parity->cpu->ops->facing(parity->cpu, &src.want, &left.want, &right.want, &match, &dst.want),
                    parity->gpu->ops->facing(parity->gpu, &src.got, &left.got, &right.got, &match, &dst.got), what);
        parity_compare(parity, &dst, what);
        twin_free(parity->gpu, &src);
        twin_free(parity->gpu, &dst);
        twin_free(parity->gpu, &left);
        twin_free(parity->gpu, &right);
    }
}

static void test_agree(struct parity *parity, int width, int height)
{
    for (uint32_t invalid = 0; invalid <= 12; invalid += 4) { /* sixteenths */
        struct twin strict = twin_new(parity->gpu, width, height, PLX_U16), raw = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin dense = twin_new(parity->gpu, width, height, PLX_U16), dst = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin grey = twin_new(parity->gpu, width, height, PLX_U8);
        char what[64];

        fill_near(&strict, 800, 40, invalid);
        fill_near(&dense, 800, 40, invalid / 4);
        fill_near(&raw, 49, 4, 0);
        fill_grey(&grey, false);
        snprintf(what, sizeof what, "cross_validate, %u/16 invalid", invalid);
        parity_done(
            parity, parity->cpu->ops->cross_validate(parity->cpu, &strict.want, &dense.want, &raw.want, &grey.want, &dst.want),
            parity->gpu->ops->cross_validate(parity->gpu, &strict.got, &dense.got, &raw.got, &grey.got, &dst.got), what);
        parity_compare(parity, &dst, what);
        twin_free(parity->gpu, &strict);
        twin_free(parity->gpu, &dense);
        twin_free(parity->gpu, &raw);
        twin_free(parity->gpu, &grey);
        twin_free(parity->gpu, &dst);
    }
}

/* Bars of many periods, with noise, beside columns that do not repeat. */
static void test_repeats(struct parity *parity, int width, int height)
{
    for (int period = 3; period < 48; period += 4) {
        struct twin src = twin_new(parity->gpu, width, height, PLX_U8), dst = twin_new(parity->gpu, width, height, PLX_U8);
        char what[64];

        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const bool bar = x % 300 < 200 && x % period * 2 < period;
                ((uint8_t *)plx_row(&src.want, y))[x] =
                    (uint8_t)(1 + (bar ? 60 : 0) + (int)random_below(&state, 1 + period / 2));
            }
        twin_share(&src);
        snprintf(what, sizeof what, "repeats, period %d", period);
        parity_done(parity, parity->cpu->ops->repeats(parity->cpu, &src.want, &dst.want),
                    parity->gpu->ops->repeats(parity->gpu, &src.got, &dst.got), what);
        parity_compare(parity, &dst, what);
        twin_free(parity->gpu, &src);
        twin_free(parity->gpu, &dst);
    }
}

static void test_fill(struct parity *parity, int width, int height)
{
    for (uint32_t invalid = 0; invalid <= 16; invalid += 4) { /* sixteenths */
        struct twin src = twin_new(parity->gpu, width, height, PLX_U16), dst = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin filled = twin_new(parity->gpu, width, height, PLX_U8);
        char what[64];

        fill_disparity(&src, 2048, invalid);
        snprintf(what, sizeof what, "fill, %u/16 invalid", invalid);
        parity_done(parity, parity->cpu->ops->fill(parity->cpu, &src.want, &dst.want, &filled.want),
                    parity->gpu->ops->fill(parity->gpu, &src.got, &dst.got, &filled.got), what);
        parity_compare(parity, &dst, what);
        parity_compare(parity, &filled, what);
        twin_free(parity->gpu, &src);
        twin_free(parity->gpu, &dst);
        twin_free(parity->gpu, &filled);
    }
}

static void test_confidence(struct parity *parity, int width, int height)
{
    struct plx_match match;

    for (int preset = 0; preset < 2; preset++) {
        (preset == 0 ? plx_match_default : plx_match_classic)(&match);
        match.paths = preset == 0 ? 8 : 4;
        struct twin raw = twin_new(parity->gpu, width, height, PLX_U16),
                    checked = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin s1 = twin_new(parity->gpu, width, height, PLX_U16), s2 = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin disparity = twin_new(parity->gpu, width, height, PLX_U16),
                    grey = twin_new(parity->gpu, width, height, PLX_U8);
        struct twin confidence = twin_new(parity->gpu, width, height, PLX_U8);

        fill_disparity(&raw, 128, 0);
        fill_disparity(&checked, 2048, 8);
        fill_disparity(&disparity, 2048, 8);
        fill_disparity(&s1, 1700, 0);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                ((uint8_t *)plx_row(&grey.want, y))[x] = (uint8_t)random_below(&state, 8);
        twin_share(&grey);
        for (int y = 0; y < height; y++) { /* S2 >= S1 but where it is less: next to the best disparity only */
            uint16_t *second = plx_row(&s2.want, y);
            const uint16_t *first = plx_row(&s1.want, y);
            for (int x = 0; x < width; x++)
                second[x] = (uint16_t)(random_below(&state, 50) == 0 ? 0xFFFF : first[x] + random_below(&state, 300));
        }
        twin_share(&s2);
        const struct plx_candidates cpu = {.raw = raw.want, .s1 = s1.want, .s2 = s2.want};
        const struct plx_candidates gpu = {.raw = raw.got, .s1 = s1.got, .s2 = s2.got};
        parity_done(
            parity,
            parity->cpu->ops->confidence(parity->cpu, &cpu, &checked.want, &disparity.want, &grey.want, &match,
                                         &confidence.want),
            parity->gpu->ops->confidence(parity->gpu, &gpu, &checked.got, &disparity.got, &grey.got, &match, &confidence.got),
            "confidence");
        parity_compare(parity, &confidence, "confidence");
        twin_free(parity->gpu, &raw);
        twin_free(parity->gpu, &checked);
        twin_free(parity->gpu, &s1);
        twin_free(parity->gpu, &s2);
        twin_free(parity->gpu, &disparity);
        twin_free(parity->gpu, &grey);
        twin_free(parity->gpu, &confidence);
    }
}

int main(void)
{
    const struct plx_limits limits = {.width = 4100, .height = 1030, .disparities = 64};
    struct parity parity;

    parity_open(&limits, &parity);
    state = test_seed();
    for (int i = 0; i < PARITY_COUNT(sizes); i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        test_census(&parity, width, height);
        test_median(&parity, width, height);
        test_check(&parity, width, height);
        test_facing(&parity, width, height);
        test_even(&parity, width, height);
        test_agree(&parity, width, height);
        test_repeats(&parity, width, height);
        test_fill(&parity, width, height);
        test_confidence(&parity, width, height);
    }
    test_census(&parity, 4100, 1030); /* more tiles than any GPU works on at once */
    return parity_close(&parity);
}
