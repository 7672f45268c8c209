/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of a whole frame on the GPU, from raw pictures to tracked obstacles in the published frame: `bench_gpu_frame
 * [-m MULTIPROCESSORS] [-c SCHEDULE] [-C] [-l WARPS[,PAUSE_NS]] [-N beside|process] [rounds]`; -m confines it to a part of the
 * GPU, -c forces a schedule of stage sgm (its number, as in bench_stereo), and with -l the rest reads memory at random places
 * meanwhile (tests/parity/contention.h): what a copy gets then is printed. With -C frames with motion of an 8-bit mosaic are
 * timed without and with the colour picture too, in turns. With -N frames are timed beside a neural network
 * too (tests/bench/network.h), on the rest or from a process of its own: what both lose is printed below each row. Medians in
 * ms, as in the service: pictures and frame lie in memory shared with the CPU, and waiting and the CPU's own work are included.
 * *cpu*: processor time of all threads for a frame, mean. *Alone*: matching and rectification alone, with *ratio* of the frame
 * with motion to it. *Untimed*: without time stamps of the stages. Then the stages of the frame with motion: the time that each
 * adds to the path, and where it runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <parallax/words.h>

#include "app/selftest/fixture.h"
#include "core/base/clock.h"
#include "core/pipeline/internal.h"
#include "gpu/gpu.h"
#include "gpu/internal.h"
#include "tests/bench/network.h"
#include "tests/bench/timing.h"
#include "tests/parity/confine.h"
#include "tests/parity/contention.h"
#include "tests/parity/parity.h"

#define WARM 10
#define COLOUR_RUNS 5

static struct network *beside; /* what runs while frames are timed; NULL: nothing */

struct times {
    double *frame_ms;                 /* [rounds], sorted */
    double cpu_ms;                    /* mean of a frame */
    double stage_ms[PLX_STAGE_COUNT]; /* means */
    bool on_gpu[PLX_STAGE_COUNT], on_cpu[PLX_STAGE_COUNT];
};

static void note_places(const struct plx_pipeline *pipeline, struct times *times)
{
    const struct plx_plan *plan = &pipeline->plan;
    for (int i = 0; i < plan->first[PLX_STEP_PLACES]; i++) {
        const struct plx_step *step = &plan->step[i];
        if (step->stage != PLX_NO_STAGE)
            *(step->place == PLX_STEP_BACKEND ? &times->on_gpu[step->stage] : &times->on_cpu[step->stage]) = true;
    }
}

/* Processes ROUNDS frames behind some that do not count. */
static void run(struct fixture *fixture, struct contention *load, int rounds, struct times *times)
{
    int64_t begun_ns = 0;
    for (int i = -WARM; i < rounds; i++) {
        if (i == 0) {
            contention_begin(load);
            network_begin(beside);
            begun_ns = plx_process_cpu_ns();
        }
        const int64_t start = plx_now_ns();
        if (fixture_run(fixture, i + WARM) < 0) {
            printf("frame %d: %s\n", i, fixture->stages->message.text);
            exit(1);
        }
        if (i < 0)
            continue;
        times->frame_ms[i] = (double)(plx_now_ns() - start) / PLX_NS_PER_MS;
        for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
            times->stage_ms[stage] += fixture->stage_us[stage] / 1e3 / rounds;
    }
    times->cpu_ms = (double)(plx_process_cpu_ns() - begun_ns) / PLX_NS_PER_MS / rounds;
    contention_end(load);
    network_end(beside);
}

/* How frames are run, whatever their size. */
struct conditions {
    int multiprocessors; /* 0: all */
    int schedule;        /* below 0: the backend's choice */
    int rounds;
    bool colour;
    struct contention *load; /* or NULL */
};

/* False without a GPU. TIMED: with time stamps of the stages. */
static bool measure(const struct fixture_kind *kind, const struct conditions *conditions, bool timed, struct times *times)
{
    const int rounds = conditions->rounds;
    const struct plx_limits limits = fixture_limits(kind);
    struct plx_error_message message = {""};
    struct plx_stages *stages;
    struct fixture fixture;

    if (plx_gpu_create(&limits, &stages, &message) < 0) {
        printf("%s\n", message.text);
        return false;
    }
    confine_stages(stages, conditions->multiprocessors);
    if (plx_gpu_set_schedule(stages, conditions->schedule) < 0) {
        printf("there is no schedule %d\n", conditions->schedule);
        exit(1);
    }
    plx_gpu(stages)->times_stages = timed;
    parity_must(fixture_open(stages, kind, &fixture, &message), &message);
    *times = (struct times){.frame_ms = times->frame_ms};
    note_places(fixture.pipeline, times);
    run(&fixture, conditions->load, rounds, times);
    fixture_close(&fixture);
    qsort(times->frame_ms, (size_t)rounds, sizeof *times->frame_ms, timing_ascending);
    return true;
}

static void print_stages(const struct times *times)
{
    for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
        if (times->on_gpu[stage] || times->on_cpu[stage])
            printf("%s%s %.3f %s", stage == 0 ? "    " : ", ", plx_stage_word((enum plx_stage)stage), times->stage_ms[stage],
                   !times->on_cpu[stage]   ? "GPU"
                   : !times->on_gpu[stage] ? "CPU"
                                           : "both");
    printf("\n");
}

/* Frames beside NETWORK; MOTION_NONE and MOTION_VISUAL: their times without it. */
static void print_beside(struct fixture_kind *kind, struct conditions conditions, struct network *network, struct times *times,
                         const struct network_times alone[2])
{
    static const char *const what[] = {"frame", "with motion"};

    if (!network)
        return;
    conditions.load = NULL;
    for (int motion = 0; motion < 2; motion++) {
        kind->params.motion = motion ? PLX_MOTION_VISUAL : PLX_MOTION_NONE;
        beside = network;
        measure(kind, &conditions, true, times);
        beside = NULL;
        network_report(network, what[motion], alone[motion], network_times(times->frame_ms, conditions.rounds));
    }
}

/* What the colour picture costs. */
static void print_colour(const struct fixture_kind *kind, const struct conditions *conditions, struct times *times)
{
    struct fixture_kind mosaic = *kind;
    double ms[2][COLOUR_RUNS];

    if (!conditions->colour)
        return;
    mosaic.format = PLX_FORMAT_BAYER8;
    mosaic.distorted = true; /* the colour picture is resampled */
    for (int i = 0; i < 2 * COLOUR_RUNS; i++) {
        mosaic.params.colour.enabled = i % 2;
        measure(&mosaic, conditions, false, times);
        ms[i % 2][i / 2] = times->frame_ms[conditions->rounds / 2];
    }
    for (int i = 0; i < 2; i++)
        qsort(ms[i], COLOUR_RUNS, sizeof ms[i][0], timing_ascending);
    printf("    mosaic %.3f, in colour %.3f: %.3f times\n", ms[0][COLOUR_RUNS / 2], ms[1][COLOUR_RUNS / 2],
           ms[1][COLOUR_RUNS / 2] / ms[0][COLOUR_RUNS / 2]);
}

/* False without a GPU. */
static bool print_row(struct fixture_kind *kind, const struct conditions *conditions, struct network *network,
                      struct times *times)
{
    const int rounds = conditions->rounds;
    kind->params.motion = PLX_MOTION_NONE;
    if (!measure(kind, conditions, true, times))
        return false;
    const double whole = times->frame_ms[rounds / 2], cpu = times->cpu_ms;
    struct network_times without[2] = {network_times(times->frame_ms, rounds)};
    measure(kind, conditions, false, times);
    const double untimed = times->frame_ms[rounds / 2];
    struct fixture_kind alone = *kind;
    alone.params.refine = alone.params.ground = alone.params.obstacles = false;
    measure(&alone, conditions, true, times);
    const double matching = times->frame_ms[rounds / 2];
    kind->params.motion = PLX_MOTION_VISUAL;
    measure(kind, conditions, true, times);
    const double motion = times->frame_ms[rounds / 2], p10 = times->frame_ms[rounds / 10],
                 p90 = times->frame_ms[rounds * 9 / 10];
    printf("%4d x %4d, D %-3d %8.3f %6.3f %8.3f %8.3f %8.3f %8.3f %6.3f %8.3f %6.2f\n", kind->width, kind->height,
           kind->params.match.disparities, whole, cpu, untimed, motion, p10, p90, times->cpu_ms, matching, motion / matching);
    print_stages(times);
    without[1] = network_times(times->frame_ms, rounds);
    print_colour(kind, conditions, times);
    print_beside(kind, *conditions, network, times, without);
    return true;
}

struct options {
    int multiprocessors, schedule, warps, pause_ns, rounds;
    bool colour;
    enum network_way network;
};

/* False if the command line is wrong. */
static bool parse(int argc, char **argv, struct options *ret)
{
    bool is_wrong = false;
    for (int option; (option = getopt(argc, argv, "m:c:Cl:N:")) != -1;) {
        if (option == 'm')
            ret->multiprocessors = atoi(optarg);
        if (option == 'c')
            ret->schedule = atoi(optarg);
        ret->colour |= option == 'C';
        is_wrong |= option == '?' || (option == 'l' && sscanf(optarg, "%d,%d", &ret->warps, &ret->pause_ns) < 1) ||
                    (option == 'N' && !network_parse(optarg, &ret->network));
    }
    ret->rounds = optind < argc ? atoi(argv[optind]) : 200;
    is_wrong |= ret->warps != 0 && ret->network != NETWORK_NONE; /* each would take all of the other multiprocessors */
    return !is_wrong && ret->rounds > 0 && ret->multiprocessors >= 0 && ret->warps >= 0 && ret->warps <= 64;
}

int main(int argc, char **argv)
{
    static const struct {
        int width, height, disparities;
    } rows[] = {{640, 480, 64}, {640, 480, 128}, {1240, 374, 128}, {1280, 720, 128}, {1920, 1080, 128}};
    struct options options = {.schedule = -1, .network = NETWORK_NONE};
    if (!parse(argc, argv, &options)) {
        fprintf(stderr, "usage: bench_gpu_frame [-m MULTIPROCESSORS] [-c SCHEDULE] [-C] [-l WARPS[,PAUSE_NS] | -N " NETWORK_WAYS
                        "] [rounds]\n");
        return 64;
    }
    struct times times = {.frame_ms = malloc((size_t)options.rounds * sizeof(double))};
    if (!times.frame_ms)
        return 1;
    struct network *network = network_create(options.network);
    const int multiprocessors = confine(options.multiprocessors);
    const struct conditions conditions = {multiprocessors, options.schedule, options.rounds, options.colour,
                                          contention_create(multiprocessors, options.warps, options.pause_ns)};
    network_start(network);
    bool is_there = true;
    printf("%-18s %8s %6s %8s %8s %8s %8s %6s %8s %6s\n", "default, rectified", "frame", "cpu", "untimed", "motion", "p10",
           "p90", "cpu", "alone", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && is_there; i++) {
        struct fixture_kind kind = {rows[i].width, rows[i].height, PLX_FORMAT_GREY, true, {.refine = false}, NULL};
        plx_pipeline_params_default(&kind.params);
        kind.params.correction = PLX_CORRECTION_OFF; /* pictures that are rectified are not copied */
        kind.params.match.disparities = rows[i].disparities;
        is_there = print_row(&kind, &conditions, network, &times);
    }
    network_destroy(network);
    free(times.frame_ms);
    return is_there ? 0 : 77;
}
