/* SPDX-License-Identifier: Apache-2.0 */
/* Frames per second at one picture size, compared with the rate that a machine of this model should reach. */
#include <stdio.h>
#include <string.h>

#include "app/machine_files.h"
#include "app/selftest/fixture.h"
#include "core/base/clock.h"

#define WIDTH 640
#define HEIGHT 480
#define DISPARITIES 64
#define MAX_FRAMES 20000

/*
 * The least rates, pairs/s, at 640 x 480, D 64, 8 paths, preset default. None of these machines was measured yet. Estimated,
 * and halved: CPU from 23 pairs/s of one x86 core with 512-bit vectors, a quarter of it for 128-bit ones, scaled by clock and
 * number of cores; GPU from the matching's times on 16 multiprocessors of an H200 (docs/performance.md), scaled by clock and
 * multiprocessors, with as much again for the other stages. The first row whose name is part of the model is used.
 */
static const struct {
    const char *model;
    double min_rate[2]; /* CPU, GPU */
} machines[] = {
    {"AGX Orin", {20, 100}}, {"Orin NX", {12, 50}}, {"Orin Nano", {7, 30}}, {"Thor", {30, 150}}, {"Xavier", {8, 30}},
};

static double min_rate(const char *model, enum plx_backend_kind kind)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strstr(model, machines[i].model))
            return machines[i].min_rate[kind == PLX_BACKEND_GPU];
    return 0;
}

static void judge(const struct check_options *options, double rate, struct check_outcome *ret)
{
    char model[128];

    plx_machine_model(options->root, model, sizeof model);
    const double least = min_rate(model, options->backend);
    if (least <= 0)
        check_note(ret, "informative: no expected rate is known for %s", model[0] ? model : "this machine");
    else if (rate < least)
        check_doubt(ret, "%.1f pairs/s; %s should reach %.0f (an estimate; see machine/power and machine/temperature)", rate,
                    model, least);
    else
        check_note(ret, "%s should reach %.0f pairs/s (an estimate)", model, least);
}

void check_throughput(const struct check_options *options, struct check_outcome *ret)
{
    static int64_t frame_ns[MAX_FRAMES];
    const int64_t end = (options->full ? 30 : 2) * PLX_NS_PER_S;
    struct plx_pipeline_params params;
    struct fixture fixture;
    int frames = 0;

    plx_pipeline_params_default(&params);
    params.correction = PLX_CORRECTION_OFF; /* one calibration for the whole measurement */
    params.match.disparities = DISPARITIES;
    if (!fixture_open_check(options->backend, WIDTH, HEIGHT, &params, &fixture, ret))
        return;
    for (int i = 0; i < FIXTURE_PAIRS && fixture_run_check(&fixture, i, ret); i++) /* warm-up */
        continue;
    const int64_t begun = plx_now_ns();
    while (frames < MAX_FRAMES && plx_now_ns() - begun < end && ret->verdict == CHECK_PASSED) {
        const int64_t start = plx_now_ns();
        fixture_run_check(&fixture, frames, ret);
        frame_ns[frames++] = plx_now_ns() - start;
    }
    fixture_close(&fixture);
    check_sort(frame_ns, frames);
    const double median_ms = (double)check_quantile(frame_ns, frames, 0.5) / 1e6;
    check_note(ret, "%d x %d, D %d, 8 paths: median %.2f ms, p99 %.2f ms, %.1f pairs/s over %d frames", WIDTH, HEIGHT,
               DISPARITIES, median_ms, (double)check_quantile(frame_ns, frames, 0.99) / 1e6, 1000 / median_ms, frames);
    if (ret->verdict == CHECK_PASSED)
        judge(options, 1000 / median_ms, ret);
}
