/* SPDX-License-Identifier: Apache-2.0 */
/* The image stages and the image operations, on black, white, noise and, where it matters, smooth images. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/checks/picture_sums.h"
#include "core/colour/white_balance.h"
#include "core/pipeline/stages.h"
#include "tests/parity/confine.h"
#include "tests/parity/image.h"

/* Rows of twins are 3 elements longer than the image: 13, 125, 253 and 509 columns make whole vectors. */
static const int sizes[][2] = {{1, 1},   {2, 1},   {1, 2},   {2, 2},   {7, 1},    {1, 7},    {7, 7},    {13, 5},    {31, 33},
                               {33, 31}, {125, 9}, {513, 2}, {2, 513}, {253, 66}, {509, 67}, {513, 33}, {1241, 377}};

/* To 8 and to 16 bits. */
static void test_convert(struct parity *parity, struct plx_raw raw, struct twin *buffer, const char *what)
{
    for (int i = 0; i < 2; i++) {
        struct twin grey = twin_new(parity->gpu, raw.eye_width, raw.height, i % 2 ? PLX_U16 : PLX_U8);
        struct plx_raw twin = raw;

        raw.data = buffer->want.data;
        twin.data = buffer->got.data;
        parity_done(parity, parity->cpu->ops->convert(parity->cpu, &raw, &grey.want),
                    parity->gpu->ops->convert(parity->gpu, &twin, &grey.got), what);
        parity_compare(parity, &grey, what);
        twin_free(parity->gpu, &grey);
    }
}

static void test_checksum(struct parity *parity, struct plx_raw raw, struct twin *buffer, const char *what)
{
    struct twin sums = twin_new(parity->gpu, PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES, 1, PLX_U64);
    struct plx_raw twin = raw;

    raw.data = buffer->want.data;
    twin.data = buffer->got.data;
    parity_done(parity, parity->cpu->ops->checksum(parity->cpu, &raw, &sums.want),
                parity->gpu->ops->checksum(parity->gpu, &twin, &sums.got), what);
    parity_compare(parity, &sums, what);
    twin_free(parity->gpu, &sums);
}

static void test_sharpness(struct parity *parity, int width, int height)
{
    struct twin grey = pattern_new(parity, width, height, PLX_U8, NOISE);
    struct twin steps = twin_new(parity->gpu, plx_sharpness_columns(height), 2, PLX_U32);
    char what[64];

    snprintf(what, sizeof what, "sharpness, %d x %d", width, height);
    parity_done(parity, parity->cpu->ops->sharpness(parity->cpu, &grey.want, &steps.want),
                parity->gpu->ops->sharpness(parity->gpu, &grey.got, &steps.got), what);
    parity_compare(parity, &steps, what);
    twin_free(parity->gpu, &grey);
    twin_free(parity->gpu, &steps);
}

static void test_colour(struct parity *parity, struct plx_raw raw, struct twin *buffer)
{
    struct twin rgb = twin_new(parity->gpu, raw.eye_width, raw.height, PLX_RGB),
                tone = twin_new(parity->gpu, PLX_COLOUR_FULL + 1, 1, PLX_U8),
                sums = twin_new(parity->gpu, plx_colour_sum_columns(raw.height), PLX_COLOUR_SUMS, PLX_U64);
    struct plx_development development = {
        .black = raw.eye_x % 2 ? 0 : 9, /* a matrix that leaves the range on both sides */
        .gain = {PLX_COLOUR_ONE, 2 * PLX_COLOUR_ONE + 77, PLX_COLOUR_MAX_GAIN * PLX_COLOUR_ONE},
        .matrix = {9000, -3000, -1904, -1111, 6666, -1459, 17, -5003, 9082}};
    struct plx_raw on_gpu = raw;
    char what[160];

    plx_colour_tones(tone.want.data);
    twin_share(&tone);
    raw.chroma = (struct plx_chroma){raw.eye_x & 1, raw.eye_width & 1, raw.height & 1, raw.width & 1};
    on_gpu.chroma = raw.chroma;
    raw.data = buffer->want.data;
    on_gpu.data = buffer->got.data;
    snprintf(what, sizeof what, "colour, %s, order %d, %s, eye at %d", plx_format_layout(raw.format)->name, (int)raw.bayer,
             raw.msb_aligned ? "MSB" : "LSB", raw.eye_x);
    for (int i = 0; i < 2; i++) {
        const bool makes_sums = i > 0;
        int (*const stage)(struct plx_stages *, const struct plx_raw *, const struct plx_development *,
                           const struct plx_image *) = makes_sums ? parity->cpu->ops->colour_sums : parity->cpu->ops->colour;
        development.tone = tone.want.data;
        const int want = stage(parity->cpu, &raw, &development, makes_sums ? &sums.want : &rgb.want);
        development.tone = tone.got.data;
        const int got = (makes_sums ? parity->gpu->ops->colour_sums : parity->gpu->ops->colour)(
            parity->gpu, &on_gpu, &development, makes_sums ? &sums.got : &rgb.got);
        parity_done(parity, want, got, what);
        parity_compare(parity, makes_sums ? &sums : &rgb, what);
    }
    twin_free(parity->gpu, &rgb);
    twin_free(parity->gpu, &tone);
    twin_free(parity->gpu, &sums);
}

/* Whole, left half, right half, and an odd window. */
static void test_windows(struct parity *parity, struct plx_raw raw, struct twin *buffer)
{
    const int half = raw.width / 2, least = plx_format_layout(raw.format)->bayer ? 2 : 1;
    const int windows[][2] = {{0, raw.width}, {0, half}, {half, raw.width - half}, {1, raw.width - 2}};
    char what[128];

    for (int i = 0; i < PARITY_COUNT(windows); i++) {
        raw.eye_x = windows[i][0];
        raw.eye_width = windows[i][1];
        snprintf(what, sizeof what, "convert %s, order %d, %s, eye at %d", plx_format_layout(raw.format)->name, (int)raw.bayer,
                 raw.msb_aligned ? "MSB" : "LSB", raw.eye_x);
        if (raw.eye_width < least)
            continue;
        test_convert(parity, raw, buffer, what);
        snprintf(what, sizeof what, "checksum, %s, eye at %d", plx_format_layout(raw.format)->name, raw.eye_x);
        test_checksum(parity, raw, buffer, what);
        test_colour(parity, raw, buffer);
    }
}

static void test_formats(struct parity *parity, int width, int height)
{
    for (int format = 0; format < PLX_FORMAT_COUNT; format++) {
        const struct plx_format_layout *layout = plx_format_layout((enum plx_format)format);
        const int row = (int)plx_raw_row_bytes((enum plx_format)format, width);
        const int rows = (int)plx_raw_rows((enum plx_format)format, height);

        if (layout->bayer && (width < 2 || height < 2))
            continue;
        for (int variant = 0; variant < (layout->bayer ? 4 : 1) * (layout->words ? 2 : 1); variant++) {
            struct twin buffer = pattern_new(parity, row + (row + 1) % 2, rows, PLX_U8, NOISE);
            const struct plx_raw raw = {.bytes = buffer.want.pitch * (size_t)rows,
                                        .width = width,
                                        .height = height,
                                        .pitch = buffer.want.pitch,
                                        .format = (enum plx_format)format,
                                        .bayer = (enum plx_bayer)(layout->bayer ? variant % 4 : 0),
                                        .msb_aligned = variant / (layout->bayer ? 4 : 1)};
            test_windows(parity, raw, &buffer);
            twin_free(parity->gpu, &buffer);
        }
    }
}

static void test_histogram(struct parity *parity, int width, int height)
{
    for (int bins = 1; bins <= 256; bins *= bins == 4 ? 16 : 2) {
        for (enum pattern pattern = BLACK; pattern < PATTERNS; pattern++) {
            struct twin grey = pattern_new(parity, width, height, PLX_U8, pattern);
            struct twin counts = twin_new(parity->gpu, bins, PLX_HISTOGRAM_EYE_ROWS, PLX_U32);
            char what[64];

            snprintf(what, sizeof what, "histogram, %d bins, pattern %d, %d x %d", bins, (int)pattern, width, height);
            parity_done(parity, parity->cpu->ops->histogram(parity->cpu, &grey.want, bins, &counts.want),
                        parity->gpu->ops->histogram(parity->gpu, &grey.got, bins, &counts.got), what);
            parity_compare(parity, &counts, what);
            twin_free(parity->gpu, &grey);
            twin_free(parity->gpu, &counts);
        }
    }
}

/* A map that turns and shrinks, with a share of entries from anywhere, all 16 bits. */
static void fill_map(struct plx_remap_entry *entry, int width, int height, bool wild)
{
    for (int i = 0; i < width * height; i++) {
        const int u = 31 * (i % width) + i / width - 40, v = 33 * (i / width) - i % width / 3 + 20;
        entry[i] = (struct plx_remap_entry){(int16_t)(u >> 5), (int16_t)(v >> 5), (uint8_t)(u & 31), (uint8_t)(v & 31)};
        if (wild && random_below(&pattern_state, 3) == 0)
            entry[i] =
                (struct plx_remap_entry){(int16_t)random_next(&pattern_state), (int16_t)random_next(&pattern_state),
                                         (uint8_t)random_below(&pattern_state, 32), (uint8_t)random_below(&pattern_state, 32)};
        else if (wild)
            entry[i] = (struct plx_remap_entry){(int16_t)((int)random_below(&pattern_state, (uint32_t)width + 4) - 2),
                                                (int16_t)((int)random_below(&pattern_state, (uint32_t)height + 4) - 2),
                                                (uint8_t)random_below(&pattern_state, 32),
                                                (uint8_t)(random_below(&pattern_state, 2) * 31)};
    }
}

static void test_rectify(struct parity *parity, int width, int height)
{
    static const enum plx_type types[] = {PLX_U8, PLX_U16, PLX_RGB};
    for (int variant = 0; variant < 6; variant++) {
        const enum plx_type type = types[variant % 3];
        const int source_width = variant / 3 ? width : (width + 9) / 2, source_height = height + variant;
        struct twin src = pattern_new(parity, source_width, source_height, type, NOISE);
        struct twin entries = twin_new(parity->gpu, width * height * (int)sizeof(struct plx_remap_entry), 1, PLX_U8);
        struct twin dst = twin_new(parity->gpu, width, height, type), masked = twin_new(parity->gpu, 1, 1, PLX_U32);
        const struct plx_remap cpu = {entries.want.data, width, height}, gpu = {entries.got.data, width, height};
        char what[32];

        fill_map(cpu.entry, width, height, variant >= 3);
        twin_share(&entries);
        snprintf(what, sizeof what, "rectify, variant %d", variant);
        parity_done(parity, parity->cpu->ops->rectify(parity->cpu, &src.want, &cpu, &dst.want, masked.want.data),
                    parity->gpu->ops->rectify(parity->gpu, &src.got, &gpu, &dst.got, masked.got.data), what);
        parity_compare(parity, &dst, what);
        parity_compare(parity, &masked, "masked pixels");
        twin_free(parity->gpu, &src);
        twin_free(parity->gpu, &entries);
        twin_free(parity->gpu, &dst);
        twin_free(parity->gpu, &masked);
    }
}

static void compare_filter(struct parity *parity, int width, int height, const struct plx_filter *filter, enum pattern pattern)
{
    struct twin src = pattern_new(parity, width, height, PLX_U8, pattern), dst = twin_new(parity->gpu, width, height, PLX_U8);
    char what[64];

    snprintf(what, sizeof what, "filter %d x %d, pattern %d", filter->size_x, filter->size_y, (int)pattern);
    parity_done(parity, parity->cpu->ops->filter(parity->cpu, &src.want, filter, &dst.want),
                parity->gpu->ops->filter(parity->gpu, &src.got, filter, &dst.got), what);
    parity_compare(parity, &dst, what);
    twin_free(parity->gpu, &src);
    twin_free(parity->gpu, &dst);
}

/* Weights of any shape that sum to 65,536; a size of 1 and one in four have it all in one. */
static void random_weights(int size, uint32_t *ret_weight)
{
    uint32_t left = 65536;
    const bool one = random_below(&pattern_state, 4) == 0;

    memset(ret_weight, 0, 31 * sizeof *ret_weight);
    for (int i = 0; i < size && !one; i++) {
        ret_weight[i] = random_below(&pattern_state, left / 2 + 1);
        left -= ret_weight[i];
    }
    ret_weight[random_below(&pattern_state, (uint32_t)size)] += left;
}

static void test_filter(struct parity *parity, int width, int height)
{
    struct plx_filter filter;

    for (int size = 1; size <= 31; size += 2) {
        plx_filter_make(size % 4 == 1, size, 32 - size, &filter);
        compare_filter(parity, width, height, &filter, (enum pattern)(size / 2 % PATTERNS));
        filter.size_x = size;
        filter.size_y = 1 + 2 * (int)random_below(&pattern_state, 16);
        random_weights(filter.size_x, filter.weight_x);
        random_weights(filter.size_y, filter.weight_y);
        compare_filter(parity, width, height, &filter, size % 4 == 1 ? NOISE : WHITE);
    }
    for (int i = 0; i < 4; i++) {
        plx_filter_make(i % 2, 11, 11, &filter);
        compare_filter(parity, width, height, &filter, i / 2 ? WAVES : NOISE);
    }
}

static void test_temporal(struct parity *parity, int width, int height)
{
    static const struct plx_temporal cases[] = {{0, 64}, {16, 1}, {16, 256}, {2000, 77}, {65535, 128}};

    for (int i = 0; i < PARITY_COUNT(cases); i++) {
        struct twin src = pattern_new(parity, width, height, PLX_U16, NOISE),
                    dst = twin_new(parity->gpu, width, height, PLX_U16);
        struct twin history = pattern_new(parity, width, height, PLX_U16, i % 2 ? NOISE : WAVES);

        for (int y = 0; y < height; y++) { /* near the history, far from it, or invalid */
            uint16_t *now = plx_row(&src.want, y), *old = plx_row(&history.want, y);
            for (int x = 0; x < width; x++) {
                old[x] = random_below(&pattern_state, 8) == 0 ? PLX_DISPARITY_INVALID : old[x];
                now[x] = random_below(&pattern_state, 3) == 0   ? now[x]
                         : random_below(&pattern_state, 8) == 0 ? PLX_DISPARITY_INVALID
                                                                : (uint16_t)(old[x] + random_below(&pattern_state, 40));
            }
        }
        twin_share(&src);
        twin_share(&history);
        parity_done(parity, parity->cpu->ops->temporal(parity->cpu, &src.want, &cases[i], &history.want, &dst.want),
                    parity->gpu->ops->temporal(parity->gpu, &src.got, &cases[i], &history.got, &dst.got), "temporal");
        parity_compare(parity, &dst, "temporal");
        parity_compare(parity, &history, "history");
        twin_free(parity->gpu, &src);
        twin_free(parity->gpu, &dst);
        twin_free(parity->gpu, &history);
    }
}

/* test_gpu_image [number of sizes]: fewer sizes for tools that make programs slow. */
int main(int argc, char **argv)
{
    const struct plx_limits limits = {.width = IMAGE_WIDTH, .height = IMAGE_HEIGHT, .disparities = 64};
    const int count = argc > 1 ? atoi(argv[1]) : PARITY_COUNT(sizes);
    struct parity parity;

    parity_open(&limits, &parity);
    pattern_state = test_seed();
    for (int i = 0; i < PARITY_COUNT(sizes) && i < count; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        test_formats(&parity, width, height);
        test_histogram(&parity, width, height);
        test_sharpness(&parity, width, height);
        test_rectify(&parity, width, height);
        test_filter(&parity, width, height);
        test_temporal(&parity, width, height);
        image_operations(&parity, width, height);
    }
    if (count >= PARITY_COUNT(sizes)) { /* more tiles than any GPU works on at once, and several blocks a zone */
        test_histogram(&parity, 4093, 1030);
        test_filter(&parity, 4093, 1030);
        confine_stages(parity.gpu, 4); /* on which these are enough for the filter's tallest tiles */
        test_filter(&parity, 509, 670);
        test_filter(&parity, 1241, 377);
    }
    image_template(&parity);
    image_refusals(&parity);
    return parity_close(&parity);
}
