/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of the image stages on the GPU: `bench_gpu_image [width height [rounds]]`, 4096 x 4096 by default. A row for each stage:
 * microseconds per image (median of the rounds), the bytes that the stage must move, the floor (the time for those bytes at the
 * bandwidth of a large copy), the time of cudaMemcpyAsync for as many bytes, and both times divided by the stage's. A round is
 * one graph launch of a call, or copy, on each of SETS sets of images in GPU memory, together larger than the L2 cache.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/colour/colour.h"
#include "core/pipeline/stages.h"
#include "gpu/gpu.h"
#include "gpu/internal.h"
#include "oracle/test_image.h"

#define SETS 8
#define WARM_UP 3
#define COPY_BYTES ((size_t)512 << 20)

struct set {
    struct plx_image grey, other, out, disparity, history, blended, census, bins, patch, rgb, warped;
    struct plx_remap map;
    uint64_t *results; /* result of sum, rectify and match_template */
};

struct bench {
    struct plx_stages *stages;
    int width, height, rounds;
    struct plx_raw raw;
    struct plx_image tone;
    struct plx_filter filter;
    struct plx_match match;
    struct set sets[SETS];
    uint8_t *from, *to; /* COPY_BYTES each */
    size_t copy_bytes;  /* bytes that copy_same_bytes copies for a set */
    cudaEvent_t begin, end;
    double copy_rate; /* bytes read and written per second */
};

typedef int run_stage(struct bench *bench, const struct set *set);

static void must(struct bench *bench, int result)
{
    if (result < 0) {
        fprintf(stderr, "failed: %s: %s\n", plx_strerror(result), bench->stages->message.text);
        exit(1);
    }
}

#define MUST_CUDA(bench, call) must(bench, PLX_CUDA(plx_gpu((bench)->stages), call))

static int convert(struct bench *bench, const struct set *set)
{
    struct plx_raw raw = bench->raw;
    raw.data = set->disparity.data;
    return bench->stages->ops->convert(bench->stages, &raw, &set->out);
}

static int colour(struct bench *bench, const struct set *set)
{
    const struct plx_development development = {.black = 4,
                                                .gain = {7000, PLX_COLOUR_ONE, 9000},
                                                .matrix = {PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE},
                                                .tone = bench->tone.data};
    struct plx_raw raw = bench->raw;
    raw.data = set->grey.data;
    raw.pitch = set->grey.pitch;
    raw.bytes = raw.pitch * (size_t)raw.height;
    raw.format = PLX_FORMAT_BAYER8;
    return bench->stages->ops->colour(bench->stages, &raw, &development, &set->rgb);
}

static int rectify_rgb(struct bench *bench, const struct set *set)
{
    return bench->stages->ops->rectify(bench->stages, &set->rgb, &set->map, &set->warped, NULL);
}

static int histogram(struct bench *bench, const struct set *set)
{
    return bench->stages->ops->histogram(bench->stages, &set->grey, 256, &set->bins);
}

static int rectify(struct bench *bench, const struct set *set)
{
    return bench->stages->ops->rectify(bench->stages, &set->grey, &set->map, &set->out, (uint32_t *)set->results);
}

static int filter(struct bench *bench, const struct set *set)
{
    return bench->stages->ops->filter(bench->stages, &set->grey, &bench->filter, &set->out);
}

static int census(struct bench *bench, const struct set *set)
{
    const struct plx_features features = {.census = set->census, .gradient = set->blended};
    return bench->stages->ops->census(bench->stages, &set->grey, &bench->match, &features);
}

static int temporal(struct bench *bench, const struct set *set)
{
    static const struct plx_temporal parameters = {16, 64};
    return bench->stages->ops->temporal(bench->stages, &set->disparity, &parameters, &set->history, &set->blended);
}

static int absdiff(struct bench *bench, const struct set *set)
{
    return bench->stages->ops->image.binary(bench->stages, PLX_OP_ABSDIFF, &set->grey, &set->other, &set->out);
}

static int invert(struct bench *bench, const struct set *set)
{
    return bench->stages->ops->image.invert(bench->stages, &set->grey, &set->out);
}

static int sum(struct bench *bench, const struct set *set)
{
    return bench->stages->ops->image.sum(bench->stages, &set->grey, set->results);
}

static int dilate_5x5(struct bench *bench, const struct set *set)
{
    return bench->stages->ops->image.morphology(bench->stages, PLX_DILATE, &set->grey, 5, 5, &set->out);
}

static int affine(struct bench *bench, const struct set *set)
{
    static const int32_t matrix[6] = {65000, -800, 3 << 16, 800, 65000, -(2 << 16)};
    return bench->stages->ops->image.affine(bench->stages, &set->grey, matrix, &set->out);
}

static int match_template(struct bench *bench, const struct set *set)
{
    struct plx_image strip = set->grey;
    strip.width = 160;
    strip.height = 32;
    return bench->stages->ops->image.match_template(bench->stages, &strip, &set->patch,
                                                    (struct plx_template_match *)set->results);
}

/* Copies copy_bytes, in a part of the large buffers that no other set uses. */
static int copy_same_bytes(struct bench *bench, const struct set *set)
{
    const size_t start = (size_t)(set - bench->sets) * (COPY_BYTES / SETS);
    return PLX_CUDA(plx_gpu(bench->stages), cudaMemcpyAsync(bench->to + start, bench->from + start, bench->copy_bytes,
                                                            cudaMemcpyDeviceToDevice, plx_gpu(bench->stages)->stream));
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median milliseconds between the events around WORK. */
static double median_ms(struct bench *bench, void work(struct bench *bench, cudaGraphExec_t graph), cudaGraphExec_t graph)
{
    struct plx_gpu *gpu = plx_gpu(bench->stages);
    float *ms = calloc((size_t)bench->rounds, sizeof *ms);

    must(bench, ms ? 0 : PLX_ERR_NOMEM);
    for (int i = -WARM_UP; i < bench->rounds; i++) {
        MUST_CUDA(bench, cudaEventRecord(bench->begin, gpu->stream));
        work(bench, graph);
        MUST_CUDA(bench, cudaEventRecord(bench->end, gpu->stream));
        must(bench, bench->stages->ops->finish(bench->stages));
        MUST_CUDA(bench, cudaEventElapsedTime(&ms[i < 0 ? 0 : i], bench->begin, bench->end));
    }
    qsort(ms, (size_t)bench->rounds, sizeof *ms, ascending);
    const double median = (double)ms[bench->rounds / 2];
    free(ms);
    return median;
}

static void copy(struct bench *bench, cudaGraphExec_t graph)
{
    (void)graph;
    MUST_CUDA(bench,
              cudaMemcpyAsync(bench->to, bench->from, COPY_BYTES, cudaMemcpyDeviceToDevice, plx_gpu(bench->stages)->stream));
}

static void launch(struct bench *bench, cudaGraphExec_t graph)
{
    MUST_CUDA(bench, cudaGraphLaunch(graph, plx_gpu(bench->stages)->stream));
}

/* Median seconds of a call. */
static double measure(struct bench *bench, run_stage *run)
{
    struct plx_gpu *gpu = plx_gpu(bench->stages);
    cudaGraph_t graph;
    cudaGraphExec_t round;

    MUST_CUDA(bench, cudaStreamBeginCapture(gpu->stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < SETS; i++)
        must(bench, run(bench, &bench->sets[i]));
    MUST_CUDA(bench, cudaStreamEndCapture(gpu->stream, &graph));
    MUST_CUDA(bench, cudaGraphInstantiate(&round, graph, 0));
    const double ms = median_ms(bench, launch, round);
    MUST_CUDA(bench, cudaGraphExecDestroy(round));
    MUST_CUDA(bench, cudaGraphDestroy(graph));
    return ms / 1e3 / SETS;
}

/* Prints the row of a stage. BYTES: read and written for each pixel. */
static void report(struct bench *bench, const char *name, run_stage *run, double bytes)
{
    const double seconds = measure(bench, run), all = bytes * bench->width * bench->height, floor = all / bench->copy_rate;
    printf("%-28s %9.2f us %8.1f MB %9.2f us %5.0f %%", name, seconds * 1e6, all / 1e6, floor * 1e6, floor / seconds * 100);
    bench->copy_bytes = (size_t)(all / 2);
    if (bench->copy_bytes > 0 && bench->copy_bytes <= COPY_BYTES / SETS) {
        const double copied = measure(bench, copy_same_bytes);
        printf(" %9.2f us %5.0f %%", copied * 1e6, copied / seconds * 100);
    }
    putchar('\n');
}

static struct plx_image image(struct bench *bench, int width, int height, enum plx_type type)
{
    struct plx_image image = {.width = width, .height = height, .type = type};
    image.pitch = ((size_t)width * type + 63) / 64 * 64;
    must(bench, bench->stages->ops->alloc_local(bench->stages, image.pitch * (size_t)height, NULL, &image.data));
    return image;
}

enum pattern { NOISE, RAMP, BLACK };

static void paint(struct bench *bench, const struct plx_image *image, enum pattern pattern)
{
    struct plx_image host = test_image_new(image->width, image->height, image->type, 0);
    uint64_t state = test_seed();

    for (int y = 0; y < host.height; y++) {
        uint8_t *row = plx_row(&host, y);
        for (int x = 0; x < host.width * (int)host.type; x++)
            row[x] = pattern == NOISE  ? (uint8_t)random_next(&state)
                     : pattern == RAMP ? (uint8_t)(255 * x / host.width + (int)random_below(&state, 5))
                                       : 0;
    }
    MUST_CUDA(bench, cudaMemcpy2D(image->data, image->pitch, host.data, host.pitch, (size_t)host.width * host.type,
                                  (size_t)host.height, cudaMemcpyHostToDevice));
    test_image_free(&host);
}

/* A map that turns and shrinks a little, as rectification does. */
static void make_maps(struct bench *bench)
{
    const size_t bytes = (size_t)bench->width * (size_t)bench->height * sizeof(struct plx_remap_entry);
    struct plx_remap_entry *host = malloc(bytes);
    void *data;

    must(bench, host ? 0 : PLX_ERR_NOMEM);
    for (int y = 0; y < bench->height; y++) {
        for (int x = 0; x < bench->width; x++) {
            const int u = 32 * x + y / 4 - 60, v = 31 * y + x / 5 + 100;
            host[(size_t)y * (size_t)bench->width + (size_t)x] =
                (struct plx_remap_entry){(int16_t)(u >> 5), (int16_t)(v >> 5), (uint8_t)(u & 31), (uint8_t)(v & 31)};
        }
    }
    for (int i = 0; i < SETS; i++) {
        must(bench, bench->stages->ops->alloc_local(bench->stages, bytes, NULL, &data));
        MUST_CUDA(bench, cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice));
        bench->sets[i].map = (struct plx_remap){data, bench->width, bench->height};
    }
    free(host);
}

static void open_bench(struct bench *bench)
{
    const struct plx_limits limits = {.width = bench->width, .height = bench->height, .disparities = 64};
    struct plx_error_message message;

    if (plx_gpu_create(&limits, &bench->stages, &message) < 0) {
        printf("skipped: %s\n", message.text);
        exit(77);
    }
    for (int i = 0; i < SETS; i++) {
        struct set *set = &bench->sets[i];
        const struct plx_image results = image(bench, 3, 1, PLX_U64);
        set->grey = image(bench, bench->width, bench->height, PLX_U8);
        set->other = image(bench, bench->width, bench->height, PLX_U8);
        set->out = image(bench, bench->width, bench->height, PLX_U8);
        set->disparity = image(bench, bench->width, bench->height, PLX_U16);
        set->history = image(bench, bench->width, bench->height, PLX_U16);
        set->blended = image(bench, bench->width, bench->height, PLX_U16);
        set->census = image(bench, bench->width, bench->height, PLX_U32);
        set->bins = image(bench, 256, PLX_HISTOGRAM_EYE_ROWS, PLX_U32);
        set->patch = image(bench, 32, 16, PLX_U8);
        set->rgb = image(bench, bench->width, bench->height, PLX_RGB);
        set->warped = image(bench, bench->width, bench->height, PLX_RGB);
        set->results = results.data;
        paint(bench, &set->grey, NOISE);
        paint(bench, &set->other, NOISE);
        paint(bench, &set->disparity, NOISE);
        paint(bench, &set->patch, NOISE);
    }
    make_maps(bench);
    bench->tone = image(bench, PLX_COLOUR_FULL + 1, 1, PLX_U8);
    paint(bench, &bench->tone, RAMP);
    must(bench, bench->stages->ops->alloc_local(bench->stages, COPY_BYTES, NULL, (void **)&bench->from));
    must(bench, bench->stages->ops->alloc_local(bench->stages, COPY_BYTES, NULL, (void **)&bench->to));
    MUST_CUDA(bench, cudaEventCreate(&bench->begin));
    MUST_CUDA(bench, cudaEventCreate(&bench->end));
}

static void report_all(struct bench *bench)
{
    report(bench, "histogram, noise", histogram, 1);
    report(bench, "rectify", rectify, sizeof(struct plx_remap_entry) + 2);
    for (int size = 5; size <= 31; size += size == 5 ? 6 : 20) {
        char name[32];
        snprintf(name, sizeof name, "filter %dx%d", size, size);
        must(bench, plx_filter_make(true, size, size, &bench->filter));
        report(bench, name, filter, 2);
    }
    plx_match_classic(&bench->match);
    report(bench, "census classic", census, 5);
    plx_match_default(&bench->match);
    report(bench, "census default", census, 7);
    bench->raw = (struct plx_raw){.bytes = bench->sets[0].disparity.pitch * (size_t)bench->height,
                                  .width = bench->width,
                                  .height = bench->height,
                                  .pitch = bench->sets[0].disparity.pitch,
                                  .eye_width = bench->width};
    report(bench, "convert GREY", convert, 2);
    bench->raw.format = PLX_FORMAT_YUYV;
    report(bench, "convert YUYV", convert, 3);
    bench->raw.format = PLX_FORMAT_BAYER10;
    report(bench, "convert 10-bit Bayer", convert, 3);
    report(bench, "colour of 8-bit Bayer", colour, 4);
    report(bench, "rectify RGB", rectify_rgb, sizeof(struct plx_remap_entry) + 6);
    report(bench, "temporal", temporal, 8);
    report(bench, "absolute difference", absdiff, 3);
    report(bench, "invert", invert, 2);
    report(bench, "sum", sum, 1);
    report(bench, "dilate 5x5", dilate_5x5, 2);
    report(bench, "affine", affine, 2);
    report(bench, "template 32x16 in 160x32", match_template, 0);
    for (int i = 0; i < SETS; i++)
        paint(bench, &bench->sets[i].grey, RAMP);
    report(bench, "histogram, ramp", histogram, 1);
    for (int i = 0; i < SETS; i++)
        paint(bench, &bench->sets[i].grey, BLACK);
    report(bench, "histogram, black", histogram, 1);
}

int main(int argc, char **argv)
{
    struct bench bench = {.width = argc > 2 ? atoi(argv[1]) : 4096,
                          .height = argc > 2 ? atoi(argv[2]) : 4096,
                          .rounds = argc > 3 ? atoi(argv[3]) : 50};

    if (bench.width < 160 || bench.height < 32 || bench.width > PLX_MAX_SIDE || bench.height > PLX_MAX_SIDE ||
        bench.rounds < 1) {
        fprintf(stderr, "usage: bench_gpu_image [width height [rounds]]; from 160 x 32 on\n");
        return 2;
    }
    open_bench(&bench);
    median_ms(&bench, copy, NULL); /* warms up until the GPU runs at its full clock */
    bench.copy_rate = 2.0 * (double)COPY_BYTES / (median_ms(&bench, copy, NULL) / 1e3);
    printf("%d x %d; a copy moves %.0f GB/s\n%-28s %12s %11s %20s %20s\n", bench.width, bench.height, bench.copy_rate / 1e9,
           "stage", "an image", "moves", "floor, of the time", "copy, of the time");
    report_all(&bench);
    bench.stages->ops->destroy(bench.stages); /* the end of the process frees the images */
    return 0;
}
