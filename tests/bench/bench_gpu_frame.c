/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of a whole frame on the GPU, from raw pictures to tracked obstacles in the published frame: `bench_gpu_frame
 * [-m MULTIPROCESSORS] [-l WARPS[,PAUSE_NS]] [rounds]`; -m confines it to a part of the GPU, and with -l the rest reads memory
 * at random places meanwhile (tests/parity/contention.h): what a copy gets then is printed. Median, tenth and ninetieth
 * percentile in ms, as in the service: pictures and frame lie in memory shared with the CPU, and waiting and the CPU's own work
 * are included. Then the median with motion, the median without time stamps of the stages, which shows the cost of the time
 * stamps, and the median with disparity only (no refinement, ground, obstacles).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/selftest/fixture.h"
#include "core/base/clock.h"
#include "gpu/gpu.h"
#include "gpu/internal.h"
#include "tests/bench/timing.h"
#include "tests/parity/confine.h"
#include "tests/parity/contention.h"
#include "tests/parity/parity.h"

#define WARM 10

/* Sorted times of ROUNDS frames; false without a GPU. MULTIPROCESSORS 0: all. TIMED: with time stamps of the stages. */
static bool measure(const struct fixture_kind *kind, int multiprocessors, struct contention *load, bool timed, int rounds,
                    double *ret_ms)
{
    const struct plx_limits limits = fixture_limits(kind);
    struct plx_error_message message = {""};
    struct plx_stages *stages;
    struct fixture fixture;

    if (plx_gpu_create(&limits, &stages, &message) < 0) {
        printf("%s\n", message.text);
        return false;
    }
    confine_stages(stages, multiprocessors);
    plx_gpu(stages)->times_stages = timed;
    parity_must(fixture_open(stages, kind, &fixture, &message), &message);
    for (int i = -WARM; i < rounds; i++) {
        if (i == 0)
            contention_begin(load);
        const int64_t start = plx_now_ns();
        if (fixture_run(&fixture, i + WARM) < 0) {
            printf("frame %d: %s\n", i, stages->message.text);
            exit(1);
        }
        if (i >= 0)
            ret_ms[i] = (double)(plx_now_ns() - start) / PLX_NS_PER_MS;
    }
    contention_end(load);
    fixture_close(&fixture);
    qsort(ret_ms, (size_t)rounds, sizeof *ret_ms, timing_ascending);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        int width, height, disparities;
    } rows[] = {{640, 480, 64}, {640, 480, 128}, {1240, 374, 128}, {1280, 720, 128}, {1920, 1080, 128}};
    int multiprocessors = 0, warps = 0, pause_ns = 0;
    bool is_wrong = false;
    for (int option; (option = getopt(argc, argv, "m:l:")) != -1;) {
        if (option == 'm')
            multiprocessors = atoi(optarg);
        is_wrong |= option == '?' || (option == 'l' && sscanf(optarg, "%d,%d", &warps, &pause_ns) < 1);
    }
    const int rounds = optind < argc ? atoi(argv[optind]) : 200;
    double *ms = rounds > 0 ? malloc((size_t)rounds * sizeof *ms) : NULL;

    if (!ms || is_wrong || multiprocessors < 0 || warps < 0 || warps > 64) {
        fprintf(stderr, "usage: bench_gpu_frame [-m MULTIPROCESSORS] [-l WARPS[,PAUSE_NS]] [rounds]\n");
        free(ms);
        return 64;
    }
    multiprocessors = confine(multiprocessors);
    struct contention *load = contention_create(multiprocessors, warps, pause_ns);
    printf("%-24s %8s %8s %8s %8s %10s %16s %6s\n", "default, rectified", "frame", "p10", "p90", "motion", "untimed",
           "disparity only", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture_kind kind = {rows[i].width, rows[i].height, PLX_FORMAT_GREY, true, {.refine = false}, NULL};
        plx_pipeline_params_default(&kind.params);
        kind.params.correction = PLX_CORRECTION_OFF; /* pictures that are rectified are not copied */
        kind.params.motion = PLX_MOTION_NONE;
        kind.params.match.disparities = rows[i].disparities;
        if (!measure(&kind, multiprocessors, load, true, rounds, ms)) {
            free(ms);
            return 77;
        }
        const double whole = ms[rounds / 2], p10 = ms[rounds / 10], p90 = ms[rounds * 9 / 10];
        kind.params.motion = PLX_MOTION_VISUAL;
        measure(&kind, multiprocessors, load, true, rounds, ms);
        const double motion = ms[rounds / 2];
        kind.params.motion = PLX_MOTION_NONE;
        measure(&kind, multiprocessors, load, false, rounds, ms);
        const double untimed = ms[rounds / 2];
        kind.params.refine = kind.params.ground = kind.params.obstacles = false;
        measure(&kind, multiprocessors, load, true, rounds, ms);
        printf("%4d x %4d, D %-3d        %8.3f %8.3f %8.3f %8.3f %10.3f %16.3f %6.2f\n", rows[i].width, rows[i].height,
               rows[i].disparities, whole, p10, p90, motion, untimed, ms[rounds / 2], whole / ms[rounds / 2]);
    }
    free(ms);
    return 0;
}
