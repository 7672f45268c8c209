/* SPDX-License-Identifier: Apache-2.0 */
/* Time of a whole frame on the CPU, stage by stage: `bench_frame [THREADS [FRAMES]]`. The demonstration scene at 640 x 480, D
 * 64, 8 paths, preset `default`. */
#include <stdio.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "app/selftest/fixture.h"
#include "core/clock.h"
#include "core/text.h"
#include "cpu/cpu.h"
#include "tests/bench/timing.h"

#define WARM 3

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, timing_ascending);
    return value[count / 2];
}

static void print(double *total, double (*stage)[PLX_STAGE_COUNT], int frames)
{
    double column[1000];

    for (int i = 0; i < PLX_STAGE_COUNT; i++) {
        for (int frame = 0; frame < frames; frame++)
            column[frame] = stage[frame][i];
        printf("  %-10s %8.2f ms\n", plx_stage_word(i), median(column, frames) / 1000);
    }
    const double all = median(total, frames);
    printf("  %-10s %8.2f ms = %.1f pairs/s (median of %d)\n", "all", all, 1000 / all, frames);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 2, frames = argc > 2 ? atoi(argv[2]) : 100;
    static double total[1000], stage[1000][PLX_STAGE_COUNT];
    struct fixture_kind kind = {.width = 640, .height = 480, .format = PLX_FORMAT_GREY};
    struct plx_stages *stages;
    struct plx_error_message message = {""};
    struct fixture fixture;

    if (threads < 0 || frames < 1 || frames > 1000) {
        fprintf(stderr, "usage: bench_frame [THREADS [FRAMES]]  (default 2 100; at most 1000 frames)\n");
        return 64;
    }
    plx_pipeline_params_default(&kind.params);
    kind.params.match.disparities = 64;
    struct plx_limits limits = fixture_limits(&kind);
    limits.threads = threads;
    int result = plx_cpu_create(&limits, &stages);
    if (result == 0)
        result = fixture_open(stages, &kind, &fixture, &message);
    if (result < 0) {
        fprintf(stderr, "bench_frame: %s\n", message.text[0] ? message.text : plx_strerror(result));
        return 1;
    }
    for (int i = -WARM; i < frames && result == 0; i++) {
        const int64_t start = plx_now_ns();
        result = plx_pipeline_process(fixture.pipeline, fixture.raw[(i + WARM) % FIXTURE_PAIRS], start, fixture.frame);
        if (i < 0)
            continue;
        total[i] = (double)(plx_now_ns() - start) / PLX_NS_PER_MS;
        for (int j = 0; j < PLX_STAGE_COUNT; j++)
            stage[i][j] = fixture.frame->stage_us[j];
    }
    if (result == 0) {
        printf("whole frame, %d x %d, D 64, 8 paths, preset default, %d threads\n", kind.width, kind.height, threads);
        print(total, stage, frames);
    } else {
        fprintf(stderr, "bench_frame: %s\n", plx_strerror(result));
    }
    fixture_close(&fixture);
    return result < 0;
}
