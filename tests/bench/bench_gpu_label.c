/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of the obstacle stages on the GPU: each as one CUDA graph, images in GPU memory, median of batches of replays.
 * `bench_gpu_label [-m MULTIPROCESSORS] [WIDTH HEIGHT]`; -m confines it to a part of the GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <parallax/frame.h>

#include "core/ground/obstacles.h"
#include "gpu/internal.h"
#include "tests/parity/confine.h"
#include "tests/parity/parity.h"

#define BATCHES 40
#define REPLAYS 25 /* replays of a graph, back to back */

struct bench {
    struct plx_stages *stages;
    struct plx_image mask, disparity, labels, published, clean; /* all but the first two in GPU memory */
    struct plx_image mask_local, disparity_local;
    struct plx_region *regions;
    struct plx_ground *ground;
    struct plx_ground_prior *prior; /* zeros: none */
    uint32_t *count;
    int min_area;
};

static uint64_t state = 1;

static void must(int result, const struct bench *b)
{
    if (result < 0) {
        printf("failed: %s: %s\n", plx_strerror(result), b->stages->message.text);
        exit(1);
    }
}

static void must_cuda(cudaError_t error)
{
    if (error != cudaSuccess) {
        printf("failed: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static void label(struct bench *b)
{
    const struct plx_label_params params = {.max_step = 8, .min_area = b->min_area};
    must(b->stages->ops->label(b->stages, &b->mask_local, &b->disparity_local, &params, &b->labels, b->count), b);
}

static void regions(struct bench *b)
{
    const struct plx_region_input input = {&b->labels, &b->disparity_local, &b->mask_local, &b->mask_local, 0};
    must(b->stages->ops->regions(b->stages, &input, b->count, b->regions, &b->published), b);
}

static void label_and_regions(struct bench *b)
{
    label(b);
    regions(b);
}

static void speckle(struct bench *b)
{
    const struct plx_speckle params = {.max_size = 100, .max_step = 16};
    must(b->stages->ops->speckle(b->stages, &b->disparity_local, &params, &b->clean), b);
}

static void ground(struct bench *b)
{
    const struct plx_ground_params params = {.enabled = true,
                                             .disparities = 128,
                                             .tolerance = 12,
                                             .horizon_min = -b->mask.height / 2,
                                             .horizon_max = b->mask.height * 3 / 4,
                                             .calibration = {512, 512, 319.5, 239.5, 319.5, 0.12}};
    must(b->stages->ops->ground(b->stages, &b->disparity_local, &params, b->prior, b->ground), b);
}

static void mask(struct bench *b)
{
    const struct plx_mask_params params = {2000, 16, 0, 0, 100000, 2500000, 0, false};
    must(b->stages->ops->mask(b->stages, &b->disparity_local, b->ground, &params, &b->clean),
         b); /* `clean` is U16: large enough for a U8 mask */
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median milliseconds of one replay of the work that RUN launches. */
static float measure(struct bench *b, void (*run)(struct bench *b))
{
    cudaStream_t stream = plx_gpu(b->stages)->stream;
    cudaEvent_t begin, end;
    cudaGraph_t graph;
    cudaGraphExec_t launch;
    float times[BATCHES];

    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    run(b);
    must_cuda(cudaStreamEndCapture(stream, &graph));
    must_cuda(cudaGraphInstantiate(&launch, graph, 0));
    must_cuda(cudaEventCreate(&begin));
    must_cuda(cudaEventCreate(&end));
    for (int i = -2; i < BATCHES; i++) { /* two to warm up */
        must_cuda(cudaEventRecord(begin, stream));
        for (int k = 0; k < REPLAYS; k++)
            must_cuda(cudaGraphLaunch(launch, stream));
        must_cuda(cudaEventRecord(end, stream));
        must_cuda(cudaEventSynchronize(end));
        must_cuda(cudaEventElapsedTime(&times[i < 0 ? 0 : i], begin, end));
    }
    must_cuda(cudaEventDestroy(begin));
    must_cuda(cudaEventDestroy(end));
    must_cuda(cudaGraphExecDestroy(launch));
    must_cuda(cudaGraphDestroy(graph));
    qsort(times, BATCHES, sizeof times[0], by_value);
    return times[BATCHES / 2] / REPLAYS;
}

static struct plx_image image(struct bench *b, bool local, int width, int height, enum plx_type type)
{
    const struct plx_stages_ops *ops = b->stages->ops;
    struct plx_image result = {NULL, width, height, (size_t)width * type, type};
    const size_t bytes = result.pitch * (size_t)height;
    must(local ? ops->alloc_local(b->stages, bytes, NULL, &result.data) : ops->alloc(b->stages, bytes, &result.data), b);
    return result;
}

/* PERCENT of the mask's pixels are set, at random; 0: boxes, each column of them at a depth of its own. */
static void paint(struct bench *b, int percent)
{
    for (int y = 0; y < b->mask.height; y++) {
        uint8_t *on = plx_row(&b->mask, y);
        uint16_t *d = plx_row(&b->disparity, y);
        for (int x = 0; x < b->mask.width; x++) {
            on[x] = percent > 0 ? random_below(&state, 100) < (uint32_t)percent : x % 150 < 70 && y % 120 < 90;
            d[x] = (uint16_t)(300 + random_below(&state, 8) + (percent > 0 ? 0 : (uint32_t)(x / 150) * 40));
        }
    }
    must_cuda(cudaMemcpy(b->mask_local.data, b->mask.data, b->mask.pitch * (size_t)b->mask.height, cudaMemcpyDefault));
    must_cuda(
        cudaMemcpy(b->disparity_local.data, b->disparity.data, b->disparity.pitch * (size_t)b->mask.height, cudaMemcpyDefault));
}

/* Measures all stages at one size. MULTIPROCESSORS 0: all. */
static void bench_size(int width, int height, int multiprocessors)
{
    static const int percents[] = {0, 10, 30, 50, 70, 90};
    const struct plx_limits limits = {.width = width, .height = height, .disparities = 64};
    struct parity parity;
    parity_open(&limits, &parity);
    confine_stages(parity.gpu, multiprocessors);
    struct bench b = {.stages = parity.gpu};
    const struct plx_stages_ops *ops = b.stages->ops;
    void *data;

    b.mask = image(&b, false, width, height, PLX_U8);
    b.disparity = image(&b, false, width, height, PLX_U16);
    b.mask_local = image(&b, true, width, height, PLX_U8);
    b.disparity_local = image(&b, true, width, height, PLX_U16);
    b.labels = image(&b, true, width, height, PLX_U32);
    b.published = image(&b, true, width, height, PLX_U16);
    b.clean = image(&b, true, width, height, PLX_U16);
    must(ops->alloc(b.stages, PLX_MAX_OBSTACLES * sizeof *b.regions, &data), &b);
    b.regions = data;
    must(ops->alloc_local(b.stages, sizeof *b.ground, NULL, &data), &b); /* as in a pipeline on a discrete GPU */
    b.ground = data;
    must(ops->alloc(b.stages, sizeof *b.prior, &data), &b);
    b.prior = data;
    must(ops->alloc(b.stages, sizeof *b.count, &data), &b);
    b.count = data;

    for (int i = 0; i < PARITY_COUNT(percents); i++) {
        paint(&b, percents[i]);
        for (b.min_area = 1; b.min_area <= 100; b.min_area += 99) {
            const float alone = measure(&b, label), sums = measure(&b, regions), both = measure(&b, label_and_regions);
            printf("%4dx%-4d density %2d%%, area >= %3d: %6u components  label %.4f  regions %.4f  both %.4f ms\n", width,
                   height, percents[i], b.min_area, *b.count, (double)alone, (double)sums, (double)both);
        }
        printf("%4dx%-4d density %2d%%: speckle %.4f  ground %.4f ms\n", width, height, percents[i],
               (double)measure(&b, speckle), (double)measure(&b, ground));
    }
    b.clean.type = PLX_U8;
    printf("%4dx%-4d mask %.4f ms\n", width, height, (double)measure(&b, mask));

    void *const all[] = {b.mask.data,
                         b.disparity.data,
                         b.mask_local.data,
                         b.disparity_local.data,
                         b.labels.data,
                         b.published.data,
                         b.clean.data,
                         b.regions,
                         b.ground,
                         b.prior,
                         b.count};
    for (int i = 0; i < PARITY_COUNT(all); i++)
        ops->free(b.stages, all[i]);
    parity.cpu->ops->destroy(parity.cpu);
    parity.gpu->ops->destroy(parity.gpu);
}

int main(int argc, char **argv)
{
    static const int sizes[][2] = {{640, 480}, {1240, 374}, {1920, 1080}};
    const int option = getopt(argc, argv, "m:");
    int multiprocessors = option == 'm' ? atoi(optarg) : 0;

    if (option == '?' || multiprocessors < 0 || (argc != optind && argc != optind + 2)) {
        fprintf(stderr, "usage: bench_gpu_label [-m MULTIPROCESSORS] [WIDTH HEIGHT]\n");
        return 64;
    }
    multiprocessors = confine(multiprocessors);
    if (argc == optind + 2)
        bench_size(atoi(argv[optind]), atoi(argv[optind + 1]), multiprocessors);
    for (int i = 0; argc == optind && i < PARITY_COUNT(sizes); i++)
        bench_size(sizes[i][0], sizes[i][1], multiprocessors);
    return 0;
}
