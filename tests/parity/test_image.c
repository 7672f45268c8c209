/* SPDX-License-Identifier: Apache-2.0 */
/* The image stages and the image operations, on black, white, noise and, where it matters, smooth pictures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "core/filter.h"
#include "core/raw.h"
#include "tests/parity/parity.h"

#define WIDTH 4100 /* the backends' limits */
#define HEIGHT 1100

/* Rows of twins are 3 elements longer than the picture: 13, 125, 253 and 509 columns make whole vectors. */
static const int sizes[][2] = {{1, 1},   {2, 1},   {1, 2},   {2, 2},   {7, 1},    {1, 7},    {7, 7},    {13, 5},    {31, 33},
                               {33, 31}, {125, 9}, {513, 2}, {2, 513}, {253, 66}, {509, 67}, {513, 33}, {1241, 377}};

enum picture { BLACK, WHITE, NOISE, WAVES, PICTURES };

static uint64_t state;

static void fill(struct twin *twin, enum picture picture)
{
    for (int y = 0; y < twin->cpu.height; y++) {
        uint8_t *row = plx_row(&twin->cpu, y);
        for (int i = 0; i < twin->cpu.width * (int)twin->cpu.type; i++) {
            const uint8_t value[PICTURES] = {0, 0xFF, (uint8_t)board_random(&state), (uint8_t)(i / 3 + y * 5)};
            row[i] = value[picture];
        }
    }
    twin_share(twin);
}

static struct twin picture_new(struct parity *parity, int width, int height, enum plx_type type, enum picture picture)
{
    struct twin twin = twin_new(parity, width, height, type);
    fill(&twin, picture);
    return twin;
}

static void test_convert(struct parity *parity, struct plx_raw raw, struct twin *buffer, const char *what)
{
    for (int type = PLX_U8; type <= PLX_U16; type++) {
        struct twin grey = twin_new(parity, raw.eye_width, raw.height, (enum plx_type)type);
        struct plx_raw twin = raw;

        raw.data = buffer->cpu.data;
        twin.data = buffer->gpu.data;
        parity_done(parity, parity->cpu->ops->convert(parity->cpu, &raw, &grey.cpu),
                    parity->gpu->ops->convert(parity->gpu, &twin, &grey.gpu), what);
        twin_compare(parity, &grey, what);
        twin_free(parity, &grey);
    }
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
        if (raw.eye_width >= least)
            test_convert(parity, raw, buffer, what);
    }
}

static void test_formats(struct parity *parity, int width, int height)
{
    for (int format = 0; format < PLX_FORMAT_COUNT; format++) {
        const struct plx_format_layout *layout = plx_format_layout((enum plx_format)format);
        const int row = (int)plx_raw_row_bytes((enum plx_format)format, width);
        const int rows = height + (layout->chroma_plane ? (height + 1) / 2 : 0);

        if (layout->bayer && (width < 2 || height < 2))
            continue;
        for (int variant = 0; variant < (layout->bayer ? 4 : 1) * (layout->words ? 2 : 1); variant++) {
            struct twin buffer = picture_new(parity, row + (row + 1) % 2, rows, PLX_U8, NOISE);
            const struct plx_raw raw = {.bytes = buffer.cpu.pitch * (size_t)rows,
                                        .width = width,
                                        .height = height,
                                        .pitch = buffer.cpu.pitch,
                                        .format = (enum plx_format)format,
                                        .bayer = (enum plx_bayer)(layout->bayer ? variant % 4 : 0),
                                        .msb_aligned = variant / (layout->bayer ? 4 : 1)};
            test_windows(parity, raw, &buffer);
            twin_free(parity, &buffer);
        }
    }
}

static void test_histogram(struct parity *parity, int width, int height)
{
    for (int bins = 1; bins <= 256; bins *= bins == 4 ? 16 : 2) {
        for (enum picture picture = BLACK; picture < PICTURES; picture++) {
            struct twin grey = picture_new(parity, width, height, PLX_U8, picture);
            struct twin counts = twin_new(parity, bins, 1 + PLX_ZONES * PLX_ZONES, PLX_U32);
            char what[64];

            snprintf(what, sizeof what, "histogram, %d bins, picture %d, %d x %d", bins, (int)picture, width, height);
            parity_done(parity, parity->cpu->ops->histogram(parity->cpu, &grey.cpu, bins, &counts.cpu),
                        parity->gpu->ops->histogram(parity->gpu, &grey.gpu, bins, &counts.gpu), what);
            twin_compare(parity, &counts, what);
            twin_free(parity, &grey);
            twin_free(parity, &counts);
        }
    }
}

/* A map that turns and shrinks, with a share of entries from anywhere, all 16 bits. */
static void fill_map(struct plx_remap_entry *entry, int width, int height, bool wild)
{
    for (int i = 0; i < width * height; i++) {
        const int u = 31 * (i % width) + i / width - 40, v = 33 * (i / width) - i % width / 3 + 20;
        entry[i] = (struct plx_remap_entry){(int16_t)(u >> 5), (int16_t)(v >> 5), (uint8_t)(u & 31), (uint8_t)(v & 31)};
        if (wild && board_below(&state, 3) == 0)
            entry[i] = (struct plx_remap_entry){(int16_t)board_random(&state), (int16_t)board_random(&state),
                                                (uint8_t)board_below(&state, 32), (uint8_t)board_below(&state, 32)};
        else if (wild)
            entry[i] = (struct plx_remap_entry){(int16_t)((int)board_below(&state, (uint32_t)width + 4) - 2),
                                                (int16_t)((int)board_below(&state, (uint32_t)height + 4) - 2),
                                                (uint8_t)board_below(&state, 32), (uint8_t)(board_below(&state, 2) * 31)};
    }
}

static void test_rectify(struct parity *parity, int width, int height)
{
    for (int variant = 0; variant < 4; variant++) {
        const enum plx_type type = variant % 2 ? PLX_U16 : PLX_U8;
        const int source_width = variant / 2 ? width : (width + 9) / 2, source_height = height + variant;
        struct twin src = picture_new(parity, source_width, source_height, type, NOISE);
        struct twin entries = twin_new(parity, width * height * (int)sizeof(struct plx_remap_entry), 1, PLX_U8);
        struct twin dst = twin_new(parity, width, height, type), masked = twin_new(parity, 1, 1, PLX_U32);
        const struct plx_remap cpu = {entries.cpu.data, width, height}, gpu = {entries.gpu.data, width, height};
        char what[32];

        fill_map(cpu.entry, width, height, variant >= 2);
        twin_share(&entries);
        snprintf(what, sizeof what, "rectify, variant %d", variant);
        parity_done(parity, parity->cpu->ops->rectify(parity->cpu, &src.cpu, &cpu, &dst.cpu, masked.cpu.data),
                    parity->gpu->ops->rectify(parity->gpu, &src.gpu, &gpu, &dst.gpu, masked.gpu.data), what);
        twin_compare(parity, &dst, what);
        twin_compare(parity, &masked, "masked pixels");
        twin_free(parity, &src);
        twin_free(parity, &entries);
        twin_free(parity, &dst);
        twin_free(parity, &masked);
    }
}

static void compare_filter(struct parity *parity, int width, int height, const struct plx_filter *filter, enum picture picture)
{
    struct twin src = picture_new(parity, width, height, PLX_U8, picture), dst = twin_new(parity, width, height, PLX_U8);
    char what[64];

    snprintf(what, sizeof what, "filter %d x %d, picture %d", filter->size_x, filter->size_y, (int)picture);
    parity_done(parity, parity->cpu->ops->filter(parity->cpu, &src.cpu, filter, &dst.cpu),
                parity->gpu->ops->filter(parity->gpu, &src.gpu, filter, &dst.gpu), what);
    twin_compare(parity, &dst, what);
    twin_free(parity, &src);
    twin_free(parity, &dst);
}

/* Weights of any shape that sum to 65,536; a size of 1 and one in four have it all in one. */
static void random_weights(int size, uint32_t *ret_weight)
{
    uint32_t left = 65536;
    const bool one = board_below(&state, 4) == 0;

    memset(ret_weight, 0, 31 * sizeof *ret_weight);
    for (int i = 0; i < size && !one; i++) {
        ret_weight[i] = board_below(&state, left / 2 + 1);
        left -= ret_weight[i];
    }
    ret_weight[board_below(&state, (uint32_t)size)] += left;
}

static void test_filter(struct parity *parity, int width, int height)
{
    struct plx_filter filter;

    for (int size = 1; size <= 31; size += 2) {
        plx_filter_make(size % 4 == 1, size, 32 - size, &filter);
        compare_filter(parity, width, height, &filter, (enum picture)(size / 2 % PICTURES));
        filter.size_x = size;
        filter.size_y = 1 + 2 * (int)board_below(&state, 16);
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
        struct twin src = picture_new(parity, width, height, PLX_U16, NOISE), dst = twin_new(parity, width, height, PLX_U16);
        struct twin history = picture_new(parity, width, height, PLX_U16, i % 2 ? NOISE : WAVES);

        for (int y = 0; y < height; y++) { /* near the history, far from it, or invalid */
            uint16_t *now = plx_row(&src.cpu, y), *old = plx_row(&history.cpu, y);
            for (int x = 0; x < width; x++) {
                old[x] = board_below(&state, 8) == 0 ? PLX_DISPARITY_INVALID : old[x];
                now[x] = board_below(&state, 3) == 0   ? now[x]
                         : board_below(&state, 8) == 0 ? PLX_DISPARITY_INVALID
                                                       : (uint16_t)(old[x] + board_below(&state, 40));
            }
        }
        twin_share(&src);
        twin_share(&history);
        parity_done(parity, parity->cpu->ops->temporal(parity->cpu, &src.cpu, &cases[i], &history.cpu, &dst.cpu),
                    parity->gpu->ops->temporal(parity->gpu, &src.gpu, &cases[i], &history.gpu, &dst.gpu), "temporal");
        twin_compare(parity, &dst, "temporal");
        twin_compare(parity, &history, "history");
        twin_free(parity, &src);
        twin_free(parity, &dst);
        twin_free(parity, &history);
    }
}

static void test_pixels(struct parity *parity, int width, int height)
{
    const struct plx_image_ops *cpu = &parity->cpu->ops->image, *gpu = &parity->gpu->ops->image;

    for (int variant = 0; variant < PICTURES * PICTURES; variant++) {
        struct twin a = picture_new(parity, width, height, PLX_U8, (enum picture)(variant % PICTURES));
        struct twin b = picture_new(parity, width, height, PLX_U8, (enum picture)(variant / PICTURES));
        struct twin dst = twin_new(parity, width, height, PLX_U8), sum = twin_new(parity, 1, 1, PLX_U64);

        for (int op = PLX_OP_ABSDIFF; op <= PLX_OP_XOR; op++) {
            char what[32];
            snprintf(what, sizeof what, "binary operation %d", op);
            parity_done(parity, cpu->binary(parity->cpu, (enum plx_binary_op)op, &a.cpu, &b.cpu, &dst.cpu),
                        gpu->binary(parity->gpu, (enum plx_binary_op)op, &a.gpu, &b.gpu, &dst.gpu), what);
            twin_compare(parity, &dst, what);
        }
        parity_done(parity, cpu->invert(parity->cpu, &a.cpu, &dst.cpu), gpu->invert(parity->gpu, &a.gpu, &dst.gpu), "invert");
        twin_compare(parity, &dst, "invert");
        const int threshold = 17 * variant - 1;
        parity_done(parity, cpu->threshold(parity->cpu, &a.cpu, threshold, &dst.cpu),
                    gpu->threshold(parity->gpu, &a.gpu, threshold, &dst.gpu), "threshold");
        twin_compare(parity, &dst, "threshold");
        parity_done(parity, cpu->sum(parity->cpu, &a.cpu, sum.cpu.data), gpu->sum(parity->gpu, &a.gpu, sum.gpu.data), "sum");
        twin_compare(parity, &sum, "sum");
        twin_free(parity, &a);
        twin_free(parity, &b);
        twin_free(parity, &dst);
        twin_free(parity, &sum);
    }
}

static void test_morphology(struct parity *parity, int width, int height)
{
    static const int windows[][2] = {{1, 1}, {3, 3}, {5, 1}, {1, 7}, {31, 3}, {3, 31}, {31, 31}};

    for (int i = 0; i < PARITY_COUNT(windows) * 4; i++) {
        const int *window = windows[i / 4];
        struct twin src = picture_new(parity, width, height, PLX_U8, i % 2 ? NOISE : WAVES);
        struct twin dst = twin_new(parity, width, height, PLX_U8);
        const enum plx_morphology op = (enum plx_morphology)(i % 4);
        char what[64];

        snprintf(what, sizeof what, "morphology %d, %d x %d", i % 4, window[0], window[1]);
        parity_done(parity, parity->cpu->ops->image.morphology(parity->cpu, op, &src.cpu, window[0], window[1], &dst.cpu),
                    parity->gpu->ops->image.morphology(parity->gpu, op, &src.gpu, window[0], window[1], &dst.gpu), what);
        twin_compare(parity, &dst, what);
        twin_free(parity, &src);
        twin_free(parity, &dst);
    }
}

static void test_affine(struct parity *parity, int width, int height)
{
    static const int32_t matrices[][6] = {
        {65536, 0, 0, 0, 65536, 0},                                 /* identity */
        {65536, 0, 32768, 0, 65536, -32768},                        /* half a pixel */
        {46341, -46341, 3 << 16, 46341, 46341, -(2 << 16)},         /* 45 degrees */
        {-65536, 0, 6 << 16, 0, 30000, 12345},                      /* mirrored and stretched */
        {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, 0}, /* far outside */
    };

    for (int i = 0; i < PARITY_COUNT(matrices); i++) {
        struct twin src = picture_new(parity, height + 3, width < HEIGHT ? width : HEIGHT, PLX_U8, NOISE);
        struct twin dst = twin_new(parity, width, height, PLX_U8);

        parity_done(parity, parity->cpu->ops->image.affine(parity->cpu, &src.cpu, matrices[i], &dst.cpu),
                    parity->gpu->ops->image.affine(parity->gpu, &src.gpu, matrices[i], &dst.gpu), "affine");
        twin_compare(parity, &dst, "affine");
        twin_free(parity, &src);
        twin_free(parity, &dst);
    }
}

static void test_match_template(struct parity *parity)
{
    static const int cases[][4] = {{1, 1, 1, 1},         {7, 7, 1, 1},      {7, 7, 7, 7},    {7, 7, 3, 2},
                                   {64, 9, 9, 9},        {513, 7, 8, 5},    {37, 41, 11, 1}, {160, 32, 32, 16},
                                   {260, 260, 256, 256}, {200, 100, 33, 31}};

    for (int i = 0; i < PARITY_COUNT(cases) * PICTURES; i++) {
        const int *size = cases[i / PICTURES];
        struct twin image = picture_new(parity, size[0], size[1], PLX_U8, (enum picture)(i % PICTURES));
        struct twin patch = picture_new(parity, size[2], size[3], PLX_U8, NOISE), best = twin_new(parity, 3, 1, PLX_U32);
        char what[64];

        if (i % PICTURES >= NOISE && size[0] > size[2]) { /* one that is there, darker */
            for (int y = 0; y < size[3]; y++)
                for (int x = 0; x < size[2]; x++)
                    ((uint8_t *)plx_row(&patch.cpu, y))[x] = ((const uint8_t *)plx_row(&image.cpu, y))[x + 1] / 2;
            twin_share(&patch);
        }
        snprintf(what, sizeof what, "template %d x %d in %d x %d", size[2], size[3], size[0], size[1]);
        parity_done(parity, parity->cpu->ops->image.match_template(parity->cpu, &image.cpu, &patch.cpu, best.cpu.data),
                    parity->gpu->ops->image.match_template(parity->gpu, &image.gpu, &patch.gpu, best.gpu.data), what);
        twin_compare(parity, &best, what);
        twin_free(parity, &image);
        twin_free(parity, &patch);
        twin_free(parity, &best);
    }
}

#define REFUSED(call, ...)                                                                                                     \
    parity_refused(parity, cpu->ops->call(cpu, __VA_ARGS__), gpu->ops->call(gpu, __VA_ARGS__), #call " " #__VA_ARGS__)

/* Nothing is read or written, so both may have the same images. */
static void test_refusals(struct parity *parity)
{
    struct plx_stages *cpu = parity->cpu, *gpu = parity->gpu;
    struct plx_image a = board_new(300, 300, PLX_U8, 0), b = board_new(299, 300, PLX_U8, 0);
    struct plx_image deep = board_new(300, 300, PLX_U16, 0), bins = board_new(256, 65, PLX_U32, 0);
    struct plx_image wide = board_new(WIDTH + 1, 2, PLX_U8, 0), deep_wide = board_new(WIDTH + 1, 2, PLX_U16, 0);
    struct plx_remap_entry entry[1] = {{0, 0, 0, 0}};
    const struct plx_remap map = {entry, 300, 300}, small_map = {entry, 300, 299}, no_map = {NULL, 300, 300};
    const struct plx_raw raw = {.data = a.data, .bytes = 90000, .width = 300, .height = 300, .pitch = 300, .eye_width = 300};
    struct plx_raw other = raw;
    const struct plx_temporal good = {16, 64}, no_weight = {16, 0}, heavy = {16, 257}, backward = {-1, 64};
    struct plx_filter filter, wrong;
    struct plx_template_match best;
    const int32_t matrix[6] = {0};
    uint32_t masked;
    uint64_t sum;

    plx_filter_make(true, 5, 5, &filter);
    REFUSED(convert, &raw, &b);
    REFUSED(convert, &raw, &bins);
    REFUSED(convert, NULL, &a);
    other.bytes--;
    REFUSED(convert, &other, &a);
    other = (struct plx_raw){.data = wide.data,
                             .bytes = wide.pitch * 2,
                             .width = WIDTH + 1,
                             .height = 2,
                             .pitch = wide.pitch,
                             .eye_width = WIDTH + 1};
    REFUSED(convert, &other, &wide);
    other.format = PLX_FORMAT_COUNT;
    REFUSED(convert, &other, &wide);
    REFUSED(histogram, &a, 255, &bins);
    REFUSED(histogram, &a, 0, &bins);
    REFUSED(histogram, &a, 128, &bins);
    REFUSED(histogram, &deep, 256, &bins);
    REFUSED(histogram, &wide, 256, &bins);
    REFUSED(rectify, &a, &map, &deep, &masked);
    REFUSED(rectify, &a, &map, &b, &masked);
    REFUSED(rectify, &a, &small_map, &a, &masked);
    REFUSED(rectify, &a, &no_map, &a, &masked);
    REFUSED(rectify, &a, NULL, &a, &masked);
    REFUSED(rectify, &a, &map, &a, NULL);
    REFUSED(rectify, &wide, &map, &a, &masked);
    REFUSED(filter, &a, &filter, &b);
    REFUSED(filter, &deep, &filter, &a);
    REFUSED(filter, &a, NULL, &a);
    REFUSED(filter, &wide, &filter, &wide);
    wrong = filter;
    wrong.size_x = 4;
    REFUSED(filter, &a, &wrong, &a);
    wrong = filter;
    wrong.weight_y[2]++;
    REFUSED(filter, &a, &wrong, &a);
    REFUSED(temporal, &deep, &no_weight, &deep, &deep);
    REFUSED(temporal, &deep, &heavy, &deep, &deep);
    REFUSED(temporal, &deep, &backward, &deep, &deep);
    REFUSED(temporal, &deep, NULL, &deep, &deep);
    REFUSED(temporal, &a, &good, &deep, &deep);
    REFUSED(temporal, &deep, &good, &deep_wide, &deep);
    REFUSED(temporal, &deep_wide, &good, &deep_wide, &deep_wide);
    REFUSED(image.binary, PLX_OP_ADD, &a, &b, &a);
    REFUSED(image.binary, (enum plx_binary_op)8, &a, &a, &a);
    REFUSED(image.binary, PLX_OP_ADD, &wide, &wide, &wide);
    REFUSED(image.invert, &deep, &a);
    REFUSED(image.threshold, &b, 3, &a);
    REFUSED(image.morphology, PLX_OPEN, &a, 2, 3, &a);
    REFUSED(image.morphology, PLX_OPEN, &a, 3, 33, &a);
    REFUSED(image.morphology, (enum plx_morphology)4, &a, 3, 3, &a);
    REFUSED(image.morphology, PLX_OPEN, &wide, 3, 3, &wide);
    REFUSED(image.affine, &a, NULL, &a);
    REFUSED(image.affine, &deep, matrix, &a);
    REFUSED(image.affine, &wide, matrix, &a);
    REFUSED(image.sum, &deep, &sum);
    REFUSED(image.sum, &a, NULL);
    REFUSED(image.sum, &wide, &sum);
    REFUSED(image.match_template, &b, &a, &best);
    REFUSED(image.match_template, &a, &a, &best);
    REFUSED(image.match_template, &a, &a, NULL);

    struct plx_image *images[] = {&a, &b, &deep, &bins, &wide, &deep_wide};
    for (int i = 0; i < PARITY_COUNT(images); i++)
        board_free(images[i]);
}

/* An argument limits the run to the first so many sizes, for tools under which programs are slow. */
int main(int argc, char **argv)
{
    const struct plx_limits limits = {.width = WIDTH, .height = HEIGHT, .disparities = 64};
    const int count = argc > 1 ? atoi(argv[1]) : PARITY_COUNT(sizes);
    struct parity parity;

    parity_open(&limits, &parity);
    state = board_seed();
    for (int i = 0; i < PARITY_COUNT(sizes) && i < count; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        test_formats(&parity, width, height);
        test_histogram(&parity, width, height);
        test_rectify(&parity, width, height);
        test_filter(&parity, width, height);
        test_temporal(&parity, width, height);
        test_pixels(&parity, width, height);
        test_morphology(&parity, width, height);
        test_affine(&parity, width, height);
    }
    if (count >= PARITY_COUNT(sizes)) { /* more tiles than any GPU works on at once, and several blocks a zone */
        test_histogram(&parity, 4093, 1030);
        test_filter(&parity, 4093, 1030);
    }
    test_match_template(&parity);
    test_refusals(&parity);
    return parity_close(&parity);
}
