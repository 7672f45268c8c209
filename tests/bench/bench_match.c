/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the matching stages take: `bench_match [seconds a row]`. A row for each pair, preset, path count, instruction
 * set and number of threads; least milliseconds of each stage, and of all (what else runs only adds). `default` makes strict,
 * dense and confidence, as the service does; `classic` strict only, as libSGM does. Pairs are real ones where there is test
 * data, else noise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "cpu/internal.h"
#include "drivers/files/picture.h"
#include "oracle/test_image.h"
#include "tests/bench/match_images.h"

#define MAX_ROUNDS 400

enum { CENSUS, SGM, MEDIAN, CHECK, FILL, CONFIDENCE, STAGES };

struct bench {
    struct plx_stages *stages;
    struct plx_match match;
    struct plx_image left, right;
    struct match_images made;
    double ms[STAGES + 1][MAX_ROUNDS];
};

static double lap(int64_t *since)
{
    int64_t now = plx_now_ns();
    double ms = (double)(now - *since) / 1e6;
    *since = now;
    return ms;
}

static void must(int result)
{
    if (result < 0) {
        fprintf(stderr, "a stage failed: %s\n", plx_strerror(result));
        exit(1);
    }
}

static void run(struct bench *bench, int round)
{
    struct plx_stages *stages = bench->stages;
    const struct plx_stages_ops *ops = stages->ops;
    const struct plx_match *match = &bench->match;
    const bool refine = match->smooth;
    int64_t since = plx_now_ns();
    double all = 0;

    must(ops->census(stages, &bench->left, match, &bench->made.features[0]));
    must(ops->census(stages, &bench->right, match, &bench->made.features[1]));
    bench->ms[CENSUS][round] = lap(&since);
    must(ops->sgm(stages, &bench->made.features[0], &bench->made.features[1], &bench->left, match, &bench->made.candidates));
    bench->ms[SGM][round] = lap(&since);
    must(ops->median(stages, &bench->made.candidates.left, match->median_left, &bench->made.median_left));
    must(ops->median(stages, &bench->made.candidates.right, match->median_right, &bench->made.median_right));
    if (refine)
        must(ops->median(stages, &bench->made.candidates.left, PLX_MEDIAN_3X3, &bench->made.thin));
    bench->ms[MEDIAN][round] = lap(&since);
    must(ops->check(stages, &bench->made.median_left, &bench->made.median_right, &bench->left, match, &bench->made.strict));
    if (refine)
        must(ops->check(stages, &bench->made.thin, &bench->made.median_right, &bench->left, match, &bench->made.checked));
    bench->ms[CHECK][round] = lap(&since);
    if (refine) {
        must(ops->fill(stages, &bench->made.checked, &bench->made.filled_disparity, &bench->made.filled));
        must(ops->median(stages, &bench->made.filled_disparity, PLX_MEDIAN_VALID_5X5, &bench->made.dense));
    }
    bench->ms[FILL][round] = lap(&since);
    if (refine)
        must(ops->confidence(stages, &bench->made.candidates, &bench->made.strict, match, &bench->made.confidence));
    bench->ms[CONFIDENCE][round] = lap(&since);
    for (int i = 0; i < STAGES; i++)
        all += bench->ms[i][round];
    bench->ms[STAGES][round] = all;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void allocate(void *of, struct plx_image *image, enum plx_type type)
{
    const struct bench *bench = of;
    *image = test_image_new(bench->left.width, bench->left.height, type, 0);
}

static void deallocate(void *of, struct plx_image *image, enum plx_type type)
{
    (void)of, (void)type;
    test_image_free(image);
}

static struct plx_image picture(const char *pair, const char *eye, int width, int height)
{
    char path[512];
    struct plx_image image;
    uint64_t random = test_seed();

    snprintf(path, sizeof path, "%s/stereo/%s/%s.png", PLX_TEST_DATA, pair, eye);
    if (plx_picture_read(path, PLX_U8, &image, NULL) == 0)
        return image;
    image = test_image_new(width, height, PLX_U8, 0);
    for (size_t i = 0; i < (size_t)width * (size_t)height; i++)
        ((uint8_t *)image.data)[i] = (uint8_t)random_below(&random, 256);
    return image;
}

static void measure(struct bench *bench, const char *set, enum plx_isa isa, int threads, double seconds)
{
    const struct plx_limits limits = {bench->left.width, bench->left.height, bench->match.disparities, threads};
    const int64_t end = plx_now_ns() + (int64_t)(seconds * 1e9);
    int rounds = 0;

    must(plx_cpu_create_isa(&limits, isa, &bench->stages));
    run(bench, 0); /* touches all memory */
    while (rounds < MAX_ROUNDS && (rounds < 3 || plx_now_ns() < end))
        run(bench, rounds++);
    bench->stages->ops->destroy(bench->stages);
    printf("%4dx%-4d D %-3d %-7s %d paths %-7s %d threads", bench->left.width, bench->left.height, bench->match.disparities,
           set, bench->match.paths, plx_isa_kernels(isa)->name, threads);
    for (int i = 0; i <= STAGES; i++) {
        qsort(bench->ms[i], (size_t)rounds, sizeof bench->ms[i][0], ascending);
        printf(" %7.2f", bench->ms[i][0]);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *pair;
        int width, height, disparities;
    } pairs[] = {{"fc2_640x480", 640, 480, 64}, {"kitti12_000003", 1242, 375, 128}};
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    struct bench *bench = calloc(1, sizeof *bench);

    if (!bench)
        return 1;
    printf("%-54s %7s %7s %7s %7s %7s %7s %7s  ms\n", "", "census", "sgm", "median", "check", "dense", "conf", "all");
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        bench->left = picture(pairs[i].pair, "left", pairs[i].width, pairs[i].height);
        bench->right = picture(pairs[i].pair, "right", pairs[i].width, pairs[i].height);
        match_images_visit(&bench->made, allocate, bench);
        for (int set = 0; set < 4; set++) {
            const bool classic = set >= 2;
            (classic ? plx_match_classic : plx_match_default)(&bench->match);
            bench->match.disparities = pairs[i].disparities;
            bench->match.paths = set % 2 == 0 ? 8 : 4;
            for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
                for (int threads = 1; threads <= 2 && plx_isa_kernels((enum plx_isa)isa); threads++)
                    measure(bench, classic ? "classic" : "default", (enum plx_isa)isa, threads, seconds);
        }
        match_images_visit(&bench->made, deallocate, bench);
        free(bench->left.data);
        free(bench->right.data);
    }
    free(bench);
    return 0;
}
