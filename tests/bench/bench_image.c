/* SPDX-License-Identifier: Apache-2.0 */
/* Time of each image stage on the CPU: `bench_image [THREADS]`, all processors by default. Milliseconds per image, the minimum
 * of ROUNDS rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/image.h"
#include "core/colour/colour.h"
#include "core/pipeline/stages.h"
#include "cpu/cpu.h"

#define WIDTH 640
#define HEIGHT 480
#define ROUNDS 50

/* The images and parameters of all stages. */
struct bench {
    struct plx_stages *stages;
    struct plx_raw raw;
    struct plx_image a, b, u16, history, disparity, bins, patch, rgb, warped, tone;
    struct plx_remap map;
    struct plx_filter filter;
};

typedef int run_stage(struct bench *bench);

static int convert(struct bench *bench)
{
    return bench->stages->ops->convert(bench->stages, &bench->raw, &bench->b);
}

static int colour(struct bench *bench)
{
    const struct plx_development development = {.black = 4,
                                                .gain = {7000, PLX_COLOUR_ONE, 9000},
                                                .matrix = {PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE},
                                                .tone = bench->tone.data};
    return bench->stages->ops->colour(bench->stages, &bench->raw, &development, &bench->rgb);
}

static int rectify_rgb(struct bench *bench)
{
    return bench->stages->ops->rectify(bench->stages, &bench->rgb, &bench->map, &bench->warped, NULL);
}

static int histogram(struct bench *bench)
{
    return bench->stages->ops->histogram(bench->stages, &bench->a, 256, &bench->bins);
}

static int rectify(struct bench *bench)
{
    uint32_t masked;
    return bench->stages->ops->rectify(bench->stages, &bench->a, &bench->map, &bench->b, &masked);
}

static int filter(struct bench *bench)
{
    return bench->stages->ops->filter(bench->stages, &bench->a, &bench->filter, &bench->b);
}

static int temporal(struct bench *bench)
{
    return bench->stages->ops->temporal(bench->stages, &bench->u16, &(struct plx_temporal){16, 64}, &bench->history,
                                        &bench->disparity);
}

static int absdiff(struct bench *bench)
{
    return bench->stages->ops->image.binary(bench->stages, PLX_OP_ABSDIFF, &bench->a, &bench->a, &bench->b);
}

static int sum(struct bench *bench)
{
    uint64_t sum;
    return bench->stages->ops->image.sum(bench->stages, &bench->a, &sum);
}

static int open_5x5(struct bench *bench)
{
    return bench->stages->ops->image.morphology(bench->stages, PLX_OPEN, &bench->a, 5, 5, &bench->b);
}

static int affine(struct bench *bench)
{
    static const int32_t matrix[6] = {65000, -800, 3 << 16, 800, 65000, -(2 << 16)};
    return bench->stages->ops->image.affine(bench->stages, &bench->a, matrix, &bench->b);
}

static int match_template(struct bench *bench)
{
    struct plx_image strip = bench->a;
    struct plx_template_match best;
    strip.height = 32;
    strip.width = 160;
    return bench->stages->ops->image.match_template(bench->stages, &strip, &bench->patch, &best);
}

static void report(struct bench *bench, const char *name, run_stage *run)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begun = plx_now_ns();
        if (run(bench) < 0) {
            fprintf(stderr, "%s failed\n", name);
            exit(1);
        }
        int64_t taken = plx_now_ns() - begun;
        best = taken < best ? taken : best;
    }
    printf("%-28s %7.3f ms\n", name, (double)best / PLX_NS_PER_MS);
}

static struct plx_image image_new(struct plx_stages *stages, int width, int height, enum plx_type type)
{
    struct plx_image image = {NULL, width, height, (size_t)width * type, type};
    if (stages->ops->alloc(stages, image.pitch * (size_t)height, &image.data) < 0)
        exit(1);
    for (size_t i = 0; i < image.pitch * (size_t)height; i++)
        ((uint8_t *)image.data)[i] = (uint8_t)(rand() >> 7);
    return image;
}

/* A map that turns and shrinks a little, as rectification does. */
static void make_map(struct bench *bench)
{
    void *entries;
    if (bench->stages->ops->alloc(bench->stages, (size_t)WIDTH * HEIGHT * sizeof *bench->map.entry, &entries) < 0)
        exit(1);
    bench->map = (struct plx_remap){entries, WIDTH, HEIGHT};
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int u = 32 * x + y / 4 - 60, v = 31 * y + x / 5 + 100;
            bench->map.entry[y * WIDTH + x] =
                (struct plx_remap_entry){(int16_t)(u >> 5), (int16_t)(v >> 5), (uint8_t)(u & 31), (uint8_t)(v & 31)};
        }
}

int main(int argc, char **argv)
{
    struct bench bench = {.stages = NULL};
    struct plx_limits limits = {WIDTH, HEIGHT, 64, argc > 1 ? atoi(argv[1]) : 0};
    if (plx_cpu_create(&limits, &bench.stages) < 0)
        return 1;
    struct plx_stages *stages = bench.stages;
    bench.a = image_new(stages, WIDTH, HEIGHT, PLX_U8);
    bench.b = image_new(stages, WIDTH, HEIGHT, PLX_U8);
    bench.u16 = image_new(stages, WIDTH, HEIGHT, PLX_U16);
    bench.history = image_new(stages, WIDTH, HEIGHT, PLX_U16);
    bench.disparity = image_new(stages, WIDTH, HEIGHT, PLX_U16);
    bench.bins = image_new(stages, 256, 65, PLX_U32);
    bench.patch = image_new(stages, 32, 16, PLX_U8);
    bench.rgb = image_new(stages, WIDTH, HEIGHT, PLX_RGB);
    bench.warped = image_new(stages, WIDTH, HEIGHT, PLX_RGB);
    bench.tone = image_new(stages, PLX_COLOUR_FULL + 1, 1, PLX_U8);
    plx_colour_tones(bench.tone.data);
    struct plx_image raw = image_new(stages, 4 * WIDTH, HEIGHT, PLX_U8);
    make_map(&bench);

    printf("image stages, %d x %d\n", WIDTH, HEIGHT);
    for (int format = 0; format < PLX_FORMAT_COUNT; format++) {
        char name[64];
        snprintf(name, sizeof name, "convert %s", plx_format_layout((enum plx_format)format)->name);
        bench.raw = (struct plx_raw){.data = raw.data,
                                     .bytes = raw.pitch * HEIGHT,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .pitch = plx_raw_row_bytes((enum plx_format)format, WIDTH),
                                     .format = (enum plx_format)format,
                                     .eye_width = WIDTH};
        report(&bench, name, convert);
        snprintf(name, sizeof name, "colour of %s", plx_format_layout((enum plx_format)format)->name);
        report(&bench, name, colour);
    }
    report(&bench, "histogram, noise", histogram);
    report(&bench, "rectify", rectify);
    report(&bench, "rectify RGB", rectify_rgb);
    plx_filter_make(true, 5, 5, &bench.filter);
    report(&bench, "filter 5x5", filter);
    plx_filter_make(true, 31, 31, &bench.filter);
    report(&bench, "filter 31x31", filter);
    report(&bench, "temporal", temporal);
    report(&bench, "absolute difference", absdiff);
    report(&bench, "sum", sum);
    report(&bench, "open 5x5", open_5x5);
    report(&bench, "affine", affine);
    report(&bench, "template 32x16 in 160x32", match_template);
    memset(bench.a.data, 0, bench.a.pitch * HEIGHT);
    report(&bench, "histogram, black", histogram);

    struct plx_image *images[] = {&bench.a,         &bench.b,    &bench.u16,   &bench.history,
                                  &bench.disparity, &bench.bins, &bench.patch, &bench.rgb,
                                  &bench.warped,    &bench.tone, &raw,         NULL};
    for (int i = 0; images[i]; i++)
        stages->ops->free(stages, images[i]->data);
    stages->ops->free(stages, bench.map.entry);
    stages->ops->destroy(stages);
    return 0;
}
