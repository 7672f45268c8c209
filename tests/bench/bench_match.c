/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of the matching stages on the CPU: `bench_match [seconds per row]`. A row for each pair, preset, path count, instruction
 * set and number of threads; milliseconds of each stage and of all stages, each the minimum of the rounds, because other
 * programs only add time. `default` computes strict disparity, dense disparity and confidence, as the service does; `classic`
 * strict disparity only, as libSGM does. Pairs are real ones where there is test data, else noise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "cpu/internal.h"
#include "drivers/files/picture.h"
#include "oracle/matching.h"
#include "oracle/test_image.h"
#include "tests/bench/timing.h"

#define MAX_ROUNDS 400

struct bench {
    struct plx_stages *stages;
    struct plx_match match;
    struct plx_image grey[PLX_EYES], plane[MATCHING_PLANES];
    double ms[MATCHING_GROUPS + 1][MAX_ROUNDS]; /* times of each group of calls, then of all */
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
    int64_t since = plx_now_ns();

    for (int i = 0; i <= MATCHING_GROUPS; i++)
        bench->ms[i][round] = 0;
    for (int i = 0; i < MATCHING_CALLS; i++) {
        if (matching_calls[i].refines && !bench->match.smooth) /* classic */
            continue;
        must(matching_run_call(bench->stages, i, bench->grey, &bench->match, bench->plane));
        const double ms = lap(&since);
        bench->ms[matching_calls[i].group][round] += ms;
        bench->ms[MATCHING_GROUPS][round] += ms;
    }
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

static void measure(struct bench *bench, const char *preset, enum plx_isa isa, int threads, double seconds)
{
    const struct plx_limits limits = {bench->grey[0].width, bench->grey[0].height, bench->match.disparities, threads};
    const int64_t end = plx_now_ns() + (int64_t)(seconds * 1e9);
    int rounds = 0;

    must(plx_cpu_create_isa(&limits, isa, &bench->stages));
    for (int i = 0; i < MATCHING_PLANES; i++)
        bench->plane[i] = test_image_new(limits.width, limits.height, matching_type(&bench->match, (enum matching_plane)i), 0);
    run(bench, 0); /* touches all memory */
    while (rounds < MAX_ROUNDS && (rounds < 3 || plx_now_ns() < end))
        run(bench, rounds++);
    for (int i = 0; i < MATCHING_PLANES; i++)
        test_image_free(&bench->plane[i]);
    bench->stages->ops->destroy(bench->stages);
    printf("%4dx%-4d D %-3d %-7s %d paths %-7s %d threads", bench->grey[0].width, bench->grey[0].height,
           bench->match.disparities, preset, bench->match.paths, plx_isa_kernels(isa)->name, threads);
    for (int i = 0; i <= MATCHING_GROUPS; i++) {
        qsort(bench->ms[i], (size_t)rounds, sizeof bench->ms[i][0], timing_ascending);
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
    printf("%-54s %7s %7s %7s %7s %7s %7s %7s %7s %7s  ms\n", "", "census", "sgm", "median", "check", "dense", "facing", "even",
           "conf", "all");
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (int eye = 0; eye < PLX_EYES; eye++)
            bench->grey[eye] = picture(pairs[i].pair, eye ? "right" : "left", pairs[i].width, pairs[i].height);
        for (int set = 0; set < 4; set++) {
            const bool classic = set >= 2;
            (classic ? plx_match_classic : plx_match_default)(&bench->match);
            bench->match.disparities = pairs[i].disparities;
            bench->match.paths = set % 2 == 0 ? 8 : 4;
            for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
                for (int threads = 1; threads <= 2 && plx_isa_kernels((enum plx_isa)isa); threads++)
                    measure(bench, classic ? "classic" : "default", (enum plx_isa)isa, threads, seconds);
        }
        for (int eye = 0; eye < PLX_EYES; eye++)
            free(bench->grey[eye].data);
    }
    free(bench);
    return 0;
}
