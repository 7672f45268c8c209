/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of stage columns on the GPU, on a noisy street, images in GPU memory: launches back to back, median of batches.
 * `bench_gpu_columns [-m MULTIPROCESSORS]`; -m confines it to a part of the GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu/internal.h"
#include "tests/bench/timing.h"
#include "tests/column_cases.h"
#include "tests/parity/confine.h"
#include "tests/parity/parity.h"

#define BATCHES 40
#define LAUNCHES 25

static void must_cuda(cudaError_t error)
{
    if (error != cudaSuccess) {
        printf("failed: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

/* An image of this size in GPU memory; with the rows of CONTENT, if there are any. */
static struct plx_image local_image(struct plx_stages *stages, int width, int height, enum plx_type type, const void *content)
{
    struct plx_image image = {NULL, width, height, (size_t)width * type, type};
    parity_must(stages->ops->alloc_local(stages, image.pitch * (size_t)height, content, &image.data), &stages->message);
    return image;
}

static double measure(struct plx_stages *gpu, const struct plx_image *disparity, const struct plx_ground *ground,
                      const struct plx_columns_params *params, const struct plx_image *scan, const struct plx_image *stixels)
{
    cudaStream_t stream = plx_gpu(gpu)->stream;
    double ms[BATCHES];
    cudaEvent_t begin, end;

    must_cuda(cudaEventCreate(&begin));
    must_cuda(cudaEventCreate(&end));
    for (int i = -2; i < BATCHES; i++) { /* two to warm up */
        float batch_ms;
        must_cuda(cudaEventRecord(begin, stream));
        for (int k = 0; k < LAUNCHES; k++)
            parity_must(gpu->ops->stixels(gpu, disparity, ground, params, scan, stixels), &gpu->message);
        must_cuda(cudaEventRecord(end, stream));
        must_cuda(cudaEventSynchronize(end));
        must_cuda(cudaEventElapsedTime(&batch_ms, begin, end));
        ms[i < 0 ? 0 : i] = (double)batch_ms / LAUNCHES;
    }
    must_cuda(cudaEventDestroy(begin));
    must_cuda(cudaEventDestroy(end));
    qsort(ms, BATCHES, sizeof ms[0], timing_ascending);
    return ms[BATCHES / 2];
}

static void bench_size(int width, int height, int disparities, int multiprocessors)
{
    const struct plx_limits limits = {.width = width, .height = height, .disparities = disparities};
    const struct plx_columns_params params = {.mask = {.near_disparity = 16 * disparities,
                                                       .far_disparity = 30,
                                                       .min_height_um = 200000,
                                                       .max_height_um = 2500000,
                                                       .focal_px = 700,
                                                       .ground_needed = true},
                                              .disparities = disparities,
                                              .min_drop_mm = 100};
    const struct plx_ground ground = {.b = 200000, .c = (int64_t)-200000 * height / 3, .camera_height_um = 1200000, .valid = 1};
    uint64_t seed = 1;
    struct parity parity;

    parity_open(&limits, &parity);
    confine_stages(parity.gpu, multiprocessors);
    struct plx_image drawn = test_image_new(width, height, PLX_U16, 0);
    column_draw(&seed, BUMPY, &params, &ground, &drawn);
    struct plx_image disparity = local_image(parity.gpu, width, height, PLX_U16, drawn.data);
    struct plx_image scan = local_image(parity.gpu, plx_columns_of(width), 1, PLX_U64, NULL);
    struct plx_image stixels = local_image(parity.gpu, PLX_COLUMN_STIXELS, plx_columns_of(width), PLX_U128, NULL);
    void *plane;
    parity_must(parity.gpu->ops->alloc_local(parity.gpu, sizeof ground, &ground, &plane), &parity.gpu->message);

    printf("%4d x %4d, D %3d: %.4f ms\n", width, height, disparities,
           measure(parity.gpu, &disparity, plane, &params, &scan, &stixels));
    void *const all[] = {disparity.data, scan.data, stixels.data, plane};
    for (int i = 0; i < PARITY_COUNT(all); i++)
        parity.gpu->ops->free(parity.gpu, all[i]);
    test_image_free(&drawn);
    parity.cpu->ops->destroy(parity.cpu);
    parity.gpu->ops->destroy(parity.gpu);
}

int main(int argc, char **argv)
{
    static const int sizes[][3] = {{640, 480, 64}, {640, 480, 128}, {1240, 374, 128}, {1920, 1080, 128}, {1920, 1080, 256}};
    const int option = getopt(argc, argv, "m:");
    int multiprocessors = option == 'm' ? atoi(optarg) : 0;

    if (option == '?' || multiprocessors < 0 || argc != optind) {
        fprintf(stderr, "usage: bench_gpu_columns [-m MULTIPROCESSORS]\n");
        return 64;
    }
    multiprocessors = confine(multiprocessors);
    for (int i = 0; i < PARITY_COUNT(sizes); i++)
        bench_size(sizes[i][0], sizes[i][1], sizes[i][2], multiprocessors);
    return 0;
}
